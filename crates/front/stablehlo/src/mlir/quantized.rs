//! Constraints on quantised types: StableHLO's specification, "Types", for quantised elements and
//! tensors of them.

use crate::mlir::{
    DimSize, IntegerSignedness, MlirType, MlirTypeKind, MlirTypes, QuantizationGranularity,
    QuantizedType,
};

/// Least and greatest value of an integer type that quantised numbers are stored in: one of at
/// most 32 bits.
pub(crate) fn storage_range(types: &MlirTypes, storage: MlirType) -> Option<(i64, i64)> {
    match *types.kind(storage) {
        MlirTypeKind::Integer { width, sign } if width <= 32 => Some(match sign {
            IntegerSignedness::Unsigned => (0, (1 << width) - 1),
            _ => (-1 << (width - 1), (1 << (width - 1)) - 1),
        }),
        _ => None,
    }
}

/// The constraint that a quantised type violates, if any.
pub(crate) fn find_quantized_fault(types: &MlirTypes, quantized: &QuantizedType) -> Option<String> {
    let Some((least, greatest)) = storage_range(types, quantized.storage) else {
        return Some("quantised values are stored as integers of at most 32 bits".to_owned());
    };
    let (min, max) = (quantized.min, quantized.max);
    if !(least <= min && min < max && max <= greatest) {
        return Some(format!(
            "{min} to {max} is no range within {least} to {greatest}, which the storage type has"
        ));
    }
    let MlirTypeKind::Float(float) = *types.kind(quantized.expressed) else {
        return Some("quantised values stand for floats".to_owned());
    };
    if quantized.parameters.is_empty() {
        return Some("a quantised type has at least one scale".to_owned());
    }
    for &(bits, zero) in &quantized.parameters {
        let (scale, format) = (f64::from_bits(bits), float.format());
        let rounded = format.decode_bits(format.encode_value(scale));
        if !(rounded.is_finite() && rounded > 0.0) {
            let name = float.name();
            return Some(format!(
                "the scale {scale:?} is not above 0 and finite as {name}"
            ));
        }
        if !(min..=max).contains(&zero) {
            return Some(format!(
                "the zero point {zero} is not within {min} to {max}, which is stored"
            ));
        }
    }
    None
}

/// The reason why a tensor of this shape cannot have these elements, if they are quantised. Unknown
/// sizes are always allowed.
pub(crate) fn tensor_fault(
    types: &MlirTypes,
    shape: &[DimSize],
    element: MlirType,
) -> Option<String> {
    let MlirTypeKind::Quantized(quantized) = types.kind(element) else {
        return None;
    };
    let (sizes, counts): (Vec<(u64, u64)>, Vec<u64>) = match &quantized.axis {
        QuantizationGranularity::Tensor => return None,
        QuantizationGranularity::Axis(axis) => {
            (vec![(*axis, 1)], vec![quantized.parameters.len() as u64])
        }
        QuantizationGranularity::Blocks { sizes, shape } => (sizes.to_vec(), shape.to_vec()),
    };
    if sizes.len() != counts.len() {
        return Some(
            "the list of scales is not nested as deep as blocks have dimensions".to_owned(),
        );
    }
    sizes.iter().zip(counts).find_map(|(&(axis, size), count)| {
        let Some(&whole) = usize::try_from(axis).ok().and_then(|axis| shape.get(axis)) else {
            let rank = shape.len();
            return Some(format!(
                "scales are along dimension {axis} of a tensor of {rank} dimensions"
            ));
        };
        let whole = whole?;
        let fits = size > 0 && size.checked_mul(count) == Some(whole);
        (!fits).then(|| {
            format!("{count} scales for {size} each do not make the {whole} of dimension {axis}")
        })
    })
}
