//! Test-case reduction: shrinks a module while it keeps a property, such as making a tool fail.
//!
//! [`reduce_module`] tries simpler modules and keeps those that are valid and still have the property, which
//! the caller's closure decides: by running a command, say. Each pass has a list of units that can be
//! simplified (entry points, functions, branches, instructions, operands, constants, names, …) and
//! tries all of them at once, then halves, quarters, and so on down to single ones (Zeller and
//! Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). Passes are repeated until
//! none of them shrinks the module. Deleted values are replaced by null constants, not by undefined
//! ones, so that the failure does not get a new cause.
//!
//! Reduction terminates, because every accepted module is smaller in a well-founded order, and it is deterministic.
//! Cost: each attempt copies and verifies the module. The number of attempts is about that of the units plus its
//! logarithm, for each repetition.

mod candidate;
mod units;

use crate::Id;
use crate::analysis::IdDefinitions;
use crate::grammar::Op;
use crate::ir::{IdWords, InstRef, SpirvModule};
use crate::verify;
use candidate::ReducedCandidate;
use units::{PASSES, ReduceUnit};

/// How a module is reduced.
#[derive(Clone, Debug)]
pub struct ReduceOptions {
    /// Rules that are kept, if the module keeps them at the beginning.
    pub verify: verify::VerifyOptions,
    /// Most candidates that are passed to the closure.
    pub attempts: usize,
}

impl Default for ReduceOptions {
    fn default() -> Self {
        ReduceOptions {
            verify: verify::VerifyOptions {
                scalar_block_layout: true,
                ..verify::VerifyOptions::default()
            },
            attempts: usize::MAX,
        }
    }
}

/// Where a reduction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceProgress {
    /// The pass that works.
    pub pass: &'static str,
    /// Candidates that were tried so far.
    pub attempts: usize,
    /// Instructions of the smallest module so far.
    pub instructions: usize,
}

/// Shrinks a module for which `is_interesting` holds to a small one for which it still does. The closure
/// is given the words of each candidate, `report` receives each that is kept.
///
/// ```
/// use spirula_spirv::ir::SpirvModule;
/// use spirula_spirv::reduce::{ReduceOptions, reduce_module};
/// use spirula_spirv::text::{ParseOptions, parse_assembly};
///
/// let source = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n\
///     %1 = OpTypeInt 32 0\n%2 = OpTypeFloat 32\n%3 = OpTypeVector %2 4";
/// let words = parse_assembly(source, &ParseOptions::default()).unwrap();
/// let module = SpirvModule::from_words(words).unwrap();
/// // OpTypeVector has the opcode 23.
/// let has_vector = |words: &[u32]| words.contains(&(4 << 16 | 23));
/// let small = reduce_module(&module, &ReduceOptions::default(), has_vector, |_| {}).unwrap();
/// let left: Vec<String> = small.all_insts().map(|i| i.op().to_string()).collect();
/// assert_eq!(left.join(" "),
///     "OpCapability OpCapability OpMemoryModel OpTypeFloat OpTypeVector");
/// ```
///
/// Returns `None` where the closure does not hold for the module itself.
pub fn reduce_module(
    module: &SpirvModule,
    options: &ReduceOptions,
    is_interesting: impl FnMut(&[u32]) -> bool,
    report: impl FnMut(ReduceProgress),
) -> Option<SpirvModule> {
    let mut reducer = SpirvReducer {
        must_be_valid: verify::verify_module(module, &options.verify).is_ok(),
        size: measure_size(module),
        current: module.clone(),
        options,
        is_interesting,
        report,
        attempts: 0,
    };
    if !reducer.test_words(&module.to_words()) {
        return None;
    }
    loop {
        let before = reducer.size;
        for (name, units) in PASSES {
            reducer.run_pass(name, *units);
        }
        if reducer.size == before || reducer.attempts >= options.attempts {
            break;
        }
    }
    Some(reducer.with_dense_ids())
}

