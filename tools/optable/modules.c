/* modules.c - src/api/modules.h and src/gen/modules.c. */
#include "optable.h"
void read_modules(table *t) { (void)t; }
void write_modules(table *t) { (void)t; }
