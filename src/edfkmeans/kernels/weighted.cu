// Rows that stand for several: what is added up over rows, each as often as its weight says.
//
// Weights times values are added as whole numbers of a unit that is so small that all rows together
// just fit: so these sums, too, are the same in every run.

// Rows of every cluster of every fit of a batch, times their weights.
//
// A block adds up to `rows` rows of one fit, in a strip of columns. `inverse` is that of the unit.
extern "C" __global__ void __launch_bounds__(THREADS)
weighted_sums(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
              const Units* __restrict__ units, const int* __restrict__ starts,
              const LABEL* __restrict__ labels, const double* __restrict__ weights, int rows,
              int strip, double inverse, unsigned long long* sizes, unsigned long long* totals) {
    const int t = threadIdx.x, f = blockIdx.y;
    const int base = starts[f], k = starts[f + 1] - base;
    const int c0 = blockIdx.z * strip, wide = min(strip, COLUMNS - c0);
    unsigned long long* sum = (unsigned long long*)room;  // k x strip
    unsigned long long* size = sum + k * strip;           // k
    for (int e = t; e < k * (strip + 1); e += THREADS) sum[e] = 0;
    const long long begin = (long long)blockIdx.x * rows;
    const int there = n - begin < rows ? (int)(n - begin) : rows;
    __syncthreads();
    for (int e = t; e < there * wide; e += THREADS) {
        const int j = e % wide;
        const long long i = begin + e / wide;
        const int c = labels[(long long)f * n + i];
        const double v = value(X + i * width, c0 + j, columns, units);
        const double weight = weights[i] * inverse;
        atomicAdd(sum + c * strip + j, (unsigned long long)llrint(weight * v));
        if (j == 0) atomicAdd(size + c, (unsigned long long)llrint(weight));
    }
    __syncthreads();
    for (int e = t; e < k * wide; e += THREADS) {
        const int c = e / wide, j = e % wide;
        const unsigned long long whole = sum[c * strip + j];
        if (whole != 0) atomicAdd(totals + (long long)(base + c) * COLUMNS + c0 + j, whole);
    }
    if (blockIdx.z == 0) {
        for (int c = t; c < k; c += THREADS) atomicAdd(sizes + base + c, size[c]);
    }
}

// Add up what the threads of a block have found, in a fixed order.
__device__ __forceinline__ void add_up_one(double mine, double* part) {
    __shared__ double found[THREADS];
    found[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        double total = 0.0;
        for (int p = 0; p < THREADS; p++) total += found[p];
        *part = total;
    }
}

// As `squares`, the square of every row times its weight.
extern "C" __global__ void __launch_bounds__(THREADS)
weighted_squares(const RAW* __restrict__ X, long long n, int width,
                 const int* __restrict__ columns, const Units* __restrict__ units,
                 const REAL* __restrict__ centers, const int* __restrict__ starts, int fits,
                 const LABEL* __restrict__ labels, const double* __restrict__ weights,
                 double* parts) {
    const int f = blockIdx.y;
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    double mine = 0.0;
    if (i < n) {
        const REAL* center =
            centers + (long long)(starts[f] + labels[(long long)f * n + i]) * COLUMNS;
        REAL sum = 0;
        for (int j = 0; j < COLUMNS; j++) {
            const REAL away = (REAL)value(X + i * width, j, columns, units) - center[j];
            sum += away * away;
        }
        mine = weights[i] * (double)sum;
    }
    add_up_one(mine, parts + (long long)blockIdx.x * fits + f);
}

// Sums of terms that were found, the term of every row times its weight. A cluster that weighs no
// more than one row is one that stays: its rows have no terms.
extern "C" __global__ void __launch_bounds__(THREADS)
weighted_terms(long long n, const double* __restrict__ sizes, const int* __restrict__ starts,
               const int* __restrict__ which, int fits, const LABEL* __restrict__ labels,
               const double* __restrict__ weights, double* terms, double* parts) {
    const int f = blockIdx.y;
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    double mine = 0.0;
    if (i < n) {
        const long long place = (long long)f * n + i;
        if (sizes[starts[f] + labels[(long long)which[f] * n + i]] <= 1.0) terms[place] = 0.0;
        mine = weights[i] * terms[place];
    }
    add_up_one(mine, parts + (long long)blockIdx.x * fits + f);
}
