/* error.c - one pending error a thread and context: set once, kept until taken.
 *
 * The first error stays: what fails later fails because of it. Its place is the user's line of
 * the outermost public call, and the texts live in the block, so that setting an error needs
 * no memory. */
#include "base.h"

/* The user's line: of the module call or backward in progress, else of the outermost operator. */
static void error_place(tni_block *b) {
    b->error_file = b->place_file;
    b->error_line = b->place_line;
    if (b->place_file) return;
    for (const tni_work *w = b->work; w; w = w->caller)
        if (w->file) {
            b->error_file = w->file;
            b->error_line = w->line;
        }
}

TN_PRIV bool tni_error_list(tni_block *b, tn_code code, const char *format, va_list list) {
    if (!b || b->failed) return false;
    if (code <= TN_OK || code >= TN_WARNING) code = TN_INTERNAL;
    size_t at = 0;
    b->error_text[0] = 0;
    /* The path of the module comes first in the text, at most half of it. */
    if (b->path) b->path->text(b->path, b->error_text, sizeof b->error_text / 2);
    at = strlen(b->error_text);
    if (at) {
        b->error_text[at++] = ':';
        b->error_text[at++] = ' ';
    }
    if (tn_text_list(b->error_text + at, sizeof b->error_text - at, format, list) < 0)
        b->error_text[at] = 0; /* the format could not be written: the code remains */
    b->error_told = b->error_forward = false;
    error_place(b);
    b->error_code = code;
    b->failed = (uint8_t)code;
    b->told = 0;
    return false;
}

TN_PRIV bool tni_error(tni_block *b, tn_code code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tni_error_list(b, code, format, list);
    va_end(list);
    return false;
}

TN_PRIV bool tni_error_apart(tni_block *b, tn_code code, const char *format, ...) {
    va_list list;
    if (!b) return false;
    /* The line of an earlier call would mislead. */
    tni_place_unknown(b);
    va_start(list, format);
    tni_error_list(b, code, format, list);
    va_end(list);
    return tni_leave(b, false);
}

TN_PRIV void tni_error_more(tni_block *b, const char *format, ...) {
    if (!b || !b->failed) return;
    /* What does not fit is cut. */
    size_t at = strlen(b->error_text);
    va_list list;
    va_start(list, format);
    if (tn_text_list(b->error_text + at, sizeof b->error_text - at, format, list) < 0)
        b->error_text[at] = 0;
    va_end(list);
}

static tn_error_info error_info(const tni_block *b) {
    tn_error_info info;
    info.code = b->error_code;
    info.message = b->error_text;
    info.file = b->error_file;
    info.line = b->error_file ? tni_line(b, b->error_file, b->error_line) : 0;
    return info;
}

TN_PRIV void tni_error_tell(tni_block *b) {
    if (!b || !b->failed || b->quiet || b->told || !b->context->handler) return;
    tn_error_info info = error_info(b);
    b->told = 1; /* first: the handler may jump */
    b->context->handler(&info, b->context->handler_user);
}

TN_PRIV void tni_error_leave(tni_block *b) {
    tn_error_info info = error_info(b);
    bool tell = b->failed && !b->told && b->context->handler;
    b->failed = 0; /* first: the handler may jump */
    if (tell) b->context->handler(&info, b->context->handler_user);
}

/* --- warnings --------------------------------------------------------------------------------- */

TN_PRIV void tni_warning(tni_block *b, const char *format, ...) {
    va_list list;
    if (b->warned) return;
    va_start(list, format);
    if (tn_text_list(b->warning_text, sizeof b->warning_text, format, list) < 0)
        b->warning_text[0] = 0;
    va_end(list);
    b->warning_file = b->place_file;
    b->warning_line = b->place_line;
    b->warned = 1;
    tni_hook_set(b, TNI_HOOK_WARNING, true);
}

static tn_error_info warning_info(const tni_block *b) {
    tn_error_info info = {TN_WARNING, b->warning_text, b->warning_file, 0};
    if (info.file) info.line = tni_line(b, info.file, b->warning_line);
    return info;
}

TN_PRIV TNI_NOINLINE void tni_warning_tell(tni_block *b) {
    tn_error_info info;
    if (b->work || b->place_hold || b->quiet) return;
    tni_hook_set(b, TNI_HOOK_WARNING, false);
    if (!b->warned || !b->context->handler) return;
    info = warning_info(b);
    b->warned = 0; /* first: the handler may jump */
    b->context->handler(&info, b->context->handler_user);
}

