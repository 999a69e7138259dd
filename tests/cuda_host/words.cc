/* words.cc - the emulation's own test, first half: each word of kernels means what CUDA says, and
 * each rule stops a kernel that breaks it. */
#include "alone.h"
#include "other.h"

/* --- shuffles -------------------------------------------------------------------------------- */

enum { UP, DOWN, XOR, LANE, UP_8, DOWN_8, XOR_8, LANE_8, WAYS };
__global__ void shuffles(int *to, int way, int d) {
    const int v = 100 + (int)threadIdx.x;
    const unsigned all = ~0u;
    int r = 0;
    switch (way) {
    case UP: r = __shfl_up_sync(all, v, (unsigned)d); break;
    case DOWN: r = __shfl_down_sync(all, v, (unsigned)d); break;
    case XOR: r = __shfl_xor_sync(all, v, d); break;
    case LANE: r = __shfl_sync(all, v, d); break;
    case UP_8: r = __shfl_up_sync(all, v, (unsigned)d, 8); break;
    case DOWN_8: r = __shfl_down_sync(all, v, (unsigned)d, 8); break;
    case XOR_8: r = __shfl_xor_sync(all, v, d, 8); break;
    default: r = __shfl_sync(all, v, d, 8);
    }
    to[threadIdx.x] = r;
}
/* CUDA's guide, "Warp Shuffle Functions", in its own words: a lane below, above, by exclusive or; a
 * source out of the part of `width` lanes leaves the value as it is. */
static int shuffle_source(int way, int lane, int d) {
    const int width = way >= UP_8 ? 8 : 32, begin = lane / width * width;
    switch (way % UP_8) {
    case UP: return lane - d < begin ? lane : lane - d;
    case DOWN: return lane + d >= begin + width ? lane : lane + d;
    case XOR: return (lane ^ d) >= begin + width ? lane : lane ^ d;
    default: return begin + d % width;
    }
}
static void shuffles_take_the_value_of_the_lane_that_cuda_says() {
    const cudaStream_t s = new_stream();
    int *to = new_array<int>(64);
    for (int way = 0; way < WAYS; way++)
        for (int d = 0; d < 32; d += 1 + d / 3) {
            TNC_LAUNCH(shuffles, 1, 64, s, to, way, d);
            const std::vector<int> got = fetched(to, 64, s);
            for (int i = 0; i < 64; i++)
                CHECK_EQ(got[(size_t)i], 100 + i / 32 * 32 + shuffle_source(way, i % 32, d));
        }
}
__global__ void of_types(double *to) {
    const int i = (int)threadIdx.x;
    to[i] = __shfl_xor_sync(~0u, i + 0.5, 1) + (double)__shfl_xor_sync(~0u, (float)i + 0.25f, 1) +
            (double)__shfl_xor_sync(~0u, (long long)i << 40, 1) + __shfl_xor_sync(~0u, (short)i, 1);
}
static void shuffles_carry_all_numbers_of_8_bytes() {
    const cudaStream_t s = new_stream();
    double *to = new_array<double>(32);
    TNC_LAUNCH(of_types, 1, 32, s, to);
    const std::vector<double> got = fetched(to, 32, s);
    for (int i = 0; i < 32; i++) CHECK(got[(size_t)i] == (i ^ 1) * (3.0 + 1099511627776.0) + 0.75);
}
/* Lanes 0-15 and 16-31 take different ways and meet among themselves; 24 threads: the upper group
 * has 8. */
