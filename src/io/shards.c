/* shards.c - an index of safetensors files, model.safetensors.index.json: all its tensors.
 *
 * {"weight_map": {name: file}, ..}; the files lie in the index's folder, and their names lead
 * nowhere else. The index is untrusted, as each file is. */
#include "json.h"

typedef struct shards_entry {
    const char *name, *file;
    bool read;
} shards_entry;

typedef struct shards {
    tni_block *b;
    const char *path;
    shards_entry *at;
    int64_t n, room;
} shards;

static bool shards_bad(const shards *s, const char *what) {
    return tni_error(s->b, TN_FORMAT, "'%s' is not a valid index of safetensors files: %s", s->path,
                     what);
}

/* Moves behind any value. What is skipped is not checked. */
static bool shards_skip(tni_json *c) {
    int64_t depth = 0;
    char *text;
    do {
        tni_json_sign(c, ' ');
        if (c->at >= c->end) return false;
        if (*c->at == '"') {
            if (!tni_json_string(c, &text)) return false;
        } else if (strchr("{[", *c->at)) {
            depth++;
            c->at++;
        } else if (strchr("]},:", *c->at)) {
            if (depth == 0) return false;
            if (*c->at == ']' || *c->at == '}') depth--;
            c->at++;
        } else {
            while (c->at < c->end && *c->at && !strchr(" \t\r\n\"{[]},:", *c->at)) c->at++;
        }
    } while (depth > 0);
    return true;
}

/* {"name": "file", ..} */
static bool shards_map(shards *s, tni_json *c) {
    if (!tni_json_sign(c, '{')) return false;
    if (tni_json_sign(c, '}')) return true;
    do {
        char *name, *of;
        if (!tni_json_string(c, &name) || !tni_json_sign(c, ':') || !tni_json_string(c, &of))
            return false;
        if (!*of || strpbrk(of, "/\\:"))
            return tni_error(s->b, TN_FORMAT, "'%s' names '%s', which is no file of its folder",
                             s->path, of);
        s->at[s->n].name = name;
        s->at[s->n].file = of;
        s->at[s->n++].read = false;
    } while (tni_json_sign(c, ','));
    return tni_json_sign(c, '}');
}

static bool shards_index(shards *s, char *text, int64_t bytes) {
    tni_json c = {text, text + bytes};
    bool seen = false, ok = tni_json_sign(&c, '{');
    char *key;
    while (ok) {
        ok = tni_json_string(&c, &key) && tni_json_sign(&c, ':');
        if (ok && strcmp(key, "weight_map") == 0) {
            ok = !seen && shards_map(s, &c);
            seen = true;
        } else if (ok) {
            ok = shards_skip(&c);
        }
        if (!ok || !tni_json_sign(&c, ',')) break;
    }
    if (s->b->failed) return false;
    if (!ok || !tni_json_sign(&c, '}')) return shards_bad(s, "malformed JSON");
    return seen || shards_bad(s, "it has no \"weight_map\"");
}

/* The tensors of one file that the index names there, in the file's order. */
static bool shards_read(shards *s, const char *of, tn_safetensors *f, tn_named_list *list,
                        char **names) {
    int64_t hint = 0;
    for (int64_t k = 0; k < tn_safetensors_count(f); k++) {
        const char *name = tn_safetensors_name(f, k);
        /* Mostly the index has them in this order, too. */
        for (int64_t i = 0; i < s->n; i++) {
            shards_entry *e = &s->at[hint];
            hint = hint + 1 < s->n ? hint + 1 : 0;
            if (e->read || strcmp(e->name, name) != 0 || strcmp(e->file, of) != 0) continue;
            e->read = true;
            if (!tni_named_add(list, names, name, (int64_t)strlen(name),
                               tni_safetensors_read(f, k)))
                return false;
            break;
        }
    }
    for (int64_t i = 0; i < s->n; i++)
        if (!s->at[i].read && strcmp(s->at[i].file, of) == 0)
            return tni_error(s->b, TN_FORMAT, "'%s' has no tensor \"%s\", which '%s' names", of,
                             s->at[i].name, s->path);
    return true;
}

static bool shards_separates(char c) {
#if defined(_WIN32)
    if (c == '\\' || c == ':') return true;
#endif
    return c == '/';
}

/* File `of` in the index's folder. */
static bool shards_file(shards *s, const char *of, tn_named_list *list, char **names) {
    const size_t n = strlen(of) + 1;
    size_t folder = strlen(s->path);
    while (folder > 0 && !shards_separates(s->path[folder - 1])) folder--;
    char *path = (char *)tni_need(s->b, (int64_t)(folder + n));
    tn_safetensors *f;
    bool ok = false;
    if (!path) return false;
    memcpy(path, s->path, folder);
    memcpy(path + folder, of, n);
    f = tni_safetensors_open(s->b, path, NULL);
    if (f) {
        ok = shards_read(s, of, f, list, names);
        tn_safetensors_close(f);
    }
    tni_put(s->b, s->b, path, (int64_t)(folder + n));
    return ok;
}

static void shards_load(shards *s, char *text, int64_t bytes, tn_named_list *list) {
    char *names;
    int64_t size = 0;
    if (!shards_index(s, text, bytes)) return;
    for (int64_t i = 0; i < s->n; i++) size += (int64_t)strlen(s->at[i].name) + 1;
    if (!tni_named_begin(list, s->n, size, &names)) return;
    for (int64_t i = 0; i < s->n; i++)
        if (!s->at[i].read && !shards_file(s, s->at[i].file, list, &names)) {
            if (list->n >= 0) tni_named_add(list, &names, NULL, 0, NULL);
            return;
        }
}

TN_API tn_named_list tn_safetensors_load_index_at(const char *file, int line, const char *path) {
    tn_named_list list = {NULL, -1, 0, true};
    shards s = {tni_io_enter(file, line), path, NULL, 0, 0};
    int64_t bytes;
    char *text;
    if (!s.b) return list;
    text = tni_file_whole(s.b, path, &bytes);
    if (text) {
        /* An entry has four quotes at least. */
        for (int64_t i = 0; i < bytes; i++) s.room += text[i] == '"';
        s.room = s.room / 4 + 1;
        s.at = (shards_entry *)tni_need(s.b, s.room * (int64_t)sizeof *s.at);
        if (s.at) {
            shards_load(&s, text, bytes, &list);
            tni_put(s.b, s.b, s.at, s.room * (int64_t)sizeof *s.at);
        }
        tni_put(s.b, s.b, text, bytes + 1);
    }
    tni_io_leave(s.b);
    return list;
}
