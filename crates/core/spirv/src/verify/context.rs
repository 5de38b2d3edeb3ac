//! Verification context: definitions and types of a module in flat tables, and its declarations.

use super::VerifyOptions;
use super::rules::VerifyRule;
use crate::analysis::IdDecorations;
use crate::grammar::enumerants::{
    AddressingModel, Capability, Decoration, MemoryModel, StorageClass,
};
use crate::grammar::{InstructionClass, Kind, Op, SpirvVersion, literal_string};
use crate::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use crate::target::TargetEnvironment;
use crate::{Id, IdNumbers};
use rustc_hash::FxHashSet;
use spirula_diagnostics::SourceDiagnostic;

/// A breach of a rule by the instruction that is looked at.
#[derive(Debug)]
pub(super) struct VerifyFault {
    pub rule: VerifyRule,
    pub message: String,
    pub hint: Option<String>,
}

impl VerifyFault {
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The fault as a diagnostic about an instruction.
    pub fn into_diagnostic(self, inst: InstRef<'_>) -> SourceDiagnostic {
        let name = match inst.result() {
            Some(id) => format!("{id} = {}", inst.op()),
            None => inst.op().to_string(),
        };
        let message = format!("{name}: {}", self.message);
        let found = SourceDiagnostic::error(inst.place(), message).with_note(self.rule.to_string());
        match self.hint {
            Some(hint) => found.with_hint(hint),
            None => found,
        }
    }
}

pub(super) type VerifyResult = Result<(), VerifyFault>;

/// A fault of a rule.
pub(super) fn make_fault(rule: VerifyRule, message: impl Into<String>) -> VerifyFault {
    VerifyFault {
        rule,
        message: message.into(),
        hint: None,
    }
}

/// `Ok` where the condition holds, else a fault.
pub(super) fn ensure(
    rule: VerifyRule,
    holds: bool,
    message: impl FnOnce() -> String,
) -> VerifyResult {
    if holds {
        Ok(())
    } else {
        Err(make_fault(rule, message()))
    }
}

/// A summary of a type for the rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeSummary {
    pub op: Op,
    /// Bits of integers and floats.
    pub width: u32,
    pub signed: bool,
    /// Components of a vector, columns of a matrix.
    pub count: u32,
    /// Component, column, element or pointee; 0 for none.
    pub part: u32,
    /// Storage class of pointers.
    pub class: StorageClass,
    /// Its contents, without following pointers.
    pub holds: TypeContents,
    /// How deep structures nest in it.
    pub depth: u32,
    /// Locations that an input or output of it takes.
    pub locations: u32,
}

/// The contents of a type, itself included, computed from those of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeContents(u16);

impl TypeContents {
    pub const NOTHING: TypeContents = TypeContents(0);
    pub const BOOL: TypeContents = TypeContents(1);
    /// A boolean in no structure of built-in variables.
    pub const PLAIN_BOOL: TypeContents = TypeContents(1 << 1);
    pub const INT8: TypeContents = TypeContents(1 << 2);
    pub const INT16: TypeContents = TypeContents(1 << 3);
    /// A float of 16 bits in IEEE's format.
    pub const FLOAT16: TypeContents = TypeContents(1 << 4);
    pub const RUNTIME_ARRAY: TypeContents = TypeContents(1 << 5);
    /// Cooperative matrices and vectors.
    pub const COOPERATIVE: TypeContents = TypeContents(1 << 6);
    /// Images, samplers and acceleration structures.
    pub const OBJECT: TypeContents = TypeContents(1 << 7);
    /// Something that has no null value.
    pub const NO_NULL: TypeContents = TypeContents(1 << 8);

    pub fn has_any(self, of: TypeContents) -> bool {
        self.0 & of.0 != 0
    }

    pub const fn union(self, other: TypeContents) -> TypeContents {
        TypeContents(self.0 | other.0)
    }

    const fn difference(self, other: TypeContents) -> TypeContents {
        TypeContents(self.0 & !other.0)
    }
}

