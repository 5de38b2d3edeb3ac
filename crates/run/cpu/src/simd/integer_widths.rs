//! Conversions between integers of different widths, for all lanes.

use super::lane_layout::{LaneLayout, LaneValues};
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

impl GangVectoriser<'_> {
    /// Extends integers to those of a vector type. Returns false where vectors have no such extension.
    pub(super) fn rewrite_extension(
        &mut self,
        result: Value,
        narrow: Value,
        ty: Type,
        signed: bool,
    ) -> bool {
        if self.variance.is_bool(narrow) {
            let mask = self.emit_mask(narrow);
            let bits = self.emit_bits(&mask, ty);
            self.set_lane_values(result, &bits);
            return true;
        }
        let from = match self.lane_layout(narrow) {
            LaneLayout::Parts(from) if from.lane_type().is_int() => from,
            LaneLayout::Base(types::I32) => types::I32X4,
            _ => return false,
        };
        let mut held = self.extract_vectors(narrow, from);
        while let Some(part) = held.first() {
            let bits = self.builder.func.dfg.value_type(*part).lane_bits();
            if bits == ty.lane_bits() {
                break;
            }
            held = self.double_width(&held, signed);
        }
        self.set_lane_values(result, &held);
        true
    }

    /// Ones in the lanes of a mask, and zeros in the others, as integers of a vector type.
    pub(super) fn emit_bits(&mut self, mask: &[Value], ty: Type) -> LaneValues {
        let mask = self.make_lane_mask(mask, ty);
        let one = self.builder.ins().iconst(ty.lane_type(), 1);
        let ones = self.builder.ins().splat(ty, one);
        mask.iter()
            .map(|m| self.builder.ins().band(*m, ones))
            .collect()
    }

    /// Integers as those of twice their bits.
    fn double_width(&mut self, parts: &[Value], signed: bool) -> LaneValues {
        let mut wide = LaneValues::new();
        for part in parts {
            let ins = self.builder.ins();
            wide.push(if signed {
                ins.swiden_low(*part)
            } else {
                ins.uwiden_low(*part)
            });
            // The gang's bytes are in the lower half of a vector.
            if self.builder.func.dfg.value_type(*part) == types::I8X16 {
                continue;
            }
            let ins = self.builder.ins();
            wide.push(if signed {
                ins.swiden_high(*part)
            } else {
                ins.uwiden_high(*part)
            });
        }
        let is_short = |part: &Value| self.builder.func.dfg.value_type(*part) == types::I32X4;
        if wide.iter().all(is_short) {
            wide.truncate(self.width() / 4);
        }
        wide
    }

    /// Cuts off the upper bits of integers. Returns false where vectors have no such instruction.
    pub(super) fn rewrite_reduction(&mut self, result: Value, wide: Value, ty: Type) -> bool {
        let held = match (self.lane_layout(wide), ty) {
            (LaneLayout::Parts(types::I64X2), types::I32X4) => {
                let parts = self.get_lane_values(wide);
                self.narrow_vectors(&parts)
            }
            (LaneLayout::Parts(types::I32X4) | LaneLayout::Base(types::I32), types::I8X16) => {
                let parts = self.extract_vectors(wide, types::I32X4);
                self.take_low_bytes(&parts)
            }
            _ => return false,
        };
        self.set_lane_values(result, &held);
        true
    }

    /// The lowest bytes of numbers of 32 bits, side by side.
    fn take_low_bytes(&mut self, numbers: &[Value]) -> LaneValues {
        let order: [u8; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28];
        let order = self.builder.func.dfg.immediates.push(order[..].into());
        let first = self.bitcast_vector(types::I8X16, numbers[0]);
        let last = numbers.last().copied().unwrap_or(numbers[0]);
        let last = self.bitcast_vector(types::I8X16, last);
        let bytes = self.builder.ins().shuffle(first, last, order);
        [bytes].as_slice().into()
    }

    /// Numbers of 64 bits as those of 32.
    pub(super) fn narrow_vectors(&mut self, numbers: &[Value]) -> LaneValues {
        let low_words: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        let words = self.builder.func.dfg.immediates.push(low_words[..].into());
        numbers
            .chunks(2)
            .map(|pair| {
                let a = self.bitcast_vector(types::I8X16, pair[0]);
                let b = self.bitcast_vector(types::I8X16, pair[1]);
                let both = self.builder.ins().shuffle(a, b, words);
                self.bitcast_vector(types::I32X4, both)
            })
            .collect()
    }

    /// A mask as wide as the lanes of a vector type.
    pub(super) fn make_lane_mask(&mut self, mask: &[Value], ty: Type) -> LaneValues {
        match ty.lane_bits() {
            64 => {
                let wide = self.double_width(mask, true);
                wide.iter().map(|m| self.bitcast_vector(ty, *m)).collect()
            }
            8 => {
                let last = mask.last().copied().unwrap_or(mask[0]);
                let short = self.builder.ins().snarrow(mask[0], last);
                let bytes = self.builder.ins().snarrow(short, short);
                [bytes].as_slice().into()
            }
            _ => mask.iter().map(|m| self.bitcast_vector(ty, *m)).collect(),
        }
    }

    /// The mask of comparisons, whose vectors may have 8 or 64 bits for each lane.
    pub(super) fn narrow_mask(&mut self, compared: &[Value]) -> LaneValues {
        match self.builder.func.dfg.value_type(compared[0]) {
            types::I64X2 => self.narrow_vectors(compared),
            types::I8X16 => {
                let short = self.double_width(compared, true);
                self.double_width(&short, true)
            }
            _ => compared.into(),
        }
    }

    /// Extends vectors of 32-bit numbers, such as indices, to scalars of 64 bits. Two numbers are extracted from a
    /// vector at once, as extraction takes most of the time.
    pub(super) fn extend_pairs(&mut self, result: Value, narrow: Value, signed: bool) -> bool {
        let mut lanes = LaneValues::new();
        for part in self.get_lane_values(narrow) {
            let pairs = self.bitcast_vector(types::I64X2, part);
            for n in 0..2 {
                let pair = self.builder.ins().extractlane(pairs, n);
                let low = self.builder.ins().ireduce(types::I32, pair);
                let ins = self.builder.ins();
                lanes.push(if signed {
                    ins.sextend(types::I64, low)
                } else {
                    ins.uextend(types::I64, low)
                });
                let ins = self.builder.ins();
                lanes.push(if signed {
                    ins.sshr_imm_u(pair, 32)
                } else {
                    ins.ushr_imm_u(pair, 32)
                });
            }
        }
        self.set_lane_values(result, &lanes);
        true
    }
}
