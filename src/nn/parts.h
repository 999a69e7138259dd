/* parts.h - the small texts of a module row: parts, shapes that are taken, printed options. Libc
 * only: the generator reads them as well.
 *
 *   parts   part {';' part}
 *   part    [param|buffer|transient] name [:dtype] (sizes) [if expr]
 *           [param|buffer|transient] name = option            the tensor given as this option
 *           child name = Class([name =] expr, ..) [if expr]
 *   sizes   [item {, item}]      item: expr, or the name of an int list, which stands for all its
 *           numbers
 *   expr    c-like over options, integers, None, True, False: ?: || && == != < <= > >= + - * / % !
 *           - ( ) name name[expr]
 *           / and % round down as Python's; None is false and equal to itself only
 *   takes   input {';' input}    input: name(item {, item}), item: expr, _ any size, * any number
 *           of sizes */
#ifndef TNI_NN_PARTS_H
#define TNI_NN_PARTS_H

#include "../api/compiler.h"

/* A stretch of somebody else's text. */
typedef struct tni_span {
    const char *at;
    int n;
} tni_span;

enum {
    TNI_SPAN_PARAM = 1,
    TNI_SPAN_BUFFER,
    TNI_SPAN_TRANSIENT,
    TNI_SPAN_CHILD
}; /* as tn_part_kind */

typedef struct tni_part_text {
    int kind;
    tni_span name, dtype, type; /* dtype: n = 0 where none; type: class of a child */
    tni_span items;             /* between the parentheses */
    tni_span condition;         /* n = 0: always */
    tni_span given;             /* n > 0: name of an option that is the tensor; no items then */
} tni_part_text;

/* Reads the next part and moves *at behind it. 1: read; 0: the end; -1: *error says what is wrong
 * at *at. */
TN_PRIV int tni_part_next(const char **at, tni_part_text *p, const char **error);
/* Cuts the next item off a list, at commas outside of parentheses and brackets; false at the end.
 * An item is trimmed. */
TN_PRIV bool tni_item_next(tni_span *list, tni_span *item);
/* Splits "name = expr" (not "=="); name->n = 0 when there is none. */
TN_PRIV void tni_item_split(tni_span item, tni_span *name, tni_span *value);
TN_PRIV bool tni_span_is(tni_span s, const char *text);
TN_PRIV bool tni_span_is_name(tni_span s);

/* The value of an expression or an option. Floats may be passed on, not calculated with. */
enum { TNI_FIGURE_NONE = 0, TNI_FIGURE_INT, TNI_FIGURE_FLOAT };
typedef struct tni_figure {
    int kind;
    int64_t value;
    double real;
} tni_figure;
/* Looks an option up: index -1 for a plain name. false: there is none, or it is not a number. */
typedef bool (*tni_lookup)(void *user, tni_span name, int64_t index, tni_figure *to);
/* false: *error says why (a fixed text). */
TN_PRIV bool tni_expression(tni_span text, tni_lookup lookup, void *user, tni_figure *to,
                            const char **error);
TN_PRIV bool tni_figure_true(tni_figure v);

#endif
