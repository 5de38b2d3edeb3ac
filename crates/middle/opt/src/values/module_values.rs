//! Value facts: definitions, types and constants, kept up to date while instructions change. Instructions that are
//! created through [`ModuleValues`] are recorded at once, all others by [`ModuleValues::catch_up`].

use crate::pool::InternPool;
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::{FoldConstant, FoldType};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, ExecutionMode};
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The result of a simplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimplifyOutcome {
    /// The result equals this existing value.
    Value(Id),
    /// The instruction was rewritten with the same result. It may be simplified again.
    Changed,
}

/// Most components of a vector that is examined component by component. Long vectors may have any number.
pub const MOST_COMPONENTS: u32 = 1 << 10;

/// The values of a module.
#[derive(Debug)]
pub struct ModuleValues {
    /// The words of instructions that are ids.
    pub ids: IdWords,
    /// Types and constants.
    pub pool: InternPool,
    defs: IdMap<Option<Inst>>,
    /// The number of uses of each id when they were counted, without names and decorations.
    uses: IdMap<u32>,
    marks: IdMap<u8>,
    /// The number of instructions when the facts were last updated.
    seen: usize,
    /// Whether there are decoration groups, which gain members without new instructions.
    groups: bool,
    /// Whether floating-point operations may be folded.
    pub floats: bool,
    /// Whether subnormal numbers must behave as in IEEE 754.
    subnormals: bool,
}

/// Decorations that matter when values are compared, as bits of [`ModuleValues::decoration_marks`].
const NO_CONTRACTION: u8 = 1;
const RELAXED: u8 = 2;
const NON_UNIFORM: u8 = 4;
const NO_SIGNED_WRAP: u8 = 8;
const NO_UNSIGNED_WRAP: u8 = 16;
/// Any other decoration: the value is equal to no other.
const OTHER: u8 = 128;

impl ModuleValues {
    /// One pass over the module.
    pub fn new(module: &SpirvModule) -> Self {
        let mut defs = IdMap::new(module.bound(), None);
        for inst in module.all_insts() {
            if let Some(id) = inst.result() {
                defs.set(id, Some(inst.handle()));
            }
        }
        let mut facts = ModuleValues {
            ids: IdWords::new(module),
            pool: InternPool::new(module),
            defs,
            uses: IdMap::new(0, 0),
            marks: IdMap::new(0, 0),
            seen: module.inst_count(),
            groups: false,
            floats: floats_are_plain(module),
            subnormals: subnormals_matter(module),
        };
        for d in module.section_insts(ModuleSection::Annotations) {
            facts.record_decoration(d);
        }
        facts
    }

    /// Records instructions that were created by other means since the last update. Facts about deleted ids
    /// remain, because nothing refers to them.
    pub fn catch_up(&mut self, module: &SpirvModule) {
        let fresh = module.insts_since(self.seen);
        for d in
            fresh.filter(|d| module.list_of(d.handle()) == Some(ModuleSection::Annotations.list()))
        {
            self.record_decoration(d);
        }
        for inst in module.insts_since(self.seen) {
            let list = module.list_of(inst.handle());
            if let Some(id) = inst.result()
                && (list.is_some() || inst.op() == Op::Label)
            {
                self.defs.set(id, Some(inst.handle()));
                self.ids.record_inst(inst);
                if list == Some(ModuleSection::Globals.list()) && self.marks[id] == 0 {
                    self.pool.record_global(inst);
                }
            }
        }
        self.seen = module.inst_count();
        if self.groups {
            self.marks = IdMap::new(0, 0);
            for d in module.section_insts(ModuleSection::Annotations) {
                self.record_decoration(d);
            }
        }
    }

    /// Counts the uses for [`ModuleValues::use_count`].
    pub fn count_uses(&mut self, module: &SpirvModule) {
        let mut uses = IdMap::new(module.bound(), 0);
        for inst in module.all_insts() {
            if !inst.op().is_about_ids() {
                self.ids.visit_uses(inst, |_, id| *uses.get_mut(id) += 1);
            }
        }
        self.uses = uses;
    }

    /// The first id whose facts differ from newly computed ones.
    pub fn find_stale_id(&self, module: &SpirvModule) -> Option<Id> {
        let now = ModuleValues::new(module);
        let mut all = module.all_insts().filter_map(InstRef::result);
        all.find(|id| now.defs[*id] != self.defs[*id] || now.marks[*id] != self.marks[*id])
            .or_else(|| self.pool.find_missing(|id| now.defs[id].is_none()))
    }

