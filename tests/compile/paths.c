/* paths.c - files whose names are beyond ASCII, on every system. Argument: a folder.
 *
 * On Windows the C library's own names are of a code page, so the file's name is asked from the
 * system in UTF-16, and bytes that are no UTF-8 are refused. */
#include "tensor.h"

#include <stdio.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#endif

static int wrong;
static void expect(bool so, const char *what) {
    if (so) return;
    printf("FAILED %s\n", what);
    wrong++;
    tn_error_print();
}
static const char *in(const char *folder, const char *name) {
    static char path[2][2000];
    static int turn;
    char *to = path[turn = !turn];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static bool saves(const char *path) {
    bool ok = false;
    TN_SCOPE {
        tn_named one = {"one", tn_ones(TN_DIMS(3))};
        ok = tn_safetensors_save(path, &one, 1);
    }
    return ok;
}
static bool loads(const char *path) {
    tn_named_list list = tn_safetensors_load(path);
    const bool ok = list.n == 1 && tn_numel(list.at[0].tensor) == 3;
    tn_named_free(list);
    return ok;
}
/* What the library says of a path that it refuses. */
static bool refused(const char *path, const char *reason) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    const bool done = saves(path);
    if (!tn_error_take(&e) || done) return false;
    if (e.code == TN_FILE && strstr(e.message, reason)) return true;
    printf("    %s\n", e.message);
    return false;
}

/* Two, three and four bytes of UTF-8: U+00F6, U+65E5, U+1F600. */
static const char name[] = "gr\xc3\xb6\xc3\x9f"
                           "e \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80.st";

#ifdef _WIN32
static void windows(const char *folder) {
    static const wchar_t wide[] = {'g', 'r',    0xf6,   0xdf, 'e', ' ', 0x65e5, 0x672c,
                                   ' ', 0xd83d, 0xde00, '.',  's', 't', 0};
    static const char *const bad[] = {"a\xff.st", "cut\xc3", "\xed\xa0\x80.st", "\xc0\xaf.st"};
    wchar_t pattern[MAX_PATH];
    WIN32_FIND_DATAW found;
    int files = 0, same = 0;
    MultiByteToWideChar(CP_UTF8, 0, in(folder, "*"), -1, pattern, MAX_PATH);
    HANDLE h = FindFirstFileW(pattern, &found);
    for (BOOL more = h != INVALID_HANDLE_VALUE; more; more = FindNextFileW(h, &found)) {
        if (found.cFileName[0] == '.') continue;
        files++;
        same += wcscmp(found.cFileName, wide) == 0;
    }
    FindClose(h);
    expect(same == 1, "the system has the name in UTF-16");
    expect(files == 1, "there is no other file");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect(refused(in(folder, bad[i]), "byte"), "bytes that are no UTF-8 are refused");
}
#endif

int main(int argc, char **argv) {
    char longest[1500];
    if (argc != 2) return 2;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    expect(saves(in(argv[1], name)), "a file is saved");
    expect(saves(in(argv[1], name)), "a file is replaced");
    expect(loads(in(argv[1], name)), "a file is loaded");
#ifdef _WIN32
    windows(argv[1]);
#endif
    expect(refused(in(argv[1], longest), "name too long"), "a name that is too long");
    tn_context_free(NULL);
    if (!wrong) printf("paths are UTF-8\n");
    return wrong != 0;
}
