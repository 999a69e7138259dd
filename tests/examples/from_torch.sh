# from_torch.sh - a network that torch trained; read by run.sh.
check "from_torch runs torch's network" run from_torch "$out/from_torch/run"
check "from_torch: the largest difference is below 1e-5" below "$(sed -n 's/^largest difference from torch: //p' "$log")" 1e-5
check "from_torch: it is not 0 by accident" below 0 "$(sed -n 's/^largest difference from torch: //p' "$log")"
check "from_torch reads the digits" grep -q '^reads 32 of 32 digits$' "$log"
check "from_torch: the files are small" test "$(cat examples/from_torch/*.safetensors | wc -c)" -le 60000
check "from_torch: the folder is missing" fails 1 "none/net.safetensors" "$out/from_torch/run" "$out/none"
# The last byte is of torch's last number.
wrong=$out/from_torch/wrong
mkdir -p "$wrong"
cp examples/from_torch/*.safetensors "$wrong"
bytes '\77' "$wrong/check.safetensors" $(($(wc -c < "$wrong/check.safetensors") - 1))
check "from_torch notices another answer" sh -c '! "$1/run" "$1/wrong" > "$1/log" 2>&1 && grep -q "^largest difference" "$1/log"' other "$out/from_torch"
cp examples/from_torch/check.safetensors "$wrong/net.safetensors"
check "from_torch: the wrong file for a network" fails 1 "missing" "$out/from_torch/run" "$wrong"
# train.py with what is there: torch if TORCH_PYTHON has it, else the package in place, if it is built.
python=${TORCH_PYTHON:-python3}
if PYTHONPATH=. $python -c 'import torch, safetensors' 2> /dev/null || PYTHONPATH=. $python -c 'import tensorh' 2> /dev/null; then
    mkdir -p "$out/from_torch/anew"
    check "train.py trains" run train env PYTHONPATH=. $python examples/from_torch/train.py "$out/from_torch/anew"
    check "train.py: it reads more than 330 of 359 digits" below 330 "$(sed -n 's/^reads \([0-9]*\) of 359 .*/\1/p' "$log")"
    check "from_torch runs the new network" run anew "$out/from_torch/run" "$out/from_torch/anew"
    check "from_torch: its largest difference is below 1e-5" below "$(sed -n 's/^largest difference from torch: //p' "$log")" 1e-5
else
    echo "neither torch with safetensors (TORCH_PYTHON=) nor the package (make python): train.py is left out"
fi
