// What every kernel on a GPU shares, and passes over rows: nearest centres, and sums by cluster.
//
// The compiler is told: COLUMNS, how many columns vary; RAW, the type of X; REAL, the type that is
// computed in; LABEL, the type of labels. X is read as it is given: its values come into the units
// of the rows (see `edfkmeans.rows.units`) on the way.
//
// A batch of fits is a list of centres, cluster after cluster: fit f has those from starts[f] to
// starts[f + 1] - 1. All sums are the same in every run, whatever order the blocks run in: those of
// rows are of whole numbers, as in `edfkmeans.rows.tasks`, the others are added in a fixed order.

#define THREADS 128                          // of a block, which does as many rows
#define FITS 32                              // of a batch, that one block looks at
#define PIECE (COLUMNS < WIDE ? COLUMNS : WIDE)  // columns of a row that registers hold at a time
#define PIECES ((COLUMNS + PIECE - 1) / PIECE)
#define PADDED ((PIECE + 3) / 4 * 4)
#define CENTERS 8                            // that a row is compared with at once
#define HELD (PIECES > 1 ? CENTERS : 4 * CENTERS)  // centres that are brought near at a time
#define TILE 32                              // rows that `sums` holds at a time
#define STRIP (COLUMNS < 64 ? COLUMNS : 64)  // columns that one block of `sums` adds up
// Threads that add up one fit together, and columns that each of them adds up.
#define LANES (STRIP > 16 ? 32 : STRIP > 8 ? 16 : STRIP > 4 ? 8 : 4)
#define SHARES ((STRIP + LANES - 1) / LANES)
#define AHEAD 4                              // rows that are looked up before they are added

DYNAMIC_SHARED(room);                        // of a size that the caller says

struct Units {
    double unit, shrink, mean[COLUMNS], rest[COLUMNS];  // the first two are inverses
};

__device__ __forceinline__ RAW value(const RAW* row, int j, const int* columns,
                                     const Units* units) {
    double v = (double)row[columns[j]] * units->unit;
    v -= units->mean[j];
    v -= units->rest[j];
    return (RAW)(v * units->shrink);
}

// Take the squared distances of a row to the centres from `first` to `last` - 1, in this order, and
// show each of them. All threads of a block have the same centres.
template <class See>
__device__ __forceinline__ void
compare(const RAW* row, const int* columns, const Units* units, const REAL* centers, int first,
        int last, See see) {
    __shared__ __align__(16) REAL some[HELD * PADDED];
    REAL x[PADDED], square[CENTERS];
    for (int g = first; g < last; g += HELD) {
        for (int p = 0; p < PIECES; p++) {
            __syncthreads();
            for (int e = threadIdx.x; e < HELD * PADDED; e += THREADS) {
                const int m = g + e / PADDED, in = e % PADDED, j = p * PIECE + in;
                const bool there = m < last && in < PIECE && j < COLUMNS;
                some[e] = there ? centers[(long long)m * COLUMNS + j] : (REAL)0;
            }
            __syncthreads();
            if (PIECES > 1 || g == first) {
#pragma unroll
                for (int j = 0; j < PADDED; j++) {
                    const bool there = j < PIECE && p * PIECE + j < COLUMNS;
                    x[j] = there ? (REAL)value(row, p * PIECE + j, columns, units) : (REAL)0;
                }
            }
#pragma unroll 1
            for (int s = 0; s < HELD && g + s < last; s += CENTERS) {
#pragma unroll
                for (int m = 0; m < CENTERS; m++) {
                    REAL sum = p == 0 ? (REAL)0 : square[m];
#pragma unroll
                    for (int j = 0; j < PADDED; j++) {
                        const REAL away = x[j] - some[(s + m) * PADDED + j];
                        sum += away * away;
                    }
                    square[m] = sum;
                }
                if (p < PIECES - 1) continue;
#pragma unroll
                for (int m = 0; m < CENTERS; m++)
                    if (g + s + m < last) see(g + s + m, square[m]);
            }
        }
    }
}

