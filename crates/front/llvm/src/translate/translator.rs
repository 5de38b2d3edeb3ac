//! Translator: module-level state and order of the translation.

use super::alias_scopes::AliasScopeTable;
use super::allowed_extensions::AllowedExtensions;
use super::builtins::{BuiltinHints, LlvmCallee};
use super::compute_shaders::ShaderTranslation;
use super::constants::ConstantTable;
use super::debug_info::{DebugInfo, DebugInfoTranslation};
use super::declaration_order::order_globals;
use super::functions::TranslatedSignature;
use super::globals::GlobalState;
use super::host_modules::prepare_host_module;
use super::inline_assembly::TranslatedInlineAsm;
use super::instructions::has_partword_atomics;
use super::merge_globals::merge_variables;
use super::opencl_opaque_types::upgrade_opaque_types;
use super::types::TranslatedTypeTable;
use super::untyped_pointers::{self, PointerTyping, make_untyped};
use crate::ir::{LlvmFunc, LlvmModule, LlvmType};
use crate::pointee_inference::InferredPointees;
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::grammar::enumerants::{AddressingModel, Capability, MemoryModel};
use spirula_spirv::ir as spirv;
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::{Id, IdMap};
use std::rc::Rc;

/// How a module is translated.
#[derive(Clone, Debug)]
pub struct TranslationOptions {
    /// The target environment. Without one the module is for any consumer, and has the lowest
    /// SPIR-V version from 1.4 on that suffices.
    pub target: Option<SpirvTarget>,
    /// A target triple that replaces the module's own.
    pub triple: Option<String>,
    /// The extensions that the module may use.
    pub extensions: AllowedExtensions,
    /// The form in which debug information is kept.
    pub debug: DebugInfo,
    /// Prefixes of intrinsics and SPIR-V functions that are imported if they are unknown, instead
    /// of being refused.
    pub imported: Vec<String>,
    /// Functions that become kernels in a module that was compiled for a host. `all` stands for the
    /// exported functions that return nothing and whose names are not mangled. If there are any,
    /// the module's pointers get inferred address spaces.
    pub kernels: Vec<String>,
    /// Whether pointers have types.
    pub pointers: PointerTyping,
    /// The capabilities that the module may declare; `None` permits all.
    pub capabilities: Option<Vec<Capability>>,
}

impl Default for TranslationOptions {
    fn default() -> Self {
        TranslationOptions {
            target: None,
            triple: None,
            extensions: AllowedExtensions::All,
            debug: DebugInfo::default(),
            imported: Vec::new(),
            kernels: Vec::new(),
            pointers: PointerTyping::default(),
            capabilities: None,
        }
    }
}

/// Translates a module to SPIR-V for OpenCL environments.
///
/// # Errors
/// All constructs that SPIR-V cannot express, or whose translation is not implemented, each with
/// its place.
pub fn translate_module(
    module: &LlvmModule,
    options: &TranslationOptions,
) -> Result<spirv::SpirvModule, Vec<SourceDiagnostic>> {
    let merged = merge_variables(module);
    let module = merged.as_ref().unwrap_or(module);
    let hosted = prepare_host_module(module, options)?;
    let generic_params = hosted
        .as_ref()
        .map_or(&[][..], |hosted| &hosted.generic_params);
    let module = hosted.as_ref().map_or(module, |hosted| &hosted.module);
    let upgraded = upgrade_opaque_types(module);
    let module = upgraded.as_ref().unwrap_or(module);
    let pointer_bits = pointer_bits(module, options).map_err(|d| vec![d])?;
    let pointees = InferredPointees::infer_pointees(module, &BuiltinHints::new(module));
    let shader =
        ShaderTranslation::from_module(module, options.triple.as_deref().unwrap_or(&module.triple));
    let latest = shader
        .as_ref()
        .and_then(|shader| shader.find_latest_version(module));
    let version = match (options.target, latest) {
        (Some(target), _) => target.version,
        (None, Some(latest)) => latest.min(SpirvTarget::default().version),
        (None, None) => SpirvTarget::default().version,
    };
    let uses_partword_atomics = shader.is_none() && has_partword_atomics(module);
    let mut translator = LlvmTranslator {
        module,
        options,
        b: SpirvBuilder::new(version),
        version,
        pointees,
        pointer_bits,
        shader,
        specialised: FxHashMap::default(),
        types: TranslatedTypeTable::new(module.types.len()),
        consts: ConstantTable::new(module.consts.len()),
        globals: vec![GlobalState::Unseen; module.globals.len()],
        variables: IdMap::new(0, false),
        builtin_variables: Vec::new(),
        opencl_std: None,
        u32_values: IdMap::new(0, None),
        callees: vec![None; module.functions.len()],
        signatures: vec![None; module.functions.len()],
        references: vec![FunctionReferences::default(); module.functions.len()],
        called: vec![false; module.functions.len()],
        reference_marks: vec![0; module.consts.len()],
        decorated: FxHashSet::default(),
        assemblies: vec![None; module.inline_asm.len()],
        assembly_target: None,
        debug: DebugInfoTranslation::new(module),
        aliasing: AliasScopeTable::new(module),
        uses_partword_atomics,
        inferred_pointer_types: hosted
            .as_ref()
            .map_or(&[][..], |hosted| &hosted.inferred_pointer_types),
        generic_params,
        debug_strings: FxHashMap::default(),
        diagnostics: Vec::new(),
        reported: FxHashMap::default(),
    };
    translator.check_names();
    if translator.diagnostics.is_empty() {
        translator.translate_contents();
    }
    if translator.diagnostics.is_empty() {
        let mut module = translator.b.into_module();
        module.version = translator.version;
        order_globals(&mut module);
        match options.pointers {
            PointerTyping::Typed => Ok(module),
            PointerTyping::Untyped => make_untyped(&module).map_err(|fault| vec![fault]),
        }
    } else {
        Err(translator.into_diagnostics())
    }
}

