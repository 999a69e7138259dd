/* step.c - a public call of modules or optimizers in progress: its place, its name in messages,
 * its errors. */
#include "nn.h"
#include "../api/device.h"

#include <math.h>

TN_PRIV bool tni_nn_error(tn_code code, const char *format, ...) {
    tn_path *p = tn_path_current();
    va_list list;
    /* The outermost link has the user's line; tn_error_set puts the text of the
     * innermost in front. */
    while (p && p->caller) p = p->caller;
    va_start(list, format);
    tn_error_set_list(code, p ? p->file : NULL, p ? p->line : 0, format, list);
    va_end(list);
    return false;
}

TN_PRIV double tni_nn_item(const tn_tensor *t) {
    return tn_data(t) || tn_device_data(t) ? tn_item(t) : (double)NAN;
}

/* The class name alone: "Linear: ...". An empty name puts nothing before the message. */
static void step_text(const tn_path *path, char *to, size_t room) {
    snprintf(to, room, "%s", ((const tni_step *)(const void *)path)->type);
}

TN_PRIV void tni_step_begin(tni_step *s, const char *file, int line, const char *type) {
    s->path.text = step_text;
    s->path.file = file;
    s->path.line = line;
    s->type = type ? type : "module";
    /* Errors from here on carry file and line of the outermost link. */
    tn_path_push(&s->path);
}
TN_PRIV void tni_place_begin(tni_step *s, const char *file, int line) {
    if (!tn_path_current()) tni_step_begin(s, file, line, "");
}
TN_PRIV void tni_step_end(tni_step *s) { tn_path_pop(&s->path); }
