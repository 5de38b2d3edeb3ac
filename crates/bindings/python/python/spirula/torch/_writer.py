"""A writer of StableHLO's text, in the generic form of MLIR."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import torch

Number = bool | int | float | complex

_ELEMENTS = {
    torch.bool: "i1",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.uint64: "ui64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e5m2: "f8E5M2",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}

# Floats that are no numbers, as bits, since MLIR has no words for them.
_SPECIAL = {
    torch.float16: ("0x7C00", "0xFC00", "0x7E00"),
    torch.bfloat16: ("0x7F80", "0xFF80", "0x7FC0"),
    torch.float32: ("0x7F800000", "0xFF800000", "0x7FC00000"),
    torch.float64: ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
}


class UnsupportedError(NotImplementedError):
    """An operation, or a form of one, that has no translation."""


@dataclasses.dataclass(frozen=True)
class HloValue:
    """A tensor of a program: its name, sizes and dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def type(self) -> str:
        """The type in MLIR's syntax."""
        return format_type(self.shape, self.dtype)


def format_type(shape: Sequence[int], dtype: torch.dtype) -> str:
    """The type of a tensor in MLIR's syntax.

    Raises UnsupportedError for a dtype that StableHLO lacks.
    """
    if dtype not in _ELEMENTS:
        raise UnsupportedError(f"tensors of {dtype}")
    return f"tensor<{''.join(f'{size}x' for size in shape)}{_ELEMENTS[dtype]}>"


