//! Vector scalarisation: vectors of pointers, and vectors that are longer than the target permits.
//!
//! Such a vector is an array of its elements in memory form. A vector of pointers stays a vector if
//! the extension that allows it was requested by name. Element-wise operations are scalarised: the
//! code for scalars runs once for each lane, and sees scalars wherever the module has vectors
//! ([`FunctionTranslator::at_lane`]). Cost: linear in the lanes.

use super::call_rules::LlvmCallee;
use super::function_body::FunctionTranslator;
use super::shapes::{NumericElement, NumericShape};
use super::translator::LlvmTranslator;
use crate::ir::{
    ConstKind, LlvmConst, LlvmInst, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue, ValueKind,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Lanes beyond which a vector is refused.
const MAX_LANES: u32 = 1024;

/// The extension that has vectors of pointers.
pub(super) const OF_POINTERS: &str = "SPV_INTEL_masked_gather_scatter";

/// Prefixes of intrinsics that do not work element-wise.
const NOT_ELEMENTWISE: &[&str] = &[
    "llvm.vector.",
    "llvm.experimental.",
    "llvm.masked.",
    "llvm.genx.",
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.fake.",
];

impl LlvmTranslator<'_> {
    /// Finds the vector types that are scalarised, and whether the module has wide integers.
    pub(super) fn find_scalarised_types(&mut self) {
        if self.is_shader() {
            return;
        }
        let types = &self.module.types;
        let apart: Vec<bool> = types
            .iter()
            .map(|(ty, kind)| match *kind {
                LlvmTypeKind::Vector {
                    element,
                    len,
                    scalable: false,
                } => {
                    let held = types.is_pointer_like(ty)
                        || self.find_shape(element).is_some()
                        || self.find_wide_type(element).is_some();
                    held && len <= MAX_LANES && self.find_shape(ty).is_none()
                }
                _ => false,
            })
            .collect();
        let wide = types
            .iter()
            .any(|(ty, _)| self.find_wide_type(ty).is_some());
        self.types.has_wide_integers = wide;
        if apart.contains(&true) {
            self.types.scalarised = apart;
        }
    }

    /// The type that represents a scalarised vector.
    pub(super) fn scalarised_vector_type(
        &mut self,
        ty: LlvmType,
        element: Id,
        lanes: u32,
    ) -> LlvmResult<Id> {
        if self.module.types.is_pointer_like(ty) && lanes > 1 && self.is_requested(OF_POINTERS) {
            let id = self.b.vector_type(element, lanes);
            self.set_first_member(id, element);
            return Ok(id);
        }
        self.array_type(element, u64::from(lanes))
    }

    /// Element type and number of lanes of a scalarised vector.
    pub(super) fn find_scalarised_vector(&self, ty: LlvmType) -> Option<(LlvmType, u32)> {
        if !*self.types.scalarised.get(ty.index())? {
            return None;
        }
        match *self.module.types.kind(ty) {
            LlvmTypeKind::Vector { element, len, .. } => Some((element, len)),
            _ => None,
        }
    }
}

impl FunctionTranslator<'_, '_> {
    /// The type of an instruction's result; at a lane, that of an element.
    pub(super) fn inst_type(&self, inst: LlvmInst) -> LlvmType {
        let ty = self.function.inst(inst).ty;
        match self.at_lane {
            Some(_) => self.t.module.types.scalar_type(ty),
            None => ty,
        }
    }

    /// Whether an instruction involves scalarised vectors.
    fn has_scalarised_vectors(&self, inst: LlvmInst) -> bool {
        let apart = |ty| self.t.find_scalarised_vector(ty).is_some();
        apart(self.function.inst(inst).ty)
            || self
                .function
                .operands(inst)
                .iter()
                .filter(|value| !matches!(value.kind(), ValueKind::Metadata(_)))
                .any(|value| apart(self.type_of(*value)))
    }

    /// Translates an instruction on scalarised vectors; `None` if it needs no special treatment.
    pub(super) fn lower_scalarised(&mut self, inst: LlvmInst) -> Option<LlvmResult<Option<Id>>> {
        if self.at_lane.is_some()
            || self.t.types.scalarised.is_empty()
            || !self.has_scalarised_vectors(inst)
        {
            return None;
        }
        let opcode = self.function.inst(inst).opcode;
        let made = match opcode {
            LlvmOpcode::ExtractElement => self.extract_scalarised_element(inst),
            LlvmOpcode::InsertElement => self.insert_scalarised_element(inst),
            LlvmOpcode::ShuffleVector => self.shuffle_scalarised(inst),
            LlvmOpcode::BitCast if !self.is_elementwise_cast(inst) => {
                self.cast_scalarised_bits(inst)
            }
            LlvmOpcode::Load | LlvmOpcode::Store => match self.require_unpacked_elements(inst) {
                Ok(()) => return None,
                Err(refusal) => Err(refusal),
            },
            LlvmOpcode::Call if !self.is_elementwise_call(inst) => return None,
            _ if opcode.is_binary() || opcode.is_cast() => self.lower_each_lane(inst),
            LlvmOpcode::FNeg
            | LlvmOpcode::ICmp
            | LlvmOpcode::FCmp
            | LlvmOpcode::Select
            | LlvmOpcode::Freeze
            | LlvmOpcode::GetElementPtr
            | LlvmOpcode::Call => self.lower_each_lane(inst),
            _ => return None,
        };
        Some(made.map(Some))
    }

