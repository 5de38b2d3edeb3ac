//! Bit casts between types, and bit counts of integers.

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::glsl_std_450 as glsl;
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// Casts a scalar to another one of the same width.
    pub fn bitcast_scalar(&mut self, value: Id, from: MemoryScalar, to: MemoryScalar) -> Id {
        let (from, to) = (from.to_stored_scalar(), to.to_stored_scalar());
        if from == to {
            return value;
        }
        let ty = self.make_scalar_type(to);
        match (from, to) {
            (MemoryScalar::Bool, _) => {
                let (one, zero) = (self.make_uint_constant(8, 1), self.make_uint_constant(8, 0));
                self.emit_value(Op::Select, ty, &[value, one, zero])
            }
            (_, MemoryScalar::Bool) => {
                let zero = self.make_uint_constant(8, 0);
                self.emit_value(Op::INotEqual, ty, &[value, zero])
            }
            _ => self.emit_value(Op::Bitcast, ty, &[value]),
        }
    }

    /// Joins consecutive scalars into one, the first the lowest.
    pub fn join_pieces(&mut self, pieces: Vec<Id>, from: MemoryScalar, to: MemoryScalar) -> Id {
        if let [only] = pieces[..] {
            return self.bitcast_scalar(only, from, to);
        }
        let piece = self.make_scalar_type(from);
        if pieces.len() > 4 {
            let half = MemoryScalar::Int(to.size() * 4);
            let (low, high) = pieces.split_at(pieces.len() / 2);
            let low = self.join_pieces(low.to_vec(), from, half);
            let high = self.join_pieces(high.to_vec(), from, half);
            return self.join_pieces(vec![low, high], half, to);
        }
        let vector = self.b.vector_type(piece, pieces.len() as u32);
        let vector = self.emit_value(Op::CompositeConstruct, vector, &pieces);
        let ty = self.make_scalar_type(to);
        self.emit_value(Op::Bitcast, ty, &[vector])
    }

    /// Splits a scalar into consecutive ones, the lowest first.
    pub fn split_pieces(&mut self, value: Id, from: MemoryScalar, to: MemoryScalar) -> Vec<Id> {
        let count = from.size() / to.size();
        if count <= 1 {
            return vec![self.bitcast_scalar(value, from, to)];
        }
        let part = self.make_scalar_type(to);
        if count > 4 {
            let half = MemoryScalar::Int(from.size() * 4);
            let halves = self.split_pieces(value, from, half);
            let halves = halves.into_iter();
            return halves
                .flat_map(|h| self.split_pieces(h, half, to))
                .collect();
        }
        let vector = self.b.vector_type(part, count);
        let vector = self.emit_value(Op::Bitcast, vector, &[value]);
        (0..count)
            .map(|n| self.extract_component(part, vector, n))
            .collect()
    }
}

/// `OpBitcast` between values that are no pointers.
pub fn lower_value_bitcast(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let result = expect_result(inst);
    let (operand, ty) = (inst.id_operand(0), l.result_type(result)?);
    let ((from, n), (to, m)) = (
        l.find_component_scalar(operand)?,
        l.find_component_scalar(result)?,
    );
    let value = l.lower_operand(operand)?;
    if n <= 4 && m <= 4 {
        return Ok(if l.b.type_of(value) == Some(ty) {
            value
        } else {
            l.emit_value(Op::Bitcast, ty, &[value])
        });
    }
    let lanes = l.lanes_of(operand)?;
    let parts = if to.size() >= from.size() {
        let each = (to.size() / from.size()) as usize;
        let joined = lanes
            .chunks(each)
            .map(|c| l.join_pieces(c.to_vec(), from, to));
        joined.collect()
    } else {
        let split = lanes
            .into_iter()
            .flat_map(|lane| l.split_pieces(lane, from, to));
        split.collect()
    };
    Ok(l.construct_composite(ty, parts))
}

