/* cudnn.cuh - convolutions by cuDNN as conv.cu asks for them, and the library's functions and
 * numbers, which are those of cudnn_graph.h of cuDNN 9. */
#ifndef TNC_CUDA_CUDNN_CUH
#define TNC_CUDA_CUDNN_CUH

#include "elements.cuh"

/* --- for rows of convolutions ----------------------------------------------------------------- */

/* The result of a row: y from (x, w, bias), x's gradient from (y's, w), w's from (y's, x). */
enum { TNC_CONV_OUTPUT, TNC_CONV_INPUT, TNC_CONV_WEIGHT };
struct tnc_windows {
    int64_t stride[3], pad[3], dilation[3], groups;
    int dims; /* 2 or 3 of them */
};
static inline tnc_windows tnc_windows_of(int dims, tn_ints stride, tn_ints padding,
                                         tn_ints dilation, int64_t groups) {
    tnc_windows w;
    memset(&w, 0, sizeof w);
    for (int k = 0; k < dims; k++) {
        w.stride[k] = tnc_option(stride, k, 1);
        w.pad[k] = tnc_option(padding, k, 0);
        w.dilation[k] = tnc_option(dilation, k, 1);
    }
    w.groups = groups;
    w.dims = dims;
    return w;
}

/* For prepare: whether the library is there and has a plan for the call; then *bytes is the scratch
 * memory that tnc_cudnn_run needs. Enqueues nothing. */
TNC_PRIV bool tnc_cudnn_takes(const tn_frame *f, int of, const tnc_windows &w, int64_t *bytes);
/* False: the library does not take it, or wants more scratch memory than there is; nothing was
 * enqueued. */
TNC_PRIV bool tnc_cudnn_run(const tn_frame *f, int of, const tnc_windows &w);

/* --- the library ------------------------------------------------------------------------------ */

typedef void *dnn_descriptor;
typedef struct dnn_context *dnn_handle;

#define DNN_FUNCTIONS(X)                                                                      \
    X(Create, (dnn_handle *))                                                                 \
    X(SetStream, (dnn_handle, cudaStream_t))                                                  \
    X(BackendCreateDescriptor, (int kind, dnn_descriptor *))                                  \
    X(BackendDestroyDescriptor, (dnn_descriptor))                                             \
    X(BackendSetAttribute, (dnn_descriptor, int name, int type, int64_t count, const void *)) \
    X(BackendGetAttribute,                                                                    \
      (dnn_descriptor, int name, int type, int64_t room, int64_t *count, void *))             \
    X(BackendFinalize, (dnn_descriptor))                                                      \
    X(BackendExecute, (dnn_handle, dnn_descriptor plan, dnn_descriptor pack))

