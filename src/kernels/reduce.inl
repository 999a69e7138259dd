/* reduce.inl - reductions over rows and columns for the two types that have vectors. */
#define TNI_TYPE_F32
#include "../simd/vocabulary.h"
#include "reduce_type.inl"
#include "../simd/end.h"

#define TNI_TYPE_F64
#include "../simd/vocabulary.h"
#include "reduce_type.inl"
#include "../simd/end.h"