    fn record_decoration(&mut self, d: InstRef<'_>) {
        let bit = match d.op() {
            Op::Decorate => match Decoration(d.operand_word(1)) {
                Decoration::NoContraction => NO_CONTRACTION,
                Decoration::RelaxedPrecision => RELAXED,
                Decoration::NonUniform => NON_UNIFORM,
                Decoration::NoSignedWrap => NO_SIGNED_WRAP,
                Decoration::NoUnsignedWrap => NO_UNSIGNED_WRAP,
                _ => OTHER,
            },
            Op::DecorateId | Op::DecorateString => OTHER,
            Op::GroupDecorate => {
                self.groups = true;
                for id in d.id_operands(1) {
                    *self.marks.get_mut(id) |= OTHER;
                }
                return;
            }
            _ => return,
        };
        *self.marks.get_mut(d.id_operand(0)) |= bit;
    }

    /// The decorations of a value that matter; `None` if the value must not be changed.
    #[inline]
    pub fn decoration_marks(&self, id: Id) -> Option<u8> {
        Some(self.marks[id]).filter(|m| m & OTHER == 0)
    }

    /// Whether a value may differ between invocations that run together.
    pub fn is_non_uniform(&self, id: Id) -> bool {
        self.marks[id] & NON_UNIFORM != 0
    }

    /// The number of uses of an id when they were counted.
    pub fn use_count(&self, id: Id) -> u32 {
        self.uses[id]
    }

