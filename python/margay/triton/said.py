"""What the user should know, on stderr, each sentence once for a process."""

import os
import sys

_said = set()


def once(text):
    """Prints the sentence unless it was printed before or MARGAY_QUIET is 1."""
    if text in _said or os.environ.get("MARGAY_QUIET") == "1":
        return
    _said.add(text)
    print(f"margay: {text}", file=sys.stderr)


def device():
    """That torch's "cuda" is not a GPU: at its first use."""
    if "cuda" in _said:
        return
    _said.add("cuda")
    from margay import devices  # the device is settled by this

    once(
        f'torch\'s "cuda" is the virtual {devices.device().name}; its tensors are CPU tensors '
        "(MARGAY_TORCH_CUDA=0 leaves torch as it is)"
    )
