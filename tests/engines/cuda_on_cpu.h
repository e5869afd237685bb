// CUDA on the CPU: a block's threads run as coroutines on one thread, and meet where a warp must.
#include <setjmp.h>
#include <ucontext.h>
#include <utility>

// <cmath> and <cstring> would take longer to read than the kernels take to compile.
extern "C" double sqrt(double), fabs(double);
extern "C" float sqrtf(float), logf(float), fabsf(float), fmaxf(float, float);
extern "C" void* memcpy(void*, const void*, size_t);

#define CPU_TWIN
#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(threads, blocks)
#define __align__(n) alignas(n)

struct Dim { unsigned x, y; };
static Dim threadIdx, blockIdx, blockDim, gridDim;
alignas(64) double shared[1 << 16];

// A coroutine is made once and then runs a thread of one block after the other. Jumps change between
// coroutines, for swapcontext asks the kernel for the signal mask each time.
const unsigned MAX_THREADS = 1024, STACK_BYTES = 1 << 16;
struct Thread {
    jmp_buf place;
    char* stack;
    bool done;
};
static Thread block_threads[MAX_THREADS];
static unsigned coroutines, current;
static jmp_buf scheduler;
static ucontext_t first_caller;

static __attribute__((noinline)) void pause_thread() {
    if (!_setjmp(block_threads[current].place)) _longjmp(scheduler, 1);
}

static __attribute__((noinline)) void resume_thread() {
    if (!_setjmp(scheduler)) _longjmp(block_threads[current].place, 1);
}

struct Warp { unsigned arrived, generation; double slot[6][32]; };
static Warp block_warps[MAX_THREADS / 32];
static Warp& own_warp() { return block_warps[threadIdx.x / 32]; }

static void warp_barrier() {
    Warp& warp = own_warp();
    const unsigned generation = warp.generation;
    if (++warp.arrived == 32) {
        warp.arrived = 0;
        ++warp.generation;
        return;
    }
    while (own_warp().generation == generation) pause_thread();
}

static unsigned block_arrived, block_generation;
static void block_barrier() {
    const unsigned generation = block_generation;
    if (++block_arrived == blockDim.x) {
        block_arrived = 0;
        ++block_generation;
        return;
    }
    while (block_generation == generation) pause_thread();
}

static double exchanged(double x, unsigned lane) {
    own_warp().slot[0][threadIdx.x % 32] = x;
    warp_barrier();
    const double y = own_warp().slot[0][lane % 32];
    warp_barrier();
    return y;
}
static double shuffle_xor(double x, int mask) { return exchanged(x, (threadIdx.x % 32) ^ mask); }
static float shuffle_xor(float x, int mask) { return (float)exchanged(x, (threadIdx.x % 32) ^ mask); }
static float shuffle(float x, int lane) { return (float)exchanged(x, lane); }
static double shuffle(double x, int lane) { return exchanged(x, lane); }
static int shuffle(int x, int lane) { return (int)exchanged(x, lane); }
template <typename T> static T load_once(const T* p) { return *p; }
static float inverse_root(float x) { return 1 / sqrtf(x); }
static double inverse_root(double x) { return 1 / sqrt(x); }

static void multiply(double* c, double a0, double a1, double b) {
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double given[3] = {a0, a1, b};
    for (int n = 0; n < 3; ++n) own_warp().slot[n][lane] = given[n];
    warp_barrier();
    for (unsigned k = 0; k < 4; ++k)
        for (unsigned n = 0; n < 4; ++n)
            c[n] += own_warp().slot[n / 2][4 * g + k] * own_warp().slot[2][4 * (2 * t + n % 2) + k];
    warp_barrier();
}

// What each lane has of both operands, for all lanes of its warp.
template <typename T> static void show_operands(const T (&given)[6]) {
    for (int n = 0; n < 6; ++n) own_warp().slot[n][threadIdx.x % 32] = given[n];
    warp_barrier();
}

