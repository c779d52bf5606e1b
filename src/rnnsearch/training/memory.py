"""Keep the memory of one training step for the next."""

import ctypes
import sys

# Parameters of mallopt(3).
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4
_NEVER = 2**31 - 1


def keep_freed_memory() -> bool:
    """Tell the C library not to give large freed blocks back to the system; True where it listens.

    `rnnsearch.training.train.train` calls it once, before it makes a tensor; it holds for the rest of the process.
    By default glibc maps large blocks afresh, and the kernel clears their pages again at every step of the training.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return False
    return bool(mallopt(_M_MMAP_MAX, 0)) and bool(mallopt(_M_TRIM_THRESHOLD, _NEVER))
