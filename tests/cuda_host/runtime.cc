/* runtime.cc - the emulation's own test, second half: memory, streams, events, graphs and failures
 * do as CUDA says, and each rule stops a host that breaks it. */
#include "alone.h"

__global__ void add(int *to, int v) { to[threadIdx.x] += v; }
__global__ void set(int *to, int v) { to[threadIdx.x] = v; }
__global__ void move(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

static void later(int order) { /* lazy streams from now on */
    emu_settings().lazy = true;
    emu_settings().order = order;
}

/* --- settings, devices ----------------------------------------------------------------------- */

static void settings_come_from_the_environment() {
    setenv("EMU_ORDER", "3", 1);
    setenv("EMU_LAZY", "1", 1);
    setenv("EMU_DEVICES", "2", 1);
    setenv("EMU_BYTES", "4096", 1);
    setenv("EMU_FAIL", "2", 1);
    setenv("EMU_FAIL_KIND", "alloc", 1);
    int n = 0;
    void *at = NULL;
    CHECK(emu_settings().order == 3 && emu_lazy() && !emu_settings().sticky);
    CHECK_EQ(cudaGetDeviceCount(&n), cudaSuccess);
    CHECK_EQ(n, 2);
    const cudaStream_t s = new_stream(); /* is no allocation */
    CHECK_EQ(cudaMalloc(&at, 4097), cudaErrorMemoryAllocation);
    CHECK_EQ(cudaMalloc(&at, 1), cudaErrorMemoryAllocation);
    CHECK_EQ(cudaMalloc(&at, 4096), cudaSuccess);
    (void)s;
    CHECK_STOPS("EMU_FAIL_KIND is alloc, copy", emu_options::kind_of("moon"));
}
static void devices_tell_what_they_are() {
    emu_settings().devices = 3;
    cudaDeviceProp p;
    int v = 0, can = 0;
    CHECK_EQ(cudaGetDeviceProperties(&p, 2), cudaSuccess);
    CHECK_TEXT(p.name, "emulated device 2");
    CHECK(p.major == 9 && p.multiProcessorCount > 0 && p.totalGlobalMem == emu_settings().bytes);
    CHECK_EQ(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 1), cudaSuccess);
    CHECK_EQ(v, 232448);
    CHECK_EQ(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 3), cudaErrorInvalidDevice);
    CHECK_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
    CHECK_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
    CHECK_TEXT(cudaGetErrorString(cudaErrorLaunchFailure), "unspecified launch failure");
    CHECK_TEXT(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    CHECK_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
    CHECK_EQ(can, 1);
    CHECK_EQ(cudaDeviceCanAccessPeer(&can, 1, 1), cudaSuccess);
    CHECK_EQ(can, 0);
    CHECK(cudaRuntimeGetVersion(&v) == cudaSuccess && v >= 12000);
    emu_settings().devices = 0;
    CHECK_EQ(cudaGetDeviceCount(&v), cudaErrorNoDevice);
}
static void a_program_without_code_launches_nothing() {
    cudaFuncAttributes a;
    const cudaStream_t s = new_stream();
    CHECK_EQ(cudaFuncGetAttributes(&a, (const void *)add), cudaSuccess);
    CHECK_EQ(a.maxThreadsPerBlock, 1024);
    CHECK_EQ(cudaFuncGetAttributes(&a, NULL), cudaErrorInvalidDeviceFunction);
    CHECK_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
    emu_settings().code = false;
    CHECK_EQ(cudaFuncGetAttributes(&a, (const void *)add), cudaErrorNoKernelImageForDevice);
    CHECK_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
    TNC_LAUNCH(add, 1, 1, s, (int *)NULL, 1);
    CHECK_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
    emu_settings().code = true;
}
static void the_current_device_is_the_threads_own() {
    emu_settings().devices = 2;
    int there = -1, here = -1;
    cudaSetDevice(1);
    std::thread([&] { cudaGetDevice(&there); }).join();
    cudaGetDevice(&here);
    CHECK_EQ(there, 0);
    CHECK_EQ(here, 1);
    const cudaStream_t s = new_stream();
    const cudaEvent_t e = new_event();
    int *a = new_array<int>(1);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1);
    cudaSetDevice(0);
    CHECK_STOPS("launches on a stream of device 1, which is not the current one",
                TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1));
    const cudaStream_t other = new_stream();
    CHECK_STOPS("an event of device 1 is recorded in a stream of device 0",
                cudaEventRecord(e, other));
    CHECK_STOPS("a kernel touches memory of another device, 1; kernel set",
                TNC_LAUNCH_PLAIN(set, 1, 1, other, a, 1));
    CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
    CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    TNC_LAUNCH_PLAIN(set, 1, 1, other, a, 8);
    CHECK_EQ(fetched(a, 1, other)[0], 8);
}

