//! Rules of operations that compute one element from one element of each operand.

use crate::dialect::ComparisonType;
use crate::dialect::records::{
    CompareAttributes, ConstantAttributes, MapAttributes, ReducePrecisionAttributes,
};
use crate::mlir::{MlirFloat, MlirType, MlirTypeKind};
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, RuleViolation, report_violation,
};

/// Operands and results have one shape, and one type of elements of the classes.
pub(crate) fn verify_elementwise(
    check: &CheckedOperation<'_>,
    classes: ElementClasses,
) -> RuleResult {
    for ty in check.all_types() {
        check.demand_class(ty, classes)?;
        check.demand_same_shape(ty, check.results[0])?;
        check.demand_same_element(ty, check.results[0])?;
    }
    Ok(())
}

/// All types have the shape of the result.
fn one_shape(check: &CheckedOperation<'_>) -> RuleResult {
    let mut all = check.all_types();
    all.try_for_each(|ty| {
        check.demand_class(ty, ElementClasses::ANY)?;
        check.demand_same_shape(ty, check.results[0])
    })
}

/// The type of the parts of complex elements; other types are returned as they are.
fn real_element(check: &CheckedOperation<'_>, ty: MlirType) -> MlirType {
    let element = check.element_type(ty);
    match *check.module.types.kind(element) {
        MlirTypeKind::Complex(part) => part,
        _ => element,
    }
}

/// `abs`: of complex numbers, the result is real.
pub(crate) fn verify_abs(check: &CheckedOperation<'_>) -> RuleResult {
    let classes = ElementClasses::SIGNED
        .or(ElementClasses::FLOAT)
        .or(ElementClasses::COMPLEX);
    check.demand_class(check.operands[0], classes.or(ElementClasses::QUANTIZED))?;
    real_part(check)
}

/// `real`, `imag`
pub(crate) fn verify_complex_part(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_class(
        check.operands[0],
        ElementClasses::FLOAT.or(ElementClasses::COMPLEX),
    )?;
    real_part(check)
}

/// The result has the real type of the operand's elements.
fn real_part(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_same_element(real_element(check, check.operands[0]), check.results[0])
}

/// `complex`
pub(crate) fn verify_complex(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_class(check.results[0], ElementClasses::COMPLEX)?;
    let part = real_element(check, check.results[0]);
    let floats = [MlirFloat::F32, MlirFloat::F64];
    let allowed = |float| *check.module.types.kind(part) == MlirTypeKind::Float(float);
    if !floats.into_iter().any(allowed) {
        return report_violation("complex numbers have parts of f32 or f64");
    }
    let mut operands = check.operands.iter();
    operands.try_for_each(|&ty| check.demand_same_element(ty, part))
}

/// `is_finite`, and `is_inf` and similar tests
pub(crate) fn is_finite(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_class(
        check.operands[0],
        ElementClasses::FLOAT.or(ElementClasses::QUANTIZED),
    )?;
    check.demand_class(check.results[0], ElementClasses::BOOL)
}

/// `compare`
pub(crate) fn verify_compare(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_same_element(check.operands[0], check.operands[1])?;
    check.demand_class(check.results[0], ElementClasses::BOOL)?;
    let attributes: CompareAttributes = check.read_attributes()?;
    let classes = match attributes.compare_type {
        None | Some(ComparisonType::NoType) => return Ok(()),
        Some(ComparisonType::Signed) => ElementClasses::SIGNED.or(ElementClasses::BOOL),
        Some(ComparisonType::Unsigned) => ElementClasses::UNSIGNED.or(ElementClasses::BOOL),
        Some(ComparisonType::Float) => ElementClasses::FLOAT
            .or(ElementClasses::COMPLEX)
            .or(ElementClasses::QUANTIZED),
        Some(ComparisonType::TotalOrder) => ElementClasses::FLOAT,
    };
    check.demand_class(check.operands[0], classes)
}

/// `select`: the condition is one for all elements, or one for each.
pub(crate) fn verify_select(check: &CheckedOperation<'_>) -> RuleResult {
    let [condition, on_true, on_false] = check.operands[..] else {
        return Ok(());
    };
    check.demand_class(condition, ElementClasses::BOOL)?;
    for ty in [on_true, on_false] {
        check.demand_compatible(ty, check.results[0])?;
    }
    match check.tensor_shape(condition) {
        Some([]) | None => Ok(()),
        Some(_) => check.demand_same_shape(condition, check.results[0]),
    }
}

/// `clamp`: the bounds are one for all elements, or one for each.
pub(crate) fn verify_clamp(check: &CheckedOperation<'_>) -> RuleResult {
    let [min, operand, max] = check.operands[..] else {
        return Ok(());
    };
    check.demand_compatible(operand, check.results[0])?;
    for bound in [min, max] {
        check.demand_same_element(bound, operand)?;
        if check
            .tensor_shape(bound)
            .is_some_and(|shape| !shape.is_empty())
        {
            check.demand_same_shape(bound, operand)?;
        }
    }
    Ok(())
}

/// `convert`
pub(crate) fn verify_convert(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    let mut all = check.all_types();
    if all.any(|ty| check.has_class(ty, ElementClasses::QUANTIZED)) {
        report_violation("quantised numbers are not converted").map_err(|f: RuleViolation| {
            f.with_hint("use `uniform_quantize` or `uniform_dequantize`")
        })
    } else {
        Ok(())
    }
}

