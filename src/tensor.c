/* tensor.c - the root of tensor.h: the library in one translation unit, in the only order list
 * there is.
 *
 * It compiles alone (cc -c src/tensor.c), and tools/amalgamate packs it into tensor.h: headers of
 * api/ become the public part, the rest the implementation. A new file gets its line here, but for
 * those of src/ops, which gen/operators.inl lists. */
#include "api/first.h"

#include "api/config.h"
#include "api/compiler.h"
#include "api/types.h"
#include "api/context.h"
#include "api/tensor.h"
#include "api/random.h"
#include "api/autograd.h"
#include "api/call.h"
#include "api/ops.h"
#include "api/io.h"
#include "api/beside.h"
#include "api/row.h"
#include "api/extend.h"
#include "api/cxx.h"
#include "api/ops/overloads.h"

#if TNI_PART(2)
#include "base/error.c"
#include "base/alloc.c"
#include "base/cold_begin.inl"
#include "base/context.c"
#include "base/cancel.c"
#include "base/thread.c"
#include "base/pool.c"
#include "base/cpu.c"
#include "base/files.c"
#include "base/clock.c"
#include "base/profile.c"
#include "base/cold_end.inl"

#include "tensor/dtype.c"
#include "tensor/shape.c"
#include "tensor/storage.c"
#include "tensor/scope.c"
#include "tensor/access.c"
#include "tensor/generator.c"
#include "tensor/iterate.c"
#include "base/cold_begin.inl"
#include "tensor/extra.c"
#include "tensor/exchange.c"
#include "tensor/text.c"
#include "base/cold_end.inl"
#endif

#include "gen/rows.h"

#if TNI_PART(1)
#include "kernels/kernels.c"
#endif

#if TNI_PART(2)
#include "base/cold_begin.inl"
#include "device/devices.c"
#include "base/cold_end.inl"

#include "call/types.c"
#include "call/node.c"
#include "call/watch.c"
#include "call/view.c"
#include "call/short.c"
#include "call/short_view.c"
#include "call/frame.c"
#include "call/run.c"
#include "call/door.c"
#include "call/compose.c"
#include "call/batch.c"
#include "base/cold_begin.inl"
#include "call/ready.c"
#include "call/schema.c"
#include "call/schema_tables.c"
#include "call/table.c"
#include "call/text.c"
#include "call/boxed.c"
#include "call/record.c"
#include "base/cold_end.inl"

#include "cpu/promote.c"
#include "cpu/walk.c"
#include "cpu/convert.c"
#include "cpu/blocks.c"
#include "cpu/drive.c"
#include "cpu/elements.c"
#include "cpu/fold.c"
#include "cpu/lanes.c"
#include "cpu/dense.c"
#include "cpu/matmul.c"
#include "base/lean_begin.inl"
#include "cpu/conv_source.c"
#include "cpu/conv_plain.c"
#include "base/cold_end.inl"
#include "cpu/matrix.c"
#endif

#if TNI_PART(3)
#include "gen/operators.inl"
#endif

#if TNI_PART(2)
#include "gen/tables.c"
#include "gen/calls.c"

#include "autograd/queue.c"
#include "autograd/publish.c"
#include "autograd/engine.c"
#include "autograd/ghosts.c"
#include "autograd/give.c"
#include "autograd/leaf.c"
#include "autograd/mode.c"
#include "autograd/backward.c"
#include "base/cold_begin.inl"
#include "autograd/function.c"
#include "autograd/hook.c"
#include "autograd/check.c"
#include "autograd/checkpoint.c"
#include "autograd/history.c"
#include "autograd/name.c"
#include "base/cold_end.inl"

#include "base/cold_begin.inl"
#include "io/print.c"
#include "io/bytes.c"
#include "io/idx.c"
#include "io/json.c"
#include "io/safetensors.c"
#include "io/safetensors_save.c"
#include "base/cold_end.inl"
#endif