    /// Runs the translation of an instruction once for each lane.
    fn lower_each_lane(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let ty = self.function.inst(inst).ty;
        let mut lanes = Vec::new();
        for lane in 0..self.lane_count(ty) {
            self.at_lane = Some(lane);
            let made = self.lower_instruction(inst);
            self.at_lane = None;
            match made? {
                Some(id) => lanes.push(id),
                None => return Err(make_refusal("the instruction has no result for a lane")),
            }
        }
        self.compose_lanes(ty, &lanes)
    }

    /// The number of lanes of a type; 1 if it is not a vector.
    pub(super) fn lane_count(&self, ty: LlvmType) -> u32 {
        match *self.t.module.types.kind(ty) {
            LlvmTypeKind::Vector { len, .. } => len,
            _ => 1,
        }
    }

    /// Whether a bit cast converts each element separately.
    fn is_elementwise_cast(&self, inst: LlvmInst) -> bool {
        let from = self.type_of(self.function.operands(inst)[0]);
        let to = self.function.inst(inst).ty;
        let vector = |ty| matches!(self.t.module.types.kind(ty), LlvmTypeKind::Vector { .. });
        vector(from) && vector(to) && self.lane_count(from) == self.lane_count(to)
    }

    /// Whether a call is of an intrinsic that works element-wise.
    fn is_elementwise_call(&mut self, inst: LlvmInst) -> bool {
        let callee = self.function.callee(inst).and_then(|v| v.as_const());
        let Some(func) = callee.and_then(|constant| self.t.callee_of(constant)) else {
            return false;
        };
        let lanes = self.lane_count(self.function.inst(inst).ty);
        match *self.t.find_callee(func) {
            LlvmCallee::Intrinsic(Some(_), name) => {
                lanes > 1
                    && !NOT_ELEMENTWISE
                        .iter()
                        .any(|prefix| name.starts_with(prefix))
            }
            _ => false,
        }
    }

    /// Refuses accesses to vectors whose elements are packed more densely than those of an array.
    fn require_unpacked_elements(&mut self, inst: LlvmInst) -> LlvmResult<()> {
        let ty = match self.function.inst(inst).opcode {
            LlvmOpcode::Load => self.function.inst(inst).ty,
            _ => self.type_of(self.function.operands(inst)[0]),
        };
        let element = self.t.module.types.scalar_type(ty);
        match self.t.find_shape(element) {
            Some(shape) if self.t.find_scalarised_vector(ty).is_some() && !shape.is_exact() => {
                Err(make_refusal(format!(
                    "a vector of {} elements of {} bits in memory",
                    self.lane_count(ty),
                    shape.bits
                )))
            }
            _ => Ok(()),
        }
    }

    /// One lane of a vector, in register form.
    pub(super) fn lane_value(&mut self, value: LlvmValue, lane: u32) -> LlvmResult<Id> {
        let ty = self.function.type_of(self.t.module, value);
        let element = self.t.module.types.scalar_type(ty);
        if let Some(constant) = value.as_const()
            && let Some(id) = self.lane_constant(constant, element, lane)?
        {
            return Ok(id);
        }
        let before = self.at_lane.take();
        let whole = self.lower_value(value);
        self.at_lane = before;
        let whole = whole?;
        match self.t.find_shape(ty) {
            Some(shape) => Ok(self.extract_lane(shape, whole, lane)),
            None => {
                let memory = self.t.memory_type(element)?;
                let words = [whole.word(), lane];
                let id = self.t.b.append_value(Op::CompositeExtract, memory, &words);
                self.convert_to_register(element, id)
            }
        }
    }

    /// One lane of a constant; `None` if the constant has no separate elements.
    fn lane_constant(
        &mut self,
        constant: LlvmConst,
        element: LlvmType,
        lane: u32,
    ) -> LlvmResult<Option<Id>> {
        let module = self.t.module;
        let shape = self.t.find_shape(element);
        Ok(match (module.consts.kind(constant), shape) {
            (ConstKind::Aggregate(elements), _) => match elements.get(lane as usize) {
                Some(element) => Some(self.t.lower_constant(*element)?),
                None => None,
            },
            (ConstKind::Splat(element), _) => Some(self.t.lower_constant(*element)?),
            (ConstKind::Null | ConstKind::Zero, Some(shape)) => Some(self.t.make_zero(shape)),
            (ConstKind::Null | ConstKind::Zero, None) => {
                let ty = self.t.register_type(element)?;
                Some(self.t.b.constant_null(ty))
            }
            (ConstKind::Undef | ConstKind::Poison, _) => {
                let ty = self.t.register_type(element)?;
                Some(self.t.b.declare_undef(ty))
            }
            (ConstKind::Data(_), Some(shape)) => {
                let bits = module.consts.data_elements(&module.types, constant);
                let bits = bits.into_iter().flatten().nth(lane as usize);
                bits.map(|bits| self.t.make_splat(shape, bits))
            }
            _ => None,
        })
    }

