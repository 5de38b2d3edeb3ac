//! Edges of a graph over a function's blocks that is not its control-flow graph.

/// Lists of blocks by block.
pub(super) struct Edges {
    first: Vec<u32>,
    list: Vec<u32>,
}

impl Edges {
    pub fn of(&self, block: u32) -> &[u32] {
        &self.list[self.first[block as usize] as usize..self.first[block as usize + 1] as usize]
    }

    pub fn collect(blocks: usize, mut each: impl FnMut(u32, &mut Vec<u32>)) -> Self {
        let mut edges = Edges {
            first: vec![0],
            list: Vec::new(),
        };
        for block in 0..blocks as u32 {
            each(block, &mut edges.list);
            edges.first.push(edges.list.len() as u32);
        }
        edges
    }

    pub fn reversed(&self) -> Edges {
        let blocks = self.first.len() - 1;
        let mut first = vec![0u32; blocks + 1];
        for target in &self.list {
            first[*target as usize + 1] += 1;
        }
        for at in 0..blocks {
            first[at + 1] += first[at];
        }
        let mut fill = first.clone();
        let mut list = vec![0; self.list.len()];
        for block in 0..blocks as u32 {
            for target in self.of(block) {
                let slot = &mut fill[*target as usize];
                list[*slot as usize] = block;
                *slot += 1;
            }
        }
        Edges { first, list }
    }

    /// Blocks that can be reached from a root, in reverse post-order.
    pub fn reverse_postorder(&self, root: u32) -> Vec<u32> {
        let mut seen = vec![false; self.first.len() - 1];
        let mut order = Vec::new();
        let mut stack = vec![(root, 0usize)];
        seen[root as usize] = true;
        while let Some((block, next)) = stack.last_mut() {
            match self.of(*block).get(*next).copied() {
                Some(target) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[target as usize], true) {
                        stack.push((target, 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }
}
