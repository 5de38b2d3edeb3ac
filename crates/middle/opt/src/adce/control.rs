//! Control dependence: which branches decide whether a block runs.

use crate::analyses::FlowAnalysis;
use spirula_spirv::analysis::{ConstructTree, DominanceFrontiers, PostDominators};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;

/// The control dependence of a function.
pub enum ControlDependence {
    /// Structured control flow: a block depends on its construct. A live construct makes every branch live that
    /// leaves or continues it.
    Structured {
        /// The constructs.
        constructs: ConstructTree,
        /// For each construct the blocks directly in it that branch conditionally without a merge instruction.
        /// The last list has those outside of all constructs.
        bare: Vec<Vec<u32>>,
    },
    /// Unstructured control flow: a block depends on its frontier in the reversed graph.
    Free {
        /// The branches that each block depends on.
        dependence: DominanceFrontiers,
        /// The post-dominator tree, to redirect branches past dead blocks.
        tree: PostDominators,
    },
}

impl ControlDependence {
    pub fn compute_dependence(
        module: &SpirvModule,
        flow: &FlowAnalysis,
        structured: bool,
    ) -> ControlDependence {
        let cfg = &flow.cfg;
        if !structured {
            let tree = PostDominators::from_cfg(cfg);
            let dependence = DominanceFrontiers::control_dependence(cfg, &tree);
            return ControlDependence::Free { dependence, tree };
        }
        let constructs = ConstructTree::from_cfg(module, cfg, &flow.dominators);
        let none = constructs.constructs().len();
        let mut bare = vec![Vec::new(); none + 1];
        for block in cfg.reverse_postorder() {
            let op = module.terminator(cfg.block(*block)).op();
            let conditional = matches!(op, Op::BranchConditional | Op::Switch);
            if conditional && constructs.headed_by(*block).is_none() {
                let around = constructs
                    .innermost_construct(*block)
                    .map_or(none, |c| c as usize);
                bare[around].push(*block);
            }
        }
        ControlDependence::Structured { constructs, bare }
    }
}
