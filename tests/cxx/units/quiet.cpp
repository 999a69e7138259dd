// quiet.cpp - the file without TN_EXCEPTIONS.
#include "shared.h"

int quiet_file_reports(tn_tensor *x, tn_tensor *y) {
    const tn::tensor sum = tn::tensor(x).add(tn::tensor(y));
    tn_error_info e;
    return !sum.defined() && tn_error_take(&e) && e.code == TN_INVALID && e.line == __LINE__ - 2;
}
