/* real.h - a number in a text, which has a '.' whatever the program's locale has for it. */
#ifndef TNI_BASE_REAL_H
#define TNI_BASE_REAL_H

#include "../api/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strtod of a text of fewer than 64 bytes; false if that is not all of it. */
TNI_INLINE bool tni_real(const char *text, double *real) {
    char half[16], local[80], *end;
    const char *dot = strchr(text, '.');
    const int point = snprintf(half, sizeof half, "%.1f", 0.5) - 2; /* bytes of the locale's */
    const int number = errno;
    if (dot && point > 0) {
        snprintf(local, sizeof local, "%.*s%.*s%s", (int)(dot - text), text, point, half + 1,
                 dot + 1);
        text = local;
    }
    *real = strtod(text, &end); /* sets errno for denormal numbers */
    errno = number;
    return !*end;
}

#endif
