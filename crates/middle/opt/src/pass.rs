//! What a pass is, and the table of all of them.

use crate::analyses::{Analyses, Cache};
use crate::passes::{
    adce, compact_ids, copy_arrays, dead_components, dead_members, dead_stores, dedup, expand,
    fission, flatten_decorations, fuse, gvn, if_convert, inline, licm, mem2reg, merge_return,
    narrow_counters, narrow_indices, peel, private_to_local, read_ahead, readable_buffers, relaxed,
    sccp, simplify, simplify_cfg, sink, specialise, split_descriptors, split_loads, split_phis,
    sroa, strip_debug, strip_reflection, trim_capabilities, unroll, unroll_runtime, unswitch,
    workgroup_size, workgroup_to_local,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::Module;

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What it counts, in words, and how often; 0 everywhere: the module was not changed.
    pub statistics: Vec<(&'static str, usize)>,
}

impl Outcome {
    /// Whether the module was changed.
    pub fn changed(&self) -> bool {
        self.statistics.iter().any(|(_, n)| *n > 0)
    }
}

/// A pass as the manager sees it.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name in pipelines.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// Analyses that it asks for.
    pub needs: Analyses,
    /// Analyses that are still right when it has changed a module.
    pub keeps: Analyses,
    /// Runs it.
    pub run: Run,
}

/// How a pass is run.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// By itself.
    Plain(fn(&mut Module, &mut Cache) -> Result<Outcome, SourceDiagnostic>),
    /// With an argument, which pipelines name behind `=`.
    With(
        Argument,
        fn(&mut Module, &mut Cache, &str) -> Result<Outcome, SourceDiagnostic>,
    ),
}

/// What a pass has to be told.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// How it is written, for help texts.
    pub form: &'static str,
    /// One that is right for any module, for tests.
    pub example: &'static str,
    /// Whether a text is one.
    pub is_right: fn(&str) -> bool,
}

/// Rounds of a loop that are made one.
const FACTOR: Argument = Argument {
    form: "NUMBER",
    example: "2",
    is_right: unroll::is_factor,
};

