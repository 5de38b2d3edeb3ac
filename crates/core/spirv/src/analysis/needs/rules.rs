//! Needs that the grammar lacks, by functions over instructions.

use super::ModuleRequirements;
use super::choose::collect_implied_capabilities;
use super::tables::{
    CapabilityTrait, FLOAT16, KEPT_WITH, NARROW, NARROW_ROWS, NON_SEMANTIC, OPAQUE, STORED,
};
use crate::analysis::IdDefinitions;
use crate::grammar::enumerants::{
    AddressingModel, Capability, Decoration, Dim, MemoryModel, Scope, StorageClass,
};
use crate::grammar::{
    InstructionClass, InstructionInfo, Kind, Op, OperandIter, ResultForm, SpirvVersion,
    all_instructions,
};
use crate::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap};

/// Structures with a decoration, by increasing id.
fn find_decorated(module: &SpirvModule, decoration: Decoration) -> Vec<Id> {
    let annotations = module.section_insts(ModuleSection::Annotations);
    let has_decoration =
        |i: &InstRef<'_>| i.op() == Op::Decorate && i.operands().get(1) == Some(&decoration.0);
    let mut found: Vec<Id> = annotations
        .filter(has_decoration)
        .map(|i| i.id_operand(0))
        .collect();
    found.sort_unstable();
    found
}

pub(super) struct RequirementRules<'a> {
    pub(super) module: &'a SpirvModule,
    /// Structures decorated `BufferBlock`.
    old_blocks: Vec<Id>,
    /// Structures decorated `Block`.
    pub(super) blocks: Vec<Id>,
    /// The numbers that each type contains.
    pub(super) types: IdMap<u8>,
    /// Whether any type so far contains narrow numbers.
    any_narrow: bool,
    /// Whether values may need halves, of a kernel that was just emitted.
    pub(super) watches_halves: bool,
    /// The type of each value, where rules look at all.
    pub(super) values: IdMap<Option<Id>>,
    /// Whether rules look at the types of all values: in kernels that were just emitted, types alone decide.
    inspects_values: bool,
    /// Types, constants and variables; in logical addressing all values.
    definitions: IdDefinitions,
    /// All of them, found when they are first asked for where rules do not look at all values.
    all_definitions: Option<IdDefinitions>,
    /// Positions of ids, found when they are first asked for.
    pub(super) words: Option<IdWords>,
    /// Extended instruction sets without a meaning for computation.
    pub(super) silent_sets: Vec<Id>,
    pub(super) is_shader: bool,
    pub(super) is_logical: bool,
    is_vulkan_model: bool,
    /// By row of the grammar.
    interests: Vec<u8>,
    /// Each trait with the first instruction that shows it.
    traits: Vec<(CapabilityTrait, Inst)>,
    pub(super) needs: &'a mut ModuleRequirements,
}

/// Rules concern the instruction by its opcode.
const RULED: u8 = 1;
/// Types, constants and variables, which rules look up.
const LOOKED_UP: u8 = 2;

impl<'a> RequirementRules<'a> {
    pub fn new(module: &'a SpirvModule, needs: &'a mut ModuleRequirements) -> Self {
        let model = module.section_insts(ModuleSection::MemoryModel).next();
        let model = model.map_or((0, 0), |m| (m.operand_word(0), m.operand_word(1)));
        let mut rules = RequirementRules {
            module,
            old_blocks: find_decorated(module, Decoration::BufferBlock),
            blocks: find_decorated(module, Decoration::Block),
            types: IdMap::new(module.bound(), 0),
            any_narrow: false,
            watches_halves: false,
            values: IdMap::new(0, None),
            inspects_values: true,
            definitions: IdDefinitions::without_insts(module),
            all_definitions: None,
            words: None,
            silent_sets: module.silent_sets(),
            is_shader: collect_implied_capabilities(needs.declared.iter().copied())
                .contains(&Capability::Shader.0),
            is_logical: matches!(
                AddressingModel(model.0),
                AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64
            ),
            is_vulkan_model: MemoryModel(model.1) == MemoryModel::Vulkan,
            interests: Vec::new(),
            traits: Vec::new(),
            needs,
        };
        rules.inspects_values = rules.is_shader || rules.is_logical || !rules.needs.is_emitted;
        rules.interests = all_instructions()
            .iter()
            .map(|row| rules.find_interest(row))
            .collect();
        rules
    }