/* --- memory ---------------------------------------------------------------------------------- */

static void device_memory_is_nan_and_counted() {
    emu_settings().bytes = 1 << 20;
    const cudaStream_t s = new_stream();
    size_t free_bytes = 0, total = 0;
    float *a = new_array<float>(1000);
    for (float v : fetched(a, 1000, s)) CHECK(v != v);
    cudaMemsetAsync(a, 0, 4000, s);
    CHECK_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
    CHECK_EQ(total, 1 << 20);
    CHECK_EQ(free_bytes, (1 << 20) - 4000);
    CHECK_EQ(cudaFree(a), cudaSuccess);
    a = new_array<float>(1 << 18); /* all of it */
    for (float v : fetched(a, 1000, s)) CHECK(v != v);
    void *more = a;
    CHECK_EQ(cudaMalloc(&more, 1), cudaErrorMemoryAllocation);
    CHECK(!more);
    cudaFree(a);
    CHECK_EQ(cudaFree(NULL), cudaSuccess);
    CHECK(emu_counts().allocs == 2 && emu_counts().frees == 2);
    CHECK_STOPS("cudaFree of memory that is not allocated", cudaFree(a));
    CHECK_STOPS("cudaFree of memory of no device", cudaFree(&total));
}
/* Freed addresses come again as late as possible, and not where something is. */
static void addresses_do_not_run_out() {
    const size_t part = (size_t)30 << 30, next = part + EMU_PAGE; /* of 64 << 30 */
    emu_device d;
    for (int i = 0; i < 5; i++) {
        const size_t at = emu_free_range(&d, part);
        CHECK_EQ(at, i % 2 ? next : 0);
        d.cursor = at + next;
    }
    d.pieces[0] = 10;
    d.cursor = emu_span - part;
    CHECK_EQ(emu_free_range(&d, part), 2 * EMU_PAGE);
    d.pieces[part] = 10;
    d.cursor = 0;
    CHECK_STOPS("no more addresses", emu_free_range(&d, (size_t)35 << 30));
    CHECK_EQ(emu_free_range(&d, part), part + 2 * EMU_PAGE);
}
static void the_host_cannot_touch_device_memory() {
    const cudaStream_t s = new_stream();
    volatile int *a = new_array<int>(4);
    int *plain = (int *)(uintptr_t)a;
    CHECK_STOPS("the host touches memory of device 0", (void)a[0]);
    CHECK_STOPS("the host touches memory of device 0", a[3] = 1);
    TNC_LAUNCH_PLAIN(set, 1, 4, s, plain, 3);
    CHECK_STOPS("the host touches memory of device 0", (void)a[0]);
    CHECK_STOPS("not allocated; kernel set", TNC_LAUNCH_PLAIN(set, 1, 4, s, plain + 2000, 3));
    CHECK_POISON(TNC_LAUNCH_PLAIN(set, 1, 5, s, plain, 3));
    cudaFree(plain);
    CHECK_STOPS("touched that is not allocated", (void)a[0]);
    CHECK_STOPS("touched that is not allocated; kernel set",
                TNC_LAUNCH_PLAIN(set, 1, 4, s, plain, 3));
}
static void pieces_of_a_cache_are_nan_and_poisoned_in_the_streams_order() {
    later(0);
    const cudaStream_t s = new_stream();
    int *a = new_array<int>(256);
    emu_piece(a, 100, 512, true, s);
    TNC_LAUNCH_PLAIN(set, 1, 25, s, a, 1);
    int *out = new_pinned<int>(2);
    cudaMemcpyAsync(out, a, 4, cudaMemcpyDeviceToHost, s);
    emu_piece(a, 0, 512, false, s); /* the copy above stands before it */
    emu_piece(a, 100, 512, true, s);
    cudaMemcpyAsync(out + 1, a, 4, cudaMemcpyDeviceToHost, s);
    CHECK_EQ(cudaStreamSynchronize(s), cudaSuccess);
    CHECK_EQ(out[0], 1);
    CHECK_EQ(out[1], -1);
    CHECK_POISON(TNC_LAUNCH_PLAIN(set, 1, 26, s, a, 1); cudaStreamSynchronize(s));
    emu_piece(a, 0, 512, false, s);
    CHECK_POISON(TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1); cudaStreamSynchronize(s));
    if (EMU_ASAN) return;
    emu_piece(a, 100, 512, true, s);
    CHECK_STOPS("byte 0 behind a piece of 100 bytes was written",
                TNC_LAUNCH_PLAIN(set, 1, 26, s, a, 1), emu_piece(a, 0, 512, false, s),
                cudaStreamSynchronize(s));
    emu_piece(a, 0, 512, false, s);
    CHECK_STOPS("byte 0 of memory that nobody had was written",
                TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1), emu_piece(a, 100, 512, true, s),
                cudaStreamSynchronize(s));
}

