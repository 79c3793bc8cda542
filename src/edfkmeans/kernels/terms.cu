// Every row's part of the excess degrees of freedom, a sum over its columns; see `lines.cu`.
//
// A thread has a row, a block THREADS rows and one fit of a batch. Which other clusters can matter
// to a row is found out first, by the bounds that are derived there, row by row: each thread then
// goes through a list of its own.

#define STAGED (COLUMNS <= 64)    // whether rows and centres are brought near; else `values` has rows
#define STRIDE (COLUMNS | 1)      // odd: different clusters lie in different banks of memory
#define INV_SQRT_2PI 0.3989422804014327

struct Fit {
    const REAL *center, *pilot, *row, *weight, *sizes;
    REAL* distance;  // of the rows of this block to all centres, those of a row THREADS apart
    long long step;

    __device__ REAL x(int j) const { return row[j * step]; }
};

// Put rows and centres where they are near, and find all distances of a row to the centres.
__device__ __forceinline__ Fit
stage(const RAW* X, long long i, int width, const int* columns, const Units* units,
      const REAL* centers, const double* sizes, int k, const REAL* pilot_centers, int pilots,
      const REAL* values, long long n) {
    const int t = threadIdx.x;
    Fit fit;
    fit.distance = (REAL*)room + t;
    REAL* weight = (REAL*)room + k * THREADS;
    REAL* count = weight + k;
    for (int l = t; l < k; l += THREADS) {
        weight[l] = (REAL)(sizes[l] / (sizes[l] + 1.0));
        count[l] = (REAL)sizes[l];
    }
    fit.weight = weight;
    fit.sizes = count;
#if STAGED
    const RAW* given = X + i * width;
    REAL* center = count + k;
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
            if (m <= spare) fit.distance[(l + m) * THREADS] = square[m];
    }
    return fit;
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
    const int c = labels[(long long)which[f] * n + row];
    const double* own_sizes = sizes + starts[f];
    const REAL* pilot = fit.pilot + pilot_labels[row] * stride;
    Line line = {fit.center, fit.distance, fit.weight, fit.sizes, stride, c, 0, 0, (REAL)sigma,
                 (REAL)((own_sizes[c] - 1.0) / own_sizes[c])};
    double found = 0.0;
    if (i < n && own_sizes[c] > 1.0) {  // a row by itself stays where it is
        REAL longest = 0;
        for (int j = 0; j < COLUMNS; j++) longest = max(longest, (REAL)fabs(fit.x(j) - pilot[j]));
        longest += (EXACT ? (REAL)reach : (REAL)CLOSE) * line.sigma;
        int start = c;
        const unsigned long long near =
            EXACT ? exact_near(fit.distance, gaps + gap_starts[f], fit.weight, line.left, k, c,
                               longest, start)
                  : paper_near(fit.distance, gaps + gap_starts[f], fit.sizes[c], k, c, longest);
        for (int j = 0; near && j < COLUMNS; j++) {
            line.center = fit.center + j;
            line.x = fit.x(j);
            line.error = line.x - pilot[j];
            found += EXACT ? exact_sum(line, near, start, (REAL)reach) : paper_sum(line, near);
        }
    }
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
