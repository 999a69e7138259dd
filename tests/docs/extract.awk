# extract.awk - the C code of a Markdown file as programs: awk -f extract.awk -v name=c -v out=DIR docs/c.md
#
# A block ```c is one of these. A comment above it, <!-- c: WORDS -->, says what cannot be seen:
#   it has main             a program, linked with the library; the defines of the implementation are left out
#   else                    a fragment: definitions that begin in the first column stand before a function with the rest, in which
#                           x, y, w .. are there (snippet.h). At its end a pending error is printed, and a tensor that is left
#   <!-- c: file -->        compiles, as a file of its own
#   <!-- c: same as FILE -->  the same as FILE, or as a part of it, but for comments and blanks
#   <!-- c: row FAMILY -->  rows of src/ops/FAMILY, which the generator takes and the compiler
#   <!-- c: does not compile -->  a fragment that the compiler refuses
#   <!-- c: output -->      a program whose output is not shown, or of a fragment
# What it prints is what the block ```text, or the indented block, that follows it says; without one a fragment prints nothing, and a
# program must say `output`. In a table whose last column is "tensor.h", each cell of that column is calls and statements that run.
# Writes DIR/NAME_LINE.c and a line "KIND NAME_LINE ARGUMENTS" for each to stdout. What it does not know ends it with status 1.

function no(text) { printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"; bad = 1 }

function braces(line,  n, m) {
    gsub(/"([^"\\]|\\.)*"|'([^'\\]|\\.)'|\/\/.*|\/\*[^*]*\*\//, "", line)
    n = gsub(/[{(]/, "", line); m = gsub(/[})]/, "", line)
    return n - m
}

# A fragment: definitions first, then the function. Lines are numbered from 1, as the text has them.
function fragment(file,  i, depth, inside, top, rest, keep) {
    for (i = 1; i <= n; i++) {
        if (!inside && line[i] ~ /^(static|typedef|struct|enum|#)/) { inside = 1; depth = 0 }
        keep = sprintf("#line %d \"program.c\"\n%s\n", i, line[i])
        if (inside) top = top keep; else rest = rest keep
        if (inside) {
            depth += braces(line[i])
            if (!depth && line[i] ~ /([;}]|^#.*)[ \t]*(\/\/.*|\/\*.*\*\/)?$/) inside = 0
        }
    }
    printf "#include \"snippet.h\"\n%sstatic void fragment(void) {\n%s}\nint main(void) { return snippet(fragment, \"program.c\", false); }\n", \
        top, rest > file
    close(file)
}

function finish(  id, i, text, kind, words, given_output) {
    id = name "_" begun
    text = ""
    for (i = 1; i <= n; i++) text = text line[i] "\n"
    kind = words = ""
    given_output = nout
    if (marker == "file") kind = "file"
    else if (marker ~ /^same as /) { kind = "same"; words = substr(marker, 9) }
    else if (marker ~ /^row /) { kind = "row"; words = substr(marker, 5) }
    else if (marker == "does not compile") { kind = "refused"; fragment(out "/" id ".c") }
    else if (marker == "" || marker == "output") kind = text ~ /(^|\n)int main\(/ ? "program" : "fragment"
    else no("cannot handle <!-- c: " marker " -->")
    if (kind == "fragment") fragment(out "/" id ".c")
    else if (kind != "refused") {
        if (kind == "program") gsub(/#define TENSOR_(NN_)?IMPLEMENTATION[^\n]*\n/, "", text)
        printf "%s%s", kind == "program" ? "#line 1 \"program.c\"\n" : "", text > (out "/" id ".c")
        close(out "/" id ".c")
    }
    if (kind == "program" && !given_output && marker != "output") no("line " begun ": a program without its output: <!-- c: output -->?")
    if (given_output && (kind != "program" && kind != "fragment")) no("line " begun ": output of what does not run")
    if (kind == "program" || kind == "fragment") {
        words = marker == "output" ? "any" : "exact"
        printf "%s", output > (out "/" id ".expected")
        close(out "/" id ".expected")
    }
    print kind, id, words
    n = nout = 0
    output = marker = ""
    state = ""
}

# The right cell of a row of a table: its code, `a` and `b`, is statements.
function cell(text,  code, found) {
    gsub(/\\\|/, "|", text)
    while (match(text, /`[^`]+`/)) {
        code = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        found = found sprintf("#line %d \"%s\"\n    %s%s\n", FNR, FILENAME, code, code ~ /;$/ ? "" : ";")
    }
    if (found == "") { no("a cell without code"); return }
    cells = cells "static void cell_" FNR "(void) {\n" found "}\n"
    called = called "    failed += snippet(cell_" FNR ", \"" FILENAME ":" FNR "\", " (found ~ /;[^\n]/ ? "false" : "true") ");\n"
}

state == "after" { # a block has ended: is its output next?
    if ($0 ~ /^```text$/) { state = "output"; next }
    if ($0 ~ /^    / && (nout || $0 !~ /^    (cc|gcc|make|sh|\.\/)/)) { output = output substr($0, 5) "\n"; nout++; next }
    if ($0 == "" && !nout) next
    finish()
}
state == "output" {
    if ($0 ~ /^```$/) finish()
    else { output = output $0 "\n"; nout++ }
    next
}
state == "block" {
    if ($0 ~ /^```$/) state = "after"
    else line[++n] = $0
    next
}
state == "other" { if ($0 ~ /^```$/) state = ""; next }
/^<!-- c: .* -->$/ {
    if (marker != "") no("two markers")
    marker = substr($0, 9, length($0) - 12)
    next
}
/^```c$/ { state = "block"; begun = FNR; n = 0; next }
marker != "" { no("<!-- c: " marker " --> stands above no block"); marker = "" }
/^```(text|python|make|cmake|sh|mermaid|cpp)?$/ { state = "other"; next }
/^ *```/ { no("a block of unknown language: " $0) }
/^\|.*\| tensor.h \|$/ { table = 1; next }
!/^\|/ { table = 0 }
table && !/^\| -/ { sub(/ *\|$/, ""); match($0, /.*[^\\]\| /); cell(substr($0, RLENGTH + 1)) }

END {
    if (state == "after") finish()
    else if (state != "") no("a block does not end")
    if (cells != "") {
        file = out "/" name "_table.c"
        printf "#include \"snippet.h\"\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n#pragma GCC diagnostic ignored \"-Wunused-result\"\n%sint main(void) {\n    int failed = 0;\n%s    return failed != 0;\n}\n", cells, called > file
        print "table", name "_table"
    }
    exit bad
}
