// Every row's part of the excess degrees of freedom: `jumps` and `envelope` have the equations.
//
// A thread has a row, a block THREADS rows and one fit of a batch. Which other clusters can matter
// to a row is found out first, by the bounds that are derived there, row by row: each thread then
// goes through a list of its own, a mask of 64 bits. CLOSE stands for Z in the paper's sum.

#define STAGED (COLUMNS <= 64)    // whether rows and centres are brought near; else `values` has rows
#define STRIDE (COLUMNS | 1)      // odd: different clusters lie in different banks of memory
#define INV_SQRT_2PI 0.3989422804014327

struct Fit {
    const REAL *center, *pilot, *row, *weight;  // weight[l] is n_l / (n_l + 1)
    REAL* distance;  // of the rows of this block to all centres, those of a row THREADS apart
    int t;
    long long step;

    __device__ REAL x(int j) const { return row[j * step]; }
};

struct Given {
    const double* sizes;
    const REAL* gaps;
    int k, c;
    REAL sigma, left;  // left is (n_c - 1) / n_c
};

// Put rows and centres where they are near, and find all distances of a row to the centres.
__device__ __forceinline__ Fit
stage(const RAW* X, long long i, int width, const int* columns, const Units* units,
      const REAL* centers, const double* sizes, int k, const REAL* pilot_centers, int pilots,
      const REAL* values, long long n) {
    const int t = threadIdx.x;
    Fit fit;
    fit.t = t;
    fit.distance = (REAL*)room;
    REAL* weight = fit.distance + k * THREADS;
    for (int l = t; l < k; l += THREADS) weight[l] = (REAL)(sizes[l] / (sizes[l] + 1.0));
    fit.weight = weight;
#if STAGED
    const RAW* given = X + i * width;
    REAL* center = weight + k;
    REAL* pilot = center + k * STRIDE;
    REAL* rows = pilot + pilots * STRIDE;
    for (int e = t; e < k * COLUMNS; e += THREADS)
        center[e / COLUMNS * STRIDE + e % COLUMNS] = centers[e];
    for (int e = t; e < pilots * COLUMNS; e += THREADS)
        pilot[e / COLUMNS * STRIDE + e % COLUMNS] = pilot_centers[e];
    for (int j = 0; j < COLUMNS; j++) rows[j * THREADS + t] = value(given, j, columns, units);
    fit.center = center;
    fit.pilot = pilot;
    fit.row = rows + t;
    fit.step = THREADS;
#else
    fit.center = centers;
    fit.pilot = pilot_centers;
    fit.row = values + i;
    fit.step = n;
#endif
    __syncthreads();
    const int stride = STAGED ? STRIDE : COLUMNS;
    for (int l = 0; l < k; l += 4) {
        REAL square[4] = {0, 0, 0, 0};
        const int spare = k - 1 - l;
        for (int j = 0; j < COLUMNS; j++) {
            const REAL x = fit.x(j);
#pragma unroll
            for (int m = 0; m < 4; m++) {
                const REAL away = x - fit.center[(l + min(m, spare)) * stride + j];
                square[m] += away * away;
            }
        }
#pragma unroll
        for (int m = 0; m < 4; m++)
            if (m <= spare) fit.distance[(l + m) * THREADS + t] = square[m];
    }
    return fit;
}

// The largest distances over the coordinates: from the own centre, and how far a shift may go.
__device__ __forceinline__ void
bounds(const Fit& fit, const REAL* own, const REAL* pilot, REAL far, REAL& offset, REAL& longest) {
    offset = longest = 0;
    for (int j = 0; j < COLUMNS; j++) {
        const REAL x = fit.x(j);
        offset = max(offset, (REAL)fabs(x - own[j]));
        longest = max(longest, (REAL)fabs(x - pilot[j]) + far);
    }
}