static void multiply(float* c, float a0, float a1, float a2, float a3, float b0, float b1) {
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    show_operands<float>({a0, a1, a2, a3, b0, b1});
    for (unsigned k = 0; k < 8; ++k)
        for (unsigned n = 0; n < 4; ++n)
            c[n] += (float)(own_warp().slot[k / 4 * 2 + n / 2][4 * g + k % 4] *
                            own_warp().slot[4 + k / 4][4 * (2 * t + n % 2) + k % 4]);
    warp_barrier();
}

static unsigned pack_halves(float x, float y) {
    _Float16 both[2] = {(_Float16)x, (_Float16)y};
    unsigned bits;
    memcpy(&bits, both, 4);
    return bits;
}
static void unpack_halves(unsigned bits, float& x, float& y) {
    _Float16 both[2];
    memcpy(both, &bits, 4);
    x = both[0], y = both[1];
}

static void multiply(float* c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    show_operands<unsigned>({a0, a1, a2, a3, b0, b1});
    for (unsigned k = 0; k < 8; ++k)
        for (unsigned n = 0; n < 4; ++n) {
            float a[2], b[2];
            unpack_halves((unsigned)own_warp().slot[k / 4 * 2 + n / 2][4 * g + k % 4], a[0], a[1]);
            unpack_halves((unsigned)own_warp().slot[4 + k / 4][4 * (2 * t + n % 2) + k % 4], b[0], b[1]);
            c[n] += a[0] * b[0] + a[1] * b[1];
        }
    warp_barrier();
}

static unsigned warp_max(unsigned x) {
    for (int mask = 16; mask; mask /= 2) {
        const unsigned y = (unsigned)exchanged(x, (threadIdx.x % 32) ^ mask);
        x = x > y ? x : y;
    }
    return x;
}
static unsigned bits_of(float x) {
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}
static float number_of(unsigned bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
static float root(float x) { return sqrtf(x); }

template <int BYTES> static void copy_ahead(void* to, const void* from) { memcpy(to, from, BYTES); }
static void end_copies() {}
template <int LEFT> static void wait_for_copies() {}

static float shorten(float x) { return number_of((bits_of(x) + 0x1000) & 0xffffe000); }

struct Launch { void (*kernel)(void**); void** arguments; };
static Launch launched;
static void enter() {
    for (;;) {
        pause_thread();
        launched.kernel(launched.arguments);
        block_threads[current].done = true;
    }
}

static __attribute__((noinline)) void make_coroutine() {
    static ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = block_threads[current].stack = new char[STACK_BYTES];
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = nullptr;
    makecontext(&context, enter, 0);
    if (!_setjmp(scheduler)) swapcontext(&first_caller, &context);
}

static void run_block() {
    const unsigned count = blockDim.x;
    for (; coroutines < count; ++coroutines) {
        current = coroutines;
        make_coroutine();
    }
    for (current = 0; current < count; ++current) block_threads[current].done = false;
    for (unsigned n = 0; n < (count + 31) / 32; ++n) block_warps[n] = Warp();
    for (unsigned left = count; left;) {
        left = 0;
        for (current = 0; current < count; ++current) {
            if (block_threads[current].done) continue;
            threadIdx = {current, 0};
            resume_thread();
            left += !block_threads[current].done;
        }
    }
}

template <auto kernel, typename... A, size_t... I>
static void unpacked(void** arguments, void (*)(A...), std::index_sequence<I...>) {
    kernel(*(A*)arguments[I]...);
}
template <auto kernel, typename... A> static void pass(void** arguments, void (*type)(A...)) {
    unpacked<kernel>(arguments, type, std::index_sequence_for<A...>());
}
template <auto kernel> static void call(void** arguments) { pass<kernel>(arguments, kernel); }

static void launch(void (*kernel)(void**), unsigned gx, unsigned gy, unsigned bx, void** arguments) {
    launched = {kernel, arguments};
    gridDim = {gx, gy};
    blockDim = {bx, 1};
    for (unsigned y = 0; y < gy; ++y)
        for (unsigned x = 0; x < gx; ++x) {
            blockIdx = {x, y};
            run_block();
        }
}