/* --- copies ---------------------------------------------------------------------------------- */

static void pageable_memory_is_read_at_the_call_and_pinned_when_the_stream_runs() {
    later(0);
    const cudaStream_t s = new_stream();
    int *a = new_array<int>(2), *up = new_pinned<int>(1), *down = new_pinned<int>(2), pageable = 1;
    *up = 1;
    down[0] = down[1] = 0;
    cudaMemcpyAsync(a, &pageable, 4, cudaMemcpyHostToDevice, s);
    cudaMemcpyAsync(a + 1, up, 4, cudaMemcpyHostToDevice, s);
    cudaMemcpyAsync(down, a, 8, cudaMemcpyDeviceToHost, s);
    pageable = *up = 2;
    CHECK_EQ(down[0], 0);
    cudaStreamSynchronize(s);
    CHECK_EQ(down[0], 1);
    CHECK_EQ(down[1], 2);
    TNC_LAUNCH_PLAIN(set, 1, 2, s, a, 9);
    cudaMemcpyAsync(&pageable, a, 4, cudaMemcpyDeviceToHost, s); /* has ended when it returns */
    CHECK_EQ(pageable, 9);
    CHECK_EQ(emu_counts().copies, 4);
}
static void pinned_memory_is_known() {
    cudaPointerAttributes of;
    char *pinned = new_pinned<char>(64), *device = new_array<char>(64), pageable[4];
    cudaPointerGetAttributes(&of, pinned + 63);
    CHECK(of.type == cudaMemoryTypeHost && of.hostPointer == pinned + 63);
    cudaPointerGetAttributes(&of, device + 1);
    CHECK(of.type == cudaMemoryTypeDevice && of.device == 0 && of.devicePointer == device + 1);
    cudaPointerGetAttributes(&of, pageable);
    CHECK_EQ(of.type, cudaMemoryTypeUnregistered);
    CHECK_EQ(pinned[63], -1);
    CHECK_EQ(cudaFreeHost(pinned), cudaSuccess);
    cudaPointerGetAttributes(&of, pinned);
    CHECK_EQ(of.type, cudaMemoryTypeUnregistered);
    CHECK_STOPS("cudaFreeHost of memory that is not pinned", cudaFreeHost(pageable));
    CHECK(emu_counts().pinned == 1 && emu_counts().unpinned == 1);
}
static void copies_check_both_sides() {
    emu_settings().devices = 2;
    const cudaStream_t s = new_stream();
    int *a = new_array<int>(4), host[8] = {5, 6, 7, 8};
    CHECK_EQ(cudaMemcpyAsync(a, host, 16, cudaMemcpyDefault, s), cudaSuccess);
    CHECK_STOPS("the destination of a copy is not memory of a device: 16 bytes",
                cudaMemcpyAsync(host, a, 16, cudaMemcpyHostToDevice, s));
    CHECK_STOPS("the destination of a copy to the host is on device 0",
                cudaMemcpyAsync(a, a, 16, cudaMemcpyDeviceToHost, s));
    CHECK_STOPS("the source of a copy from the host is on device 0",
                cudaMemcpyAsync(a, a, 16, cudaMemcpyHostToDevice, s));
    CHECK_STOPS("the source of a copy goes beyond its allocation: 16 bytes",
                cudaMemcpyAsync(host, a + 1, 16, cudaMemcpyDeviceToHost, s));
    CHECK_STOPS("the destination of a fill goes beyond", cudaMemsetAsync(a, 0, 17, s));
    CHECK_STOPS("the source of a copy is not allocated",
                cudaMemcpyAsync(host, a + 4, 1, cudaMemcpyDeviceToHost, s));
    cudaSetDevice(1);
    int *b = new_array<int>(4);
    CHECK_EQ(cudaMemcpyPeerAsync(b, 1, a, 0, 16, s), cudaSuccess);
    CHECK_STOPS("memory is not on devices 0 and 1", cudaMemcpyPeerAsync(b, 0, a, 1, 16, s));
    CHECK_EQ(fetched(b, 4, s)[3], 8);
    cudaMemsetAsync(b, 1, 4, s);
    CHECK_EQ(fetched(b, 1, s)[0], 0x01010101);
}