__global__ void halves(unsigned *to) {
    const unsigned i = threadIdx.x;
    if (i < 16)
        to[i] = __shfl_down_sync(0xffffu, i, 1);
    else
        to[i] = __shfl_sync(0xffff0000u, i, 20);
    __syncwarp(i < 16 ? 0xffffu : 0xffff0000u);
    if (i == 3) to[24] = __shfl_down_sync(1u << 3, i, 1); /* of a lane outside the mask */
}
static void groups_of_a_warp_meet_apart_and_lanes_outside_give_ones() {
    const cudaStream_t s = new_stream();
    unsigned *to = new_array<unsigned>(25);
    TNC_LAUNCH(halves, 1, 24, s, to);
    const std::vector<unsigned> got = fetched(to, 25, s);
    for (unsigned i = 0; i < 15; i++) CHECK_EQ(got[i], i + 1);
    CHECK_EQ(got[15], ~0u); /* lane 16 is not in the mask */
    for (unsigned i = 16; i < 24; i++) CHECK_EQ(got[i], 20);
    CHECK_EQ(got[24], ~0u);
}
__global__ void votes(unsigned *to) {
    const int i = (int)threadIdx.x;
    const unsigned odd = __ballot_sync(~0u, i & 1), low = 0xffu;
    unsigned answers = 0;
    if (i < 8) {
        answers |= __any_sync(low, i == 5) ? 1u : 0;
        answers |= __any_sync(low, i == 8) ? 2u : 0;
        answers |= __all_sync(low, i < 8) ? 4u : 0;
        answers |= __all_sync(low, i < 7) ? 8u : 0;
    }
    to[i] = i < 8 ? answers : odd;
}
static void votes_ask_the_lanes_of_the_mask() {
    const cudaStream_t s = new_stream();
    unsigned *to = new_array<unsigned>(32);
    TNC_LAUNCH(votes, 1, 32, s, to);
    const std::vector<unsigned> got = fetched(to, 32, s);
    for (size_t i = 0; i < 32; i++) CHECK_EQ(got[i], i < 8 ? 5u : 0xaaaaaaaau);
}

enum { NOT_IN_MASK, ENDED, MASKS, ACTIVE, WIDTH, FOR_EVER, BARRIERS_APART, BARRIER_ENDED };
__global__ void wrong_meeting(int way) {
    const unsigned i = threadIdx.x;
    switch (way) {
    case NOT_IN_MASK: __shfl_sync(1u, i, 0); break;
    case ENDED:
        if (i == 7) return;
        __syncwarp();
        break;
    case MASKS: __syncwarp(i % 32 < 16 ? ~0u : 0xffff0000u); break;
    case ACTIVE: __shfl_sync(__activemask(), i, 0); break;
    case WIDTH: __shfl_sync(~0u, i, 0, 6); break;
    case FOR_EVER:
        if (i == 3)
            __syncthreads();
        else
            __syncwarp();
        break;
    case BARRIERS_APART:
        if (i < 32)
            __syncthreads();
        else
            __syncthreads();
        break;
    case BARRIER_ENDED:
        if (i < 60) __syncthreads();
        break;
    }
}
static void wrong_meetings_stop_with_their_line() {
    const cudaStream_t s = new_stream();
#define STOPS(way, sentence) CHECK_STOPS(sentence, TNC_LAUNCH(wrong_meeting, 1, 64, s, way))
    STOPS(NOT_IN_MASK, "lane 1 is not in its own mask; kernel wrong_meeting, launched at ");
    STOPS(ENDED, "lane 7 of the mask has ended");
    STOPS(MASKS, "lane 16 of the mask has ended"); /* 16 to 31 met without the others */
    STOPS(ACTIVE, "__activemask says which lanes happen to run");
    STOPS(WIDTH, "a shuffle of width 6");
    STOPS(FOR_EVER, "threads wait for each other for ever, in lines ");
    STOPS(BARRIERS_APART, "threads wait at different barriers, lines ");
    STOPS(BARRIER_ENDED, " while 4 have ended");
    CHECK_STOPS("block (2, 0, 0), thread (1, 0, 0)", emu_settings().order = 1;
                TNC_LAUNCH(wrong_meeting, 3, 2, s, (int)NOT_IN_MASK));
#undef STOPS
    TNC_LAUNCH(wrong_meeting, 1, 64, s, -1); /* the kernel itself is none */
}

/* --- barriers, shared memory ----------------------------------------------------------------- */

