/* told.h - what nn.cpp, optim.cpp and data.cpp share: the message of a call that must fail. */
#ifndef TNI_TESTS_CXX_TOLD_H
#define TNI_TESTS_CXX_TOLD_H

#include "tensor_nn.h"

#include "../check.h"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/* The message of the error that `call` leaves, or throws; "" if there is none. */
template <class F>
inline std::string told_by(F call) {
    tn_error_info e;
#ifdef TN_EXCEPTIONS
    try {
        call();
    } catch (const std::exception &error) {
        return error.what();
    }
#else
    call();
#endif
    return tn_error_take(&e) ? e.message : "";
}
/* True if `text` has the words; else prints it. */
inline bool tells(const std::string &text, const char *words) {
    const bool found = text.find(words) != text.npos;
    if (!found) printf("    \"%s\" does not say \"%s\"\n", text.c_str(), words);
    return found;
}
inline bool equal(const tn::tensor &a, const tn::tensor &b) { return bool(tn::equal(a, b)); }

#endif