const NO_SHAPE: TypeSummary = TypeSummary {
    op: Op::Nop,
    width: 0,
    signed: false,
    count: 0,
    part: 0,
    class: StorageClass(u32::MAX),
    holds: TypeContents::NOTHING,
    depth: 0,
    locations: 0,
};

/// Where an id is defined.
#[derive(Clone, Copy, Debug)]
pub(super) struct DefinitionInfo {
    pub inst: Inst,
    pub op: Op,
    is_type: bool,
    /// Result type, 0 for none; for types their index among shapes.
    ty: u32,
    pub place: DefPlace,
}

/// The scope of a definition: outside of functions, or a number that each function and each of its blocks has,
/// in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DefPlace(u32);

impl DefPlace {
    pub const OUTSIDE: DefPlace = DefPlace(u32::MAX);

    /// The first function.
    pub const FIRST: DefPlace = DefPlace(0);

    /// The place n further: from a function the block before that index, or the next function.
    pub fn nth_after(self, number: usize) -> DefPlace {
        DefPlace(self.0 + number as u32)
    }

    /// The block index in a function with n blocks; `None` for the function itself.
    ///
    /// # Errors
    /// If the place is in another function.
    pub fn block_index(self, function: DefPlace, blocks: usize) -> Result<Option<u32>, ()> {
        match self.0.checked_sub(function.0) {
            Some(at) if at as usize <= blocks => Ok(at.checked_sub(1)),
            _ => Err(()),
        }
    }
}

/// The definitions in their order, found by number: many modules have far fewer definitions than ids.
struct DefinitionTable {
    /// Number of the definition of each id, from 1 on.
    numbers: IdNumbers,
    all: Vec<DefinitionInfo>,
}

impl DefinitionTable {
    fn new(module: &SpirvModule) -> DefinitionTable {
        let (bound, insts) = (module.bound(), module.inst_count());
        DefinitionTable {
            numbers: IdNumbers::new(bound, insts.min(bound as usize)),
            // Five instructions of eight have a result.
            all: Vec::with_capacity(insts.min(bound as usize).min(insts / 8 * 5 + 16)),
        }
    }

    /// A definition of an id that has none.
    fn insert_new(&mut self, id: Id, def: DefinitionInfo) {
        if self.all.len() == self.all.capacity() {
            self.all.reserve_exact(self.all.len() / 8 + 16);
        }
        self.all.push(def);
        self.numbers.set(id, self.all.len() as u32);
    }

    #[inline]
    fn get(&self, id: u32) -> Option<&DefinitionInfo> {
        self.all.get(self.numbers.get(id).wrapping_sub(1) as usize)
    }
}

/// A module under verification.
pub(super) struct VerifyContext<'m> {
    pub module: &'m SpirvModule,
    pub options: &'m VerifyOptions,
    pub version: SpirvVersion,
    pub ids: IdWords,
    pub decorations: IdDecorations,
    pub addressing: AddressingModel,
    pub memory_model: MemoryModel,
    defs: DefinitionTable,
    shapes: Vec<TypeSummary>,
    /// Declared capabilities and those that they imply, one bit for each row of the grammar.
    capabilities: Vec<u64>,
    /// Declared capabilities that were added to the grammar.
    added: Vec<Capability>,
    pub extensions: Vec<String>,
    pub is_shader: bool,
    pub is_kernel: bool,
    /// Ids that `OpTypeForwardPointer` declares.
    pub forward_pointers: FxHashSet<u32>,
}