// Add up what the threads of a block have found for each of `count` things, in a fixed order.
__device__ __forceinline__ void add_up(const REAL* found, int count, double* parts) {
    __syncthreads();
    if (threadIdx.x < count) {
        double sum = 0.0;
        for (int p = 0; p < THREADS; p++) sum += found[threadIdx.x * (THREADS + 1) + p];
        parts[threadIdx.x] = sum;
    }
}

// The nearest centre of every row in every fit of a batch, and the sum of squared distances.
//
// names[m] is what the cluster of centre m is called. labels[f * n + i] gets the answer for row i,
// parts[tile * fits + f] the sum over the rows of a tile.
extern "C" __global__ void __launch_bounds__(THREADS)
assign(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
       const Units* __restrict__ units, const REAL* __restrict__ centers,
       const int* __restrict__ starts, const int* __restrict__ names, int fits, LABEL* labels,
       double* parts) {
    __shared__ REAL least[FITS * (THREADS + 1)];
    __shared__ int begin[FITS + 1];
    const int t = threadIdx.x;
    const int f0 = blockIdx.y * FITS, count = min(FITS, fits - f0);
    for (int f = t; f <= count; f += THREADS) begin[f] = starts[f0 + f];
    __syncthreads();
    const long long i = (long long)blockIdx.x * THREADS + t;
    REAL best = INFINITY;
    int who = 0, f = 0;
    auto finish = [&] {
        if (i < n) labels[(long long)(f0 + f) * n + i] = names[begin[f] + who];
        least[f * (THREADS + 1) + t] = i < n ? best : (REAL)0;
        best = INFINITY;
        who = 0;
        f++;
    };
    compare(X + (i < n ? i : n - 1) * width, columns, units, centers, begin[0], begin[count],
            [&](int m, REAL square) {
                if (m == begin[f + 1]) finish();
                if (square < best) {
                    best = square;
                    who = m - begin[f];
                }
            });
    finish();
    add_up(least, count, parts + (long long)blockIdx.x * fits + f0);
}

// Sums of squared distances to centres that rows are labelled with, in every fit of a batch.
extern "C" __global__ void __launch_bounds__(THREADS)
squares(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
        const Units* __restrict__ units, const REAL* __restrict__ centers,
        const int* __restrict__ starts, int fits, const LABEL* __restrict__ labels,
        double* parts) {
    __shared__ REAL own[THREADS];
    const int t = threadIdx.x, f = blockIdx.y;
    const long long i = (long long)blockIdx.x * THREADS + t;
    REAL sum = 0;
    if (i < n) {
        const RAW* row = X + i * width;
        const REAL* center =
            centers + (long long)(starts[f] + labels[(long long)f * n + i]) * COLUMNS;
        for (int j = 0; j < COLUMNS; j++) {
            const REAL away = (REAL)value(row, j, columns, units) - center[j];
            sum += away * away;
        }
    }
    own[t] = sum;
    __syncthreads();
    if (t == 0) {
        double total = 0.0;
        for (int p = 0; p < THREADS; p++) total += own[p];
        parts[(long long)blockIdx.x * fits + f] = total;
    }
}

