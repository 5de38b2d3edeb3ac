//! Neutral elements of sums and products.

use crate::rule::NeutralElement;
use spirula_stablehlo::mlir::{FloatSpecials, MlirType, MlirTypeKind, MlirTypes};

/// The bytes of a neutral element, if a type has it. Zero is negative in formats with a sign of zero, since a sum with
/// negative zero keeps that sign.
pub(crate) fn find_neutral_bytes(
    types: &MlirTypes,
    element: MlirType,
    neutral: NeutralElement,
) -> Option<Vec<u8>> {
    let width = types.element_bytes(element)?;
    let bits = match types.kind(element) {
        MlirTypeKind::Integer { .. } => match neutral {
            NeutralElement::Zero => 0,
            NeutralElement::One => 1,
        },
        MlirTypeKind::Float(float) => match neutral {
            NeutralElement::Zero if float.format().specials == FloatSpecials::ExponentOnly => {
                return None;
            }
            NeutralElement::Zero => float.format().encode_value(-0.0),
            NeutralElement::One => float.format().encode_value(1.0),
        },
        MlirTypeKind::Complex(part) if neutral == NeutralElement::Zero => {
            return find_neutral_bytes(types, *part, neutral).map(|bytes| bytes.repeat(2));
        }
        _ => return None,
    };
    u64::to_le_bytes(bits).get(..width).map(<[u8]>::to_vec)
}