/// The entities that a function refers to.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionReferences {
    /// Variables at module level.
    pub(super) variables: Vec<Id>,
    /// Functions with a body.
    pub(super) functions: Vec<LlvmFunc>,
}

/// The state of a translation.
pub(super) struct LlvmTranslator<'m> {
    pub(super) module: &'m LlvmModule,
    pub(super) options: &'m TranslationOptions,
    pub(super) b: SpirvBuilder,
    /// SPIR-V version. It may rise at the end if the options leave it open.
    pub(super) version: SpirvVersion,
    pub(super) pointees: InferredPointees,
    /// Width of pointers and of `size_t`.
    pub(super) pointer_bits: u32,
    /// Additional state for shaders; `None` for kernels.
    pub(super) shader: Option<ShaderTranslation>,
    /// Specialisation constants by number and type.
    pub(super) specialised: FxHashMap<(u32, Id), Id>,
    pub(super) types: TranslatedTypeTable,
    pub(super) consts: ConstantTable,
    pub(super) globals: Vec<GlobalState>,
    /// Whether an id is a module-scope variable.
    pub(super) variables: IdMap<bool>,
    /// Built-in variables: number, id.
    pub(super) builtin_variables: Vec<(u32, Id)>,
    pub(super) opencl_std: Option<Id>,
    /// The values of constants created by [`LlvmTranslator::make_u32`].
    pub(super) u32_values: IdMap<Option<u32>>,
    pub(super) callees: Vec<Option<Rc<LlvmCallee<'m>>>>,
    pub(super) signatures: Vec<Option<Rc<TranslatedSignature>>>,
    pub(super) references: Vec<FunctionReferences>,
    /// Kernels that other functions call.
    pub(super) called: Vec<bool>,
    /// By constant: one more than the index of the last function whose references include it.
    pub(super) reference_marks: Vec<u32>,
    /// Declared inline assembly, by number.
    pub(super) assemblies: Vec<Option<TranslatedInlineAsm>>,
    pub(super) assembly_target: Option<Id>,
    pub(super) debug: DebugInfoTranslation,
    pub(super) aliasing: AliasScopeTable,
    /// Whether values narrower than a word are accessed atomically.
    pub(super) uses_partword_atomics: bool,
    /// Pointer types with inferred address spaces. Such pointers are generic in memory.
    pub(super) inferred_pointer_types: &'m [LlvmType],
    /// Parameters of kernels that are made generic.
    pub(super) generic_params: &'m [(LlvmFunc, usize)],
    /// Strings of debug information.
    pub(super) debug_strings: FxHashMap<String, Id>,
    /// Decorations that the module stated so far: id, decoration.
    pub(super) decorated: FxHashSet<(u32, u32)>,
    pub(super) diagnostics: Vec<SourceDiagnostic>,
    /// Refusals so far: by message, the diagnostic and the number of occurrences.
    pub(super) reported: FxHashMap<String, (usize, usize)>,
}

