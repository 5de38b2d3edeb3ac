//! Operation codes: the numbers of operations, predicates and flags, for instructions and constant
//! expressions.

use super::record_operands::RecordOperands;
use crate::LlvmResult;
use crate::ir::{LlvmInstFlags, LlvmOpcode, Predicate};

/// Integer and floating-point operations by number.
const BINARY: [(LlvmOpcode, Option<LlvmOpcode>); 13] = [
    (LlvmOpcode::Add, Some(LlvmOpcode::FAdd)),
    (LlvmOpcode::Sub, Some(LlvmOpcode::FSub)),
    (LlvmOpcode::Mul, Some(LlvmOpcode::FMul)),
    (LlvmOpcode::UDiv, None),
    (LlvmOpcode::SDiv, Some(LlvmOpcode::FDiv)),
    (LlvmOpcode::URem, None),
    (LlvmOpcode::SRem, Some(LlvmOpcode::FRem)),
    (LlvmOpcode::Shl, None),
    (LlvmOpcode::LShr, None),
    (LlvmOpcode::AShr, None),
    (LlvmOpcode::And, None),
    (LlvmOpcode::Or, None),
    (LlvmOpcode::Xor, None),
];

/// Conversions by number.
const CASTS: [LlvmOpcode; 14] = [
    LlvmOpcode::Trunc,
    LlvmOpcode::ZExt,
    LlvmOpcode::SExt,
    LlvmOpcode::FpToUi,
    LlvmOpcode::FpToSi,
    LlvmOpcode::UiToFp,
    LlvmOpcode::SiToFp,
    LlvmOpcode::FpTrunc,
    LlvmOpcode::FpExt,
    LlvmOpcode::PtrToInt,
    LlvmOpcode::IntToPtr,
    LlvmOpcode::BitCast,
    LlvmOpcode::AddrSpaceCast,
    LlvmOpcode::PtrToAddr,
];

/// The operation with this number.
pub fn binary_opcode(number: u64, float: bool, ops: &RecordOperands<'_>) -> LlvmResult<LlvmOpcode> {
    let row = usize::try_from(number)
        .ok()
        .and_then(|number| BINARY.get(number));
    let opcode = row.and_then(|row| if float { row.1 } else { Some(row.0) });
    opcode.map_or_else(
        || ops.fail_with(format!("binary operation {number} is unknown")),
        Ok,
    )
}

/// The conversion whose number is the next operand.
pub fn cast_opcode(ops: &mut RecordOperands<'_>) -> LlvmResult<LlvmOpcode> {
    let number = ops.next()?;
    let opcode = usize::try_from(number)
        .ok()
        .and_then(|number| CASTS.get(number));
    opcode.map_or_else(
        || ops.fail_with(format!("conversion {number} is unknown")),
        |&op| Ok(op),
    )
}

/// The predicate whose number is the next operand.
pub fn read_predicate(ops: &mut RecordOperands<'_>) -> LlvmResult<Predicate> {
    let number = ops.next()?;
    match Predicate::from_code(number) {
        Some(predicate) => Ok(predicate),
        None => ops.fail_with(format!("comparison {number} is unknown")),
    }
}

/// Flags of a binary operation.
pub fn binary_flags(opcode: LlvmOpcode, bits: u64) -> LlvmInstFlags {
    let table: &[(u64, LlvmInstFlags)] = match opcode {
        LlvmOpcode::Add | LlvmOpcode::Sub | LlvmOpcode::Mul | LlvmOpcode::Shl => {
            &[(1, LlvmInstFlags::NUW), (2, LlvmInstFlags::NSW)]
        }
        LlvmOpcode::UDiv | LlvmOpcode::SDiv | LlvmOpcode::LShr | LlvmOpcode::AShr => {
            &[(1, LlvmInstFlags::EXACT)]
        }
        LlvmOpcode::Or => &[(1, LlvmInstFlags::DISJOINT)],
        LlvmOpcode::FAdd
        | LlvmOpcode::FSub
        | LlvmOpcode::FMul
        | LlvmOpcode::FDiv
        | LlvmOpcode::FRem => {
            return fast_math_flags(bits);
        }
        _ => &[],
    };
    select_flags(table, bits)
}

/// Flags of a conversion.
pub fn cast_flags(opcode: LlvmOpcode, bits: u64) -> LlvmInstFlags {
    let table: &[(u64, LlvmInstFlags)] = match opcode {
        LlvmOpcode::Trunc => &[(1, LlvmInstFlags::NUW), (2, LlvmInstFlags::NSW)],
        LlvmOpcode::ZExt => &[(1, LlvmInstFlags::NNEG)],
        LlvmOpcode::UiToFp => return int_to_float_flags(bits),
        LlvmOpcode::SiToFp => return fast_math_flags(bits & !1),
        LlvmOpcode::FpTrunc | LlvmOpcode::FpExt => return fast_math_flags(bits),
        _ => &[],
    };
    select_flags(table, bits)
}

/// Flags of a conversion from unsigned integers to floating point. Since LLVM 23, fast-math flags
/// stand above the single earlier flag.
fn int_to_float_flags(bits: u64) -> LlvmInstFlags {
    select_flags(&[(1, LlvmInstFlags::NNEG)], bits) | fast_math_flags(bits >> 1 & !1)
}

/// Flags of an address computation; `inbounds` includes `nusw`.
pub fn address_flags(bits: u64) -> LlvmInstFlags {
    let nusw = if bits & 1 == 0 {
        LlvmInstFlags::NUSW
    } else {
        LlvmInstFlags::NONE
    };
    select_flags(
        &[
            (1, LlvmInstFlags::INBOUNDS),
            (2, nusw),
            (4, LlvmInstFlags::NUW),
        ],
        bits,
    )
}

/// Fast-math flags. The lowest bit means all of them, as before LLVM 6.
pub fn fast_math_flags(bits: u64) -> LlvmInstFlags {
    if bits & 1 != 0 {
        return LlvmInstFlags::FAST;
    }
    let table = [
        (1 << 1, LlvmInstFlags::NNAN),
        (1 << 2, LlvmInstFlags::NINF),
        (1 << 3, LlvmInstFlags::NSZ),
        (1 << 4, LlvmInstFlags::ARCP),
        (1 << 5, LlvmInstFlags::CONTRACT),
        (1 << 6, LlvmInstFlags::AFN),
        (1 << 7, LlvmInstFlags::REASSOC),
    ];
    select_flags(&table, bits)
}

fn select_flags(table: &[(u64, LlvmInstFlags)], bits: u64) -> LlvmInstFlags {
    table
        .iter()
        .filter(|row| bits & row.0 != 0)
        .fold(LlvmInstFlags::NONE, |flags, row| flags | row.1)
}
