/* text.c - a call in words, for messages and the profiler: "add(self=float32 (2, 3), other=2,
 * alpha=1)". */
#include "call.h"

TN_API const char *tn_device_name(tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d = b ? b->context->devices : NULL;
    if (device == TN_CPU) return "cpu";
    if (device == TN_META) return "meta";
    for (tn_device_id id = TN_META + 1; d && id < device; id++) d = d->next;
    return device > TN_META && d ? d->name : "none";
}

typedef struct text_out {
    char *at;
    size_t room, n;
} text_out;

static void text_put(text_out *o, const char *format, ...) TNI_PRINTF(2, 3);
static void text_put(text_out *o, const char *format, ...) {
    va_list list;
    int n;
    if (o->n + 1 >= o->room) return;
    va_start(list, format);
    n = vsnprintf(o->at + o->n, o->room - o->n, format, list);
    va_end(list);
    if (n > 0) o->n += (size_t)n;
}

static void text_tensor(text_out *o, const tn_tensor *t) {
    char text[160];
    text_put(o, "%s", t ? tni_tensor_text(text, sizeof text, t) : "None");
}

static void text_ints(text_out *o, const tn_param *p, const char *at) {
    tn_ints l;
    memcpy(&l, at, sizeof l);
    if (l.n < 0 || !l.at) {
        text_put(o, "None");
        return;
    }
    text_put(o, "[");
    for (int64_t i = 0; i < l.n && i < 12; i++) {
        if (p->type == TN_T_INTS)
            text_put(o, "%s%lld", i ? ", " : "", (long long)l.at[i]);
        else
            text_put(o, "%s%g", i ? ", " : "", ((const double *)(const void *)l.at)[i]);
    }
    text_put(o, l.n > 12 ? ", ...]" : "]");
}

static void text_tensors(text_out *o, const char *at) {
    tn_tensors l;
    memcpy(&l, at, sizeof l);
    text_put(o, "[");
    for (int64_t i = 0; l.at && i < l.n && i < 6; i++) {
        if (i) text_put(o, ", ");
        text_tensor(o, l.at[i]);
    }
    text_put(o, l.n > 6 ? ", ... %lld in all]" : "]", (long long)l.n);
}

static void text_number(text_out *o, const tn_param *p, const char *at) {
    tn_scalar s;
    tn_maybe m;
    double d;
    char text[64];
    if (p->flags & TN_P_MAYBE) {
        memcpy(&m, at, sizeof m);
        if (m.given == TN_GIVEN)
            text_put(o, "%g", m.value);
        else
            text_put(o, "None");
    } else if (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE)) {
        memcpy(&s, at, sizeof s);
        text_put(o, "%s", tni_scalar_text(text, sizeof text, s));
    } else {
        memcpy(&d, at, sizeof d);
        text_put(o, "%g", d);
    }
}

static void text_int(text_out *o, const char *at) {
    int64_t v;
    memcpy(&v, at, sizeof v);
    if (v == TN_NONE)
        text_put(o, "None");
    else
        text_put(o, "%lld", (long long)v);
}

static void text_value(text_out *o, const tn_param *p, const char *args) {
    const char *at = args + p->offset;
    int32_t code;
    bool flag;
    tn_tensor *t;
    const char *string;
    switch (p->type) {
    case TN_T_TENSOR:
        memcpy(&t, at, sizeof t);
        if (!t && p->flags & TN_P_NUMBER) {
            tn_param number = *p;
            number.type = TN_T_SCALAR;
            memcpy(&code, args + p->number_offset, sizeof code);
            if (code > TN_KIND_NONE) {
                text_number(o, &number, args + p->number_offset);
                return;
            }
        }
        text_tensor(o, t);
        return;
    case TN_T_TENSORS: text_tensors(o, at); return;
    case TN_T_INT: text_int(o, at); return;
    case TN_T_FLOAT:
    case TN_T_SCALAR: text_number(o, p, at); return;
    case TN_T_BOOL:
        memcpy(&flag, at, sizeof flag);
        text_put(o, flag ? "True" : "False");
        return;
    case TN_T_INTS:
    case TN_T_FLOATS: text_ints(o, p, at); return;
    case TN_T_STRING:
        memcpy(&string, at, sizeof string);
        text_put(o, "%.40s", string ? string : "None");
        return;
    case TN_T_GENERATOR: text_put(o, "generator"); return;
    default:
        memcpy(&code, at, sizeof code);
        if (code == 0)
            text_put(o, "None");
        else if (p->type == TN_T_DTYPE)
            text_put(o, "%s", tni_dtype(code)->text);
        else if (p->type == TN_T_DEVICE && strcmp(tn_device_name((tn_device_id)code), "none"))
            text_put(o, "%s", tn_device_name((tn_device_id)code));
        else if (p->type == TN_T_ENUM && p->words) {
            int i = 1;
            while (i < code && p->words[i - 1]) i++;
            text_put(o, "%s", p->words[i - 1] ? p->words[i - 1] : "?");
        } else
            text_put(o, "%d", (int)code);
    }
}

