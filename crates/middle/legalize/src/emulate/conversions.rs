//! Conversions between numeric types, of which one at least is emulated.

use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

impl<'a> TypeEmulator<'a> {
    /// Emulates a conversion of which at least one type changes.
    pub fn emulate_conversion(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let from = self.find_shape(inst.id_operand(0));
        let to = inst.result().and_then(|id| self.find_shape(id));
        let (Some(from), Some(to), Some(ty)) = (from, to, inst.result_type()) else {
            return Err(self.diagnose_instruction(inst, "this conversion"));
        };
        let value = inst.id_operand(0);
        let converted = match inst.op() {
            Op::FConvert => self.convert_float_width(inst, from, to),
            Op::UConvert | Op::SConvert => {
                self.convert_integer_width(value, inst.op() == Op::SConvert, from, to, ty)
            }
            Op::ConvertUToF | Op::ConvertSToF => self.convert_to_float(inst, from, to)?,
            _ => self.convert_to_integer(inst, from, to)?,
        };
        self.replace_result(inst, converted);
        Ok(())
    }

    fn convert_float_width(
        &mut self,
        inst: InstRef<'a>,
        from: EmulatedShape,
        to: EmulatedShape,
    ) -> Id {
        match (from.kind, to.kind) {
            (EmulatedScalar::Half, EmulatedScalar::Float | EmulatedScalar::Half) => {
                inst.id_operand(0)
            }
            (EmulatedScalar::Half, _) => self.duplicate_instruction(inst, &[]),
            (EmulatedScalar::Float, _) => self.round_to_half(inst.id_operand(0), to.count),
            _ => {
                let value = self.duplicate_instruction(inst, &[]);
                self.round_to_half(value, to.count)
            }
        }
    }

    fn convert_integer_width(
        &mut self,
        value: Id,
        signed: bool,
        from: EmulatedShape,
        to: EmulatedShape,
        ty: Id,
    ) -> Id {
        let is_wide = |s: EmulatedShape| matches!(s.kind, EmulatedScalar::Wide { .. });
        let word = self.make_uint_type();
        if is_wide(from) && is_wide(to) {
            return value;
        }
        if is_wide(from) {
            let lanes = self.wide_lanes(value);
            let low: Vec<Id> = lanes.into_iter().map(|l| l[0]).collect();
            let ty_words = self.make_uint_vector_type(to.count);
            let low = match low[..] {
                [one] => one,
                _ => self.emit_value(Op::CompositeConstruct, ty_words, &low),
            };
            return match to.kind {
                EmulatedScalar::Narrow { .. } => self.mask_narrow(low, to),
                _ => self.cast_to_signed(low, to, ty),
            };
        }
        let whole = match from.kind {
            EmulatedScalar::Narrow { .. } if signed => self.extend_narrow_sign(value, from),
            _ => self.cast_to_unsigned(value, from),
        };
        if !is_wide(to) {
            return match to.kind {
                EmulatedScalar::Narrow { .. } => self.mask_narrow(whole, to),
                _ => self.cast_to_signed(whole, to, ty),
            };
        }
        let lanes: Vec<Id> = match from.count {
            1 => vec![whole],
            count => (0..count)
                .map(|n| self.extract_component(word, whole, n))
                .collect(),
        };
        let (zero, top) = (self.make_uint_constant(0), self.make_uint_constant(31));
        let mut converted = Vec::new();
        for low in lanes {
            let high = if signed {
                self.emit_value(Op::ShiftRightArithmetic, word, &[low, top])
            } else {
                zero
            };
            converted.push([low, high]);
        }
        self.join_words(&converted, Some(ty))
    }

