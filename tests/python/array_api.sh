#!/bin/sh
# make test-array-api: the test suite of the Python array API standard, github.com/data-apis/array-api-tests, over
# tensorh.array_api: the checkout's own package, each test with EXAMPLES (100) examples, the same in every run.
# Suite and standard are got by git at the commits below and kept in $BUILD/array-api; ARRAY_API_TESTS_URL and
# ARRAY_API_URL name other repositories that have these commits. Arguments go to pytest.
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
BUILD=${BUILD:-build}
mkdir -p "$BUILD/array-api" && build=$(cd "$BUILD/array-api" && pwd) || exit 1
unset PYTHONPATH PYTHONHOME
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
left_out() {
    echo "left out: $1"
    echo "0 passed, 0 failed"
    exit 0
}
at() { # FOLDER COMMIT URL: that commit of a repository, in $build/FOLDER
    folder=$build/$1
    [ "$(git -C "$folder" rev-parse -q --verify HEAD 2> /dev/null)" = "$2" ] && return
    rm -rf "$folder"
    git init -q "$folder" &&
        { GIT_TERMINAL_PROMPT=0 git -C "$folder" fetch -q --depth 1 "$3" "$2" ||
            GIT_TERMINAL_PROMPT=0 git -C "$folder" fetch -q "$3" "+refs/*:refs/remotes/all/*"; } 2> "$build/git.txt" &&
        git -C "$folder" -c advice.detachedHead=false checkout -q "$2" 2>> "$build/git.txt" ||
        left_out "git could not get $2 of $3: $(tail -1 "$build/git.txt")"
}
at suite 55fcc60179efa2680ddd6cd926ddf17b83530e2b \
    "${ARRAY_API_TESTS_URL:-https://github.com/data-apis/array-api-tests}"
at suite/array-api 5f847a3858875c682ae901aa22b0413bf24be9da "${ARRAY_API_URL:-https://github.com/data-apis/array-api}"

# Examples follow from the version of hypothesis, too.
venv=$build/venv
if [ ! -e "$venv/ready" ]; then
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv" > "$build/pip.txt" 2>&1 &&
        "$venv/bin/pip" install -q -r "$build/suite/requirements.txt" hypothesis==6.170.15 >> "$build/pip.txt" 2>&1 &&
        touch "$venv/ready" || left_out "pip could not install what the suite needs: $(tail -1 "$build/pip.txt")"
fi

cd "$build/suite" || exit 1
[ $# -gt 0 ] || set -- array_api_tests
export PYTHONPATH="$root:$root/tests/python" PYTHONHASHSEED=0 ARRAY_API_TESTS_MODULE=tensorh.array_api
exec "$venv/bin/python" -m pytest -qq -p no:cacheprovider -p array_api_plugin --tb=short -W ignore --disable-deadline \
    --hypothesis-seed=0 --max-examples="${EXAMPLES:-100}" "$@"
