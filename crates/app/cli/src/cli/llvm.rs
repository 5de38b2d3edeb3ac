//! Options of the translation of LLVM IR.

use clap::Args;
use spirula_llvm::{AllowedExtensions, DebugInfo, PointerTyping, TranslationOptions};
use spirula_spirv::grammar::Kind;
use spirula_spirv::grammar::enumerants::Capability;

/// Heading of the options in the help.
const HEADING: &str = "LLVM IR";

/// Options of the translation of LLVM IR. Defaults are not parsed, because parsing them would take time at each start.
#[derive(Args)]
pub struct LlvmArgs {
    /// Target triple instead of the module's own, such as spir64-unknown-unknown
    #[arg(help_heading = HEADING, long)]
    pub triple: Option<String>,
    /// Extensions that the module may use: `all`, `none`, `+NAME,...` for only these, `-NAME,...` for all others. By
    /// default all but those for integers and vectors of sizes that few devices have
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub spirv_ext: Option<AllowedExtensions>,
    /// Capabilities that the module may declare, separated by commas; by default all
    #[arg(help_heading = HEADING, long, value_name = "LIST", value_delimiter = ',', value_parser = parse_capability)]
    pub capabilities: Option<Vec<Capability>>,
    /// Debug information: `opencl` (OpenCL.DebugInfo.100), `nonsemantic`
    /// (NonSemantic.Shader.DebugInfo.100), `nonsemantic-200` (the same with ranges of arrays,
    /// strings and modules) or `none`; by default `opencl`
    #[arg(help_heading = HEADING, long, value_name = "FORM")]
    pub debug_info: Option<DebugInfo>,
    /// Pointers: `typed`, which is the default, or `untyped` by SPV_KHR_untyped_pointers
    #[arg(help_heading = HEADING, long, value_name = "FORM")]
    pub pointers: Option<PointerTyping>,
    /// Functions that are kernels in a module for a host, such as one of rustc; `all`: those without a result whose
    /// names are not mangled
    #[arg(help_heading = HEADING, long, value_name = "LIST", value_delimiter = ',')]
    pub kernels: Vec<String>,
    /// Declare unknown intrinsics and SPIR-V functions whose names begin with PREFIX, instead of refusing them
    #[arg(help_heading = HEADING, long, value_name = "PREFIX", value_delimiter = ',')]
    pub allow_unknown: Vec<String>,
}

impl LlvmArgs {
    /// The options as the library takes them.
    pub fn library_options(&self) -> TranslationOptions {
        TranslationOptions {
            target: None,
            triple: self.triple.clone(),
            extensions: (self.spirv_ext.clone()).unwrap_or_else(AllowedExtensions::of_devices),
            debug: self.debug_info.unwrap_or_default(),
            imported: self.allow_unknown.clone(),
            kernels: self.kernels.clone(),
            pointers: self.pointers.unwrap_or_default(),
            capabilities: self.capabilities.clone(),
            exports_kernels: false,
        }
    }
}

fn parse_capability(name: &str) -> Result<Capability, String> {
    match Kind::Capability.info().by_name(name) {
        Some(row) => Ok(Capability(row.value)),
        None => Err(format!("SPIR-V has no capability {name}")),
    }
}
