// Conjugate gradients for many columns at once, in single precision; see engines/cuda/ridge.py. And sums of
// rows.
//
// Arrays have k columns; of conjugate gradients a multiple of four. A block takes `length` rows of up to 64 columns, those of
// blockIdx.y: its threads share out the rows of each column. It leaves sums of its own, sums[p, c] of part p,
// and each block of a later kernel adds up all parts, in the same order.

#define BLOCK_COLUMNS 64

struct Share {
    int c, row, rows, width;
    i64 begin, end;
};

__device__ __forceinline__ Share find_share(i64 size, int k, i64 length) {
    const int first = blockIdx.y * BLOCK_COLUMNS, left = k - first, thread = threadIdx.x;
    const int width = left < BLOCK_COLUMNS ? left : BLOCK_COLUMNS, rows = blockDim.x / width;
    const i64 begin = blockIdx.x * length, end = begin + length < size ? begin + length : size;
    // Threads that are left over have no rows.
    return {first + thread % width, thread / width, rows, width, begin, thread / width < rows ? end : begin};
}

// The sum of the threads of a column, for each of them.
__device__ __forceinline__ double sum_block(const Share& own, double x) {
    extern __shared__ double shared[];
    block_barrier();  // others may still read the last sums
    shared[threadIdx.x] = x;
    block_barrier();
    double total = 0;
    for (int r = 0; r < own.rows; ++r) total += shared[r * own.width + threadIdx.x % own.width];
    return total;
}

__device__ __forceinline__ double sum_parts(const Share& own, i64 parts, int k, const double* sums, int c) {
    double total = 0;
    if (own.row < own.rows)
        for (i64 p = own.row; p < parts; p += own.rows) total += sums[p * k + c];
    return sum_block(own, total);
}

__device__ __forceinline__ void write_sum(const Share& own, int k, double x, double* sums) {
    const double total = sum_block(own, x);
    if (own.row == 0) sums[(i64)blockIdx.x * k + own.c] = total;
}

#define FOR_SHARED_ROWS(own)                                                                         \
    for (i64 i = own.begin + own.row, at = i * k + own.c; i < own.end; i += own.rows, at += own.rows * (i64)k)

// out[p] = sum of data[e] x[j] X[j] over the cells of piece p, j the other side of a cell; without x it counts
// as 1. LANES lanes share a cell, each takes four columns.
template <int LANES>
__global__ void multiply_fours(i64 pieces, const i64* __restrict__ starts, const int* __restrict__ indices,
                               const float* __restrict__ data, const float* __restrict__ x, int k,
                               const float* __restrict__ X, float* out) {
    const i64 p = WARP_INDEX;
    if (p >= pieces) return;
    const int c = 4 * (blockIdx.y * LANES + LANE % LANES), cell = LANE / LANES;
    const i64 stop = starts[p + 1];
    float total[4] = {};
    for (i64 e = starts[p]; e < stop; e += WARP) {
        const bool inside = e + LANE < stop;
        const int own = inside ? indices[e + LANE] : 0;
        const float a = inside ? data[e + LANE] * (x ? x[own] : 1.0f) : 0.0f;
        const int count = stop - e < WARP ? (int)(stop - e) : WARP;
#pragma unroll 4
        for (int t = 0; t < count; t += WARP / LANES) {
            const i64 j = shuffle(own, t + cell);
            const float factor = shuffle(a, t + cell);
            if (c >= k) continue;
            const Four<float> row = *(const Four<float>*)(X + j * k + c);
#pragma unroll
            for (int n = 0; n < 4; ++n) total[n] += factor * row.at[n];
        }
    }
    for (int mask = LANES; mask < WARP; mask *= 2)
        for (int n = 0; n < 4; ++n) total[n] += shuffle_xor(total[n], mask);
    if (cell == 0 && c < k) *(Four<float>*)(out + p * k + c) = {total[0], total[1], total[2], total[3]};
}

// The sums of weights P.
__global__ void weigh_rows(i64 size, int k, i64 length, const float* __restrict__ weights,
                           const float* __restrict__ P, double* sums) {
    const Share own = find_share(size, k, length);
    double total = 0;
    FOR_SHARED_ROWS(own) total += (double)(weights[i] * P[at]);
    write_sum(own, k, total, sums);
}

// The sum of the pieces of row i, in column c.
__device__ __forceinline__ double sum_pieces(const i64* __restrict__ first, const float* __restrict__ pieces, i64 i,
                                             int k, int c) {
    double total = 0;
    for (i64 p = first[i]; p < first[i + 1]; ++p) total += pieces[p * k + c];
    return total;
}

// Y = there (own (sum of pieces) - pull shift), with the shifts in parts; the sums are of pull Y.
__global__ void gather_rows(i64 size, int k, i64 length, const i64* __restrict__ first,
                            const float* __restrict__ pieces, const float* __restrict__ scale,
                            const float* __restrict__ pull, const float* __restrict__ there, i64 parts,
                            const double* __restrict__ shifts, float* Y, double* sums) {
    const Share own = find_share(size, k, length);
    const double shift = sum_parts(own, parts, k, shifts, own.c);
    double total = 0;
    FOR_SHARED_ROWS(own) {
        const double piece = sum_pieces(first, pieces, i, k, own.c);
        const float y = there[i] * (float)(scale[i] * piece - pull[i] * shift);
        Y[at] = y;
        total += (double)(pull[i] * y);
    }
    write_sum(own, k, total, sums);
}

