//! The table of passes: one record for each.

use super::{
    adce, compact_ids, copy_arrays, dead_components, dead_members, dead_stores, dedup, expand,
    fission, flatten_decorations, fuse, gvn, if_convert, inline, licm, mem2reg, merge_return,
    narrow_counters, narrow_indices, peel, private_to_local, read_ahead, readable_buffers,
    relaxed_precision, sccp, simplify, simplify_cfg, sink, specialise, split_descriptors,
    split_loads, split_phis, sroa, strip_debug, strip_reflection, trim_capabilities, unroll,
    unroll_runtime, unswitch, workgroup_size, workgroup_to_local,
};
use crate::analyses::AnalysisSet;
use crate::pass::{PassArgument, PassFunction, SpirvPass};

const NONE: AnalysisSet = AnalysisSet::NONE;
const FLOW: AnalysisSet = AnalysisSet::FLOW;
const CALLS: AnalysisSet = AnalysisSet::CALLS;
const DEFINITIONS: AnalysisSet = AnalysisSet::DEFINITIONS;
const FLOW_CALLS: AnalysisSet = FLOW.union(CALLS);
const FLOW_DEFINITIONS: AnalysisSet = FLOW.union(DEFINITIONS);
const FLOW_CALLS_DEFINITIONS: AnalysisSet = FLOW_CALLS.union(DEFINITIONS);
/// Definitions and facts of values.
const VALUES: AnalysisSet = AnalysisSet::FACTS.union(DEFINITIONS);
const CALLS_VALUES: AnalysisSet = CALLS.union(VALUES);
const FLOW_VALUES: AnalysisSet = FLOW.union(VALUES);
const ALL: AnalysisSet = FLOW_CALLS.union(VALUES);

/// Number of iterations that one iteration of an unrolled loop performs.
const FACTOR: PassArgument = PassArgument {
    form: "NUMBER",
    example: "2",
    is_valid: unroll::is_factor,
};