impl<'m> VerifyContext<'m> {
    pub fn new(module: &'m SpirvModule, options: &'m VerifyOptions) -> Self {
        let model = module.section_insts(ModuleSection::MemoryModel).next();
        let model = model.map_or((0, 0), |m| (m.operand_word(0), m.operand_word(1)));
        let mut cx = VerifyContext {
            module,
            options,
            version: module.version,
            ids: IdWords::new(module),
            decorations: IdDecorations::from_module(module),
            addressing: AddressingModel(model.0),
            memory_model: MemoryModel(model.1),
            defs: DefinitionTable::new(module),
            shapes: vec![NO_SHAPE],
            capabilities: vec![0; Kind::Capability.info().enumerants.len().div_ceil(64)],
            added: Vec::new(),
            extensions: Vec::new(),
            is_shader: false,
            is_kernel: false,
            forward_pointers: FxHashSet::default(),
        };
        for inst in module.section_insts(ModuleSection::Capabilities) {
            cx.declare_capability(Capability(inst.operand_word(0)));
        }
        for inst in module.section_insts(ModuleSection::Extensions) {
            let name = literal_string(inst.operands());
            cx.extensions.push(name.into_owned());
        }
        cx.is_shader = cx.has_capability(Capability::Shader);
        cx.is_kernel = cx.has_capability(Capability::Kernel);
        cx
    }

    /// Records a capability and those that it implies.
    fn declare_capability(&mut self, capability: Capability) {
        let rows = Kind::Capability.info().enumerants;
        let mut stack = vec![capability.0];
        while let Some(value) = stack.pop() {
            let Some(row) = Kind::Capability.info().enumerant_by_value(value) else {
                continue;
            };
            let at = rows.partition_point(|r| r.value < value);
            if rows.get(at).is_none_or(|r| r.value != value) {
                if !self.added.contains(&Capability(value)) {
                    self.added.push(Capability(value));
                    stack.extend(row.capabilities.iter().map(|c| c.0));
                }
                continue;
            }
            let bit = 1 << (at % 64);
            if self.capabilities[at / 64] & bit == 0 {
                self.capabilities[at / 64] |= bit;
                stack.extend(row.capabilities.iter().map(|c| c.0));
            }
        }
    }

    /// Whether the module declares the capability, or one that implies it.
    pub fn has_capability(&self, capability: Capability) -> bool {
        let rows = Kind::Capability.info().enumerants;
        let at = rows.partition_point(|r| r.value < capability.0);
        if rows.get(at).is_none_or(|r| r.value != capability.0) {
            return self.added.contains(&capability);
        }
        self.capabilities[at / 64] >> (at % 64) & 1 == 1
    }

