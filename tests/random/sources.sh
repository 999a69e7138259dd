# sources.sh - for the lanes that build programs of this one: what they are made of, and the optimizers' names, which they include.
calls="tests/random/calls.c tests/random/tuples.c tests/ops/sample.c tests/ops/msample.c"
programs="tests/random/programs.c tests/random/model.c"
list_optimizers() { # FOLDER: one that -I names
    sed -n 's/^TN_OPTIMIZER(\([a-z0-9_]*\),.*/OPTIMIZER(\1)/p' src/optim/*.c > "$1/optimizers.inc"
}
