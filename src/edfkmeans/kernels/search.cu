// Where a further centre might go, and which one could be done without, for a batch of fits.

#define PRICES 16777216.0  // whole numbers of 2^-24 are added: the same sum in every run

// Every row's squared distance to its nearest centre, and what it would cost to dissolve a cluster.
//
// own[f * n + i] is the distance in fit f, parts[tile * fits + f] the sum over the rows of a tile,
// costs[m] what the sum of squares rises by at once without centre m, in units of 1 / PRICES.
// weights[m] is n_l / (n_l + 1), see `edfkmeans.kernels.steps`.
extern "C" __global__ void __launch_bounds__(THREADS)
weigh(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
      const Units* __restrict__ units, const REAL* __restrict__ centers,
      const int* __restrict__ starts, const REAL* __restrict__ weights, int fits, REAL* own,
      double* parts, unsigned long long* costs) {
    __shared__ REAL least[FITS * (THREADS + 1)];
    __shared__ int begin[FITS + 1];
    const int t = threadIdx.x;
    const int f0 = blockIdx.y * FITS, count = min(FITS, fits - f0);
    for (int f = t; f <= count; f += THREADS) begin[f] = starts[f0 + f];
    __syncthreads();
    const long long i = (long long)blockIdx.x * THREADS + t;
    REAL best = INFINITY, price = INFINITY, next = INFINITY;  // the two lowest prices
    int who = 0, cheapest = -1, f = 0;
    auto finish = [&] {
        if (i < n) {
            own[(long long)(f0 + f) * n + i] = best;
            const REAL enter = cheapest == who ? next : price;
            if (begin[f + 1] - begin[f] > 1)
                atomicAdd(costs + who,
                          (unsigned long long)llrint((double)(enter - best) * PRICES));
        }
        least[f * (THREADS + 1) + t] = i < n ? best : (REAL)0;
        best = price = next = INFINITY;
        f++;
    };
    compare(X + (i < n ? i : n - 1) * width, columns, units, centers, begin[0], begin[count],
            [&](int m, REAL square) {
                if (m == begin[f + 1]) finish();
                if (square < best) {
                    best = square;
                    who = m;
                }
                const REAL asked = weights[m] * square;
                if (asked < price) {
                    next = price;
                    price = asked;
                    cheapest = m;
                } else if (asked < next) {
                    next = asked;
                }
            });
    finish();
    add_up(least, count, parts + (long long)blockIdx.x * fits + f0);
}

// Draw rows with probability proportional to `own`: a block for every fit, a thread for every draw.
extern "C" __global__ void __launch_bounds__(THREADS)
draw(const REAL* __restrict__ own, long long n, const double* __restrict__ parts, int tiles,
     int fits, const double* __restrict__ uniforms, int draws, long long* drawn) {
    __shared__ double some[THREADS];
    const int f = blockIdx.x, t = threadIdx.x, each = (tiles + THREADS - 1) / THREADS;
    double sum = 0.0;
    for (int tile = t * each; tile < min(tiles, (t + 1) * each); tile++)
        sum += parts[(long long)tile * fits + f];
    some[t] = sum;
    __syncthreads();
    if (t >= draws) return;
    double total = 0.0;
    for (int p = 0; p < THREADS; p++) total += some[p];
    const double wanted = uniforms[f * draws + t] * total;
    sum = 0.0;
    int p = 0;
    for (; p < THREADS - 1 && sum + some[p] <= wanted; p++) sum += some[p];
    int tile = min(p * each, tiles - 1);
    for (; tile < min(tiles, (p + 1) * each) - 1; tile++) {
        const double more = sum + parts[(long long)tile * fits + f];
        if (more > wanted) break;
        sum = more;
    }
    const long long begin = (long long)tile * THREADS;
    const long long end = begin + THREADS < n ? begin + THREADS : n;
    long long row = begin;
    for (long long i = begin; i < end; i++) {
        const REAL weight = own[(long long)f * n + i];
        if (weight > 0) row = i;
        sum += weight;
        if (sum > wanted) break;
    }
    drawn[f * draws + t] = row;
}

// The values of rows that were drawn: of every fit `draws`, the first of `places` points of its own.
extern "C" __global__ void
bring(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
      const Units* __restrict__ units, const long long* __restrict__ drawn, int fits, int draws,
      int places, REAL* points) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x, m = e / COLUMNS, j = e % COLUMNS;
    if (m >= fits * draws) return;
    points[(m / draws * places + m % draws) * COLUMNS + j] =
        value(X + drawn[m] * width, j, columns, units);
}

