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
__device__ __forceinline__ float inverse_root(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float root(float x) { return sqrtf(x); }
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

// The same for a (16, 8) and b (8, 8) of eleven bits: a lane holds a[g][t], a[g + 8][t], a[g][t + 4],
// a[g + 8][t + 4] and b[t][g], b[t + 4][g]. Further bits of the operands are left out.
__device__ __forceinline__ void multiply(float* c, float a0, float a1, float a2, float a3, float b0, float b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)), "r"(__float_as_uint(a3)),
          "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

// The same for a (16, 16) and b (16, 8) of half precision, two numbers a register: a lane holds of a
// (g, 2t ...), (g + 8, 2t ...), (g, 2t + 8 ...), (g + 8, 2t + 8 ...), of b (2t ..., g), (2t + 8 ..., g).
__device__ __forceinline__ void multiply(float* c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Two numbers in half precision, and what they are.
__device__ __forceinline__ unsigned pack_halves(float x, float y) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
    return both;
}
__device__ __forceinline__ void unpack_halves(unsigned both, float& x, float& y) {
    asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
        : "=f"(x), "=f"(y) : "r"(both));
}

__device__ __forceinline__ unsigned warp_max(unsigned x) { return __reduce_max_sync(~0u, x); }
__device__ __forceinline__ unsigned bits_of(float x) { return __float_as_uint(x); }
__device__ __forceinline__ float number_of(unsigned bits) { return __uint_as_float(bits); }

// Copies BYTES to shared memory, while the thread goes on: after wait_for_copies<n>, all but the last n
// groups of copies of this thread have arrived. `end_copies` ends a group.
template <int BYTES> __device__ __forceinline__ void copy_ahead(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(BYTES) : "memory");
}
__device__ __forceinline__ void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> __device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
}

// x in eleven bits, to nearest.
__device__ __forceinline__ float shorten(float x) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}
#endif

__device__ __forceinline__ double warp_sum(double x) {
    for (int mask = WARP / 2; mask; mask /= 2) x += shuffle_xor(x, mask);
    return x;
}

// Four numbers that are read at once, and two.
template <typename T> struct __align__(4 * sizeof(T)) Four { T at[4]; };
template <typename T> struct __align__(2 * sizeof(T)) Two { T at[2]; };