def format_numbers(numbers: Sequence[int]) -> str:
    """An attribute with integers of 64 bits."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def format_number(value: Number, dtype: torch.dtype) -> str:
    """A number as an element of a dtype."""
    if dtype == torch.bool:
        return "true" if value else "false"
    if dtype.is_complex:
        part = torch.float32 if dtype == torch.complex64 else torch.float64
        value = complex(value)
        return f"({format_number(value.real, part)}, {format_number(value.imag, part)})"
    if not dtype.is_floating_point:
        return str(int(value))
    value = float(value)
    if dtype in (torch.float32, torch.float16, torch.bfloat16) and math.isfinite(value):
        value = torch.tensor(value, dtype=torch.float64).to(dtype).item()
    if math.isfinite(value):
        return f"{value:.17e}"
    if dtype not in _SPECIAL:
        raise UnsupportedError(f"{value} as a number of {dtype}")
    infinity, negative, nan = _SPECIAL[dtype]
    return nan if math.isnan(value) else infinity if value > 0 else negative


class HloWriter:
    """Writes the operations of a function, each with its operands, attributes and types."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0
        self._constants: dict[tuple, HloValue] = {}

    def finish(self, parameters: Sequence[tuple[HloValue, str]], results: Sequence[HloValue]) -> str:
        """The module with its one function. A parameter has a name of the source."""
        heads = [f"{value.name}: {value.type} loc({_quote(name)})" for value, name in parameters]
        types = ", ".join(value.type for value in results)
        names = ", ".join(value.name for value in results)
        body = "\n".join(f"    {line}" for line in self._lines)
        end = f"    func.return {names} : {types}" if results else "    func.return"
        heads = ",\n    ".join(heads)
        return f"module {{\n  func.func @main(\n    {heads}) -> ({types}) {{\n{body}\n{end}\n  }}\n}}\n"

    def make_values(
        self,
        operation: str,
        operands: Sequence[HloValue],
        results: Sequence[tuple[Sequence[int], torch.dtype]],
        attributes: str = "",
        region: str = "",
    ) -> list[HloValue]:
        """The results of an operation, whose sizes and dtypes are given."""
        name = f"%{self._count}"
        self._count += 1
        names = [name] if len(results) == 1 else [f"{name}#{at}" for at in range(len(results))]
        values = [HloValue(n, tuple(shape), dtype) for n, (shape, dtype) in zip(names, results, strict=True)]
        given = ", ".join(value.name for value in operands)
        types = ", ".join(value.type for value in operands)
        made = ", ".join(value.type for value in values)
        bound = name if len(results) == 1 else f"{name}:{len(results)}"
        properties = f" <{{{attributes}}}>" if attributes else ""
        regions = f" ({{\n{region}\n    }})" if region else ""
        dialect = "" if operation.startswith("chlo.") else "stablehlo."
        self._lines.append(
            f'{bound} = "{dialect}{operation}"({given}){properties}{regions} : ({types}) -> ({made})'
        )
        return values

    def make_value(
        self,
        operation: str,
        operands: Sequence[HloValue],
        shape: Sequence[int],
        dtype: torch.dtype,
        attributes: str = "",
        region: str = "",
    ) -> HloValue:
        """The result of an operation that has one."""
        return self.make_values(operation, operands, [(shape, dtype)], attributes, region)[0]

    def map(self, operation: str, *operands: HloValue) -> HloValue:
        """An operation on elements, whose result is like its first operand."""
        first = operands[0]
        return self.make_value(operation, operands, first.shape, first.dtype)

    def make_constant(self, value: Number, dtype: torch.dtype, shape: Sequence[int] = ()) -> HloValue:
        """A tensor all of whose elements are a number."""
        text = format_number(value, dtype)
        key = (text, dtype, tuple(shape))
        if key not in self._constants:
            attributes = f"value = dense<{text}> : {format_type(shape, dtype)}"
            self._constants[key] = self.make_value("constant", [], shape, dtype, attributes)
        return self._constants[key]

    def make_iota(self, shape: Sequence[int], dimension: int, dtype: torch.dtype = torch.int64) -> HloValue:
        """The index of each element along a dimension."""
        return self.make_value("iota", [], shape, dtype, f"iota_dimension = {dimension} : i64")

    def convert(self, value: HloValue, dtype: torch.dtype) -> HloValue:
        """The same numbers in another dtype. What is not zero is true; floats lose their fraction."""
        if value.dtype == dtype:
            return value
        if dtype == torch.bool:
            return self.compare(value, self.make_constant(0, value.dtype, value.shape), "NE")
        if value.dtype.is_complex and not dtype.is_complex:
            value = self.take_part(value, "real")
        return value if value.dtype == dtype else self.make_value("convert", [value], value.shape, dtype)

    def take_part(self, value: HloValue, part: str) -> HloValue:
        """The real or the imaginary part of complex numbers."""
        dtype = torch.float32 if value.dtype == torch.complex64 else torch.float64
        return self.make_value(part, [value], value.shape, dtype)

    def compare(self, left: HloValue, right: HloValue, direction: str) -> HloValue:
        """A comparison of elements: `EQ`, `NE`, `LT`, `LE`, `GT` or `GE`."""
        attributes = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        return self.make_value("compare", [left, right], left.shape, torch.bool, attributes)

    def select(self, condition: HloValue, then: HloValue, otherwise: HloValue) -> HloValue:
        """The element of one of two tensors."""
        return self.make_value("select", [condition, then, otherwise], then.shape, then.dtype)

    def reshape(self, value: HloValue, shape: Sequence[int]) -> HloValue:
        """The same elements in other sizes."""
        if value.shape == tuple(shape):
            return value
        return self.make_value("reshape", [value], shape, value.dtype)

    def transpose(self, value: HloValue, order: Sequence[int]) -> HloValue:
        """The dimensions in another order."""
        if list(order) == list(range(len(order))):
            return value
        shape = [value.shape[dimension] for dimension in order]
        attributes = f"permutation = {format_numbers(order)}"
        return self.make_value("transpose", [value], shape, value.dtype, attributes)

    def broadcast(
        self, value: HloValue, shape: Sequence[int], dimensions: Sequence[int] | None = None
    ) -> HloValue:
        """Repeats elements. The dimensions of the value are the last ones, or those that are given."""
        if value.shape == tuple(shape) and dimensions is None:
            return value
        if dimensions is None:
            dimensions = range(len(shape) - len(value.shape), len(shape))
        attributes = f"broadcast_dimensions = {format_numbers(list(dimensions))}"
        return self.make_value("broadcast_in_dim", [value], shape, value.dtype, attributes)

    def slice(
        self, value: HloValue, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]
    ) -> HloValue:
        """A part of each dimension."""
        triples = list(zip(starts, limits, strides, strict=True))
        shape = [max(0, -(-(limit - start) // stride)) for start, limit, stride in triples]
        if value.shape == tuple(shape):
            return value
        attributes = (
            f"start_indices = {format_numbers(starts)}, limit_indices = {format_numbers(limits)}, "
            f"strides = {format_numbers(strides)}"
        )
        return self.make_value("slice", [value], shape, value.dtype, attributes)

    def slice_dimension(
        self, value: HloValue, dimension: int, start: int, limit: int, stride: int = 1
    ) -> HloValue:
        """A part of one dimension."""
        starts, limits, strides = [0] * len(value.shape), list(value.shape), [1] * len(value.shape)
        starts[dimension], limits[dimension], strides[dimension] = start, limit, stride
        return self.slice(value, starts, limits, strides)

    def pad(
        self,
        value: HloValue,
        fill: HloValue,
        low: Sequence[int],
        high: Sequence[int],
        inside: Sequence[int] | None = None,
    ) -> HloValue:
        """Adds elements before, after and between those of each dimension. Negative numbers remove elements."""
        inside = inside or [0] * len(value.shape)
        sizes = zip(value.shape, low, high, inside, strict=True)
        shape = [before + size + max(size - 1, 0) * between + after for size, before, after, between in sizes]
        attributes = (
            f"edge_padding_low = {format_numbers(low)}, edge_padding_high = {format_numbers(high)}, "
            f"interior_padding = {format_numbers(inside)}"
        )
        return self.make_value("pad", [value, fill], shape, value.dtype, attributes)

    def concatenate(self, values: Sequence[HloValue], dimension: int) -> HloValue:
        """Tensors one after the other along a dimension."""
        if len(values) == 1:
            return values[0]
        shape = list(values[0].shape)
        shape[dimension] = sum(value.shape[dimension] for value in values)
        return self.make_value("concatenate", values, shape, values[0].dtype, f"dimension = {dimension} : i64")

    def reduce(self, value: HloValue, dimensions: Sequence[int], operation: str, start: Number) -> HloValue:
        """Combines the elements along dimensions, which the result lacks."""
        kept = [size for at, size in enumerate(value.shape) if at not in dimensions]
        first = self.make_constant(start, value.dtype)
        attributes = f"dimensions = {format_numbers(sorted(dimensions))}"
        region = format_combiner(operation, value.dtype)
        return self.make_value("reduce", [value, first], kept, value.dtype, attributes, region)


def format_combiner(operation: str, dtype: torch.dtype) -> str:
    """The region that combines two elements by an operation."""
    element = format_type((), dtype)
    return (
        f"    ^bb0(%a: {element}, %b: {element}):\n"
        f'      %c = "stablehlo.{operation}"(%a, %b) : ({element}, {element}) -> {element}\n'
        f'      "stablehlo.return"(%c) : ({element}) -> ()'
    )


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
