//! Numbers that bitcode has for operations, predicates and flags, of instructions and of constant
//! expressions alike.

use super::ops::Ops;
use crate::Error;
use crate::ir::{Flags, Opcode, Predicate};

/// Operations of integers and of floating-point numbers by their number.
const BINARY: [(Opcode, Option<Opcode>); 13] = [
    (Opcode::Add, Some(Opcode::FAdd)),
    (Opcode::Sub, Some(Opcode::FSub)),
    (Opcode::Mul, Some(Opcode::FMul)),
    (Opcode::UDiv, None),
    (Opcode::SDiv, Some(Opcode::FDiv)),
    (Opcode::URem, None),
    (Opcode::SRem, Some(Opcode::FRem)),
    (Opcode::Shl, None),
    (Opcode::LShr, None),
    (Opcode::AShr, None),
    (Opcode::And, None),
    (Opcode::Or, None),
    (Opcode::Xor, None),
];

/// Conversions by their number.
const CASTS: [Opcode; 14] = [
    Opcode::Trunc,
    Opcode::ZExt,
    Opcode::SExt,
    Opcode::FpToUi,
    Opcode::FpToSi,
    Opcode::UiToFp,
    Opcode::SiToFp,
    Opcode::FpTrunc,
    Opcode::FpExt,
    Opcode::PtrToInt,
    Opcode::IntToPtr,
    Opcode::BitCast,
    Opcode::AddrSpaceCast,
    Opcode::PtrToAddr,
];

/// The operation with this number.
pub fn binary_opcode(number: u64, float: bool, ops: &Ops<'_>) -> Result<Opcode, Error> {
    let row = usize::try_from(number)
        .ok()
        .and_then(|number| BINARY.get(number));
    let opcode = row.and_then(|row| if float { row.1 } else { Some(row.0) });
    opcode.map_or_else(
        || ops.error(format!("binary operation {number} is not known")),
        Ok,
    )
}

/// The conversion whose number is the next operand.
pub fn cast_opcode(ops: &mut Ops<'_>) -> Result<Opcode, Error> {
    let number = ops.next()?;
    let opcode = usize::try_from(number)
        .ok()
        .and_then(|number| CASTS.get(number));
    opcode.map_or_else(
        || ops.error(format!("conversion {number} is not known")),
        |&op| Ok(op),
    )
}

/// The predicate whose number is the next operand.
pub fn predicate(ops: &mut Ops<'_>) -> Result<Predicate, Error> {
    let number = ops.next()?;
    match Predicate::from_code(number) {
        Some(predicate) => Ok(predicate),
        None => ops.error(format!("comparison {number} is not known")),
    }
}

/// Flags of a binary operation.
pub fn binary_flags(opcode: Opcode, bits: u64) -> Flags {
    let table: &[(u64, Flags)] = match opcode {
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Shl => {
            &[(1, Flags::NUW), (2, Flags::NSW)]
        }
        Opcode::UDiv | Opcode::SDiv | Opcode::LShr | Opcode::AShr => &[(1, Flags::EXACT)],
        Opcode::Or => &[(1, Flags::DISJOINT)],
        Opcode::FAdd | Opcode::FSub | Opcode::FMul | Opcode::FDiv | Opcode::FRem => {
            return fast_math_flags(bits);
        }
        _ => &[],
    };
    select_flags(table, bits)
}

/// Flags of a conversion.
pub fn cast_flags(opcode: Opcode, bits: u64) -> Flags {
    let table: &[(u64, Flags)] = match opcode {
        Opcode::Trunc => &[(1, Flags::NUW), (2, Flags::NSW)],
        Opcode::ZExt => &[(1, Flags::NNEG)],
        Opcode::UiToFp => return int_to_float_flags(bits),
        Opcode::SiToFp => return fast_math_flags(bits & !1),
        Opcode::FpTrunc | Opcode::FpExt => return fast_math_flags(bits),
        _ => &[],
    };
    select_flags(table, bits)
}

/// Flags of a conversion of unsigned integers to floating-point numbers, since LLVM 23 fast-math
/// flags above the one that there was before.
fn int_to_float_flags(bits: u64) -> Flags {
    select_flags(&[(1, Flags::NNEG)], bits) | fast_math_flags(bits >> 1 & !1)
}

/// Flags of an address computation; `inbounds` includes `nusw`.
pub fn address_flags(bits: u64) -> Flags {
    let nusw = if bits & 1 == 0 {
        Flags::NUSW
    } else {
        Flags::NONE
    };
    select_flags(&[(1, Flags::INBOUNDS), (2, nusw), (4, Flags::NUW)], bits)
}

/// Fast-math flags; the lowest bit means all of them (LLVM before 6).
pub fn fast_math_flags(bits: u64) -> Flags {
    if bits & 1 != 0 {
        return Flags::FAST;
    }
    let table = [
        (1 << 1, Flags::NNAN),
        (1 << 2, Flags::NINF),
        (1 << 3, Flags::NSZ),
        (1 << 4, Flags::ARCP),
        (1 << 5, Flags::CONTRACT),
        (1 << 6, Flags::AFN),
        (1 << 7, Flags::REASSOC),
    ];
    select_flags(&table, bits)
}

fn select_flags(table: &[(u64, Flags)], bits: u64) -> Flags {
    table
        .iter()
        .filter(|row| bits & row.0 != 0)
        .fold(Flags::NONE, |flags, row| flags | row.1)
}
