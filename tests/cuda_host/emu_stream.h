/* emu_stream.h - streams and events. A stream is a queue of work. EMU_LAZY=0 runs work at the call
 * that asks for it: the earliest that a device may. EMU_LAZY=1 runs it when the host waits for it:
 * the latest. Of several streams with work, EMU_ORDER=0 takes the first, 1 the last, and 2.. any,
 * also such that nobody waits for. Only an event brings an order between two streams. */
#ifndef EMU_STREAM_H
#define EMU_STREAM_H

#include "emu_memory.h"
#include <deque>
#include <functional>
#include <memory>
#include <time.h>

struct emu_graph;
struct emu_stream;
struct emu_mark { /* a record of an event */
    emu_stream *stream;
    bool done;
    double ms;             /* when it was done */
    emu_graph *graph;      /* into which it was captured, or NULL */
    std::vector<int> tips; /* nodes there that it stands behind */
};
struct emu_work {
    std::function<void()> run;
    int device;
    bool closed; /* device memory stays closed: a function of the host, a launch of a graph */
};
struct emu_step { /* one of the three */
    emu_work work;
    std::shared_ptr<emu_mark> wait, record;
};
struct emu_stream {
    int device, priority;
    bool live;
    std::deque<emu_step> todo;
    emu_graph *graph;      /* into which its work is captured, or NULL */
    std::vector<int> tips; /* nodes there behind which its next one stands */
};
struct emu_event {
    int device;
    unsigned flags;
    bool live;
    std::shared_ptr<emu_mark> last; /* NULL: never recorded */
};
typedef emu_stream *cudaStream_t;
typedef emu_event *cudaEvent_t;

/* Streams and events are kept after their end, so that a stale handle is never that of another. */
struct emu_queues {
    std::vector<std::unique_ptr<emu_stream>> streams;
    std::vector<std::unique_ptr<emu_event>> events;
    bool in_host_function = false;
};
inline emu_queues &emu_queue() {
    static emu_queues *queues = new emu_queues;
    return *queues;
}
/* What every function of the runtime begins with. */
struct emu_call {
    emu_hold held;
    emu_call() {
        if (emu_queue().in_host_function)
            emu_stop("a function of cudaLaunchHostFunc calls the runtime");
    }
};
inline emu_stream *emu_check(emu_stream *s) {
    if (!s) emu_stop("the default stream is not emulated: make one");
    for (const auto &known : emu_queue().streams)
        if (known.get() == s && s->live) return s;
    emu_stop("a stream is used that was destroyed, or never made");
}
inline emu_event *emu_check(emu_event *e) {
    for (const auto &known : emu_queue().events)
        if (known.get() == e && e->live) return e;
    emu_stop("an event is used that was destroyed, or never made");
}

/* --- running --------------------------------------------------------------------------------- */

inline double emu_clock() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
/* Nothing runs on a device that has failed. */
inline void emu_perform(const emu_work &w) {
    if (emu_memory().device[w.device].failed) return;
    emu_access open(w.closed ? 0 : emu_reach(w.device));
    w.run();
}
/* One step of the stream's queue, or of the queue that it waits for. The queue is not empty. */
inline void emu_advance(emu_stream *s) {
    while (s->todo.front().wait && !s->todo.front().wait->done) s = s->todo.front().wait->stream;
    const emu_step step = s->todo.front();
    s->todo.pop_front();
    if (step.record) {
        step.record->ms = emu_clock();
        step.record->done = true;
    } else if (step.work.run)
        emu_perform(step.work);
}
inline emu_stream *emu_pick(const std::vector<emu_stream *> &wanted) {
    const int kind = emu_settings().order;
    std::vector<emu_stream *> busy;
    if (kind > 1) {
        for (const auto &s : emu_queue().streams)
            if (!s->todo.empty()) busy.push_back(s.get());
    } else
        for (emu_stream *s : wanted)
            if (!s->todo.empty()) busy.push_back(s);
    if (busy.empty()) emu_stop("a wait for work that nobody enqueued");
    if (kind > 1) return busy[emu_random(emu_seed()) % busy.size()];
    return kind == 1 ? busy.back() : busy.front();
}
template <class Done>
inline void emu_run_until(const std::vector<emu_stream *> &wanted, Done done) {
    while (!done()) emu_advance(emu_pick(wanted));
}
inline void emu_finish(emu_stream *s) {
    emu_run_until({s}, [=] { return s->todo.empty(); });
}
inline void emu_finish(int device) { /* all its streams */
    std::vector<emu_stream *> wanted;
    for (const auto &s : emu_queue().streams)
        if (s->device == device) wanted.push_back(s.get());
    emu_run_until(wanted, [&] {
        for (emu_stream *s : wanted)
            if (!s->todo.empty()) return false;
        return true;
    });
}

/* --- asking ---------------------------------------------------------------------------------- */

inline void emu_graph_add(emu_stream *s, const emu_work &work); /* emu_graph.h */

inline void emu_push(emu_stream *s, const emu_step &step) {
    s->todo.push_back(step);
    if (!emu_lazy()) emu_finish(s);
}
/* Work of the stream's device. Stand-ins for a vendor's library use it, too: while `run` runs, it
 * can read and write device memory. It must hold copies of its arguments. */
inline void emu_enqueue(cudaStream_t stream, std::function<void()> run, bool closed = false) {
    emu_hold hold;
    emu_stream *s = emu_check(stream);
    const emu_work work = {run, s->device, closed};
    if (s->graph)
        emu_graph_add(s, work);
    else
        emu_push(s, {work, NULL, NULL});
}
/* What a cache has given out: a piece and the bytes that were asked for. */
inline std::map<void *, size_t> &emu_given() {
    static std::map<void *, size_t> *given = new std::map<void *, size_t>;
    return *given;
}
/* Stops if these bytes, which are nobody's, are not as emu_piece left them. */
inline void emu_untouched(const char *at, size_t n, const char *why, size_t bytes) {
    if (EMU_ASAN || !n || (at[0] == -1 && memcmp(at, at + 1, n - 1) == 0)) return;
    size_t i = 0;
    while (at[i] == -1) i++;
    emu_stop(why, (long long)i, (long long)bytes);
}
/* For a caching allocator: it gives out `bytes` of a piece of `room` bytes (live), or takes the
 * piece back. From this point of the stream on the piece is NaN, and but for its live bytes it is
 * poisoned; that nothing has written there is seen when the piece is given out and taken back. In a
 * graph it is given out by each launch, which finds what the one before has left. */
inline void emu_piece(void *at, size_t bytes, size_t room, bool live, cudaStream_t stream) {
    emu_hold hold;
    const bool first = !emu_check(stream)->graph;
    if (live)
        emu_given()[at] = bytes;
    else
        bytes = emu_given()[at];
    emu_enqueue(stream, [=] {
        char *to = (char *)at;
        if (live && first)
            emu_untouched(to, room, "byte %lld of memory that nobody had was written", 0);
        if (!live)
            emu_untouched(to + bytes, room - bytes,
                          "byte %lld behind a piece of %lld bytes was written", bytes);
        ASAN_UNPOISON_MEMORY_REGION(at, room);
        memset(at, 0xff, room);
        ASAN_POISON_MEMORY_REGION(to + (live ? bytes : 0), room - (live ? bytes : 0));
    });
}
#endif
