#!/bin/sh
# edits.sh [TREE] - how many objects an edit of a row compiles again, by kind of edit, in a scratch copy of a tree (this
# one by default). It judges nothing: two trees side by side show what a change of the headers' structure has brought.
top=$(cd "$(dirname "$0")/../.." && pwd)
tree=$(cd "${1:-$top}" && pwd)
copy=${BUILD:-$top/build}/edits
rm -rf "$copy" && mkdir -p "$copy/docs" && cd "$copy" || exit 1
cp -R "$tree/src" "$tree/tools" "$tree/tests" "$tree/Makefile" . && cp "$tree/docs/reference.md" docs

build() { make -s headers objects CFLAGS=-O0 BUILD=build > log 2>&1 || { tail -5 log; exit 1; }; }
edit() { # WHAT FILE SED-EXPRESSION
    sleep 1 && touch stamp && sleep 1 # file systems keep whole seconds
    cp "$2" saved && sed "$3" saved > "$2"
    cmp -s "$2" saved && echo "$1: no such text in $2" && return
    build
    printf '%s\t%s\n' "$1" "$(find build/src -name '*.o' -newer stamp | wc -l | tr -d ' ')"
    cp saved "$2" && build
}
ops=src/ops/elementwise/exponential.c doc=
grep -q TN_DOC $ops && doc='TN_DOC(.shapes = "(*) -> (*)", .example = "tn_twice(x)"),'
row='TN_OPERATOR(twice, "twice(Tensor self) -> Tensor",'" $doc"' .compose = twice_compose, .sample = "(3)")'
build
printf 'objects\t%s\n' "$(find build/src -name '*.o' | wc -l | tr -d ' ')"
edit "comment of an operator" $ops 's/accurate near 0\./exact near 0./'
edit "sample of an operator" src/ops/reduction/reduce.c 's/"(2,3):bool | (0) | (2,3)"/"(3,2):bool | (0) | (2,3)"/'
edit "body of a function" src/ops/elementwise/gradients.c 's/by == 1 ?/by == 1. ?/'
edit "schema, elementwise" src/ops/elementwise/arithmetic.c 's/"add\.Tensor(\(.*\)alpha=1/"add.Tensor(\1alpha=2/'
edit "schema, shape" src/ops/shape/view.c 's/int start_dim=0/int start_dim=1/'
edit "schema, layers" src/ops/layers/pool.c 's/bool count_include_pad=True/bool count_include_pad=False/'
edit "a new operator, layers" src/ops/layers/pool.c "\$a\\
static bool twice_compose(tn_frame *f) { return (f->out[0] = f->in[0]) != NULL; }\\
/* The same. */\\
$row"
edit "comment of a module" src/nn/linear.c 's/W^T + b\./W^T plus b./'
edit "schema of a module" src/nn/linear.c 's/float p=0\.5/float p=0.25/'