    /// The rules that concern an opcode in this module.
    fn find_interest(&self, row: &InstructionInfo) -> u8 {
        use InstructionClass as Class;
        let is_listed = matches!(
            row.op,
            Op::Variable
                | Op::ImageRead
                | Op::ImageSparseRead
                | Op::ImageWrite
                | Op::SDot
                | Op::UDot
                | Op::SUDot
                | Op::SDotAccSat
                | Op::UDotAccSat
                | Op::SUDotAccSat
                | Op::GroupNonUniformBroadcast
                | Op::Decorate
                | Op::ExtInstImport
        );
        let has_scope = matches!(
            row.class,
            Class::Atomic | Class::Barrier | Class::Memory | Class::Image
        );
        let is_typed = row.op.result_form() == ResultForm::Typed;
        let passes_pointer = matches!(row.op, Op::FunctionCall | Op::ReturnValue);
        let is_ruled = is_listed
            || passes_pointer && self.is_logical
            || matches!(row.class, Class::TypeDeclaration | Class::Atomic)
            || has_scope && self.is_vulkan_model
            || is_typed && self.is_logical;
        let is_global = matches!(row.class, Class::TypeDeclaration | Class::ConstantCreation)
            || row.op == Op::Variable;
        let is_looked_up = is_global || is_typed && self.is_logical;
        (u8::from(is_ruled) * RULED) | (u8::from(is_looked_up) * LOOKED_UP)
    }

    /// Whether rules concern a row of the grammar.
    #[inline]
    pub fn is_concerned(&self, row: usize) -> bool {
        self.inspects_values || self.watches_halves || self.interests[row] != 0
    }

    /// The type of a value.
    pub(super) fn value_type(&mut self, id: Id) -> Option<Id> {
        if self.inspects_values {
            return self.values[id];
        }
        let module = self.module;
        let all = self
            .all_definitions
            .get_or_insert_with(|| IdDefinitions::from_module(module));
        all.get(module, id).and_then(InstRef::result_type)
    }

