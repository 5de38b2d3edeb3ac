//! Capabilities and extensions: derived from the finished module and the grammar's rows.

use super::allowed_extensions::AllowedExtensions;
use super::translator::LlvmTranslator;
use super::types::FOUR_BITS;
use rustc_hash::FxHashSet;
use spirula_diagnostics::SourceLocation;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::enumerants::{
    AccessQualifier, Capability, Decoration, ImageFormat, StorageClass,
};
use spirula_spirv::grammar::{Kind, Op, OperandCategory, SpirvVersion};
use spirula_spirv::ir::{InstRef, SpirvModule};
use spirula_spirv::target::TargetEnvironment;
use spirula_spirv::{Id, IdMap};

/// If several capabilities would suffice, the first of these that is among them is declared.
const PREFERRED: &[Capability] = &[
    Capability::Kernel,
    Capability::Addresses,
    Capability::Groups,
    Capability::SubgroupDispatch,
    Capability::Linkage,
    Capability::BitInstructions,
    Capability::GroupNonUniformBallot,
    Capability::LongVectorEXT,
];

/// Capabilities that OpenCL has since a version above 1.2 (OpenCL SPIR-V Environment, section 3).
const MINIMUM_OPENCL: &[(Capability, (u8, u8))] = &[
    (Capability::GenericPointer, (2, 0)),
    (Capability::DeviceEnqueue, (2, 0)),
    (Capability::Pipes, (2, 0)),
    (Capability::ImageReadWrite, (2, 0)),
    (Capability::SubgroupDispatch, (2, 1)),
    (Capability::PipeStorage, (2, 2)),
];

/// The extension with the image formats that a query may return.
const RAW_FORMATS: &str = "SPV_EXT_image_raw10_raw12";

/// The requirements of a module.
struct TranslationRequirements<'m> {
    builder: &'m SpirvBuilder,
    module: &'m SpirvModule,
    version: SpirvVersion,
    /// Whether the version may rise.
    rises: bool,
    /// The target environment, if there is one.
    environment: Option<TargetEnvironment>,
    allowed: &'m AllowedExtensions,
    /// The capabilities that may be declared; `None` permits all.
    ceiling: Option<&'m [Capability]>,
    /// The construct that is being examined, for messages.
    what: &'static str,
    /// Requirements that cannot be fulfilled.
    missing: Vec<String>,
    /// Required capabilities in the order of their discovery, without duplicates.
    capabilities: Vec<Capability>,
    extensions: Vec<&'static str>,
    /// Widths of integer and float types.
    widths: IdMap<u16>,
    /// Images of shaders without a format.
    formless: IdMap<bool>,
    /// Vector types in the order of their ids: the type, its component type, and their number.
    vectors: Vec<(Id, Id, u32)>,
    /// Opcodes that need no second look.
    seen: Vec<bool>,
    /// Decorations with at most one operand that were already examined.
    decorations: FxHashSet<(u32, Option<u32>)>,
}

impl LlvmTranslator<'_> {
    /// Declares the capabilities and extensions that the module needs.
    pub(super) fn declare_capabilities(&mut self) {
        let module = self.b.module();
        let mut needs = TranslationRequirements {
            builder: &self.b,
            module,
            version: self.version,
            rises: self.options.target.is_none(),
            environment: self.options.target.map(|target| target.environment),
            allowed: &self.options.extensions,
            ceiling: self.options.capabilities.as_deref(),
            what: "the module",
            missing: Vec::new(),
            capabilities: if self.is_shader() {
                vec![Capability::Shader]
            } else {
                vec![Capability::Addresses, Capability::Kernel]
            },
            extensions: Vec::new(),
            widths: IdMap::new(0, 0),
            formless: IdMap::new(0, false),
            vectors: Vec::new(),
            decorations: FxHashSet::default(),
            seen: vec![false; usize::from(u16::MAX) + 1],
        };
        needs.require_type_capabilities();
        for inst in module.all_insts() {
            needs.require_instruction(inst);
        }
        if module
            .section_insts(spirula_spirv::ir::ModuleSection::EntryPoints)
            .next()
            .is_none()
        {
            needs.require_capability(Capability::Linkage);
        }
        let (mut capabilities, mut extensions) = (needs.capabilities, needs.extensions);
        capabilities.sort_unstable_by_key(|capability| capability.0);
        extensions.sort_unstable();
        let (version, missing) = (needs.version, needs.missing);
        self.version = version;
        for message in missing {
            self.refusals.push_error(SourceLocation::Unknown, message);
        }
        for capability in capabilities {
            self.b.declare_capability(capability);
        }
        for extension in extensions {
            self.b.declare_extension(extension);
        }
    }
}

