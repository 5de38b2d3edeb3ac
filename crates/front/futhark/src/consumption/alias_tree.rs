//! Aliases of the parts of a value.

use super::ConsumptionChecker;
use super::alias_graph::{AliasId, AliasOrigin, ConsumptionId};
use super::ownership::{OwnershipForm, OwnershipId};
use crate::syntax::tree::SourceNameId;
use std::rc::Rc;

/// Parts of a value that have an alias set each. A value with more shares one set.
const MOST_PARTS: u32 = 256;

/// The aliases of a value.
#[derive(Clone, Debug)]
pub(super) enum AliasTree {
    /// All parts of a value have the same aliases.
    Uniform(Option<AliasId>, OwnershipId),
    /// The fields of a record.
    Record(Rc<[(SourceNameId, AliasTree)]>),
    /// The payloads of the constructors of a sum.
    Sum(Rc<[(SourceNameId, Vec<AliasTree>)]>),
}

impl AliasTree {
    /// Calls a function with each alias set.
    pub(super) fn for_each(&self, action: &mut impl FnMut(AliasId)) {
        match self {
            AliasTree::Uniform(set, _) => set.iter().for_each(|&set| action(set)),
            AliasTree::Record(fields) => {
                for (_, field) in fields.iter() {
                    field.for_each(action);
                }
            }
            AliasTree::Sum(clauses) => {
                for part in clauses.iter().flat_map(|(_, payload)| payload) {
                    part.for_each(action);
                }
            }
        }
    }

    /// All alias sets.
    pub(super) fn sets(&self) -> Vec<AliasId> {
        let mut sets = Vec::new();
        self.for_each(&mut |set| sets.push(set));
        sets
    }

    /// The tree with each alias set replaced.
    fn map(&self, action: &mut impl FnMut(Option<AliasId>, OwnershipId) -> AliasTree) -> AliasTree {
        match self {
            AliasTree::Uniform(set, ownership) => action(*set, *ownership),
            AliasTree::Record(fields) => {
                let fields = fields.iter();
                AliasTree::Record(
                    fields
                        .map(|(name, field)| (*name, field.map(action)))
                        .collect(),
                )
            }
            AliasTree::Sum(clauses) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    (*name, payload.iter().map(|part| part.map(action)).collect())
                });
                AliasTree::Sum(clauses.collect())
            }
        }
    }
}

