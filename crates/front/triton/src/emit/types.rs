//! Types of LLVM IR for those of TTIR.

use crate::ir::{FloatFormat, TileElement};

/// Type of a value. Floating-point formats that LLVM IR does not compute in are integers of their bits.
pub(crate) fn value_type(element: &TileElement) -> String {
    match element {
        TileElement::Integer(bits) => format!("i{bits}"),
        TileElement::Float(FloatFormat::Double) => "double".to_owned(),
        TileElement::Float(FloatFormat::Single) => "float".to_owned(),
        TileElement::Float(FloatFormat::Half) => "half".to_owned(),
        TileElement::Float(format) => format!("i{}", format.bits()),
        TileElement::Pointer(_) => "ptr addrspace(1)".to_owned(),
    }
}

/// Type of an element in memory: a Boolean is a byte, an address is an integer.
pub(crate) fn storage_type(element: &TileElement) -> String {
    match element {
        TileElement::Integer(1) => "i8".to_owned(),
        TileElement::Pointer(_) => "i64".to_owned(),
        _ => value_type(element),
    }
}

/// A constant of type `float` or `double`, which `float` must represent exactly where it is one.
pub(crate) fn write_float(value: f64) -> String {
    format!("0x{:016X}", value.to_bits())
}