impl TranslationRequirements<'_> {
    fn require_capability(&mut self, capability: Capability) {
        if self.has_capability(capability) {
            return;
        }
        self.capabilities.push(capability);
        let Some(row) = Kind::Capability.info().enumerant_by_value(capability.0) else {
            return;
        };
        if !self.may_declare(capability) {
            let message = format!(
                "{} needs the capability {}, which is not allowed",
                self.what, row.name
            );
            self.missing.push(message);
        }
        let since = MINIMUM_OPENCL.iter().find(|since| since.0 == capability);
        if let (Some((_, since)), Some(TargetEnvironment::OpenCl(major, minor))) =
            (since, self.environment)
            && (major, minor) < *since
        {
            let message = format!(
                "{} needs the capability {}, which OpenCL has since {}.{}, and the target is {major}.{minor}",
                self.what, row.name, since.0, since.1
            );
            self.missing.push(message);
        }
        self.require_version(row.name, row.version, row.extensions);
    }

    fn may_declare(&self, capability: Capability) -> bool {
        if matches!(capability, Capability::Addresses | Capability::Kernel) {
            return !self.has_capability(Capability::Shader);
        }
        self.ceiling
            .is_none_or(|ceiling| ceiling.contains(&capability))
    }

    /// Requires that a construct of a version or extension may be used.
    fn require_version(
        &mut self,
        name: &str,
        version: SpirvVersion,
        extensions: &'static [&'static str],
    ) {
        if version <= self.version {
            return;
        }
        if !extensions.is_empty() {
            self.any_extension(name, extensions);
        } else if version != SpirvVersion::NEVER {
            self.at_least(name, version);
        }
    }

    fn at_least(&mut self, name: &str, version: SpirvVersion) {
        if version > self.version && self.rises {
            self.version = version;
        } else if version > self.version {
            self.missing.push(format!(
                "{name} needs SPIR-V {version}, and the target has {}",
                self.version
            ));
        }
    }

    /// Whether a capability is declared. Implied capabilities count as declared.
    fn has_capability(&self, wanted: Capability) -> bool {
        self.capabilities.contains(&wanted)
    }

    fn any_extension(&mut self, name: &str, extensions: &'static [&'static str]) {
        if extensions.iter().any(|e| self.extensions.contains(e)) {
            return;
        }
        // If an extension has two names, consumers have known Intel's for longer.
        let allowed = extensions.iter().filter(|e| self.allowed.is_allowed(e));
        match allowed.min_by_key(|e| e.starts_with("SPV_ALTERA_")) {
            Some(extension) => self.extensions.push(extension),
            None => self.missing.push(format!(
                "{name} needs the extension {}, which is not allowed",
                extensions.join(" or ")
            )),
        }
    }

    /// Requires one of several capabilities.
    fn require_any_capability(&mut self, capabilities: &[Capability]) {
        if capabilities.is_empty() || capabilities.iter().any(|c| self.has_capability(*c)) {
            return;
        }
        let preferred = PREFERRED.iter().filter(|c| capabilities.contains(c));
        let all = preferred.chain(capabilities);
        let chosen = all
            .clone()
            .find(|c| self.may_declare(**c))
            .or(all.into_iter().next());
        self.require_capability(*chosen.unwrap_or(&capabilities[0]));
    }

    /// Requirements of widths and lengths of types, which the grammar's rows do not distinguish.
    fn require_type_capabilities(&mut self) {
        let module = self.module;
        let section = module.section_insts(spirula_spirv::ir::ModuleSection::Globals);
        let mut halves = IdMap::new(0, false);
        let blocks = self.find_block_structs();
        for inst in section {
            self.what = inst.op().info().map_or("a type", |row| row.name);
            if let (Op::TypeInt | Op::TypeFloat, Some(id)) = (inst.op(), inst.result()) {
                self.widths.set(id, inst.operand_word(0) as u16);
            }
            if let (Op::TypeVector, Some(id)) = (inst.op(), inst.result()) {
                self.vectors
                    .push((id, inst.id_operand(0), inst.operand_word(1)));
            }
            match inst.op() {
                Op::TypeInt if self.has_capability(Capability::Shader) => {
                    self.shader_integer(inst.operand_word(0))
                }
                Op::TypeInt => match inst.operand_word(0) {
                    8 => self.require_capability(Capability::Int8),
                    16 => self.require_capability(Capability::Int16),
                    64 => self.require_capability(Capability::Int64),
                    32 => {}
                    4 if self.allowed.is_allowed(FOUR_BITS) => {
                        self.require_capability(Capability::Int4TypeINTEL);
                    }
                    _ => self.require_capability(Capability::ArbitraryPrecisionIntegersALTERA),
                },
                // Floats of other encodings than IEEE's have the encoding as an operand.
                Op::TypeFloat if inst.operands().len() > 1 => {}
                Op::TypeFloat => match (inst.operand_word(0), inst.result()) {
                    (16, _) if self.has_capability(Capability::Shader) => {
                        self.require_capability(Capability::Float16);
                        self.require_capability(Capability::StorageBuffer16BitAccess);
                    }
                    (16, Some(id)) => {
                        self.require_capability(Capability::Float16Buffer);
                        halves.set(id, true);
                    }
                    (64, _) => self.require_capability(Capability::Float64),
                    _ => {}
                },
                Op::TypeVector if inst.operand_word(1) > 4 => {
                    self.require_capability(Capability::Vector16)
                }
                Op::TypeCooperativeMatrixKHR => {
                    self.require_matrix_capabilities(inst.id_operand(0))
                }
                Op::TypeImage | Op::TypeSampler => self.require_image_capabilities(inst),
                Op::TypePointer
                    if inst.operand_word(0) == StorageClass::Workgroup.0
                        && blocks.contains(&inst.id_operand(1)) =>
                {
                    self.require_capability(Capability::WorkgroupMemoryExplicitLayoutKHR);
                }
                _ => {}
            }
            // A pointer to a half needs no arithmetic on halves; all other uses do.
            let uses = |n: usize| inst.get_id(n).is_some_and(|id| halves[id]);
            let value = match inst.op() {
                Op::TypeVector | Op::TypeArray => uses(0),
                Op::TypeStruct | Op::TypeFunction => inst.id_operands(0).any(|id| halves[id]),
                _ => inst.result_type().is_some_and(|ty| halves[ty]),
            };
            if value {
                self.require_capability(Capability::Float16);
            }
        }
        self.vectors.sort_unstable();
        if self.has_capability(Capability::Float16) || halves.is_empty() {
            return;
        }
        for inst in module.all_insts() {
            if inst.result_type().is_some_and(|ty| halves[ty]) {
                self.require_capability(Capability::Float16);
                return;
            }
        }
    }

    /// The structures of a shader that are blocks.
    fn find_block_structs(&self) -> Vec<Id> {
        if !self.has_capability(Capability::Shader) {
            return Vec::new();
        }
        let annotations = self
            .module
            .section_insts(spirula_spirv::ir::ModuleSection::Annotations);
        let blocks = annotations
            .filter(|i| i.op() == Op::Decorate && i.operand_word(1) == Decoration::Block.0);
        blocks.map(|inst| inst.id_operand(0)).collect()
    }

    /// Integers of a shader, which may be in its buffers.
    fn shader_integer(&mut self, width: u32) {
        match width {
            8 => {
                self.require_capability(Capability::Int8);
                self.require_capability(Capability::StorageBuffer8BitAccess);
            }
            16 => {
                self.require_capability(Capability::Int16);
                self.require_capability(Capability::StorageBuffer16BitAccess);
            }
            64 => self.require_capability(Capability::Int64),
            _ => {}
        }
    }

    /// Images of kernels need a capability; images that are both read and written need another.
    fn require_image_capabilities(&mut self, inst: InstRef<'_>) {
        if self.has_capability(Capability::Shader) {
            let unknown = inst.operands().get(6) == Some(&ImageFormat::Unknown.0);
            if let Some(id) = inst.result().filter(|_| unknown) {
                self.formless.set(id, true);
            }
            return;
        }
        self.require_capability(Capability::ImageBasic);
        if inst.op() == Op::TypeImage
            && inst.operands().get(7) == Some(&AccessQualifier::ReadWrite.0)
        {
            self.require_capability(Capability::ImageReadWrite);
        }
    }

    /// Cooperative matrices of some components need a capability more.
    fn require_matrix_capabilities(&mut self, component: Id) {
        for inst in self
            .module
            .section_insts(spirula_spirv::ir::ModuleSection::Globals)
        {
            if inst.result() != Some(component) {
                continue;
            }
            match (inst.op(), inst.operands()) {
                (Op::TypeFloat, [16, _]) => {
                    self.require_capability(Capability::BFloat16CooperativeMatrixKHR);
                }
                (Op::TypeFloat, [8, _]) => {
                    self.require_capability(Capability::Float8CooperativeMatrixEXT);
                }
                (Op::TypeInt, [4, ..]) => {
                    self.require_capability(Capability::Int4CooperativeMatrixINTEL);
                }
                _ => {}
            }
            return;
        }
    }

    fn require_instruction(&mut self, inst: InstRef<'_>) {
        let op = inst.op();
        if self.seen[usize::from(op.0)] || matches!(op, Op::Capability | Op::Extension) {
            return;
        }
        if op == Op::Decorate && self.is_known_decoration(inst.words()) {
            return;
        }
        let Some(row) = op.info() else { return };
        self.what = row.name;
        // The requirements of the type come first, as the row has the capabilities of all types.
        self.by_type(inst);
        self.require_any_capability(row.capabilities);
        self.require_version(row.name, row.version, row.extensions);
        let plain = |kind: Kind| {
            let category = kind.info().category;
            matches!(category, OperandCategory::Id | OperandCategory::Literal)
        };
        // Of memory operands only such without needs are written.
        let simple = row.operands.iter().all(|o| {
            let bases = o.kind.info().bases;
            let parts = !bases.is_empty() && bases.iter().all(|kind| plain(*kind));
            plain(o.kind) || parts || o.kind == Kind::MemoryAccess
        });
        let varies =
            op.is_atomic() || row.name.contains("Dot") || op == Op::GroupNonUniformBroadcast;
        if simple && op != Op::SpecConstantOp && op != Op::ExtInst {
            self.seen[usize::from(op.0)] = !varies;
            return;
        }
        if op == Op::ExtInst {
            self.seen[usize::from(op.0)] = true;
            return;
        }
        for operand in inst.parse_operands().flatten() {
            let info = operand.kind.info();
            match info.category {
                OperandCategory::ValueEnum if operand.kind != Kind::Capability => {
                    self.require_enumerant(operand.kind, operand.words[0]);
                }
                OperandCategory::BitEnum => {
                    let mut rest = operand.words[0];
                    while rest != 0 {
                        let bit = rest & rest.wrapping_neg();
                        rest ^= bit;
                        self.require_enumerant(operand.kind, bit);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether this decoration was already examined, for any target.
    fn is_known_decoration(&mut self, words: &[u32]) -> bool {
        match *words {
            [_, decoration] => !self.decorations.insert((decoration, None)),
            [_, decoration, operand] => !self.decorations.insert((decoration, Some(operand))),
            _ => false,
        }
    }

    /// Component and number of components of a vector type.
    fn find_vector_type(&self, ty: Id) -> Option<(Id, u32)> {
        let at = self.vectors.binary_search_by_key(&ty, |row| row.0).ok()?;
        let (_, component, count) = self.vectors[at];
        Some((component, count))
    }

    /// Dot products need a capability that depends on their operands: packed bytes, bytes, or
    /// others.
    fn dot_product(&mut self, inst: InstRef<'_>) {
        let ty = inst.get_id(0).and_then(|id| self.builder.type_of(id));
        let Some(ty) = ty else { return };
        let capability = match self.find_vector_type(ty) {
            _ if self.widths[ty] == 32 => Capability::DotProductInput4x8BitPacked,
            Some((component, 4)) if self.widths[component] == 8 => {
                Capability::DotProductInput4x8Bit
            }
            _ => Capability::DotProductInputAll,
        };
        self.require_capability(capability);
    }

    fn is_constant(&self, id: Id) -> bool {
        let mut globals = self
            .module
            .section_insts(spirula_spirv::ir::ModuleSection::Globals);
        globals.any(|inst| inst.result() == Some(id))
    }

    fn require_enumerant(&mut self, kind: Kind, value: u32) {
        let Some(row) = kind.info().enumerant_by_value(value) else {
            return;
        };
        self.what = row.name;
        self.require_any_capability(row.capabilities);
        self.require_version(row.name, row.version, row.extensions);
    }

    /// Atomic accesses need a capability by their width.
    fn by_type(&mut self, inst: InstRef<'_>) {
        let op = inst.op();
        let Some(row) = op.info() else { return };
        if matches!(
            op,
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat
        ) {
            self.dot_product(inst);
        }
        let image = inst.get_id(0).and_then(|image| self.builder.type_of(image));
        let formless = image.is_some_and(|image| self.formless[image]);
        match op {
            Op::ImageRead if formless => {
                self.require_capability(Capability::StorageImageReadWithoutFormat);
            }
            Op::ImageWrite if formless => {
                self.require_capability(Capability::StorageImageWriteWithoutFormat);
            }
            _ => {}
        }
        if op == Op::ImageQueryFormat && self.allowed.is_named(RAW_FORMATS) {
            self.extensions.push(RAW_FORMATS);
        }
        // Since SPIR-V 1.5 the invocation id may be computed at run time.
        if op == Op::GroupNonUniformBroadcast && !self.is_constant(inst.id_operand(2)) {
            self.at_least(row.name, SpirvVersion::new(1, 5));
        }
        if !op.is_atomic() {
            return;
        }
        let ty = match op {
            Op::AtomicStore => inst.get_id(3).and_then(|value| self.builder.type_of(value)),
            _ => inst.result_type(),
        };
        let width = ty.map_or(0, |ty| self.widths[ty]);
        if ty.is_some_and(|ty| self.find_vector_type(ty).is_some()) {
            return self.require_capability(Capability::AtomicFloat16VectorNV);
        }
        match (op, width) {
            (Op::AtomicFAddEXT, 64) => self.require_capability(Capability::AtomicFloat64AddEXT),
            (Op::AtomicFAddEXT, 16) => self.require_capability(Capability::AtomicFloat16AddEXT),
            (Op::AtomicFAddEXT, _) => self.require_capability(Capability::AtomicFloat32AddEXT),
            (Op::AtomicFMinEXT | Op::AtomicFMaxEXT, 64) => {
                self.require_capability(Capability::AtomicFloat64MinMaxEXT);
            }
            (Op::AtomicFMinEXT | Op::AtomicFMaxEXT, 16) => {
                self.require_capability(Capability::AtomicFloat16MinMaxEXT);
            }
            (Op::AtomicFMinEXT | Op::AtomicFMaxEXT, _) => {
                self.require_capability(Capability::AtomicFloat32MinMaxEXT);
            }
            (_, 64) => self.require_capability(Capability::Int64Atomics),
            _ => {}
        }
    }
}
