/* c_file.c - the part in C. */
#include "shared.h"

tn_tensor *from_c(tn_tensor *x) { return tn_sum(tn_mul(x, x), .dim = TN_DIMS(0), .keepdim = true); }
