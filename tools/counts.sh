#!/bin/sh
# counts.sh [TREE] - what a reader and a contributor meet, counted in a tree (this one by default), one figure a line:
# "name<TAB>figure". Two runs side by side: paste <(sh tools/counts.sh OLD) <(sh tools/counts.sh).
# It judges nothing. Generated files are left out, but for tensor.h where the header itself is counted.
cd "${1:-$(dirname "$0")/..}" || exit 1

hand() { find src -name '*.[ch]' ! -path 'src/gen/*' ! -path 'src/api/ops*' ! -name modules.h; }
texts() { find . -maxdepth 1 -name '*.md'; find docs -name '*.md' ! -name reference.md ! -name promises.md; }
say() { printf '%s\t%s\n' "$1" "$2"; }
count() { grep -c . || true; }

# --- one place that knows a parameter type --------------------------------------------------------------------------
say "switches on a parameter's type" "$(hand | xargs grep -hE 'switch \((\(tn_type\))?[a-z_>.-]*(p|param)(->|\.)type\)|switch \(type\)' | count)"
say "files with one" "$(hand | xargs grep -lE 'switch \((\(tn_type\))?[a-z_>.-]*(p|param)(->|\.)type\)|switch \(type\)' | count)"
say "loops over parameter tables" "$(hand | xargs grep -hE 'for \(.*(nparam|TNI_EACH_PARAM)' | count)"
say "files with one " "$(hand | xargs grep -lE 'for \(.*(nparam|TNI_EACH_PARAM)' | count)"
say "macros that make a pointwise row" "$(grep -hE '^#define TN_[A-Z_]+\(kinds' src/call/*.h | count)"
say "messages between functions by number (note[i])" "$(hand | xargs grep -ohE 'note\[[0-9a-z]+\]' | count)"

# --- rooms ----------------------------------------------------------------------------------------------------------
say "names declared below and defined above" "$(sed -n '/left_open\[\]/,/};/p' tools/check.c | grep -cE '^    (\{)?"')"
say "tensors, nodes, frames named in base/" "$(grep -hoE '\b(tn_tensor|tni_node|tn_frame|tn_recording)\b' src/base/*.[ch] | count)"
say "files of 700 lines and more" "$(hand | xargs wc -l | awk '$2 != "total" && $1 >= 700' | count)"
say "longest file" "$(hand | xargs wc -l | awk '$2 != "total" && $1 > n { n = $1 } END { print n }')"

# --- the header -----------------------------------------------------------------------------------------------------
say "lines of tensor.h before its first option" "$(grep -nE '^(/\*| \*).*TENSOR_(STATIC|TRIM)' tensor.h | head -1 | cut -d: -f1)"
say "of these, renames" "$(head -n "$(grep -nE '^(/\*| \*).*TENSOR_(STATIC|TRIM)' tensor.h | head -1 | cut -d: -f1)" tensor.h | grep -c '^#define tnp\{0,1\}_')"
say "families of operators with a chapter" "$(grep -cE '^(/\*| \*).*== \[[0-9.]+\]' tensor.h)"
say "comments that end in a lone */" "$(hand | xargs grep -hE '^ *\*/$' | count)"
say "comments that end in one word" "$(hand | xargs grep -hE '^ +\*? ?[^ */]+ \*/$|^ +\* [^ ]+\*/$' | count)"

# --- density, comments, prose ---------------------------------------------------------------------------------------
say "two effects in a return (return *to = .., return a = .., b)" "$(hand | xargs grep -hE '^ *(if .*\) )?return [^;(]*[^=!<>]=[^=][^;]*, ' | count)"
say "lines of code in src, by hand" "$(hand | xargs cat | awk '!/^ *(\/\*.*\*\/|\*.*|)$/' | count)"
# A line that holds a comment, for a line of code; comments of files' heads are left out.
hand | grep '\.c$' | xargs awk '
    FNR == 1 { head = 1 }
    { begins = /\/\*/ ; within = open || begins }
    begins && !/\*\// { open = 1 } /\*\// { open = 0 }
    head { if (!open) head = 0; next }
    within { c++ }
    !/^ *(\/\*.*\*\/|\*.*|)$/ && !(within && !begins) { n++ }
    END { printf "lines with a comment, a line of code (rooms)\t%.3f\n", c / n }'
translated='what is [a-z]+ed|, so, too|, too[,.]|of one.s own|that there is|one that|as far as|where there is|is told|are told|that it is,|hears of'
say "phrases of a translation, docs and README" "$(texts | xargs cat | grep -oiE "$translated" | count)"
say "phrases of a translation, comments and messages of src" "$(hand | xargs cat | grep -oiE "$translated" | count)"
say "sentences of more than 35 words, docs and README" "$(texts | xargs cat | sed 's/|/. /g; /^    /d; /^```/,/^```/d' | tr '\n' ' ' |
    sed 's/[.:;!?] /\n/g' | awk 'NF > 35' | count)"
say "lines of README" "$(wc -l < README.md)"
for file in CONTRIBUTING.md CHANGELOG.md SECURITY.md tests/README.md; do
    say "$file" "$([ -f $file ] && echo yes || echo no)"
done
