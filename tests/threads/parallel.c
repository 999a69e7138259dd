/* parallel.c - the unit test of training on several ranks, under the sanitizer. */
#include "../unit/parallel.c"