__global__ void turned(int *to, int good) {
    TNC_SHARED(int, part, 256);
    for (int round = 0; round < 3; round++) {
        part[threadIdx.x] = round * 1000 + (int)threadIdx.x;
        if (good) __syncthreads();
        to[(unsigned)round * 256 + threadIdx.x] = part[255 - threadIdx.x];
        if (good) __syncthreads();
    }
}
static std::vector<int> turned_by(int order, int good) {
    const cudaStream_t s = new_stream();
    int *to = new_array<int>(768);
    emu_settings().order = order;
    TNC_LAUNCH(turned, 1, 256, s, to, good);
    return fetched(to, 768, s);
}
static void a_missing_barrier_shows_in_every_order() {
    std::vector<int> wanted;
    for (int i = 0; i < 768; i++) wanted.push_back(i / 256 * 1000 + 255 - i % 256);
    for (int order = 0; order < 6; order++) {
        CHECK(turned_by(order, 1) == wanted);
        CHECK(turned_by(order, 0) != wanted);
    }
    CHECK(turned_by(0, 0) != turned_by(1, 0));
}
__global__ void plainly(int *to) {
    if (blockIdx.x == 0) to[0] = (int)threadIdx.x; /* the last one wins */
    to[1 + blockIdx.x] = 1;
}
static void threads_of_plain_kernels_come_in_any_order_too() {
    const cudaStream_t s = new_stream();
    int *to = new_array<int>(9), last[2];
    for (int order = 0; order < 2; order++) {
        emu_settings().order = order;
        TNC_LAUNCH_PLAIN(plainly, 8, 64, s, to);
        last[order] = fetched(to, 9, s)[0];
    }
    CHECK_EQ(last[0], 63);
    CHECK_EQ(last[1], 0);
    int seen = 0;
    emu_settings().order = 2;
    for (int i = 0; i < 20; i++) {
        TNC_LAUNCH_PLAIN(plainly, 1, 2, s, to);
        seen |= 1 << fetched(to, 1, s)[0];
    }
    CHECK_EQ(seen, 3);
}
template <class T>
__device__ T *scratch() { /* one piece for each T, whoever calls */
    TNC_SHARED(T, piece, 4);
    return piece;
}
__global__ void shared_facts(int *to) {
    float *const f = scratch<float>(), *const again = scratch<float>();
    double *const d = scratch<double>();
    TNC_SHARED_DYNAMIC(unsigned char, bytes);
    TNC_SHARED_DYNAMIC(int, ints);
    int *mine = to + blockIdx.x * 4;
    if (threadIdx.x == 0) {
        mine[0] = f == again && (void *)f != (void *)d && (void *)bytes == (void *)ints;
        mine[1] = f[3] != f[3] && d[3] != d[3] && bytes[0] == 0xff && bytes[99] == 0xff;
        f[3] = 1;
        bytes[99] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 1) mine[2] = f[3] == 1 && bytes[99] == 1;
}
static void shared_memory_is_one_for_a_block_and_new_for_the_next() {
    const cudaStream_t s = new_stream();
    int *to = new_array<int>(8);
    TNC_LAUNCH_SHARED(shared_facts, 2, 2, 100, s, to);
    const std::vector<int> got = fetched(to, 8, s);
    for (size_t i = 0; i < 8; i++)
        if (i % 4 < 3) CHECK_EQ(got[i], 1);
}
template <int n>
__global__ void takes(int beyond) {
    TNC_SHARED(char, a, n);
    a[n - 1 + beyond] = 1;
}
__global__ void takes_dynamic(int beyond) {
    TNC_SHARED_DYNAMIC(char, a);
    a[beyond] = 1;
}
static void shared_memory_has_cudas_limits() {
    const cudaStream_t s = new_stream();
    const int most = 48 << 10, more = 100 << 10;
    TNC_LAUNCH((takes<most>), 1, 1, s, 0);
    CHECK_STOPS("bytes of static shared memory", TNC_LAUNCH((takes<most + 1>), 1, 1, s, 0));
    TNC_LAUNCH_SHARED((takes<1024>), 1, 1, most - 1024, s, 0);
    CHECK_STOPS("bytes of static and dynamic shared memory",
                TNC_LAUNCH_SHARED((takes<1024>), 1, 1, most - 1023, s, 0));
    CHECK_STOPS("more than the kernel may",
                TNC_LAUNCH_SHARED(takes_dynamic, 1, 1, more, s, more - 1));
    const cudaFuncAttribute size = cudaFuncAttributeMaxDynamicSharedMemorySize;
    CHECK_EQ(cudaFuncSetAttribute(takes_dynamic, size, more), cudaSuccess);
    TNC_LAUNCH_SHARED(takes_dynamic, 1, 1, more, s, more - 1);
    CHECK_EQ(cudaFuncSetAttribute(takes_dynamic, size, 228 << 10), cudaErrorInvalidValue);
    CHECK_STOPS("more than the kernel may",
                TNC_LAUNCH_SHARED(takes_dynamic, 1, 1, more + 1, s, more));
}
static void writing_behind_shared_memory_is_seen() {
    const cudaStream_t s = new_stream();
    const char *behind = "wrote 5 bytes behind 1000 bytes of";
    const alone_said fixed = alone([=] { TNC_LAUNCH((takes<1000>), 1, 1, s, 5); }, true);
    CHECK(fixed.status && alone_has(fixed, EMU_ASAN ? "out of bounds" : behind));
    const alone_said sized =
        alone([=] { TNC_LAUNCH_SHARED(takes_dynamic, 1, 1, 1000, s, 1004); }, true);
    CHECK(sized.status && alone_has(sized, EMU_ASAN ? "AddressSanitizer" : behind));
}

