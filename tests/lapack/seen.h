/* seen.h - what stands between the library and LAPACK here: it counts calls, and may answer in
 * LAPACK's place (seen.c). */
#ifndef TNI_TESTS_LAPACK_SEEN_H
#define TNI_TESTS_LAPACK_SEEN_H

#include <stdint.h>

/* The routines of LAPACK that the library may call. */
enum { SEEN_ROUTINES = 22 };
extern const char *const seen_names[SEEN_ROUTINES];
extern long seen_calls[SEEN_ROUTINES]; /* that compute; a query of sizes is no such call */
long seen(const char *name);
/* An answer that is not 0 is the info of every call that computes, which then does nothing. */
extern int32_t seen_answer;

#endif