/// Every pass, in alphabetical order.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "adce",
        help: "delete what has no effect: instructions, branches, loops, functions, globals",
        needs: Analyses::FLOW
            .and(Analyses::DEFINITIONS)
            .and(Analyses::CALLS),
        keeps: Analyses::DEFINITIONS,
        run: Run::Plain(adce::run),
    },
    Pass {
        name: "adce-bindings",
        help: "the same, and variables with a binding that nothing uses",
        needs: Analyses::FLOW
            .and(Analyses::DEFINITIONS)
            .and(Analyses::CALLS),
        keeps: Analyses::DEFINITIONS,
        run: Run::Plain(adce::run_bindings),
    },
    Pass {
        name: "compact-ids",
        help: "give ids the smallest numbers and set the bound",
        needs: Analyses::NONE,
        keeps: Analyses::CALLS,
        run: Run::Plain(compact_ids::run),
    },
    Pass {
        name: "copy-arrays",
        help: "read copies of arrays and structures at their source",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(copy_arrays::run),
    },
    Pass {
        name: "dead-components",
        help: "leave undefined what nothing needs of vectors",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(dead_components::run),
    },
    Pass {
        name: "dead-members",
        help: "delete members of buffers that nothing reaches; the others keep their places",
        needs: Analyses::DEFINITIONS,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::DEFINITIONS),
        run: Run::Plain(dead_members::run),
    },
    Pass {
        name: "dead-stores",
        help: "delete stores to variables of functions that nothing reads",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(dead_stores::run),
    },
    Pass {
        name: "dedup",
        help: "make equal types and constants one",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::DEFINITIONS),
        run: Run::Plain(dedup::run),
    },
    Pass {
        name: "expand",
        help: "write what narrow consumers lack in terms of other instructions",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(expand::run),
    },
    Pass {
        name: "fission",
        help: "make loops of what a loop does that has nothing to do with each other",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::FACTS)
            .and(Analyses::DEFINITIONS),
        run: Run::Plain(fission::run),
    },
    Pass {
        name: "flatten-decorations",
        help: "say of each target what a decoration group says",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(flatten_decorations::run),
    },
    Pass {
        name: "freeze-spec-const",
        help: "make specialisation constants constants",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(specialise::run_freeze),
    },
    Pass {
        name: "fuse",
        help: "make loops one that follow each other and run equally often",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(fuse::run),
    },
    Pass {
        name: "gvn",
        help: "take from there what was computed, loaded or stored before",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(gvn::run),
    },
    Pass {
        name: "gvn-hoist",
        help: "the same, and compute once what two blocks compute",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(gvn::run_hoist),
    },
    Pass {
        name: "if-convert",
        help: "choose values instead of branching over little",
        needs: Analyses::FLOW.and(Analyses::DEFINITIONS),
        keeps: Analyses::FLOW.and(Analyses::CALLS.and(Analyses::FACTS.and(Analyses::DEFINITIONS))),
        run: Run::Plain(if_convert::run),
    },
    Pass {
        name: "inline",
        help: "put functions that nothing outside sees, or that are small, in the place of calls",
        needs: Analyses::CALLS,
        keeps: Analyses::FACTS.and(Analyses::DEFINITIONS),
        run: Run::Plain(inline::run),
    },
    Pass {
        name: "inline-all",
        help: "put every function that is not recursive in the place of its calls",
        needs: Analyses::CALLS,
        keeps: Analyses::FACTS.and(Analyses::DEFINITIONS),
        run: Run::Plain(inline::run_all),
    },
    Pass {
        name: "inline-small",
        help: "put functions in the place of calls where the module becomes no longer",
        needs: Analyses::CALLS,
        keeps: Analyses::FACTS.and(Analyses::DEFINITIONS),
        run: Run::Plain(inline::run_small),
    },
    Pass {
        name: "licm",
        help: "move what is the same in every round of a loop before the loop",
        needs: Analyses::FLOW.and(Analyses::DEFINITIONS),
        keeps: Analyses::FLOW.and(Analyses::CALLS.and(Analyses::FACTS.and(Analyses::DEFINITIONS))),
        run: Run::Plain(licm::run),
    },
    Pass {
        name: "mem2reg",
        help: "turn variables of functions into values and phis",
        needs: Analyses::DEFINITIONS,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(mem2reg::run),
    },
    Pass {
        name: "merge-return",
        help: "have functions with structured control flow return at one place",
        needs: Analyses::NONE,
        keeps: Analyses::CALLS.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(merge_return::run),
    },
    Pass {
        name: "narrow-counters",
        help: "count loops in 32 bits whose counters in 64 stay small",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(narrow_counters::run),
    },
    Pass {
        name: "narrow-indices",
        help: "compute indices into workgroup memory in 32 bits",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(narrow_indices::run),
    },
    Pass {
        name: "peel",
        help: "put the first round of a loop before it where the others become simpler",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(peel::run),
    },
    Pass {
        name: "private-to-local",
        help: "make private variables that one entry point uses its own",
        needs: Analyses::CALLS,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(private_to_local::run),
    },
    Pass {
        name: "read-ahead",
        help: "put so many rounds of a loop with barriers one behind the other, and ask for what they read before",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::With(FACTOR, read_ahead::run),
    },
    Pass {
        name: "readable-buffers",
        help: "let buffers that are only written be read as well",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(readable_buffers::run),
    },
    Pass {
        name: "relax-floats",
        help: "allow less precision for all operations on 32-bit floats",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(relaxed::run_relax),
    },
    Pass {
        name: "relaxed-to-half",
        help: "compute in 16 bits what may have less precision",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(relaxed::run_half),
    },
    Pass {
        name: "sccp",
        help: "find values that are constant on every way that can be taken",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(sccp::run),
    },
    Pass {
        name: "set-spec-const",
        help: "give a specialisation constant another value",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::With(
            Argument {
                form: "ID:VALUE",
                example: "0:1",
                is_right: specialise::is_assignment,
            },
            specialise::run_set,
        ),
    },
    Pass {
        name: "simplify",
        help: "fold constants, combine instructions, use cheaper ones",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(simplify::run),
    },
    Pass {
        name: "simplify-cfg",
        help: "decide constant branches, join blocks, drop phis of one value",
        needs: Analyses::FLOW.and(Analyses::DEFINITIONS),
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(simplify_cfg::run),
    },
    Pass {
        name: "sink",
        help: "compute behind a branch what only one side of it uses",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(sink::run),
    },
    Pass {
        name: "split-descriptors",
        help: "make variables of arrays of descriptors that are indexed by constants",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(split_descriptors::run),
    },
    Pass {
        name: "split-loads",
        help: "load the parts of composites that are used",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(split_loads::run),
    },
    Pass {
        name: "split-phis",
        help: "give each part of a structure that goes round a loop a phi of its own",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(split_phis::run),
    },
    Pass {
        name: "sroa",
        help: "split variables of functions into their parts",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(sroa::run),
    },
    Pass {
        name: "strip-debug",
        help: "delete names, lines, sources and debug information",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(strip_debug::run),
    },
    Pass {
        name: "strip-lines",
        help: "delete lines, sources and debug information, but not names",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(strip_debug::run_lines),
    },
    Pass {
        name: "strip-reflection",
        help: "delete what only tools that reflect on modules read",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::Plain(strip_reflection::run),
    },
    Pass {
        name: "trim-capabilities",
        help: "delete capabilities and extensions that nothing needs",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::DEFINITIONS),
        run: Run::Plain(trim_capabilities::run),
    },
    Pass {
        name: "unroll",
        help: "put the rounds of loops that ask for it one behind the other",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(unroll::run),
    },
    Pass {
        name: "unroll-by",
        help: "make so many rounds of a loop one, where that divides their number",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::With(FACTOR, unroll::run_by),
    },
    Pass {
        name: "unroll-runtime",
        help: "make so many rounds of a short loop at once that reads, as long as so many are left",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::With(FACTOR, unroll_runtime::run),
    },
    Pass {
        name: "unroll-small",
        help: "put the rounds of loops one behind the other where they are few and short",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(unroll::run_small),
    },
    Pass {
        name: "unswitch",
        help: "take branches that go the same way in every round before the loop",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(unswitch::run),
    },
    Pass {
        name: "workgroup-size",
        help: "say how large workgroups are, where that is open",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: Run::With(
            Argument {
                form: "X:Y:Z",
                example: "64:1:1",
                is_right: workgroup_size::is_size,
            },
            workgroup_size::run,
        ),
    },
    Pass {
        name: "workgroup-to-local",
        help: "make arrays of the workgroup variables of each invocation, where each uses its own element",
        needs: Analyses::CALLS,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::FACTS.and(Analyses::DEFINITIONS)),
        run: Run::Plain(workgroup_to_local::run),
    },
];

impl Pass {
    /// The pass of a name.
    pub fn by_name(name: &str) -> Option<&'static Pass> {
        PASSES.iter().find(|p| p.name == name)
    }

    /// What it has to be told.
    pub fn argument(&self) -> Option<Argument> {
        match self.run {
            Run::Plain(_) => None,
            Run::With(argument, _) => Some(argument),
        }
    }

    /// A pipeline of this pass alone, with an argument where it takes one.
    pub fn example(&self) -> String {
        match self.argument() {
            None => self.name.to_owned(),
            Some(argument) => format!("{}={}", self.name, argument.example),
        }
    }
}