impl ConsumptionChecker<'_> {
    /// The aliases of a value whose parts all have the same.
    pub(super) fn make_uniform(&self, set: Option<AliasId>, ownership: OwnershipId) -> AliasTree {
        let set = set.filter(|_| self.ownerships.summary(ownership).parts > 0);
        AliasTree::Uniform(set, ownership)
    }

    /// The aliases of a result: its unique parts have none.
    pub(super) fn make_result(&self, set: Option<AliasId>, ownership: OwnershipId) -> AliasTree {
        let summary = self.ownerships.summary(ownership);
        if !summary.has_shared {
            return AliasTree::Uniform(None, ownership);
        }
        if !summary.has_unique {
            return self.make_uniform(set, ownership);
        }
        match self.ownerships.form(ownership) {
            OwnershipForm::Record(fields) => {
                let fields = fields.iter();
                AliasTree::Record(
                    fields
                        .map(|(name, field)| (*name, self.make_result(set, *field)))
                        .collect(),
                )
            }
            OwnershipForm::Sum(clauses) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    let payload = payload.iter().map(|&part| self.make_result(set, part));
                    (*name, payload.collect())
                });
                AliasTree::Sum(clauses.collect())
            }
            _ => self.make_uniform(set, ownership),
        }
    }

    /// The aliases of all parts together.
    pub(super) fn unite_parts(&mut self, tree: &AliasTree) -> Option<AliasId> {
        let sets = tree.sets();
        self.graph.unite(sets)
    }

    /// The consumption of a part of a value.
    pub(super) fn find_consumption(&self, tree: &AliasTree) -> Option<(AliasId, ConsumptionId)> {
        let mut found = None;
        tree.for_each(&mut |set| {
            if found.is_none()
                && let Some(event) = self.graph.consumption(set)
            {
                found = Some((set, event));
            }
        });
        found
    }

    /// The aliases of a field.
    pub(super) fn project_field(&mut self, tree: &AliasTree, name: SourceNameId) -> AliasTree {
        match tree {
            AliasTree::Record(fields) => {
                let field = fields.iter().find(|(other, _)| *other == name);
                if let Some((_, field)) = field {
                    return field.clone();
                }
            }
            AliasTree::Uniform(set, ownership) => {
                if let OwnershipForm::Record(fields) = self.ownerships.form(*ownership)
                    && let Some((_, field)) = fields.iter().find(|(other, _)| *other == name)
                {
                    return self.make_uniform(*set, *field);
                }
            }
            AliasTree::Sum(_) => {}
        }
        self.make_unknown(tree)
    }

    /// The aliases of a payload of a constructor.
    pub(super) fn project_payload(
        &mut self,
        tree: &AliasTree,
        name: SourceNameId,
        index: usize,
    ) -> AliasTree {
        match tree {
            AliasTree::Sum(clauses) => {
                let clause = clauses.iter().find(|(other, _)| *other == name);
                if let Some(part) = clause.and_then(|(_, payload)| payload.get(index)) {
                    return part.clone();
                }
            }
            AliasTree::Uniform(set, ownership) => {
                if let OwnershipForm::Sum(clauses) = self.ownerships.form(*ownership)
                    && let Some((_, payload)) = clauses.iter().find(|(other, _)| *other == name)
                    && let Some(part) = payload.get(index)
                {
                    return self.make_uniform(*set, *part);
                }
            }
            AliasTree::Record(_) => {}
        }
        self.make_unknown(tree)
    }

    /// The aliases of a part that is not known, of a value.
    fn make_unknown(&mut self, tree: &AliasTree) -> AliasTree {
        let set = self.unite_parts(tree);
        let shared = self.ownerships.intern(OwnershipForm::Memory(false));
        AliasTree::Uniform(set, shared)
    }

    /// The aliases of a value that is one of two.
    pub(super) fn merge_trees(&mut self, left: &AliasTree, right: &AliasTree) -> AliasTree {
        match (left, right) {
            (AliasTree::Uniform(set, ownership), AliasTree::Uniform(other, _)) => {
                let set = self.graph.unite([*set, *other].into_iter().flatten());
                AliasTree::Uniform(set, *ownership)
            }
            (AliasTree::Record(fields), other) => {
                let fields = fields.iter().map(|(name, field)| {
                    let other = self.project_field(other, *name);
                    (*name, self.merge_trees(field, &other))
                });
                AliasTree::Record(fields.collect())
            }
            (AliasTree::Sum(clauses), other) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    let payload = payload.iter().enumerate().map(|(index, part)| {
                        let other = self.project_payload(other, *name, index);
                        self.merge_trees(part, &other)
                    });
                    (*name, payload.collect())
                });
                AliasTree::Sum(clauses.collect())
            }
            (AliasTree::Uniform(..), _) => self.merge_trees(right, left),
        }
    }

    /// The aliases without those that are consumed.
    pub(super) fn drop_consumed(&mut self, tree: &AliasTree) -> AliasTree {
        if self.find_consumption(tree).is_none() {
            return tree.clone();
        }
        tree.map(&mut |set, ownership| {
            let set = set.map(|set| self.graph.drop_consumed(set));
            AliasTree::Uniform(set, ownership)
        })
    }

    /// The aliases with a root for each part that has none.
    pub(super) fn add_roots(&mut self, tree: &AliasTree, origin: AliasOrigin) -> AliasTree {
        tree.map(&mut |set, ownership| match set {
            Some(_) => AliasTree::Uniform(set, ownership),
            None => self.make_roots(ownership, origin, |_| true),
        })
    }

    /// A root for each part of a type. Functions have one only if the origin is a parameter.
    pub(super) fn make_roots(
        &mut self,
        ownership: OwnershipId,
        origin: AliasOrigin,
        is_consumable: fn(bool) -> bool,
    ) -> AliasTree {
        let summary = self.ownerships.summary(ownership);
        if summary.parts == 0 {
            return AliasTree::Uniform(None, ownership);
        }
        match self.ownerships.form(ownership).clone() {
            OwnershipForm::Record(fields) if summary.parts <= MOST_PARTS => {
                let fields = fields
                    .into_iter()
                    .map(|(name, field)| (name, self.make_roots(field, origin, is_consumable)));
                AliasTree::Record(fields.collect())
            }
            OwnershipForm::Sum(clauses) if summary.parts <= MOST_PARTS => {
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload = payload
                        .into_iter()
                        .map(|part| self.make_roots(part, origin, is_consumable));
                    (name, payload.collect())
                });
                AliasTree::Sum(clauses.collect())
            }
            OwnershipForm::Function(..) if is_consumable(false) => {
                AliasTree::Uniform(None, ownership)
            }
            _ => {
                let root = self
                    .graph
                    .add_root(origin, is_consumable(summary.has_unique));
                AliasTree::Uniform(Some(root), ownership)
            }
        }
    }

    /// The type with uniqueness of a value, for the functions in it.
    pub(super) fn ownership_of(&mut self, tree: &AliasTree) -> OwnershipId {
        let form = match tree {
            AliasTree::Uniform(_, ownership) => return *ownership,
            AliasTree::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| (*name, self.ownership_of(field)));
                OwnershipForm::Record(fields.collect())
            }
            AliasTree::Sum(clauses) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    let payload = payload.iter().map(|part| self.ownership_of(part));
                    (*name, payload.collect())
                });
                OwnershipForm::Sum(clauses.collect())
            }
        };
        self.ownerships.intern(form)
    }
}