/* --- streams and events ---------------------------------------------------------------------- */

static void lazy_work_runs_at_the_wait_with_the_arguments_of_the_call() {
    later(0);
    const cudaStream_t s = new_stream(), other = new_stream();
    int *a = new_array<int>(1), v = 4;
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, v);
    TNC_LAUNCH_PLAIN(set, 1, 1, other, a, 100);
    v = 5;
    CHECK_EQ(emu_counts().kernels, 0);
    cudaStreamSynchronize(s);
    CHECK_EQ(emu_counts().kernels, 1); /* nobody waited for the other */
    CHECK_EQ(fetched(a, 1, s)[0], 4);
    cudaDeviceSynchronize();
    CHECK_EQ(fetched(a, 1, s)[0], 100);
    CHECK_EQ(emu_counts().launches, 2);
}
/* A producer in one stream, a consumer in another one. */
static int handed_over(int order, bool with_event) {
    later(order);
    const cudaStream_t from = new_stream(), to = new_stream();
    const cudaEvent_t e = new_event();
    int *a = new_array<int>(1), *b = new_array<int>(1);
    for (int i = 1; i < 6; i++) TNC_LAUNCH_PLAIN(set, 1, 1, from, a, i);
    cudaEventRecord(e, from);
    if (with_event) cudaStreamWaitEvent(to, e, 0);
    cudaEventDestroy(e);
    TNC_LAUNCH_PLAIN(move, 1, 1, to, b, a);
    return fetched(b, 1, to)[0];
}
static void a_missing_event_shows() {
    int right = 0, wrong = 0;
    for (int order = 0; order < 20; order++) {
        CHECK_EQ(handed_over(order, true), 5);
        if (handed_over(order, false) == 5)
            right++;
        else
            wrong++;
    }
    CHECK_EQ(handed_over(0, false), -1); /* the latest: nobody waits for the producer */
    CHECK(right > 0 && wrong > 2);       /* chance decides */
}
static void the_order_of_two_streams_is_chances() {
    int last[2] = {0, 0}, from_many = 0;
    for (int order = 0; order < 2; order++) {
        later(order);
        const cudaStream_t s = new_stream(), t = new_stream();
        int *a = new_array<int>(1);
        TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1);
        TNC_LAUNCH_PLAIN(set, 1, 1, t, a, 2);
        cudaDeviceSynchronize();
        last[order] = fetched(a, 1, s)[0];
    }
    CHECK_EQ(last[0], 2);
    CHECK_EQ(last[1], 1);
    for (int i = 0; i < 30; i++) from_many |= handed_over(2, false) == -1 ? 1 : 2;
    CHECK_EQ(from_many, 3); /* sometimes first, sometimes behind */
}
static void waits_are_for_the_record_of_their_moment() {
    later(0);
    const cudaStream_t s = new_stream(), t = new_stream();
    const cudaEvent_t e = new_event(), never = new_event();
    int *a = new_array<int>(1), *b = new_array<int>(1);
    CHECK_EQ(cudaStreamWaitEvent(t, never), cudaSuccess);
    CHECK_EQ(cudaEventSynchronize(never), cudaSuccess);
    CHECK_EQ(cudaEventQuery(never), cudaSuccess);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 2);
    cudaEventRecord(e, s);
    TNC_LAUNCH_PLAIN(move, 1, 1, t, b, a);
    CHECK_EQ(fetched(b, 1, t)[0], 1);
    CHECK_EQ(cudaEventSynchronize(e), cudaSuccess);
    CHECK_EQ(emu_counts().kernels, 3);
    CHECK_EQ(emu_counts().events, 2);
}
static void questions_let_a_stream_go_on() {
    later(0);
    const cudaStream_t s = new_stream();
    cudaEvent_t e = NULL, begin = NULL;
    float ms = -1;
    int *a = new_array<int>(1), asked = 0;
    cudaEventCreate(&e);
    cudaEventCreate(&begin);
    cudaEventRecord(begin, s);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1);
    cudaEventRecord(e, s);
    CHECK_EQ(cudaEventElapsedTime(&ms, begin, e), cudaErrorNotReady);
    for (; cudaEventQuery(e) == cudaErrorNotReady; asked++) CHECK(asked < 10);
    CHECK(asked > 0);
    CHECK_EQ(cudaGetLastError(), cudaErrorNotReady);
    CHECK_EQ(cudaEventElapsedTime(&ms, begin, e), cudaSuccess);
    CHECK(ms >= 0);
    CHECK_EQ(cudaEventElapsedTime(&ms, new_event(), e), cudaErrorInvalidResourceHandle);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1);
    CHECK_EQ(cudaStreamQuery(s), cudaErrorNotReady);
    CHECK_EQ(cudaStreamQuery(s), cudaSuccess);
}
static void ended_streams_finish_and_are_not_used() {
    later(0);
    const cudaStream_t s = new_stream(), t = new_stream();
    const cudaEvent_t e = new_event();
    int *a = new_array<int>(1);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 6);
    CHECK_EQ(cudaStreamDestroy(s), cudaSuccess);
    cudaDeviceSynchronize();
    CHECK_EQ(fetched(a, 1, t)[0], 6);
    CHECK_STOPS("a stream is used that was destroyed", cudaStreamSynchronize(s));
    cudaEventDestroy(e);
    CHECK_STOPS("an event is used that was destroyed", cudaEventRecord(e, t));
    TNC_LAUNCH_PLAIN(set, 1, 1, t, a, 7);
    CHECK_EQ(cudaFree(a), cudaSuccess); /* waits */
    CHECK_EQ(emu_counts().kernels, 2);
}
static void raise(void *p) { *(int *)p += 1; }
static void misuse(void *p) { cudaStreamSynchronize((cudaStream_t)p); }
static void functions_of_the_host_run_in_the_streams_order() {
    later(0);
    const cudaStream_t s = new_stream();
    int *pinned = new_pinned<int>(1), *a = new_array<int>(1);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 5);
    cudaMemcpyAsync(pinned, a, 4, cudaMemcpyDeviceToHost, s);
    CHECK_EQ(cudaLaunchHostFunc(s, raise, pinned), cudaSuccess);
    cudaMemcpyAsync(a, pinned, 4, cudaMemcpyHostToDevice, s);
    CHECK_EQ(fetched(a, 1, s)[0], 6);
    CHECK_STOPS("a function of cudaLaunchHostFunc calls the runtime",
                cudaLaunchHostFunc(s, misuse, s);
                cudaStreamSynchronize(s));
    CHECK_STOPS("the host touches memory of device 0", cudaLaunchHostFunc(s, raise, a);
                cudaStreamSynchronize(s));
}