__device__ __forceinline__ double paper_sum(const Fit& fit, const Given& given, const REAL* own,
                                            const REAL* pilot) {
    const int stride = STAGED ? STRIDE : COLUMNS, c = given.c, t = fit.t;
    const REAL n_c = (REAL)given.sizes[c], nearness = fit.distance[c * THREADS + t];
    REAL offset, longest;
    bounds(fit, own, pilot, (REAL)CLOSE * given.sigma, offset, longest);
    unsigned long long near = 0;
    for (int l = 0; l < given.k; l++) {
        const REAL g = fit.distance[l * THREADS + t] - nearness;
        const REAL most = (REAL)2 * (given.gaps[c * given.k + l] + offset / n_c) * longest;
        if (l != c && g <= most) near |= 1ULL << l;
    }
    const REAL a = ((REAL)2 * n_c - 1) / n_c / n_c, part = 1 / n_c, inverse = 1 / given.sigma;
    double total = 0.0;
    while (near) {
        const int l = __ffsll(near) - 1;
        near &= near - 1;
        const REAL* other = fit.center + l * stride;
        const REAL g = fit.distance[l * THREADS + t] - nearness;
        const REAL n_l = (REAL)given.sizes[l], share = 1 / (n_l + 1);
        const REAL slope = (n_l + 1 - n_c) / (n_c * (n_l + 1));
        REAL sum = 0;
        for (int j = 0; j < COLUMNS; j++) {
            const REAL x = fit.x(j), mu_c = own[j], mu_l = other[j], gap = mu_c - mu_l;
            const REAL h = gap + (x - mu_c) * part;
            const REAL discriminant = h * h - a * g;
            const REAL root = sqrt(max(discriminant, (REAL)0));
            const REAL q = h >= 0 ? -(h + root) : root - h;
            const REAL delta = q != 0 ? g / q : (REAL)0;
            const REAL z = (x - pilot[j] + delta) * inverse;
            const REAL jump = gap + (mu_l - x) * share + delta * slope;
            const bool down = delta > 0 || (g == 0 && h <= 0);
            const REAL term = exp((REAL)-0.5 * z * z) * (down ? -jump : jump);
            sum += discriminant >= 0 ? term : (REAL)0;
        }
        total += sum;
    }
    return total;
}

// One parabola of the envelope along a coordinate.
struct Parabola {
    REAL weight, F, offset, slope;
};

__device__ __forceinline__ Parabola
parabola(const Fit& fit, const Given& given, int l, int j, const REAL* own) {
    const int stride = STAGED ? STRIDE : COLUMNS;
    const REAL x = fit.x(j);
    Parabola found;
    found.F = fit.distance[l * THREADS + fit.t];
    if (l == given.c) {
        found.weight = given.left;
        found.offset = (x - own[j]) / found.weight;
    } else {
        found.weight = fit.weight[l];
        found.offset = x - fit.center[l * stride + j];
    }
    // Rounded here: two clusters alike must have the same one to the last bit.
    found.slope = ROUNDED_PRODUCT(found.weight, found.offset);
    return found;
}

