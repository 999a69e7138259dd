# wheel.sh - sourced by run.sh and torch.sh, from the root with BUILD made: the wheel, built without the network where what it is
# made of has changed.

# wheel PYTHON: sets TENSORH_WHEEL and wheel_stamp; build.txt has what was said when it fails.
wheel() {
    out=$build/python
    wheel_stamp=$({ find tensorh tools/python pyproject.toml README.md tensor.h tensor_nn.h tensor_py.c -type f \
        ! -name '*.so' ! -name '*.pyc' | sort | xargs cksum; echo "${CC:-}"; "$1" -c 'import sys; print(sys.platform)'; } | cksum)
    if [ "$(cat "$out/wheel.stamp" 2> /dev/null)" != "$wheel_stamp" ] || [ ! -d "$out/wheel" ]; then
        rm -rf "$out/wheel" "$out/wheel.stamp"
        env -u CFLAGS "$1" -m pip wheel -q --no-index --no-deps -w "$out/wheel" . > "$out/build.txt" 2>&1 || return
        echo "$wheel_stamp" > "$out/wheel.stamp"
    fi
    TENSORH_WHEEL=$(ls "$out"/wheel/*.whl)
    export TENSORH_WHEEL
}