/* By members: between and after them lies padding, which nobody fills. */
static bool text_same_number(const tn_param *p, const char *at, const char *usual) {
    tn_scalar s, t;
    tn_maybe m, n;
    if (p->type == TN_T_FLOAT && p->flags & TN_P_MAYBE) {
        memcpy(&m, at, sizeof m), memcpy(&n, usual, sizeof n);
        return m.given == n.given && memcmp(&m.value, &n.value, sizeof m.value) == 0;
    }
    if (p->type == TN_T_FLOAT || p->flags & TN_P_DOUBLE)
        return memcmp(at, usual, sizeof(double)) == 0;
    memcpy(&s, at, sizeof s), memcpy(&t, usual, sizeof t);
    return s.kind == t.kind && s.integer == t.integer &&
           memcmp(&s.imaginary, &t.imaginary, sizeof s.imaginary) == 0 &&
           memcmp(&s.real, &t.real, sizeof s.real) == 0;
}

/* Whether an option has its default, which a message leaves out. */
static bool text_is_default(const tn_row *row, const tn_param *p, const char *args) {
    const char *at = args + p->offset, *usual;
    if (!(p->flags & TN_P_DEFAULT) || !row->gen->defaults || p->flags & TN_P_NUMBER) return false;
    usual = (const char *)row->gen->defaults + p->offset;
    switch (p->type) {
    case TN_T_FLOAT:
    case TN_T_SCALAR: return text_same_number(p, at, usual);
    case TN_T_TENSORS:
    case TN_T_INTS:
    case TN_T_FLOATS: /* each an address and a count */
        return memcmp(at, usual, sizeof(void *)) == 0 &&
               memcmp(at + offsetof(tn_ints, n), usual + offsetof(tn_ints, n), 8) == 0;
    case TN_T_INT: return memcmp(at, usual, sizeof(int64_t)) == 0;
    case TN_T_BOOL: return *at == *usual;
    case TN_T_DTYPE:
    case TN_T_DEVICE:
    case TN_T_ENUM: return memcmp(at, usual, sizeof(int32_t)) == 0;
    default: return memcmp(at, usual, sizeof(void *)) == 0;
    }
}

TN_PRIV const char *tni_call_text(char *text, size_t room, const tn_row *row, const void *args) {
    text_out o;
    int shown = 0;
    o.at = text;
    o.room = room;
    o.n = 0;
    text_put(&o, "%s(", row->name);
    for (int i = 0; i < row->gen->nparam; i++) {
        const tn_param *p = &row->gen->param[i];
        if (text_is_default(row, p, (const char *)args)) continue;
        text_put(&o, "%s%s=", shown++ ? ", " : "", p->name);
        text_value(&o, p, (const char *)args);
    }
    text_put(&o, ")");
    return text;
}

TN_PRIV const char *tni_written_name(const tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    return !f->inplace ? "out" : f->nin ? gen->param[gen->fixed[0]].name : "self";
}

/* The first failing call adds itself with its arguments, the calls around it add their names. */
TN_PRIV void tni_call_error(tn_frame *f) {
    tni_block *b = f->block;
    char text[700];
    if (!b->failed) tni_error(b, TN_INTERNAL, "failed without saying why");
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
    memset(&f, 0, sizeof f);
    f.block = b;
    f.row = row;
    f.args = args;
    f.file = file;
    f.line = line;
    f.caller = b->frame;
    tni_call_error(&f);
    *(tn_tensor **)results = NULL;
    if (!b->frame && !b->place_hold) tni_error_tell(b);
    return false;
}