// Q = (sum of pieces) - mean shift + weight P, with the shifts in parts; the sums are of P Q.
__global__ void gather_columns(i64 size, int k, i64 length, const i64* __restrict__ first,
                               const float* __restrict__ pieces, const float* __restrict__ mean, i64 parts,
                               const double* __restrict__ shifts, float weight, const float* __restrict__ P, float* Q,
                               double* sums) {
    const Share own = find_share(size, k, length);
    const double shift = sum_parts(own, parts, k, shifts, own.c);
    double total = 0;
    FOR_SHARED_ROWS(own) {
        const double piece = sum_pieces(first, pieces, i, k, own.c);
        const float q = (float)(piece - mean[i] * shift) + weight * P[at];
        Q[at] = q;
        total += (double)(P[at] * q);
    }
    write_sum(own, k, total, sums);
}

// R = right - Q and P = 0; the sums are of scale R R, and `goals` of scale right right.
__global__ void begin_descent(i64 size, int k, i64 length, const float* __restrict__ right,
                              const float* __restrict__ Q, const float* __restrict__ scale, float* R, float* P,
                              double* sums, double* goals) {
    const Share own = find_share(size, k, length);
    double total = 0, whole = 0;
    FOR_SHARED_ROWS(own) {
        const float r = right[at] - Q[at];
        R[at] = r;
        P[at] = 0;
        total += (double)(r * (scale[i] * r));
        whole += (double)(right[at] * (scale[i] * right[at]));
    }
    write_sum(own, k, total, sums);
    write_sum(own, k, whole, goals);
}

// Whether no column has more than this share of its goal. A step after that changes nothing: so the host may
// ask once for several steps.
__device__ __forceinline__ bool is_done(int k, const double* sizes, const double* goals, double share) {
    for (int c = 0; c < k; ++c)
        if (!(sizes[c] <= share * goals[c])) return false;
    return true;
}

// X += l P and R -= l Q with l = before / (sum of products in parts); the sums are of scale R R.
__global__ void take_step(i64 size, int k, i64 length, i64 parts, const double* __restrict__ products,
                          const double* __restrict__ before, const double* __restrict__ goals, double share,
                          const float* __restrict__ scale, const float* __restrict__ P, const float* __restrict__ Q,
                          float* X, float* R, double* sums) {
    if (is_done(k, before, goals, share)) return;
    const Share own = find_share(size, k, length);
    const double product = sum_parts(own, parts, k, products, own.c);
    const float step = (float)(before[own.c] / (product > 1e-30 ? product : 1e-30));
    double total = 0;
    FOR_SHARED_ROWS(own) {
        const float r = R[at] - step * Q[at];
        X[at] += step * P[at];
        R[at] = r;
        total += (double)(r * (scale[i] * r));
    }
    write_sum(own, k, total, sums);
}

// after = sum of squares in parts, and P = scale R + after / before P; the sums are of weights P.
__global__ void change_direction(i64 size, int k, i64 length, i64 parts, const double* __restrict__ squares,
                                 const double* __restrict__ before, const double* __restrict__ goals, double share,
                                 const float* __restrict__ scale, const float* __restrict__ weights,
                                 const float* __restrict__ R, float* P, double* after, double* sums) {
    const Share own = find_share(size, k, length);
    const double last = before[own.c];
    if (is_done(k, before, goals, share)) {
        if (blockIdx.x == 0 && own.row == 0) after[own.c] = last;
        return;
    }
    const double square = sum_parts(own, parts, k, squares, own.c);
    if (blockIdx.x == 0 && own.row == 0) after[own.c] = square;
    const float ratio = (float)(square / (last > 1e-30 ? last : 1e-30));
    double total = 0;
    FOR_SHARED_ROWS(own) {
        const float p = scale[i] * R[at] + ratio * P[at];
        P[at] = p;
        total += (double)(weights[i] * p);
    }
    write_sum(own, k, total, sums);
}

// The sums of the rows (x_i, b_i, 1) that count, k numbers each.
__global__ void sum_rows(i64 size, int k, i64 length, const float* __restrict__ factor,
                         const float* __restrict__ bias, const bool* __restrict__ some, double* sums) {
    const Share own = find_share(size, k, length);
    const int s = k - 2;
    double total = 0;
    for (i64 i = own.begin + own.row; i < own.end; i += own.rows)
        if (some[i]) total += own.c < s ? factor[i * s + own.c] : own.c == s ? bias[i] : 1.0f;
    write_sum(own, k, total, sums);
}

// out = (x_i, b_i), k numbers each, less the mean by those sums.
__global__ void center_rows(i64 size, int k, i64 length, const float* __restrict__ factor,
                            const float* __restrict__ bias, i64 parts, const double* __restrict__ sums, float* out) {
    const Share own = find_share(size, k, length);
    const double total = sum_parts(own, parts, k + 1, sums, own.c), count = sum_parts(own, parts, k + 1, sums, k);
    const float mean = (float)(total / (count > 1 ? count : 1));
    FOR_SHARED_ROWS(own) out[at] = (own.c < k - 1 ? factor[i * (k - 1) + own.c] : bias[i]) - mean;
}
