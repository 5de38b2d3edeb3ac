//! Translation options, and the properties of a module's target that follow from them.

use crate::ir::LlvmModule;
use spirula_spirv::analysis::AllowedExtensions;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::target::SpirvTarget;
use std::str::FromStr;

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
    /// Whether other modules may call the kernels.
    pub exports_kernels: bool,
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
            exports_kernels: false,
            pointers: PointerTyping::default(),
            capabilities: None,
        }
    }
}

/// The form in which debug information is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DebugInfo {
    /// Not at all.
    None,
    /// As OpenCL.DebugInfo.100, with `OpLine`.
    #[default]
    OpenCl,
    /// As NonSemantic.Shader.DebugInfo.100.
    NonSemantic,
    /// NonSemantic.Shader.DebugInfo.200, in which Khronos' translator also describes array ranges,
    /// strings and modules.
    NonSemantic200,
}

impl DebugInfo {
    /// The extended instruction set.
    pub(super) fn extended_set_name(self) -> &'static str {
        match self {
            DebugInfo::NonSemantic => "NonSemantic.Shader.DebugInfo.100",
            DebugInfo::NonSemantic200 => "NonSemantic.Shader.DebugInfo.200",
            _ => "OpenCL.DebugInfo.100",
        }
    }
}

impl FromStr for DebugInfo {
    type Err = String;

    /// `none`, `opencl`, `nonsemantic` or `nonsemantic-200`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(DebugInfo::None),
            "opencl" => Ok(DebugInfo::OpenCl),
            "nonsemantic" => Ok(DebugInfo::NonSemantic),
            "nonsemantic-200" => Ok(DebugInfo::NonSemantic200),
            _ => Err(format!(
                "{text} is not one of none, opencl, nonsemantic, nonsemantic-200"
            )),
        }
    }
}

/// How pointers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointerTyping {
    /// With the types that they point to.
    #[default]
    Typed,
    /// Without, by SPV_KHR_untyped_pointers.
    Untyped,
}

impl FromStr for PointerTyping {
    type Err = String;

    /// `typed` or `untyped`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "typed" => Ok(PointerTyping::Typed),
            "untyped" => Ok(PointerTyping::Untyped),
            _ => Err(format!("{text} is neither typed nor untyped")),
        }
    }
}

/// Whether a module becomes a shader, by its own triple or that of the options.
pub fn is_shader(module: &LlvmModule, options: &TranslationOptions) -> bool {
    is_shader_triple(options.triple.as_deref().unwrap_or(&module.triple))
}

pub(super) fn is_shader_triple(triple: &str) -> bool {
    let environment = triple.split('-').nth(2);
    triple.starts_with("spirv") && environment.is_some_and(|e| e.starts_with("vulkan"))
}
