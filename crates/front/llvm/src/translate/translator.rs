//! Translator: the module-level state of a translation.

use super::alias_scopes::AliasScopeTable;
use super::call_rules::LlvmCallee;
use super::constants::constant_table::ConstantTable;
use super::debug_info::debug_state::DebugInfoTranslation;
use super::host_modules::HostCompiledModule;
use super::options::TranslationOptions;
use super::refusal::RefusalReport;
use super::shader_state::ShaderTranslation;
use super::translated_entities::{
    FunctionReferences, GlobalState, TranslatedInlineAsm, TranslatedSignature,
};
use super::type_table::TranslatedTypeTable;
use crate::ir::{LlvmFunc, LlvmModule, LlvmType};
use crate::pointee_inference::InferredPointees;
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::{Id, IdMap};
use std::rc::Rc;

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
    /// Decorations that the module stated so far: id, decoration.
    pub(super) decorated: FxHashSet<(u32, u32)>,
    /// The diagnostics so far.
    pub(super) refusals: RefusalReport,
}

/// The inputs of a translation, computed before it begins.
pub(super) struct TranslationInputs<'m> {
    /// The module after all rewriting passes.
    pub(super) module: &'m LlvmModule,
    pub(super) options: &'m TranslationOptions,
    /// The module of the pass for host modules, if it ran.
    pub(super) host_compiled: Option<&'m HostCompiledModule>,
    pub(super) version: SpirvVersion,
    pub(super) pointees: InferredPointees,
    pub(super) pointer_bits: u32,
    pub(super) shader: Option<ShaderTranslation>,
    pub(super) uses_partword_atomics: bool,
}

impl<'m> LlvmTranslator<'m> {
    /// The state before anything is translated.
    pub(super) fn new(inputs: TranslationInputs<'m>) -> Self {
        let module = inputs.module;
        let host_compiled = inputs.host_compiled;
        LlvmTranslator {
            module,
            options: inputs.options,
            b: SpirvBuilder::new(inputs.version),
            version: inputs.version,
            pointees: inputs.pointees,
            pointer_bits: inputs.pointer_bits,
            shader: inputs.shader,
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
            uses_partword_atomics: inputs.uses_partword_atomics,
            inferred_pointer_types: host_compiled.map_or(&[][..], |host_compiled| {
                &host_compiled.inferred_pointer_types
            }),
            generic_params: host_compiled
                .map_or(&[][..], |host_compiled| &host_compiled.generic_params),
            refusals: RefusalReport::default(),
        }
    }
}

impl LlvmTranslator<'_> {
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
        self.b.set_name(id, name);
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