    /// Converts an integer to a float.
    fn convert_to_float(
        &mut self,
        inst: InstRef<'a>,
        from: EmulatedShape,
        to: EmulatedShape,
    ) -> Result<Id, SourceDiagnostic> {
        let signed = inst.op() == Op::ConvertSToF;
        if !matches!(from.kind, EmulatedScalar::Wide { .. }) {
            let value = match from.kind {
                EmulatedScalar::Narrow { .. } if signed => {
                    self.extend_narrow_sign(inst.id_operand(0), from)
                }
                _ => inst.id_operand(0),
            };
            let converted = self.duplicate_instruction(inst, &[(inst.id_operand(0), value)]);
            return Ok(match to.kind {
                EmulatedScalar::Half => self.round_to_half(converted, to.count),
                _ => converted,
            });
        }
        let mut floats = Vec::new();
        for lane in self.wide_lanes(inst.id_operand(0)) {
            floats.push(match to.kind {
                EmulatedScalar::Long => self.wide_to_double(lane, signed, inst)?,
                _ => self.wide_to_float(lane, signed),
            });
        }
        let ty = inst.result_type();
        let converted = match (&floats[..], ty) {
            ([one], _) => *one,
            (all, Some(ty)) => self.emit_value(Op::CompositeConstruct, ty, all),
            (all, None) => all[0],
        };
        Ok(match to.kind {
            EmulatedScalar::Half => self.round_to_half(converted, to.count),
            _ => converted,
        })
    }

    /// The nearest float of the highest word; the lowest bit of that word is set if any lower bit is.
    fn wide_to_float(&mut self, lane: [Id; 2], signed: bool) -> Id {
        let (word, float, truth) = (
            self.make_uint_type(),
            self.make_float_type(),
            self.make_bool_type(),
        );
        let is_negative = self.is_negative(lane);
        let size = if signed {
            let minus = self.negate_wide(lane);
            self.select_wide(is_negative, minus, lane)
        } else {
            lane
        };
        let (zero, one, most) = (
            self.make_uint_constant(0),
            self.make_uint_constant(1),
            self.make_uint_constant(31),
        );
        let is_low = self.emit_value(Op::IEqual, truth, &[size[1], zero]);
        let highest = self.call_glsl(glsl::FIND_UMSB, word, &[size[1]]);
        let up = self.emit_value(Op::ISub, word, &[most, highest]);
        let up = self.emit_value(Op::BitwiseAnd, word, &[up, most]);
        let is_none = self.emit_value(Op::IEqual, truth, &[up, zero]);
        let moved = self.emit_value(Op::ShiftLeftLogical, word, &[size[1], up]);
        let thirty_two = self.make_uint_constant(32);
        let down = self.emit_value(Op::ISub, word, &[thirty_two, up]);
        let down = self.emit_value(Op::BitwiseAnd, word, &[down, most]);
        let over = self.emit_value(Op::ShiftRightLogical, word, &[size[0], down]);
        let over = self.emit_value(Op::Select, word, &[is_none, zero, over]);
        let top = self.emit_value(Op::BitwiseOr, word, &[moved, over]);
        let rest = self.emit_value(Op::ShiftLeftLogical, word, &[size[0], up]);
        let is_more = self.emit_value(Op::INotEqual, truth, &[rest, zero]);
        let sticky = self.emit_value(Op::Select, word, &[is_more, one, zero]);
        let top = self.emit_value(Op::BitwiseOr, word, &[top, sticky]);
        let top = self.emit_value(Op::ConvertUToF, float, &[top]);
        // Two to the power of the remaining shift.
        let (bias, by) = (
            self.make_uint_constant(127 + 32),
            self.make_uint_constant(23),
        );
        let exponent = self.emit_value(Op::ISub, word, &[bias, up]);
        let scale = self.emit_value(Op::ShiftLeftLogical, word, &[exponent, by]);
        let scale = self.emit_value(Op::Bitcast, float, &[scale]);
        let large = self.emit_value(Op::FMul, float, &[top, scale]);
        let small = self.emit_value(Op::ConvertUToF, float, &[size[0]]);
        let found = self.emit_value(Op::Select, float, &[is_low, small, large]);
        if signed {
            let minus = self.emit_value(Op::FNegate, float, &[found]);
            self.emit_value(Op::Select, float, &[is_negative, minus, found])
        } else {
            found
        }
    }

