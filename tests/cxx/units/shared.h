/* shared.h - what the files of this program share: C's types and functions, the same in all. */
#ifndef SHARED_H
#define SHARED_H
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif
tn_tensor *from_c(tn_tensor *x);                  /* a new tensor; NULL with an error */
tn_tensor *from_throwing_file(tn_tensor *x);      /* the same, in a file with TN_EXCEPTIONS */
int throwing_file_catches(tn_tensor *x);          /* 1: its line was caught */
int quiet_file_reports(tn_tensor *x, tn_tensor *y);
#ifdef __cplusplus
}
#endif
#endif
