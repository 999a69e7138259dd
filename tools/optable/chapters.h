/* chapters.h - what the files that write docs/api.md share: a header as a list of items. */
#ifndef OPTABLE_CHAPTERS_H
#define OPTABLE_CHAPTERS_H

#include "optable.h"

typedef enum item_kind {
    ITEM_COMMENT,
    ITEM_SECTION, /* a comment between lines: --- name --- */
    ITEM_FUNCTION,
    ITEM_TYPE,
    ITEM_MACRO
} item_kind;
typedef struct item {
    item_kind kind;
    char *text;  /* as written; of a comment without its marks */
    char *name;  /* of a declaration or macro; else NULL */
    char *shown; /* what a reader sees of it */
    bool hidden; /* behind a macro, or private */
} item;
typedef struct items {
    item *at;
    int n, room;
} items;

bool starts(const char *s, const char *with);
/* items.c: the items of a header, in its order; the first is the comment that says what it is. */
void read_header(const char *path, items *all);
/* forms.c: sets what is shown of each, and hides functions that have a macro. */
void show_forms(items *all);
/* The pieces of `at` up to its closing bracket, cut at commas outside of brackets; their number. */
int split(const char *at, char **piece, int room);
/* prose.c: a comment as Markdown. */
void put_prose(text *t, const char *comment);

#endif
