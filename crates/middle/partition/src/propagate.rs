//! Propagation of layouts through a program to a fix point.
//!
//! Each edge of the graph is a rule over tensors. The layouts of its tensors are projected to the factors of the rule, the
//! longest list of atoms of each factor is found, and the dimensions that are open are extended by it. Layouts only grow, and
//! a tensor has each atom once, so that an edge is visited at most once for each of its tensors and atoms. Edges of operations
//! that move or map elements come first, as in Shardy, and those of broadcasts last.

use crate::graph::{GraphValue, ProgramGraph, PropagationEdge};
use crate::layout::ShardLayout;
use crate::mesh::{AtomicMesh, MeshAtom};
use crate::rule::{PropagationStage, ShardingRule};
use spirula_entity::UnionFind;
use std::collections::VecDeque;

/// The layout of a value while it may grow.
#[derive(Clone, Debug)]
struct OpenLayout {
    layout: ShardLayout,
    open: Vec<bool>,
    /// The set of the atoms that never split it.
    manual: u64,
}

/// The layouts of all values.
#[derive(Debug)]
pub struct ValueLayouts {
    /// The class of each value: those of one class have one layout.
    classes: Vec<usize>,
    layouts: Vec<OpenLayout>,
}

impl ValueLayouts {
    /// The layout of a value.
    pub fn layout(&self, value: GraphValue) -> &ShardLayout {
        &self.layouts[self.classes[value.index()]].layout
    }
}

/// The atoms of each factor that a tensor has, by the factors of a rule; none for factors that it lacks.
pub(crate) fn project_layout(
    rule: &ShardingRule,
    tensor: usize,
    layout: &ShardLayout,
    mesh: &AtomicMesh,
) -> Vec<Option<Vec<MeshAtom>>> {
    let mut projected = vec![None; rule.factors.len()];
    for (factors, atoms) in rule.tensors[tensor].iter().zip(&layout.dims) {
        let mut rest = atoms.iter().copied().peekable();
        for factor in factors {
            let mut left = rule.factors[*factor].size;
            let mut own = Vec::new();
            while let Some(atom) = rest.next_if(|atom| {
                let size = mesh.size(*atom);
                left > 1 && left.is_multiple_of(size)
            }) {
                left /= mesh.size(atom);
                own.push(atom);
            }
            projected[*factor] = Some(own);
            if left > 1 {
                // An inner factor is split only where the outer one is split to the end.
                rest = [].iter().copied().peekable();
            }
        }
    }
    for factors in &rule.tensors[tensor] {
        for factor in factors {
            projected[*factor].get_or_insert_with(Vec::new);
        }
    }
    projected
}

/// The atoms of a dimension that has some factors, by the atoms of all factors of a rule.
pub(crate) fn join_factors(
    rule: &ShardingRule,
    factors: &[usize],
    atoms: &[Vec<MeshAtom>],
    mesh: &AtomicMesh,
) -> Vec<MeshAtom> {
    let mut joined = Vec::new();
    for factor in factors {
        joined.extend_from_slice(&atoms[*factor]);
        if mesh.count(&atoms[*factor]) != rule.factors[*factor].size {
            break;
        }
    }
    joined
}

/// The longest list of atoms that begins like the lists of a factor. Where they disagree, the first decides.
fn merge_lists<'l>(lists: impl Iterator<Item = &'l Vec<MeshAtom>>) -> Vec<MeshAtom> {
    let mut merged: Vec<MeshAtom> = Vec::new();
    for list in lists {
        if list.len() > merged.len() && list.starts_with(&merged) {
            merged.clone_from(list);
        }
    }
    merged
}

/// A propagation in progress.
struct LayoutPropagation<'g> {
    graph: &'g ProgramGraph,
    mesh: &'g AtomicMesh,
    values: ValueLayouts,
    /// The edges of each class.
    users: Vec<Vec<u32>>,
}

