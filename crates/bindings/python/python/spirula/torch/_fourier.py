"""Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from spirula.torch._table import lowers, normalize_dimension
from spirula.torch._writer import HloValue, HloWriter, format_numbers

# The exponents of the number of elements by which results are divided: none, a root, and the number itself.
_SCALES = (0.0, 0.5, 1.0)


def _transform(
    writer: HloWriter, operand: HloValue, dimension: int, kind: str, length: int, size: int, dtype: torch.dtype
) -> HloValue:
    """A transform along a dimension, whose result has a size and a dtype there."""
    rank = len(operand.shape)
    order = [*(at for at in range(rank) if at != dimension), dimension]
    value = writer.transpose(operand, order)
    attributes = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {format_numbers([length])}"
    value = writer.make_value("fft", [value], (*value.shape[:-1], size), dtype, attributes)
    return writer.transpose(value, [*range(dimension), rank - 1, *range(dimension, rank - 1)])


def _scale(writer: HloWriter, value: HloValue, normalization: int, count: int) -> HloValue:
    factor = count ** -_SCALES[normalization]
    if factor == 1:
        return value
    return writer.map("multiply", value, writer.make_constant(factor, value.dtype, value.shape))


@lowers("_fft_c2c.default")
def lower_complex_transform(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    dimensions: Sequence[int],
    normalization: int,
    forward: bool,
) -> HloValue:
    value, count = operand, 1
    for dimension in dimensions:
        dimension = normalize_dimension(dimension, len(operand.shape))
        size = operand.shape[dimension]
        count *= size
        value = _transform(writer, value, dimension, "FFT" if forward else "IFFT", size, size, value.dtype)
    # StableHLO divides by the number of elements, PyTorch's table of exponents begins without.
    value = value if forward else _multiply(writer, value, count)
    return _scale(writer, value, normalization, count)


def _multiply(writer: HloWriter, value: HloValue, factor: int) -> HloValue:
    return writer.map("multiply", value, writer.make_constant(factor, value.dtype, value.shape))


@lowers("_fft_r2c.default")
def lower_real_transform(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    dimensions: Sequence[int],
    normalization: int,
    onesided: bool,
) -> HloValue:
    rank = len(operand.shape)
    places = [normalize_dimension(dimension, rank) for dimension in dimensions]
    count = math.prod(operand.shape[at] for at in places)
    *others, last = places
    size = operand.shape[last]
    if onesided:
        value = _transform(writer, operand, last, "RFFT", size, size // 2 + 1, result.dtype)
    else:
        others, value = places, writer.convert(operand, result.dtype)
    for dimension in others:
        length = value.shape[dimension]
        value = _transform(writer, value, dimension, "FFT", length, length, value.dtype)
    return _scale(writer, value, normalization, count)


@lowers("_fft_c2r.default")
def lower_inverse_real_transform(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    dimensions: Sequence[int],
    normalization: int,
    last_size: int,
) -> HloValue:
    rank = len(operand.shape)
    *others, last = [normalize_dimension(dimension, rank) for dimension in dimensions]
    value, count = operand, last_size
    for dimension in others:
        length = value.shape[dimension]
        count *= length
        value = _transform(writer, value, dimension, "IFFT", length, length, value.dtype)
    value = writer.slice_dimension(value, last, 0, min(value.shape[last], last_size // 2 + 1))
    value = _transform(writer, value, last, "IRFFT", last_size, last_size, result.dtype)
    return _scale(writer, _multiply(writer, value, count), normalization, count)
