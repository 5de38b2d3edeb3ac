//! Lane conversion: reads and writes values of the original code, and converts between lane layouts.

use super::divergence::LaneVariance;
use super::lane_layout::{LaneLayout, LaneValues, vector_of};
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::Variable;

impl GangVectoriser<'_> {
    /// Invocations of a gang.
    pub fn width(&self) -> usize {
        self.variance.roots.width
    }

    /// Number and type of the values of a layout.
    pub fn layout_values(&self, form: LaneLayout) -> (usize, Type) {
        match form {
            LaneLayout::Base(ty) => (1, ty),
            LaneLayout::Parts(ty) => (self.width() / ty.lane_count() as usize, ty),
            LaneLayout::Mask => (self.width() / 4, types::I32X4),
            LaneLayout::Lanes(ty) => (self.width(), ty),
        }
    }

    /// The layout of a value of the original code.
    pub fn lane_layout(&self, value: Value) -> LaneLayout {
        let ty = self.old.dfg.value_type(value);
        match self.variance.lane_variance(value) {
            LaneVariance::Affine { .. } => LaneLayout::Base(ty),
            _ if self.variance.is_bool(value) => LaneLayout::Mask,
            _ => match vector_of(ty) {
                Some(vector) => LaneLayout::Parts(vector),
                None => LaneLayout::Lanes(ty),
            },
        }
    }

    /// The distance between neighbouring lanes of a value held by its first.
    pub fn lane_stride(&self, value: Value) -> i64 {
        match self.variance.lane_variance(value) {
            LaneVariance::Affine { stride, .. } => stride,
            _ => 0,
        }
    }

    /// The first of the variables that hold a value, and their number.
    fn declare_lane_variables(&mut self, value: Value) -> (u32, usize) {
        let (count, ty) = self.layout_values(self.lane_layout(value));
        let at = value.as_u32() as usize;
        if let Some(first) = self.variables[at] {
            return (first, count);
        }
        let declared: Vec<Variable> = (0..count).map(|_| self.builder.declare_var(ty)).collect();
        let first = declared.first().map_or(0, |v| v.as_u32());
        self.variables[at] = Some(first);
        (first, count)
    }

    /// The values that hold a value of the original code.
    pub fn get_lane_values(&mut self, value: Value) -> LaneValues {
        let value = self.old.dfg.resolve_aliases(value);
        if self.locals[value.as_u32() as usize] {
            return self.held[value.as_u32() as usize].clone();
        }
        let (first, count) = self.declare_lane_variables(value);
        (first..first + count as u32)
            .map(|n| self.builder.use_var(Variable::from_u32(n)))
            .collect()
    }

    /// Sets the values that hold a value of the original code.
    pub fn set_lane_values(&mut self, value: Value, held: &[Value]) {
        let value = self.old.dfg.resolve_aliases(value);
        if self.locals[value.as_u32() as usize] {
            self.held[value.as_u32() as usize] = held.into();
            return;
        }
        let (first, count) = self.declare_lane_variables(value);
        debug_assert_eq!(count, held.len());
        for (n, part) in (first..).zip(held) {
            self.builder.def_var(Variable::from_u32(n), *part);
        }
    }

    /// A value in another layout.
    pub fn convert_layout(&mut self, value: Value, form: LaneLayout) -> LaneValues {
        match form {
            LaneLayout::Base(_) => self.get_lane_values(value),
            LaneLayout::Parts(ty) => self.extract_vectors(value, ty),
            LaneLayout::Mask => self.emit_mask(value),
            LaneLayout::Lanes(_) => self.extract_lanes(value),
        }
    }

    /// The scalars of all lanes.
    pub fn extract_lanes(&mut self, value: Value) -> LaneValues {
        let held = self.get_lane_values(value);
        match self.lane_layout(value) {
            LaneLayout::Base(ty) => {
                let stride = self.lane_stride(value);
                let step = |n: usize| (n as i64).wrapping_mul(stride);
                (0..self.width())
                    .map(|n| self.add_constant(held[0], ty, step(n)))
                    .collect()
            }
            LaneLayout::Lanes(_) => held,
            LaneLayout::Parts(ty) => {
                let each = ty.lane_count() as usize;
                (0..self.width())
                    .map(|n| {
                        let lane = (n % each) as u8;
                        self.builder.ins().extractlane(held[n / each], lane)
                    })
                    .collect()
            }
            LaneLayout::Mask => (0..self.width())
                .map(|n| {
                    let bits = self.builder.ins().extractlane(held[n / 4], (n % 4) as u8);
                    self.bool_of(bits)
                })
                .collect(),
        }
    }

    /// A number and a constant.
    pub fn add_constant(&mut self, value: Value, ty: Type, constant: i64) -> Value {
        if constant == 0 || !ty.is_int() {
            return value;
        }
        self.builder.ins().iadd_imm_s(value, constant)
    }

    /// A boolean from 32 bits that are all ones or zeros.
    pub fn bool_of(&mut self, bits: Value) -> Value {
        let bit = self.builder.ins().band_imm_u(bits, 1);
        self.builder.ins().ireduce(types::I8, bit)
    }

    /// The vectors of a value.
    pub fn extract_vectors(&mut self, value: Value, ty: Type) -> LaneValues {
        let count = self.layout_values(LaneLayout::Parts(ty)).0;
        let held = self.get_lane_values(value);
        match self.lane_layout(value) {
            LaneLayout::Base(_) => {
                let all = self.builder.ins().splat(ty, held[0]);
                let stride = self.lane_stride(value);
                if stride == 0 {
                    return std::iter::repeat_n(all, count).collect();
                }
                (0..count)
                    .map(|part| {
                        let steps = self.emit_stride_steps(part * 4, stride);
                        self.builder.ins().iadd(all, steps)
                    })
                    .collect()
            }
            LaneLayout::Parts(_) => held,
            LaneLayout::Mask | LaneLayout::Lanes(_) => {
                let lanes = self.extract_lanes(value);
                self.pack_lanes(ty, &lanes)
            }
        }
    }

    /// A vector of multiples of a stride, beginning at a lane.
    fn emit_stride_steps(&mut self, first: usize, stride: i64) -> Value {
        let bytes: Vec<u8> = (first..first + 4)
            .flat_map(|n| ((n as i64).wrapping_mul(stride) as i32).to_le_bytes())
            .collect();
        let constant = self.builder.func.dfg.constants.insert(bytes.into());
        self.builder.ins().vconst(types::I32X4, constant)
    }

    /// Vectors of scalars.
    pub fn pack_lanes(&mut self, ty: Type, lanes: &[Value]) -> LaneValues {
        let each = ty.lane_count() as usize;
        lanes
            .chunks(each)
            .map(|lanes| {
                let mut vector = self.builder.ins().scalar_to_vector(ty, lanes[0]);
                for (n, lane) in lanes.iter().enumerate().skip(1) {
                    vector = self.builder.ins().insertlane(vector, *lane, n as u8);
                }
                vector
            })
            .collect()
    }

    /// The mask of a condition.
    pub fn emit_mask(&mut self, value: Value) -> LaneValues {
        let held = self.get_lane_values(value);
        match self.lane_layout(value) {
            LaneLayout::Mask => held,
            LaneLayout::Base(_) if self.lane_stride(value) == 0 => {
                let bits = self.all_bits(held[0]);
                let all = self.builder.ins().splat(types::I32X4, bits);
                std::iter::repeat_n(all, self.width() / 4).collect()
            }
            LaneLayout::Parts(types::I32X4) => {
                let zero = self.builder.ins().iconst(types::I32, 0);
                let zeros = self.builder.ins().splat(types::I32X4, zero);
                held.iter()
                    .map(|part| self.builder.ins().icmp(IntCC::NotEqual, *part, zeros))
                    .collect()
            }
            _ => {
                let lanes = self.extract_lanes(value);
                self.mask_of(&lanes)
            }
        }
    }

    /// The mask of each lane's condition.
    pub fn mask_of(&mut self, lanes: &[Value]) -> LaneValues {
        let bits: LaneValues = lanes.iter().map(|lane| self.all_bits(*lane)).collect();
        self.pack_lanes(types::I32X4, &bits)
    }

    /// 32 ones where a condition is not zero, else zeros.
    pub fn all_bits(&mut self, condition: Value) -> Value {
        let is_set = self.builder.ins().icmp_imm_u(IntCC::NotEqual, condition, 0);
        let bit = self.builder.ins().uextend(types::I32, is_set);
        self.builder.ins().ineg(bit)
    }

    /// A mask as wide as the lanes of a vector type.
    pub fn make_lane_mask(&mut self, mask: &[Value], ty: Type) -> LaneValues {
        if ty != types::F64X2 {
            return mask.iter().map(|m| self.bitcast_vector(ty, *m)).collect();
        }
        let mut wide = LaneValues::new();
        for part in mask {
            let low = self.builder.ins().swiden_low(*part);
            let high = self.builder.ins().swiden_high(*part);
            wide.push(self.bitcast_vector(ty, low));
            wide.push(self.bitcast_vector(ty, high));
        }
        wide
    }

    /// The mask of comparisons, whose vectors may have 64 bits for each lane.
    pub fn narrow_mask(&mut self, compared: &[Value]) -> LaneValues {
        let is_wide = |v: &Value| self.builder.func.dfg.value_type(*v) == types::I64X2;
        if !compared.iter().any(is_wide) {
            return compared.into();
        }
        let low_words: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        let words = self.builder.func.dfg.immediates.push(low_words[..].into());
        compared
            .chunks(2)
            .map(|pair| {
                let a = self.bitcast_vector(types::I8X16, pair[0]);
                let b = self.bitcast_vector(types::I8X16, pair[1]);
                let both = self.builder.ins().shuffle(a, b, words);
                self.bitcast_vector(types::I32X4, both)
            })
            .collect()
    }

    /// The bits of a vector as another vector type.
    pub fn bitcast_vector(&mut self, ty: Type, value: Value) -> Value {
        if self.builder.func.dfg.value_type(value) == ty {
            return value;
        }
        let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
        self.builder.ins().bitcast(ty, flags, value)
    }

    /// Scalars of all lanes in the form of a value.
    pub fn assemble_lanes(&mut self, value: Value, lanes: &[Value]) -> LaneValues {
        match self.lane_layout(value) {
            LaneLayout::Base(_) => lanes[..1].into(),
            LaneLayout::Parts(ty) => self.pack_lanes(ty, lanes),
            LaneLayout::Mask => self.mask_of(lanes),
            LaneLayout::Lanes(_) => lanes.into(),
        }
    }
}
