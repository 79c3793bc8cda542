"""What lies on a GPU, told without asking for one; and what is to be brought there."""

from typing import Any


class OnDevice:
    """Rows in memory that a GPU is to work on: what ``engine="cuda"`` makes of X."""

    def __init__(self, X: Any) -> None:
        self.X = X


def is_on_device(X: Any) -> bool:
    """Whether X says that it lies on a CUDA device."""
    ask = getattr(X, "__dlpack_device__", None)
    try:
        if ask is not None and int(ask()[0]) in (2, 13):  # CUDA, and CUDA's managed memory
            return True
    except Exception:  # some arrays have the method and no device to tell of
        pass
    # Asked last: a tensor of PyTorch that gradients are taken of refuses even to say whether.
    return hasattr(X, "__cuda_array_interface__")
