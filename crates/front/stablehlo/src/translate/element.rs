//! Element types of tensors, and the scalars that they are stored as.

use crate::mlir::{IntegerSignedness, MlirFloat, MlirModule, MlirType, MlirTypeKind};
use spirula_program::ScalarType;
use std::fmt;
use std::str::FromStr;

/// The type of a tensor's elements.
///
/// The tensor IR has fewer types. Complex numbers are pairs of tensors. A float of a format that the IR lacks is stored
/// as its bits in an integer. An integer of less than 8 bits is stored in 8 with its sign extended, or zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorElement {
    /// `i1`
    Bool,
    /// `i2` to `i64`, `ui2` to `ui64`, `index`
    Int {
        /// Bits.
        width: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A real number.
    Float(MlirFloat),
    /// A complex number of two of these.
    Complex(MlirFloat),
    /// An integer that stands for a real number.
    Quantized {
        /// The type, which has the parameters.
        ty: MlirType,
        /// Bits of the integer.
        width: u32,
        /// Whether it has a sign.
        signed: bool,
    },
}

impl TensorElement {
    /// Signed, 64 bits.
    pub const I64: TensorElement = TensorElement::Int {
        width: 64,
        signed: true,
    };
    /// Signed, 32 bits.
    pub const I32: TensorElement = TensorElement::Int {
        width: 32,
        signed: true,
    };

    /// The element type of an MLIR type, if there is one.
    pub fn from_type(module: &MlirModule, ty: MlirType) -> Option<TensorElement> {
        match *module.types.kind(ty) {
            MlirTypeKind::Integer { width: 1, .. } => Some(TensorElement::Bool),
            MlirTypeKind::Integer { width, sign } => {
                let signed = sign != IntegerSignedness::Unsigned;
                is_width(width).then_some(TensorElement::Int { width, signed })
            }
            MlirTypeKind::Index => Some(TensorElement::I64),
            MlirTypeKind::Float(float) => is_stored(float).then_some(TensorElement::Float(float)),
            MlirTypeKind::Complex(part) => match *module.types.kind(part) {
                MlirTypeKind::Float(float) => {
                    to_native_type(float).map(|_| TensorElement::Complex(float))
                }
                _ => None,
            },
            MlirTypeKind::Quantized(ref quantized) => {
                match TensorElement::from_type(module, quantized.storage)? {
                    TensorElement::Int { width, signed } => {
                        Some(TensorElement::Quantized { ty, width, signed })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The scalar type that one part is stored as.
    pub fn storage_type(self) -> ScalarType {
        match self {
            TensorElement::Bool => ScalarType::Bool,
            TensorElement::Int { width, .. } | TensorElement::Quantized { width, .. } => {
                select_storage_integer(width)
            }
            TensorElement::Float(float) | TensorElement::Complex(float) => {
                to_native_type(float).unwrap_or(select_storage_integer(float.width()))
            }
        }
    }

    /// Number of tensors that hold it.
    pub fn component_count(self) -> usize {
        match self {
            TensorElement::Complex(_) => 2,
            _ => 1,
        }
    }

    /// The type of the parts of a complex type; other types are returned as they are.
    pub fn component_element(self) -> TensorElement {
        match self {
            TensorElement::Complex(float) => TensorElement::Float(float),
            other => other,
        }
    }

    /// The integer type of a quantised type; other types are returned as they are.
    pub fn stored_element(self) -> TensorElement {
        match self {
            TensorElement::Quantized { width, signed, .. } => TensorElement::Int { width, signed },
            other => other,
        }
    }

    /// Whether it is an integer without a sign.
    pub fn is_unsigned(self) -> bool {
        matches!(
            self.stored_element(),
            TensorElement::Int { signed: false, .. }
        )
    }
}

/// Reads what [`TensorElement`]'s `Display` writes; quantised elements have parameters that it leaves out.
impl FromStr for TensorElement {
    type Err = String;

    fn from_str(name: &str) -> Result<TensorElement, String> {
        let unknown = || format!("there is no type of elements {name}");
        if let Some(part) = name
            .strip_prefix("complex<")
            .and_then(|n| n.strip_suffix('>'))
        {
            let float = MlirFloat::from_name(part).filter(|float| to_native_type(*float).is_some());
            return float.map(TensorElement::Complex).ok_or_else(unknown);
        }
        if let Some(float) = MlirFloat::from_name(name) {
            return is_stored(float)
                .then_some(TensorElement::Float(float))
                .ok_or_else(unknown);
        }
        let (signed, digits) = match name.strip_prefix("ui") {
            Some(digits) => (false, digits),
            None => (true, name.strip_prefix('i').ok_or_else(unknown)?),
        };
        match digits {
            "1" if signed => Ok(TensorElement::Bool),
            _ => match digits.parse() {
                Ok(width) if is_width(width) => Ok(TensorElement::Int { width, signed }),
                _ => Err(unknown()),
            },
        }
    }
}

/// Whether integers of `width` bits can be elements.
fn is_width(width: u32) -> bool {
    matches!(width, 2 | 4 | 8 | 16 | 32 | 64)
}

/// The integer type that `width` bits are stored in.
fn select_storage_integer(width: u32) -> ScalarType {
    match width {
        0..=8 => ScalarType::I8,
        9..=16 => ScalarType::I16,
        17..=32 => ScalarType::I32,
        _ => ScalarType::I64,
    }
}

/// The IR's type of a format.
pub fn to_native_type(float: MlirFloat) -> Option<ScalarType> {
    match float {
        MlirFloat::F16 => Some(ScalarType::F16),
        MlirFloat::F32 => Some(ScalarType::F32),
        MlirFloat::F64 => Some(ScalarType::F64),
        _ => None,
    }
}

/// Whether every value of a format is one of `f32` or the format is the IR's.
fn is_stored(float: MlirFloat) -> bool {
    to_native_type(float).is_some() || float.width() <= 16
}

/// As MLIR writes it.
impl fmt::Display for TensorElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TensorElement::Bool => f.write_str("i1"),
            TensorElement::Int { width, signed } => {
                write!(f, "{}i{width}", if signed { "" } else { "u" })
            }
            TensorElement::Float(float) => f.write_str(float.name()),
            TensorElement::Complex(float) => write!(f, "complex<{}>", float.name()),
            TensorElement::Quantized { width, .. } => write!(f, "quantised i{width}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let names = "i1 i4 ui4 i8 ui8 i64 ui64 f32 bf16 f8E4M3FN f4E2M1FN complex<f64>";
        for name in names.split(' ') {
            let element: TensorElement = name.parse().unwrap();
            assert_eq!(element.to_string(), name);
        }
        for name in [
            "",
            "i",
            "ui1",
            "i3",
            "i999",
            "f31",
            "complex<bf16>",
            "complex<f32",
            "f80",
        ] {
            assert!(name.parse::<TensorElement>().is_err(), "{name}");
        }
    }
}