/// Every pass, in alphabetical order.
pub const PASSES: &[SpirvPass] = &[
    SpirvPass {
        name: "adce",
        help: "aggressive dead code elimination: delete instructions, branches, loops, functions and globals without effect",
        needs: FLOW_CALLS_DEFINITIONS,
        keeps: DEFINITIONS,
        run: PassFunction::Plain(adce::run_adce),
    },
    SpirvPass {
        name: "adce-bindings",
        help: "aggressive dead code elimination that also deletes unused variables with a binding",
        needs: FLOW_CALLS_DEFINITIONS,
        keeps: DEFINITIONS,
        run: PassFunction::Plain(adce::run_bindings),
    },
    SpirvPass {
        name: "compact-ids",
        help: "id compaction: renumber ids densely and lower the bound",
        needs: NONE,
        keeps: CALLS,
        run: PassFunction::Plain(compact_ids::run_compact_ids),
    },
    SpirvPass {
        name: "copy-arrays",
        help: "copy propagation: read copied arrays and structures at their source",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(copy_arrays::run_copy_arrays),
    },
    SpirvPass {
        name: "dead-components",
        help: "dead component elimination: make vector components undefined that are never read",
        needs: NONE,
        keeps: ALL,
        run: PassFunction::Plain(dead_components::run_dead_components),
    },
    SpirvPass {
        name: "dead-members",
        help: "dead member elimination: delete unused members of buffers; the others keep their offsets",
        needs: DEFINITIONS,
        keeps: FLOW_CALLS_DEFINITIONS,
        run: PassFunction::Plain(dead_members::run_dead_members),
    },
    SpirvPass {
        name: "dead-stores",
        help: "dead store elimination: delete stores to function variables that are never read",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(dead_stores::run_dead_stores),
    },
    SpirvPass {
        name: "dedup",
        help: "deduplication: merge equal types and constants",
        needs: NONE,
        keeps: FLOW_CALLS_DEFINITIONS,
        run: PassFunction::Plain(dedup::run_dedup),
    },
    SpirvPass {
        name: "expand",
        help: "instruction expansion: rewrite instructions that narrow consumers lack in terms of others",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(expand::run_expand),
    },
    SpirvPass {
        name: "fission",
        help: "loop fission: split a loop into one loop for each of its independent parts",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::Plain(fission::run_fission),
    },
    SpirvPass {
        name: "flatten-decorations",
        help: "decoration group removal: apply the decorations of a group to each of its targets",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(flatten_decorations::run_flatten_decorations),
    },
    SpirvPass {
        name: "freeze-spec-const",
        help: "specialisation constant freezing: turn specialisation constants into constants",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(specialise::run_freeze),
    },
    SpirvPass {
        name: "fuse",
        help: "loop fusion: merge adjacent loops of equal trip count",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::Plain(fuse::run_fuse),
    },
    SpirvPass {
        name: "gvn",
        help: "global value numbering: reuse values that were computed, loaded or stored before",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(gvn::run_gvn),
    },
    SpirvPass {
        name: "gvn-hoist",
        help: "global value numbering that also hoists computations that two blocks share",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(gvn::run_hoist),
    },
    SpirvPass {
        name: "if-convert",
        help: "if-conversion: replace short branches by selects",
        needs: FLOW_DEFINITIONS,
        keeps: ALL,
        run: PassFunction::Plain(if_convert::run_if_convert),
    },
    SpirvPass {
        name: "inline",
        help: "inlining: inline small functions and functions with internal linkage",
        needs: CALLS,
        keeps: VALUES,
        run: PassFunction::Plain(inline::run_inline),
    },
    SpirvPass {
        name: "inline-all",
        help: "exhaustive inlining: inline all calls of functions that are not recursive",
        needs: CALLS,
        keeps: VALUES,
        run: PassFunction::Plain(inline::run_all),
    },
    SpirvPass {
        name: "inline-small",
        help: "size-bounded inlining: inline calls where the module does not grow",
        needs: CALLS,
        keeps: VALUES,
        run: PassFunction::Plain(inline::run_small),
    },
    SpirvPass {
        name: "licm",
        help: "loop-invariant code motion: move loop-invariant computations before the loop",
        needs: FLOW_DEFINITIONS,
        keeps: ALL,
        run: PassFunction::Plain(licm::run_licm),
    },
    SpirvPass {
        name: "mem2reg",
        help: "memory-to-register promotion: turn variables of functions into values and phis",
        needs: DEFINITIONS,
        keeps: ALL,
        run: PassFunction::Plain(mem2reg::run_mem2reg),
    },
    SpirvPass {
        name: "merge-return",
        help: "return merging: give functions with structured control flow a single return",
        needs: NONE,
        keeps: CALLS_VALUES,
        run: PassFunction::Plain(merge_return::run_merge_return),
    },
    SpirvPass {
        name: "narrow-counters",
        help: "loop counter narrowing: count in 32 bits in loops whose 64-bit counters stay small",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(narrow_counters::run_narrow_counters),
    },
    SpirvPass {
        name: "narrow-indices",
        help: "index narrowing: compute indices into workgroup memory in 32 bits",
        needs: NONE,
        keeps: ALL,
        run: PassFunction::Plain(narrow_indices::run_narrow_indices),
    },
    SpirvPass {
        name: "peel",
        help: "loop peeling: move the first iteration before the loop where this simplifies the others",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::Plain(peel::run_peel),
    },
    SpirvPass {
        name: "private-to-local",
        help: "variable localisation: turn private variables that one entry point uses into its own",
        needs: CALLS,
        keeps: ALL,
        run: PassFunction::Plain(private_to_local::run_private_to_local),
    },
    SpirvPass {
        name: "read-ahead",
        help: "read-ahead: unroll loops with barriers by NUMBER and move the loads of all iterations to the front",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::With(FACTOR, read_ahead::run_read_ahead),
    },
    SpirvPass {
        name: "readable-buffers",
        help: "write-only removal: allow reads from buffers that are only written",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(readable_buffers::run_readable_buffers),
    },
    SpirvPass {
        name: "relax-floats",
        help: "precision relaxation: allow less precision for all operations on 32-bit floats",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(relaxed_precision::run_relax),
    },
    SpirvPass {
        name: "relaxed-to-half",
        help: "precision narrowing: compute in 16 bits where less precision is allowed",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(relaxed_precision::run_half),
    },
    SpirvPass {
        name: "sccp",
        help: "sparse conditional constant propagation: find values that are constant on all executable paths",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(sccp::run_sccp),
    },
    SpirvPass {
        name: "set-spec-const",
        help: "specialisation: set the value of a specialisation constant",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::With(
            PassArgument {
                form: "ID:VALUE",
                example: "0:1",
                is_valid: specialise::is_assignment,
            },
            specialise::run_set,
        ),
    },
    SpirvPass {
        name: "simplify",
        help: "instruction combining: fold constants, combine instructions, use cheaper ones",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(simplify::run_simplify),
    },
    SpirvPass {
        name: "simplify-cfg",
        help: "control-flow simplification: decide constant branches, join blocks, delete phis of one value",
        needs: FLOW_DEFINITIONS,
        keeps: FLOW_VALUES,
        run: PassFunction::Plain(simplify_cfg::run_simplify_cfg),
    },
    SpirvPass {
        name: "sink",
        help: "code sinking: move computations into the only side of a branch that uses them",
        needs: FLOW,
        keeps: ALL,
        run: PassFunction::Plain(sink::run_sink),
    },
    SpirvPass {
        name: "split-descriptors",
        help: "descriptor array splitting: replace descriptor arrays that are indexed by constants by variables",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(split_descriptors::run_split_descriptors),
    },
    SpirvPass {
        name: "split-loads",
        help: "load splitting: load only the members of composites that are used",
        needs: NONE,
        keeps: ALL,
        run: PassFunction::Plain(split_loads::run_split_loads),
    },
    SpirvPass {
        name: "split-phis",
        help: "phi splitting: give each member of a loop-carried structure its own phi",
        needs: NONE,
        keeps: ALL,
        run: PassFunction::Plain(split_phis::run_split_phis),
    },
    SpirvPass {
        name: "sroa",
        help: "scalar replacement of aggregates: split variables of functions into their members",
        needs: NONE,
        keeps: ALL,
        run: PassFunction::Plain(sroa::run_sroa),
    },
    SpirvPass {
        name: "strip-debug",
        help: "debug stripping: delete names, lines, sources and debug information",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(strip_debug::run_strip_debug),
    },
    SpirvPass {
        name: "strip-lines",
        help: "line stripping: delete lines, sources and debug information, but keep names",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(strip_debug::run_lines),
    },
    SpirvPass {
        name: "strip-reflection",
        help: "reflection stripping: delete instructions that only reflection tools read",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::Plain(strip_reflection::run_strip_reflection),
    },
    SpirvPass {
        name: "trim-capabilities",
        help: "capability trimming: delete unused capabilities and extensions",
        needs: NONE,
        keeps: FLOW_CALLS_DEFINITIONS,
        run: PassFunction::Plain(trim_capabilities::run_trim_capabilities),
    },
    SpirvPass {
        name: "unroll",
        help: "full unrolling: unroll loops that request it",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::Plain(unroll::run_unroll),
    },
    SpirvPass {
        name: "unroll-by",
        help: "partial unrolling: unroll loops by NUMBER where it divides the trip count",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::With(FACTOR, unroll::run_by),
    },
    SpirvPass {
        name: "unroll-runtime",
        help: "runtime unrolling: unroll short loops with loads by NUMBER, with a loop for the remaining iterations",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::With(FACTOR, unroll_runtime::run_unroll_runtime),
    },
    SpirvPass {
        name: "unroll-small",
        help: "full unrolling: unroll loops with few and short iterations",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::Plain(unroll::run_small),
    },
    SpirvPass {
        name: "unswitch",
        help: "loop unswitching: move loop-invariant branches before the loop",
        needs: FLOW,
        keeps: FLOW_VALUES,
        run: PassFunction::Plain(unswitch::run_unswitch),
    },
    SpirvPass {
        name: "workgroup-size",
        help: "workgroup size: set the size of workgroups where the module leaves it open",
        needs: NONE,
        keeps: FLOW_CALLS,
        run: PassFunction::With(
            PassArgument {
                form: "X:Y:Z",
                example: "64:1:1",
                is_valid: workgroup_size::is_size,
            },
            workgroup_size::run_workgroup_size,
        ),
    },
    SpirvPass {
        name: "workgroup-to-local",
        help: "variable localisation: turn workgroup arrays into function variables where each invocation uses only its own element",
        needs: CALLS,
        keeps: ALL,
        run: PassFunction::Plain(workgroup_to_local::run_workgroup_to_local),
    },
];

impl SpirvPass {
    /// The pass of a name.
    pub fn by_name(name: &str) -> Option<&'static SpirvPass> {
        PASSES.iter().find(|p| p.name == name)
    }
}
