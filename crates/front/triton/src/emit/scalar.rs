//! Emission of scalar operations: of scalars, and of single elements of tensors.

use super::convert::{computed_format, convert_format, narrow, widen};
use super::external::find_external;
use super::llvm_text::LlvmText;
use super::operators::{ScalarRule, find_rule};
use super::types::{storage_type, value_type};
use crate::ir::{FloatFormat, TileElement, TileOperation};

/// A use of a scalar operation: the types and values of its operands, and the type of its result.
pub(crate) struct ScalarUse<'a> {
    pub operation: &'a TileOperation,
    pub operands: &'a [(TileElement, String)],
    /// Which result is computed.
    pub number: usize,
    pub result: &'a TileElement,
}

/// Whether an operation computes each element of its results from one element of each operand.
pub(crate) fn is_scalar_operation(name: &str) -> bool {
    find_rule(name).is_some()
}

/// The cost of an operation for each element, in additions.
pub(crate) fn operation_cost(name: &str) -> u32 {
    find_rule(name).map_or(1, |row| row.2)
}

/// Emits a scalar operation, and returns its value.
///
/// # Errors
/// The reason why it is not supported.
pub(crate) fn emit_scalar(text: &mut LlvmText, scalar: &ScalarUse<'_>) -> Result<String, String> {
    let name = scalar.operation.name.as_str();
    let Some((_, rule, _)) = find_rule(name) else {
        return Err(format!("{name} is not supported"));
    };
    let operands = scalar.operands;
    let first = || {
        operands
            .first()
            .ok_or_else(|| format!("{name} needs an operand"))
    };
    let pair = || match operands {
        [(ty, a), (_, b), ..] => Ok((ty, a.as_str(), b.as_str())),
        _ => Err(format!("{name} needs two operands")),
    };
    match *rule {
        ScalarRule::Integer(instruction) => {
            let (ty, a, b) = pair()?;
            Ok(text.compute(format!("{instruction} {} {a}, {b}", value_type(ty))))
        }
        ScalarRule::Choose(predicate) => {
            let (ty, a, b) = pair()?;
            let ty = value_type(ty);
            let holds = text.compute(format!("icmp {predicate} {ty} {a}, {b}"));
            Ok(text.compute(format!("select i1 {holds}, {ty} {a}, {ty} {b}")))
        }
        ScalarRule::Float(instruction) => {
            let (format, values) = widen_all(text, scalar)?;
            let [a, b, ..] = values.as_slice() else {
                return Err(format!("{name} needs two operands"));
            };
            let ty = computed_type(format);
            let value = text.compute(format!("{instruction} {ty} {a}, {b}"));
            Ok(narrow(text, &value, format))
        }
        ScalarRule::Function(function) => emit_function(text, scalar, function, false),
        ScalarRule::Propagating(function) => emit_function(text, scalar, function, true),
        ScalarRule::Resize(instruction) => {
            let (ty, value) = first()?;
            Ok(emit_resize(text, ty, value, scalar.result, instruction))
        }
        ScalarRule::Reformat => emit_reformat(text, scalar, first()?),
        ScalarRule::FromInteger(instruction) => {
            let (ty, value) = first()?;
            let format = float_format(scalar.result)?;
            let wide = computed_type(format);
            let value = text.compute(format!(
                "{instruction} {} {value} to {wide}",
                value_type(ty)
            ));
            Ok(narrow(text, &value, format))
        }
        ScalarRule::ToInteger(instruction) => {
            let (ty, value) = first()?;
            let format = float_format(ty)?;
            let wide = widen(text, value, format);
            let (source, target) = (computed_type(format), value_type(scalar.result));
            Ok(text.compute(format!("{instruction} {source} {wide} to {target}")))
        }
        ScalarRule::Special => emit_special(text, scalar),
    }
}

/// The format of a floating-point type.
fn float_format(ty: &TileElement) -> Result<FloatFormat, String> {
    match ty {
        TileElement::Float(format) => Ok(*format),
        _ => Err(format!("{ty} is no floating-point type")),
    }
}

/// The type in which numbers of a format are computed.
fn computed_type(format: FloatFormat) -> String {
    value_type(&TileElement::Float(computed_format(format)))
}

/// The operands in the format in which they are computed, and their format.
fn widen_all(
    text: &mut LlvmText,
    scalar: &ScalarUse<'_>,
) -> Result<(FloatFormat, Vec<String>), String> {
    let Some((ty, _)) = scalar.operands.first() else {
        return Err(format!("{} needs an operand", scalar.operation.name));
    };
    let format = float_format(ty)?;
    let operands = scalar.operands.iter();
    let values = operands.map(|(_, value)| widen(text, value, format));
    Ok((format, values.collect()))
}

