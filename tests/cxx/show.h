/* show.h - what the programs of this lane share: a tensor as a short text, and an error as one.
 *
 *     CHECK_SHOWS(x > 1, "bool[2,2] 0 1 1 1");     CHECK_FAILS(TN_SHAPE, "broadcast");
 *
 * run.sh has compiled tensor_nn.h before, with and without TN_EXCEPTIONS. */
#ifndef TNI_TESTS_CXX_SHOW_H
#define TNI_TESTS_CXX_SHOW_H

#include "tensor_nn.h"

#include "../check.h"

#include <array>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

inline std::string show(const tn::tensor &x) {
    std::ostringstream s;
    if (!x.defined()) return "undefined";
    s << tn_dtype_name(x.dtype()) << '[';
    for (int d = 0; d < x.dim(); d++) s << (d ? "," : "") << x.size(d);
    s << ']';
    std::vector<double> v = x.as<std::vector<double>>();
    for (size_t i = 0; i < v.size(); i++) s << ' ' << v[i];
    return s.str();
}
#define CHECK_SHOWS(x, text) check_text(show(x).c_str(), text, __FILE__, __LINE__, #x)

/* Takes the pending error, which has this code, these words and the line, if one is given. */
inline int check_failed(tn_code code, const char *words, int of_line, const char *file, int line) {
    tn_error_info e = tn_error_info();
    if (!tn_error_take(&e)) return check_report(0, file, line, "an error is pending");
    const bool good = e.code == code && e.message && strstr(e.message, words) &&
                      (!of_line || (e.file && strstr(e.file, "cpp") && e.line == of_line));
    if (!good)
        printf("    %d %s:%d: %s\n", static_cast<int>(e.code), e.file ? e.file : "?", e.line,
               e.message ? e.message : "(NULL)");
    return check_report(good, file, line, words);
}
#define CHECK_FAILS(code, words) check_failed(code, words, 0, __FILE__, __LINE__)
#define CHECK_FAILS_AT(of_line, code, words) check_failed(code, words, of_line, __FILE__, __LINE__)


/* Where an exception should have left. */
#define CHECK_NOT_HERE() check_report(0, __FILE__, __LINE__, "an exception left before")

/* What a call gives that is made for something else. */
template <class T>
inline void used(const T &) {}

#endif
