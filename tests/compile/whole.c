/* whole.c - implementation and use in one file: the library is private to it with TENSOR_STATIC. */
#define TENSOR_IMPLEMENTATION
#include "use.c"
