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
extern "C" __global__ void
draw(const REAL* __restrict__ own, long long n, const double* __restrict__ parts, int tiles,
     int fits, const double* __restrict__ uniforms, long long* drawn) {
    const int f = blockIdx.x, t = threadIdx.x;
    double total = 0.0;
    for (int tile = 0; tile < tiles; tile++) total += parts[(long long)tile * fits + f];
    const double wanted = uniforms[f * blockDim.x + t] * total;
    double sum = 0.0;
    int tile = 0;
    for (; tile < tiles - 1; tile++) {
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
    drawn[f * blockDim.x + t] = row;
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