/* --- capture, graphs ------------------------------------------------------------------------- */

static cudaStream_t capturing(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    const cudaStream_t s = new_stream();
    CHECK_EQ(cudaStreamBeginCapture(s, mode), cudaSuccess);
    return s;
}
static cudaGraphExec_t captured(cudaStream_t s) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    CHECK_EQ(cudaStreamEndCapture(s, &graph), cudaSuccess);
    CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
}
static void graphs_run_when_they_are_launched() {
    int *a = new_array<int>(1);
    const cudaStream_t s = capturing();
    cudaStreamCaptureStatus status;
    cudaMemsetAsync(a, 0, 4, s);
    for (int v = 1; v < 4; v++) TNC_LAUNCH_PLAIN(add, 1, 1, s, a, v);
    CHECK_EQ(cudaStreamIsCapturing(s, &status), cudaSuccess);
    CHECK_EQ(status, cudaStreamCaptureStatusActive);
    CHECK_EQ(emu_counts().kernels, 0);
    const cudaGraphExec_t exec = captured(s);
    cudaStreamIsCapturing(s, &status);
    CHECK_EQ(status, cudaStreamCaptureStatusNone);
    for (int round = 1; round < 3; round++) {
        CHECK_EQ(cudaGraphLaunch(exec, s), cudaSuccess);
        CHECK_EQ(fetched(a, 1, s)[0], 6);
        CHECK_EQ(emu_counts().kernels, 3 * round);
    }
    later(0);
    cudaGraphLaunch(exec, s);
    CHECK_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    TNC_LAUNCH_PLAIN(add, 1, 1, s, a, 10);
    CHECK_EQ(fetched(a, 1, s)[0], 16);
    CHECK_STOPS("an executable graph is used that was destroyed", cudaGraphLaunch(exec, s));
}
/* What `call` returns within a capture, which it spoils unless the mode allows it. */
template <class F>
static void forbidden(cudaStreamCaptureMode mode, cudaError_t wanted, F call) {
    cudaGraph_t graph = NULL;
    cudaStreamCaptureStatus status;
    const cudaStream_t s = capturing(mode);
    CHECK_EQ(call(s), wanted);
    cudaStreamIsCapturing(s, &status);
    CHECK_EQ(status == cudaStreamCaptureStatusInvalidated, wanted != cudaSuccess);
    CHECK_EQ(cudaStreamEndCapture(s, &graph),
             wanted ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
    CHECK_EQ(graph == NULL, wanted != cudaSuccess);
}
static void capture_forbids_waits_and_allocations() {
    const cudaStreamCaptureMode global = cudaStreamCaptureModeGlobal,
                                relaxed = cudaStreamCaptureModeRelaxed,
                                local = cudaStreamCaptureModeThreadLocal;
    const cudaError_t no = cudaErrorStreamCaptureUnsupported;
    void *at = NULL;
    int host = 0, *a = new_array<int>(1);
    const auto allocate = [&](cudaStream_t) { return cudaMalloc(&at, 8); };
    const auto elsewhere = [&](cudaStream_t) {
        cudaError_t e = cudaErrorUnknown;
        std::thread([&] { e = cudaMalloc(&at, 8); }).join();
        return e;
    };
    forbidden(global, no, allocate);
    forbidden(local, no, allocate);
    forbidden(relaxed, cudaSuccess, allocate);
    forbidden(global, no, elsewhere);
    forbidden(local, cudaSuccess, elsewhere);
    forbidden(global, no, [&](cudaStream_t) { return cudaFree(at); });
    forbidden(global, no, [&](cudaStream_t) { return cudaHostAlloc(&at, 8, 0); });
    forbidden(global, no, [&](cudaStream_t) { return cudaEventQuery(new_event()); });
    forbidden(relaxed, no, [](cudaStream_t s) { return cudaStreamSynchronize(s); });
    forbidden(relaxed, no, [](cudaStream_t s) { return cudaStreamQuery(s); });
    forbidden(relaxed, no, [](cudaStream_t) { return cudaDeviceSynchronize(); });
    forbidden(relaxed, no, [](cudaStream_t s) { return cudaStreamBeginCapture(s, relaxed); });
    forbidden(relaxed, no, [&](cudaStream_t s) {
        return cudaMemcpyAsync(a, &host, 4, cudaMemcpyHostToDevice, s);
    });
    forbidden(relaxed, no, [&](cudaStream_t s) {
        return cudaMemcpyAsync(&host, a, 4, cudaMemcpyDeviceToHost, s);
    });
    forbidden(relaxed, cudaErrorStreamCaptureIsolation, [&](cudaStream_t s) {
        const cudaEvent_t e = new_event();
        cudaEventRecord(e, new_stream());
        return cudaStreamWaitEvent(s, e);
    });
    CHECK_EQ(cudaMalloc(&at, 8), cudaSuccess);
}
/* Two streams write, a third one adds up; `joins` leaves out an event. */
static cudaStream_t forked(int *a, int joins, cudaStream_t *branch) {
    const cudaStream_t s = capturing(cudaStreamCaptureModeRelaxed), t = new_stream();
    const cudaEvent_t fork = new_event(), join = new_event();
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1);
    cudaEventRecord(fork, s);
    CHECK_EQ(cudaEventQuery(fork), cudaErrorCapturedEvent);
    cudaStreamWaitEvent(t, fork);
    TNC_LAUNCH_PLAIN(add, 1, 1, t, a, 1); /* (1 + 1) */
    cudaEventRecord(join, t);
    if (joins > 1) cudaStreamWaitEvent(s, join);
    TNC_LAUNCH_PLAIN(move, 1, 1, s, a + 1, a);
    if (joins == 1) cudaStreamWaitEvent(s, join); /* joined too late for the move */
    *branch = t;
    return s;
}
static void streams_that_wait_for_a_capture_join_it() {
    int *a = new_array<int>(2), seen = 0;
    cudaStream_t branch;
    cudaGraph_t graph;
    for (int order = 0; order < 6; order++) {
        emu_settings().order = order;
        for (int joins = 1; joins < 3; joins++) {
            const cudaStream_t s = forked(a, joins, &branch);
            const cudaGraphExec_t exec = captured(s);
            cudaGraphLaunch(exec, s);
            const int got = fetched(a, 2, s)[1];
            if (joins == 2) CHECK_EQ(got, 2);
            if (joins == 1) seen |= got;
        }
    }
    CHECK_EQ(seen, 3); /* without the event 1 and 2 are seen */
    const cudaStream_t s = forked(a, 0, &branch);
    CHECK_EQ(cudaStreamEndCapture(branch, &graph), cudaErrorStreamCaptureUnmatched);
    CHECK_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
    CHECK_EQ(cudaStreamSynchronize(branch), cudaSuccess); /* it captures no more */
}

