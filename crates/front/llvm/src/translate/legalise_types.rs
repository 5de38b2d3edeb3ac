//! Type legalisation: integers of widths and vectors of lengths that SPIR-V does not have, and bit
//! casts.
//!
//! An integer of an odd width is zero-extended in the next wider one. Operations that may set
//! higher bits are followed by a mask. Operations that depend on the sign extend it first.

use super::function_body::FunctionTranslator;
use super::shapes::{NumericElement, NumericShape, make_width_mask};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl FunctionTranslator<'_, '_> {
    /// The value with the bits above its width cleared.
    pub(super) fn mask_high_bits(&mut self, shape: NumericShape, id: Id) -> Id {
        if !shape.is_odd() {
            return id;
        }
        let ty = self.t.shape_type(shape);
        let bits = self.t.make_splat(shape, make_width_mask(shape.bits));
        self.emit_op(Op::BitwiseAnd, ty, [id, bits])
    }

    /// The value with its sign extended into the bits above its width.
    pub(super) fn sign_extend_value(&mut self, shape: NumericShape, id: Id) -> Id {
        if !shape.is_odd() {
            return id;
        }
        let ty = self.t.shape_type(shape);
        let by = self
            .t
            .make_splat(shape, u64::from(shape.width - shape.bits));
        let high = self.emit_op(Op::ShiftLeftLogical, ty, [id, by]);
        self.emit_op(Op::ShiftRightArithmetic, ty, [high, by])
    }

    /// One lane of a value.
    pub(super) fn extract_lane(&mut self, shape: NumericShape, id: Id, lane: u32) -> Id {
        if shape.padded == 1 {
            return id;
        }
        let ty = self.t.shape_type(shape.to_scalar());
        self.t
            .b
            .append_value(Op::CompositeExtract, ty, &[id.word(), lane])
    }

    /// All lanes of a value.
    pub(super) fn extract_lanes(&mut self, shape: NumericShape, id: Id) -> Vec<Id> {
        (0..shape.lanes)
            .map(|lane| self.extract_lane(shape, id, lane))
            .collect()
    }

    /// A value from its lanes.
    pub(super) fn compose_vector(&mut self, shape: NumericShape, lanes: &[Id]) -> Id {
        if shape.padded == 1 {
            return lanes[0];
        }
        let ty = self.t.shape_type(shape);
        let pad = self.t.make_zero(shape.to_scalar());
        let words: Vec<u32> = lanes
            .iter()
            .chain(std::iter::repeat(&pad))
            .take(shape.padded as usize)
            .map(|id| id.word())
            .collect();
        self.t.b.append_value(Op::CompositeConstruct, ty, &words)
    }

    /// A scalar in every lane.
    pub(super) fn splat_scalar(&mut self, shape: NumericShape, scalar: Id) -> Id {
        if shape.padded == 1 {
            return scalar;
        }
        let ty = self.t.shape_type(shape);
        let words = vec![scalar.word(); shape.padded as usize];
        self.t.b.append_value(Op::CompositeConstruct, ty, &words)
    }

    /// `yes` or `no`, selected by a condition. The condition may be a scalar for vector operands.
    pub(super) fn emit_select(&mut self, ty: Id, condition: Id, yes: Id, no: Id) -> Id {
        self.emit_op(Op::Select, ty, [condition, yes, no])
    }

    /// A Boolean as an integer or float. True becomes 1, or -1 if `signed`.
    pub(super) fn convert_boolean(&mut self, condition: Id, to: NumericShape, signed: bool) -> Id {
        let ty = self.t.shape_type(to);
        let one = match to.elem {
            NumericElement::Float | NumericElement::Brain => self.t.splat_one(to, signed),
            _ => self
                .t
                .make_splat(to, if signed { make_width_mask(to.bits) } else { 1 }),
        };
        let zero = self.t.make_zero(to);
        self.emit_select(ty, condition, one, zero)
    }

    /// Whether an integer is not zero.
    pub(super) fn is_nonzero(&mut self, shape: NumericShape, id: Id) -> Id {
        let ty = self.t.shape_type(shape.as_bool());
        let zero = self.t.make_zero(shape);
        self.emit_op(Op::INotEqual, ty, [id, zero])
    }

    /// Zero- or sign-extends or truncates an integer. Both shapes must have widths that SPIR-V has.
    pub(super) fn resize_integer(
        &mut self,
        from: NumericShape,
        to: NumericShape,
        id: Id,
        signed: bool,
    ) -> Id {
        if from.width == to.width {
            return id;
        }
        let ty = self.t.shape_type(to);
        let op = if signed { Op::SConvert } else { Op::UConvert };
        self.emit_op(op, ty, [id])
    }

    /// A float in a format with arithmetic: formats with a short significand are widened.
    pub(super) fn promote_float(&mut self, shape: NumericShape, id: Id) -> Id {
        if shape.elem != NumericElement::Brain {
            return id;
        }
        let ty = self.t.shape_type(shape.as_float());
        self.emit_op(Op::FConvert, ty, [id])
    }

    /// Converts the result of arithmetic on [`FunctionTranslator::promote_float`] floats back to
    /// their own format.
    pub(super) fn demote_float(&mut self, shape: NumericShape, id: Id) -> Id {
        if shape.elem != NumericElement::Brain {
            return id;
        }
        let ty = self.t.shape_type(shape);
        self.emit_op(Op::FConvert, ty, [id])
    }

    /// The type that arithmetic on a shape is of.
    pub(super) fn arithmetic_type(&mut self, shape: NumericShape) -> Id {
        self.t.shape_type(match shape.elem {
            NumericElement::Brain => shape.as_float(),
            _ => shape,
        })
    }

    /// Reinterprets the bits of a value as another shape.
    pub(super) fn emit_bitcast(
        &mut self,
        from: NumericShape,
        to: NumericShape,
        id: Id,
    ) -> LlvmResult<Id> {
        if (from.elem, from.bits, from.lanes) == (to.elem, to.bits, to.lanes) {
            return Ok(id);
        }
        if from.bits * from.lanes != to.bits * to.lanes {
            return Err(make_refusal("a bit cast between types of different sizes"));
        }
        let whole = from.is_exact() && to.is_exact();
        if whole && from.width * from.padded == to.width * to.padded {
            let ty = self.t.shape_type(to);
            return Ok(self.emit_op(Op::Bitcast, ty, [id]));
        }
        let lanes = self.extract_lanes(from, id);
        let lanes = self.regroup_bits(from.to_scalar(), to.to_scalar(), &lanes)?;
        Ok(self.compose_vector(to, &lanes))
    }

    /// Reinterprets the concatenated bits of scalars as scalars of another shape.
    pub(super) fn regroup_bits(
        &mut self,
        from: NumericShape,
        to: NumericShape,
        lanes: &[Id],
    ) -> LlvmResult<Vec<Id>> {
        let size = greatest_common_divisor(from.bits, to.bits);
        let mut chunks = Vec::new();
        for &lane in lanes {
            self.split_scalar(from, to, lane, size, &mut chunks);
        }
        let per_lane = (to.bits / size) as usize;
        if !chunks.len().is_multiple_of(per_lane) {
            return Err(make_refusal("a bit cast between types of different sizes"));
        }
        Ok(chunks
            .chunks(per_lane)
            .map(|chunks| self.join_chunks(to, chunks, size))
            .collect())
    }

    /// Splits a scalar into pieces of `size` bits, as integers of the same width as the lanes of
    /// `to`.
    fn split_scalar(
        &mut self,
        from: NumericShape,
        to: NumericShape,
        id: Id,
        size: u32,
        chunks: &mut Vec<Id>,
    ) {
        let target = NumericShape::new_int(to.width.max(8), 1);
        let source = NumericShape::new_int(from.width.max(8), 1);
        let source_type = self.t.shape_type(source);
        let whole = match from.elem {
            NumericElement::Bool => self.convert_boolean(id, source, false),
            NumericElement::Float | NumericElement::Brain => {
                self.emit_op(Op::Bitcast, source_type, [id])
            }
            NumericElement::Int => id,
        };
        for piece in 0..from.bits / size {
            let mut part = whole;
            if piece > 0 {
                let by = self.t.make_splat(source, u64::from(piece * size));
                part = self.emit_op(Op::ShiftRightLogical, source_type, [part, by]);
            }
            part = self.resize_integer(source, target, part, false);
            if size < target.width && piece + 1 < from.bits / size {
                let ty = self.t.shape_type(target);
                let bits = self.t.make_splat(target, make_width_mask(size));
                part = self.emit_op(Op::BitwiseAnd, ty, [part, bits]);
            }
            chunks.push(part);
        }
    }

    /// Joins pieces of `size` bits to a scalar.
    fn join_chunks(&mut self, to: NumericShape, chunks: &[Id], size: u32) -> Id {
        let whole = NumericShape::new_int(to.width.max(8), 1);
        let ty = self.t.shape_type(whole);
        let mut all = chunks[0];
        for (piece, &chunk) in chunks.iter().enumerate().skip(1) {
            let by = self.t.make_splat(whole, piece as u64 * u64::from(size));
            let high = self.emit_op(Op::ShiftLeftLogical, ty, [chunk, by]);
            all = self.emit_op(Op::BitwiseOr, ty, [all, high]);
        }
        match to.elem {
            NumericElement::Bool => self.is_nonzero(whole, all),
            NumericElement::Float | NumericElement::Brain => {
                let ty = self.t.shape_type(to);
                self.emit_op(Op::Bitcast, ty, [all])
            }
            NumericElement::Int => all,
        }
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
