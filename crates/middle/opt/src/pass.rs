//! What a pass is, and the table of all of them.

use crate::analyses::{AnalysisCache, AnalysisSet};
use crate::passes::{
    adce, compact_ids, copy_arrays, dead_components, dead_members, dead_stores, dedup, expand,
    fission, flatten_decorations, fuse, gvn, if_convert, inline, licm, mem2reg, merge_return,
    narrow_counters, narrow_indices, peel, private_to_local, read_ahead, readable_buffers, relaxed,
    sccp, simplify, simplify_cfg, sink, specialise, split_descriptors, split_loads, split_phis,
    sroa, strip_debug, strip_reflection, trim_capabilities, unroll, unroll_runtime, unswitch,
    workgroup_size, workgroup_to_local,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassOutcome {
    /// What it counts, in words, and how often; 0 everywhere: the module was not changed.
    pub statistics: Vec<(&'static str, usize)>,
}

impl PassOutcome {
    /// Whether the module was changed.
    pub fn has_changed(&self) -> bool {
        self.statistics.iter().any(|(_, n)| *n > 0)
    }
}

/// A pass as the manager sees it.
#[derive(Clone, Copy, Debug)]
pub struct SpirvPass {
    /// Name in pipelines.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// Analyses that it asks for.
    pub needs: AnalysisSet,
    /// Analyses that are still right when it has changed a module.
    pub keeps: AnalysisSet,
    /// Runs it.
    pub run: PassFunction,
}

/// How a pass is run.
#[derive(Clone, Copy, Debug)]
pub enum PassFunction {
    /// By itself.
    Plain(fn(&mut SpirvModule, &mut AnalysisCache) -> Result<PassOutcome, SourceDiagnostic>),
    /// With an argument, which pipelines name behind `=`.
    With(
        PassArgument,
        fn(&mut SpirvModule, &mut AnalysisCache, &str) -> Result<PassOutcome, SourceDiagnostic>,
    ),
}

/// What a pass has to be told.
#[derive(Clone, Copy, Debug)]
pub struct PassArgument {
    /// How it is written, for help texts.
    pub form: &'static str,
    /// One that is right for any module, for tests.
    pub example: &'static str,
    /// Whether a text is one.
    pub is_right: fn(&str) -> bool,
}

/// Rounds of a loop that are made one.
const FACTOR: PassArgument = PassArgument {
    form: "NUMBER",
    example: "2",
    is_right: unroll::is_factor,
};

/// Every pass, in alphabetical order.
pub const PASSES: &[SpirvPass] = &[
    SpirvPass {
        name: "adce",
        help: "delete what has no effect: instructions, branches, loops, functions, globals",
        needs: AnalysisSet::FLOW
            .union(AnalysisSet::DEFINITIONS)
            .union(AnalysisSet::CALLS),
        keeps: AnalysisSet::DEFINITIONS,
        run: PassFunction::Plain(adce::run_adce),
    },
    SpirvPass {
        name: "adce-bindings",
        help: "the same, and variables with a binding that nothing uses",
        needs: AnalysisSet::FLOW
            .union(AnalysisSet::DEFINITIONS)
            .union(AnalysisSet::CALLS),
        keeps: AnalysisSet::DEFINITIONS,
        run: PassFunction::Plain(adce::run_bindings),
    },
    SpirvPass {
        name: "compact-ids",
        help: "give ids the smallest numbers and set the bound",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::CALLS,
        run: PassFunction::Plain(compact_ids::run_compact_ids),
    },
    SpirvPass {
        name: "copy-arrays",
        help: "read copies of arrays and structures at their source",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(copy_arrays::run_copy_arrays),
    },
    SpirvPass {
        name: "dead-components",
        help: "leave undefined what nothing needs of vectors",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(dead_components::run_dead_components),
    },
    SpirvPass {
        name: "dead-members",
        help: "delete members of buffers that nothing reaches; the others keep their places",
        needs: AnalysisSet::DEFINITIONS,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::DEFINITIONS),
        run: PassFunction::Plain(dead_members::run_dead_members),
    },
    SpirvPass {
        name: "dead-stores",
        help: "delete stores to variables of functions that nothing reads",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(dead_stores::run_dead_stores),
    },
    SpirvPass {
        name: "dedup",
        help: "make equal types and constants one",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::DEFINITIONS),
        run: PassFunction::Plain(dedup::run_dedup),
    },
    SpirvPass {
        name: "expand",
        help: "write what narrow consumers lack in terms of other instructions",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(expand::run_expand),
    },
    SpirvPass {
        name: "fission",
        help: "make loops of what a loop does that has nothing to do with each other",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::FACTS)
            .union(AnalysisSet::DEFINITIONS),
        run: PassFunction::Plain(fission::run_fission),
    },
    SpirvPass {
        name: "flatten-decorations",
        help: "say of each target what a decoration group says",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(flatten_decorations::run_flatten_decorations),
    },
    SpirvPass {
        name: "freeze-spec-const",
        help: "make specialisation constants constants",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(specialise::run_freeze),
    },
    SpirvPass {
        name: "fuse",
        help: "make loops one that follow each other and run equally often",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(fuse::run_fuse),
    },
    SpirvPass {
        name: "gvn",
        help: "take from there what was computed, loaded or stored before",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(gvn::run_gvn),
    },
    SpirvPass {
        name: "gvn-hoist",
        help: "the same, and compute once what two blocks compute",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(gvn::run_hoist),
    },
    SpirvPass {
        name: "if-convert",
        help: "choose values instead of branching over little",
        needs: AnalysisSet::FLOW.union(AnalysisSet::DEFINITIONS),
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS))),
        run: PassFunction::Plain(if_convert::run_if_convert),
    },
    SpirvPass {
        name: "inline",
        help: "put functions that nothing outside sees, or that are small, in the place of calls",
        needs: AnalysisSet::CALLS,
        keeps: AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS),
        run: PassFunction::Plain(inline::run_inline),
    },
    SpirvPass {
        name: "inline-all",
        help: "put every function that is not recursive in the place of its calls",
        needs: AnalysisSet::CALLS,
        keeps: AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS),
        run: PassFunction::Plain(inline::run_all),
    },
    SpirvPass {
        name: "inline-small",
        help: "put functions in the place of calls where the module becomes no longer",
        needs: AnalysisSet::CALLS,
        keeps: AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS),
        run: PassFunction::Plain(inline::run_small),
    },
    SpirvPass {
        name: "licm",
        help: "move what is the same in every round of a loop before the loop",
        needs: AnalysisSet::FLOW.union(AnalysisSet::DEFINITIONS),
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS))),
        run: PassFunction::Plain(licm::run_licm),
    },
    SpirvPass {
        name: "mem2reg",
        help: "turn variables of functions into values and phis",
        needs: AnalysisSet::DEFINITIONS,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(mem2reg::run_mem2reg),
    },
    SpirvPass {
        name: "merge-return",
        help: "have functions with structured control flow return at one place",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::CALLS.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(merge_return::run_merge_return),
    },
    SpirvPass {
        name: "narrow-counters",
        help: "count loops in 32 bits whose counters in 64 stay small",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(narrow_counters::run_narrow_counters),
    },
    SpirvPass {
        name: "narrow-indices",
        help: "compute indices into workgroup memory in 32 bits",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(narrow_indices::run_narrow_indices),
    },
    SpirvPass {
        name: "peel",
        help: "put the first round of a loop before it where the others become simpler",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(peel::run_peel),
    },
    SpirvPass {
        name: "private-to-local",
        help: "make private variables that one entry point uses its own",
        needs: AnalysisSet::CALLS,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(private_to_local::run_private_to_local),
    },
    SpirvPass {
        name: "read-ahead",
        help: "put so many rounds of a loop with barriers one behind the other, and ask for what they read before",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::With(FACTOR, read_ahead::run_read_ahead),
    },
    SpirvPass {
        name: "readable-buffers",
        help: "let buffers that are only written be read as well",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(readable_buffers::run_readable_buffers),
    },
    SpirvPass {
        name: "relax-floats",
        help: "allow less precision for all operations on 32-bit floats",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(relaxed::run_relax),
    },
    SpirvPass {
        name: "relaxed-to-half",
        help: "compute in 16 bits what may have less precision",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(relaxed::run_half),
    },
    SpirvPass {
        name: "sccp",
        help: "find values that are constant on every way that can be taken",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(sccp::run_sccp),
    },
    SpirvPass {
        name: "set-spec-const",
        help: "give a specialisation constant another value",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::With(
            PassArgument {
                form: "ID:VALUE",
                example: "0:1",
                is_right: specialise::is_assignment,
            },
            specialise::run_set,
        ),
    },
    SpirvPass {
        name: "simplify",
        help: "fold constants, combine instructions, use cheaper ones",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(simplify::run_simplify),
    },
    SpirvPass {
        name: "simplify-cfg",
        help: "decide constant branches, join blocks, drop phis of one value",
        needs: AnalysisSet::FLOW.union(AnalysisSet::DEFINITIONS),
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(simplify_cfg::run_simplify_cfg),
    },
    SpirvPass {
        name: "sink",
        help: "compute behind a branch what only one side of it uses",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(sink::run_sink),
    },
    SpirvPass {
        name: "split-descriptors",
        help: "make variables of arrays of descriptors that are indexed by constants",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(split_descriptors::run_split_descriptors),
    },
    SpirvPass {
        name: "split-loads",
        help: "load the parts of composites that are used",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(split_loads::run_split_loads),
    },
    SpirvPass {
        name: "split-phis",
        help: "give each part of a structure that goes round a loop a phi of its own",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(split_phis::run_split_phis),
    },
    SpirvPass {
        name: "sroa",
        help: "split variables of functions into their parts",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(sroa::run_sroa),
    },
    SpirvPass {
        name: "strip-debug",
        help: "delete names, lines, sources and debug information",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(strip_debug::run_strip_debug),
    },
    SpirvPass {
        name: "strip-lines",
        help: "delete lines, sources and debug information, but not names",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(strip_debug::run_lines),
    },
    SpirvPass {
        name: "strip-reflection",
        help: "delete what only tools that reflect on modules read",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::Plain(strip_reflection::run_strip_reflection),
    },
    SpirvPass {
        name: "trim-capabilities",
        help: "delete capabilities and extensions that nothing needs",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::DEFINITIONS),
        run: PassFunction::Plain(trim_capabilities::run_trim_capabilities),
    },
    SpirvPass {
        name: "unroll",
        help: "put the rounds of loops that ask for it one behind the other",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(unroll::run_unroll),
    },
    SpirvPass {
        name: "unroll-by",
        help: "make so many rounds of a loop one, where that divides their number",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::With(FACTOR, unroll::run_by),
    },
    SpirvPass {
        name: "unroll-runtime",
        help: "make so many rounds of a short loop at once that reads, as long as so many are left",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::With(FACTOR, unroll_runtime::run_unroll_runtime),
    },
    SpirvPass {
        name: "unroll-small",
        help: "put the rounds of loops one behind the other where they are few and short",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(unroll::run_small),
    },
    SpirvPass {
        name: "unswitch",
        help: "take branches that go the same way in every round before the loop",
        needs: AnalysisSet::FLOW,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(unswitch::run_unswitch),
    },
    SpirvPass {
        name: "workgroup-size",
        help: "say how large workgroups are, where that is open",
        needs: AnalysisSet::NONE,
        keeps: AnalysisSet::FLOW.union(AnalysisSet::CALLS),
        run: PassFunction::With(
            PassArgument {
                form: "X:Y:Z",
                example: "64:1:1",
                is_right: workgroup_size::is_size,
            },
            workgroup_size::run_workgroup_size,
        ),
    },
    SpirvPass {
        name: "workgroup-to-local",
        help: "make arrays of the workgroup variables of each invocation, where each uses its own element",
        needs: AnalysisSet::CALLS,
        keeps: AnalysisSet::FLOW
            .union(AnalysisSet::CALLS)
            .union(AnalysisSet::FACTS.union(AnalysisSet::DEFINITIONS)),
        run: PassFunction::Plain(workgroup_to_local::run_workgroup_to_local),
    },
];

impl SpirvPass {
    /// The pass of a name.
    pub fn by_name(name: &str) -> Option<&'static SpirvPass> {
        PASSES.iter().find(|p| p.name == name)
    }

    /// What it has to be told.
    pub fn required_argument(&self) -> Option<PassArgument> {
        match self.run {
            PassFunction::Plain(_) => None,
            PassFunction::With(argument, _) => Some(argument),
        }
    }

    /// A pipeline of this pass alone, with an argument where it takes one.
    pub fn example_pipeline(&self) -> String {
        match self.required_argument() {
            None => self.name.to_owned(),
            Some(argument) => format!("{}={}", self.name, argument.example),
        }
    }
}