impl ShaderLowering<'_> {
    /// Truncates or zero-extends an integer.
    pub fn resize_int(&mut self, value: Id, from: u32, to: u32) -> Id {
        if from == to {
            return value;
        }
        let ty = self.make_int_type(to);
        self.emit_value(Op::UConvert, ty, &[value])
    }

    /// An operation that Vulkan has for 32 bits only, for any width. `join` combines the results of the low and high half of
    /// 64 bits.
    fn compute_by_words(
        &mut self,
        value: Id,
        width: u32,
        make: &mut dyn FnMut(&mut Self, Id) -> Id,
        join: &mut dyn FnMut(&mut Self, Id, Id) -> Id,
    ) -> Id {
        if width <= 32 {
            let wide = self.resize_int(value, width, 32);
            return make(self, wide);
        }
        let words = self.split_pieces(value, MemoryScalar::Int(64), MemoryScalar::Int(32));
        let (low, high) = (make(self, words[0]), make(self, words[1]));
        join(self, low, high)
    }

    /// The number of set bits.
    pub fn bit_count(&mut self, value: Id, width: u32) -> Id {
        let word = self.make_int_type(32);
        // Of narrow integers a bit field is extracted: NVIDIA's driver 580 counts the sign bits of bytes that it loads, even if they are
        // masked.
        let field = (width < 32).then(|| {
            (
                self.make_uint_constant(32, 0),
                self.make_uint_constant(32, u64::from(width)),
            )
        });
        let mut make = |l: &mut Self, v| {
            let v = match field {
                Some((zero, all)) => l.emit_value(Op::BitFieldUExtract, word, &[v, zero, all]),
                None => v,
            };
            l.emit_value(Op::BitCount, word, &[v])
        };
        let count = self.compute_by_words(value, width, &mut make, &mut |l, low, high| {
            l.emit_value(Op::IAdd, word, &[low, high])
        });
        self.resize_int(count, 32, width)
    }

    /// The bits in reverse order.
    pub fn bit_reverse(&mut self, value: Id, width: u32) -> Id {
        let word = self.make_int_type(32);
        if width == 64 {
            let words = self.split_pieces(value, MemoryScalar::Int(64), MemoryScalar::Int(32));
            let reversed = words
                .iter()
                .rev()
                .map(|w| self.emit_value(Op::BitReverse, word, &[*w]));
            let reversed = reversed.collect();
            return self.join_pieces(reversed, MemoryScalar::Int(32), MemoryScalar::Int(64));
        }
        let wide = self.resize_int(value, width, 32);
        let reversed = self.emit_value(Op::BitReverse, word, &[wide]);
        let shift = self.make_uint_constant(32, u64::from(32 - width));
        let low = self.emit_value(Op::ShiftRightLogical, word, &[reversed, shift]);
        self.resize_int(low, 32, width)
    }

    /// The number of zeros above the highest set bit.
    pub fn leading_zeros(&mut self, value: Id, width: u32) -> Id {
        let word = self.make_int_type(32);
        let (top, five) = (
            self.make_uint_constant(32, 31),
            self.make_uint_constant(32, 32),
        );
        // The position of the highest bit of zero is -1, so that all 32 bits are counted.
        let mut count = |l: &mut Self, v| {
            let highest = l.emit_glsl(glsl::FIND_UMSB, word, &[v]);
            l.emit_value(Op::ISub, word, &[top, highest])
        };
        let mut join = |l: &mut Self, low, high| {
            let truth = l.b.bool_type();
            let none = l.emit_value(Op::IEqual, truth, &[high, five]);
            let both = l.emit_value(Op::IAdd, word, &[low, five]);
            l.emit_value(Op::Select, word, &[none, both, high])
        };
        let count = self.compute_by_words(value, width, &mut count, &mut join);
        let count = match width {
            8 | 16 => {
                let above = self.make_uint_constant(32, u64::from(32 - width));
                self.emit_value(Op::ISub, word, &[count, above])
            }
            _ => count,
        };
        self.resize_int(count, 32, width)
    }

    /// The number of zeros below the lowest set bit; the width for zero.
    pub fn trailing_zeros(&mut self, value: Id, width: u32) -> Id {
        // The bits below the lowest one: ~v & (v - 1).
        let ty = self.make_int_type(width);
        let one = self.make_uint_constant(width, 1);
        let less = self.emit_value(Op::ISub, ty, &[value, one]);
        let not = self.emit_value(Op::Not, ty, &[value]);
        let below = self.emit_value(Op::BitwiseAnd, ty, &[not, less]);
        self.bit_count(below, width)
    }
}

/// `OpBitCount`.
pub fn lower_bit_count(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.find_component_scalar(inst.id_operand(0))?;
    let (to, _) = l.find_component_scalar(expect_result(inst))?;
    l.each_scalar(inst, &[inst.id_operand(0)], |l, _, v| {
        let count = l.bit_count(v[0], scalar.size() * 8);
        l.resize_int(count, scalar.size() * 8, to.size() * 8)
    })
}

/// `OpBitReverse`.
pub fn lower_bit_reverse(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.find_component_scalar(inst.id_operand(0))?;
    l.each_scalar(inst, &[inst.id_operand(0)], |l, _, v| {
        l.bit_reverse(v[0], scalar.size() * 8)
    })
}
