//! Reducible graphs: the control-flow graph of a function with a single entry to every loop.
//!
//! Cycles are found as strongly connected components, from the outside in. A component that is entered at several blocks gets a
//! *dispatcher* before it: all edges to these blocks lead to the dispatcher, which branches to the block that the edge stored. The graph is
//! then reducible, for any input. Cost: one pass over the edges of each loop for each loop around it.

use spirula_spirv::analysis::{DominanceTree, FlowGraph};

/// No loop.
pub const NONE: u32 = u32::MAX;

/// The target of an edge, and the number that it stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlFlowEdge {
    /// The node.
    pub to: u32,
    /// The block that the terminator names, whose phis the edge feeds; [`NONE`] for edges of dispatchers.
    pub origin: u32,
    /// Number that is stored for the dispatcher `to`; [`NONE`] where `to` is no dispatcher.
    pub note: u32,
}

/// A loop with one entry.
#[derive(Clone, Debug)]
pub struct SingleEntryLoop {
    /// The node through which it is entered.
    pub header: u32,
    /// The enclosing loop; [`NONE`] for none.
    pub parent: u32,
    /// Targets outside of it that its edges have, each once.
    pub exits: Vec<u32>,
    /// Nodes outside of it that a node inside of it dominates immediately, in topological order.
    pub below: Vec<u32>,
}

/// A reducible graph. Nodes are the function's blocks by position, followed by dispatchers.
#[derive(Clone, Debug, Default)]
pub struct ReducibleGraph {
    /// Number of blocks.
    pub blocks: u32,
    /// Edges of each node, distinct.
    pub edges: Vec<Vec<ControlFlowEdge>>,
    /// The loops, outer ones before inner ones.
    pub loops: Vec<SingleEntryLoop>,
    /// Innermost loop of each node.
    pub innermost: Vec<u32>,
    /// Nodes that a node dominates immediately and that are in the same loops or in inner ones, in topological order.
    pub below: Vec<Vec<u32>>,
    /// Number of edges to each node, except for back edges.
    pub entries: Vec<u32>,
    /// Number of nodes that each node dominates, including itself.
    pub sizes: Vec<u32>,
}

impl ReducibleGraph {
    /// The graph of the reachable blocks.
    pub fn new(cfg: &FlowGraph) -> ReducibleGraph {
        let blocks = cfg.len() as u32;
        let mut graph = ReducibleGraph {
            blocks,
            edges: vec![Vec::new(); blocks as usize],
            innermost: vec![NONE; blocks as usize],
            ..ReducibleGraph::default()
        };
        for &at in cfg.reverse_postorder() {
            let edges = &mut graph.edges[at as usize];
            for &to in cfg.successors(at) {
                if edges.iter().all(|e: &ControlFlowEdge| e.to != to) {
                    let note = NONE;
                    edges.push(ControlFlowEdge {
                        to,
                        origin: to,
                        note,
                    });
                }
            }
        }
        graph.find_loops(cfg.reverse_postorder().to_vec());
        graph.find_dominators();
        graph
    }

    /// Whether a node is a dispatcher.
    pub fn is_dispatcher(&self, node: u32) -> bool {
        node >= self.blocks
    }

    /// Whether a loop has a node; all nodes are in the loop [`NONE`].
    pub fn contains(&self, outer: u32, node: u32) -> bool {
        let mut at = self.innermost[node as usize];
        while at != outer && at != NONE {
            at = self.loops[at as usize].parent;
        }
        at == outer
    }

    /// The loop whose header a node is.
    pub fn find_headed_loop(&self, node: u32) -> Option<u32> {
        let at = self.innermost[node as usize];
        (at != NONE && self.loops[at as usize].header == node).then_some(at)
    }

