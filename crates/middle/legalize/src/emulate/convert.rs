//! Conversions between numbers.

use super::emitter::TypeEmulator;
use super::kinds::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

impl<'a> TypeEmulator<'a> {
    /// A conversion of which either side changes.
    pub fn convert(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let from = self.shape(inst.id(0));
        let to = inst.result().and_then(|id| self.shape(id));
        let (Some(from), Some(to), Some(ty)) = (from, to, inst.result_type()) else {
            return Err(self.refuse(inst, "this conversion"));
        };
        let value = inst.id(0);
        let made = match inst.op() {
            Op::FConvert => self.between_floats(inst, from, to),
            Op::UConvert | Op::SConvert => {
                self.between_integers(value, inst.op() == Op::SConvert, (from, to), ty)
            }
            Op::ConvertUToF | Op::ConvertSToF => self.of_integers(inst, from, to)?,
            _ => self.of_floats(inst, from, to)?,
        };
        self.becomes(inst, made);
        Ok(())
    }

    fn between_floats(&mut self, inst: InstRef<'a>, from: EmulatedShape, to: EmulatedShape) -> Id {
        match (from.kind, to.kind) {
            (EmulatedScalar::Half, EmulatedScalar::Float | EmulatedScalar::Half) => inst.id(0),
            (EmulatedScalar::Half, _) => self.again(inst, &[]),
            (EmulatedScalar::Float, _) => self.rounded(inst.id(0), to.count),
            _ => {
                let value = self.again(inst, &[]);
                self.rounded(value, to.count)
            }
        }
    }

    fn between_integers(
        &mut self,
        value: Id,
        signed: bool,
        (from, to): (EmulatedShape, EmulatedShape),
        ty: Id,
    ) -> Id {
        let is_wide = |s: EmulatedShape| matches!(s.kind, EmulatedScalar::Wide { .. });
        let word = self.uint();
        if is_wide(from) && is_wide(to) {
            return value;
        }
        if is_wide(from) {
            let lanes = self.wide_lanes(value);
            let low: Vec<Id> = lanes.into_iter().map(|l| l[0]).collect();
            let ty_words = self.uints(to.count);
            let low = match low[..] {
                [one] => one,
                _ => self.op(Op::CompositeConstruct, ty_words, &low),
            };
            return match to.kind {
                EmulatedScalar::Narrow { .. } => self.masked(low, to),
                _ => self.signed(low, to, ty),
            };
        }
        let whole = match from.kind {
            EmulatedScalar::Narrow { .. } if signed => self.extended_sign(value, from),
            _ => self.unsigned(value, from),
        };
        if !is_wide(to) {
            return match to.kind {
                EmulatedScalar::Narrow { .. } => self.masked(whole, to),
                _ => self.signed(whole, to, ty),
            };
        }
        let lanes: Vec<Id> = match from.count {
            1 => vec![whole],
            count => (0..count).map(|n| self.extract(word, whole, n)).collect(),
        };
        let (zero, top) = (self.number(0), self.number(31));
        let mut made = Vec::new();
        for low in lanes {
            let high = match signed {
                true => self.op(Op::ShiftRightArithmetic, word, &[low, top]),
                false => zero,
            };
            made.push([low, high]);
        }
        self.joined(&made, Some(ty))
    }

    /// A float of an integer.
    fn of_integers(
        &mut self,
        inst: InstRef<'a>,
        from: EmulatedShape,
        to: EmulatedShape,
    ) -> Result<Id, SourceDiagnostic> {
        let signed = inst.op() == Op::ConvertSToF;
        if !matches!(from.kind, EmulatedScalar::Wide { .. }) {
            let value = match from.kind {
                EmulatedScalar::Narrow { .. } if signed => self.extended_sign(inst.id(0), from),
                _ => inst.id(0),
            };
            let made = self.again(inst, &[(inst.id(0), value)]);
            return Ok(match to.kind {
                EmulatedScalar::Half => self.rounded(made, to.count),
                _ => made,
            });
        }
        let mut floats = Vec::new();
        for lane in self.wide_lanes(inst.id(0)) {
            floats.push(match to.kind {
                EmulatedScalar::Long => self.wide_to_double(lane, signed, inst)?,
                _ => self.wide_to_float(lane, signed),
            });
        }
        let ty = inst.result_type();
        let made = match (&floats[..], ty) {
            ([one], _) => *one,
            (all, Some(ty)) => self.op(Op::CompositeConstruct, ty, all),
            (all, None) => all[0],
        };
        Ok(match to.kind {
            EmulatedScalar::Half => self.rounded(made, to.count),
            _ => made,
        })
    }