    /// Both words are exact; their sum is rounded once.
    fn wide_to_double(
        &mut self,
        lane: [Id; 2],
        signed: bool,
        inst: InstRef<'a>,
    ) -> Result<Id, SourceDiagnostic> {
        let double = self.make_type(Op::TypeFloat, &[64]);
        let int = self.make_type(Op::TypeInt, &[32, 1]);
        if inst.result_type().is_none() {
            return Err(self.diagnose_instruction(inst, "this conversion"));
        }
        let high = if signed {
            let high = self.emit_value(Op::Bitcast, int, &[lane[1]]);
            self.emit_value(Op::ConvertSToF, double, &[high])
        } else {
            self.emit_value(Op::ConvertUToF, double, &[lane[1]])
        };
        let low = self.emit_value(Op::ConvertUToF, double, &[lane[0]]);
        let scale = self.make_double_constant(4_294_967_296.0);
        let high = self.emit_value(Op::FMul, double, &[high, scale]);
        Ok(self.emit_value(Op::FAdd, double, &[high, low]))
    }

    fn make_double_constant(&mut self, value: f64) -> Id {
        let ty = self.make_type(Op::TypeFloat, &[64]);
        let bits = value.to_bits();
        let id = self.m.fresh_id();
        let words = [ty.word(), id.word(), bits as u32, (bits >> 32) as u32];
        self.insert_declaration(Op::Constant, &words);
        id
    }

    /// Converts a float to an integer.
    fn convert_to_integer(
        &mut self,
        inst: InstRef<'a>,
        from: EmulatedShape,
        to: EmulatedShape,
    ) -> Result<Id, SourceDiagnostic> {
        if !matches!(to.kind, EmulatedScalar::Wide { .. }) {
            let converted = self.duplicate_instruction(inst, &[]);
            return Ok(match to.kind {
                EmulatedScalar::Narrow { .. } => self.mask_narrow(converted, to),
                _ => converted,
            });
        }
        let signed = inst.op() == Op::ConvertFToS;
        let is_long = from.kind == EmulatedScalar::Long;
        let (word, truth) = (self.make_uint_type(), self.make_bool_type());
        let ty = if is_long {
            self.make_type(Op::TypeFloat, &[64])
        } else {
            self.make_float_type()
        };
        let mut lanes = Vec::new();
        for n in 0..to.count {
            let value = match from.count {
                1 => inst.id_operand(0),
                _ => self.extract_component(ty, inst.id_operand(0), n),
            };
            let (scale, zero) = if is_long {
                (
                    self.make_double_constant(1.0 / 4_294_967_296.0),
                    self.make_double_constant(0.0),
                )
            } else {
                (
                    self.splat_float(1.0 / 4_294_967_296.0, 1),
                    self.splat_float(0.0, 1),
                )
            };
            let back = if is_long {
                self.make_double_constant(-4_294_967_296.0)
            } else {
                self.splat_float(-4_294_967_296.0, 1)
            };
            let is_negative = self.emit_value(Op::FOrdLessThan, truth, &[value, zero]);
            let size = self.call_glsl(glsl::FABS, ty, &[value]);
            let size = self.call_glsl(glsl::TRUNC, ty, &[size]);
            let high = self.emit_value(Op::FMul, ty, &[size, scale]);
            let high = self.call_glsl(glsl::TRUNC, ty, &[high]);
            let taken = self.emit_value(Op::FMul, ty, &[high, back]);
            let low = self.emit_value(Op::FAdd, ty, &[size, taken]);
            let high = self.emit_value(Op::ConvertFToU, word, &[high]);
            let low = self.emit_value(Op::ConvertFToU, word, &[low]);
            let lane = [low, high];
            lanes.push(if signed {
                let minus = self.negate_wide(lane);
                self.select_wide(is_negative, minus, lane)
            } else {
                lane
            });
        }
        Ok(self.join_words(&lanes, inst.result_type()))
    }
}
