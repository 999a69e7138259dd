/* conv.inl - behind all types: what AVX-512 takes from AVX2, and the end of the macros of
 * gemm.inl. */

#if TNI_ISA == 1 /* a chain is a chain */
#define gemm_dot_f32_avx2 gemm_dot_f32_scalar
#define gemm_dot_f64_avx2 gemm_dot_f64_scalar
#elif TNI_ISA == 3
#define gemm_dot_f32_neon gemm_dot_f32_scalar
#define gemm_dot_f64_neon gemm_dot_f64_scalar
#elif TNI_ISA == 4
#define gemm_dot_f32_wasm128 gemm_dot_f32_scalar
#define gemm_dot_f64_wasm128 gemm_dot_f64_scalar
#endif
#if TNI_ISA == 2 /* what AVX2 does as well, or rarely; the bits are the same */
#define gemm_dot_f32_avx512 gemm_dot_f32_scalar
#define gemm_dot_f64_avx512 gemm_dot_f64_scalar
#define gemm_column_major_f32_avx512 gemm_column_major_f32_avx2
#define gemm_column_major_f64_avx512 gemm_column_major_f64_avx2
#define gemm_row_f32_avx512 gemm_row_f32_avx2
#define gemm_row_f64_avx512 gemm_row_f64_avx2
#define turn_f32_avx512 turn_f32_avx2
#define turn_f64_avx512 turn_f64_avx2
#define conv_direct_f32_avx512 conv_direct_f32_avx2
#define conv_depth_f32_avx512 conv_depth_f32_avx2
#define conv_depth_f64_avx512 conv_depth_f64_avx2
#define resample_pixel_f32_avx512 resample_pixel_f32_avx2
#define resample_pixel_f64_avx512 resample_pixel_f64_avx2
#define conv_rows_f32_avx512 conv_rows_f32_avx2
#define conv_weight_one_f32_avx512 conv_weight_one_f32_avx2
#define conv_f64_avx512 conv_f64_avx2
#define conv_direct_f64_avx512 conv_direct_f64_avx2
#define conv_rows_f64_avx512 conv_rows_f64_avx2
#define conv_weight_f64_avx512 conv_weight_f64_avx2
#define conv_weight_one_f64_avx512 conv_weight_one_f64_avx2
#define gemm_pack_b_f64_avx512 gemm_pack_b_f64_avx2
#define gemm_columns_f64_avx512 gemm_columns_f64_avx2
#endif

#undef GEMM_COLS
#undef GEMM_ROWS
#undef GEMM_FULL
#undef GEMM_START
#undef GEMM_STEP
#undef GEMM_PUT
#undef GEMM_ADD
#undef GEMM_AT_0
#undef GEMM_AT_1
#undef GEMM_AT_2
#undef GEMM_AT_3
#undef GEMM_AT_4
#undef GEMM_AT_5
#undef GEMM_AT_6
#undef GEMM_AT_7
#undef GEMM_AT_8
#undef GEMM_AT_9
#undef GEMM_AT_10
#undef GEMM_AT_11
#undef GEMM_AT_12
#undef GEMM_AT_13
#undef GEMM_TILE
#undef GEMM_AHEAD
#undef GEMM_HERE
#undef GEMM_R1
#undef GEMM_R2
#undef GEMM_R3
#undef GEMM_R4
#undef GEMM_R5
#undef GEMM_R6
#undef GEMM_R8
#undef GEMM_R14
