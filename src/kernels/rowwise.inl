/* rowwise.inl - softmax and normalisation, forward for both types, backward for f32 (others are composed). */
#define TNI_TYPE_F32
#include "../simd/vocabulary.h"
#include "rowwise_type.inl"
#include "rowwise_back.inl"
#include "../simd/end.h"

#define TNI_TYPE_F64
#include "../simd/vocabulary.h"
#include "rowwise_type.inl"
#include "../simd/end.h"