impl LlvmTranslator<'_> {
    fn translate_contents(&mut self) {
        self.compute_shapes();
        self.expect_size();
        let addressing = match self.pointer_bits {
            32 => AddressingModel::Physical32,
            _ => AddressingModel::Physical64,
        };
        if self.options.pointers == PointerTyping::Untyped {
            self.untyped_allowed();
        }
        if self.is_shader() {
            self.shader_memory_model()
        } else {
            self.b.memory_model(addressing, MemoryModel::OpenCL)
        }
        self.find_scalarised_types();
        self.source_language();
        self.global_variables();
        self.debug_units();
        self.function_declarations();
        for func in self.module.function_ids() {
            if !self.is_defined_elsewhere(func) {
                self.define_function(func);
            }
        }
        self.global_annotations();
        self.entry_points();
        if !self.is_shader() {
            self.declare_global_constructors();
        }
        self.declare_capabilities();
    }

    /// Reserves memory for the usual size of the output.
    fn expect_size(&mut self) {
        let functions = self.module.functions.iter();
        let count: usize = functions.map(|function| function.insts.len()).sum();
        self.b.reserve_capacity(count * 2, count * 8);
    }

    /// Refuses untyped pointers if they are not available.
    fn untyped_allowed(&mut self) {
        let least = SpirvVersion::new(1, 4);
        let message = if !self.may_use(untyped_pointers::EXTENSION) {
            format!(
                "untyped pointers need the extension {}, which is not allowed",
                untyped_pointers::EXTENSION
            )
        } else if self.version < least {
            format!(
                "untyped pointers need SPIR-V {least}, and the target has {}",
                self.version
            )
        } else {
            return;
        };
        self.diagnostics
            .push(SourceDiagnostic::error(SourceLocation::Unknown, message));
    }

    /// Refuses names of globals that are too long to write. They cannot be shortened.
    fn check_names(&mut self) {
        for data in &self.module.globals {
            let bytes = self.module.symbol_text(data.name).len();
            if bytes > MAX_GLOBAL_NAME {
                let message = format!("the name of a global is {bytes} bytes long");
                self.diagnostics
                    .push(SourceDiagnostic::error(data.place, message));
            }
        }
    }

    /// Whether the module may use an extension.
    pub(super) fn may_use(&self, extension: &str) -> bool {
        self.options.extensions.is_allowed(extension)
    }

    /// Whether an extension was requested by name.
    pub(super) fn is_requested(&self, extension: &str) -> bool {
        self.options.extensions.is_named(extension)
    }

    /// Names an id. A very long name is shortened, and an empty one is omitted.
    pub(super) fn name_id(&mut self, id: Id, name: &str) {
        self.b.set_name(id, shorten_name(name));
    }

    /// A constant of 32 bits, whose value is remembered.
    pub(super) fn make_u32(&mut self, value: u32) -> Id {
        let ty = self.b.int_type(32, false);
        let id = self.scalar_constant(ty, 32, u64::from(value));
        self.u32_values.set(id, Some(value));
        id
    }

    /// The value of a constant created by [`LlvmTranslator::make_u32`].
    pub(super) fn known_u32(&self, id: Id) -> Option<u32> {
        self.u32_values[id]
    }

    /// The id of the extended instruction set of OpenCL.
    pub(super) fn opencl_std(&mut self) -> Id {
        match self.opencl_std {
            Some(id) => id,
            None => {
                let id = self.b.import_set("OpenCL.std");
                self.opencl_std = Some(id);
                id
            }
        }
    }
}

/// Bytes of a name beyond which it is cut.
const MAX_NAME: usize = 4096;

/// Length in bytes beyond which the name of a global is refused.
const MAX_GLOBAL_NAME: usize = 100_000;

/// The beginning of a name.
pub(super) fn shorten_name(name: &str) -> &str {
    let end = name.len().min(MAX_NAME);
    let end = (0..=end).rev().find(|at| name.is_char_boundary(*at));
    &name[..end.unwrap_or(0)]
}

/// The width of pointers, as the target triple states it, or the data layout if there is no triple.
fn pointer_bits(
    module: &LlvmModule,
    options: &TranslationOptions,
) -> Result<u32, SourceDiagnostic> {
    let triple = options.triple.as_deref().unwrap_or(&module.triple);
    let arch = triple.split('-').next().unwrap_or("");
    // The SPIR-V version may follow, as in `spirv64v1.4`. It is ignored, as the options decide the
    // version.
    let family = match arch.rsplit_once('v') {
        Some((family, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => {
            if family.ends_with("spir") {
                arch
            } else {
                family
            }
        }
        _ => arch,
    };
    match family {
        "spir64" | "spirv64" => Ok(64),
        "spir" | "spirv32" | "spirv" => Ok(32),
        "" => Ok(match module.layout.pointer_width(0) {
            32 => 32,
            _ => 64,
        }),
        _ => {
            let message = format!("the module is for {arch}, which is not a SPIR-V target");
            Err(
                SourceDiagnostic::error(SourceLocation::Unknown, message).with_hint(
                    "compile for spir64-unknown-unknown, or name the functions that are kernels",
                ),
            )
        }
    }
}