    fn find_loops(&mut self, all: Vec<u32>) {
        let mut search = StrongComponentSearch::default();
        // Sets of nodes still to be searched, with their loop; edges to its header are ignored.
        let mut work = vec![(all, NONE)];
        while let Some((nodes, around)) = work.pop() {
            let header = match around {
                NONE => NONE,
                at => self.loops[at as usize].header,
            };
            let components = search.find_components(&self.edges, &nodes, header);
            let headers = self.make_single_entries(&search, &components, &nodes, around);
            search.clear_nodes(&nodes);
            for (mut inside, header) in components.into_iter().zip(headers) {
                let at = self.loops.len() as u32;
                self.loops.push(SingleEntryLoop {
                    header,
                    parent: around,
                    exits: Vec::new(),
                    below: Vec::new(),
                });
                if self.is_dispatcher(header) {
                    inside.push(header);
                }
                for node in &inside {
                    self.innermost[*node as usize] = at;
                }
                work.push((inside, at));
            }
        }
    }

    /// The headers through which components are entered: their one entry, or a new dispatcher.
    /// Only the nodes around them have edges into them.
    fn make_single_entries(
        &mut self,
        search: &StrongComponentSearch,
        components: &[Vec<u32>],
        nodes: &[u32],
        around: u32,
    ) -> Vec<u32> {
        let mut entries = vec![Vec::new(); components.len()];
        for &from in nodes {
            for edge in &self.edges[from as usize] {
                let into = search.find_component_index(edge.to);
                if into != NONE && into != search.find_component_index(from) {
                    let known: &mut Vec<u32> = &mut entries[into as usize];
                    if !known.contains(&edge.to) {
                        known.push(edge.to);
                    }
                }
            }
        }
        let mut headers = Vec::with_capacity(components.len());
        for (entries, component) in entries.iter().zip(components) {
            headers.push(match entries[..] {
                [only] => only,
                // Only if a branch targets the entry block, which SPIR-V forbids.
                [] => component[0],
                _ => {
                    let on = |to: &u32| ControlFlowEdge {
                        to: *to,
                        origin: NONE,
                        note: NONE,
                    };
                    self.edges.push(entries.iter().map(on).collect());
                    self.innermost.push(around);
                    self.edges.len() as u32 - 1
                }
            });
        }
        for &from in nodes {
            for edge in &mut self.edges[from as usize] {
                let into = search.find_component_index(edge.to);
                if into == NONE || headers[into as usize] < self.blocks {
                    continue;
                }
                let known = &entries[into as usize];
                if let Some(note) = known.iter().position(|e| *e == edge.to) {
                    edge.to = headers[into as usize];
                    edge.note = note as u32;
                }
            }
        }
        headers
    }

    /// Whether an edge leads back to the header of a loop that it comes from.
    pub fn is_back(&self, from: u32, to: u32) -> bool {
        self.find_headed_loop(to)
            .is_some_and(|l| self.contains(l, from))
    }

    fn find_dominators(&mut self) {
        let count = self.edges.len();
        let order = self.sort_topologically();
        let mut before = vec![Vec::new(); count];
        self.entries = vec![0; count];
        for &from in &order {
            for edge in &self.edges[from as usize] {
                if !self.is_back(from, edge.to) {
                    before[edge.to as usize].push(from);
                    self.entries[edge.to as usize] += 1;
                }
            }
        }
        let tree = DominanceTree::from_predecessors(count, &order, |node, visit| {
            before[node as usize].iter().for_each(|p| visit(*p));
        });
        self.below = vec![Vec::new(); count];
        for &node in &order {
            let Some(parent) = tree.parent(node) else {
                continue;
            };
            let (mut at, mut left) = (self.innermost[parent as usize], NONE);
            while at != NONE && !self.contains(at, node) {
                left = at;
                at = self.loops[at as usize].parent;
            }
            match left {
                NONE => self.below[parent as usize].push(node),
                left => self.loops[left as usize].below.push(node),
            }
        }
        self.sizes = vec![1; count];
        for &node in order.iter().rev() {
            if let Some(parent) = tree.parent(node) {
                self.sizes[parent as usize] += self.sizes[node as usize];
            }
        }
        for &from in &order {
            for edge in &self.edges[from as usize] {
                let mut at = self.innermost[from as usize];
                while at != NONE && !self.contains(at, edge.to) {
                    let inner = &mut self.loops[at as usize];
                    if !inner.exits.contains(&edge.to) {
                        inner.exits.push(edge.to);
                    }
                    at = inner.parent;
                }
            }
        }
    }

