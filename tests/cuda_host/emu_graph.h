/* emu_graph.h - stream capture and graphs. A node stands behind those that its stream, and the
 * events for which this stream waits, have put before it; a launch runs the nodes in any order that
 * keeps this, by EMU_ORDER. */
#ifndef EMU_GRAPH_H
#define EMU_GRAPH_H

#include "emu_stream.h"
#include <algorithm>
#include <thread>

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
};
struct emu_node {
    emu_work work;
    std::vector<int> after;
};
struct emu_graph {
    std::vector<emu_node> nodes;
    bool live = true, capturing = false, invalid = false;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread;    /* that began the capture */
    emu_stream *origin = NULL; /* in which it began */
};
typedef emu_graph *cudaGraph_t;
struct emu_graph_exec {
    std::vector<emu_node> nodes;
    bool live = true;
};
typedef emu_graph_exec *cudaGraphExec_t;
struct emu_graphs { /* kept as streams are */
    std::vector<std::unique_ptr<emu_graph>> graphs;
    std::vector<std::unique_ptr<emu_graph_exec>> execs;
};
inline emu_graphs &emu_graph_list() {
    static emu_graphs *graphs = new emu_graphs;
    return *graphs;
}

/* --- while capturing ------------------------------------------------------------------------- */

inline void emu_graph_add(emu_stream *s, const emu_work &work) {
    emu_graph *g = s->graph;
    g->nodes.push_back({work, s->tips});
    s->tips.assign(1, (int)g->nodes.size() - 1);
}
inline cudaError_t emu_spoil(emu_graph *g, cudaError_t e) {
    g->invalid = true;
    return emu_error(e);
}
/* For calls that a capture forbids: allocation, waits. In the mode Global no thread may do them, in
 * ThreadLocal the capturing one may not. */
inline cudaError_t emu_forbidden() {
    for (const auto &g : emu_graph_list().graphs) {
        if (!g->capturing || g->mode == cudaStreamCaptureModeRelaxed) continue;
        if (g->mode == cudaStreamCaptureModeGlobal || g->thread == std::this_thread::get_id())
            return emu_spoil(g.get(), cudaErrorStreamCaptureUnsupported);
    }
    return cudaSuccess;
}
/* For a wait for this stream. */
inline cudaError_t emu_forbidden(emu_stream *s) {
    return s->graph ? emu_spoil(s->graph, cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
inline cudaError_t emu_forbidden_on(int device) {
    for (const auto &s : emu_queue().streams)
        if (s->device == device && s->graph) return emu_forbidden(s.get());
    return cudaSuccess;
}
/* cudaStreamWaitEvent where one of the two belongs to a capture. */
inline cudaError_t emu_graph_wait(emu_stream *s, const emu_mark &mark) {
    if (mark.graph && !mark.graph->capturing) return emu_error(cudaErrorCapturedEvent);
    if (s->graph && s->graph != mark.graph)
        return emu_spoil(s->graph, cudaErrorStreamCaptureIsolation);
    s->graph = mark.graph;
    for (int tip : mark.tips)
        if (std::find(s->tips.begin(), s->tips.end(), tip) == s->tips.end()) s->tips.push_back(tip);
    return cudaSuccess;
}
/* Whether each node is one that the origin's next node would stand behind. */
inline bool emu_joined(const emu_graph &g) {
    std::vector<bool> reached(g.nodes.size());
    std::vector<int> todo = g.origin->tips;
    while (!todo.empty()) {
        const size_t i = (size_t)todo.back();
        todo.pop_back();
        if (reached[i]) continue;
        reached[i] = true;
        todo.insert(todo.end(), g.nodes[i].after.begin(), g.nodes[i].after.end());
    }
    return std::find(reached.begin(), reached.end(), false) == reached.end();
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    if (s->graph) return emu_spoil(s->graph, cudaErrorStreamCaptureUnsupported);
    emu_graph *g = new emu_graph;
    emu_graph_list().graphs.emplace_back(g);
    g->capturing = true;
    g->mode = mode;
    g->thread = std::this_thread::get_id();
    g->origin = s;
    s->graph = g;
    s->tips.clear();
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    emu_graph *g = s->graph;
    *graph = NULL;
    if (!g || g->origin != s) return emu_error(cudaErrorStreamCaptureUnmatched);
    const cudaError_t e = g->invalid        ? cudaErrorStreamCaptureInvalidated
                          : !emu_joined(*g) ? cudaErrorStreamCaptureUnjoined
                                            : cudaSuccess;
    for (const auto &one : emu_queue().streams)
        if (one->graph == g) {
            one->graph = NULL;
            one->tips.clear();
        }
    g->capturing = false;
    if (!e) *graph = g;
    return emu_error(e);
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    emu_call call;
    const emu_graph *g = emu_check(stream)->graph;
    *status = !g           ? cudaStreamCaptureStatusNone
              : g->invalid ? cudaStreamCaptureStatusInvalidated
                           : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

/* --- graphs ---------------------------------------------------------------------------------- */

/* Each node behind those that it stands behind. */
inline void emu_graph_run(const std::vector<emu_node> &nodes) {
    std::vector<bool> done(nodes.size());
    for (size_t left = nodes.size(); left; left--) {
        std::vector<size_t> ready;
        for (size_t i = 0; i < nodes.size(); i++) {
            bool free = !done[i];
            for (int before : nodes[i].after) free = free && done[(size_t)before];
            if (free) ready.push_back(i);
        }
        const int kind = emu_settings().order;
        const size_t i = kind > 1    ? ready[emu_random(emu_seed()) % ready.size()]
                         : kind == 1 ? ready.back()
                                     : ready.front();
        done[i] = true;
        emu_perform(nodes[i].work);
    }
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                        unsigned long long = 0) {
    emu_call call;
    if (!graph || !graph->live) emu_stop("a graph is used that was destroyed, or never made");
    if (emu_fails(EMU_CREATE)) return emu_error(cudaErrorMemoryAllocation);
    *exec = new emu_graph_exec;
    (*exec)->nodes = graph->nodes;
    emu_graph_list().execs.emplace_back(*exec);
    return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    emu_call call;
    if (!graph || !graph->live) emu_stop("a graph is destroyed twice, or was never made");
    graph->live = false;
    graph->nodes.clear();
    return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    emu_call call;
    if (!exec || !exec->live) emu_stop("an executable graph is destroyed twice, or was never made");
    exec->live = false; /* its nodes stay: launches of it may wait */
    return cudaSuccess;
}
#endif
