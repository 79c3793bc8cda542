// A row along one column: what each other cluster adds to its excess degrees of freedom.
// `jumps` and `envelope` have the equations. CLOSE stands for Z in the paper's sum.

struct Line {
    const REAL* center;    // this column of every centre, `stride` apart
    const REAL* distance;  // of the row to every centre, THREADS apart; see `exact_near`
    const REAL* weight;    // n_l / (n_l + 1)
    const REAL* sizes;
    int stride, c;         // c is the row's own cluster
    REAL x, error, sigma, left;  // error is x less the pilot's mean, left is (n_c - 1) / n_c
};

// Which other clusters can matter to a row, a mask of 64 bits. No coordinate is further from the
// own centre than the row is; `longest` is how far one may get from x by a shift that counts.
__device__ __forceinline__ unsigned long long
paper_near(const REAL* distance, const REAL* gaps, REAL n_c, int k, int c, REAL longest) {
    const REAL nearness = distance[c * THREADS];
    const REAL offset = sqrt(nearness);
    unsigned long long near = 0;
    for (int l = 0; l < k; l++) {
        const REAL g = distance[l * THREADS] - nearness;
        const REAL most = (REAL)2 * (gaps[c * k + l] + offset / n_c) * longest;
        if (l != c && g <= most) near |= 1ULL << l;
    }
    return near;
}

// The same along the exact path. Distances become the F of the envelope's parabolas, and `start` the
// cluster of the lowest.
__device__ __forceinline__ unsigned long long
exact_near(REAL* distance, const REAL* gaps, const REAL* weight, REAL left, int k, int c,
           REAL longest, int& start) {
    const REAL offset = sqrt(distance[c * THREADS]), F_c = distance[c * THREADS] / left;
    distance[c * THREADS] = F_c;
    unsigned long long near = 0;
    REAL lowest = F_c;
    start = c;
    for (int l = 0; l < k; l++) {
        if (l == c) continue;
        const REAL w = weight[l], F = w * distance[l * THREADS];
        distance[l * THREADS] = F;
        const REAL B = gaps[c * k + l] * w + offset * (1 - w);
        const REAL steeper = max((REAL)0, left - w);
        if ((2 * B + steeper * longest) * longest >= F - F_c) near |= 1ULL << l;
        if (F < lowest) {
            lowest = F;
            start = l;
        }
    }
    return near;
}

__device__ __forceinline__ REAL paper_sum(const Line& line, unsigned long long near) {
    const REAL x = line.x, mu_c = line.center[line.c * line.stride];
    const REAL n_c = line.sizes[line.c], nearness = line.distance[line.c * THREADS];
    const REAL a = ((REAL)2 * n_c - 1) / n_c / n_c, part = 1 / n_c, inverse = 1 / line.sigma;
    REAL sum = 0;
    for (; near; near &= near - 1) {
        const int l = __ffsll(near) - 1;
        const REAL g = line.distance[l * THREADS] - nearness;
        const REAL n_l = line.sizes[l], share = 1 / (n_l + 1);
        const REAL slope = (n_l + 1 - n_c) / (n_c * (n_l + 1));
        const REAL mu_l = line.center[l * line.stride], gap = mu_c - mu_l;
        const REAL h = gap + (x - mu_c) * part;
        const REAL discriminant = h * h - a * g;
        const REAL root = sqrt(max(discriminant, (REAL)0));
        const REAL q = h >= 0 ? -(h + root) : root - h;
        const REAL delta = q != 0 ? g / q : (REAL)0;
        const REAL z = (line.error + delta) * inverse;
        const REAL jump = gap + (mu_l - x) * share + delta * slope;
        const bool down = delta > 0 || (g == 0 && h <= 0);
        const REAL term = exp((REAL)-0.5 * z * z) * (down ? -jump : jump);
        sum += discriminant >= 0 ? term : (REAL)0;
    }
    return sum;
}

// One parabola of the envelope along a coordinate.
struct Parabola {
    REAL weight, F, offset, slope;
};