    /// Applies the rules to an instruction. Instructions come in their order.
    #[inline]
    pub fn inspect_inst(&mut self, inst: InstRef<'a>) {
        let row = inst.op().row_index();
        let interest = row.map_or(RULED, |row| self.interests[row]);
        if interest & LOOKED_UP != 0 {
            self.definitions.add_inst(inst);
        }
        if let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) {
            if self.inspects_values {
                self.values.set(id, Some(ty));
            }
            if self.watches_halves {
                self.require_held_halves(self.types[ty], inst);
            }
        }
        if self.any_narrow && self.inspects_values {
            self.require_full_width(inst);
        }
        if interest & RULED != 0 {
            self.apply_rules(inst);
        }
    }

    fn apply_rules(&mut self, inst: InstRef<'a>) {
        let class = inst.op().info().map(|i| i.class);
        if class == Some(InstructionClass::TypeDeclaration) {
            return self.inspect_declaration(inst);
        }
        if self.is_logical && inst.op().result_form() == ResultForm::Typed {
            self.inspect_pointer(inst);
        }
        match inst.op() {
            Op::Variable => self.inspect_variable(inst),
            Op::FunctionCall if self.is_logical => self.inspect_pointer_arguments(inst),
            Op::ReturnValue if self.is_logical => self.inspect_returned_pointer(inst),
            Op::ImageRead | Op::ImageSparseRead => {
                self.note_trait(CapabilityTrait::ImageRead, inst);
                self.require_format(Capability::StorageImageReadWithoutFormat, inst);
            }
            Op::ImageWrite => {
                self.note_trait(CapabilityTrait::ImageWrite, inst);
                self.require_format(Capability::StorageImageWriteWithoutFormat, inst);
            }
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
                self.note_trait(CapabilityTrait::Dot, inst);
                self.require_dot_product(inst);
            }
            Op::GroupNonUniformBroadcast => self.inspect_broadcast(inst),
            Op::Decorate if inst.operand_word(1) == Decoration::NonUniform.0 => {
                self.note_trait(CapabilityTrait::NonUniform, inst);
            }
            Op::ExtInstImport if self.needs.version < SpirvVersion::new(1, 6) => {
                self.require_import_extension(inst)
            }
            _ => {}
        }
        if class == Some(InstructionClass::Atomic) {
            self.inspect_atomic(inst);
        }
        let has_scope = matches!(
            class,
            Some(
                InstructionClass::Atomic
                    | InstructionClass::Barrier
                    | InstructionClass::Memory
                    | InstructionClass::Image
            )
        );
        if self.is_vulkan_model && has_scope {
            self.inspect_scopes(inst);
        }
    }

    /// Finds the needs of the module as a whole.
    pub fn finish_requirements(self) {
        let RequirementRules {
            module,
            traits,
            needs,
            ..
        } = self;
        for (capability, with) in KEPT_WITH {
            if let Some((_, inst)) = traits.iter().find(|t| t.0 == *with) {
                let what = || with.describe().to_owned();
                needs.keep_declared(&[*capability], Some(*inst), what);
            }
        }
        let entries = module.section_insts(ModuleSection::EntryPoints);
        let is_entry =
            |i: InstRef<'_>| matches!(i.op(), Op::EntryPoint | Op::ConditionalEntryPointINTEL);
        if !entries.into_iter().any(is_entry) {
            let any = [Capability::Linkage, Capability::GraphARM];
            needs.require_any(&any, None, || "a module without entry points".to_owned());
        }
    }

    fn require_import_extension(&mut self, inst: InstRef<'_>) {
        let name = inst.string_operand(0);
        if name.starts_with("NonSemantic.") {
            let reason = || super::RequirementReason {
                inst: Some(inst.handle()),
                what: name,
            };
            let any = vec![NON_SEMANTIC];
            self.needs.extensions.entry(any).or_insert_with(reason);
        }
    }

    fn note_trait(&mut self, found: CapabilityTrait, inst: InstRef<'_>) {
        if self.traits.iter().all(|t| t.0 != found) {
            self.traits.push((found, inst.handle()));
        }
    }

    pub(super) fn keep_declared(&mut self, any: &[Capability], inst: InstRef<'_>, what: &str) {
        let name = || what.to_owned();
        self.needs.keep_declared(any, Some(inst.handle()), name);
    }

    pub(super) fn require_any(&mut self, any: &[Capability], inst: InstRef<'_>, what: &str) {
        let name = || what.to_owned();
        self.needs.require_any(any, Some(inst.handle()), name);
    }

    pub(super) fn defining_inst(&self, id: Id) -> Option<InstRef<'a>> {
        self.definitions.get(self.module, id)
    }

    fn inspect_declaration(&mut self, inst: InstRef<'a>) {
        let part = |rules: &Self| inst.get_id(0).map_or(0, |id| rules.types[id]);
        let holds = match inst.op() {
            Op::TypeInt => self.inspect_integer_type(inst),
            Op::TypeFloat => self.inspect_float_type(inst),
            Op::TypeVector => {
                if matches!(inst.operand_word(1), 8 | 16) {
                    let any = [Capability::Vector16, Capability::LongVectorEXT];
                    self.require_any(&any, inst, "a vector of 8 or 16 components");
                }
                part(self)
            }
            Op::TypeMatrix | Op::TypeArray => part(self) & (NARROW | OPAQUE),
            Op::TypeFunction => {
                let holds = inst.id_operands(0).fold(0, |all, m| all | self.types[m]) & NARROW;
                self.require_held_halves(holds, inst);
                0
            }
            Op::TypeSampler => {
                self.permit_kernel_image(inst);
                0
            }
            Op::TypeRuntimeArray => {
                self.note_trait(CapabilityTrait::RuntimeArray, inst);
                part(self) & NARROW
            }
            Op::TypeStruct => inst.id_operands(0).fold(0, |all, m| all | self.types[m]) & NARROW,
            Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeVectorIdEXT
            | Op::TypeTensorARM => {
                self.inspect_matrix_component(inst);
                match part(self) & NARROW {
                    0 => 0,
                    narrow => narrow | OPAQUE,
                }
            }
            Op::TypeImage => {
                self.inspect_image(inst);
                0
            }
            Op::TypePointer => {
                self.inspect_inner_pointer(inst);
                self.inspect_address_type(inst);
                0
            }
            _ => 0,
        };
        if inst.op() != Op::TypeFloat {
            self.require_held_halves(holds, inst);
        }
        if let Some(id) = inst.result() {
            self.any_narrow |= holds & NARROW != 0;
            self.watches_halves |= holds & FLOAT16 != 0 && self.needs.is_emitted && !self.is_shader;
            self.types.set(id, holds);
        }
    }

    /// Cooperative matrices with some components, which no row of the grammar distinguishes.
    fn inspect_matrix_component(&mut self, inst: InstRef<'a>) {
        if inst.op() != Op::TypeCooperativeMatrixKHR {
            return;
        }
        let Some(component) = inst.get_id(0).and_then(|id| self.defining_inst(id)) else {
            return;
        };
        let capability = match (component.op(), component.operands()) {
            (Op::TypeFloat, [16, _]) => Capability::BFloat16CooperativeMatrixKHR,
            (Op::TypeFloat, [8, _]) => Capability::Float8CooperativeMatrixEXT,
            (Op::TypeInt, [4, ..]) => Capability::Int4CooperativeMatrixINTEL,
            _ => return,
        };
        self.require_any(&[capability], inst, "a matrix with components of this type");
    }

    fn inspect_variable(&mut self, inst: InstRef<'a>) {
        let class = StorageClass(inst.operand_word(0));
        let pointer = inst.result_type().and_then(|ty| self.defining_inst(ty));
        let Some(pointee) = pointer.and_then(|p| p.get_id(1)) else {
            return;
        };
        let Some(mut block) = self.defining_inst(pointee) else {
            return;
        };
        let is_resource = matches!(
            class,
            StorageClass::UniformConstant | StorageClass::Uniform | StorageClass::StorageBuffer
        );
        if matches!(block.op(), Op::TypeArray | Op::TypeRuntimeArray) {
            if is_resource {
                self.note_trait(CapabilityTrait::DescriptorArray, inst);
            }
            block = self.defining_inst(block.id_operand(0)).unwrap_or(block);
        }
        if class == StorageClass::Workgroup && block.op() == Op::TypeStruct {
            self.note_trait(CapabilityTrait::WorkgroupBlock, inst);
        }
        let is_laid_out = class != StorageClass::Workgroup || self.is_block(block);
        if self.needs.is_emitted && is_laid_out {
            self.permit_class(class, pointee, inst);
        }
        let holds = self.types[pointee] & NARROW;
        if holds == 0 {
            return;
        }
        let is_old = block
            .result()
            .is_some_and(|b| self.old_blocks.binary_search(&b).is_ok());
        let as_class = match class {
            StorageClass::Uniform if is_old => StorageClass::StorageBuffer,
            class => class,
        };
        for (bit, what, capability, extension) in NARROW_ROWS {
            if holds & bit == 0 {
                continue;
            }
            let row = STORED
                .iter()
                .find(|r| r.0 & bit != 0 && r.1.contains(&as_class));
            let stored = row.map_or(&[][..], |row| row.2);
            let what = format!("{what} in the class {class}");
            self.keep_declared(stored, inst, &what);
            let mut any = stored.to_vec();
            any.push(*capability);
            if *bit == FLOAT16 && row.is_none() {
                any.push(Capability::Float16Buffer);
            }
            if !self.needs.has_extension(extension) {
                self.require_any(&any, inst, &what);
            }
        }
    }

    fn inspect_image(&mut self, inst: InstRef<'_>) {
        self.note_trait(CapabilityTrait::Images, inst);
        let [_, dim, _, arrayed, ms, sampled, ..] = *inst.operands() else {
            return;
        };
        let dim = Dim(dim);
        self.permit_kernel_image(inst);
        let is_shader = self.needs.declared.contains(&Capability::Shader.0);
        if sampled == 2 && (is_shader || !self.needs.is_emitted) {
            let any: &[Capability] = match dim {
                Dim::Dim1D => &[Capability::Image1D],
                Dim::Rect => &[Capability::ImageRect],
                Dim::Buffer => &[Capability::ImageBuffer],
                Dim::Cube if arrayed == 1 => &[Capability::ImageCubeArray],
                _ => &[],
            };
            if dim == Dim::Buffer && is_shader && !self.needs.is_emitted {
                self.keep_declared(any, inst, "a storage image of this dimension");
            } else {
                self.require_any(any, inst, "a storage image of this dimension");
            }
            if ms == 1 && dim != Dim::SubpassData {
                let any = [Capability::StorageImageMultisample];
                self.require_any(&any, inst, "a multisampled storage image");
                if arrayed != 0 {
                    let any = [Capability::ImageMSArray];
                    self.require_any(&any, inst, "an array of multisampled images");
                }
            }
        } else {
            // The consumer knows whether the image is sampled.
            let any = [
                Capability::Image1D,
                Capability::ImageRect,
                Capability::ImageBuffer,
                Capability::ImageCubeArray,
            ];
            self.keep_declared(&any, inst, "an image");
        }
        if dim == Dim::Cube && arrayed == 1 {
            let any = [Capability::SampledCubeArray, Capability::ImageCubeArray];
            self.keep_declared(&any, inst, "an array of cubes");
        }
    }

    fn inspect_atomic(&mut self, inst: InstRef<'_>) {
        let float = match inst.op() {
            Op::AtomicFAddEXT => Some([
                Capability::AtomicFloat16AddEXT,
                Capability::AtomicFloat32AddEXT,
                Capability::AtomicFloat64AddEXT,
            ]),
            Op::AtomicFMinEXT | Op::AtomicFMaxEXT => Some([
                Capability::AtomicFloat16MinMaxEXT,
                Capability::AtomicFloat32MinMaxEXT,
                Capability::AtomicFloat64MinMaxEXT,
            ]),
            _ => None,
        };
        let value = match inst.op() {
            Op::AtomicStore => inst.get_id(3).and_then(|id| self.value_type(id)),
            _ => inst.result_type(),
        };
        let Some(ty) = value.and_then(|ty| self.defining_inst(ty)) else {
            return;
        };
        match (ty.op(), ty.operands(), float) {
            (Op::TypeVector, ..) if self.needs.is_emitted => {
                let any = [Capability::AtomicFloat16VectorNV];
                self.require_any(&any, inst, "an atomic operation on a vector");
            }
            (Op::TypeInt, [64, ..], _) => {
                self.keep_declared(
                    &[Capability::Int64Atomics],
                    inst,
                    "an atomic operation on 64 bits",
                );
                let any = [Capability::Int64Atomics, Capability::Int64ImageEXT];
                self.require_any(&any, inst, "an atomic operation on 64 bits");
            }
            (Op::TypeFloat, [width], Some(by_width)) => {
                let at = [16, 32, 64].iter().position(|w| w == width);
                if let Some(at) = at {
                    let what = format!("{} of {width} bits", inst.op());
                    self.require_any(&[by_width[at]], inst, &what);
                }
            }
            _ => {}
        }
    }

    /// The scope `Device` in the Vulkan memory model.
    fn inspect_scopes(&mut self, inst: InstRef<'a>) {
        for operand in OperandIter::new(inst.op(), inst.words()).map_while(Result::ok) {
            let value = (operand.kind == Kind::IdScope).then(|| Id::new(operand.words[0]));
            let value = value
                .flatten()
                .and_then(|id| self.definitions.constant_value(self.module, id));
            if value == Some(u64::from(Scope::Device.0)) {
                self.note_trait(CapabilityTrait::DeviceScope, inst);
                if operand.name == "Memory" {
                    let any = [Capability::VulkanMemoryModelDeviceScope];
                    self.require_any(&any, inst, "memory of the scope Device");
                }
            }
        }
    }
}

/// The instruction that needs something, for messages.
impl super::RequirementReason {
    /// The instruction with its result, as in the text form.
    pub fn describe(&self, module: &SpirvModule) -> String {
        let name = |inst: Inst| {
            let inst = module.inst(inst);
            match inst.result() {
                Some(id) => format!("{id} = {}", inst.op()),
                None => inst.op().to_string(),
            }
        };
        match self.inst.map(name) {
            Some(inst) => format!("{inst}: {}", self.what),
            None => self.what.clone(),
        }
    }
}