    /// The definition of an id.
    #[inline]
    pub fn definition<'m>(&self, module: &'m SpirvModule, id: Id) -> Option<InstRef<'m>> {
        self.defs[id].map(|inst| module.inst(inst))
    }

    /// The opcode that defines an id; `OpNop` if there is none.
    #[inline]
    pub fn defining_op(&self, module: &SpirvModule, id: Id) -> Op {
        self.definition(module, id).map_or(Op::Nop, InstRef::op)
    }

    /// The definition of an id if it has this opcode.
    #[inline]
    pub fn def_of<'m>(&self, module: &'m SpirvModule, id: Id, op: Op) -> Option<InstRef<'m>> {
        self.definition(module, id).filter(|i| i.op() == op)
    }

    /// The type of a value.
    #[inline]
    pub fn type_of(&self, module: &SpirvModule, id: Id) -> Option<Id> {
        self.definition(module, id)?.result_type()
    }

    /// The scalar type of a type id.
    pub fn scalar_type(&self, module: &SpirvModule, ty: Id) -> Option<FoldType> {
        let inst = self.definition(module, ty)?;
        match (inst.op(), inst.operands()) {
            (Op::TypeBool, _) => Some(FoldType::Bool),
            (Op::TypeInt, [width @ 1..=64, _]) => Some(FoldType::Int { width: *width }),
            (Op::TypeFloat, [16]) => Some(FoldType::Float(FloatEncoding::F16)),
            (Op::TypeFloat, [32]) => Some(FoldType::Float(FloatEncoding::F32)),
            (Op::TypeFloat, [64]) => Some(FoldType::Float(FloatEncoding::F64)),
            _ => None,
        }
    }

    /// The scalar type and the number of components of a scalar or vector type.
    pub fn scalar_shape(&self, module: &SpirvModule, ty: Id) -> Option<(FoldType, u32)> {
        match self.def_of(module, ty, Op::TypeVector) {
            Some(vector) => Some((
                self.scalar_type(module, vector.id_operand(0))?,
                vector.operand_word(1),
            )),
            None => Some((self.scalar_type(module, ty)?, 1)),
        }
    }

    /// The type of the same shape as a scalar or vector type, with other scalars.
    pub fn intern_same_shape(&mut self, module: &mut SpirvModule, ty: Id, scalar: Id) -> Id {
        match self
            .def_of(module, ty, Op::TypeVector)
            .map(|v| v.operand_word(1))
        {
            Some(count) => self.intern_type(module, Op::TypeVector, &[scalar.word(), count]),
            None => scalar,
        }
    }

    /// The type of member `at` of a composite type.
    pub fn part_type(&self, module: &SpirvModule, ty: Id, at: u32) -> Option<Id> {
        let inst = self.definition(module, ty)?;
        match inst.op() {
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray => Some(inst.id_operand(0)),
            Op::TypeStruct => inst.get_id(at as usize),
            _ => None,
        }
    }

    /// The number of members of a composite type, if it is known.
    pub fn part_count(&self, module: &SpirvModule, ty: Id) -> Option<u32> {
        let inst = self.definition(module, ty)?;
        match inst.op() {
            Op::TypeVector | Op::TypeMatrix => Some(inst.operand_word(1)),
            Op::TypeStruct => Some(inst.operands().len() as u32),
            Op::TypeArray => {
                let length = self.def_of(module, inst.id_operand(1), Op::Constant)?;
                Some(length.operand_word(0)).filter(|_| length.operands().len() == 1)
            }
            _ => None,
        }
    }

    /// The width of an integer; `None` for other values, vectors of integers included.
    pub fn int_width(&self, module: &SpirvModule, id: Id) -> Option<u32> {
        let ty = self.def_of(module, self.type_of(module, id)?, Op::TypeInt)?;
        Some(ty.operand_word(0))
    }

    /// The bits of a scalar constant that cannot be specialised.
    pub fn scalar_constant_bits(&self, module: &SpirvModule, id: Id) -> Option<FoldConstant> {
        let inst = self.definition(module, id)?;
        let bits = match inst.op() {
            Op::Constant => {
                let high = inst.operands().get(1).copied().unwrap_or(0);
                u64::from(inst.operand_word(0)) | u64::from(high) << 32
            }
            Op::ConstantTrue => 1,
            Op::ConstantFalse | Op::ConstantNull => 0,
            _ => return None,
        };
        let ty = self.scalar_type(module, inst.result_type()?)?;
        let mask = u64::MAX >> (64 - ty.width());
        Some(FoldConstant {
            ty,
            bits: bits & mask,
        })
    }

    /// The components of a constant scalar, or of a vector of at most [`MOST_COMPONENTS`].
    pub fn read_constant_lanes(
        &self,
        module: &SpirvModule,
        id: Id,
        lanes: &mut Vec<FoldConstant>,
    ) -> Option<()> {
        let inst = self.definition(module, id)?;
        let vector = self.def_of(module, inst.result_type()?, Op::TypeVector);
        match (inst.op(), vector) {
            (Op::ConstantComposite, Some(_)) => {
                for part in inst.id_operands(0) {
                    lanes.push(self.scalar_constant_bits(module, part)?);
                }
            }
            (Op::ConstantNull, Some(vector)) => {
                let ty = self.scalar_type(module, vector.id_operand(0))?;
                let count =
                    Some(vector.operand_word(1)).filter(|n| *n <= MOST_COMPONENTS)? as usize;
                lanes.extend(std::iter::repeat_n(FoldConstant { ty, bits: 0 }, count));
            }
            _ => lanes.push(self.scalar_constant_bits(module, id)?),
        }
        Some(())
    }

    /// The bits of a constant all of whose components are equal.
    pub fn splat_bits(&self, module: &SpirvModule, id: Id) -> Option<FoldConstant> {
        let inst = self.definition(module, id)?;
        match inst.op() {
            Op::ConstantComposite => {
                let mut parts = inst.id_operands(0);
                let first = self.scalar_constant_bits(module, parts.next()?)?;
                parts
                    .all(|p| self.scalar_constant_bits(module, p) == Some(first))
                    .then_some(first)
            }
            Op::ConstantNull => {
                let (ty, _) = self.scalar_shape(module, inst.result_type()?)?;
                Some(FoldConstant { ty, bits: 0 })
            }
            _ => self.scalar_constant_bits(module, id),
        }
    }

    /// Whether a value is a constant that cannot be specialised.
    pub fn is_constant(&self, module: &SpirvModule, id: Id) -> bool {
        matches!(
            self.defining_op(module, id),
            Op::Constant
                | Op::ConstantTrue
                | Op::ConstantFalse
                | Op::ConstantNull
                | Op::ConstantComposite
        )
    }

    /// A scalar constant of a type from its bits.
    pub fn intern_scalar(&mut self, module: &mut SpirvModule, ty: Id, bits: u64) -> Option<Id> {
        let scalar = self.scalar_type(module, ty)?;
        let signed = self
            .definition(module, ty)
            .is_some_and(|t| t.op() == Op::TypeInt && t.operand_word(1) == 1);
        let id = match scalar {
            FoldType::Bool => self.pool.intern_bool_constant(module, ty, bits & 1 != 0),
            _ => {
                let width = scalar.width();
                let bits = if signed && width < 32 {
                    ((bits << (64 - width)) as i64 >> (64 - width)) as u64
                } else {
                    bits
                };
                let words = [bits as u32, (bits >> 32) as u32];
                let words = &words[..if width > 32 { 2 } else { 1 }];
                self.pool.intern_constant(module, Op::Constant, ty, words)
            }
        };
        self.record_interned(module);
        Some(id)
    }

    /// A constant scalar or vector from the bits of its components; `None` for a vector of more than
    /// [`MOST_COMPONENTS`].
    pub fn intern_lanes(&mut self, module: &mut SpirvModule, ty: Id, lanes: &[u64]) -> Option<Id> {
        let Some(vector) = self.def_of(module, ty, Op::TypeVector) else {
            return self.intern_scalar(module, ty, *lanes.first()?);
        };
        let part = vector.id_operand(0);
        let count = Some(vector.operand_word(1)).filter(|n| *n <= MOST_COMPONENTS)? as usize;
        let mut parts = Vec::with_capacity(count);
        for at in 0..count {
            let bits = lanes[at.min(lanes.len() - 1)];
            parts.push(self.intern_scalar(module, part, bits)?.word());
        }
        Some(self.intern_constant(module, Op::ConstantComposite, ty, &parts))
    }

    /// A constant or undefined value.
    pub fn intern_constant(
        &mut self,
        module: &mut SpirvModule,
        op: Op,
        ty: Id,
        operands: &[u32],
    ) -> Id {
        let id = self.pool.intern_constant(module, op, ty, operands);
        self.record_interned(module);
        id
    }

    /// The type with this opcode and these operands.
    pub fn intern_type(&mut self, module: &mut SpirvModule, op: Op, operands: &[u32]) -> Id {
        let id = self.pool.intern_type(module, op, operands);
        self.record_interned(module);
        id
    }

    /// Records the instructions that the pool created.
    fn record_interned(&mut self, module: &SpirvModule) {
        for inst in self.pool.made.drain(..) {
            if let Some(id) = module.inst(inst).result() {
                self.defs.set(id, Some(inst));
            }
        }
    }

    /// Member `at` of a constant.
    pub fn extract_constant_component(
        &mut self,
        module: &mut SpirvModule,
        id: Id,
        at: u32,
    ) -> Option<Id> {
        let inst = self.definition(module, id)?;
        match inst.op() {
            Op::ConstantComposite => inst.get_id(at as usize),
            op @ (Op::ConstantNull | Op::Undef) => {
                let ty = self.part_type(module, inst.result_type()?, at)?;
                Some(self.intern_constant(module, op, ty, &[]))
            }
            _ => None,
        }
    }

    /// Rewrites an instruction to another opcode, with the same type and result.
    pub fn rewrite_inst(
        &mut self,
        module: &mut SpirvModule,
        inst: Inst,
        op: Op,
        operands: &[u32],
    ) -> SimplifyOutcome {
        let mut words = module.inst(inst).words()[..2].to_vec();
        words.extend_from_slice(operands);
        module.replace_inst(inst, op, &words);
        SimplifyOutcome::Changed
    }

    /// Inserts a new instruction before another one.
    pub fn insert_inst(
        &mut self,
        module: &mut SpirvModule,
        before: Inst,
        op: Op,
        ty: Id,
        operands: &[u32],
    ) -> Id {
        let id = module.fresh_id();
        let mut words = vec![ty.word(), id.word()];
        words.extend_from_slice(operands);
        let inst = module.create_inst(op, &words);
        module.insert_before(before, inst);
        self.ids.record_inst(module.inst(inst));
        self.defs.set(id, Some(inst));
        id
    }

    /// The type of a pointer to a function variable.
    pub fn local_pointer(&mut self, module: &mut SpirvModule, pointee: Id) -> Id {
        let id = self.pool.local_pointer(module, pointee);
        self.record_interned(module);
        id
    }

    /// Whether the operation of a value may be contracted with those of its operands, if results differ at most
    /// for subnormal numbers.
    pub fn may_contract(&self, id: Id) -> bool {
        let marks = self.decoration_marks(id);
        !self.subnormals && marks.is_some_and(|m| m & NO_CONTRACTION == 0)
    }

    /// Whether a value may be computed with less precision.
    pub fn is_relaxed(&self, id: Id) -> bool {
        self.marks[id] & RELAXED != 0
    }
}

