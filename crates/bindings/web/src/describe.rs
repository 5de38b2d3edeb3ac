//! Facts about the compiler, from which the page makes its menus.

use serde::Serialize;
use spirula::FRONT_ENDS;
use spirula_opt::{PASSES, PassPipeline};
use spirula_spirv::target::SpirvTarget;

/// Facts about the compiler.
#[derive(Serialize)]
pub(crate) struct CompilerFacts {
    version: &'static str,
    /// Titles of the input languages.
    languages: Vec<&'static str>,
    passes: Vec<NamedHelp>,
    presets: Vec<NamedHelp>,
    /// Names of target environments.
    targets: Vec<&'static str>,
}

/// A name with its help text.
#[derive(Serialize)]
struct NamedHelp {
    name: String,
    help: String,
}

/// Describes the compiler.
pub(crate) fn describe_compiler() -> CompilerFacts {
    let passes = PASSES.iter().map(|pass| NamedHelp {
        name: pass.example_pipeline(),
        help: pass.help.to_owned(),
    });
    let presets = PassPipeline::presets().map(|(name, passes)| NamedHelp {
        name: name.to_owned(),
        help: passes,
    });
    CompilerFacts {
        version: env!("CARGO_PKG_VERSION"),
        languages: FRONT_ENDS.iter().map(|front_end| front_end.title).collect(),
        passes: passes.collect(),
        presets: presets.collect(),
        targets: SpirvTarget::names().collect(),
    }
}
