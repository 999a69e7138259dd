/* here.cu - tensors of a device as tensors of the host (here.cuh). */
#include "here.cuh"

#include <new>

static void here_forget(void *data, void *) { delete[](char *) data; }

/* Elements from the first to the last in memory. */
static int64_t here_span(const tn_operand &o) {
    int64_t span = 1;
    for (int d = 0; d < o.ndim; d++) span += (o.size[d] - 1) * o.stride[d];
    return span < 1 ? 1 : span;
}
TNC_PRIV tn_tensor *tnc_here_like(tn_frame *f, const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    const int64_t bytes = here_span(o) * o.bytes;
    tn_wrap_options options;
    tn_tensor *host;
    char *data = new (std::nothrow) char[(size_t)bytes];
    if (!data) {
        tn_fail(f, TN_MEMORY, "no memory of the host for %lld bytes", (long long)bytes);
        return NULL;
    }
    memset(&options, 0, sizeof options);
    options.strides = tn_ints_of(o.stride, o.ndim);
    options.release = here_forget;
    host = tn_wrap_at(NULL, 0, data, tn_ints_of(o.size, o.ndim), (tn_dtype)o.dtype, &options);
    if (!host) delete[] data;
    return host;
}
/* The span of t's elements, brought down. Waits. NULL with an error. */
static tn_tensor *here_down(tn_frame *f, const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    cudaStream_t s = tnc_stream(f);
    tn_tensor *host = tnc_here_like(f, t);
    if (!host || !o.numel) return host;
    cudaError_t e = cudaMemcpyAsync(tn_data(host), o.at, (size_t)(here_span(o) * o.bytes),
                                    cudaMemcpyDeviceToHost, s);
    if (!e) e = cudaStreamSynchronize(s);
    if (!e) return host;
    tn_free_at(NULL, 0, host);
    tn_fail(f, TN_INTERNAL, "%s", cudaGetErrorString(e));
    return NULL;
}

TNC_PRIV void tnc_here_end(tn_frame *f, tnc_here *x) {
    for (int k = 0; k < 8; k++) {
        if (!(x->which >> k & 1)) continue;
        tn_free_at(NULL, 0, f->in[k]);
        f->in[k] = x->own[k];
    }
}
TNC_PRIV bool tnc_here_begin(tn_frame *f, tnc_here *x, unsigned which) {
    x->which = 0;
    for (int k = 0; k < f->nin && k < 8; k++) {
        tn_tensor *host;
        if (!(which >> k & 1) || !f->in[k]) continue;
        host = here_down(f, f->in[k]);
        if (!host) {
            tnc_here_end(f, x);
            return false;
        }
        x->which |= 1u << k;
        x->own[k] = f->in[k];
        f->in[k] = host;
    }
    return true;
}
TNC_PRIV bool tnc_here_look(tn_frame *f, unsigned which) {
    tnc_here inputs;
    bool ok;
    if (!tnc_here_begin(f, &inputs, which)) return false;
    ok = f->row->look(f);
    tnc_here_end(f, &inputs);
    return ok;
}
