/* text.c - a call in words, for messages and the profiler: "add(self=float32 (2, 3),
 * other=2, alpha=1)". */
#include "../api/extend.h"
#include "types.h"

/* Whether an option has its default, which a message leaves out. */
static bool text_is_default(const tn_row *row, const tn_param *p, const void *args) {
    return p->flags & TN_P_DEFAULT && row->gen->defaults && !(p->flags & TN_P_NUMBER) &&
           tn_param_same(p, args, row->gen->defaults);
}

static void text_value(tni_said *o, const tn_param *p, const char *args) {
    if (p->flags & TN_P_NUMBER) { /* in the tensor's place */
        tn_tensor *t;
        tn_scalar s;
        memcpy(&t, args + p->offset, sizeof t);
        memcpy(&s, args + p->number_offset, sizeof s);
        if (!t && s.kind > TN_KIND_NONE) {
            tni_types[TN_T_SCALAR].text(o, p, args + p->number_offset);
            return;
        }
    }
    tni_type_of(p)->text(o, p, args + p->offset);
}

TN_PRIV const char *tni_call_text(char *text, size_t room, const tn_row *row, const void *args) {
    /* Every argument with its name, but for options that have their default. */
    tni_said o = {text, room, 0, false};
    int shown = 0;
    tni_say(&o, "%s(", row->name);
    for (int i = 0; i < row->gen->nparam; i++) {
        const tn_param *p = &row->gen->param[i];
        if (text_is_default(row, p, args)) continue;
        tni_say(&o, "%s%s=", shown++ ? ", " : "", p->name);
        text_value(&o, p, (const char *)args);
    }
    tni_say(&o, ")");
    return text;
}

/* The first failing call adds itself with its arguments, the calls around it add their names. */
TN_PRIV void tni_call_error(tn_frame *f) {
    tni_block *b = f->block;
    char text[700];
    if (!b->failed) tni_error(b, TN_INTERNAL, "failed without setting an error");
    if (b->error_told) {
        tni_error_more(b, ", called by %s%s", f->row->name, f->inplace ? "_" : "");
        return;
    }
    b->error_told = true;
    tni_error_more(b, "\n  in %s", tni_call_text(text, sizeof text, f->row, f->args));
}

TN_PRIV TNI_NOINLINE bool tni_call_failed(tni_block *b, const tn_row *row, const char *file,
                                          int line, const void *args, void *results) {
    tn_frame f;
    /* A frame only to word the error: the short way has none. */
    tni_frame_begin(&f, b, row, TN_PLAIN, file, line, args);
    f.work.caller = b->work;
    tni_call_error(&f);
    *(tn_tensor **)results = NULL;
    if (!b->work && !b->place_hold) tni_error_tell(b);
    return false;
}
