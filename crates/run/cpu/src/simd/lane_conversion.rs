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
            LaneLayout::Parts(ty) => ((self.width() / ty.lane_count() as usize).max(1), ty),
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
            _ => match self.variance.find_integer_vector(value).or(vector_of(ty)) {
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
                        let steps = self.emit_stride_steps(ty, part, stride);
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

    /// Vector `part` of the multiples of a stride.
    fn emit_stride_steps(&mut self, ty: Type, part: usize, stride: i64) -> Value {
        let each = ty.lane_count() as usize;
        let bytes = ty.lane_bits() as usize / 8;
        let steps = (part * each..(part + 1) * each).map(|n| (n as i64).wrapping_mul(stride));
        let bytes: Vec<u8> = steps
            .flat_map(|step| step.to_le_bytes().into_iter().take(bytes))
            .collect();
        let constant = self.builder.func.dfg.constants.insert(bytes.into());
        self.builder.ins().vconst(ty, constant)
    }

    /// Vectors of scalars.
    pub fn pack_lanes(&mut self, ty: Type, lanes: &[Value]) -> LaneValues {
        let each = ty.lane_count() as usize;
        lanes
            .chunks(each)
            .map(|lanes| {
                // No instruction makes a vector of a byte alone.
                let mut vector = match ty {
                    types::I8X16 => self.builder.ins().splat(ty, lanes[0]),
                    _ => self.builder.ins().scalar_to_vector(ty, lanes[0]),
                };
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
            LaneLayout::Parts(ty) if ty.lane_type().is_int() => {
                let zero = self.builder.ins().iconst(ty.lane_type(), 0);
                let zeros = self.builder.ins().splat(ty, zero);
                let set: LaneValues = held
                    .iter()
                    .map(|part| self.builder.ins().icmp(IntCC::NotEqual, *part, zeros))
                    .collect();
                self.narrow_mask(&set)
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
