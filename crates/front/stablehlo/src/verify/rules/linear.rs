//! Rules of linear algebra, Fourier transforms, normalisation and random numbers.

use super::classes;
use crate::dialect::records::{BatchNormAttributes, FftAttributes, TriangularSolveAttributes};
use crate::dialect::{FftType, MlirOpcode, TransposeKind};
use crate::mlir::DimSize;
use crate::verify::checked_operation::{
    CheckedOperation, ElementClasses, RuleResult, report_violation,
};

/// `cholesky`: batches of square matrices.
pub(crate) fn verify_cholesky(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_class(check.operands[0], classes::CONTINUOUS)?;
    check.demand_compatible(check.operands[0], check.results[0])?;
    demand_square(check, check.operands[0])
}

fn demand_square(check: &CheckedOperation<'_>, ty: crate::mlir::MlirType) -> RuleResult {
    match check.tensor_shape(ty) {
        None => Ok(()),
        Some([.., a, b]) if a.is_none() || b.is_none() || a == b => Ok(()),
        Some(_) => report_violation(format!("{} has no square matrices", check.format_type(ty))),
    }
}

/// `triangular_solve`
pub(crate) fn triangular_solve(check: &CheckedOperation<'_>) -> RuleResult {
    let (a, b) = (check.operands[0], check.operands[1]);
    check.demand_class(a, classes::CONTINUOUS)?;
    let attributes: TriangularSolveAttributes = check.read_attributes()?;
    if attributes.transpose_a == TransposeKind::Invalid {
        return report_violation("`transpose_a` is not one of NO_TRANSPOSE, TRANSPOSE and ADJOINT");
    }
    check.demand_same_element(a, b)?;
    check.demand_compatible(b, check.results[0])?;
    demand_square(check, a)?;
    let (Some(left), Some(right)) = (check.tensor_shape(a), check.tensor_shape(b)) else {
        return Ok(());
    };
    check.demand_rank(b, left.len())?;
    let rank = left.len();
    let side = if attributes.left_side {
        rank - 2
    } else {
        rank - 1
    };
    let mut expected = right.to_vec();
    expected[side] = left[rank - 1];
    expected[..rank - 2].clone_from_slice(&left[..rank - 2]);
    if crate::verify::checked_operation::is_compatible_shape(&expected, right) {
        Ok(())
    } else {
        report_violation(format!(
            "{} does not solve {}",
            check.format_type(a),
            check.format_type(b)
        ))
    }
}

/// `fft`: the last dimensions have the lengths; transforms of real numbers keep half of the last.
pub(crate) fn verify_fft(check: &CheckedOperation<'_>) -> RuleResult {
    let FftAttributes {
        fft_type,
        fft_length,
    } = check.read_attributes()?;
    let lengths = fft_length.values;
    let (operand, result) = (check.operands[0], check.results[0]);
    let (from, to) = match fft_type {
        FftType::Real => (ElementClasses::FLOAT, ElementClasses::COMPLEX),
        FftType::InverseReal => (ElementClasses::COMPLEX, ElementClasses::FLOAT),
        _ => (ElementClasses::COMPLEX, ElementClasses::COMPLEX),
    };
    check.demand_class(operand, from)?;
    check.demand_class(result, to)?;
    let Some(shape) = check.tensor_shape(operand) else {
        return Ok(());
    };
    if !(1..=3).contains(&lengths.len()) || lengths.len() > shape.len() {
        return report_violation(format!("`fft_length` has {} numbers", lengths.len()));
    }
    let first = shape.len() - lengths.len();
    let (mut input, mut output) = (shape.to_vec(), shape.to_vec());
    for (at, &length) in lengths.iter().enumerate() {
        let Ok(length) = u64::try_from(length) else {
            return report_violation(format!("a transform has the length {length}"));
        };
        let half = match (at + 1 == lengths.len(), length) {
            (false, length) => length,
            (true, 0) => 0,
            (true, length) => length / 2 + 1,
        };
        let (before, after) = match fft_type {
            FftType::Real => (length, half),
            FftType::InverseReal => (half, length),
            _ => (length, length),
        };
        (input[first + at], output[first + at]) = (Some(before), Some(after));
    }
    // A tensor without elements may have any sizes.
    if !crate::verify::checked_operation::is_compatible_shape(&input, shape)
        && !shape.contains(&Some(0))
    {
        let operand = check.format_type(operand);
        return report_violation(format!("the sizes of {operand} differ from `fft_length`"));
    }
    if shape.contains(&Some(0)) {
        Ok(())
    } else {
        check.demand_result(0, &output, result)
    }
}

/// `batch_norm_…`: one number of each kind for each feature.
pub(crate) fn batch_norm(check: &CheckedOperation<'_>) -> RuleResult {
    let operand = check.operands[0];
    check.demand_class(operand, classes::FLOAT.or(ElementClasses::QUANTIZED))?;
    check.demand_compatible(operand, check.results[0])?;
    let Some(shape) = check.tensor_shape(operand) else {
        return Ok(());
    };
    let attributes: BatchNormAttributes = check.read_attributes()?;
    let axis = check.check_axis(attributes.feature_index, shape.len())?;
    let features: [DimSize; 1] = [shape[axis]];
    // The last operand of a gradient is a gradient of the result.
    let small = match check.operands[1..] {
        [ref small @ .., output] if check.opcode() == Some(MlirOpcode::BatchNormGrad) => {
            check.demand_compatible(output, operand)?;
            small
        }
        ref small => small,
    };
    for &ty in small.iter().chain(&check.results[1..]) {
        check.demand_same_element(ty, operand)?;
        let mut sizes = check.tensor_shape(ty).into_iter();
        if !sizes
            .all(|sizes| crate::verify::checked_operation::is_compatible_shape(sizes, &features))
        {
            let ty = check.format_type(ty);
            return report_violation(format!("{ty} does not have one number for each feature"));
        }
    }
    Ok(())
}

/// `rng`
pub(crate) fn verify_rng(check: &CheckedOperation<'_>) -> RuleResult {
    let [a, b, shape] = check.operands[..] else {
        return Ok(());
    };
    for ty in [a, b] {
        check.demand_rank(ty, 0)?;
        check.demand_same_element(ty, check.results[0])?;
    }
    check.demand_class(shape, ElementClasses::INTEGER)?;
    check.demand_rank(shape, 1)
}

/// `rng_bit_generator`
pub(crate) fn rng_bit_generator(check: &CheckedOperation<'_>) -> RuleResult {
    check.demand_class(
        check.operands[0],
        ElementClasses::UNSIGNED.or(ElementClasses::SIGNED),
    )?;
    check.demand_rank(check.operands[0], 1)?;
    check.demand_compatible(check.operands[0], check.results[0])?;
    check.demand_class(
        check.results[1],
        ElementClasses::INTEGER.or(ElementClasses::FLOAT),
    )
}
