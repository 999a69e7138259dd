/* embed.c - a file as a C array, for programs that carry their model with them.
 *
 *     cc -O2 tools/embed.c -o embed
 *     ./embed net.safetensors net > net.h        writes: static const unsigned char net[] = ..
 *
 *     #include "net.h"
 *     tn_module_load_memory(model, net, net_bytes, .borrow = true);
 *
 * The array lies at a multiple of 64, so tensors can point into it without a copy. With -e it
 * writes a source file, whose names other files declare:
 *     extern const unsigned char net[];
 *     extern const size_t net_bytes; */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EMBED_COLUMNS = 98 };

static int embed_fail(const char *what, const char *path) {
    fprintf(stderr, "embed: %s %s: %s\n", what, path, strerror(errno));
    return 1;
}

static int embed_is_name(const char *name) {
    const char *c = name;
    if (!isalpha((unsigned char)*c) && *c != '_') return 0;
    while (isalnum((unsigned char)*c) || *c == '_') c++;
    return *c == 0;
}

/* The last part of a path, less what would end the comment or the line. */
static void embed_put_file_name(FILE *to, const char *path) {
    for (const char *c = path; *c; c++)
        if (*c == '/' || *c == '\\') path = c + 1;
    for (; *path; path++)
        fputc(isprint((unsigned char)*path) && *path != '*' ? *path : '?', to);
}

/* Alignment as each compiler spells it; without one the array is right, but may be copied. */
static void embed_put_head(FILE *to, const char *path, const char *name, int external) {
    fprintf(to, "/* The bytes of ");
    embed_put_file_name(to, path);
    fprintf(to, ", written by tools/embed.c. */\n#include <stddef.h>\n\n");
    if (external)
        fprintf(to,
                "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
                "extern const unsigned char %s[];\nextern const size_t %s_bytes;\n"
                "#ifdef __cplusplus\n}\n#endif\n\n",
                name, name);
    fprintf(to, "#if defined(__GNUC__)\n__attribute__((aligned(64)))\n"
                "#elif defined(_MSC_VER)\n__declspec(align(64))\n"
                "#elif defined(__cplusplus)\nalignas(64)\n"
                "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n_Alignas(64)\n"
                "#endif\n");
    fprintf(to, "%sconst unsigned char %s[] = {\n", external ? "" : "static ", name);
}

/* The bytes as decimal numbers; how many there are. */
static unsigned long long embed_put_bytes(FILE *to, FILE *from) {
    unsigned long long n = 0;
    int column = 0, c;
    for (; (c = getc(from)) != EOF; n++) {
        column += fprintf(to, "%d,", c);
        if (column < EMBED_COLUMNS - 4) continue;
        fputc('\n', to);
        column = 0;
    }
    if (column) fputc('\n', to);
    return n;
}

/* 0, or 1 after a message. */
static int embed_write(FILE *to, FILE *from, const char *path, const char *name, int external) {
    unsigned long long n;
    embed_put_head(to, path, name, external);
    n = embed_put_bytes(to, from);
    if (ferror(from)) return embed_fail("cannot read", path);
    if (n == 0) {
        fprintf(stderr, "embed: '%s' is empty, and C has no empty array\n", path);
        return 1;
    }
    fprintf(to, "};\n%sconst size_t %s_bytes = sizeof %s;\n", external ? "" : "static ", name,
            name);
    return 0;
}

int main(int argc, char **argv) {
    int external = argc > 1 && strcmp(argv[1], "-e") == 0, failed;
    const char *path, *name;
    FILE *from;
    argc -= external;
    argv += external;
    if (argc != 3) {
        fprintf(stderr, "usage: embed [-e] FILE NAME > OUTPUT\n");
        return 2;
    }
    path = argv[1];
    name = argv[2];
    if (!embed_is_name(name)) {
        fprintf(stderr, "embed: '%s' is no name in C\n", name);
        return 2;
    }
    from = fopen(path, "rb");
    if (!from) return embed_fail("cannot read", path);
    failed = embed_write(stdout, from, path, name, external);
    fclose(from);
    /* A full disk may show only now. */
    if ((fflush(stdout) || ferror(stdout)) && !failed)
        failed = embed_fail("cannot write", "the output");
    return failed;
}
