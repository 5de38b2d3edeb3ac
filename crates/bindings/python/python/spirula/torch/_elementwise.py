"""Operations that compute each element from one element of each operand."""

from __future__ import annotations

import math

import torch

from spirula.torch._table import lowers
from spirula.torch._writer import HloValue, HloWriter, Number, UnsupportedError

Operand = HloValue | Number


def align_operands(
    writer: HloWriter, shape: tuple[int, ...], dtype: torch.dtype, *operands: Operand
) -> list[HloValue]:
    """Operands with one dtype and the sizes of the result."""
    aligned = []
    for operand in operands:
        if isinstance(operand, HloValue):
            aligned.append(writer.broadcast(writer.convert(operand, dtype), shape))
        else:
            aligned.append(writer.make_constant(operand, dtype, shape))
    return aligned


def promote_operands(*operands: Operand) -> torch.dtype:
    """The dtype in which PyTorch computes with operands."""
    stand_ins = [
        torch.empty(operand.shape, dtype=operand.dtype, device="meta") if isinstance(operand, HloValue) else operand
        for operand in operands
    ]
    if len(stand_ins) == 1:
        return stand_ins[0].dtype
    return torch.result_type(*stand_ins)


_UNARY = {
    "abs": "abs",
    "acos": "chlo.acos",
    "acosh": "chlo.acosh",
    "asin": "chlo.asin",
    "asinh": "chlo.asinh",
    "atan": "chlo.atan",
    "atanh": "chlo.atanh",
    "ceil": "ceil",
    "_conj": "chlo.conj",
    "_conj_physical": "chlo.conj",
    "conj_physical": "chlo.conj",
    "cos": "cosine",
    "cosh": "chlo.cosh",
    "erf": "chlo.erf",
    "erfc": "chlo.erfc",
    "erfinv": "chlo.erf_inv",
    "exp": "exponential",
    "expm1": "exponential_minus_one",
    "floor": "floor",
    "lgamma": "chlo.lgamma",
    "log": "log",
    "log1p": "log_plus_one",
    "neg": "negate",
    "round": "round_nearest_even",
    "rsqrt": "rsqrt",
    "sgn": "sign",
    "sigmoid": "logistic",
    "sign": "sign",
    "sin": "sine",
    "sinh": "chlo.sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
}

# Functions that leave integers as they are.
_ROUNDING = {"ceil", "floor", "round_nearest_even"}