/// The size that shrinks: instructions of functions, operands that are no constants, words.
type ReducedSize = [usize; 3];

fn measure_size(module: &SpirvModule) -> ReducedSize {
    let ids = IdWords::new(module);
    let definitions = IdDefinitions::from_module(module);
    let mut size = [0; 3];
    for func in module.functions() {
        for inst in module.function_insts(*func) {
            size[0] += 1;
            ids.visit_uses(inst, |_, id| {
                size[1] += usize::from(is_computed(module, &definitions, id));
            });
        }
    }
    size[2] = module.all_insts().map(|i| i.words().len() + 1).sum();
    size
}

/// Whether a value is one that a function computes.
fn is_computed(module: &SpirvModule, definitions: &IdDefinitions, id: Id) -> bool {
    let inst = definitions.get(module, id);
    inst.is_some_and(|i| {
        let has_list = module.list_of(i.handle());
        let is_global = has_list == Some(crate::ir::ModuleSection::Globals.list());
        i.result_type().is_some() && !is_global && i.op() != Op::Function
    })
}

struct SpirvReducer<'a, I, R> {
    options: &'a ReduceOptions,
    must_be_valid: bool,
    current: SpirvModule,
    size: ReducedSize,
    is_interesting: I,
    report: R,
    attempts: usize,
}

impl<I: FnMut(&[u32]) -> bool, R: FnMut(ReduceProgress)> SpirvReducer<'_, I, R> {
    fn test_words(&mut self, words: &[u32]) -> bool {
        self.attempts += 1;
        (self.is_interesting)(words)
    }

    /// Tries the units of a pass in parts that get smaller.
    fn run_pass(&mut self, name: &'static str, find: fn(&SpirvModule) -> Vec<ReduceUnit>) {
        let mut units = find(&self.current);
        let mut length = units.len();
        while length > 0 {
            let mut at = 0;
            while at < units.len() && self.attempts < self.options.attempts {
                let end = units.len().min(at + length);
                if self.try_units(name, &units[at..end]) {
                    // Units that were tried before and stayed are still there.
                    units = find(&self.current);
                } else {
                    at = end;
                }
            }
            length /= 2;
        }
    }

    /// Simplifies units; returns whether that was kept.
    fn try_units(&mut self, pass: &'static str, units: &[ReduceUnit]) -> bool {
        let mut candidate = ReducedCandidate::new(&self.current);
        for unit in units {
            candidate.apply_unit(unit);
        }
        let module = candidate.finish_module();
        self.keep_if_smaller(pass, &module)
    }

    fn keep_if_smaller(&mut self, pass: &'static str, module: &SpirvModule) -> bool {
        let words = module.to_words();
        // Read again, so that the result depends on its words only.
        let Ok(module) = SpirvModule::from_words(words.clone()) else {
            return false;
        };
        let size = measure_size(&module);
        let is_valid = || verify::verify_module(&module, &self.options.verify).is_ok();
        if size >= self.size || self.must_be_valid && !is_valid() || !self.test_words(&words) {
            return false;
        }
        self.size = size;
        self.current = module;
        (self.report)(ReduceProgress {
            pass,
            attempts: self.attempts,
            instructions: self.current.all_insts().count(),
        });
        true
    }

    /// The result with the smallest ids, if they do not matter.
    fn with_dense_ids(mut self) -> SpirvModule {
        let mut dense = self.current.clone();
        dense.compact_ids();
        let words = dense.to_words();
        let is_valid =
            !self.must_be_valid || verify::verify_module(&dense, &self.options.verify).is_ok();
        if is_valid && self.test_words(&words) {
            return dense;
        }
        self.current
    }
}

/// The instructions of all functions.
fn function_insts(module: &SpirvModule) -> impl Iterator<Item = InstRef<'_>> {
    let functions = module.functions().iter();
    functions.flat_map(|f| module.function_insts(*f))
}