/// Finds the layouts of all values of a graph.
pub fn propagate_layouts(graph: &ProgramGraph, mesh: &AtomicMesh) -> ValueLayouts {
    let mut sets = UnionFind::new(graph.values.len());
    for (a, b) in &graph.ties {
        sets.join_sets(a.index() as u32, b.index() as u32);
    }
    let values = 0..graph.values.len() as u32;
    let classes: Vec<usize> = values.map(|at| sets.find_root(at) as usize).collect();
    let layouts = graph.values.iter().map(|data| OpenLayout {
        layout: ShardLayout::new_replicated(data.shape.len()),
        open: vec![data.is_divisible; data.shape.len()],
        manual: data.manual,
    });
    let mut values = ValueLayouts {
        classes,
        layouts: layouts.collect(),
    };
    for pin in &graph.pins {
        let class = values.classes[pin.value.index()];
        let own = &mut values.layouts[class];
        own.layout.dims.clone_from(&pin.dims);
        own.open.clone_from(&pin.open);
    }
    let mut users = vec![Vec::new(); graph.values.len()];
    for (at, edge) in graph.edges.iter().enumerate() {
        for tensor in &edge.tensors {
            users[values.classes[tensor.index()]].push(at as u32);
        }
    }
    let mut propagation = LayoutPropagation {
        graph,
        mesh,
        values,
        users,
    };
    for stage in [
        PropagationStage::Mapping,
        PropagationStage::Work,
        PropagationStage::Expansion,
    ] {
        propagation.run_edges(|rule| rule.stage <= stage);
    }
    propagation.values
}

impl LayoutPropagation<'_> {
    /// Visits the edges whose rules are of a kind until nothing changes.
    fn run_edges(&mut self, is_wanted: impl Fn(&ShardingRule) -> bool) {
        let graph = self.graph;
        let wanted = |edge: &PropagationEdge| is_wanted(graph.rule(edge.rule));
        let mut is_queued: Vec<bool> = graph.edges.iter().map(wanted).collect();
        let allowed = is_queued.clone();
        let queued = (0..graph.edges.len() as u32).filter(|at| allowed[*at as usize]);
        let mut queue: VecDeque<u32> = queued.collect();
        while let Some(at) = queue.pop_front() {
            is_queued[at as usize] = false;
            for class in self.visit_edge(&graph.edges[at as usize]) {
                for user in &self.users[class] {
                    let at = *user as usize;
                    if allowed[at] && !is_queued[at] {
                        is_queued[at] = true;
                        queue.push_back(*user);
                    }
                }
            }
        }
    }

    /// Extends the layouts of the tensors of an edge. Returns the classes that changed.
    fn visit_edge(&mut self, edge: &PropagationEdge) -> Vec<usize> {
        let (graph, mesh) = (self.graph, self.mesh);
        let rule = graph.rule(edge.rule);
        let tensors = edge.tensors.iter().enumerate();
        let projected: Vec<Vec<Option<Vec<MeshAtom>>>> = tensors
            .map(|(at, value)| project_layout(rule, at, self.values.layout(*value), mesh))
            .collect();
        let merged: Vec<Vec<MeshAtom>> = (0..rule.factors.len())
            .map(|factor| merge_lists(projected.iter().filter_map(|own| own[factor].as_ref())))
            .collect();
        if merged.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for (at, (value, own)) in edge.tensors.iter().zip(projected).enumerate() {
            let class = self.values.classes[value.index()];
            let dims = self.extend_layout(rule, at, class, own, &merged);
            let layout = &mut self.values.layouts[class].layout;
            if layout.dims != dims {
                layout.dims = dims;
                changed.push(class);
            }
        }
        changed
    }

    /// The dimensions of a tensor of an edge, extended by the atoms of factors.
    fn extend_layout(
        &self,
        rule: &ShardingRule,
        tensor: usize,
        class: usize,
        own: Vec<Option<Vec<MeshAtom>>>,
        merged: &[Vec<MeshAtom>],
    ) -> Vec<Vec<MeshAtom>> {
        let current = &self.values.layouts[class];
        let mut dims = current.layout.dims.clone();
        let mut used = current.layout.used_atoms() | current.manual;
        let mut lists: Vec<Vec<MeshAtom>> =
            own.into_iter().map(Option::unwrap_or_default).collect();
        for (dimension, factors) in rule.tensors[tensor].iter().enumerate() {
            let before = join_factors(rule, factors, &lists, self.mesh);
            // Atoms that are no factor's stay innermost.
            if !current.open[dimension] || before != dims[dimension] {
                continue;
            }
            for factor in factors {
                let list = &mut lists[*factor];
                if !merged[*factor].starts_with(list) {
                    break;
                }
                for atom in &merged[*factor][list.len()..] {
                    if used & atom.bit() != 0 {
                        break;
                    }
                    used |= atom.bit();
                    list.push(*atom);
                }
                if self.mesh.count(list) != rule.factors[*factor].size {
                    break;
                }
            }
            dims[dimension] = join_factors(rule, factors, &lists, self.mesh);
        }
        dims
    }
}
