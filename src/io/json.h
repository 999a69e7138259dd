/* json.h - reading the pieces of JSON that headers of files are made of. */
#ifndef TNI_IO_JSON_H
#define TNI_IO_JSON_H

#include "io.h"

/* A place in the header. Strings are decoded where they stand: their text, then NULs up to where
 * the closing quote was, so that the header can be walked again. Another NUL lies behind the end,
 * which no string and no number holds: reading one stops there. */
typedef struct tni_json {
    char *at, *end;
} tni_json;

/* Each reads on from c; false, NULL or -1 where something else stands there. */
TN_PRIV char *tni_json_decoded(tni_json *c);
/* "[1, 2]": at most max numbers. */
TN_PRIV int tni_json_naturals(tni_json *c, int64_t *to, int max);
TN_PRIV bool tni_json_sign(tni_json *c, char sign);
TN_PRIV bool tni_json_string(tni_json *c, char **text);

#endif
