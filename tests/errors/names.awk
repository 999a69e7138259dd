# names.awk - a text that begins with the name of a public function, "tn_x: ...", stands where only tn_x is reached from: in its
# body, or in private functions that no other public function calls. Also the name that a step begins with ("train").
#     awk -f names.awk src/*/*.c
# A text "x: ..." names an argument x: the same file has it in code or in a row's schema. Functions are found as tools/check finds them: a definition starts in the first column and ends with a brace there. A name
# without its ending for a dtype or a way to call (tn_read for tn_read_f64_at, tnp_item) is the same.
function stem(name) {
    sub(/^tnp_/, "tn_", name)
    sub(/_at$/, "", name)
    sub(/_inplace$/, "_", name)
    return name
}
function same(name, said) {
    name = stem(name)
    if (name == said) return 1
    return index(name, said "_") == 1 && substr(name, length(said) + 2) ~ /^([fiuc][0-9]+|bool|int|complex|scalar|room)$/
}
function literal(said) {
    said_at[nliterals] = current
    said_where[nliterals] = FILENAME ":" FNR
    said_what[nliterals++] = said
}
# The texts of a row's TN_DOC are for readers, and begin with a place.
function arguments(line,   rest, word, spoken) {
    rest = line
    if (rest ~ /TN_DOC\(/) in_doc = 1
    spoken = !in_doc
    if (in_doc && rest ~ /\),$/) in_doc = 0
    while (match(rest, /"([^"\\]|\\.)*"/)) {
        word = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        if (spoken && match(word, /^[a-z_]+: [^%(]/)) {
            said_there[nthere] = FILENAME ":" FNR
            of_file[nthere] = FILENAME
            argument[nthere++] = substr(word, 1, index(word, ":") - 1)
        }
        while (match(word, /[a-z_][a-z0-9_]*[=,)]/)) { # of a schema
            has[FILENAME, substr(word, RSTART, RLENGTH - 1)] = 1
            word = substr(word, RSTART + RLENGTH)
        }
    }
    gsub(/"([^"\\]|\\.)*"/, "", line)
    sub(/\/[*\/].*/, "", line)
    sub(/^ \*.*/, "", line)
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
        has[FILENAME, substr(line, RSTART, RLENGTH)] = 1
        line = substr(line, RSTART + RLENGTH)
    }
}
function body(line,   rest, word) {
    rest = line
    while (match(rest, /"tnp?_[a-z0-9_]+(:|")/)) {
        word = substr(rest, RSTART + 1, RLENGTH - 2)
        literal(word)
        rest = substr(rest, RSTART + RLENGTH)
    }
    if (match(line, /tni_step_begin\(&step, file, line, "[a-z_]+"/)) {
        word = substr(line, RSTART, RLENGTH - 1)
        sub(/.*"/, "", word)
        literal("tn_" word)
    }
    gsub(/"([^"\\]|\\.)*"/, "", line)
    sub(/\/\*.*/, "", line)
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (word != current && !((word, current) in calls)) {
            calls[word, current] = 1
            callers[word] = callers[word] " " current
        }
    }
}
# Public functions from which f is reached, through private ones: into reach.
function up(f,   list, n, i) {
    if (f in seen) return
    seen[f] = 1
    if (f in public) {
        reach[f] = 1
        return
    }
    n = split(callers[f], list, " ")
    for (i = 1; i <= n; i++) up(list[i])
}
# "slice: ..." in a file with the public function tn_dataset_slice.
function names_function(file, word,   list, n, i) {
    n = split(publics[file], list, " ")
    for (i = 1; i <= n; i++)
        if (list[i] ~ ("_" word "$")) return 1
    return 0
}
BEGIN {
    nliterals = nthere = 0
    # What several functions say with the part that their names share; "?": functions that a macro makes.
    n = split("tn_checkpoint_load_at>tn_checkpoint tn_checkpoint_save_at>tn_checkpoint " \
              "tn_checkpoint_load_memory_at>tn_checkpoint tn_checkpoint_save_memory_at>tn_checkpoint " \
              "tn_schedule_step_at>tn_schedule ?>tn_read", pair, " ")
    for (i = 1; i <= n; i++) known[pair[i]] = 1
}
{ arguments($0) }
FNR == 1 { inside = 0; head = "" }
!inside && /^[A-Za-z]/ && !/^(typedef|struct|enum|union|extern|#)/ { head = "" }
!inside && (/^[A-Za-z]/ || head != "") {
    head = head $0
    if (head ~ /;[ \t]*$/ || head ~ /^(typedef|struct|enum|union)/ || head ~ /= \{/) { head = ""; next }
    if (head !~ /\{/) next
    if (!match(head, /[A-Za-z_][A-Za-z0-9_]*\(/)) { head = ""; next }
    current = substr(head, RSTART, RLENGTH - 1)
    if (head ~ /^TN_API/) public[current] = 1
    if (head ~ /^TN_API/) publics[FILENAME] = publics[FILENAME] " " stem(current)
    if (head ~ /\}[ \t]*$/) { body(substr(head, RSTART + RLENGTH)) } else inside = 1
    head = ""
    next
}
inside && /^}/ { inside = 0; next }
inside { body($0) }
END {
    for (i = 0; i < nliterals; i++) {
        for (f in seen) delete seen[f]
        for (f in reach) delete reach[f]
        up(said_at[i])
        any = "?>" said_what[i] in known
        for (f in reach) {
            any = 1
            if (same(f, said_what[i]) || ((f ">" said_what[i]) in known)) continue
            printf "%s: says %s and is reached from %s\n", said_where[i], said_what[i], f
            wrong++
        }
        if (!any) printf "%s: says %s and is reached from no public function\n", said_where[i], said_what[i]
        if (!any) wrong++
    }
    for (i = 0; i < nthere; i++) {
        if (argument[i] ~ /^tn_/ || (of_file[i], argument[i]) in has) continue
        if (names_function(of_file[i], argument[i])) continue
        printf "%s: says %s, which no function of the file takes or is\n", said_there[i], argument[i]
        wrong++
    }
    printf "%d names of functions and %d of arguments in texts\n", nliterals, nthere
    printf "%d passed, %d failed\n", nliterals + nthere - wrong, wrong
    exit wrong != 0
}