#define DNN_NUMBERS(X)                                              \
    X(DATA_FLOAT, 0)                                                \
    X(DATA_DOUBLE, 1)                                               \
    X(DATA_HALF, 2)                                                 \
    X(DATA_BFLOAT16, 9)                                             \
    X(CROSS_CORRELATION, 1)                                         \
    X(HEUR_MODE_FALLBACK, 2)                                        \
    X(HEUR_MODE_A, 3)                                               \
    X(NUMERICAL_NOTE_TENSOR_CORE, 0)                                \
    X(NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, 1)                        \
    X(NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, 2)                \
    X(NUMERICAL_NOTE_FFT, 3)                                        \
    X(NUMERICAL_NOTE_NONDETERMINISTIC, 4)                           \
    X(NUMERICAL_NOTE_WINOGRAD, 5)                                   \
    X(NUMERICAL_NOTE_WINOGRAD_TILE_4x4, 6)                          \
    X(NUMERICAL_NOTE_WINOGRAD_TILE_6x6, 7)                          \
    X(NUMERICAL_NOTE_WINOGRAD_TILE_13x13, 8)                        \
    X(TYPE_HANDLE, 0)                                               \
    X(TYPE_DATA_TYPE, 1)                                            \
    X(TYPE_INT64, 3)                                                \
    X(TYPE_FLOAT, 4)                                                \
    X(TYPE_DOUBLE, 5)                                               \
    X(TYPE_VOID_PTR, 6)                                             \
    X(TYPE_CONVOLUTION_MODE, 7)                                     \
    X(TYPE_HEUR_MODE, 8)                                            \
    X(TYPE_NUMERICAL_NOTE, 11)                                      \
    X(TYPE_BACKEND_DESCRIPTOR, 15)                                  \
    X(BACKEND_CONVOLUTION_DESCRIPTOR, 1)                            \
    X(BACKEND_ENGINE_DESCRIPTOR, 2)                                 \
    X(BACKEND_ENGINECFG_DESCRIPTOR, 3)                              \
    X(BACKEND_ENGINEHEUR_DESCRIPTOR, 4)                             \
    X(BACKEND_EXECUTION_PLAN_DESCRIPTOR, 5)                         \
    X(BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, 10)         \
    X(BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, 11) \
    X(BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, 12)   \
    X(BACKEND_OPERATIONGRAPH_DESCRIPTOR, 15)                        \
    X(BACKEND_VARIANT_PACK_DESCRIPTOR, 16)                          \
    X(BACKEND_TENSOR_DESCRIPTOR, 17)                                \
    X(ATTR_CONVOLUTION_COMP_TYPE, 100)                              \
    X(ATTR_CONVOLUTION_CONV_MODE, 101)                              \
    X(ATTR_CONVOLUTION_DILATIONS, 102)                              \
    X(ATTR_CONVOLUTION_FILTER_STRIDES, 103)                         \
    X(ATTR_CONVOLUTION_POST_PADDINGS, 104)                          \
    X(ATTR_CONVOLUTION_PRE_PADDINGS, 105)                           \
    X(ATTR_CONVOLUTION_SPATIAL_DIMS, 106)                           \
    X(ATTR_ENGINEHEUR_MODE, 200)                                    \
    X(ATTR_ENGINEHEUR_OPERATION_GRAPH, 201)                         \
    X(ATTR_ENGINEHEUR_RESULTS, 202)                                 \
    X(ATTR_ENGINECFG_ENGINE, 300)                                   \
    X(ATTR_EXECUTION_PLAN_HANDLE, 400)                              \
    X(ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 401)                       \
    X(ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 402)                      \
    X(ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 700)                \
    X(ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 701)                 \
    X(ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, 702)            \
    X(ATTR_OPERATION_CONVOLUTION_FORWARD_W, 703)                    \
    X(ATTR_OPERATION_CONVOLUTION_FORWARD_X, 704)                    \
    X(ATTR_OPERATION_CONVOLUTION_FORWARD_Y, 705)                    \
    X(ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 706)               \
    X(ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 707)                \
    X(ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, 708)           \
    X(ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, 709)                   \
    X(ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, 710)                  \
    X(ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, 711)                  \
    X(ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 712)             \
    X(ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 713)              \
    X(ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, 714)         \
    X(ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, 715)                \
    X(ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, 716)                 \
    X(ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, 717)                \
    X(ATTR_OPERATIONGRAPH_HANDLE, 800)                              \
    X(ATTR_OPERATIONGRAPH_OPS, 801)                                 \
    X(ATTR_TENSOR_BYTE_ALIGNMENT, 900)                              \
    X(ATTR_TENSOR_DATA_TYPE, 901)                                   \
    X(ATTR_TENSOR_DIMENSIONS, 902)                                  \
    X(ATTR_TENSOR_STRIDES, 903)                                     \
    X(ATTR_TENSOR_UNIQUE_ID, 906)                                   \
    X(ATTR_VARIANT_PACK_UNIQUE_IDS, 1000)                           \
    X(ATTR_VARIANT_PACK_DATA_POINTERS, 1001)                        \
    X(ATTR_VARIANT_PACK_WORKSPACE, 1003)                            \
    X(ATTR_ENGINE_NUMERICAL_NOTE, 1303)
#define DNN_NUMBER(name, value) DNN_##name = value,
enum { DNN_NUMBERS(DNN_NUMBER) };
#undef DNN_NUMBER

#endif