/* --- launches -------------------------------------------------------------------------------- */

__global__ void where(unsigned *to) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    to[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
static void each_thread_of_each_block_runs_once() {
    const cudaStream_t s = new_stream();
    unsigned *to = new_array<unsigned>(24 * 30);
    for (int order = 0; order < 4; order++) {
        emu_settings().order = order;
        for (int plain = 0; plain < 2; plain++) {
            cudaMemsetAsync(to, 0, 24 * 30 * 4, s);
            if (plain)
                TNC_LAUNCH_PLAIN(where, dim3(2, 3, 4), dim3(5, 3, 2), s, to);
            else
                TNC_LAUNCH(where, dim3(2, 3, 4), dim3(5, 3, 2), s, to);
            const std::vector<unsigned> got = fetched(to, 24 * 30, s);
            for (unsigned i = 0; i < 24 * 30; i++) CHECK_EQ(got[i], i / 30 * 1000 + i % 30);
        }
    }
    CHECK_EQ(emu_counts().kernels, 8);
    CHECK_EQ(emu_counts().launches, 8);
}
__global__ void nothing(int) {}
__global__ void promised(int way) {
    if (way == 0) __syncthreads();
    if (way == 1) __syncwarp();
    if (way == 2) scratch<int>();
    if (way == 3) __shfl_up_sync(~0u, 1, 1);
}
static void launches_beyond_the_limits_stop() {
    const cudaStream_t s = new_stream();
    TNC_LAUNCH(nothing, dim3(1, 65535), dim3(1, 1, 64), s, 0);
    CHECK_STOPS("1025 threads a block", TNC_LAUNCH(nothing, 1, 1025, s, 0));
    CHECK_STOPS("65 threads a block", TNC_LAUNCH(nothing, 1, dim3(1, 1, 65), s, 0));
    CHECK_STOPS("launches an empty grid", TNC_LAUNCH(nothing, 0, 1, s, 0));
    CHECK_STOPS("launches empty blocks", TNC_LAUNCH(nothing, 1, dim3(1, 0), s, 0));
    CHECK_STOPS("65536 blocks: at most", TNC_LAUNCH(nothing, dim3(1, 65536), 1, s, 0));
    CHECK_STOPS("65536 blocks: at most", TNC_LAUNCH(nothing, dim3(1, 1, 65536), 1, s, 0));
    CHECK_STOPS("2147483648 blocks: at most", TNC_LAUNCH(nothing, 1u << 31, 1, s, 0));
    CHECK_STOPS("the default stream", TNC_LAUNCH(nothing, 1, 1, (cudaStream_t)NULL, 0));
    CHECK_STOPS("a barrier in line ", TNC_LAUNCH_PLAIN(promised, 1, 1, s, 0));
    CHECK_STOPS("a warp operation in line ", TNC_LAUNCH_PLAIN(promised, 1, 1, s, 1));
    CHECK_STOPS("shared memory in line ", TNC_LAUNCH_PLAIN(promised, 1, 1, s, 2));
    CHECK_STOPS("a warp operation in line ", TNC_LAUNCH_PLAIN(promised, 1, 1, s, 3));
    CHECK_STOPS("outside a kernel", __syncthreads());
}

/* --- atomics, bits --------------------------------------------------------------------------- */

template <class T>
__global__ void sums(T *to) {
    const T was = atomicAdd(to, (T)(threadIdx.x + 1));
    atomicAdd_system(to + 1, (T)1);
    if (was == 0) to[2] = (T)threadIdx.x; /* who came first */
}
template <class T>
static void check_sum(cudaStream_t s, int order) {
    T *to = new_array<T>(3);
    emu_settings().order = order;
    cudaMemsetAsync(to, 0, 3 * sizeof(T), s);
    TNC_LAUNCH(sums<T>, 1, 64, s, to);
    const std::vector<T> got = fetched(to, 3, s);
    CHECK_EQ(got[0], 64 * 65 / 2);
    CHECK_EQ(got[1], 64);
    CHECK_EQ(got[2], order == 1 ? 63 : 0);
}
static void sums_by_atomics_come_in_the_order_of_threads() {
    const cudaStream_t s = new_stream();
    for (int order = 0; order < 2; order++) {
        check_sum<int>(s, order);
        check_sum<unsigned>(s, order);
        check_sum<unsigned long long>(s, order);
        check_sum<float>(s, order);
        check_sum<double>(s, order);
    }
}
template <class T>
__global__ void updates(T *at, T *was) {
    was[0] = atomicMax(at, (T)7); /* at: 3 */
    was[1] = atomicMin(at, (T)5);
    was[2] = atomicMax(at, (T)4);
    was[3] = *at;
}
template <class T>
__global__ void exchanges(T *at, T *was) {
    was[0] = atomicExch(at, (T)12); /* at: 3 */
    was[1] = atomicCAS(at, (T)11, (T)1);
    was[2] = atomicCAS(at, (T)12, (T)9);
    was[3] = atomicOr_system(at, (T)6);
    was[4] = atomicAnd(at, (T)5);
    was[5] = *at;
}
template <class T>
static void check_updates(cudaStream_t s) {
    const T three = 3;
    T *at = new_array<T>(5);
    cudaMemcpyAsync(at, &three, sizeof(T), cudaMemcpyHostToDevice, s);
    TNC_LAUNCH_PLAIN(updates<T>, 1, 1, s, at, at + 1);
    CHECK(fetched(at + 1, 4, s) == std::vector<T>({3, 7, 5, 5}));
}
template <class T>
static void check_exchanges(cudaStream_t s) {
    const T three = 3;
    T *at = new_array<T>(7);
    cudaMemcpyAsync(at, &three, sizeof(T), cudaMemcpyHostToDevice, s);
    TNC_LAUNCH_PLAIN(exchanges<T>, 1, 1, s, at, at + 1);
    CHECK(fetched(at + 1, 6, s) == std::vector<T>({3, 12, 12, 9, 15, 5}));
}
static void other_atomics_return_what_was_there() {
    const cudaStream_t s = new_stream();
    check_updates<int>(s);
    check_updates<unsigned>(s);
    check_updates<long long>(s);
    check_updates<unsigned long long>(s);
    check_exchanges<int>(s);
    check_exchanges<unsigned>(s);
    check_exchanges<unsigned long long>(s);
}
__global__ void faults(unsigned long long *word, int system) {
    if (system)
        atomicCAS_system(word, 0ull, 1ull);
    else
        atomicCAS(word, 0ull, 1ull);
    __threadfence_system();
}
static void atomics_on_pinned_memory_must_be_of_the_system() {
    const cudaStream_t s = new_stream();
    unsigned long long *word = new_pinned<unsigned long long>(2);
    word[1] = 0;
    TNC_LAUNCH_PLAIN(faults, 1, 1, s, word + 1, 1);
    CHECK_EQ(word[1], 1);
    CHECK_STOPS("an atomic on memory of the host", TNC_LAUNCH_PLAIN(faults, 1, 1, s, word + 1, 0));
}
__global__ void bits(long long *to, int v, long long w) {
    const long long all[] = {
        __popc((unsigned)v), __ffs(v),  __clz(v), __popcll((unsigned long long)w),
        __ffsll(w),          __clzll(w)};
    for (int i = 0; i < 6; i++) to[i] = all[i];
    to[6] = __umulhi(0x80000000u, (unsigned)v);
    to[7] = __float_as_uint(1.0f) == 0x3f800000u && __uint_as_float(0x40000000u) == 2.0f &&
            __longlong_as_double(__double_as_longlong(0.1)) == 0.1 &&
            __int_as_float(__float_as_int(-3.5f)) == -3.5f;
}
static void bits_are_counted() {
    const cudaStream_t s = new_stream();
    long long *to = new_array<long long>(8);
    typedef std::vector<long long> list;
    TNC_LAUNCH_PLAIN(bits, 1, 1, s, to, 0x50, 0x3000000000ll);
    CHECK(fetched(to, 8, s) == list({2, 5, 25, 2, 37, 26, 0x28, 1}));
    TNC_LAUNCH_PLAIN(bits, 1, 1, s, to, 0, 0ll);
    CHECK(fetched(to, 8, s) == list({0, 0, 32, 0, 0, 64, 0, 1}));
}
__global__ void vectors(float *at, int offset) {
    const float4 v = __ldg((const float4 *)(at + offset));
    *(float4 *)(uintptr_t)emu_aligned<float4>(at) = make_float4(v.w, v.z, v.y, v.x);
}
static void vectors_must_be_aligned() {
    const cudaStream_t s = new_stream();
    const float from[] = {1, 2, 3, 4};
    float *at = new_array<float>(8);
    cudaMemcpyAsync(at + 4, from, sizeof from, cudaMemcpyHostToDevice, s);
    TNC_LAUNCH_PLAIN(vectors, 1, 1, s, at, 4);
    CHECK(fetched(at, 4, s) == std::vector<float>({4, 3, 2, 1}));
    CHECK_STOPS("a vector of 16 bytes is read or written 4 bytes behind",
                TNC_LAUNCH_PLAIN(vectors, 1, 1, s, at, 1));
}

/* --- several files, several threads of the host ---------------------------------------------- */

static void files_share_the_emulation() {
    const cudaStream_t s = new_stream();
    int *to = new_array<int>(64 + 768);
    other_fill(to, 64, 5, s);
    TNC_LAUNCH(turned, 1, 256, s, to + 64, 1);
    const std::vector<int> got = fetched(to, 64 + 768, s);
    CHECK_EQ(got[63], 5 + 63);
    CHECK_EQ(got[64], 255);
    CHECK_EQ(emu_counts().kernels, 2);
    CHECK_EQ(other_kernels(), 2);
}
static void threads_of_the_host_take_turns() {
    emu_settings().lazy = true;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([=] {
            const cudaStream_t s = new_stream();
            int *to = new_array<int>(256);
            for (int round = 0; round < 20; round++) {
                other_fill(to, 256, t * 1000 + round, s);
                CHECK_EQ(fetched(to, 256, s)[255], t * 1000 + round + 255);
            }
            cudaFree(to);
        });
    for (std::thread &t : threads) t.join();
    CHECK_EQ(emu_counts().kernels, 60);
}

static const check_test tests[] = {
    ALONE_TEST(shuffles_take_the_value_of_the_lane_that_cuda_says),
    ALONE_TEST(shuffles_carry_all_numbers_of_8_bytes),
    ALONE_TEST(groups_of_a_warp_meet_apart_and_lanes_outside_give_ones),
    ALONE_TEST(votes_ask_the_lanes_of_the_mask),
    ALONE_TEST(wrong_meetings_stop_with_their_line),
    ALONE_TEST(a_missing_barrier_shows_in_every_order),
    ALONE_TEST(threads_of_plain_kernels_come_in_any_order_too),
    ALONE_TEST(shared_memory_is_one_for_a_block_and_new_for_the_next),
    ALONE_TEST(shared_memory_has_cudas_limits),
    ALONE_TEST(writing_behind_shared_memory_is_seen),
    ALONE_TEST(each_thread_of_each_block_runs_once),
    ALONE_TEST(launches_beyond_the_limits_stop),
    ALONE_TEST(sums_by_atomics_come_in_the_order_of_threads),
    ALONE_TEST(other_atomics_return_what_was_there),
    ALONE_TEST(atomics_on_pinned_memory_must_be_of_the_system),
    ALONE_TEST(bits_are_counted),
    ALONE_TEST(vectors_must_be_aligned),
    ALONE_TEST(files_share_the_emulation),
    ALONE_TEST(threads_of_the_host_take_turns),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
