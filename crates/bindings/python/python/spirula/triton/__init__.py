"""Triton on Spirula: kernels of `@triton.jit` run on Spirula's devices.

Triton finds this package by itself, and uses it where there is no graphics card of NVIDIA or AMD, or where the environment
variable `TRITON_DEFAULT_BACKEND` is `spirula`. Tensors are those of PyTorch on the processor. `ArrayPointer` wraps arrays of NumPy.

    >>> import torch, triton, triton.language as tl
    >>> @triton.jit
    ... def double(x, n, BLOCK: tl.constexpr):
    ...     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ...     tl.store(x + at, 2 * tl.load(x + at, at < n), at < n)
    >>> numbers = torch.ones(1000)
    >>> double[(triton.cdiv(1000, 256),)](numbers, 1000, BLOCK=256)
"""

from spirula.triton._pointer import ArrayPointer

__all__ = ["ArrayPointer"]
