# gdb.sh - the printer of tools/gdb; read by run.sh.
values=tests/examples/debugged.c
made() { echo "made at $values:$(grep -n "^    $1 = " $values | cut -d: -f1)"; } # NAME: the line that makes it
stopped() { # PROGRAM NAME...: $log has what gdb prints of each
    program=$1
    shift
    printf 'source tools/gdb/tensor.py\nbreak stop\nrun\n' > "$out/gdb.commands"
    printf 'print %s\n' "$@" >> "$out/gdb.commands"
    run gdb gdb -nx -batch -x "$out/gdb.commands" "$program"
}
# printed PROGRAM FILE: gdb's answer for each `name|answer` of FILE, without the address before it. @: where it was made.
printed() {
    stopped "$1" $(sed 's/|.*//' "$2")
    number=0
    while IFS='|' read -r name answer; do
        number=$((number + 1))
        case $answer in *@) answer="${answer%@}$(made "$name")" ;; esac
        is=$(sed -n "s/^[$]$number = \(0x[0-9a-f]* \)\{0,1\}//p" "$log")
        check "gdb prints $name as $answer, not $is" test "$is" = "$answer"
    done < "$2"
}
need gdb
if command -v gdb > /dev/null; then
    $c -g $values -o "$out/debugged" -lm -pthread > "$out/debugged.said" 2>&1
    check "debugged compiles without a warning" test ! -s "$out/debugged.said"
    cat > "$out/gdb.values" << 'E'
x|float32 (2, 3) {1.5, -2, 3, 4, 5, 6} @
w|float32 (3) {1, 1, 1} requires_grad, @
product|float32 (2, 3) {1.5, -2, 3, 4, 5, 6} from mul, requires_grad, @
turned|float32 (3, 2) {1.5, 4, -2, 5, 3, 6} @
bf16|bfloat16 (2, 3) {1.5, -2, 3, 4, 5, 6} @
f16|float16 (2, 3) {1.5, -2, 3, 4, 5, 6} @
e4m3|float8_e4m3fn (2, 3) {1.5, -2, 3, 4, 5, 6} @
e5m2|float8_e5m2 (2, 3) {1.5, -2, 3, 4, 5, 6} @
f64|float64 (2, 3) {1.5, -2, 3, 4, 5, 6} @
i8|int8 (2, 3) {1, -2, 3, 4, 5, 6} @
u64|uint64 (1) {9007199254740993} @
c64|complex64 (2, 3) {1.5+0j, -2+0j, 3+0j, 4+0j, 5+0j, 6+0j} @
truth|bool (2) {false, true} @
many|int64 (1000) {0, 1, 2, 3, 4, 5, ...} @
empty|float32 (0, 4) {} @
single|int64 () {7} @
meta|float32 (5) on meta @
freed|freed, @
wild|(no tensor that can be read: Cannot access memory at address 0x40)
none|NULL
dims|2: {2, 3}
absent|absent
zero|zero bytes, which are an error
half|float 0.5
three|int 3
point|complex 1-2j
yes|true
nothing|None
no_number|no number (kind 0), which is an error
quarter|0.25
no_quarter|None
x->size[1]|3
E
    printed "$out/debugged" "$out/gdb.values"
    stopped "$out/debugged" list error
    check "gdb prints a list of tensors" grep -q '^[$]1 = 2: {0x[0-9a-f]* float32 (2, 3) {1.5, .*, NULL}$' "$log"
    check "gdb prints an error" grep -q "^[$]2 = TN_AUTOGRAD at $values:[0-9]*: out= does not support gradients" "$log"
    # Over a library without debug information.
    mkdir -p "$out/src"
    sed '/^#define T/d' $values > "$out/src/debugged.c"
    check "debugged compiles over a library" $c -g "$out/src/debugged.c" "$object" -o "$out/debugged" -lm -pthread
    printf 'x|(compile the file with TENSOR_IMPLEMENTATION with -g to see more)\ndims|2: {2, 3}\n' > "$out/gdb.values"
    printed "$out/debugged" "$out/gdb.values"
else
    echo "no gdb: its printer is left out"
fi
