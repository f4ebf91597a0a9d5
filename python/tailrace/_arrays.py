"""Makes arrays in the program's memory of those that are none of NumPy's plain ones: of masked arrays, and of other
libraries' arrays, which may lie in the memory of a device. A device's array is copied by its own library.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# DLPack's numbers of devices whose memory the program can read: the processor's, and pinned memory of CUDA and ROCm.
_HOST = {1, 3, 11}


def in_host_memory(array: Any, fill_value: Any) -> Any:
    """Returns the array, a view of it, or a copy. Raises TypeError or ValueError for what cannot be an array."""
    if isinstance(array, np.ma.MaskedArray):
        return _filled(array, fill_value)
    if fill_value is not None:
        raise TypeError(f"fill_value: expected a masked array, found {type(array).__name__}, which has no masked "
                        "elements")
    if isinstance(array, np.ndarray) or _has_buffer(array):
        return array
    if hasattr(array, "__cuda_array_interface__") or _on_device(array):
        return _copied(array)
    if hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    return array


def _filled(array: np.ma.MaskedArray[Any, Any], fill_value: Any) -> Any:
    masked = int(np.ma.count_masked(array))
    if fill_value is not None:
        return array.filled(fill_value)
    if masked == 0:
        return array.data
    raise ValueError(f"expected an array without a mask, found a masked array in which {masked} of {array.size} "
                     "elements are masked; fill_value (in write and borrow) or array.filled() puts a value there")


def _has_buffer(array: Any) -> bool:
    try:
        memoryview(array).release()
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _on_device(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and int(device()[0]) not in _HOST


def _copied(array: Any) -> Any:
    """Lets the array's library copy it: to pinned memory, if the library offers that."""
    if hasattr(array, "get"):  # CuPy
        pinned = getattr(sys.modules.get("cupyx"), "empty_pinned", None)
        return array.get() if pinned is None else array.get(out=pinned(array.shape, array.dtype))
    if hasattr(array, "copy_to_host"):  # Numba
        return array.copy_to_host()
    if hasattr(array, "detach") and hasattr(array, "cpu"):  # PyTorch
        return array.detach().cpu().numpy()
    if hasattr(array, "__array__"):  # JAX and others
        return np.asarray(array)
    raise TypeError(f"expected an array in the memory of the program, found {type(array).__module__}."
                    f"{type(array).__name__} in the memory of a device, and no method that copies it to the host")
