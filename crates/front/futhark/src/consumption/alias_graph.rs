//! Alias sets: which values may share memory, and which of them were consumed.
//!
//! A root stands for memory that a variable or a call brings into the program. Each other node stands for a value that
//! may share memory with its sources, so a set of aliases is one node, however many variables came before it. Consuming
//! a node marks the roots below it and all nodes above these. A node is marked once on each path of control flow, so the
//! cost is linear in the number of edges, and asking whether a value was consumed takes constant time.

use crate::typed::{DefinitionId, LocalId, ProgramPlace};
use rustc_hash::FxHashSet;
use spirula_entity::EntityArena;

spirula_entity::define_ids! {
    /// A set of aliases.
    pub struct AliasId: "alias";
    /// A place that consumes a value.
    pub struct ConsumptionId: "consumption";
}

/// Where the memory of a root comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AliasOrigin {
    /// A variable that is bound to a new value, or a parameter.
    Local(LocalId),
    /// A constant of a file or module.
    Global(DefinitionId),
    /// The result of a call, whose parts may share memory.
    Call(ProgramPlace),
    /// Several values.
    Merged,
}

/// How a value was consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsumptionWay {
    /// As the argument of a function.
    Argument,
    /// By an update in place.
    Update,
    /// As the first value of a loop.
    LoopStart,
}

/// A place that consumes a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConsumptionEvent {
    /// Where it is.
    pub(super) place: ProgramPlace,
    /// How the value is consumed.
    pub(super) way: ConsumptionWay,
}

/// A value that may share memory with others.
#[derive(Debug)]
struct AliasNode {
    origin: AliasOrigin,
    /// The values that it shares memory with. Empty for a root.
    sources: Vec<AliasId>,
    /// The values that share memory with it.
    derived: Vec<AliasId>,
    /// Whether a root may be consumed at all.
    is_consumable: bool,
    /// The consumption of one of its roots.
    consumption: Option<ConsumptionId>,
}

/// The aliases of a definition.
#[derive(Debug, Default)]
pub(super) struct AliasGraph {
    nodes: EntityArena<AliasId, AliasNode>,
    events: EntityArena<ConsumptionId, ConsumptionEvent>,
    /// The nodes that are consumed, in order.
    trail: Vec<AliasId>,
}

impl AliasGraph {
    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        *self = AliasGraph::default();
    }

    /// Number of nodes. Later nodes have greater ids.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a root.
    pub(super) fn add_root(&mut self, origin: AliasOrigin, is_consumable: bool) -> AliasId {
        self.nodes.push(AliasNode {
            origin,
            sources: Vec::new(),
            derived: Vec::new(),
            is_consumable,
            consumption: None,
        })
    }

    /// The union of sets.
    pub(super) fn unite(&mut self, sets: impl IntoIterator<Item = AliasId>) -> Option<AliasId> {
        let mut sources: Vec<AliasId> = sets.into_iter().collect();
        sources.sort_unstable();
        sources.dedup();
        if sources.len() < 2 {
            return sources.pop();
        }
        let id = self.add_root(AliasOrigin::Merged, true);
        for &source in &sources {
            self.nodes[source].derived.push(id);
        }
        self.nodes[id].sources = sources;
        Some(id)
    }

    /// Ends the scope of a root: it shares memory with a set that does not depend on it, or is consumable if there is none.
    pub(super) fn release_root(&mut self, root: AliasId, set: Option<AliasId>) {
        self.nodes[root].is_consumable = true;
        if let Some(set) = set
            && set != root
            && self.nodes[root].sources.is_empty()
        {
            self.nodes[root].sources.push(set);
            self.nodes[set].derived.push(root);
        }
    }

    /// Where a root comes from.
    pub(super) fn origin(&self, root: AliasId) -> AliasOrigin {
        self.nodes[root].origin
    }

    /// Whether a root may be consumed in the scope that declares it.
    pub(super) fn is_consumable(&self, root: AliasId) -> bool {
        self.nodes[root].is_consumable
    }

    /// The consumption of a set or of a part of it.
    pub(super) fn consumption(&self, set: AliasId) -> Option<ConsumptionId> {
        self.nodes[set].consumption
    }

    /// Adds a place that consumes a value.
    pub(super) fn add_event(&mut self, event: ConsumptionEvent) -> ConsumptionId {
        self.events.push(event)
    }

    /// A place that consumes a value.
    pub(super) fn event(&self, id: ConsumptionId) -> ConsumptionEvent {
        self.events[id]
    }

    /// Number of places that consume a value.
    pub(super) fn count_events(&self) -> usize {
        self.events.len()
    }

    /// The roots of a set, without duplicates, in the order of their ids.
    pub(super) fn roots_of(&self, set: AliasId) -> Vec<AliasId> {
        if self.nodes[set].sources.is_empty() {
            return vec![set];
        }
        let mut seen = FxHashSet::default();
        let mut pending = vec![set];
        let mut roots = Vec::new();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = &self.nodes[id];
            if node.sources.is_empty() {
                roots.push(id);
            }
            pending.extend(&node.sources);
        }
        roots.sort_unstable();
        roots
    }

    /// Marks a root, and all that shares memory with it, as consumed.
    pub(super) fn consume_root(&mut self, root: AliasId, event: ConsumptionId) {
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            let node = &mut self.nodes[id];
            if node.consumption.is_some() {
                continue;
            }
            node.consumption = Some(event);
            self.trail.push(id);
            pending.extend(&node.derived);
        }
    }

    /// The state of control flow, to return to.
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// The roots that were consumed since a mark.
    pub(super) fn consumed_since(&self, mark: usize) -> Vec<(AliasId, ConsumptionId)> {
        let consumed = self.trail[mark..].iter().filter_map(|&id| {
            let node = &self.nodes[id];
            let event = node.consumption?;
            node.sources.is_empty().then_some((id, event))
        });
        consumed.collect()
    }

    /// Returns to a state of control flow.
    pub(super) fn undo_to(&mut self, mark: usize) -> Vec<(AliasId, ConsumptionId)> {
        let consumed = self.consumed_since(mark);
        for id in self.trail.drain(mark..) {
            self.nodes[id].consumption = None;
        }
        consumed
    }

    /// Joins the state of another path of control flow.
    pub(super) fn join(&mut self, consumed: &[(AliasId, ConsumptionId)]) {
        for &(root, event) in consumed {
            self.consume_root(root, event);
        }
    }

    /// The set without what is consumed. A new root if nothing else is left of it.
    pub(super) fn drop_consumed(&mut self, set: AliasId) -> AliasId {
        if self.nodes[set].consumption.is_none() {
            return set;
        }
        let roots = self.roots_of(set);
        let left: Vec<AliasId> = roots
            .into_iter()
            .filter(|&root| self.nodes[root].consumption.is_none())
            .collect();
        match self.unite(left) {
            Some(left) => left,
            None => self.add_root(AliasOrigin::Merged, true),
        }
    }
}
