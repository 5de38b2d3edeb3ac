"""Reductions, running sums, and sorting."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from spirula.torch._table import lowers, normalize_dimension, normalize_dimensions
from spirula.torch._writer import (
    HloValue,
    HloWriter,
    Number,
    UnsupportedError,
    format_combiner,
    format_numbers,
    format_type,
)

Dimensions = int | Sequence[int] | None

# Floats that are too narrow for sums of many elements.
_NARROW = (torch.float16, torch.bfloat16)


def find_bound(dtype: torch.dtype, largest: bool) -> Number:
    """The largest or the least number of a dtype."""
    if dtype == torch.bool:
        return largest
    if dtype.is_floating_point:
        return math.inf if largest else -math.inf
    limits = torch.iinfo(dtype)
    return limits.max if largest else limits.min


def _combine(
    writer: HloWriter, result: torch.Tensor, value: HloValue, dimensions: Dimensions, operation: str, start: Number
) -> HloValue:
    """A reduction whose result has the sizes of the metadata, which may keep the dimensions with size 1."""
    places = normalize_dimensions(dimensions, len(value.shape))
    return writer.reshape(writer.reduce(value, places, operation, start), tuple(result.shape))


def _sum(writer: HloWriter, result: torch.Tensor, operand: HloValue, dimensions: Dimensions) -> HloValue:
    dtype = torch.float32 if result.dtype in _NARROW else result.dtype
    return _combine(writer, result, writer.convert(operand, dtype), dimensions, "add", 0)


@lowers("sum.default", "sum.dim_IntList")
def lower_sum(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: Dimensions = None, *_: object, **__: object
) -> HloValue:
    return writer.convert(_sum(writer, result, operand, dim), result.dtype)


@lowers("mean.default", "mean.dim")
def lower_mean(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: Dimensions = None, *_: object, **__: object
) -> HloValue:
    return writer.convert(_average(writer, result, operand, dim), result.dtype)


def _average(writer: HloWriter, result: torch.Tensor, operand: HloValue, dimensions: Dimensions) -> HloValue:
    total = _sum(writer, result, operand, dimensions)
    count = math.prod(operand.shape[at] for at in normalize_dimensions(dimensions, len(operand.shape)))
    return writer.map("divide", total, writer.make_constant(count, total.dtype, total.shape))


@lowers("var.correction")
def lower_variance(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    dim: Dimensions = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> HloValue:
    return _find_moments(writer, result, operand, dim, correction)[0]


@lowers("var_mean.correction")
def lower_moments(
    writer: HloWriter,
    results: Sequence[torch.Tensor],
    operand: HloValue,
    dim: Dimensions = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> list[HloValue]:
    return _find_moments(writer, results[0], operand, dim, correction)


def _find_moments(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dimensions: Dimensions, correction: Number | None
) -> list[HloValue]:
    """The variance and the mean, of which the first takes the differences from the second."""
    if operand.dtype.is_complex:
        raise UnsupportedError(f"the variance of {operand.dtype}")
    places = normalize_dimensions(dimensions, len(operand.shape))
    dtype = torch.float32 if operand.dtype in _NARROW else operand.dtype
    value = writer.convert(operand, dtype)
    mean = _average(writer, result, value, places)
    kept = [1 if at in places else size for at, size in enumerate(operand.shape)]
    spread = writer.broadcast(writer.reshape(mean, kept), value.shape, range(len(kept)))
    difference = writer.map("subtract", value, spread)
    total = _combine(writer, result, writer.map("multiply", difference, difference), places, "add", 0)
    count = math.prod(operand.shape[at] for at in places) - (1 if correction is None else correction)
    divisor = writer.make_constant(max(count, 0), total.dtype, total.shape)
    variance = writer.map("divide", total, divisor)
    return [writer.convert(value, result.dtype) for value in (variance, mean)]


@lowers("prod.default", "prod.dim_int")
def lower_product(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: Dimensions = None, *_: object, **__: object
) -> HloValue:
    return _combine(writer, result, writer.convert(operand, result.dtype), dim, "multiply", 1)


@lowers("amax.default", "max.default")
def lower_maximum(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: Dimensions = None, *_: object
) -> HloValue:
    return _combine(writer, result, operand, dim, "maximum", find_bound(operand.dtype, largest=False))


@lowers("amin.default", "min.default")
def lower_minimum(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: Dimensions = None, *_: object
) -> HloValue:
    return _combine(writer, result, operand, dim, "minimum", find_bound(operand.dtype, largest=True))


@lowers("any.default", "any.dim", "any.dims")
def lower_any(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: Dimensions = None, *_: object
) -> HloValue:
    return writer.convert(_combine(writer, result, writer.convert(operand, torch.bool), dim, "or", False), result.dtype)


@lowers("all.default", "all.dim", "all.dims")
def lower_all(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: Dimensions = None, *_: object
) -> HloValue:
    return writer.convert(_combine(writer, result, writer.convert(operand, torch.bool), dim, "and", True), result.dtype)


def _find_extreme(writer: HloWriter, operand: HloValue, dimension: int, largest: bool) -> list[HloValue]:
    """The greatest or least elements along a dimension, and the indices of the first such ones. NaN is above and below all."""
    element, index = format_type((), operand.dtype), format_type((), torch.int64)
    direction = "GT" if largest else "LT"

    def compare(name: str, left: str, right: str, way: str, of: str) -> str:
        ways = f"<{{comparison_direction = #stablehlo<comparison_direction {way}>}}>"
        return f'      {name} = "stablehlo.compare"({left}, {right}) {ways} : ({of}, {of}) -> tensor<i1>'

    def join(name: str, operation: str, left: str, right: str) -> str:
        return f'      {name} = "stablehlo.{operation}"({left}, {right}) : (tensor<i1>, tensor<i1>) -> tensor<i1>'

    def choose(name: str, left: str, right: str, of: str) -> str:
        return f'      {name} = "stablehlo.select"(%take, {left}, {right}) : (tensor<i1>, {of}, {of}) -> {of}'

    lines = [
        f"    ^bb0(%a: {element}, %i: {index}, %b: {element}, %j: {index}):",
        compare("%better", "%a", "%b", direction, element),
        compare("%nan_a", "%a", "%a", "NE", element),
        compare("%nan_b", "%b", "%b", "NE", element),
        compare("%same", "%a", "%b", "EQ", element),
        compare("%before", "%i", "%j", "LT", index),
        join("%nans", "and", "%nan_a", "%nan_b"),
        join("%equal", "or", "%same", "%nans"),
        join("%first", "and", "%equal", "%before"),
        '      %number_b = "stablehlo.not"(%nan_b) : (tensor<i1>) -> tensor<i1>',
        join("%only_a", "and", "%nan_a", "%number_b"),
        join("%wins", "or", "%better", "%only_a"),
        join("%take", "or", "%wins", "%first"),
        choose("%c", "%a", "%b", element),
        choose("%k", "%i", "%j", index),
        f'      "stablehlo.return"(%c, %k) : ({element}, {index}) -> ()',
    ]
    kept = [size for at, size in enumerate(operand.shape) if at != dimension]
    operands = [
        operand,
        writer.make_iota(operand.shape, dimension),
        writer.make_constant(find_bound(operand.dtype, not largest), operand.dtype),
        writer.make_constant(torch.iinfo(torch.int64).max, torch.int64),
    ]
    results = [(kept, operand.dtype), (kept, torch.int64)]
    return writer.make_values("reduce", operands, results, f"dimensions = array<i64: {dimension}>", "\n".join(lines))


def _enter_extreme(name: str, largest: bool) -> None:
    @lowers(f"{name}.dim")
    def lower_pair(
        writer: HloWriter, results: Sequence[torch.Tensor], operand: HloValue, dim: int, keepdim: bool = False
    ) -> list[HloValue]:
        if not operand.shape:
            return [operand, writer.make_constant(0, torch.int64)]
        found = _find_extreme(writer, operand, normalize_dimension(dim, len(operand.shape)), largest)
        return [writer.reshape(value, tuple(result.shape)) for value, result in zip(found, results, strict=True)]

    @lowers(f"arg{name}.default")
    def lower_index(
        writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: int | None = None, keepdim: bool = False
    ) -> HloValue:
        if dim is None or not operand.shape:
            operand, dim = writer.reshape(operand, (math.prod(operand.shape),)), 0
        found = _find_extreme(writer, operand, normalize_dimension(dim, len(operand.shape)), largest)
        return writer.reshape(found[1], tuple(result.shape))


for _name, _largest in (("max", True), ("min", False)):
    _enter_extreme(_name, _largest)


def _enter_running(name: str, operation: str, start: int) -> None:
    @lowers(f"{name}.default")
    def lower(
        writer: HloWriter, result: torch.Tensor, operand: HloValue, dim: int, *_: object, **__: object
    ) -> HloValue:
        value = writer.convert(operand, result.dtype)
        if not value.shape or 0 in value.shape:
            return value
        rank, dimension = len(value.shape), normalize_dimension(dim, len(value.shape))
        size = value.shape[dimension]
        window, padding = [1] * rank, [[0, 0] for _ in range(rank)]
        window[dimension], padding[dimension] = size, [size - 1, 0]
        attributes = f"window_dimensions = {format_numbers(window)}, {format_padding(padding)}"
        operands = [value, writer.make_constant(start, value.dtype)]
        region = format_combiner(operation, value.dtype)
        return writer.make_value("reduce_window", operands, value.shape, value.dtype, attributes, region)


for _name, _operation, _start in (("cumsum", "add", 0), ("cumprod", "multiply", 1)):
    _enter_running(_name, _operation, _start)


def format_padding(padding: Sequence[Sequence[int]]) -> str:
    """The attribute with the elements before and after each dimension."""
    rows = ", ".join(f"[{before}, {after}]" for before, after in padding)
    return f"padding = dense<[{rows}]> : tensor<{len(padding)}x2xi64>"


def _sort(writer: HloWriter, operand: HloValue, dimension: int, descending: bool) -> list[HloValue]:
    """The elements along a dimension in order, and their indices before. NaN is above all; equal elements keep their order."""
    element = format_type((), operand.dtype)
    index = format_type((), torch.int64)
    # The one of the two that has to be NaN, where the other is a number.
    high, low = ("%a", "%b") if descending else ("%b", "%a")
    direction = "GT" if descending else "LT"

    def compare(name: str, left: str, right: str, way: str) -> str:
        ways = f"<{{comparison_direction = #stablehlo<comparison_direction {way}>}}>"
        return f'      {name} = "stablehlo.compare"({left}, {right}) {ways} : ({element}, {element}) -> tensor<i1>'

    pair = "(tensor<i1>, tensor<i1>) -> tensor<i1>"
    lines = [
        f"    ^bb0(%a: {element}, %b: {element}, %i: {index}, %j: {index}):",
        compare("%ordered", "%a", "%b", direction),
        compare("%nan", high, high, "NE"),
        compare("%number", low, low, "EQ"),
        f'      %last = "stablehlo.and"(%nan, %number) : {pair}',
        f'      %before = "stablehlo.or"(%ordered, %last) : {pair}',
        '      "stablehlo.return"(%before) : (tensor<i1>) -> ()',
    ]
    operands = [operand, writer.make_iota(operand.shape, dimension)]
    results = [(operand.shape, operand.dtype), (operand.shape, torch.int64)]
    attributes = f"dimension = {dimension} : i64, is_stable = true"
    return writer.make_values("sort", operands, results, attributes, "\n".join(lines))


@lowers("sort.default")
def lower_sort(
    writer: HloWriter, _: object, operand: HloValue, dim: int = -1, descending: bool = False
) -> list[HloValue]:
    if not operand.shape:
        return [operand, writer.make_constant(0, torch.int64)]
    return _sort(writer, operand, normalize_dimension(dim, len(operand.shape)), descending)


@lowers("sort.stable")
def lower_stable_sort(
    writer: HloWriter,
    results: object,
    operand: HloValue,
    *,
    stable: bool | None = None,
    dim: int = -1,
    descending: bool = False,
) -> list[HloValue]:
    return lower_sort(writer, results, operand, dim, descending)


@lowers("topk.default")
def lower_top_k(
    writer: HloWriter, _: object, operand: HloValue, k: int, dim: int = -1, largest: bool = True, *__: object
) -> list[HloValue]:
    if not operand.shape:
        raise UnsupportedError("topk of a number")
    dimension = normalize_dimension(dim, len(operand.shape))
    found = _sort(writer, operand, dimension, largest)
    return [writer.slice_dimension(value, dimension, 0, k) for value in found]
