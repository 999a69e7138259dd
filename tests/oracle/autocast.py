"""Writes tests/oracle/autocast.txt: the operators that torch's autocast knows, "CPU name ..." and "CUDA name ...".

    python tests/oracle/autocast.py        needs torch"""

import os
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
names = [n for n in sorted(torch._C._dispatch_get_all_op_names()) if n.startswith("aten::")]
with open(os.path.join(HERE, "autocast.txt"), "w") as f:
    for kind in ("CPU", "CUDA"):
        has = {n[6:].split(".")[0] for n in names
               if torch._C._dispatch_has_kernel_for_dispatch_key(n, "Autocast" + kind)}
        print(kind, *sorted(has), file=f)