/* --- failures -------------------------------------------------------------------------------- */

static void the_kth_call_of_a_kind_fails() {
    const cudaStream_t s = new_stream();
    int *a = new_array<int>(1), v = 3;
    void *at = NULL;
    cudaStream_t t;
    cudaEvent_t e;
    emu_fail_at(2, EMU_ALLOC);
    CHECK_EQ(cudaMalloc(&at, 4), cudaSuccess);
    CHECK_EQ(cudaHostAlloc(&at, 4, 0), cudaErrorMemoryAllocation);
    CHECK_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    CHECK_EQ(cudaMalloc(&at, 4), cudaSuccess);
    emu_fail_at(1, EMU_COPY);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 1);
    CHECK_EQ(cudaMemcpyAsync(a, &v, 4, cudaMemcpyHostToDevice, s), cudaErrorUnknown);
    CHECK_EQ(fetched(a, 1, s)[0], 1);
    emu_fail_at(1, EMU_LAUNCH);
    cudaGetLastError();
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 2);
    CHECK_EQ(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    CHECK_EQ(fetched(a, 1, s)[0], 1);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 3);
    CHECK_EQ(fetched(a, 1, s)[0], 3);
    emu_fail_at(2, EMU_CREATE);
    CHECK_EQ(cudaStreamCreate(&t), cudaSuccess);
    CHECK_EQ(cudaEventCreate(&e), cudaErrorMemoryAllocation);
    emu_fail_at(3, EMU_ALL);
    CHECK_EQ(cudaMalloc(&at, 4), cudaSuccess);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 4);
    CHECK_EQ(cudaMemsetAsync(a, 0, 4, s), cudaErrorUnknown);
    CHECK_EQ(fetched(a, 1, s)[0], 4);
}
static void a_sticky_failure_ends_its_device_and_no_other() {
    later(0);
    emu_settings().sticky = true;
    emu_settings().devices = 2;
    const cudaError_t lost = cudaErrorLaunchFailure;
    const cudaStream_t s = new_stream();
    int *a = new_array<int>(1);
    void *at = NULL;
    size_t n;
    cudaStream_t t;
    emu_fail_at(1, EMU_LAUNCH);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 2);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 3);
    CHECK_EQ(cudaGetLastError(), cudaSuccess); /* it has not come to it */
    CHECK_EQ(cudaStreamSynchronize(s), lost);
    CHECK_EQ(emu_counts().kernels, 0);
    CHECK_EQ(cudaMalloc(&at, 4), lost);
    CHECK_EQ(cudaFree(a), lost);
    CHECK_EQ(cudaStreamCreate(&t), lost);
    CHECK_EQ(cudaMemGetInfo(&n, &n), lost);
    CHECK_EQ(cudaMemsetAsync(a, 0, 4, s), lost);
    CHECK_EQ(cudaGetLastError(), lost);
    CHECK_EQ(cudaGetLastError(), lost);
    cudaSetDevice(1);
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
    CHECK_EQ(cudaMalloc(&at, 4), cudaSuccess);
    const cudaStream_t other = new_stream();
    TNC_LAUNCH_PLAIN(set, 1, 1, other, (int *)at, 5);
    CHECK_EQ(fetched((int *)at, 1, other)[0], 5);
}
/* A vendor's library in the emulation: plain loops behind what the stream has. */
static void stand_ins_of_libraries_run_in_the_streams_order() {
    later(0);
    const cudaStream_t s = new_stream();
    int *a = new_array<int>(1);
    TNC_LAUNCH_PLAIN(set, 1, 1, s, a, 2);
    emu_enqueue(s, [=] { *a *= 7; });
    TNC_LAUNCH_PLAIN(add, 1, 1, s, a, 1);
    CHECK_EQ(fetched(a, 1, s)[0], 15);
}

