//! Reports of modules: assembly, size, faults, control flow, interface.

use crate::found_problem::FoundProblem;
use crate::pass_record::{PassRecord, print_module};
use serde::Serialize;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::binary::InstructionStream;
use spirula_spirv::draw::GraphvizOptions;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::entry_points;
use spirula_spirv::verify::{self, VerifyOptions};
use spirula_text::hex::write_hex;

/// Most bytes of a drawing. Larger ones are left out, as a page could not show them.
pub(crate) const LARGEST_DRAWING: usize = 8 << 20;

/// A module with facts about it.
#[derive(Serialize)]
pub(crate) struct ModuleReport {
    name: String,
    /// The assembly.
    text: String,
    /// The module in hexadecimal digits, as the page saves it.
    binary: String,
    version: String,
    sizes: ModuleSizes,
    /// Names and execution models of entry points.
    entries: Vec<(String, String)>,
    /// Faults that the verifier found, at lines of the assembly.
    faults: Vec<FoundProblem>,
    /// Control flow as SVG.
    drawing: Option<String>,
    /// The assembly before the first pass.
    before: String,
    passes: Vec<PassRecord>,
}

/// Sizes of a module.
#[derive(Serialize)]
struct ModuleSizes {
    bytes: usize,
    instructions: usize,
    functions: usize,
    blocks: usize,
    ids: u32,
}

/// A module that passes ran over.
pub(crate) struct OptimisedModule {
    /// Its name on the page.
    pub(crate) name: String,
    /// The assembly before the first pass.
    pub(crate) before: String,
    /// The passes.
    pub(crate) passes: Vec<PassRecord>,
    /// The module after the last.
    pub(crate) module: SpirvModule,
}

impl ModuleReport {
    /// Reports a module.
    pub(crate) fn new(optimised: OptimisedModule, options: &VerifyOptions) -> ModuleReport {
        let OptimisedModule {
            name,
            before,
            passes,
            module,
        } = optimised;
        let words = module.to_words();
        let text = print_module(&module);
        // The places of a module that was edited are those of its words once they are read again.
        let found = verify::verify_words(words.clone(), options);
        let found = found.err().map_or_else(Vec::new, Vec::from);
        let bytes = spirula_spirv::binary::to_bytes(&words);
        let blocks = module.functions().iter();
        let drawing = GraphvizOptions {
            instructions: true,
            ..GraphvizOptions::default()
        };
        let drawing = drawing.draw_module_as_svg(&module).ok();
        ModuleReport {
            name,
            binary: write_hex(&bytes),
            version: module.version.to_string(),
            sizes: ModuleSizes {
                bytes: bytes.len(),
                instructions: InstructionStream::new(&words).count(),
                functions: module.functions().len(),
                blocks: blocks.map(|func| module.function(*func).blocks.len()).sum(),
                ids: module.bound(),
            },
            entries: entry_points(&module)
                .into_iter()
                .map(|(name, model)| (name, model.to_string()))
                .collect(),
            faults: locate_faults(&found, &words, &text),
            drawing: drawing.filter(|drawing| drawing.len() <= LARGEST_DRAWING),
            text,
            before,
            passes,
        }
    }
}

/// Faults of a module at lines of its assembly, which has a line for each instruction after comments.
pub(crate) fn locate_faults(
    faults: &[SourceDiagnostic],
    words: &[u32],
    text: &str,
) -> Vec<FoundProblem> {
    let head = text
        .lines()
        .take_while(|line| line.starts_with(';'))
        .count();
    let starts: Vec<usize> = InstructionStream::new(words)
        .map_while(Result::ok)
        .map(|inst| inst.at)
        .collect();
    let find_line = |place: SourceLocation| match place {
        SourceLocation::Word(word) => {
            let after = starts.partition_point(|start| *start <= word as usize);
            (after > 0).then_some(head + after)
        }
        _ => None,
    };
    let faults = faults.iter();
    faults
        .map(|fault| FoundProblem::from_line(fault, find_line(fault.place)))
        .collect()
}
