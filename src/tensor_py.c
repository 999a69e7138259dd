/* tensor_py.c - the CPython module tensorh._C, in one file on tensor.h and tensor_nn.h, which it
 * compiles in. src/tensor_py.c is its root: a new file gets its line here. */
#include "py/python.h"

#ifndef TNI_OBJECTS
#define TENSOR_STATIC
#define TN_EXPORT
#define TNI_ALL_HOT
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#ifndef TN_NN_HEADER_NAME
#define TN_NN_HEADER_NAME "tensor_nn.h"
#endif
#include TN_NN_HEADER_NAME
#endif

#include "py/py.h"

/* A file uses those above it and none below (make check-headers). */
#include "py/memory.c"
#include "py/draw.c"
#include "py/place.c"
#include "py/words.c"
#include "py/error.c"
#include "py/args.c"
#include "py/wrap.c"
#include "py/value.c"
#include "py/types.c"
#include "py/cuda.c"
#include "py/device.c"
#include "py/stream.c"
#include "py/generator.c"
#include "py/row.c"
#include "py/parse.c"
#include "py/fault.c"
#include "py/resize.c"
#include "py/run.c"
#include "py/override.c"
#include "py/call.c"
#include "py/quick.c"
#include "py/docs.c"
#include "py/group.c"
#include "py/inspect.c"
#include "py/plan.c"
#include "py/buffer.c"
#include "py/nested.c"
#include "py/create.c"
#include "py/number.c"
#include "py/index.c"
#include "py/tensor.c"
#include "py/optim.c"
#include "py/loader.c"
#include "py/ranks.c"
#include "py/files.c"
#include "py/saved.c"
#include "py/function.c"
#include "py/hook.c"
#include "py/node.c"
#include "py/autograd.c"
#include "py/mode.c"
#include "py/vmap.c"
#include "py/sparse.c"
#include "py/parameter.c"
#include "py/kind.c"
#include "py/parts.c"
#include "py/mrow.c"
#include "py/module.c"
#include "py/tap.c"
#include "py/convert.c"
#include "py/dlpack.c"
#include "py/main.c"
