//! Types of elements, and the scalars that they are stored as.

use crate::mlir::{Float, Module, Signedness, Type, TypeKind};
use spirula_program::Scalar;
use std::fmt;
use std::str::FromStr;

/// The type of a tensor's elements.
///
/// The tensor IR has fewer types: complex numbers are pairs of tensors; a float of a format that
/// the IR lacks is stored as its bits in an integer; an integer of less than 8 bits is stored in 8
/// with its sign extended, or zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
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
    Float(Float),
    /// A complex number of two of these.
    Complex(Float),
    /// An integer that stands for a real number.
    Quantized {
        /// The type, which has the parameters.
        ty: Type,
        /// Bits of the integer.
        width: u32,
        /// Whether it has a sign.
        signed: bool,
    },
}

impl Element {
    /// Signed, 64 bits.
    pub const I64: Element = Element::Int {
        width: 64,
        signed: true,
    };
    /// Signed, 32 bits.
    pub const I32: Element = Element::Int {
        width: 32,
        signed: true,
    };

    /// The element that a type of MLIR is, if there is one.
    pub fn of(module: &Module, ty: Type) -> Option<Element> {
        match *module.types.kind(ty) {
            TypeKind::Integer { width: 1, .. } => Some(Element::Bool),
            TypeKind::Integer { width, sign } => {
                let signed = sign != Signedness::Unsigned;
                is_width(width).then_some(Element::Int { width, signed })
            }
            TypeKind::Index => Some(Element::I64),
            TypeKind::Float(float) => is_stored(float).then_some(Element::Float(float)),
            TypeKind::Complex(part) => match *module.types.kind(part) {
                TypeKind::Float(float) => native(float).map(|_| Element::Complex(float)),
                _ => None,
            },
            TypeKind::Quantized(ref quantized) => match Element::of(module, quantized.storage)? {
                Element::Int { width, signed } => Some(Element::Quantized { ty, width, signed }),
                _ => None,
            },
            _ => None,
        }
    }

    /// What one part of it is stored as.
    pub fn storage(self) -> Scalar {
        match self {
            Element::Bool => Scalar::Bool,
            Element::Int { width, .. } | Element::Quantized { width, .. } => integer(width),
            Element::Float(float) | Element::Complex(float) => {
                native(float).unwrap_or(integer(float.width()))
            }
        }
    }

    /// Number of tensors that hold it.
    pub fn parts(self) -> usize {
        match self {
            Element::Complex(_) => 2,
            _ => 1,
        }
    }

    /// Real numbers of what a complex one is made of; others are themselves.
    pub fn part(self) -> Element {
        match self {
            Element::Complex(float) => Element::Float(float),
            other => other,
        }
    }

    /// The integer of a quantised type; others are themselves.
    pub fn stored(self) -> Element {
        match self {
            Element::Quantized { width, signed, .. } => Element::Int { width, signed },
            other => other,
        }
    }

    /// Whether it is an integer without a sign.
    pub fn is_unsigned(self) -> bool {
        matches!(self.stored(), Element::Int { signed: false, .. })
    }
}

/// Reads what [`Element`]'s `Display` writes; quantised elements have parameters that it leaves out.
impl FromStr for Element {
    type Err = String;

    fn from_str(name: &str) -> Result<Element, String> {
        let unknown = || format!("there is no type of elements {name}");
        if let Some(part) = name
            .strip_prefix("complex<")
            .and_then(|n| n.strip_suffix('>'))
        {
            let float = Float::named(part).filter(|float| native(*float).is_some());
            return float.map(Element::Complex).ok_or_else(unknown);
        }
        if let Some(float) = Float::named(name) {
            return is_stored(float)
                .then_some(Element::Float(float))
                .ok_or_else(unknown);
        }
        let (signed, digits) = match name.strip_prefix("ui") {
            Some(digits) => (false, digits),
            None => (true, name.strip_prefix('i').ok_or_else(unknown)?),
        };
        match digits {
            "1" if signed => Ok(Element::Bool),
            _ => match digits.parse() {
                Ok(width) if is_width(width) => Ok(Element::Int { width, signed }),
                _ => Err(unknown()),
            },
        }
    }
}

/// Whether integers of so many bits can be elements.
fn is_width(width: u32) -> bool {
    matches!(width, 2 | 4 | 8 | 16 | 32 | 64)
}

/// The integer that so many bits are stored in.
fn integer(width: u32) -> Scalar {
    match width {
        0..=8 => Scalar::I8,
        9..=16 => Scalar::I16,
        17..=32 => Scalar::I32,
        _ => Scalar::I64,
    }
}

/// The IR's type of a format.
pub fn native(float: Float) -> Option<Scalar> {
    match float {
        Float::F16 => Some(Scalar::F16),
        Float::F32 => Some(Scalar::F32),
        Float::F64 => Some(Scalar::F64),
        _ => None,
    }
}

/// Whether every value of a format is one of `f32` or the format is the IR's.
fn is_stored(float: Float) -> bool {
    native(float).is_some() || float.width() <= 16
}

/// As MLIR writes it.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Element::Bool => f.write_str("i1"),
            Element::Int { width, signed } => {
                write!(f, "{}i{width}", if signed { "" } else { "u" })
            }
            Element::Float(float) => f.write_str(float.name()),
            Element::Complex(float) => write!(f, "complex<{}>", float.name()),
            Element::Quantized { width, .. } => write!(f, "quantised i{width}"),
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
            let element: Element = name.parse().unwrap();
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
            assert!(name.parse::<Element>().is_err(), "{name}");
        }
    }
}
