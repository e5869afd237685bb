// Products and predictions over observed cells.

// out[p] = scale * sum of data[e] x[indices[e]] over the cells starts[p] ... stops[p] - 1; without x, of
// data[e].
template <typename D>
__global__ void matvec(i64 pieces, const i64* starts, const i64* stops, const int* indices, const D* data,
                       double scale, const double* x, double* out) {
    const i64 p = WARP_INDEX;
    if (p >= pieces) return;
    const i64 stop = stops[p];
    double total = 0;
    for (i64 e = starts[p] + LANE; e - LANE < stop; e += 4 * WARP) {  // four loads hide their latency
        double part[4];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const bool inside = e + t * WARP < stop;
            const double d = inside ? (double)load_once(data + e + t * WARP) : 0.0;
            part[t] = x && inside ? d * x[load_once(indices + e + t * WARP)] : d;
        }
        total += (part[0] + part[1]) + (part[2] + part[3]);
    }
    total = warp_sum(total);
    if (LANE == 0) out[p] = scale * total;
}

// out[p, c] = sum of a X[j, c] over piece p, j the other side of the cell and a = data[e] x[j]; without
// data or x they count as 1. A warp takes 32 columns, those of blockIdx.y.
template <typename D, typename T>
__global__ void matmat(i64 pieces, const i64* starts, const int* indices, const D* data, const T* x,
                       int columns, const T* X, T* out) {
    const i64 p = WARP_INDEX;
    if (p >= pieces) return;
    const int c = blockIdx.y * WARP + LANE;
    const i64 stop = starts[p + 1];
    T total = 0;
    for (i64 e = starts[p]; e < stop; e += WARP) {
        const bool inside = e + LANE < stop;
        const int own = inside ? indices[e + LANE] : 0;
        const double a = inside ? (data ? (double)data[e + LANE] : 1.0) * (x ? (double)x[own] : 1.0) : 0.0;
        const int count = stop - e < WARP ? (int)(stop - e) : WARP;
        for (int t = 0; t < count; ++t) {
            const i64 j = shuffle(own, t);
            const T factor = (T)shuffle(a, t);
            if (c < columns) total += factor * X[j * columns + c];
        }
    }
    if (c < columns) out[p * columns + c] = total;
}

// out[i, c] = scale * sum of partial[p, c] over the pieces of group i, in order.
template <typename T>
__global__ void add_pieces(i64 groups, const i64* first, int columns, double scale, const T* partial, T* out) {
    const i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= groups * columns) return;
    const i64 i = at / columns, c = at % columns;
    double total = 0;
    for (i64 p = first[i]; p < first[i + 1]; ++p) total += partial[p * columns + c];
    out[at] = (T)(scale * total);
}

// z = <P_i, Q_j> for the cells of pieces begin ... begin + pieces - 1; groups[p] is the group of a piece.
// Without values out[e - base] = z. Else out = w (z - y), and sums[p] gets the sums of w (z - y)^2 and of
// w (z - y) z. Eight lanes share eight cells; at the end each has the sum for its own.
template <typename T, typename F>
__global__ void predictions(i64 begin, i64 pieces, const i64* starts, const int* groups, const int* indices,
                            const T* values, const T* weights, int s, const F* __restrict__ P,
                            const F* __restrict__ Q, i64 base, T* out, double* sums) {
    const i64 p = begin + WARP_INDEX;
    if (p >= begin + pieces) return;
    const int part = LANE % 8;
    const F* own = P + (i64)groups[p] * s;
    const i64 stop = starts[p + 1];
    double squares = 0, inner = 0;
    for (i64 e = starts[p] + LANE; e - LANE < stop; e += WARP) {
        const bool inside = e < stop;
        const int mine = inside ? indices[e] : 0;
        const F* other[8];
        F z[8] = {};
#pragma unroll
        for (int t = 0; t < 8; ++t) other[t] = Q + (i64)shuffle(mine, LANE - part + t) * s;
        for (int k = part; k < s; k += 8) {
            const F u = own[k];
#pragma unroll
            for (int t = 0; t < 8; ++t) z[t] += u * other[t][k];
        }
#pragma unroll
        for (int half = 4; half; half /= 2) {
            const bool up = part & half;
#pragma unroll
            for (int t = 0; t < half; ++t) {
                const F give = up ? z[t] : z[t + half];
                z[t] = (up ? z[t + half] : z[t]) + (F)shuffle_xor((double)give, half);
            }
        }
        if (!inside) continue;
        const double whole = z[0];
        if (!values) {
            out[e - base] = (T)whole;
            continue;
        }
        const double r = whole - values[e];
        const double wr = weights ? r * weights[e] : r;
        out[e - base] = (T)wr;
        squares += wr * r;
        inner += wr * whole;
    }
    if (!values) return;
    squares = warp_sum(squares);
    inner = warp_sum(inner);
    if (LANE == 0) {
        sums[2 * p] = squares;
        sums[2 * p + 1] = inner;
    }
}
