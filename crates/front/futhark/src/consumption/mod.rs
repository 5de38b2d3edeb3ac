//! Consumption: the third pass of the checker. A value that was consumed is not used again, directly or through an alias.
//!
//! The aliases of each expression are computed bottom-up ([`alias_tree`]). The parts of a value that may share memory have
//! sets in a graph ([`alias_graph`]), whose roots are parameters, constants and new values. Functions have types with
//! uniqueness ([`ownership`]), which say what a call consumes and what its result may share memory with.

mod alias_graph;
mod alias_tree;
mod call;
mod expression;
mod function;
mod loop_form;
mod message;
mod ownership;
mod pattern;

use crate::check::SourceFault;
use crate::check::fault_list::FaultList;
use crate::source::SourceFiles;
use crate::typed::{DefinitionId, LocalId, TypedProgram};
use alias_graph::{AliasGraph, AliasId, ConsumptionId};
use alias_tree::AliasTree;
use ownership::{OwnershipId, OwnershipTable};
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks that no value of a program is used after it was consumed. The program has no other faults.
pub(crate) fn check_consumption(program: &TypedProgram, files: &SourceFiles) -> Vec<SourceFault> {
    let mut checker = ConsumptionChecker {
        program,
        files,
        ownerships: OwnershipTable::default(),
        graph: AliasGraph::default(),
        definitions: Vec::with_capacity(program.definitions.len()),
        locals: vec![None; program.locals.len()],
        globals: FxHashMap::default(),
        frames: Vec::new(),
        faults: FaultList::default(),
        reported: FxHashSet::default(),
    };
    for id in program.definitions.ids() {
        checker.check_definition(id);
    }
    checker.check_ascriptions();
    checker.faults.into_faults()
}

/// The facts known of a variable.
#[derive(Clone, Debug)]
struct LocalAliases {
    tree: AliasTree,
    /// Number of functions and loops around its binding.
    depth: usize,
}

/// A function or loop whose body is checked. Its body consumes nothing that is bound outside.
#[derive(Debug, Default)]
struct AliasFrame {
    /// The first alias set that is made in it.
    first_alias: usize,
    /// The variables that are bound outside and used in it, in order.
    free: Vec<LocalId>,
    seen: FxHashSet<LocalId>,
}

/// State of the pass.
struct ConsumptionChecker<'a> {
    program: &'a TypedProgram,
    files: &'a SourceFiles,
    ownerships: OwnershipTable,
    /// The aliases of the definition at hand.
    graph: AliasGraph,
    /// The types of the definitions up to the one at hand.
    definitions: Vec<OwnershipId>,
    /// The variables that are bound, by their ids.
    locals: Vec<Option<LocalAliases>>,
    /// The constants that the definition at hand uses.
    globals: FxHashMap<DefinitionId, AliasTree>,
    /// The functions and loops around the expression at hand.
    frames: Vec<AliasFrame>,
    faults: FaultList,
    /// The consumptions of which a later use was reported.
    reported: FxHashSet<ConsumptionId>,
}

impl ConsumptionChecker<'_> {
    /// Begins the body of a function or loop.
    fn push_frame(&mut self) {
        self.frames.push(AliasFrame {
            first_alias: self.graph.len(),
            ..AliasFrame::default()
        });
    }

    /// Ends the body of a function or loop. Returns the variables that it uses from outside.
    fn pop_frame(&mut self) -> Vec<LocalId> {
        let free = self.frames.pop().map_or_else(Vec::new, |frame| frame.free);
        for &local in &free {
            self.note_use(local);
        }
        free
    }

    /// Notes a use of a variable in the innermost body, if it is bound outside.
    fn note_use(&mut self, local: LocalId) {
        let depth = self.locals[local.index()]
            .as_ref()
            .map_or(usize::MAX, |aliases| aliases.depth);
        if depth < self.frames.len()
            && let Some(frame) = self.frames.last_mut()
            && frame.seen.insert(local)
        {
            frame.free.push(local);
        }
    }

    /// Binds a variable.
    fn bind_local(&mut self, local: LocalId, tree: AliasTree) {
        let depth = self.frames.len();
        self.locals[local.index()] = Some(LocalAliases { tree, depth });
    }

    /// Whether a root is bound outside of the innermost body.
    fn is_outside(&self, root: AliasId) -> bool {
        let first = self.frames.last().map_or(0, |frame| frame.first_alias);
        root.index() < first || self.is_global(root)
    }

    /// Whether a root is the memory of a constant.
    fn is_global(&self, root: AliasId) -> bool {
        matches!(self.graph.origin(root), alias_graph::AliasOrigin::Global(_))
    }
}
