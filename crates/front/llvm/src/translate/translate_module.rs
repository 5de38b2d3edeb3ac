//! Translation driver: the passes over the LLVM module, and the order in which SPIR-V is emitted.

use super::builtins::BuiltinHints;
use super::declaration_order::order_globals;
use super::host_modules::prepare_host_module;
use super::instructions::has_partword_atomics;
use super::merge_globals::merge_variables;
use super::opencl_opaque_types::upgrade_opaque_types;
use super::options::{PointerTyping, TranslationOptions};
use super::shader_state::ShaderTranslation;
use super::translator::{LlvmTranslator, TranslationInputs};
use super::untyped_pointers::{self, make_untyped};
use crate::ir::LlvmModule;
use crate::pointee_inference::InferredPointees;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::grammar::enumerants::{AddressingModel, MemoryModel};
use spirula_spirv::ir as spirv;
use spirula_spirv::target::SpirvTarget;

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
    let host_compiled = prepare_host_module(module, options)?;
    let module = host_compiled
        .as_ref()
        .map_or(module, |host_compiled| &host_compiled.module);
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
    let mut translator = LlvmTranslator::new(TranslationInputs {
        module,
        options,
        host_compiled: host_compiled.as_ref(),
        version,
        pointees,
        pointer_bits,
        shader,
        uses_partword_atomics,
    });
    translator.check_names();
    if translator.refusals.is_empty() {
        translator.translate_contents();
    }
    if !translator.refusals.is_empty() {
        return Err(translator.refusals.into_diagnostics());
    }
    let mut module = translator.b.into_module();
    module.version = translator.version;
    order_globals(&mut module);
    match options.pointers {
        PointerTyping::Typed => Ok(module),
        PointerTyping::Untyped => make_untyped(&module).map_err(|fault| vec![fault]),
    }
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
            self.check_untyped_pointers();
        }
        if self.is_shader() {
            self.declare_shader_memory_model()
        } else {
            self.b.memory_model(addressing, MemoryModel::OpenCL)
        }
        self.find_scalarised_types();
        self.declare_source_language();
        self.translate_global_variables();
        self.debug_info().emit_units();
        self.declare_functions();
        for func in self.module.function_ids() {
            if !self.is_defined_elsewhere(func) {
                self.define_function(func);
            }
        }
        self.apply_global_annotations();
        self.declare_entry_points();
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
    fn check_untyped_pointers(&mut self) {
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
        self.refusals.push_error(SourceLocation::Unknown, message);
    }

    /// Refuses names of globals that are too long to write. They cannot be shortened.
    fn check_names(&mut self) {
        for data in &self.module.globals {
            let bytes = self.module.symbol_text(data.name).len();
            if bytes > MAX_GLOBAL_NAME {
                let message = format!("the name of a global is {bytes} bytes long");
                self.refusals.push_error(data.place, message);
            }
        }
    }
}

/// Length in bytes beyond which the name of a global is refused.
const MAX_GLOBAL_NAME: usize = 100_000;

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
