//! What a pass is, and the table of all of them.

use crate::analyses::{Analyses, Cache};
use crate::passes::{
    adce, compact_ids, dead_members, dedup, gvn, if_convert, inline, licm, mem2reg, merge_return,
    simplify, simplify_cfg, sroa, strip_debug, trim_capabilities,
};
use spirula_source::Diagnostic;
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
    pub run: fn(&mut Module, &mut Cache) -> Result<Outcome, Diagnostic>,
}

/// Every pass, in alphabetical order.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "adce",
        help: "delete what has no effect: instructions, branches, loops, functions, globals",
        needs: Analyses::FLOW
            .and(Analyses::DEFINITIONS)
            .and(Analyses::CALLS),
        keeps: Analyses::NONE,
        run: adce::run,
    },
    Pass {
        name: "compact-ids",
        help: "give ids the smallest numbers and set the bound",
        needs: Analyses::NONE,
        keeps: Analyses::CALLS,
        run: compact_ids::run,
    },
    Pass {
        name: "dead-members",
        help: "delete members of buffers that nothing reaches; the others keep their places",
        needs: Analyses::DEFINITIONS,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: dead_members::run,
    },
    Pass {
        name: "dedup",
        help: "make equal types and constants one",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: dedup::run,
    },
    Pass {
        name: "gvn",
        help: "take from there what was computed, loaded or stored before",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: gvn::run,
    },
    Pass {
        name: "gvn-hoist",
        help: "the same, and compute once what two blocks compute",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: gvn::run_hoist,
    },
    Pass {
        name: "if-convert",
        help: "choose values instead of branching over little",
        needs: Analyses::FLOW.and(Analyses::DEFINITIONS),
        keeps: Analyses::CALLS,
        run: if_convert::run,
    },
    Pass {
        name: "inline",
        help: "put functions that are small, or called once, in the place of calls",
        needs: Analyses::CALLS,
        keeps: Analyses::NONE,
        run: inline::run,
    },
    Pass {
        name: "inline-all",
        help: "put every function that is not recursive in the place of its calls",
        needs: Analyses::CALLS,
        keeps: Analyses::NONE,
        run: inline::run_all,
    },
    Pass {
        name: "inline-small",
        help: "put functions in the place of calls where the module becomes no longer",
        needs: Analyses::CALLS,
        keeps: Analyses::NONE,
        run: inline::run_small,
    },
    Pass {
        name: "licm",
        help: "move what is the same in every round of a loop before the loop",
        needs: Analyses::FLOW.and(Analyses::DEFINITIONS),
        keeps: Analyses::CALLS,
        run: licm::run,
    },
    Pass {
        name: "mem2reg",
        help: "turn variables of functions into values and phis",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: mem2reg::run,
    },
    Pass {
        name: "merge-return",
        help: "have functions with structured control flow return at one place",
        needs: Analyses::NONE,
        keeps: Analyses::CALLS,
        run: merge_return::run,
    },
    Pass {
        name: "simplify",
        help: "fold constants, combine instructions, use cheaper ones",
        needs: Analyses::FLOW,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: simplify::run,
    },
    Pass {
        name: "simplify-cfg",
        help: "decide constant branches, join blocks, drop phis of one value",
        needs: Analyses::FLOW.and(Analyses::DEFINITIONS),
        keeps: Analyses::NONE,
        run: simplify_cfg::run,
    },
    Pass {
        name: "sroa",
        help: "split variables of functions into their parts",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: sroa::run,
    },
    Pass {
        name: "strip-debug",
        help: "delete names, lines, sources and debug information",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW.and(Analyses::CALLS),
        run: strip_debug::run,
    },
    Pass {
        name: "trim-capabilities",
        help: "delete capabilities and extensions that nothing needs",
        needs: Analyses::NONE,
        keeps: Analyses::FLOW
            .and(Analyses::CALLS)
            .and(Analyses::DEFINITIONS),
        run: trim_capabilities::run,
    },
];

impl Pass {
    /// The pass of a name.
    pub fn by_name(name: &str) -> Option<&'static Pass> {
        PASSES.iter().find(|p| p.name == name)
    }
}
