//! Operations that look at one element of each operand.

use crate::mlir::{MlirFloat, MlirType, MlirTypeKind};
use crate::verify::check::{CheckedOperation, ElementClasses, RuleResult, RuleViolation, fault};

/// Operands and results have one shape, and one type of elements of the classes.
pub(crate) fn same(check: &CheckedOperation<'_>, classes: ElementClasses) -> RuleResult {
    for ty in check.all_types() {
        check.demand(ty, classes)?;
        check.demand_same_shape(ty, check.results[0])?;
        check.demand_same_element(ty, check.results[0])?;
    }
    Ok(())
}

/// All types have the shape of the result.
fn one_shape(check: &CheckedOperation<'_>) -> RuleResult {
    let mut all = check.all_types();
    all.try_for_each(|ty| {
        check.demand(ty, ElementClasses::ANY)?;
        check.demand_same_shape(ty, check.results[0])
    })
}

/// The type of the parts of complex elements; of other elements, themselves.
fn real_element(check: &CheckedOperation<'_>, ty: MlirType) -> MlirType {
    let element = check.element(ty);
    match *check.module.types.kind(element) {
        MlirTypeKind::Complex(part) => part,
        _ => element,
    }
}

/// `abs`: of complex numbers, the result is real.
pub(crate) fn abs(check: &CheckedOperation<'_>) -> RuleResult {
    let classes = ElementClasses::SIGNED
        .or(ElementClasses::FLOAT)
        .or(ElementClasses::COMPLEX);
    check.demand(check.operands[0], classes.or(ElementClasses::QUANTIZED))?;
    real_part(check)
}

/// `real`, `imag`
pub(crate) fn part(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand(
        check.operands[0],
        ElementClasses::FLOAT.or(ElementClasses::COMPLEX),
    )?;
    real_part(check)
}

/// The result has the real type that belongs to the operand.
fn real_part(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_same_element(real_element(check, check.operands[0]), check.results[0])
}

/// `complex`
pub(crate) fn complex(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand(check.results[0], ElementClasses::COMPLEX)?;
    let part = real_element(check, check.results[0]);
    let floats = [MlirFloat::F32, MlirFloat::F64];
    let allowed = |float| *check.module.types.kind(part) == MlirTypeKind::Float(float);
    if !floats.into_iter().any(allowed) {
        return fault("complex numbers have parts of f32 or f64");
    }
    let mut operands = check.operands.iter();
    operands.try_for_each(|&ty| check.demand_same_element(ty, part))
}

/// `is_finite`, and `is_inf` and its like
pub(crate) fn is_finite(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand(
        check.operands[0],
        ElementClasses::FLOAT.or(ElementClasses::QUANTIZED),
    )?;
    check.demand(check.results[0], ElementClasses::BOOL)
}

/// `compare`
pub(crate) fn compare(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand_same_element(check.operands[0], check.operands[1])?;
    check.demand(check.results[0], ElementClasses::BOOL)?;
    let kinds: &[(&str, ElementClasses)] = &[
        ("SIGNED", ElementClasses::SIGNED.or(ElementClasses::BOOL)),
        (
            "UNSIGNED",
            ElementClasses::UNSIGNED.or(ElementClasses::BOOL),
        ),
        (
            "FLOAT",
            ElementClasses::FLOAT
                .or(ElementClasses::COMPLEX)
                .or(ElementClasses::QUANTIZED),
        ),
        ("TOTALORDER", ElementClasses::FLOAT),
    ];
    let Some(kind) = check.module.keyword(check.op, "compare_type") else {
        return Ok(());
    };
    let mut rows = kinds.iter();
    match rows.find(|(name, _)| *name == kind) {
        Some(&(_, classes)) => check.demand(check.operands[0], classes),
        None => Ok(()),
    }
}

/// `select`: the condition is one for all elements, or one for each.
pub(crate) fn select(check: &CheckedOperation<'_>) -> RuleResult {
    let [condition, on_true, on_false] = check.operands[..] else {
        return Ok(());
    };
    check.demand(condition, ElementClasses::BOOL)?;
    for ty in [on_true, on_false] {
        check.demand_compatible(ty, check.results[0])?;
    }
    match check.shape(condition) {
        Some([]) | None => Ok(()),
        Some(_) => check.demand_same_shape(condition, check.results[0]),
    }
}

/// `clamp`: the bounds are one for all elements, or one for each.
pub(crate) fn clamp(check: &CheckedOperation<'_>) -> RuleResult {
    let [min, operand, max] = check.operands[..] else {
        return Ok(());
    };
    check.demand_compatible(operand, check.results[0])?;
    for bound in [min, max] {
        check.demand_same_element(bound, operand)?;
        if check.shape(bound).is_some_and(|shape| !shape.is_empty()) {
            check.demand_same_shape(bound, operand)?;
        }
    }
    Ok(())
}