__device__ __forceinline__ Parabola parabola(const Line& line, int l) {
    Parabola found;
    const REAL away = line.x - line.center[l * line.stride];
    found.F = line.distance[l * THREADS];
    if (l == line.c) {
        found.weight = line.left;
        found.offset = away / found.weight;
    } else {
        found.weight = line.weight[l];
        found.offset = away;
    }
    // Rounded here: two clusters alike must have the same one to the last bit.
    found.slope = ROUNDED_PRODUCT(found.weight, found.offset);
    return found;
}

// The terms of the breakpoints on one side (1: right, -1: left), up to side * last.
__device__ REAL one_side(const Line& line, REAL side, REAL last, int start,
                         unsigned long long below) {
    const REAL inverse = 1 / line.sigma;
    int owner = (below >> start) & 1 ? start : line.c;
    Parabola here = parabola(line, owner);
    REAL total = 0, shift = 0;
    const int on = __popcll(below) + 1;
    for (int step = 0; step < 2 * on; step++) {
        REAL best = INFINITY;
        int whom = -1;
        unsigned long long left = below;
        for (int number = 0; number < on; number++) {
            int l = line.c;  // the own cluster first
            if (number > 0) {
                l = __ffsll(left) - 1;
                left &= left - 1;
            }
            if (l == owner) continue;
            const Parabola there = parabola(line, l);
            const REAL A = there.weight - here.weight, B = side * (there.slope - here.slope);
            const REAL C = there.F - here.F;
            const REAL discriminant = B * B - A * C;
            if (discriminant < 0 || (A > 0 && discriminant <= (REAL)TOUCH * B * B)) continue;
            const REAL root = sqrt(discriminant);
            REAL where = INFINITY;
            if (B <= 0) {
                if (root - B > 0)
                    where = C / (root - B);
                else if (A < 0 && C == 0)
                    where = 0;
            } else if (A != 0) {
                where = -(B + root) / A;
            }
            if (shift <= where && where < best) {
                best = where;
                whom = l;
            }
        }
        if (whom < 0 || best > last) break;
        const REAL delta = side * best, z = (line.error + delta) * inverse;
        const Parabola there = parabola(line, whom);
        const REAL value_here = here.weight * (here.offset + delta);
        const REAL value_there = there.weight * (there.offset + delta);
        total += side * (value_here - value_there) * exp((REAL)-0.5 * z * z);
        owner = whom;
        here = there;
        shift = best;
    }
    return total;
}

__device__ __forceinline__ REAL exact_sum(const Line& line, unsigned long long near, int start,
                                          REAL reach) {
    const REAL w_c = line.left, F_c = line.distance[line.c * THREADS];
    const REAL right = reach * line.sigma - line.error, left = reach * line.sigma + line.error;
    const REAL own = line.x - line.center[line.c * line.stride];
    unsigned long long below_right = 0, below_left = 0;
    for (; near; near &= near - 1) {
        const int l = __ffsll(near) - 1;
        const REAL w = line.weight[l], A = w - w_c;
        const REAL B = w * (line.x - line.center[l * line.stride]) - own;
        const REAL C = line.distance[l * THREADS] - F_c;
        const bool dips = B * B > A * C;
        const bool at_right = C + (2 * B + A * right) * right < 0;
        const bool at_left = C + (A * left - 2 * B) * left < 0;
        if (C < 0 || at_right || (dips && B < 0 && A * right > -B)) below_right |= 1ULL << l;
        if (C < 0 || at_left || (dips && B > 0 && A * left > B)) below_left |= 1ULL << l;
    }
    // Mostly one side has breakpoints: threads side by side do theirs together, whichever it is.
    REAL total = 0;
    while (below_right | below_left) {
        const bool to_right = below_right != 0;
        total += one_side(line, to_right ? (REAL)1 : (REAL)-1, to_right ? right : left, start,
                          to_right ? below_right : below_left);
        if (to_right)
            below_right = 0;
        else
            below_left = 0;
    }
    return total;
}
