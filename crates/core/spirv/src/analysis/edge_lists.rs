//! Edge lists between numbered nodes, for control-flow graphs and similar graphs.

/// Adjacency lists of nodes, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeLists {
    /// Begin of each node's list, which is the end of the previous one.
    first: Vec<u32>,
    list: Vec<u32>,
}

impl EdgeLists {
    /// Edges from each node to its children, by increasing number.
    pub fn to_children(nodes: usize, parent: impl Fn(u32) -> Option<u32>) -> Self {
        EdgeLists::collect(nodes, |node, list| list.extend(parent(node))).to_reversed()
    }

    /// The edges that `each` adds to the list of each node.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn try_collect<E>(
        nodes: usize,
        mut each: impl FnMut(u32, &mut Vec<u32>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut first = Vec::with_capacity(nodes + 1);
        let mut list = Vec::with_capacity(nodes);
        for node in 0..nodes as u32 {
            first.push(list.len() as u32);
            each(node, &mut list)?;
        }
        first.push(list.len() as u32);
        list.shrink_to_fit();
        Ok(EdgeLists { first, list })
    }

    /// As [`EdgeLists::try_collect`], without errors.
    pub fn collect(nodes: usize, mut each: impl FnMut(u32, &mut Vec<u32>)) -> Self {
        let all = EdgeLists::try_collect(nodes, |node, list| {
            each(node, list);
            Ok::<(), std::convert::Infallible>(())
        });
        match all {
            Ok(edges) => edges,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// The targets of the edges of a node.
    pub fn targets(&self, node: u32) -> &[u32] {
        &self.list[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// The reversed edges.
    pub fn to_reversed(&self) -> EdgeLists {
        let nodes = 0..self.len() as u32;
        EdgeLists::from_pairs(self.len(), || {
            let nodes = nodes.clone();
            nodes.flat_map(|node| self.targets(node).iter().map(move |target| (*target, node)))
        })
    }

    /// Edges from the first to the second node of each pair. Those of a node are in the order of the pairs,
    /// which are iterated twice.
    pub fn from_pairs<I: Iterator<Item = (u32, u32)>>(
        nodes: usize,
        pairs: impl Fn() -> I,
    ) -> EdgeLists {
        // Counts are one row further, so that filling moves each begin to its place.
        let mut first = vec![0u32; nodes + 2];
        pairs().for_each(|(from, _)| first[from as usize + 2] += 1);
        for at in 2..first.len() {
            first[at] += first[at - 1];
        }
        let mut list = vec![0; first[nodes + 1] as usize];
        pairs().for_each(|(from, to)| {
            let slot = &mut first[from as usize + 1];
            list[*slot as usize] = to;
            *slot += 1;
        });
        first.truncate(nodes + 1);
        EdgeLists { first, list }
    }

    /// The nodes that are reachable from a root, each before its successors except for back edges. Empty if
    /// there is no such node.
    pub fn reverse_postorder(&self, root: u32) -> Vec<u32> {
        reverse_postorder(self.len(), root, |node, at| {
            self.targets(node).get(at).copied()
        })
    }
}

/// The nodes of a graph that are reachable from a root, each before its successors except for back edges. Empty
/// if there is no such node. `edge` gives the targets of a node's edges by their index.
pub fn reverse_postorder(
    nodes: usize,
    root: u32,
    edge: impl Fn(u32, usize) -> Option<u32>,
) -> Vec<u32> {
    let mut order = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    let Some(begun) = seen.get_mut(root as usize) else {
        return order;
    };
    *begun = true;
    let mut stack = vec![(root, 0u32)];
    while let Some((node, next)) = stack.last_mut() {
        match edge(*node, *next as usize) {
            Some(target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target as usize], true) {
                    stack.push((target, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
