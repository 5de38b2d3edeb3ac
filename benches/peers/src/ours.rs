//! The contender Spirula.

use crate::corpus::Sample;
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::analysis::{BlockDominators, DefUse, FlowGraph, IdDefinitions};
use spirula_spirv::binary::InstructionStream;
use spirula_spirv::ir::{SpirvIndex, SpirvModule};
use spirula_spirv::{ssa, text, verify};
use std::fmt::Write;
use std::hint::black_box;

pub fn copy(sample: &Sample) -> bool {
    black_box(sample.words.clone());
    true
}

pub fn walk(sample: &Sample) -> bool {
    let mut sum = 0u64;
    for inst in InstructionStream::new(&sample.words).flatten() {
        sum += u64::from(inst.op.0) + inst.words.len() as u64;
    }
    black_box(sum);
    true
}

pub fn index(sample: &Sample) -> bool {
    black_box(SpirvIndex::from_words(&sample.words)).is_ok()
}

fn module(sample: &Sample) -> SpirvModule {
    SpirvModule::from_words(sample.words.clone()).expect("the corpus is read")
}

pub fn build(sample: &Sample) -> bool {
    black_box(module(sample));
    true
}

pub fn build_and_write(sample: &Sample) -> bool {
    black_box(module(sample).to_words());
    true
}

pub fn with_uses(sample: &Sample) -> bool {
    let module = module(sample);
    black_box(DefUse::from_module(&module));
    black_box(module.to_words());
    true
}

pub fn graphs(sample: &Sample) -> bool {
    let module = module(sample);
    let definitions = IdDefinitions::from_module(&module);
    for func in module.functions() {
        if let Ok(cfg) = FlowGraph::from_function(&module, &definitions, *func) {
            black_box(BlockDominators::from_cfg(&cfg));
        }
    }
    true
}

pub fn disassemble(sample: &Sample) -> bool {
    black_box(text::print_assembly(
        &sample.words,
        &text::PrintOptions::default(),
    ))
    .is_ok()
}

/// A writer that only counts its text.
struct Counted(usize);

impl Write for Counted {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        self.0 += black_box(part).len();
        Ok(())
    }
}

/// Prints a module in parts, which are discarded.
pub fn disassemble_in_parts(sample: &Sample) -> bool {
    let text = text::ModuleDisassembly::new(&sample.words, text::PrintOptions::default());
    let mut counted = Counted(0);
    text.is_ok_and(|text| write!(counted, "{text}").is_ok() && counted.0 > 0)
}

pub fn assemble(sample: &Sample) -> bool {
    black_box(text::parse_assembly(
        &sample.text,
        &text::ParseOptions::default(),
    ))
    .is_ok()
}

pub fn validate(sample: &Sample) -> bool {
    let _ = black_box(verify::verify_words(sample.words.clone(), &sample.options));
    true
}

pub fn construct_ssa(sample: &Sample) -> bool {
    let mut module = module(sample);
    if ssa::construct_ssa(&mut module).is_err() {
        return false;
    }
    black_box(module.to_words());
    true
}

/// Reads a module, optimises it as `-O2` does, and writes it.
pub fn optimise_o2(sample: &Sample) -> bool {
    optimised(sample, "O2")
}

/// Reads a module, optimises it as `-Os` does, and writes it.
pub fn optimise_os(sample: &Sample) -> bool {
    optimised(sample, "Os")
}

fn optimised(sample: &Sample, preset: &str) -> bool {
    let pipeline: PassPipeline = preset.parse().expect("a preset's name");
    let mut module = module(sample);
    if optimise_module(&mut module, &pipeline, &mut PipelineOptions::default()).is_err() {
        return false;
    }
    black_box(module.to_words());
    true
}