    /// The nearest float: of the highest word, whose lowest bit says whether anything is below it.
    fn wide_to_float(&mut self, lane: [Id; 2], signed: bool) -> Id {
        let (word, float, truth) = (self.uint(), self.float(), self.truth());
        let is_negative = self.is_negative(lane);
        let size = match signed {
            true => {
                let minus = self.negated(lane);
                self.chosen(is_negative, minus, lane)
            }
            false => lane,
        };
        let (zero, one, most) = (self.number(0), self.number(1), self.number(31));
        let is_low = self.op(Op::IEqual, truth, &[size[1], zero]);
        let highest = self.call_glsl(glsl::FIND_UMSB, word, &[size[1]]);
        let up = self.op(Op::ISub, word, &[most, highest]);
        let up = self.op(Op::BitwiseAnd, word, &[up, most]);
        let is_none = self.op(Op::IEqual, truth, &[up, zero]);
        let moved = self.op(Op::ShiftLeftLogical, word, &[size[1], up]);
        let thirty_two = self.number(32);
        let down = self.op(Op::ISub, word, &[thirty_two, up]);
        let down = self.op(Op::BitwiseAnd, word, &[down, most]);
        let over = self.op(Op::ShiftRightLogical, word, &[size[0], down]);
        let over = self.op(Op::Select, word, &[is_none, zero, over]);
        let top = self.op(Op::BitwiseOr, word, &[moved, over]);
        let rest = self.op(Op::ShiftLeftLogical, word, &[size[0], up]);
        let is_more = self.op(Op::INotEqual, truth, &[rest, zero]);
        let sticky = self.op(Op::Select, word, &[is_more, one, zero]);
        let top = self.op(Op::BitwiseOr, word, &[top, sticky]);
        let top = self.op(Op::ConvertUToF, float, &[top]);
        // Two to the power of what it was not moved by.
        let (bias, by) = (self.number(127 + 32), self.number(23));
        let exponent = self.op(Op::ISub, word, &[bias, up]);
        let scale = self.op(Op::ShiftLeftLogical, word, &[exponent, by]);
        let scale = self.op(Op::Bitcast, float, &[scale]);
        let large = self.op(Op::FMul, float, &[top, scale]);
        let small = self.op(Op::ConvertUToF, float, &[size[0]]);
        let found = self.op(Op::Select, float, &[is_low, small, large]);
        match signed {
            true => {
                let minus = self.op(Op::FNegate, float, &[found]);
                self.op(Op::Select, float, &[is_negative, minus, found])
            }
            false => found,
        }
    }

    /// Both words are exact; their sum is rounded once.
    fn wide_to_double(
        &mut self,
        lane: [Id; 2],
        signed: bool,
        inst: InstRef<'a>,
    ) -> Result<Id, SourceDiagnostic> {
        let double = self.ty(Op::TypeFloat, &[64]);
        let int = self.ty(Op::TypeInt, &[32, 1]);
        if inst.result_type().is_none() {
            return Err(self.refuse(inst, "this conversion"));
        }
        let high = match signed {
            true => {
                let high = self.op(Op::Bitcast, int, &[lane[1]]);
                self.op(Op::ConvertSToF, double, &[high])
            }
            false => self.op(Op::ConvertUToF, double, &[lane[1]]),
        };
        let low = self.op(Op::ConvertUToF, double, &[lane[0]]);
        let scale = self.double(4_294_967_296.0);
        let high = self.op(Op::FMul, double, &[high, scale]);
        Ok(self.op(Op::FAdd, double, &[high, low]))
    }

    fn double(&mut self, value: f64) -> Id {
        let ty = self.ty(Op::TypeFloat, &[64]);
        let bits = value.to_bits();
        let id = self.m.fresh_id();
        let words = [ty.word(), id.word(), bits as u32, (bits >> 32) as u32];
        self.declare(Op::Constant, &words);
        id
    }

    /// An integer of a float.
    fn of_floats(
        &mut self,
        inst: InstRef<'a>,
        from: EmulatedShape,
        to: EmulatedShape,
    ) -> Result<Id, SourceDiagnostic> {
        if !matches!(to.kind, EmulatedScalar::Wide { .. }) {
            let made = self.again(inst, &[]);
            return Ok(match to.kind {
                EmulatedScalar::Narrow { .. } => self.masked(made, to),
                _ => made,
            });
        }
        let signed = inst.op() == Op::ConvertFToS;
        let is_long = from.kind == EmulatedScalar::Long;
        let (word, truth) = (self.uint(), self.truth());
        let ty = if is_long {
            self.ty(Op::TypeFloat, &[64])
        } else {
            self.float()
        };
        let mut lanes = Vec::new();
        for n in 0..to.count {
            let value = match from.count {
                1 => inst.id(0),
                _ => self.extract(ty, inst.id(0), n),
            };
            let (scale, zero) = match is_long {
                true => (self.double(1.0 / 4_294_967_296.0), self.double(0.0)),
                false => (self.reals(1.0 / 4_294_967_296.0, 1), self.reals(0.0, 1)),
            };
            let back = match is_long {
                true => self.double(-4_294_967_296.0),
                false => self.reals(-4_294_967_296.0, 1),
            };
            let is_negative = self.op(Op::FOrdLessThan, truth, &[value, zero]);
            let size = self.call_glsl(glsl::FABS, ty, &[value]);
            let size = self.call_glsl(glsl::TRUNC, ty, &[size]);
            let high = self.op(Op::FMul, ty, &[size, scale]);
            let high = self.call_glsl(glsl::TRUNC, ty, &[high]);
            let taken = self.op(Op::FMul, ty, &[high, back]);
            let low = self.op(Op::FAdd, ty, &[size, taken]);
            let high = self.op(Op::ConvertFToU, word, &[high]);
            let low = self.op(Op::ConvertFToU, word, &[low]);
            let lane = [low, high];
            lanes.push(match signed {
                true => {
                    let minus = self.negated(lane);
                    self.chosen(is_negative, minus, lane)
                }
                false => lane,
            });
        }
        Ok(self.joined(&lanes, inst.result_type()))
    }
}
