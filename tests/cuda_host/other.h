/* other.h - a second file of the self-test that has the emulation in it. */
#include "emulation.h"
void other_fill(int *to, int n, int first, cudaStream_t s); /* to[i] = first + i */
long long other_kernels();                                  /* the counter, seen from there */
