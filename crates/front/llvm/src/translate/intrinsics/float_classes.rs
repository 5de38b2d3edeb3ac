//! Floating-point classes: `llvm.is.fpclass`.

use super::super::function_body::FunctionTranslator;
use crate::ir::Predicate;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Sets of classes, as the intrinsic numbers them, that an instruction tests.
const QUERIES: &[(u64, Op)] = &[
    (0x003, Op::IsNan),
    (0x204, Op::IsInf),
    (0x1f8, Op::IsFinite),
    (0x108, Op::IsNormal),
];

/// All classes.
const ALL: u64 = 0x3ff;

/// An inclusive range of representations that belong to a class.
type FloatClassRange = (u64, u64);

/// `llvm.is.fpclass(x, classes)`
pub(super) fn is_class(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let Some(classes) = body.t.module.as_u64(call.arg(1)?) else {
        return Err(make_refusal("the classes must be a constant"));
    };
    let shape = body.shape_of(call.arg(0)?)?;
    if !shape.is_float() {
        return Err(make_refusal("the operand is not a float"));
    }
    let value = body.lower_value(call.arg(0)?)?;
    let found = match find_class_tests(classes) {
        // The instructions exist only for formats with arithmetic.
        _ if shape.elem == NumericElement::Brain => body.in_ranges(shape, value, classes)?,
        Some(ops) => body.emit_class_tests(shape, value, &ops),
        None => match find_class_tests(ALL & !classes) {
            Some(ops) => {
                let others = body.emit_class_tests(shape, value, &ops);
                let ty = body.t.shape_type(shape.as_bool());
                body.emit_op(Op::LogicalNot, ty, [others])
            }
            None => body.in_ranges(shape, value, classes)?,
        },
    };
    Ok(Some(found))
}

/// The instructions that together test exactly these classes.
fn find_class_tests(classes: u64) -> Option<Vec<Op>> {
    let mut rest = classes & ALL;
    let mut ops = Vec::new();
    for &(union, op) in QUERIES {
        if rest & union == union {
            rest &= !union;
            ops.push(op);
        }
    }
    (rest == 0).then_some(ops)
}

/// The bits of the fraction of a float.
fn fraction_bits(shape: NumericShape) -> u32 {
    match (shape.elem, shape.width) {
        (NumericElement::Brain, _) => 7,
        (_, 16) => 10,
        (_, 32) => 23,
        _ => 52,
    }
}

/// The representations of each class of floats of a width, by the bit of the class.
fn class_ranges(width: u32, fraction: u32) -> [FloatClassRange; 10] {
    let sign = 1u64 << (width - 1);
    let infinity = (sign - 1) & !((1 << fraction) - 1);
    let (quiet, normal) = (infinity | 1 << (fraction - 1), 1 << fraction);
    [
        (infinity + 1, quiet - 1),
        (quiet, sign - 1),
        (sign | infinity, sign | infinity),
        (sign | normal, (sign | infinity) - 1),
        (sign | 1, (sign | normal) - 1),
        (sign, sign),
        (0, 0),
        (1, normal - 1),
        (normal, infinity - 1),
        (infinity, infinity),
    ]
}

impl FunctionTranslator<'_, '_> {
    /// Whether one of several test instructions holds.
    fn emit_class_tests(&mut self, shape: NumericShape, value: Id, ops: &[Op]) -> Id {
        let ty = self.t.shape_type(shape.as_bool());
        let mut found: Option<Id> = None;
        for op in ops {
            let is = self.emit_op(*op, ty, [value]);
            found = Some(match found {
                Some(other) => self.emit_op(Op::LogicalOr, ty, [other, is]),
                None => is,
            });
        }
        match found {
            Some(id) => id,
            None => self.t.make_zero(shape.as_bool()),
        }
    }

    /// Whether the representation of a float belongs to one of the classes. The sign of NaNs is
    /// ignored.
    fn in_ranges(&mut self, shape: NumericShape, value: Id, classes: u64) -> LlvmResult<Id> {
        let int = shape.as_int(shape.width);
        let (ty, bool) = (self.t.shape_type(int), self.t.shape_type(int.as_bool()));
        let bits = self.emit_op(Op::Bitcast, ty, [value]);
        let magnitude = self.t.make_splat(int, (1 << (shape.width - 1)) - 1);
        let magnitude = self.emit_op(Op::BitwiseAnd, ty, [bits, magnitude]);
        let mut found = self.t.make_zero(int.as_bool());
        for (class, (from, to)) in class_ranges(shape.width, fraction_bits(shape))
            .into_iter()
            .enumerate()
        {
            if classes >> class & 1 == 0 {
                continue;
            }
            let start = self.t.make_splat(int, from);
            let span = self.t.make_splat(int, to - from);
            let of = if class < 2 { magnitude } else { bits };
            let distance = self.emit_op(Op::ISub, ty, [of, start]);
            let is = self.compare_numbers(Predicate::Ule, int, distance, span)?;
            found = self.emit_op(Op::LogicalOr, bool, [found, is]);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_representation_has_one_class() {
        let all = class_ranges(16, 10);
        for bits in 0..=u64::from(u16::MAX) {
            let magnitude = bits & 0x7fff;
            let found = all.iter().enumerate().filter(|(class, range)| {
                let of = if *class < 2 { magnitude } else { bits };
                (range.0..=range.1).contains(&of)
            });
            assert_eq!(found.count(), 1, "{bits:#x}");
        }
        assert_eq!(all[9], (0x7c00, 0x7c00));
    }

    #[test]
    fn unions_are_tested_by_instructions() {
        assert_eq!(find_class_tests(0x207).map(|ops| ops.len()), Some(2));
        assert!(find_class_tests(0x001).is_none());
    }
}
