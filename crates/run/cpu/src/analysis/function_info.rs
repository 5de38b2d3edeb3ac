//! Function info: facts about one function that the lowering asks for.

use spirula_spirv::Id;
use spirula_spirv::analysis::FlowGraph;
use spirula_spirv::ir::Inst;

/// Facts about a function that an entry point reaches.
pub(crate) struct FunctionInfo {
    /// Its parameters.
    pub params: Vec<Id>,
    /// Number of ids that it defines, labels included. Tables by local number have this size.
    pub locals: u32,
    /// Whether an invocation can be suspended in it.
    pub suspends: bool,
    /// Whether its calls are replaced by its body.
    pub inline: bool,
    /// Its control-flow graph.
    pub cfg: FlowGraph,
    /// Positions of its reachable blocks in the order of lowering.
    pub order: Vec<u32>,
    /// Parameters whose pointer is used for plain loads and stores only.
    pub direct_params: Vec<bool>,
    /// Values that are live at suspension points; empty for functions that do not suspend.
    pub live: SuspendLiveness,
}

impl FunctionInfo {
    /// Whether a reachable block leads back to itself or to one before it.
    pub fn has_loop(&self) -> bool {
        let mut places = vec![0; self.cfg.len()];
        for (place, at) in self.cfg.reverse_postorder().iter().enumerate() {
            places[*at as usize] = place;
        }
        let mut blocks = self.cfg.reverse_postorder().iter();
        blocks.any(|at| {
            let mut next = self.cfg.successors(*at).iter();
            next.any(|to| places[*to as usize] <= places[*at as usize])
        })
    }
}

/// Liveness at the cuts of a function: its suspension points and its calls of functions that suspend.
#[derive(Default)]
pub(crate) struct SuspendLiveness {
    /// Each cut with its live ids, sorted by instruction.
    pub cuts: Vec<(Inst, Vec<Id>)>,
    /// By local number: whether an id is live at any cut.
    pub kept: Vec<bool>,
}

impl SuspendLiveness {
    /// The ids that are live after a cut.
    pub fn live_after(&self, cut: Inst) -> &[Id] {
        match self.cuts.binary_search_by_key(&cut, |row| row.0) {
            Ok(n) => &self.cuts[n].1,
            Err(_) => &[],
        }
    }

    /// Whether the id with this local number is live at any cut.
    pub fn is_kept(&self, local: usize) -> bool {
        self.kept.get(local).copied().unwrap_or(false)
    }
}
