# sources.sh - for the lanes that build programs of this one: what they are made of, and the optimizers' names, which they include.
calls="tests/random/calls.c tests/random/tuples.c tests/ops/sample.c tests/ops/msample.c"
programs="tests/random/programs.c tests/random/model.c"
list_optimizers() { # FOLDER: one that -I names
    cat src/optim/*.c | tr '\n' ' ' | grep -o 'TN_OPTIMIZER( *[a-z0-9_]*,' | sed 's/TN_OPTIMIZER( *\(.*\),/OPTIMIZER(\1)/' \
        > "$1/optimizers.inc"
}
