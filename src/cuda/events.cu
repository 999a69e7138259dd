/* events.cu - streams beside a device's own, and events. A stream that is given up waits for the
 * next program that asks for one: memory that was used there is used again in its order. */
#include "memory.cuh"

#include <new>
#include <vector>

static std::atomic<int> events_streams; /* made so far; 0: nobody has to be asked */

TNC_PRIV cudaStream_t tnc_stream_now(int32_t device) {
    void *now = events_streams.load() ? tn_backend_stream(tnc_backend(), device) : NULL;
    return now ? (cudaStream_t)now : tnc_device_at(device)->stream;
}
TNC_PRIV bool tnc_one_stream() { return !events_streams.load(); }

static cudaStream_t events_stream(int32_t device, void *stream) {
    return stream ? (cudaStream_t)stream : tnc_device_at(device)->stream;
}
/* False, and then the runtime remembers no error. */
static bool events_done(cudaError_t e) {
    if (e) (void)cudaGetLastError();
    return !e;
}
/* For what a query said. Work of a broken device is over: the next wait has the error. */
static bool events_over(cudaError_t e) { return events_done(e) || e != cudaErrorNotReady; }

/* --- streams ---------------------------------------------------------------------------------- */

struct events_idle {
    int32_t device, priority;
    cudaStream_t stream;
};
static std::mutex events_lock;
/* Every stream that was made, and of which priority; and those that were given up. */
static std::vector<events_idle> &events_all() {
    static tnc_lasting<std::vector<events_idle>> all;
    return all.value;
}
static std::vector<events_idle> &events_free() {
    static tnc_lasting<std::vector<events_idle>> idle;
    return idle.value;
}

/* Priorities that the device does not know are its nearest. */
static void *events_stream_new(int32_t device, int32_t priority) {
    std::lock_guard<std::mutex> hold(events_lock);
    int least = 0, greatest = 0;
    cudaStream_t made;
    for (size_t i = 0; i < events_free().size(); i++)
        if (events_free()[i].device == device && events_free()[i].priority == priority) {
            made = events_free()[i].stream;
            events_free()[i] = events_free().back();
            events_free().pop_back();
            return made;
        }
    try { /* room first: giving it up cannot fail then */
        events_all().reserve(events_all().size() + 1);
        events_free().reserve(events_all().size() + 1);
    } catch (const std::bad_alloc &) {
        return NULL;
    }
    cudaError_t e = cudaSetDevice(device);
    if (!e) e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    const int near_one = priority > least ? least : priority < greatest ? greatest : priority;
    if (!e) e = cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, near_one);
    if (!events_done(e)) return NULL;
    events_all().push_back({device, priority, made});
    events_streams++;
    return made;
}
static void events_stream_free(int32_t, void *stream) {
    std::lock_guard<std::mutex> hold(events_lock);
    for (const events_idle &s : events_all())
        if (s.stream == (cudaStream_t)stream) events_free().push_back(s);
}

static bool events_stream_wait(int32_t device, void *stream, tn_fault *fault, char *why,
                               size_t room) {
    cudaError_t e = cudaSetDevice(device);
    if (!e) e = cudaStreamSynchronize(events_stream(device, stream));
    return tnc_waited(device, e, fault, why, room);
}
static bool events_stream_done(int32_t device, void *stream) {
    return events_over(cudaStreamQuery(events_stream(device, stream)));
}

/* --- events ----------------------------------------------------------------------------------- */

static void *events_new(int32_t device, bool timing) {
    cudaEvent_t event;
    cudaError_t e = cudaSetDevice(device);
    if (!e)
        e = cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming);
    return events_done(e) ? event : NULL;
}
static void events_end(int32_t, void *event) { cudaEventDestroy((cudaEvent_t)event); }
static bool events_record(int32_t device, void *event, void *stream) {
    cudaError_t e = cudaSetDevice(device);
    if (!e) e = cudaEventRecord((cudaEvent_t)event, events_stream(device, stream));
    return events_done(e);
}
static bool events_before(int32_t device, void *event, void *stream) {
    cudaError_t e = cudaSetDevice(device);
    if (!e) e = cudaStreamWaitEvent(events_stream(device, stream), (cudaEvent_t)event, 0);
    return events_done(e);
}
static bool events_wait(int32_t, void *event) {
    return events_done(cudaEventSynchronize((cudaEvent_t)event));
}
static bool events_been(int32_t, void *event) {
    return events_over(cudaEventQuery((cudaEvent_t)event));
}
static bool events_ms(int32_t, void *begin, void *end, float *ms) {
    return events_done(cudaEventElapsedTime(ms, (cudaEvent_t)begin, (cudaEvent_t)end));
}

static void events_used(int32_t device, void *at, void *stream) {
    tnc_used(device, at, events_stream(device, stream));
}

/* --- graphs ----------------------------------------------------------------------------------- */

/* Relaxed: workspace is asked for while capturing, and the graph keeps it. */
static bool events_capture_begin(int32_t device, void *stream) {
    cudaError_t e = cudaSetDevice(device);
    if (!e) e = cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeRelaxed);
    return events_done(e);
}
/* A launch that a capture forbids has not broken the device. */
static void events_whole(int32_t device) {
    std::atomic<int> &broken = tnc_device_at(device)->broken;
    int e = broken.load();
    if (e >= (int)cudaErrorStreamCaptureUnsupported && e <= (int)cudaErrorCapturedEvent)
        broken.compare_exchange_strong(e, 0);
}
static void *events_capture_end(int32_t device, void *stream) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t e = cudaStreamEndCapture((cudaStream_t)stream, &graph);
    if (!e) e = cudaGraphInstantiate(&exec, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    if (events_done(e)) return exec;
    events_whole(device);
    return NULL;
}
static bool events_graph_launch(int32_t device, void *graph, void *stream) {
    cudaError_t e = cudaSetDevice(device);
    if (!e) e = cudaGraphLaunch((cudaGraphExec_t)graph, events_stream(device, stream));
    return events_done(e);
}
static void events_graph_free(int32_t, void *graph) {
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

TNC_PRIV const tn_backend_streams *tnc_streams() {
    static const tn_backend_streams streams = {
        events_stream_new,    events_stream_free, events_stream_wait,  events_stream_done,
        events_new,           events_end,         events_record,       events_before,
        events_wait,          events_been,        events_ms,           events_used,
        events_capture_begin, events_capture_end, events_graph_launch, events_graph_free};
    return &streams;
}