// Rows of every cluster of every fit of a batch, counted and added up as whole numbers.
//
// A block adds up to `rows` rows, for the fits from groups[y] on, one for each team of threads, and
// for a strip of columns. Every lane has columns of its own: no two threads add to the same number.
// Sums are put down in an upper part and a lower one of `half` bits.
extern "C" __global__ void
sums(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
     const Units* __restrict__ units, const int* __restrict__ starts,
     const int* __restrict__ groups, const LABEL* __restrict__ labels, int rows, double unit,
     int half, long long centers, unsigned long long* sizes, unsigned long long* totals) {
    const int t = threadIdx.x, lane = t % LANES, team = t / LANES, threads = blockDim.x;
    const int f0 = groups[blockIdx.y], count = groups[blockIdx.y + 1] - f0;
    const int base = starts[f0], k = starts[f0 + count] - base;
    const int c0 = blockIdx.z * STRIP, strip = min(STRIP, COLUMNS - c0);
    long long* sum = (long long*)room;             // k x STRIP
    long long* tile = sum + (long long)k * STRIP;  // TILE x STRIP
    int* number = (int*)(tile + TILE * STRIP);     // k
    LABEL* label = (LABEL*)(number + k);           // count x TILE
    for (int e = t; e < k * STRIP; e += threads) sum[e] = 0;
    for (int e = t; e < k; e += threads) number[e] = 0;
    const long long begin = (long long)blockIdx.x * rows;
    const long long end = begin + rows < n ? begin + rows : n;
    for (long long i = begin; i < end; i += TILE) {
        const int there = end - i < TILE ? (int)(end - i) : TILE;
        __syncthreads();
        for (int e = t; e < there * strip; e += threads) {
            const int r = e / strip, c = e % strip;
            const double v = value(X + (i + r) * width, c0 + c, columns, units);
            tile[r * STRIP + c] = llrint(v * unit);
        }
        for (int e = t; e < count * TILE; e += threads) {
            if (e % TILE < there) label[e] = labels[(f0 + e / TILE) * n + i + e % TILE];
        }
        __syncthreads();
        if (team < count) {
            const int mine = starts[f0 + team] - base;
            for (int r = 0; r < there; r += AHEAD) {
                int c[AHEAD];
                long long more[AHEAD][SHARES];
#pragma unroll
                for (int u = 0; u < AHEAD; u++) {
                    const int row = min(r + u, there - 1);
                    c[u] = mine + label[team * TILE + row];
#pragma unroll
                    for (int q = 0; q < SHARES; q++)
                        more[u][q] = lane + LANES * q < strip && r + u < there
                                         ? tile[row * STRIP + lane + LANES * q]
                                         : 0;
                }
#pragma unroll
                for (int u = 0; u < AHEAD; u++) {
                    long long so_far[SHARES];
                    long long* place = sum + c[u] * STRIP + lane;
#pragma unroll
                    for (int q = 0; q < SHARES; q++)
                        so_far[q] = lane + LANES * q < strip ? place[LANES * q] : 0;
#pragma unroll
                    for (int q = 0; q < SHARES; q++)
                        if (lane + LANES * q < strip) place[LANES * q] = so_far[q] + more[u][q];
                    if (lane == 0 && r + u < there) atomicAdd(number + c[u], 1);
                }
            }
        }
    }
    __syncthreads();
    for (int e = t; e < k * strip; e += threads) {
        const int c = e / strip, j = e % strip;
        const long long whole = sum[c * STRIP + j];
        const long long place = (long long)(base + c) * COLUMNS + c0 + j;
        if (whole != 0) {
            atomicAdd(totals + place, (unsigned long long)(whole >> half));
            atomicAdd(totals + centers * COLUMNS + place,
                      (unsigned long long)(whole & ((1LL << half) - 1)));
        }
    }
    if (blockIdx.z == 0) {
        for (int c = t; c < k; c += threads) {
            atomicAdd(sizes + base + c, (unsigned long long)number[c]);
        }
    }
}

// Centres of clusters that were added up; one without rows stays where it is.
extern "C" __global__ void
means(const unsigned long long* __restrict__ sizes, const unsigned long long* __restrict__ totals,
      long long centers, double unit, double upper, REAL* where) {
    const long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= centers * COLUMNS) return;
    const unsigned long long size = sizes[e / COLUMNS];
    if (size == 0) return;
    const double whole =
        (double)(long long)totals[e] * upper + (double)(long long)totals[centers * COLUMNS + e];
    where[e] = (REAL)(whole / ((double)size * unit));
}

// The values of some rows, in the units of the rows.
extern "C" __global__ void
fill(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
     const Units* __restrict__ units, double* out) {
    const long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n * COLUMNS) out[e] = value(X + e / COLUMNS * width, (int)(e % COLUMNS), columns, units);
}

// The same, column by column, for rows that are too wide to be brought near.
extern "C" __global__ void
transpose(const RAW* __restrict__ X, long long n, int width, const int* __restrict__ columns,
          const Units* __restrict__ units, REAL* out) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < COLUMNS; j++) out[j * n + i] = value(X + i * width, j, columns, units);
}