// The terms of the breakpoints on one side (1: right, -1: left), up to side * last.
__device__ REAL one_side(const Fit& fit, const Given& given, const REAL* own, int j, REAL side,
                         REAL error, REAL last, int start, unsigned long long below) {
    const REAL inverse = 1 / given.sigma;
    int owner = (below >> start) & 1 ? start : given.c;
    Parabola here = parabola(fit, given, owner, j, own);
    REAL total = 0, shift = 0;
    const int on = __popcll(below) + 1;
    for (int step = 0; step < 2 * on; step++) {
        REAL best = INFINITY;
        int whom = -1;
        unsigned long long left = below;
        for (int number = 0; number < on; number++) {
            int l = given.c;  // the own cluster first
            if (number > 0) {
                l = __ffsll(left) - 1;
                left &= left - 1;
            }
            if (l == owner) continue;
            const Parabola there = parabola(fit, given, l, j, own);
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
        const REAL delta = side * best, z = (error + delta) * inverse;
        const Parabola there = parabola(fit, given, whom, j, own);
        const REAL value_here = here.weight * (here.offset + delta);
        const REAL value_there = there.weight * (there.offset + delta);
        total += side * (value_here - value_there) * exp((REAL)-0.5 * z * z);
        owner = whom;
        here = there;
        shift = best;
    }
    return total;
}

__device__ __forceinline__ double exact_sum(const Fit& fit, const Given& given,
                                            const REAL* own, const REAL* pilot, REAL reach) {
    const int stride = STAGED ? STRIDE : COLUMNS, c = given.c, t = fit.t;
    const REAL w_c = given.left;
    const REAL F_c = fit.distance[c * THREADS + t] / w_c;
    fit.distance[c * THREADS + t] = F_c;
    REAL offset, longest;
    bounds(fit, own, pilot, reach * given.sigma, offset, longest);
    unsigned long long near = 0;
    int start = c;
    REAL lowest = F_c;
    for (int l = 0; l < given.k; l++) {
        if (l == c) continue;
        const REAL w = fit.weight[l];
        const REAL F = w * fit.distance[l * THREADS + t];
        fit.distance[l * THREADS + t] = F;
        const REAL B = given.gaps[c * given.k + l] * w + offset * (1 - w);
        const REAL steeper = max((REAL)0, w_c - w);
        if ((2 * B + steeper * longest) * longest >= F - F_c) near |= 1ULL << l;
        if (F < lowest) {
            lowest = F;
            start = l;
        }
    }
    if (near == 0) return 0.0;
    double total = 0.0;
    for (int j = 0; j < COLUMNS; j++) {
        const REAL x = fit.x(j), error = x - pilot[j];
        const REAL right = reach * given.sigma - error, left = reach * given.sigma + error;
        unsigned long long below[2] = {0, 0};
        for (unsigned long long rest = near; rest; rest &= rest - 1) {
            const int l = __ffsll(rest) - 1;
            const REAL w = fit.weight[l], A = w - w_c;
            const REAL B = w * (x - fit.center[l * stride + j]) - (x - own[j]);
            const REAL C = fit.distance[l * THREADS + t] - F_c;
            const bool dips = B * B > A * C;
            const bool at_right = C + (2 * B + A * right) * right < 0;
            const bool at_left = C + (A * left - 2 * B) * left < 0;
            if (C < 0 || at_right || (dips && B < 0 && A * right > -B)) below[0] |= 1ULL << l;
            if (C < 0 || at_left || (dips && B > 0 && A * left > B)) below[1] |= 1ULL << l;
        }
        if (below[0])
            total += one_side(fit, given, own, j, 1, error, right, start, below[0]);
        if (below[1])
            total += one_side(fit, given, own, j, -1, error, left, start, below[1]);
    }
    return total;
}

// terms[f * n + i] gets the sum of row i in fit f, if there is such an array; parts[tile * fits + f]
// the sum over the rows of a tile. which[f] tells where the labels of fit f are, and gap_starts[f]
// where its gaps are.
template <bool EXACT>
__device__ __forceinline__ void
terms_of(const RAW* X, long long n, int width, const int* columns, const Units* units,
         const REAL* centers, const double* sizes, const REAL* gaps, const int* starts,
         const int* gap_starts, const int* which, int fits, const LABEL* labels,
         const LABEL* pilot_labels, const REAL* pilot_centers, int pilots, double sigma,
         double reach, const REAL* __restrict__ values, double* parts, double* terms) {
    __shared__ double sum[THREADS];
    const int t = threadIdx.x, f = blockIdx.y, k = starts[f + 1] - starts[f];
    const long long i = (long long)blockIdx.x * THREADS + t;
    const long long row = i < n ? i : n - 1;
    const Fit fit = stage(X, row, width, columns, units,
                          centers + (long long)starts[f] * COLUMNS, sizes + starts[f], k,
                          pilot_centers, pilots, values, n);
    const int stride = STAGED ? STRIDE : COLUMNS;
    Given given;
    given.sizes = sizes + starts[f];
    given.gaps = gaps + gap_starts[f];
    given.k = k;
    given.c = labels[(long long)which[f] * n + row];
    given.sigma = (REAL)sigma;
    given.left = (REAL)((given.sizes[given.c] - 1.0) / given.sizes[given.c]);
    const REAL* own = fit.center + given.c * stride;
    const REAL* pilot = fit.pilot + pilot_labels[row] * stride;
    double found = 0.0;
    if (i < n && given.sizes[given.c] > 1.0)  // a row by itself stays where it is
        found = EXACT ? exact_sum(fit, given, own, pilot, (REAL)reach)
                      : paper_sum(fit, given, own, pilot);
    found *= INV_SQRT_2PI / sigma;
    if (terms && i < n) terms[(long long)f * n + i] = found;
    sum[t] = found;
    __syncthreads();
    if (t == 0) {
        double total = 0.0;
        for (int p = 0; p < THREADS; p++) total += sum[p];
        parts[(long long)blockIdx.x * fits + f] = total;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
paper(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
      const Units* __restrict__ units, const REAL* __restrict__ centers,
      const double* __restrict__ sizes, const REAL* __restrict__ gaps,
      const int* __restrict__ starts, const int* __restrict__ gap_starts,
      const int* __restrict__ which, int fits, const LABEL* __restrict__ labels,
      const LABEL* __restrict__ pilot_labels, const REAL* __restrict__ pilot_centers, int pilots,
      double sigma, double reach, const REAL* __restrict__ values, double* parts, double* terms) {
    terms_of<false>(X, n, width, columns, units, centers, sizes, gaps, starts, gap_starts, which,
                    fits, labels, pilot_labels, pilot_centers, pilots, sigma, reach, values, parts,
                    terms);
}

extern "C" __global__ void __launch_bounds__(THREADS)
exact(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
      const Units* __restrict__ units, const REAL* __restrict__ centers,
      const double* __restrict__ sizes, const REAL* __restrict__ gaps,
      const int* __restrict__ starts, const int* __restrict__ gap_starts,
      const int* __restrict__ which, int fits, const LABEL* __restrict__ labels,
      const LABEL* __restrict__ pilot_labels, const REAL* __restrict__ pilot_centers, int pilots,
      double sigma, double reach, const REAL* __restrict__ values, double* parts, double* terms) {
    terms_of<true>(X, n, width, columns, units, centers, sizes, gaps, starts, gap_starts, which,
                   fits, labels, pilot_labels, pilot_centers, pilots, sigma, reach, values, parts,
                   terms);
}
