# blocks.awk - the ```cpp blocks of a document as programs in -v folder: NAME.cpp, and NAME.output where the document says it.
BEGIN { rest = folder "/blocks.cpp" }
/^```cpp/ { inside = 1; text = ""; at = NR; main = 0; next }
/^```/ && inside {
    inside = 0
    if (main) {
        name = folder "/line" at
        printf "%s", text > (name ".cpp")
        waiting = 1
    } else {
        blocks++
        names = names sprintf("    block_at_line_%d();\n    if (tn_error_print()) return %d;\n", at, blocks)
        all = all sprintf("static void block_at_line_%d() {\n#line %d \"%s\"\n%s}\n", at, at + 1, FILENAME, text)
        waiting = 0
    }
    next
}
inside { text = text $0 "\n"; if ($0 ~ /int main\(/) main = 1; next }
waiting && /^    / { print substr($0, 5) > (name ".output"); wrote = 1; next }
waiting && /^$/ && !wrote { next }
{ waiting = 0; wrote = 0 }
END {
    if (!blocks) exit
    print "#include \"tensor_nn.h\"\n#include <array>\n#include <cassert>\n#include <cstdio>\n#include <iostream>\n#include <map>\n#include <string>\n#include <thread>\n#include <vector>" > rest
    printf "%sint main() {\n%s    return 0;\n}\n", all, names > rest
}
