/* freed.c - a program of one file or two with TN_CHECK: its errors, one a line, are those in
 * cases.sh. */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

static void told(void) {
    tn_error_info e;
    if (!tn_error_take(&e)) e.message = "no error";
    printf("%.*s\n", (int)strcspn(e.message, "\n"), e.message);
}

int main(void) {
    tn_tensor *x = tn_ones(TN_DIMS(2)), *y = NULL;
    TN_SCOPE {
        y = tn_mul(x, x);
    }
    (void)!tn_mul(y, x);
    told();
    int64_t mark = tn_scope_begin();
    y = tn_mul(x, x);
    tn_scope_end(mark);
    (void)!tn_mul(x, y);
    told();
    tn_free(x);
    tn_item(x);
    told();
    tn_free(x);
    told();
    return 0;
}