/// `convert`
pub(crate) fn convert(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    let mut all = check.all_types();
    match all.any(|ty| check.is(ty, ElementClasses::QUANTIZED)) {
        true => fault("quantised numbers are not converted").map_err(|f: RuleViolation| {
            f.with_hint("use `uniform_quantize` or `uniform_dequantize`")
        }),
        false => Ok(()),
    }
}

/// The type of the numbers that quantised elements stand for; of others, themselves.
fn expressed(check: &CheckedOperation<'_>, ty: MlirType) -> MlirType {
    let element = check.element(ty);
    match check.module.types.kind(element) {
        MlirTypeKind::Quantized(quantized) => quantized.expressed,
        _ => element,
    }
}

/// Both stand for numbers of one type.
fn demand_same_expressed(check: &CheckedOperation<'_>) -> RuleResult {
    let (from, to) = (check.operands[0], check.results[0]);
    check.demand_same_element(expressed(check, from), expressed(check, to))
}

/// `uniform_quantize`
pub(crate) fn quantize(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand(
        check.operands[0],
        ElementClasses::FLOAT.or(ElementClasses::QUANTIZED),
    )?;
    check.demand(check.results[0], ElementClasses::QUANTIZED)?;
    demand_same_expressed(check)
}

/// `uniform_dequantize`
pub(crate) fn dequantize(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    check.demand(check.operands[0], ElementClasses::QUANTIZED)?;
    check.demand(check.results[0], ElementClasses::FLOAT)?;
    demand_same_expressed(check)
}

/// `reduce_precision`
pub(crate) fn reduce_precision(check: &CheckedOperation<'_>) -> RuleResult {
    same(check, ElementClasses::FLOAT.or(ElementClasses::QUANTIZED))?;
    let bits = |name| check.module.integer(check.op, name).unwrap_or(0);
    match (bits("exponent_bits"), bits("mantissa_bits")) {
        (1.., 0..) => Ok(()),
        _ => fault("the exponent has at least one bit, the mantissa at least none"),
    }
}

/// `bitcast_convert`: a smaller element makes a new last dimension, a larger one takes it.
pub(crate) fn bitcast_convert(check: &CheckedOperation<'_>) -> RuleResult {
    let (from, to) = (check.operands[0], check.results[0]);
    let (Some(source), Some(target)) = (check.shape(from), check.shape(to)) else {
        return Ok(());
    };
    if check.is(from, ElementClasses::COMPLEX) != check.is(to, ElementClasses::COMPLEX) {
        return fault("complex numbers are only the bits of complex numbers");
    }
    let bits = |ty| check.bit_width(check.element(ty));
    let (Some(narrow), Some(wide)) = (bits(from), bits(to)) else {
        return fault("the elements have no bits");
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
    if fits && crate::verify::check::agree(&source, &target) {
        return Ok(());
    }
    let (from, to) = (check.show(from), check.show(to));
    fault(format!("{from} and {to} have different bits"))
}

/// `constant`: elements and result agree; elements of a quantised result are what it stores.
pub(crate) fn constant(check: &CheckedOperation<'_>) -> RuleResult {
    let Some(value) = check.module.elements(check.op, "value") else {
        return fault("`value` has no elements");
    };
    let result = check.results[0];
    let stored = match check.module.types.kind(check.element(result)) {
        MlirTypeKind::Quantized(quantized) => quantized.storage,
        _ => check.element(result),
    };
    let fits = check.shape(result) == check.shape(value.ty) && check.element(value.ty) == stored;
    if fits {
        return Ok(());
    }
    let (value, result) = (check.show(value.ty), check.show(result));
    fault(format!(
        "elements of type {value} are no constant of {result}"
    ))
}

/// `optimization_barrier`: results are the operands.
pub(crate) fn barrier(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_all_compatible("results", &check.results, &check.operands)
}

/// `map`: the region takes one element of each operand.
pub(crate) fn map(check: &CheckedOperation<'_>) -> RuleResult {
    one_shape(check)?;
    let (arguments, returned) = check.region_types(0)?;
    if arguments.len() != check.operands.len() || returned.len() != 1 {
        return fault("the region takes an element of each operand and returns one");
    }
    let dims = check.integers("dimensions")?;
    if let Some(shape) = check.shape(check.results[0])
        && !(0..shape.len() as i64).eq(dims)
    {
        return fault("`dimensions` are not all dimensions in their order");
    }
    for (&argument, &operand) in arguments.iter().zip(&check.operands) {
        check.demand_rank(argument, 0)?;
        check.demand_same_element(argument, operand)?;
    }
    check.demand_same_element(returned[0], check.results[0])
}