// Points on the way to those that were drawn, from the nearest centre: the part `shrink` of it. A
// centre on a single row takes hardly any other rows where there are many columns; one that is
// nearer to the middle cuts a cluster in two. A block for every point.
extern "C" __global__ void __launch_bounds__(THREADS)
closer(const REAL* __restrict__ centers, const int* __restrict__ starts, int draws, double shrink,
       REAL* points) {
    __shared__ REAL square[THREADS];
    __shared__ int who[THREADS];
    const int t = threadIdx.x, f = blockIdx.x / draws;
    const REAL* point = points + (long long)(f * 2 * draws + blockIdx.x % draws) * COLUMNS;
    REAL best = INFINITY;
    int nearest = starts[f];
    for (int m = starts[f] + t; m < starts[f + 1]; m += THREADS) {
        REAL sum = 0;
        for (int j = 0; j < COLUMNS; j++) {
            const REAL away = point[j] - centers[(long long)m * COLUMNS + j];
            sum += away * away;
        }
        if (sum < best) {
            best = sum;
            nearest = m;
        }
    }
    square[t] = best;
    who[t] = nearest;
    __syncthreads();
    for (int p = 0; p < THREADS; p++) {
        if (square[p] < best || (square[p] == best && who[p] < nearest)) {
            best = square[p];
            nearest = who[p];
        }
    }
    REAL* out = points + (long long)(f * 2 * draws + draws + blockIdx.x % draws) * COLUMNS;
    for (int j = t; j < COLUMNS; j += THREADS) {
        const REAL from = centers[(long long)nearest * COLUMNS + j];
        out[j] = from + (REAL)shrink * (point[j] - from);
    }
}

// What the sum of squares of a fit falls by at once when a centre is put on each of some points.
//
// Fit f has `draws` of the points. parts[tile * points + m] is the sum over the rows of a tile.
extern "C" __global__ void __launch_bounds__(THREADS)
gains(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
      const Units* __restrict__ units, const REAL* __restrict__ points, int count, int draws,
      const REAL* __restrict__ own, double* parts) {
    __shared__ REAL saved[FITS * (THREADS + 1)];
    const int t = threadIdx.x, first = blockIdx.y * FITS, last = min(count, first + FITS);
    const long long i = (long long)blockIdx.x * THREADS + t;
    const long long row = i < n ? i : n - 1;
    compare(X + row * width, columns, units, points, first, last, [&](int m, REAL square) {
        const REAL less = own[(long long)(m / draws) * n + row] - square;
        saved[(m - first) * (THREADS + 1) + t] = i < n && less > 0 ? less : (REAL)0;
    });
    add_up(saved, last - first, parts + (long long)blockIdx.x * count + first);
}

// Take a further point into every sequence: own[s * n + i] is a row's squared distance to the nearest
// one so far, parts[tile * fits + s] the sum over the rows of a tile.
extern "C" __global__ void __launch_bounds__(THREADS)
nearer(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
       const Units* __restrict__ units, const REAL* __restrict__ points, int fits, REAL* own,
       double* parts) {
    __shared__ REAL least[FITS * (THREADS + 1)];
    const int t = threadIdx.x, first = blockIdx.y * FITS, last = min(fits, first + FITS);
    const long long i = (long long)blockIdx.x * THREADS + t;
    compare(X + (i < n ? i : n - 1) * width, columns, units, points, first, last,
            [&](int m, REAL square) {
                REAL best = 0;
                if (i < n) {
                    best = min(own[m * n + i], square);
                    own[m * n + i] = best;
                }
                least[(m - first) * (THREADS + 1) + t] = best;
            });
    add_up(least, last - first, parts + (long long)blockIdx.x * fits + first);
}

// Of the points of every fit the one that gains most: a block for every fit.
extern "C" __global__ void __launch_bounds__(THREADS)
pick(const double* __restrict__ gained, int tiles, int draws, const REAL* __restrict__ points,
     REAL* taken) {
    __shared__ double some[THREADS];
    const int t = threadIdx.x, f = blockIdx.x, shares = THREADS / draws, count = gridDim.x * draws;
    double sum = 0.0;
    for (int tile = t / draws; tile < tiles && t < shares * draws; tile += shares)
        sum += gained[(long long)tile * count + f * draws + t % draws];
    some[t] = sum;
    __syncthreads();
    int best = 0;
    double most = -1.0;
    for (int d = 0; d < draws; d++) {
        double total = 0.0;
        for (int p = d; p < shares * draws; p += draws) total += some[p];
        if (total > most) {
            most = total;
            best = d;
        }
    }
    for (int j = t; j < COLUMNS; j += THREADS)
        taken[f * COLUMNS + j] = points[(f * draws + best) * COLUMNS + j];
}