    pub fn has_any(&self, capabilities: &[Capability]) -> bool {
        capabilities.is_empty() || capabilities.iter().any(|c| self.has_capability(*c))
    }

    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.iter().any(|e| e == name)
    }

    pub fn is_vulkan(&self) -> bool {
        matches!(
            self.options.target.environment,
            TargetEnvironment::Vulkan(..)
        )
    }

    pub fn is_opencl(&self) -> bool {
        matches!(
            self.options.target.environment,
            TargetEnvironment::OpenCl(..)
        )
    }

    pub fn is_logical(&self) -> bool {
        self.addressing == AddressingModel::Logical
    }

    /// Whether pointers may be values in logical addressing.
    pub fn variable_pointers(&self) -> bool {
        self.has_capability(Capability::VariablePointers)
            || self.has_capability(Capability::VariablePointersStorageBuffer)
    }

    /// Records the result of an instruction.
    ///
    /// # Errors
    /// If the id is defined already.
    pub fn define_result(&mut self, inst: InstRef<'m>, place: DefPlace) -> VerifyResult {
        let Some(id) = inst.result() else {
            return Ok(());
        };
        ensure(
            VerifyRule::DefinedOnce,
            self.definition(id.word()).is_none(),
            || format!("{id} is defined already"),
        )?;
        let is_type = inst
            .op()
            .info()
            .is_some_and(|i| i.class == InstructionClass::TypeDeclaration);
        let ty = if is_type {
            let shape = self.shape_of(inst);
            self.shapes.push(shape);
            self.shapes.len() as u32 - 1
        } else {
            inst.result_type().map_or(0, Id::word)
        };
        let def = DefinitionInfo {
            inst: inst.handle(),
            op: inst.op(),
            is_type,
            ty,
            place,
        };
        self.defs.insert_new(id, def);
        Ok(())
    }

    /// Data to distinguish ids from literals.
    pub fn into_ids(self) -> IdWords {
        self.ids
    }

    fn shape_of(&self, inst: InstRef<'_>) -> TypeSummary {
        let word = |n: usize| inst.operands().get(n).copied().unwrap_or(0);
        let mut shape = TypeSummary {
            op: inst.op(),
            ..NO_SHAPE
        };
        match inst.op() {
            Op::TypeInt => (shape.width, shape.signed) = (word(0), word(1) == 1),
            // Formats other than IEEE's are counted by their number.
            Op::TypeFloat => {
                (shape.width, shape.count) = (word(0), inst.operands().len() as u32 - 1)
            }
            Op::TypeVector | Op::TypeMatrix => (shape.part, shape.count) = (word(0), word(1)),
            Op::TypeArray
            | Op::TypeRuntimeArray
            | Op::TypeSampledImage
            | Op::TypeImage
            | Op::TypeFunction
            | Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeVectorIdEXT => shape.part = word(0),
            Op::TypePointer => {
                (shape.class, shape.part) = (StorageClass(word(0)), word(1));
            }
            Op::TypeUntypedPointerKHR => shape.class = StorageClass(word(0)),
            _ => {}
        }
        shape.holds = self.summarize_contents(inst, &shape);
        shape.locations = self.count_locations(inst, &shape);
        shape.depth = match inst.op() {
            Op::TypeStruct => {
                let members = inst.operands().iter();
                let below = members.filter(|m| self.defining_op(**m) == Op::TypeStruct);
                1 + below.map(|m| self.type_shape(*m).depth).max().unwrap_or(0)
            }
            _ => 0,
        };
        shape
    }

    /// Locations that a type takes (Vulkan specification, "Location Assignment").
    fn count_locations(&self, inst: InstRef<'_>, shape: &TypeSummary) -> u32 {
        let part = self.type_shape(shape.part);
        match inst.op() {
            Op::TypeInt | Op::TypeFloat => 1,
            Op::TypeVector => 1 + u32::from(part.width == 64 && shape.count > 2),
            Op::TypeMatrix => part.locations.saturating_mul(shape.count),
            Op::TypeArray => {
                let length = self.constant_value(inst.operand_word(1)).unwrap_or(1);
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                part.locations.saturating_mul(length)
            }
            Op::TypeStruct => inst.operands().iter().fold(0u32, |sum, m| {
                sum.saturating_add(self.type_shape(*m).locations)
            }),
            _ => 0,
        }
    }

    /// The contents of a type whose parts are known.
    fn summarize_contents(&self, inst: InstRef<'_>, shape: &TypeSummary) -> TypeContents {
        match inst.op() {
            Op::TypeBool => TypeContents::BOOL.union(TypeContents::PLAIN_BOOL),
            Op::TypeInt if shape.width == 8 => TypeContents::INT8,
            Op::TypeInt if shape.width == 16 => TypeContents::INT16,
            Op::TypeFloat if shape.width == 16 && shape.count == 0 => TypeContents::FLOAT16,
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray => self.type_shape(shape.part).holds,
            Op::TypeRuntimeArray => {
                let part = self.type_shape(shape.part).holds;
                part.union(TypeContents::RUNTIME_ARRAY)
                    .union(TypeContents::NO_NULL)
            }
            Op::TypeStruct => {
                let members = inst.operands().iter();
                let all = members.fold(TypeContents::NOTHING, |all, m| {
                    all.union(self.type_shape(*m).holds)
                });
                let own = inst.words()[0];
                let mut numbers = 0..inst.operands().len() as u32;
                if numbers.any(|n| {
                    self.member_decoration(own, n, Decoration::BuiltIn)
                        .is_some()
                }) {
                    all.difference(TypeContents::PLAIN_BOOL)
                } else {
                    all
                }
            }
            Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeCooperativeVectorNV => TypeContents::COOPERATIVE,
            Op::TypeImage
            | Op::TypeSampler
            | Op::TypeSampledImage
            | Op::TypeAccelerationStructureKHR => TypeContents::OBJECT.union(TypeContents::NO_NULL),
            Op::TypeInt
            | Op::TypeFloat
            | Op::TypeEvent
            | Op::TypeDeviceEvent
            | Op::TypeReserveId
            | Op::TypeQueue => TypeContents::NOTHING,
            Op::TypePointer | Op::TypeUntypedPointerKHR => {
                if shape.class == StorageClass::PhysicalStorageBuffer && self.is_vulkan() {
                    TypeContents::NO_NULL
                } else {
                    TypeContents::NOTHING
                }
            }
            _ => TypeContents::NO_NULL,
        }
    }

    /// The definition of an id.
    pub fn definition(&self, id: u32) -> Option<&DefinitionInfo> {
        self.defs.get(id)
    }

    /// The opcode that defines an id; `OpNop` for none.
    pub fn defining_op(&self, id: u32) -> Op {
        self.definition(id).map_or(Op::Nop, |d| d.op)
    }

    /// The instruction that defines an id.
    pub fn defining_inst(&self, id: u32) -> Option<InstRef<'m>> {
        self.definition(id).map(|d| self.module.inst(d.inst))
    }

    /// The type of a value, 0 for none.
    pub fn type_of(&self, value: u32) -> u32 {
        self.definition(value)
            .map_or(0, |d| if d.is_type { 0 } else { d.ty })
    }

    /// The summary of a type; its opcode is `OpNop` if the id is no type.
    pub fn type_shape(&self, ty: u32) -> TypeSummary {
        match self.definition(ty) {
            Some(def) if def.is_type => self.shapes[def.ty as usize],
            _ => NO_SHAPE,
        }
    }

    /// The summary of a value's type.
    pub fn value_shape(&self, value: u32) -> TypeSummary {
        self.type_shape(self.type_of(value))
    }

    pub fn is_type(&self, id: u32) -> bool {
        self.definition(id).is_some_and(|d| d.is_type)
    }

    pub fn is_constant(&self, id: u32) -> bool {
        is_constant_op(self.defining_op(id))
    }

    /// The value of an integer constant that no specialisation changes.
    pub fn constant_value(&self, id: u32) -> Option<u64> {
        let inst = self.defining_inst(id)?;
        match inst.op() {
            Op::Constant => {
                let high = inst.operands().get(1).copied().unwrap_or(0);
                Some(u64::from(inst.operand_word(0)) | u64::from(high) << 32)
            }
            Op::ConstantNull => Some(0),
            _ => None,
        }
    }

    /// Whether an id or one of its members has a decoration.
    pub fn has_decoration(&self, id: u32, what: Decoration) -> bool {
        let Some(id) = Id::new(id) else { return false };
        self.decorations.get(self.module, id, what).is_some()
    }

    pub fn decoration(&self, id: u32, what: Decoration) -> Option<&'m [u32]> {
        self.decorations.get(self.module, Id::new(id)?, what)
    }

    pub fn member_decoration(&self, id: u32, member: u32, what: Decoration) -> Option<&'m [u32]> {
        self.decorations
            .get_member(self.module, Id::new(id)?, member, what)
    }

    /// The members of a structure type.
    pub fn struct_members(&self, structure: u32) -> &'m [u32] {
        match self.defining_inst(structure) {
            Some(inst) if inst.op() == Op::TypeStruct => inst.operands(),
            _ => &[],
        }
    }

    /// A type's name for messages.
    pub fn describe_type(&self, ty: u32) -> String {
        let shape = self.type_shape(ty);
        match shape.op {
            Op::TypeInt if shape.signed => format!("i{}", shape.width),
            Op::TypeInt => format!("u{}", shape.width),
            Op::TypeFloat => format!("f{}", shape.width),
            Op::TypeBool => "bool".to_owned(),
            Op::TypeVector => format!(
                "vector of {} {}",
                shape.count,
                self.describe_type(shape.part)
            ),
            Op::Nop => "nothing".to_owned(),
            op => format!("%{ty} ({op})"),
        }
    }
}

/// Whether an opcode defines a constant; `OpUndef` does not count.
pub(super) fn is_constant_op(op: Op) -> bool {
    let class = op.info().map(|i| i.class);
    class == Some(InstructionClass::ConstantCreation) || op == Op::ConstantFunctionPointerINTEL
}
