"""End with one sentence if torch sees no CUDA device."""

import sys

import torch

if not torch.cuda.is_available():
    sys.exit(
        f"torch {torch.__version__} sees no CUDA device: run `nox -s docs-cuda` on a machine with "
        "one, and install a CUDA build of torch there; `nox -s docs` builds on the CPU."
    )
print(f"CUDA device: {torch.cuda.get_device_name(0)}")
