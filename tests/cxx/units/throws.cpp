// throws.cpp - the file with TN_EXCEPTIONS.
#define TN_EXCEPTIONS
#include "shared.h"

tn_tensor *from_throwing_file(tn_tensor *x) {
    try {
        return (tn::tensor(x) * 3).release();
    } catch (const tn::error &e) {
        tn_error_set(e.code, e.file, e.line, "%s", e.message());
        return nullptr;
    }
}

int throwing_file_catches(tn_tensor *x) {
    tn::tensor t(x);
    try {
        t = t.add(tn::zeros({77})); // the same template as in quiet.cpp, in another namespace
    } catch (const tn::error &e) { return e.line == __LINE__ - 1 && tn_ok(); }
    return 0;
}
