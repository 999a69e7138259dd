/* tensor.c - the root of tensor.h: the library in one translation unit, in the only order list there is.
 *
 * It compiles alone (cc -c src/tensor.c), and tools/amalgamate packs it into tensor.h: headers of api/
 * become the public part, the rest the implementation. A new file gets its line here. */
#include "api/first.h"

#include "api/config.h"
#include "api/types.h"
#include "api/context.h"
#include "api/tensor.h"
#include "api/random.h"
#include "api/autograd.h"
#include "api/row.h"
#include "api/extend.h"
#include "api/io.h"
#include "api/cxx.h"
#include "api/ops.h"

#include "base/error.c"
#include "base/alloc.c"
#include "base/context.c"
#include "base/thread.c"
#include "base/cpu.c"
#include "base/files.c"
#include "base/clock.c"
#include "base/profile.c"

#include "tensor/dtype.c"
#include "tensor/shape.c"
#include "tensor/storage.c"
#include "tensor/access.c"
#include "tensor/text.c"
#include "tensor/generator.c"
#include "tensor/iterate.c"

#include "gen/rows.h"

#include "kernels/kernels.c"

#include "call/schema.c"
#include "call/table.c"
#include "call/text.c"
#include "call/node.c"
#include "call/door.c"
#include "call/boxed.c"
#include "call/record.c"
#include "call/extend.c"

#include "ops/lanes.c"
#include "ops/matmul.c"
#include "ops/conv.c"
#include "ops/copy.c"
#include "ops/join.c"
#include "ops/pool.c"
#include "ops/reduce.c"
#include "ops/rowwise.c"
#include "ops/statistics.c"
#include "ops/strided.c"
#include "ops/view.c"
#include "ops/walk.c"

#include "gen/tables.c"
#include "gen/calls.c"

#include "autograd/check.c"
#include "autograd/engine.c"
#include "autograd/function.c"
#include "autograd/ghosts.c"
#include "autograd/leaf.c"
#include "autograd/view.c"

#include "io/bytes.c"
#include "io/safetensors.c"