def _enter_unary(name: str, operation: str) -> None:
    @lowers(f"{name}.default")
    def lower(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
        dtype = result.dtype
        if operation == "abs" and operand.dtype.is_complex:
            return writer.make_value("abs", [operand], operand.shape, result.dtype)
        value = writer.convert(operand, dtype)
        is_integral = not (dtype.is_floating_point or dtype.is_complex)
        if is_integral and (operation in _ROUNDING or dtype == torch.bool):
            return value
        if operation in ("abs", "sign") and dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
            return value if operation == "abs" else writer.convert(writer.convert(value, torch.bool), dtype)
        return writer.map(operation, value)


for _name, _operation in _UNARY.items():
    _enter_unary(_name, _operation)


@lowers("log2.default")
def lower_log2(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
    return _scale_logarithm(writer, result, operand, 1 / math.log(2))


@lowers("log10.default")
def lower_log10(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
    return _scale_logarithm(writer, result, operand, 1 / math.log(10))


def _scale_logarithm(writer: HloWriter, result: torch.Tensor, operand: HloValue, factor: float) -> HloValue:
    value = writer.map("log", writer.convert(operand, result.dtype))
    return writer.map("multiply", value, writer.make_constant(factor, value.dtype, value.shape))


@lowers("digamma.default")
def lower_digamma(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
    value = writer.convert(operand, result.dtype)
    zero = writer.make_constant(0, value.dtype, value.shape)
    # At zero PyTorch has the infinity of the limit, with the sign opposite to the argument's.
    pole = writer.map("divide", writer.make_constant(-1, value.dtype, value.shape), value)
    return writer.select(writer.compare(value, zero, "EQ"), pole, writer.map("chlo.digamma", value))


@lowers("exp2.default")
def lower_exp2(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
    base, value = align_operands(writer, operand.shape, result.dtype, 2.0, operand)
    return writer.map("power", base, value)


@lowers("reciprocal.default")
def lower_reciprocal(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
    one, value = align_operands(writer, operand.shape, result.dtype, 1.0, operand)
    return writer.map("divide", one, value)


@lowers("relu.default")
def lower_relu(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return writer.map("maximum", operand, writer.make_constant(0, operand.dtype, operand.shape))


@lowers("trunc.default")
def lower_truncation(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return _truncate(writer, operand)


def _truncate(writer: HloWriter, value: HloValue) -> HloValue:
    if not value.dtype.is_floating_point:
        return value
    zero = writer.make_constant(0, value.dtype, value.shape)
    negative = writer.compare(value, zero, "LT")
    return writer.select(negative, writer.map("ceil", value), writer.map("floor", value))


@lowers("isnan.default")
def lower_isnan(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return writer.compare(operand, operand, "NE")


@lowers("isinf.default")
def lower_isinf(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    if not operand.dtype.is_floating_point:
        return writer.make_constant(False, torch.bool, operand.shape)
    infinity = writer.make_constant(math.inf, operand.dtype, operand.shape)
    return writer.compare(writer.map("abs", operand), infinity, "EQ")


@lowers("isfinite.default")
def lower_isfinite(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    if not operand.dtype.is_floating_point:
        return writer.make_constant(True, torch.bool, operand.shape)
    return writer.make_value("is_finite", [operand], operand.shape, torch.bool)


@lowers("logical_not.default")
def lower_logical_not(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return writer.map("not", writer.convert(operand, torch.bool))


@lowers("bitwise_not.default")
def lower_bitwise_not(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return writer.map("not", operand)


_BINARY = {
    "atan2.default": "atan2",
    "bitwise_and.Tensor": "and",
    "bitwise_and.Scalar": "and",
    "bitwise_or.Tensor": "or",
    "bitwise_or.Scalar": "or",
    "bitwise_xor.Tensor": "xor",
    "bitwise_xor.Scalar": "xor",
    "bitwise_left_shift.Tensor": "shift_left",
    "div.Tensor": "divide",
    "div.Scalar": "divide",
    "maximum.default": "maximum",
    "minimum.default": "minimum",
    "mul.Tensor": "multiply",
    "mul.Scalar": "multiply",
    "nextafter.default": "chlo.next_after",
    "pow.Scalar": "power",
    "pow.Tensor_Tensor": "power",
    "true_divide.Tensor": "divide",
}


def _enter_binary(name: str, operation: str) -> None:
    @lowers(name)
    def lower(writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand) -> HloValue:
        operands = align_operands(writer, tuple(result.shape), result.dtype, left, right)
        if result.dtype == torch.bool and operation == "multiply":
            return writer.map("and", *operands)
        return writer.map(operation, *operands)


for _name, _operation in _BINARY.items():
    _enter_binary(_name, _operation)


@lowers("bitwise_right_shift.Tensor")
def lower_right_shift(writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand) -> HloValue:
    operands = align_operands(writer, tuple(result.shape), result.dtype, left, right)
    is_signed = result.dtype.is_signed
    return writer.map("shift_right_arithmetic" if is_signed else "shift_right_logical", *operands)


@lowers("pow.Tensor_Scalar")
def lower_power(writer: HloWriter, result: torch.Tensor, base: HloValue, exponent: Number) -> HloValue:
    value = writer.convert(base, result.dtype)
    if exponent == 2:
        return writer.map("multiply", value, value)
    if exponent == 3:
        return writer.map("multiply", writer.map("multiply", value, value), value)
    if exponent == 0.5:
        return writer.map("sqrt", value)
    if exponent == -0.5:
        return writer.map("rsqrt", value)
    return writer.map("power", value, writer.make_constant(exponent, value.dtype, value.shape))


@lowers("add.Tensor", "add.Scalar")
def lower_sum(
    writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand, alpha: Number = 1
) -> HloValue:
    return _add_scaled(writer, result, left, right, alpha, "or" if result.dtype == torch.bool else "add")


@lowers("sub.Tensor", "sub.Scalar")
def lower_difference(
    writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand, alpha: Number = 1
) -> HloValue:
    return _add_scaled(writer, result, left, right, alpha, "subtract")


@lowers("rsub.Tensor", "rsub.Scalar")
def lower_reverse_difference(
    writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand, alpha: Number = 1
) -> HloValue:
    return _add_scaled(writer, result, right, left, alpha, "subtract")


def _add_scaled(
    writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand, alpha: Number, operation: str
) -> HloValue:
    shape, dtype = tuple(result.shape), result.dtype
    first, second = align_operands(writer, shape, dtype, left, right)
    if alpha != 1:
        second = writer.map("multiply", second, writer.make_constant(alpha, dtype, shape))
    return writer.map(operation, first, second)


@lowers("div.Tensor_mode", "div.Scalar_mode")
def lower_division(
    writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand, rounding_mode: str | None = None
) -> HloValue:
    first, second = align_operands(writer, tuple(result.shape), result.dtype, left, right)
    if rounding_mode == "floor":
        return _divide_to_floor(writer, first, second)
    quotient = writer.map("divide", first, second)
    return quotient if rounding_mode is None else _truncate(writer, quotient)


@lowers("floor_divide.default")
def lower_floor_division(writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand) -> HloValue:
    return _divide_to_floor(writer, *align_operands(writer, tuple(result.shape), result.dtype, left, right))


def _divide_to_floor(writer: HloWriter, first: HloValue, second: HloValue) -> HloValue:
    """The greatest integers that are no greater than the quotients."""
    remainder = _find_remainder(writer, first, second)
    quotient = writer.map("divide", writer.map("subtract", first, remainder), second)
    if not first.dtype.is_floating_point:
        return quotient
    # The difference is a multiple of the divisor up to rounding. A quotient of zero keeps its sign.
    plain = writer.map("divide", first, second)
    zero = writer.make_constant(0, first.dtype, first.shape)
    whole = writer.map("round_nearest_even", quotient)
    whole = writer.select(writer.compare(whole, zero, "EQ"), writer.map("multiply", plain, zero), whole)
    return writer.select(writer.compare(second, zero, "EQ"), plain, whole)


@lowers("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def lower_remainder(writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand) -> HloValue:
    return _find_remainder(writer, *align_operands(writer, tuple(result.shape), result.dtype, left, right))


def _find_remainder(writer: HloWriter, first: HloValue, second: HloValue) -> HloValue:
    """The remainder with the sign of the divisor."""
    remainder = writer.map("remainder", first, second)
    if not (first.dtype.is_floating_point or first.dtype.is_signed):
        return remainder
    zero = writer.make_constant(0, first.dtype, first.shape)
    differ = writer.compare(writer.compare(remainder, zero, "LT"), writer.compare(second, zero, "LT"), "NE")
    inexact = writer.compare(remainder, zero, "NE")
    moved = writer.map("add", remainder, second)
    return writer.select(writer.map("and", differ, inexact), moved, remainder)


@lowers("fmod.Tensor", "fmod.Scalar")
def lower_fmod(writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand) -> HloValue:
    return writer.map("remainder", *align_operands(writer, tuple(result.shape), result.dtype, left, right))


_COMPARISONS = {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}


def _enter_comparison(name: str, direction: str) -> None:
    @lowers(f"{name}.Tensor", f"{name}.Scalar")
    def lower(writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand) -> HloValue:
        dtype = promote_operands(left, right)
        return writer.compare(*align_operands(writer, tuple(result.shape), dtype, left, right), direction)


for _name, _direction in _COMPARISONS.items():
    _enter_comparison(_name, _direction)


def _enter_logical(name: str, operation: str) -> None:
    @lowers(f"{name}.default")
    def lower(writer: HloWriter, result: torch.Tensor, left: HloValue, right: HloValue) -> HloValue:
        operands = [writer.convert(operand, torch.bool) for operand in (left, right)]
        return writer.map(operation, *align_operands(writer, tuple(result.shape), torch.bool, *operands))


for _name in ("and", "or", "xor"):
    _enter_logical(f"logical_{_name}", _name)


@lowers("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def lower_where(
    writer: HloWriter, result: torch.Tensor, condition: HloValue, then: Operand, otherwise: Operand
) -> HloValue:
    shape = tuple(result.shape)
    values = align_operands(writer, shape, result.dtype, then, otherwise)
    (chosen,) = align_operands(writer, shape, torch.bool, condition)
    return writer.select(chosen, *values)


@lowers("clamp.default", "clamp.Tensor")
def lower_clamp(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    low: Operand | None = None,
    high: Operand | None = None,
) -> HloValue:
    shape, dtype = tuple(result.shape), result.dtype
    (value,) = align_operands(writer, shape, dtype, operand)
    for bound, operation in ((low, "maximum"), (high, "minimum")):
        if bound is not None:
            value = writer.map(operation, value, *align_operands(writer, shape, dtype, bound))
    return value


@lowers("copysign.Tensor")
def lower_copysign(writer: HloWriter, result: torch.Tensor, left: Operand, right: Operand) -> HloValue:
    size, sign = align_operands(writer, tuple(result.shape), result.dtype, left, right)
    size = writer.map("abs", size)
    return writer.select(_find_sign(writer, sign), writer.map("negate", size), size)


@lowers("signbit.default")
def lower_signbit(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
    if not operand.dtype.is_floating_point:
        return writer.compare(operand, writer.make_constant(0, operand.dtype, operand.shape), "LT")
    return _find_sign(writer, operand)


# Integers of the width of floats.
_WORDS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def _find_sign(writer: HloWriter, value: HloValue) -> HloValue:
    """Whether the sign bits of floats are set, as they are of negative zero."""
    if value.dtype not in _WORDS:
        raise UnsupportedError(f"the sign of {value.dtype}")
    word = _WORDS[value.dtype]
    bits = writer.make_value("bitcast_convert", [value], value.shape, word)
    return writer.compare(bits, writer.make_constant(0, word, value.shape), "LT")


@lowers("complex.default")
def lower_complex(writer: HloWriter, result: torch.Tensor, real: HloValue, imaginary: HloValue) -> HloValue:
    parts = [writer.broadcast(part, tuple(result.shape)) for part in (real, imaginary)]
    return writer.make_value("complex", parts, tuple(result.shape), result.dtype)


@lowers("real.default")
def lower_real(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return writer.take_part(operand, "real") if operand.dtype.is_complex else operand


@lowers("imag.default")
def lower_imaginary(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return writer.take_part(operand, "imag")


@lowers("view_as_real.default")
def lower_view_as_real(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    parts = [writer.take_part(operand, part) for part in ("real", "imag")]
    columns = [writer.reshape(part, (*operand.shape, 1)) for part in parts]
    return writer.concatenate(columns, len(operand.shape))


@lowers("view_as_complex.default")
def lower_view_as_complex(writer: HloWriter, result: torch.Tensor, operand: HloValue) -> HloValue:
    last = len(operand.shape) - 1
    parts = [writer.slice_dimension(operand, last, at, at + 1) for at in range(2)]
    parts = [writer.reshape(part, operand.shape[:-1]) for part in parts]
    return writer.make_value("complex", parts, operand.shape[:-1], result.dtype)


@lowers(
    "_to_copy.default",
    "clone.default",
    "alias.default",
    "detach.default",
    "lift_fresh_copy.default",
    "resolve_conj.default",
    "resolve_neg.default",
    "contiguous.default",
    "prims::convert_element_type.default",
)
def lower_copy(writer: HloWriter, result: torch.Tensor, operand: HloValue, *_: object, **__: object) -> HloValue:
    return writer.convert(operand, result.dtype)


@lowers("copy.default")
def lower_copy_into(writer: HloWriter, result: torch.Tensor, _: HloValue, source: HloValue, *__: object) -> HloValue:
    return align_operands(writer, tuple(result.shape), result.dtype, source)[0]


@lowers("view.dtype")
def lower_view_of_bits(writer: HloWriter, result: torch.Tensor, operand: HloValue, _: torch.dtype) -> HloValue:
    if result.dtype.itemsize != operand.dtype.itemsize or torch.bool in (result.dtype, operand.dtype):
        raise UnsupportedError(f"a view of {operand.dtype} as {result.dtype}")
    return writer.make_value("bitcast_convert", [operand], operand.shape, result.dtype)