static const check_test tests[] = {
    ALONE_TEST(settings_come_from_the_environment),
    ALONE_TEST(devices_tell_what_they_are),
    ALONE_TEST(a_program_without_code_launches_nothing),
    ALONE_TEST(the_current_device_is_the_threads_own),
    ALONE_TEST(device_memory_is_nan_and_counted),
    ALONE_TEST(addresses_do_not_run_out),
    ALONE_TEST(the_host_cannot_touch_device_memory),
    ALONE_TEST(pieces_of_a_cache_are_nan_and_poisoned_in_the_streams_order),
    ALONE_TEST(pageable_memory_is_read_at_the_call_and_pinned_when_the_stream_runs),
    ALONE_TEST(pinned_memory_is_known),
    ALONE_TEST(copies_check_both_sides),
    ALONE_TEST(lazy_work_runs_at_the_wait_with_the_arguments_of_the_call),
    ALONE_TEST(a_missing_event_shows),
    ALONE_TEST(the_order_of_two_streams_is_chances),
    ALONE_TEST(waits_are_for_the_record_of_their_moment),
    ALONE_TEST(questions_let_a_stream_go_on),
    ALONE_TEST(ended_streams_finish_and_are_not_used),
    ALONE_TEST(functions_of_the_host_run_in_the_streams_order),
    ALONE_TEST(graphs_run_when_they_are_launched),
    ALONE_TEST(capture_forbids_waits_and_allocations),
    ALONE_TEST(streams_that_wait_for_a_capture_join_it),
    ALONE_TEST(the_kth_call_of_a_kind_fails),
    ALONE_TEST(a_sticky_failure_ends_its_device_and_no_other),
    ALONE_TEST(stand_ins_of_libraries_run_in_the_streams_order),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
