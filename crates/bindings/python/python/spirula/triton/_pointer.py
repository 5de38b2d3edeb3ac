"""Arrays of NumPy as arguments of kernels."""

import numpy as np
import numpy.typing as npt


class ArrayPointer:
    """An array of NumPy as an argument of a kernel, which changes it in place: Triton takes objects with an address."""

    def __init__(self, array: npt.NDArray[np.generic]) -> None:
        self.array = array
        self.dtype = array.dtype

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.array.ctypes.data