    /// All lanes of a vector, in register form.
    pub(super) fn lane_values(&mut self, value: LlvmValue) -> LlvmResult<Vec<Id>> {
        let ty = self.function.type_of(self.t.module, value);
        (0..self.lane_count(ty))
            .map(|lane| self.lane_value(value, lane))
            .collect()
    }

    /// A vector from lanes in register form.
    pub(super) fn compose_lanes(&mut self, ty: LlvmType, lanes: &[Id]) -> LlvmResult<Id> {
        if let Some(shape) = self.t.find_shape(ty) {
            return Ok(self.compose_vector(shape, lanes));
        }
        let element = self.t.module.types.scalar_type(ty);
        let memory = self.t.memory_type(element)?;
        let pointee = self.t.pointee_of(memory);
        let truth = self
            .t
            .find_shape(element)
            .is_some_and(|s| s.elem == NumericElement::Bool);
        let mut words = Vec::with_capacity(lanes.len());
        for &lane in lanes {
            let id = match pointee {
                Some((_, pointee)) => self.cast_pointer(lane, pointee),
                None if truth => self.convert_boolean(lane, NumericShape::new_int(8, 1), false),
                None => lane,
            };
            words.push(id.word());
        }
        let ty = self.t.register_type(ty)?;
        Ok(self.t.b.append_value(Op::CompositeConstruct, ty, &words))
    }

    fn extract_scalarised_element(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operands = self.function.operands(inst);
        let lanes = self.lane_count(self.type_of(operands[0]));
        match self.t.module.as_u64(operands[1]) {
            Some(lane) if lane < u64::from(lanes) => self.lane_value(operands[0], lane as u32),
            Some(_) => {
                let ty = self.result_type(inst)?;
                Ok(self.t.b.declare_undef(ty))
            }
            None => {
                let all = self.lane_values(operands[0])?;
                let mut found = all[0];
                for (lane, &id) in all.iter().enumerate().skip(1) {
                    found = self.at_index(operands[1], lane, id, found)?;
                }
                Ok(found)
            }
        }
    }

    fn insert_scalarised_element(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operands = self.function.operands(inst);
        let mut all = self.lane_values(operands[0])?;
        let mut new = self.lower_value(operands[1])?;
        if let Some(ty) = self.t.b.type_of(all[0])
            && let Some((_, pointee)) = self.t.pointee_of(ty)
        {
            new = self.cast_pointer(new, pointee);
        }
        match self.t.module.as_u64(operands[2]) {
            Some(lane) => {
                if let Some(place) = all.get_mut(lane as usize) {
                    *place = new;
                }
            }
            None => {
                for (lane, id) in all.iter_mut().enumerate() {
                    *id = self.at_index(operands[2], lane, new, *id)?;
                }
            }
        }
        let ty = self.function.inst(inst).ty;
        self.compose_lanes(ty, &all)
    }

    /// One value if an index equals a lane, otherwise another.
    fn at_index(&mut self, index: LlvmValue, lane: usize, yes: Id, no: Id) -> LlvmResult<Id> {
        let shape = self.shape_of(index)?;
        let index = self.lower_value(index)?;
        let lane = self.t.make_splat(shape, lane as u64);
        let bool = self.t.b.bool_type();
        let here = self.emit_op(Op::IEqual, bool, [index, lane]);
        match self.t.b.type_of(no) {
            Some(ty) => Ok(self.emit_select(ty, here, yes, no)),
            None => Err(make_refusal("a lane has no type")),
        }
    }

    fn shuffle_scalarised(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operands = self.function.operands(inst);
        let mask = self.function.numbers_of(inst);
        let lanes = self.lane_count(self.type_of(operands[0]));
        let ty = self.function.inst(inst).ty;
        let element = self.t.module.types.scalar_type(ty);
        let mut all = Vec::with_capacity(mask.len());
        for &lane in mask {
            all.push(if lane < lanes {
                self.lane_value(operands[0], lane)?
            } else if lane < lanes * 2 {
                self.lane_value(operands[1], lane - lanes)?
            } else {
                let ty = self.t.register_type(element)?;
                self.t.b.declare_undef(ty)
            });
        }
        self.compose_lanes(ty, &all)
    }

    /// Reinterprets the bits of lanes as lanes of another type.
    fn cast_scalarised_bits(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let value = self.function.operands(inst)[0];
        let types = &self.t.module.types;
        let (from, to) = (self.type_of(value), self.function.inst(inst).ty);
        let shapes = [from, to].map(|ty| self.t.find_shape(types.scalar_type(ty)));
        let [Some(narrow), Some(wide)] = shapes else {
            return Err(make_refusal("a bit cast of a vector of pointers"));
        };
        let lanes = self.lane_values(value)?;
        let lanes = self.regroup_bits(narrow, wide, &lanes)?;
        self.compose_lanes(to, &lanes)
    }
}
