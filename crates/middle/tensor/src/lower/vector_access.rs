//! Vector accesses of contiguous elements.
//!
//! Adjacent points often read and write contiguous elements. Runs that begin at a multiple of 16 bytes are accessed as one
//! vector.

use super::element_write::ElementWrite;
use super::node_emitter::{NodeEmitter, TensorStorage};
use crate::ir::{AffineSum, NodeData, ScalarNode, TensorValue};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirula_kernel::ir::{MemoryElement, StmtKind, VarId, VariableType};

/// Number of bytes of a vector.
const BYTES: u64 = 16;

/// The key of elements whose places differ by a constant.
type ElementGroupKey = (TensorValue, SmallVec<[(ScalarNode, i64); 4]>);

/// The constant part of an element's place, the element, and its place.
type PlacedElement = (i64, ScalarNode, ScalarNode);

/// Numbers of elements of vectors, the most first.
fn vector_counts(size: u64) -> impl Iterator<Item = usize> {
    let most = (BYTES / size.max(1)) as usize;
    std::iter::successors(Some(most), |count| Some(count / 2)).take_while(|count| *count > 1)
}

/// A run of elements that can be a vector.
struct VectorRun {
    memory: VarId,
    /// The index of the first.
    index: ScalarNode,
    nodes: Vec<ScalarNode>,
}

impl NodeEmitter<'_> {
    /// Reads elements that some roots need whatever the conditions as vectors, where they are contiguous. The others are
    /// left to [`NodeEmitter::emit_nodes`].
    pub fn vectorise_reads(&mut self, roots: &[ScalarNode]) {
        for run in self.find_vector_runs(roots) {
            let VectorRun {
                memory,
                index,
                nodes,
            } = run;
            let ty = self.body.ty(nodes[0]);
            let vars: Vec<VarId> = nodes
                .iter()
                .map(|_| self.b.declare_var("x", VariableType::Scalar(ty), false))
                .collect();
            let from = MemoryElement {
                memory,
                ty,
                index: self.emit_nodes(&[index])[0],
                volatile: false,
            };
            let to = vars.clone().into();
            self.b.push_statement(StmtKind::ReadVector { to, from });
            for (node, var) in nodes.into_iter().zip(vars) {
                let value = self.b.read_var(var);
                self.set_value(node, value);
            }
        }
    }

    /// Runs of elements that can be vectors.
    fn find_vector_runs(&mut self, roots: &[ScalarNode]) -> Vec<VectorRun> {
        let mut families: FxHashMap<ElementGroupKey, usize> = FxHashMap::default();
        let mut members: Vec<Vec<PlacedElement>> = Vec::new();
        for (node, value, index) in self.find_unread_elements(roots) {
            let sum = AffineSum::from_node(&self.body, index);
            let next = members.len();
            let family = *families.entry((value, sum.terms)).or_insert(next);
            if family == next {
                members.push(Vec::new());
            }
            members[family].push((sum.constant, node, index));
        }
        let mut runs = Vec::new();
        for mut elements in members {
            elements.sort_unstable_by_key(|(constant, ..)| *constant);
            let (_, first, index) = elements[0];
            let NodeData::Element(value, _) = self.body.node(first) else {
                continue;
            };
            let Some(TensorStorage::Memory(memory)) = self.sources.get(value).copied() else {
                continue;
            };
            let terms = AffineSum::from_node(&self.body, index).terms;
            for count in vector_counts(self.body.ty(first).size()) {
                let divides = |number: i64| number % count as i64 == 0;
                if terms.iter().any(|(_, factor)| !divides(*factor)) {
                    continue;
                }
                let mut rest = Vec::new();
                let mut at = 0;
                while let Some(element) = elements.get(at) {
                    let run = elements.get(at..at + count);
                    let places = |run: &[PlacedElement]| {
                        run.iter()
                            .map(|e| e.0)
                            .eq(element.0..element.0 + count as i64)
                    };
                    match run.filter(|run| divides(element.0) && places(run)) {
                        Some(run) => {
                            runs.push(VectorRun {
                                memory,
                                index: element.2,
                                nodes: run.iter().map(|(_, node, _)| *node).collect(),
                            });
                            at += count;
                        }
                        None => {
                            rest.push(*element);
                            at += 1;
                        }
                    }
                }
                elements = rest;
            }
        }
        runs
    }
}

/// Writes results at several points, as vectors where they are contiguous, in order or in reverse order. The conditions of
/// all hold, and their values are known already.
pub(super) fn write_vectors(e: &mut NodeEmitter<'_>, places: &[ElementWrite]) {
    let mut at = 0;
    while at < places.len() {
        let mut counts = vector_counts(e.body.ty(places[at].value).size());
        let run = counts.find_map(|count| {
            let next = places.get(at..at + count)?;
            order_adjacent_writes(e, next)
        });
        match run {
            Some(run) => {
                let count = run.len();
                let nodes: Vec<ScalarNode> = run.iter().map(|p| p.value).collect();
                let values = e.emit_nodes(&nodes).into();
                let to = MemoryElement {
                    memory: run[0].memory,
                    ty: e.body.ty(run[0].value),
                    index: e.emit_nodes(&[run[0].at])[0],
                    volatile: false,
                };
                e.b.push_statement(StmtKind::WriteVector { to, values });
                at += count;
            }
            None => {
                places[at].write_guarded(e);
                at += 1;
            }
        }
    }
}

/// Writes in the order in which they are contiguous, if they are.
fn order_adjacent_writes<'p>(
    e: &NodeEmitter<'_>,
    places: &'p [ElementWrite],
) -> Option<Vec<&'p ElementWrite>> {
    let forward: Vec<&ElementWrite> = places.iter().collect();
    if is_run(e, &forward) {
        return Some(forward);
    }
    let backward: Vec<&ElementWrite> = places.iter().rev().collect();
    is_run(e, &backward).then_some(backward)
}

/// Whether writes are contiguous and begin at a multiple of their number.
fn is_run(e: &NodeEmitter<'_>, places: &[&ElementWrite]) -> bool {
    let first = AffineSum::from_node(&e.body, places[0].at);
    let count = places.len() as i64;
    let is_even = first.constant % count == 0 && first.terms.iter().all(|(_, f)| f % count == 0);
    is_even
        && places.iter().zip(0..).all(|(place, offset)| {
            let mut expected = first.clone();
            expected.constant += offset;
            let is_plain = e.body.as_literal(place.inside).is_some_and(|l| l.bits != 0);
            place.memory == places[0].memory
                && place.combiner.is_none()
                && !place.contended
                && is_plain
                && AffineSum::from_node(&e.body, place.at) == expected
        })
}
