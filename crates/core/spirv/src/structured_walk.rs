//! Structured walk: the blocks of a function in an order that shows its structured control flow.
//!
//! The walk starts at the first block and takes the targets of a branch in their order. The merge block and the continue
//! target of a header come after the blocks that it leads to. Blocks that nothing leads to follow in their order.
//! Cost: linear in the blocks and branches.

/// Levels of the blocks of a selection or loop above that of its header.
const BODY_LEVELS: u32 = 2;

/// Levels of a continue target above that of its header.
const CONTINUE_LEVELS: u32 = 1;

/// Where a block leads, as numbers of blocks.
pub(crate) struct StructuredTargets {
    /// The merge block of a header, where it is a block of the function.
    pub merge: Option<usize>,
    /// The continue target of a loop's header.
    pub continue_target: Option<usize>,
    /// Whether the block is a header, even if its merge block is missing.
    pub is_header: bool,
    /// Targets of its branch.
    pub successors: Vec<usize>,
}

/// A block that the walk will visit.
struct PendingBlock {
    block: usize,
    level: u32,
    /// Whether a header reserved it: it is a merge block or a continue target.
    is_reserved: bool,
}

/// Visits each of `count` blocks once, with its level: 0 outside of all selections and loops.
pub(crate) fn walk_structured(
    count: usize,
    targets_of: impl Fn(usize) -> StructuredTargets,
    mut visit: impl FnMut(usize, u32),
) {
    let mut is_visited = vec![false; count];
    let mut is_reserved = vec![false; count];
    for root in 0..count {
        let mut pending = vec![PendingBlock {
            block: root,
            level: 0,
            is_reserved: true,
        }];
        while let Some(PendingBlock {
            block,
            level,
            is_reserved: may_be_reserved,
        }) = pending.pop()
        {
            if is_visited[block] || (is_reserved[block] && !may_be_reserved) {
                continue;
            }
            is_visited[block] = true;
            visit(block, level);
            let targets = targets_of(block);
            let reserved = [
                (targets.merge, 0),
                (targets.continue_target, CONTINUE_LEVELS),
            ];
            for (reserved, levels) in reserved {
                let Some(reserved) = reserved else { continue };
                is_reserved[reserved] = true;
                pending.push(PendingBlock {
                    block: reserved,
                    level: level.saturating_add(levels),
                    is_reserved: true,
                });
            }
            let levels = if targets.is_header { BODY_LEVELS } else { 0 };
            let successors = targets.successors.into_iter().rev();
            pending.extend(successors.map(|successor| PendingBlock {
                block: successor,
                level: level.saturating_add(levels),
                is_reserved: false,
            }));
        }
    }
}
