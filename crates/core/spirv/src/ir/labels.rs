//! Label table: the blocks of a function by their labels.

use super::module::{Block, Func, SpirvModule};
use crate::Id;

/// Positions of a function's blocks by label, as a sorted list. A table over all ids of the module would cost its size
/// for each function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabelPositions(Vec<(Id, u32)>);

impl LabelPositions {
    pub fn from_function(module: &SpirvModule, func: Func) -> LabelPositions {
        let blocks = module.function(func).blocks.iter().enumerate();
        let mut labels: Vec<_> = blocks
            .map(|(at, b): (usize, &Block)| (module.label(*b), at as u32))
            .collect();
        labels.sort_unstable();
        LabelPositions(labels)
    }

    #[inline]
    pub fn position(&self, label: Id) -> Option<u32> {
        let at = self.0.binary_search_by_key(&label, |l| l.0).ok()?;
        Some(self.0[at].1)
    }
}