    /// Reverse post-order without back edges.
    fn sort_topologically(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.edges.len());
        let mut seen = vec![false; self.edges.len()];
        let root = self.root();
        seen[root as usize] = true;
        let mut path = vec![(root, 0)];
        while let Some((node, edge)) = path.pop() {
            let Some(e) = self.edges[node as usize].get(edge) else {
                order.push(node);
                continue;
            };
            path.push((node, edge + 1));
            if !seen[e.to as usize] && !self.is_back(node, e.to) {
                seen[e.to as usize] = true;
                path.push((e.to, 0));
            }
        }
        order.reverse();
        order
    }

    /// The node at which the function begins.
    pub fn root(&self) -> u32 {
        0
    }
}

/// The search for strongly connected components (Tarjan, "Depth-first search and linear graph
/// algorithms", 1972) in parts of a graph.
#[derive(Default)]
struct StrongComponentSearch {
    /// Number of each node in the order in which it was met.
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    /// Whether a node is in the part that is searched.
    inside: Vec<bool>,
    /// Component of each node that is in a cycle.
    component: Vec<u32>,
    stack: Vec<u32>,
    next: u32,
}

impl StrongComponentSearch {
    fn find_component_index(&self, node: u32) -> u32 {
        self.component[node as usize]
    }

    /// Forgets a searched part.
    fn clear_nodes(&mut self, nodes: &[u32]) {
        for node in nodes {
            let n = *node as usize;
            (self.index[n], self.component[n], self.inside[n]) = (NONE, NONE, false);
        }
        self.next = 0;
    }

    /// The components with a cycle of the edges among `nodes` that do not lead to `header`.
    fn find_components(
        &mut self,
        edges: &[Vec<ControlFlowEdge>],
        nodes: &[u32],
        header: u32,
    ) -> Vec<Vec<u32>> {
        let count = edges.len();
        self.index.resize(count, NONE);
        self.low.resize(count, 0);
        self.on_stack.resize(count, false);
        self.inside.resize(count, false);
        self.component.resize(count, NONE);
        for node in nodes {
            self.inside[*node as usize] = true;
        }
        let mut found = Vec::new();
        for &root in nodes {
            if self.index[root as usize] == NONE {
                self.search_from_root(edges, root, header, &mut found);
            }
        }
        found
    }

    fn search_from_root(
        &mut self,
        edges: &[Vec<ControlFlowEdge>],
        root: u32,
        header: u32,
        found: &mut Vec<Vec<u32>>,
    ) {
        let mut path = vec![(root, 0_usize)];
        while let Some((node, edge)) = path.pop() {
            let n = node as usize;
            if edge == 0 && self.index[n] == NONE {
                (self.index[n], self.low[n]) = (self.next, self.next);
                self.next += 1;
                self.stack.push(node);
                self.on_stack[n] = true;
            }
            if let Some(e) = edges[n].get(edge) {
                path.push((node, edge + 1));
                let to = e.to as usize;
                if !self.inside[to] || e.to == header {
                    continue;
                }
                if self.index[to] == NONE {
                    path.push((e.to, 0));
                } else if self.on_stack[to] {
                    self.low[n] = self.low[n].min(self.index[to]);
                }
                continue;
            }
            if let Some((parent, _)) = path.last() {
                let p = *parent as usize;
                self.low[p] = self.low[p].min(self.low[n]);
            }
            if self.low[n] != self.index[n] {
                continue;
            }
            let from = self.stack.iter().rposition(|s| *s == node).unwrap_or(0);
            let members = self.stack.split_off(from);
            for member in &members {
                self.on_stack[*member as usize] = false;
            }
            let is_loop = node != header && edges[n].iter().any(|e| e.to == node);
            if members.len() > 1 || is_loop {
                for member in &members {
                    self.component[*member as usize] = found.len() as u32;
                }
                found.push(members);
            }
        }
    }
}
