//! Algorithms for dominators, on the functions of the corpus and on generated graphs.
//!
//! All algorithms get the same graph, successors and predecessors, and return the immediate dominator of each node.
//! The numbering of the tree, which the library adds, is not measured. Lengauer and Tarjan: "A Fast Algorithm for
//! Finding Dominators in a Flowgraph" (1979), with path compression alone. Semi-NCA: Georgiadis, "Linear-Time
//! Algorithms for Dominators and Related Problems" (2005). Iterative: Cooper, Harvey and Kennedy, "A Simple, Fast
//! Dominance Algorithm" (2001).

use crate::corpus::Corpus;
use cpu_time::ThreadTime;
use spirula_spirv::analysis::{DominanceTree, FlowGraph, IdDefinitions};
use spirula_spirv::ir::SpirvModule;
use std::hint::black_box;
use std::time::Duration;

const NONE: u32 = u32::MAX;

/// Adjacency lists in one array.
struct Edges {
    first: Vec<u32>,
    ends: Vec<u32>,
}

impl Edges {
    fn of(nodes: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Edges {
        let mut first = vec![0; nodes + 1];
        for (from, _) in pairs.clone() {
            first[from as usize + 1] += 1;
        }
        for at in 0..nodes {
            first[at + 1] += first[at];
        }
        let mut fill = first.clone();
        let mut ends = vec![0; first[nodes] as usize];
        for (from, to) in pairs {
            ends[fill[from as usize] as usize] = to;
            fill[from as usize] += 1;
        }
        Edges { first, ends }
    }

    fn of_node(&self, node: u32) -> &[u32] {
        &self.ends[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

/// A graph whose entry is node 0.
struct Graph {
    nodes: usize,
    successors: Edges,
    predecessors: Edges,
}

impl Graph {
    fn new(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        Graph {
            nodes,
            successors: Edges::of(nodes, edges.iter().copied()),
            predecessors: Edges::of(nodes, edges.iter().map(|e| (e.1, e.0))),
        }
    }
}

/// A depth-first traversal: nodes in preorder, number of each node, number of its parent, postorder.
struct Walk {
    preorder: Vec<u32>,
    number: Vec<u32>,
    parent: Vec<u32>,
    postorder: Vec<u32>,
}

fn walk(graph: &Graph) -> Walk {
    let mut walk = Walk {
        preorder: vec![0],
        number: vec![NONE; graph.nodes],
        parent: vec![0],
        postorder: Vec::with_capacity(graph.nodes),
    };
    walk.number[0] = 0;
    let mut stack = vec![(0u32, 0usize)];
    while let Some((node, next)) = stack.last_mut() {
        match graph.successors.of_node(*node).get(*next).copied() {
            Some(to) => {
                *next += 1;
                if walk.number[to as usize] == NONE {
                    walk.number[to as usize] = walk.preorder.len() as u32;
                    walk.preorder.push(to);
                    walk.parent.push(walk.number[*node as usize]);
                    stack.push((to, 0));
                }
            }
            None => {
                walk.postorder.push(*node);
                stack.pop();
            }
        }
    }
    walk
}

fn iterative(graph: &Graph) -> Vec<u32> {
    let mut order = walk(graph).postorder;
    order.reverse();
    let mut number = vec![NONE; graph.nodes];
    for (at, node) in order.iter().enumerate() {
        number[*node as usize] = at as u32;
    }
    let mut parent = vec![NONE; graph.nodes];
    parent[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for &node in &order[1..] {
            let mut common = NONE;
            for &p in graph.predecessors.of_node(node) {
                if parent[p as usize] == NONE {
                    continue;
                }
                if common == NONE {
                    common = p;
                    continue;
                }
                let (mut a, mut b) = (common, p);
                while a != b {
                    if number[a as usize] > number[b as usize] {
                        a = parent[a as usize];
                    } else {
                        b = parent[b as usize];
                    }
                }
                common = a;
            }
            changed |= std::mem::replace(&mut parent[node as usize], common) != common;
        }
    }
    parent
}

/// The forest of semi-dominators, all in numbers of the preorder.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(walk: &Walk) -> Forest {
        let all: Vec<u32> = (0..walk.preorder.len() as u32).collect();
        Forest {
            ancestor: walk.parent.clone(),
            label: all.clone(),
            semi: all,
            path: Vec::new(),
        }
    }

    /// The node with the smallest semi-dominator above `node` among the linked nodes, which are those from `linked`
    /// on.
    fn eval(&mut self, node: u32, linked: u32) -> u32 {
        let mut at = node;
        while self.ancestor[at as usize] >= linked {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(below) = self.path.pop() {
            self.ancestor[below as usize] = self.ancestor[at as usize];
            let (up, own) = (self.label[at as usize], self.label[below as usize]);
            if self.semi[up as usize] < self.semi[own as usize] {
                self.label[below as usize] = up;
            }
            at = below;
        }
        self.label[node as usize]
    }

    fn semi_dominator(&mut self, graph: &Graph, walk: &Walk, node: u32) -> u32 {
        let mut least = walk.parent[node as usize];
        for before in graph.predecessors.of_node(walk.preorder[node as usize]) {
            let before = walk.number[*before as usize];
            if before != NONE {
                let best = self.eval(before, node + 1);
                least = least.min(self.semi[best as usize]);
            }
        }
        self.semi[node as usize] = least;
        least
    }
}

fn semi_nca(graph: &Graph) -> Vec<u32> {
    let walk = walk(graph);
    let mut forest = Forest::new(&walk);
    for node in (1..walk.preorder.len() as u32).rev() {
        forest.semi_dominator(graph, &walk, node);
    }
    let mut idom = walk.parent.clone();
    for node in 1..idom.len() {
        let mut above = idom[node];
        while above > forest.semi[node] {
            above = idom[above as usize];
        }
        idom[node] = above;
    }
    named(graph, &walk, &idom)
}

fn lengauer_tarjan(graph: &Graph) -> Vec<u32> {
    let walk = walk(graph);
    let count = walk.preorder.len();
    let mut forest = Forest::new(&walk);
    let mut idom = vec![0; count];
    // Nodes that wait for their semi-dominator, in lists.
    let mut first = vec![NONE; count];
    let mut next = vec![NONE; count];
    for node in (1..count as u32).rev() {
        let semi = forest.semi_dominator(graph, &walk, node);
        next[node as usize] = std::mem::replace(&mut first[semi as usize], node);
        let parent = walk.parent[node as usize];
        let mut waiting = std::mem::replace(&mut first[parent as usize], NONE);
        while waiting != NONE {
            let best = forest.eval(waiting, node);
            let is_less = forest.semi[best as usize] < forest.semi[waiting as usize];
            idom[waiting as usize] = if is_less { best } else { parent };
            waiting = next[waiting as usize];
        }
    }
    for node in 1..count {
        if idom[node] != forest.semi[node] {
            idom[node] = idom[idom[node] as usize];
        }
    }
    named(graph, &walk, &idom)
}

/// Converts numbers of the preorder to nodes.
fn named(graph: &Graph, walk: &Walk, idom: &[u32]) -> Vec<u32> {
    let mut parent = vec![NONE; graph.nodes];
    for (node, above) in walk.preorder.iter().zip(idom) {
        parent[*node as usize] = walk.preorder[*above as usize];
    }
    parent
}

/// The algorithm of the library, including its numbering.
fn library(graph: &Graph) -> Vec<u32> {
    let mut order = walk(graph).postorder;
    order.reverse();
    let tree = DominanceTree::from_predecessors(graph.nodes, &order, |node, visit| {
        graph
            .predecessors
            .of_node(node)
            .iter()
            .copied()
            .for_each(visit);
    });
    let parent = |node: u32| match tree.parent(node) {
        None if node == 0 => 0,
        None => NONE,
        Some(parent) => parent,
    };
    (0..graph.nodes as u32).map(parent).collect()
}

type Algorithm = (&'static str, fn(&Graph) -> Vec<u32>);

const ALGORITHMS: &[Algorithm] = &[
    ("iterative", iterative),
    ("semi-NCA", semi_nca),
    ("Lengauer-Tarjan", lengauer_tarjan),
    ("the library", library),
];

/// Sequences of diamonds.
fn diamonds(size: u32) -> Vec<(u32, u32)> {
    let one = |at| {
        [
            (at, at + 1),
            (at, at + 2),
            (at + 1, at + 3),
            (at + 2, at + 3),
        ]
    };
    (0..size / 3).flat_map(|n| one(3 * n)).collect()
}

/// Nested loops: each header leads to the next, each latch back.
fn nest(size: u32) -> Vec<(u32, u32)> {
    let depth = size / 2;
    let down = (0..2 * depth - 1).map(|at| (at, at + 1));
    let back = (0..depth).map(|at| (2 * depth - 1 - at, at));
    down.chain(back).collect()
}

/// A chain whose ends all lead to the same blocks: a long function with early exits.
fn exits(size: u32) -> Vec<(u32, u32)> {
    let half = size / 2;
    let chain = (0..half - 1).map(|at| (at, at + 1));
    let out = (half..2 * half).flat_map(|to| [(0, to), (half - 1, to)]);
    chain.chain(out).collect()
}

/// Random edges: no structure, and not reducible.
fn tangle(size: u32) -> Vec<(u32, u32)> {
    let mut state = 1u32;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % size
    };
    let chain: Vec<_> = (0..size - 1).map(|at| (at, at + 1)).collect();
    let more = (0..size).map(|_| (next(), next()));
    more.chain(chain).collect()
}

type Family = (&'static str, fn(u32) -> Vec<(u32, u32)>);

const FAMILIES: &[Family] = &[
    ("diamonds", diamonds),
    ("nested loops", nest),
    ("early exits", exits),
    ("tangle", tangle),
];

/// Times in microseconds.
pub fn print(corpus: &Corpus) {
    let names: Vec<_> = ALGORITHMS.iter().map(|a| a.0).collect();
    println!("| graphs | {} |", names.join(" | "));
    println!("| --- |{}", " --- |".repeat(names.len()));
    let mut functions = Vec::new();
    for sample in &corpus.samples {
        functions.extend(graphs(sample));
    }
    let blocks: usize = functions.iter().map(|g| g.nodes).sum();
    row(
        &format!("corpus: {} functions, {blocks} blocks", functions.len()),
        &functions,
    );
    for (name, family) in FAMILIES {
        for size in [100, 1_000, 10_000, 100_000] {
            let graph = Graph::new(size as usize + 3, &family(size));
            row(&format!("{name}, {size} blocks"), &[graph]);
        }
    }
}

fn row(name: &str, graphs: &[Graph]) {
    let expected: Vec<_> = graphs.iter().map(lengauer_tarjan).collect();
    print!("| {name} |");
    for (_, algorithm) in ALGORITHMS {
        let mut best = Duration::MAX;
        for _ in 0..3 {
            let start = ThreadTime::now();
            for graph in graphs {
                black_box(algorithm(graph));
            }
            best = best.min(start.elapsed());
            // A slow algorithm is already slow in the first run.
            if best > Duration::from_secs(1) {
                break;
            }
        }
        for (graph, expected) in graphs.iter().zip(&expected) {
            if best < Duration::from_secs(1) {
                assert_eq!(&algorithm(graph), expected, "{name}");
            }
        }
        print!(" {:.0} |", best.as_secs_f64() * 1e6);
    }
    println!();
}

fn graphs(sample: &crate::corpus::Sample) -> Vec<Graph> {
    let module = SpirvModule::from_words(sample.words.clone()).expect("the corpus is read");
    let definitions = IdDefinitions::from_module(&module);
    let graph = |func: &spirula_spirv::ir::Func| {
        let cfg = FlowGraph::from_function(&module, &definitions, *func).ok()?;
        let of = |at: u32| cfg.successors(at).iter().map(move |to| (at, *to));
        let edges: Vec<_> = (0..cfg.len() as u32).flat_map(of).collect();
        (!cfg.is_empty()).then(|| Graph::new(cfg.len(), &edges))
    };
    module.functions().iter().filter_map(graph).collect()
}
