"""Pooling: reductions of windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from spirula.torch._reduction import find_bound, format_padding
from spirula.torch._table import lowers
from spirula.torch._writer import HloValue, HloWriter, Number, UnsupportedError, format_combiner, format_numbers


class _PoolingWindow:
    """The windows of a pooling over the last dimensions of an operand."""

    def __init__(
        self,
        operand: HloValue,
        shape: Sequence[int],
        kernel: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int] = (1,),
    ) -> None:
        count = 3 if len(kernel) == 3 else 2
        self.sizes = _repeat(kernel, count)
        self.strides = _repeat(stride, count) if stride else self.sizes
        self.padding = _repeat(padding, count)
        self.dilation = _repeat(dilation, count)
        self.first = len(operand.shape) - count
        self.shape = tuple(shape)
        # The last window may end after the padding, where sizes are rounded up.
        self.after = []
        for at in range(count):
            reach = (self.shape[self.first + at] - 1) * self.strides[at] + self.dilation[at] * (self.sizes[at] - 1) + 1
            self.after.append(reach - operand.shape[self.first + at] - self.padding[at])

    def reduce(self, writer: HloWriter, value: HloValue, operation: str, start: Number) -> HloValue:
        """Combines the elements of each window."""
        outer = [1] * self.first
        margins = [[0, 0]] * self.first + [list(pair) for pair in zip(self.padding, self.after, strict=True)]
        # Elements that no window reaches are left out, as margins cannot be negative.
        limits = list(value.shape)
        for at, margin in enumerate(margins):
            limits[at] += min(margin[1], 0)
            margin[1] = max(margin[1], 0)
        value = writer.slice(value, [0] * len(limits), limits, [1] * len(limits))
        attributes = (
            f"window_dimensions = {format_numbers(outer + self.sizes)}, "
            f"window_strides = {format_numbers(outer + self.strides)}, "
            f"window_dilations = {format_numbers(outer + self.dilation)}, {format_padding(margins)}"
        )
        operands = [value, writer.make_constant(start, value.dtype)]
        region = format_combiner(operation, value.dtype)
        return writer.make_value("reduce_window", operands, self.shape, value.dtype, attributes, region)


def _repeat(numbers: int | Sequence[int], count: int) -> list[int]:
    numbers = [numbers] if isinstance(numbers, int) else list(numbers)
    return numbers * count if len(numbers) == 1 else numbers


@lowers("max_pool2d_with_indices.default", "max_pool3d_with_indices.default")
def lower_max_pool(
    writer: HloWriter,
    results: Sequence[torch.Tensor],
    operand: HloValue,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> list[HloValue | Callable[[], HloValue]]:
    window = _PoolingWindow(operand, results[0].shape, kernel, stride, padding, dilation)
    value = window.reduce(writer, operand, "maximum", find_bound(operand.dtype, largest=False))

    def refuse() -> HloValue:
        raise UnsupportedError("the indices of a pooling")

    return [value, refuse]


@lowers("avg_pool2d.default", "avg_pool3d.default")
def lower_average_pool(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> HloValue:
    window = _PoolingWindow(operand, result.shape, kernel, stride, padding)
    dtype = torch.float32 if operand.dtype in (torch.float16, torch.bfloat16) else operand.dtype
    total = window.reduce(writer, writer.convert(operand, dtype), "add", 0)
    if divisor_override:
        divisor = writer.make_constant(divisor_override, dtype, total.shape)
    elif not any(window.padding) and not ceil_mode:
        divisor = writer.make_constant(math.prod(window.sizes), dtype, total.shape)
    else:
        divisor = _count_elements(writer, operand, window, count_include_pad, dtype)
    return writer.convert(writer.map("divide", total, divisor), result.dtype)


def _count_elements(
    writer: HloWriter, operand: HloValue, window: _PoolingWindow, with_padding: bool, dtype: torch.dtype
) -> HloValue:
    """The numbers of elements that the windows have, and of padding where it counts."""
    ones = writer.make_constant(1, dtype, operand.shape)
    if not with_padding:
        return window.reduce(writer, ones, "add", 0)
    margins = [0] * window.first + window.padding
    padded = writer.pad(ones, writer.make_constant(1, dtype), margins, margins)
    inner = _PoolingWindow(padded, window.shape, window.sizes, window.strides, (0,))
    return inner.reduce(writer, padded, "add", 0)
