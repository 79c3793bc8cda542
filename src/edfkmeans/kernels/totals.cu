// Sums over rows of what `terms.cu` finds for each, for all fits of a batch.
//
// A block has THREADS rows, brought near once. For every fit a thread first has a row: its distances
// to all centres, and which other clusters can matter to it. Then a thread has one column of one row
// at a time: threads side by side mostly have the same row, and with it the same clusters to look
// at, and a row to which no other cluster matters costs nothing.

#define WORKERS 256                      // threads of a block
#define APART (THREADS + 1)              // odd: rows and columns lie in different banks of memory
#define WHOLE ((COLUMNS + 3) / 4 * 4)    // columns, filled up with zeros
#define MOST 64                          // clusters

template <bool EXACT>
__device__ __forceinline__ void
totals_of(const RAW* X, long long n, int width, const int* columns, const Units* units,
          const REAL* centers, const double* sizes, const REAL* gaps, const int* starts,
          const int* gap_starts, const int* which, int fits, const LABEL* labels,
          const LABEL* pilot_labels, const REAL* pilot_centers, int most, double sigma,
          double reach, double* parts) {
    __shared__ double sum[WORKERS];
    __shared__ unsigned long long near[THREADS];
    __shared__ int own[THREADS], first[THREADS], pilot[THREADS];
    __shared__ REAL longest[THREADS], left[THREADS], weight[MOST], count[MOST];
    REAL* x = (REAL*)room;                   // WHOLE x APART
    REAL* center = x + WHOLE * APART;        // k x WHOLE
    REAL* distance = center + most * WHOLE;  // k x THREADS
    const int t = threadIdx.x, mine = t % THREADS;
    const long long begin = (long long)blockIdx.x * THREADS;
    const int there = n - begin < THREADS ? (int)(n - begin) : THREADS;
    for (int e = t; e < THREADS * WHOLE; e += WORKERS) {
        const int row = e / WHOLE, j = e % WHOLE;
        const bool is = row < there && j < COLUMNS;
        x[j * APART + row] = is ? (REAL)value(X + (begin + row) * width, j, columns, units) : 0;
    }
    __syncthreads();
    if (t < there) {
        pilot[t] = pilot_labels[begin + t];
        REAL far = 0;
        for (int j = 0; j < COLUMNS; j++)
            far = max(far, (REAL)fabs(x[j * APART + t] - pilot_centers[pilot[t] * COLUMNS + j]));
        longest[t] = far + (EXACT ? (REAL)reach : (REAL)CLOSE) * (REAL)sigma;
    }
    for (int f = 0; f < fits; f++) {
        const int k = starts[f + 1] - starts[f];
        const double* size = sizes + starts[f];
        __syncthreads();
        for (int e = t; e < k * WHOLE; e += WORKERS) {
            const int l = e / WHOLE, j = e % WHOLE;
            center[e] = j < COLUMNS ? centers[(long long)(starts[f] + l) * COLUMNS + j] : (REAL)0;
        }
        if (t < k) {
            weight[t] = (REAL)(size[t] / (size[t] + 1.0));
            count[t] = (REAL)size[t];
        }
        __syncthreads();
        for (int l = t / THREADS * 4; l < k; l += WORKERS / THREADS * 4) {
            REAL square[4] = {0, 0, 0, 0};
            const REAL* some[4];
#pragma unroll
            for (int m = 0; m < 4; m++) some[m] = center + min(l + m, k - 1) * WHOLE;
#pragma unroll 4
            for (int j = 0; j < WHOLE; j += 4) {
#pragma unroll
                for (int u = 0; u < 4; u++) {
                    const REAL at = x[(j + u) * APART + mine];
#pragma unroll
                    for (int m = 0; m < 4; m++) {
                        const REAL away = at - some[m][j + u];
                        square[m] += away * away;
                    }
                }
            }
#pragma unroll
            for (int m = 0; m < 4; m++)
                if (l + m < k) distance[(l + m) * THREADS + mine] = square[m];
        }
        __syncthreads();
        if (t < THREADS) {
            near[t] = 0;
            if (t < there) {
                const int c = labels[(long long)which[f] * n + begin + t];
                own[t] = first[t] = c;
                left[t] = (REAL)((size[c] - 1.0) / size[c]);
                if (size[c] > 1.0)  // a row by itself stays where it is
                    near[t] = EXACT ? exact_near(distance + t, gaps + gap_starts[f], weight,
                                                 left[t], k, c, longest[t], first[t])
                                    : paper_near(distance + t, gaps + gap_starts[f], count[c], k,
                                                 c, longest[t]);
            }
        }
        __syncthreads();
        double total = 0.0;
        for (int e = t; e < there * COLUMNS; e += WORKERS) {
            const int row = e / COLUMNS, j = e % COLUMNS;
            if (near[row] == 0) continue;
            const int c = own[row];
            Line line = {center + j, distance + row, weight, count, WHOLE, c, x[j * APART + row],
                         0, (REAL)sigma, left[row]};
            line.error = line.x - pilot_centers[pilot[row] * COLUMNS + j];
            total += EXACT ? exact_sum(line, near[row], first[row], (REAL)reach)
                           : paper_sum(line, near[row]);
        }
        sum[t] = total * (INV_SQRT_2PI / sigma);
        for (int half = WORKERS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) sum[t] += sum[t + half];
        }
        if (t == 0) parts[(long long)blockIdx.x * fits + f] = sum[0];
    }
}

extern "C" __global__ void __launch_bounds__(WORKERS)
paper_totals(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
             const Units* __restrict__ units, const REAL* __restrict__ centers,
             const double* __restrict__ sizes, const REAL* __restrict__ gaps,
             const int* __restrict__ starts, const int* __restrict__ gap_starts,
             const int* __restrict__ which, int fits, const LABEL* __restrict__ labels,
             const LABEL* __restrict__ pilot_labels, const REAL* __restrict__ pilot_centers,
             int most, double sigma, double reach, double* parts) {
    totals_of<false>(X, n, width, columns, units, centers, sizes, gaps, starts, gap_starts, which,
                     fits, labels, pilot_labels, pilot_centers, most, sigma, reach, parts);
}

extern "C" __global__ void __launch_bounds__(WORKERS)
exact_totals(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
             const Units* __restrict__ units, const REAL* __restrict__ centers,
             const double* __restrict__ sizes, const REAL* __restrict__ gaps,
             const int* __restrict__ starts, const int* __restrict__ gap_starts,
             const int* __restrict__ which, int fits, const LABEL* __restrict__ labels,
             const LABEL* __restrict__ pilot_labels, const REAL* __restrict__ pilot_centers,
             int most, double sigma, double reach, double* parts) {
    totals_of<true>(X, n, width, columns, units, centers, sizes, gaps, starts, gap_starts, which,
                    fits, labels, pilot_labels, pilot_centers, most, sigma, reach, parts);
}