/// Whether subnormal numbers must be preserved. Shaders that request neither mode leave it open (specification,
/// section 3.6, `DenormPreserve`; Vulkan, "Precision and Operation of SPIR-V Instructions").
fn subnormals_matter(module: &SpirvModule) -> bool {
    let special = [
        ExecutionMode::DenormPreserve,
        ExecutionMode::DenormFlushToZero,
    ];
    let mut modes = module.section_insts(ModuleSection::ExecutionModes);
    !module.is_structured()
        || modes.any(|m| {
            let mode = m.operands().get(1).copied();
            m.op() == Op::ExecutionMode && special.iter().any(|s| Some(s.0) == mode)
        })
}

/// Whether no entry point requests a rounding mode other than to nearest even, or flushing of subnormal numbers.
fn floats_are_plain(module: &SpirvModule) -> bool {
    let special = [
        ExecutionMode::DenormFlushToZero,
        ExecutionMode::RoundingModeRTZ,
        ExecutionMode::RoundingModeRTPINTEL,
        ExecutionMode::RoundingModeRTNINTEL,
    ];
    let mut modes = module.section_insts(ModuleSection::ExecutionModes);
    !modes.any(|m| {
        let mode = m.operands().get(1).copied();
        m.op() == Op::ExecutionMode && special.iter().any(|s| Some(s.0) == mode)
    })
}
