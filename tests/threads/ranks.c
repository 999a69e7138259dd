/* ranks.c - the unit test of groups, whose ranks are threads, under the sanitizer. */
#include "../unit/groups.c"
