// What all kernels share.
//
// The engine compiles these files, as one text, for the GPU when they are first used. A short shim
// (tests/engines/cuda_on_cpu.h) lets a C++ compiler compile them for the CPU, where a block's threads run as
// coroutines: the kernels' index arithmetic is tested without a GPU.
//
// Cells are grouped (by row, say). Groups are cut into pieces of consecutive cells: piece p has the
// cells starts[p] ... starts[p + 1] - 1, group i the pieces first[i] ... first[i + 1] - 1. A warp works
// on one piece and writes partial sums of its own, which are added in order: the same bits each time.

typedef long long i64;

#define WARP 32
#define LANE (threadIdx.x % WARP)
#define WARP_INDEX ((i64)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP)

#ifndef CPU_TWIN
__device__ __forceinline__ double shuffle_xor(double x, int mask) { return __shfl_xor_sync(~0u, x, mask); }
__device__ __forceinline__ float shuffle_xor(float x, int mask) { return __shfl_xor_sync(~0u, x, mask); }
__device__ __forceinline__ float shuffle(float x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ __forceinline__ double shuffle(double x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ __forceinline__ int shuffle(int x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }
__device__ __forceinline__ void block_barrier() { __syncthreads(); }
template <typename T> __device__ __forceinline__ T load_once(const T* p) { return __ldcs(p); }
__device__ __forceinline__ float inverse_root(float x) { return rsqrtf(x); }
__device__ __forceinline__ double inverse_root(double x) { return rsqrt(x); }

// c += a b for a (16, 4), b (4, 8), c (16, 8). With g = lane / 4 and t = lane % 4 a lane holds
// a0 = a[g][t], a1 = a[g + 8][t], b = b[t][g], c = c[g][2t], c[g][2t + 1], c[g + 8][2t], c[g + 8][2t + 1].
__device__ __forceinline__ void multiply(double* c, double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(b));
#else
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[0]), "+d"(c[1]) : "d"(a0), "d"(b));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[2]), "+d"(c[3]) : "d"(a1), "d"(b));
#endif
}
#endif

__device__ __forceinline__ double warp_sum(double x) {
    for (int mask = WARP / 2; mask; mask /= 2) x += shuffle_xor(x, mask);
    return x;
}

// Four numbers that are read at once.
template <typename T> struct __align__(4 * sizeof(T)) Four { T at[4]; };