/* --- texts ------------------------------------------------------------------------------------ */

TN_PRIV int tni_utf8(const char *at) {
    const unsigned char *s = (const unsigned char *)at;
    /* Bytes of the character by its first byte; 0 where that cannot be first. */
    int n = s[0] < 0x80                   ? 1
            : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
            : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
            : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    /* Neither overlong forms, nor surrogates, nor beyond U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return n;
}

/* --- without a context ------------------------------------------------------------------------ */

static const tn_error_info *error_reason; /* NULL: memory */

TN_PRIV void tni_error_without_context(const tn_error_info *reason) {
    tni_store(&error_reason, reason);
}
static tn_error_info error_no_context(void) {
    static const tn_error_info memory = {TN_MEMORY, "out of memory: cannot make a context", NULL,
                                         0};
    const tn_error_info *reason = tni_load(&error_reason);
    return reason ? *reason : memory;
}

/* --- public ----------------------------------------------------------------------------------- */

TN_API bool tn_ok(void) {
    tni_block *b = tni_here();
    return b && !b->failed;
}

TN_API bool tn_error_peek(tn_error_info *error) {
    tni_block *b = tni_here();
    if (b && !b->failed) return false;
    if (error) *error = b ? error_info(b) : error_no_context();
    return true;
}

TN_API bool tn_error_take(tn_error_info *error) {
    if (!tn_error_peek(error)) return false;
    tni_block *b = tni_here();
    if (b) b->failed = 0;
    return true;
}

TN_API bool tn_warning_take(tn_error_info *warning) {
    tni_block *b = tni_here();
    if (!b || !b->warned) return false;
    if (warning) *warning = warning_info(b);
    b->warned = 0;
    return true;
}

static void error_write(const tn_error_info *e) {
    if (e->file) fprintf(stderr, "%s:%d: ", e->file, e->line);
    fprintf(stderr, "%s: %s\n", tn_code_name(e->code), e->message);
}

TN_API bool tn_error_print(void) {
    tn_error_info e;
    if (tn_warning_take(&e)) error_write(&e);
    if (!tn_error_take(&e)) return false;
    error_write(&e);
    return true;
}

TN_API bool tn_error_set_list(tn_code code, const char *file, int line, const char *format,
                              va_list list) {
    tni_block *b = tni_here();
    if (!b || b->failed) return false;
    tni_error_list(b, code, format, list);
    if (b->work || b->place_hold)
        return false; /* the call in progress tells, when it has cleaned up */
    b->error_file = file;
    b->error_line = line;
    tni_error_tell(b);
    return false;
}
TN_API bool tn_error_set(tn_code code, const char *file, int line, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tn_error_set_list(code, file, line, format, list);
    va_end(list);
    return false;
}

TN_API void tn_set_error_handler(tn_error_handler handler, void *user) {
    tni_block *b = tni_here();
    if (!b) return;
    b->context->handler = handler;
    b->context->handler_user = user;
}

TN_API const char *tn_code_name(tn_code code) {
#define TNI_ERROR_NAME(NAME, text) text,
    static const char name[][32] = {TN_ERRORS(TNI_ERROR_NAME)};
#undef TNI_ERROR_NAME
    return (unsigned)code < (unsigned)TN_ERROR_COUNT ? name[code] : "unknown error";
}

/* --- the chain of module calls ---------------------------------------------------------------- */

TN_API void tn_path_push(tn_path *path) {
    tni_block *b = tni_here();
    if (!b) return;
    /* The outermost path sets the place, which it holds as long as the call lasts. */
    path->caller = b->path;
    if (!b->path) tni_place_set(b, path->file, path->line);
    b->path = path;
    b->place_hold++;
}

TN_API void tn_path_pop(tn_path *path) {
    tni_block *b = tni_here();
    if (!b || b->path != path) return;
    b->path = path->caller;
    b->place_hold--;
    if (b->path || b->work || b->place_hold) return;
    tni_error_tell(b);
    if (tni_load_relaxed(&b->hooks) & TNI_HOOK_WARNING) tni_warning_tell(b);
}

TN_API tn_path *tn_path_current(void) {
    tni_block *b = tni_here();
    return b ? b->path : NULL;
}

TN_API void tn_set_line_decoder(int (*decode)(const char *file, int line)) {
    tni_block *b = tni_here();
    if (b) b->context->decode = decode;
}
