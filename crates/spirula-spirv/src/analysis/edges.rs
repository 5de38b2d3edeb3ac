//! Edges between numbered nodes: what control-flow graphs and graphs like them are made of.

/// Lists of nodes by node, one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    /// Begin of each node's list; it ends where that of the next begins.
    first: Vec<u32>,
    list: Vec<u32>,
}

impl Edges {
    /// Edges to the nodes that have a node as their parent, by increasing number.
    pub fn to_children(nodes: usize, parent: impl Fn(u32) -> Option<u32>) -> Self {
        Edges::collect(nodes, |node, list| list.extend(parent(node))).reversed()
    }

    /// The edges that `each` puts into the list for each node.
    ///
    /// # Errors
    /// The first one of `each`.
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
        Ok(Edges { first, list })
    }

    /// The same where nothing can go wrong.
    pub fn collect(nodes: usize, mut each: impl FnMut(u32, &mut Vec<u32>)) -> Self {
        let all = Edges::try_collect(nodes, |node, list| {
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

    /// Where the edges of a node go.
    pub fn of(&self, node: u32) -> &[u32] {
        &self.list[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// The edges the other way round.
    pub fn reversed(&self) -> Edges {
        let nodes = self.len();
        let mut first = vec![0u32; nodes + 1];
        for target in &self.list {
            first[*target as usize + 1] += 1;
        }
        for at in 0..nodes {
            first[at + 1] += first[at];
        }
        let mut fill = first.clone();
        let mut list = vec![0; self.list.len()];
        for node in 0..nodes as u32 {
            for target in self.of(node) {
                let slot = &mut fill[*target as usize];
                list[*slot as usize] = node;
                *slot += 1;
            }
        }
        Edges { first, list }
    }

    /// The nodes that a root reaches, each before those that it leads to but for back edges; none where there
    /// is no such node.
    pub fn reverse_postorder(&self, root: u32) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.len());
        let mut seen = vec![false; self.len()];
        let Some(begun) = seen.get_mut(root as usize) else {
            return order;
        };
        *begun = true;
        let mut stack = vec![(root, 0usize)];
        while let Some((node, next)) = stack.last_mut() {
            match self.of(*node).get(*next).copied() {
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
}