/// Emits the call of a function of OpenCL. On request the result is a NaN where an operand is.
fn emit_function(
    text: &mut LlvmText,
    scalar: &ScalarUse<'_>,
    function: &str,
    is_propagating: bool,
) -> Result<String, String> {
    let (format, values) = widen_all(text, scalar)?;
    let ty = computed_type(format);
    let mut value = call_function(text, function, format, &values);
    if is_propagating {
        for operand in &values {
            let is_nan = text.compute(format!("fcmp uno {ty} {operand}, {operand}"));
            value = text.compute(format!("select i1 {is_nan}, {ty} {operand}, {ty} {value}"));
        }
    }
    Ok(narrow(text, &value, format))
}

/// Calls a function of OpenCL for numbers of a format, by its name in the encoding of C++.
fn call_function(
    text: &mut LlvmText,
    function: &str,
    format: FloatFormat,
    values: &[String],
) -> String {
    let ty = computed_type(format);
    let letter = match computed_format(format) {
        FloatFormat::Double => "d",
        FloatFormat::Half => "Dh",
        _ => "f",
    };
    let name = format!(
        "_Z{}{function}{}",
        function.len(),
        letter.repeat(values.len())
    );
    let arguments: Vec<(&str, &str)> = values.iter().map(|v| (ty.as_str(), v.as_str())).collect();
    text.call(&ty, &name, &arguments)
}

/// Emits a conversion between integers. Those of the same width need none.
fn emit_resize(
    text: &mut LlvmText,
    from: &TileElement,
    value: &str,
    to: &TileElement,
    instruction: &str,
) -> String {
    if from == to {
        return value.to_owned();
    }
    let instruction = if to.bits() < from.bits() {
        "trunc"
    } else {
        instruction
    };
    text.compute(format!(
        "{instruction} {} {value} to {}",
        value_type(from),
        value_type(to)
    ))
}

/// Emits a conversion between floating-point formats.
fn emit_reformat(
    text: &mut LlvmText,
    scalar: &ScalarUse<'_>,
    operand: &(TileElement, String),
) -> Result<String, String> {
    let (from, to) = (float_format(&operand.0)?, float_format(scalar.result)?);
    let rounding = scalar.operation.word("rounding").unwrap_or("rtne");
    let is_nearest = match rounding {
        "rtne" | "to_nearest_even" => true,
        "rtz" | "toward_zero" => false,
        other => return Err(format!("rounding {other} is not supported")),
    };
    Ok(convert_format(text, &operand.1, from, to, is_nearest))
}

/// Emits an operation that has no row of its own kind.
fn emit_special(text: &mut LlvmText, scalar: &ScalarUse<'_>) -> Result<String, String> {
    let name = scalar.operation.name.as_str();
    let operands = scalar.operands;
    match (name, operands) {
        ("ub.poison", _) => Ok(zero_of(scalar.result)),
        ("arith.cmpi" | "arith.cmpf", [(ty, a), (_, b)]) => emit_comparison(text, scalar, ty, a, b),
        ("arith.select", [(_, condition), (ty, a), (_, b)]) => {
            let ty = value_type(ty);
            Ok(text.compute(format!("select i1 {condition}, {ty} {a}, {ty} {b}")))
        }
        ("arith.negf", [(ty, _)]) => {
            let format = float_format(ty)?;
            let (_, values) = widen_all(text, scalar)?;
            let value = text.compute(format!("fneg {} {}", computed_type(format), values[0]));
            Ok(narrow(text, &value, format))
        }
        ("math.absi", [(ty, value)]) => {
            let ty = value_type(ty);
            let negated = text.compute(format!("sub {ty} 0, {value}"));
            let is_negative = text.compute(format!("icmp slt {ty} {value}, 0"));
            Ok(text.compute(format!(
                "select i1 {is_negative}, {ty} {negated}, {ty} {value}"
            )))
        }
        ("tt.addptr", [(TileElement::Pointer(pointee), pointer), (ty, offset)]) => {
            let (element, ty) = (storage_type(pointee), value_type(ty));
            let address =
                format!("getelementptr {element}, ptr addrspace(1) {pointer}, {ty} {offset}");
            Ok(text.compute(address))
        }
        ("arith.bitcast" | "tt.bitcast" | "tt.int_to_ptr" | "tt.ptr_to_int", [(ty, value)]) => {
            Ok(emit_bitcast(text, ty, value, scalar.result))
        }
        ("tt.mulhiui", [(ty, a), (_, b)]) => Ok(emit_wide_product(text, ty, a, b, "zext", true)),
        ("arith.mulsi_extended" | "arith.mului_extended", [(ty, a), (_, b)]) => {
            let extension = if name.contains("si") { "sext" } else { "zext" };
            Ok(emit_wide_product(
                text,
                ty,
                a,
                b,
                extension,
                scalar.number == 1,
            ))
        }
        ("tt.clampf", [_, _, _]) => emit_clamp(text, scalar),
        ("tt.extern_elementwise", _) => emit_external(text, scalar),
        _ => Err(format!("{name} is not supported with these operands")),
    }
}

