/* optimize.inl - optimizer steps for both types. */
#define TNI_TYPE_F32
#include "../simd/vocabulary.h"
#include "optimize_type.inl"
#include "../simd/end.h"

#define TNI_TYPE_F64
#include "../simd/vocabulary.h"
#include "optimize_type.inl"
#include "../simd/end.h"