/// The type of the numbers that quantised elements represent; other types are returned as they are.
fn expressed_type(check: &CheckedOperation<'_>, ty: MlirType) -> MlirType {
    let element = check.element_type(ty);
    match check.module.types.kind(element) {
        MlirTypeKind::Quantized(quantized) => quantized.expressed,
        _ => element,
    }
}

/// Operand and result represent numbers of one type.
fn demand_same_expressed(check: &CheckedOperation<'_>) -> RuleResult {
    let (from, to) = (check.operands[0], check.results[0]);
    check.demand_same_element(expressed_type(check, from), expressed_type(check, to))
}

/// `uniform_quantize`
pub(crate) fn verify_quantize(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_class(
        check.operands[0],
        ElementClasses::FLOAT.or(ElementClasses::QUANTIZED),
    )?;
    check.demand_class(check.results[0], ElementClasses::QUANTIZED)?;
    demand_same_expressed(check)
}

/// `uniform_dequantize`
pub(crate) fn verify_dequantize(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_class(check.operands[0], ElementClasses::QUANTIZED)?;
    check.demand_class(check.results[0], ElementClasses::FLOAT)?;
    demand_same_expressed(check)
}

/// `reduce_precision`
pub(crate) fn reduce_precision(check: &CheckedOperation<'_>) -> RuleResult {
    verify_elementwise(check, ElementClasses::FLOAT.or(ElementClasses::QUANTIZED))?;
    let bits: ReducePrecisionAttributes = check.read_attributes()?;
    match (bits.exponent_bits, bits.mantissa_bits) {
        (1.., 0..) => Ok(()),
        _ => report_violation("the exponent has at least one bit, the mantissa at least none"),
    }
}

/// `bitcast_convert`: a smaller element adds a last dimension, a larger one removes it.
pub(crate) fn bitcast_convert(check: &CheckedOperation<'_>) -> RuleResult {
    let (from, to) = (check.operands[0], check.results[0]);
    let (Some(source), Some(target)) = (check.tensor_shape(from), check.tensor_shape(to)) else {
        return Ok(());
    };
    if check.has_class(from, ElementClasses::COMPLEX)
        != check.has_class(to, ElementClasses::COMPLEX)
    {
        return report_violation("only complex numbers have the bits of complex numbers");
    }
    let bits = |ty| check.bit_width(check.element_type(ty));
    let (Some(narrow), Some(wide)) = (bits(from), bits(to)) else {
        return report_violation("the elements have no bits");
    };
    let (mut source, mut target) = (source.to_vec(), target.to_vec());
    let (longer, ratio) = match narrow.cmp(&wide) {
        std::cmp::Ordering::Equal => (None, 1),
        std::cmp::Ordering::Less => (source.pop(), wide / narrow),
        std::cmp::Ordering::Greater => (target.pop(), narrow / wide),
    };
    let fits = match longer {
        _ if narrow == wide => true,
        Some(size) => size.is_none_or(|size| size == ratio),
        None => false,
    };
    if fits && crate::verify::checked_operation::is_compatible_shape(&source, &target) {
        return Ok(());
    }
    let (from, to) = (check.format_type(from), check.format_type(to));
    report_violation(format!("{from} and {to} have different bits"))
}

/// `constant`: elements and result have one type; elements of a quantised result are of its storage
/// type.
pub(crate) fn verify_constant(check: &CheckedOperation<'_>) -> RuleResult {
    let ConstantAttributes { value } = check.read_attributes()?;
    let Some(value) = value.elements(check.module) else {
        return report_violation("`value` has no elements");
    };
    let result = check.results[0];
    let stored = match check.module.types.kind(check.element_type(result)) {
        MlirTypeKind::Quantized(quantized) => quantized.storage,
        _ => check.element_type(result),
    };
    let fits = check.tensor_shape(result) == check.tensor_shape(value.ty)
        && check.element_type(value.ty) == stored;
    if fits {
        return Ok(());
    }
    let (value, result) = (check.format_type(value.ty), check.format_type(result));
    report_violation(format!(
        "elements of type {value} do not form a constant of type {result}"
    ))
}

/// `optimization_barrier`: results are the operands.
pub(crate) fn verify_optimization_barrier(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_all_compatible("results", &check.results, &check.operands)
}

/// `map`: the region takes one element of each operand.
pub(crate) fn verify_map(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    let (arguments, returned) = check.region_types(0)?;
    if arguments.len() != check.operands.len() || returned.len() != 1 {
        return report_violation("the region takes an element of each operand and returns one");
    }
    let MapAttributes { dimensions } = check.read_attributes()?;
    if let Some(shape) = check.tensor_shape(check.results[0])
        && !(0..shape.len() as i64).eq(dimensions.values)
    {
        return report_violation("`dimensions` are not all dimensions in their order");
    }
    for (&argument, &operand) in arguments.iter().zip(&check.operands) {
        check.demand_rank(argument, 0)?;
        check.demand_same_element(argument, operand)?;
    }
    check.demand_same_element(returned[0], check.results[0])
}