/// The zero of a type.
fn zero_of(ty: &TileElement) -> String {
    let zero = match ty {
        TileElement::Pointer(_) => "null",
        TileElement::Integer(1) => "false",
        TileElement::Float(format) if format.is_native() => "0.0",
        _ => "0",
    };
    zero.to_owned()
}

/// Emits a comparison. Those of floating-point numbers have the predicates of LLVM IR.
fn emit_comparison(
    text: &mut LlvmText,
    scalar: &ScalarUse<'_>,
    ty: &TileElement,
    a: &str,
    b: &str,
) -> Result<String, String> {
    let predicate = scalar
        .operation
        .word_at(0)
        .ok_or("a comparison needs a predicate")?;
    if let TileElement::Float(format) = ty {
        let (_, values) = widen_all(text, scalar)?;
        let ty = computed_type(*format);
        let (a, b) = (&values[0], &values[1]);
        return Ok(text.compute(format!("fcmp {predicate} {ty} {a}, {b}")));
    }
    Ok(text.compute(format!("icmp {predicate} {} {a}, {b}", value_type(ty))))
}

/// Emits a conversion that keeps the bits.
fn emit_bitcast(text: &mut LlvmText, from: &TileElement, value: &str, to: &TileElement) -> String {
    let (source, target) = (value_type(from), value_type(to));
    if source == target {
        return value.to_owned();
    }
    let instruction = match (from, to) {
        (TileElement::Pointer(_), _) => "ptrtoint",
        (_, TileElement::Pointer(_)) => "inttoptr",
        _ => "bitcast",
    };
    text.compute(format!("{instruction} {source} {value} to {target}"))
}

/// Emits the low or the high half of a product of twice the width.
fn emit_wide_product(
    text: &mut LlvmText,
    ty: &TileElement,
    a: &str,
    b: &str,
    extension: &str,
    is_high: bool,
) -> String {
    let narrow = value_type(ty);
    if !is_high {
        return text.compute(format!("mul {narrow} {a}, {b}"));
    }
    if ty.bits() == 64 {
        let name = if extension == "zext" {
            "_Z6mul_himm"
        } else {
            "_Z6mul_hill"
        };
        return text.call("i64", name, &[("i64", a), ("i64", b)]);
    }
    let wide = format!("i{}", ty.bits() * 2);
    let a = text.compute(format!("{extension} {narrow} {a} to {wide}"));
    let b = text.compute(format!("{extension} {narrow} {b} to {wide}"));
    let product = text.compute(format!("mul {wide} {a}, {b}"));
    let high = text.compute(format!("lshr {wide} {product}, {}", ty.bits()));
    text.compute(format!("trunc {wide} {high} to {narrow}"))
}

/// Emits `tt.clampf`. A NaN stays one where the operation asks for it, and becomes the lower bound otherwise.
fn emit_clamp(text: &mut LlvmText, scalar: &ScalarUse<'_>) -> Result<String, String> {
    let (format, values) = widen_all(text, scalar)?;
    let ty = computed_type(format);
    let [value, low, high] = values.as_slice() else {
        return Err("tt.clampf needs three operands".to_owned());
    };
    let raised = call_function(text, "fmax", format, &[value.clone(), low.clone()]);
    let mut clamped = call_function(text, "fmin", format, &[raised, high.clone()]);
    if scalar.operation.word("propagateNan") == Some("all") {
        let is_nan = text.compute(format!("fcmp uno {ty} {value}, {value}"));
        clamped = text.compute(format!("select i1 {is_nan}, {ty} {value}, {ty} {clamped}"));
    }
    Ok(narrow(text, &clamped, format))
}

/// Emits the call of a function of another library.
fn emit_external(text: &mut LlvmText, scalar: &ScalarUse<'_>) -> Result<String, String> {
    let symbol = scalar.operation.word("symbol").unwrap_or_default();
    let Some(function) = find_external(symbol) else {
        return Err(format!("the external function {symbol} is not known"));
    };
    let is_same = |operand: &(TileElement, String)| operand.0 == *scalar.result;
    if !scalar.operands.iter().all(is_same) {
        return Err(format!(
            "the external function {symbol} has operands of other types"
        ));
    }
    emit_function(text, scalar, function, false)
}
