//! SSA construction: variables of functions become values and phis.
//!
//! [`VariablePromoter`] takes the variables of storage class `Function` that are only loaded and stored as
//! a whole, puts phis at the iterated dominance frontiers of their stores where the variable is
//! live (Cytron et al., "Efficiently Computing Static Single Assignment Form and the Control
//! Dependence Graph", 1991; pruned as by Choi, Cytron and Ferrante, 1991), and has every load
//! replaced by the value that reaches it along the dominator tree. A read before any write
//! is `OpUndef`. Phis take over name and `RelaxedPrecision` of their variable. Debug information about the
//! variable becomes debug information about its values.
//!
//! Cost: linear in the function, but for the blocks in which each variable is live and the sizes of
//! dominance frontiers.

mod candidates;
mod debug;
mod phis;
mod rename;
mod replacements;

use crate::analysis::{DominanceFrontiers, DominanceTree, EdgeLists, FlowGraph};
use crate::grammar::enumerants::Decoration;
use crate::grammar::{InstructionClass, Op};
use crate::ir::{ErasedIds, Func, IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap, IdSet};
use candidates::PromotionCandidates;
use phis::PendingPhis;
use rename::SsaRenamer;
use replacements::PromotionReplacements;
use spirula_diagnostics::SourceDiagnostic;

/// Changes to a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromotionCounts {
    /// Variables that are no more.
    pub variables: usize,
    /// Number of new phis.
    pub phis: usize,
}

/// Tables that are allocated once and reused for all functions of a module.
#[derive(Debug)]
pub struct VariablePromoter {
    ids: IdWords,
    types: SortedInsts,
    /// Names of variables of functions.
    names: SortedInsts,
    /// Ids decorated `RelaxedPrecision`.
    relaxed: IdSet,
    /// Ids decorated `Volatile`.
    pinned: IdSet,
    replacements: PromotionReplacements,
    /// Undefined values by type.
    undefs: IdMap<Option<Id>>,
}

/// Instructions about a few of the module's ids, sorted by id. A table over all ids would be larger than its
/// contents.
#[derive(Debug)]
struct SortedInsts(Vec<(Id, Inst)>);

impl SortedInsts {
    fn new(rows: impl Iterator<Item = (Id, Inst)>) -> SortedInsts {
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| row.0);
        SortedInsts(rows)
    }

    /// The first instruction about an id.
    fn get(&self, id: Id) -> Option<Inst> {
        let at = self.0.partition_point(|row| row.0 < id);
        self.0.get(at).filter(|row| row.0 == id).map(|row| row.1)
    }
}

const NONE: u32 = u32::MAX;

/// Promotes all promotable function variables of a module to values.
///
/// # Errors
/// If the target of a branch is no label of its function.
pub fn construct_ssa(module: &mut SpirvModule) -> Result<PromotionCounts, SourceDiagnostic> {
    let mut promoter = VariablePromoter::new(module);
    let mut erased = ErasedIds::new();
    let mut sum = PromotionCounts::default();
    for func in module.functions().to_vec() {
        let promoted = promoter.promote_variables(module, func, |_| true, &mut erased)?;
        sum.variables += promoted.variables;
        sum.phis += promoted.phis;
    }
    module.sweep_annotations(&erased);
    Ok(sum)
}

impl VariablePromoter {
    /// One pass over the instructions outside of functions, and over function variables.
    pub fn new(module: &SpirvModule) -> Self {
        let globals = module.section_insts(ModuleSection::Globals);
        let is_type = |i: &InstRef<'_>| {
            let info = i.op().info();
            info.is_some_and(|i| i.class == InstructionClass::TypeDeclaration)
        };
        let types = globals.filter(is_type);
        let variables = gather_function_variables(module);
        let names = module.section_insts(ModuleSection::Names);
        let names = names.filter(|n| n.op() == Op::Name && variables.contains(n.id_operand(0)));
        let (mut relaxed, mut pinned) = (IdSet::new(), IdSet::new());
        let decorations = module.section_insts(ModuleSection::Annotations);
        for d in decorations.filter(|i| i.op() == Op::Decorate) {
            match Decoration(d.operand_word(1)) {
                Decoration::RelaxedPrecision => relaxed.insert(d.id_operand(0)),
                Decoration::Volatile => pinned.insert(d.id_operand(0)),
                _ => false,
            };
        }
        VariablePromoter {
            ids: IdWords::new(module),
            types: SortedInsts::new(types.filter_map(|t| Some((t.result()?, t.handle())))),
            names: SortedInsts::new(names.map(|n| (n.id_operand(0), n.handle()))),
            relaxed,
            pinned,
            replacements: PromotionReplacements::new(module.bound()),
            undefs: IdMap::new(0, None),
        }
    }

    /// The variables of a function that can become values, in their order.
    pub fn find_promotable(&mut self, module: &SpirvModule, func: Func) -> Vec<Id> {
        let found = PromotionCandidates::from_function(self, module, func, |_| true);
        found.iter_promotable().map(|c| c.variable).collect()
    }

    /// Promotes the promotable variables of a function that `choose` selects. Names and decorations of deleted
    /// ids are left to `erased`.
    ///
    /// # Errors
    /// If the target of a branch is no label of the function.
    pub fn promote_variables(
        &mut self,
        module: &mut SpirvModule,
        func: Func,
        choose: impl Fn(Id) -> bool,
        erased: &mut ErasedIds,
    ) -> Result<PromotionCounts, SourceDiagnostic> {
        let mut candidates = PromotionCandidates::from_function(self, module, func, choose);
        let variables = candidates.iter_promotable().count();
        if variables == 0 {
            return Ok(PromotionCounts::default());
        }
        // Each table is freed before the next is allocated: together they are larger than the module.
        let mut graph = FlowGraph::with_ids(module, &self.ids, func)?.into_graph();
        let above = graph.compute_dominators();
        let frontiers = DominanceFrontiers::of_graph(
            &graph,
            |block| above[block as usize] != NONE,
            |block| Some(above[block as usize]).filter(|up| *up != block && *up != NONE),
        );
        let mut phis = PendingPhis::place_at_frontiers(module, &candidates, &graph, &frontiers);
        drop(frontiers);
        graph.predecessors = EdgeLists::default();
        (candidates.reads, candidates.writes) = (Vec::new(), Vec::new());
        let count = phis.len();
        let tree = DominanceTree::from_parents(above, &graph.reverse_postorder);
        let mut renamer = SsaRenamer::new(self, module, func, candidates, &mut phis, erased);
        renamer.walk_dominator_tree(&tree, &graph.successors);
        drop((tree, graph));
        renamer.apply_renames();
        Ok(PromotionCounts {
            variables,
            phis: count,
        })
    }

    /// The instruction that declares a type.
    fn type_of<'m>(&self, module: &'m SpirvModule, ty: Id) -> Option<InstRef<'m>> {
        self.types.get(ty).map(|inst| module.inst(inst))
    }

    fn resolve_id(&self, id: Id) -> Id {
        self.replacements.resolve_id(id)
    }

    fn ensure_undef(&mut self, module: &mut SpirvModule, ty: Id) -> Id {
        *self
            .undefs
            .get_mut(ty)
            .get_or_insert_with(|| module.ensure_undef(ty))
    }
}

/// The variables of functions.
fn gather_function_variables(module: &SpirvModule) -> IdSet {
    let mut found = IdSet::new();
    for func in module.functions() {
        let Some(entry) = module.function(*func).blocks.first() else {
            continue;
        };
        let variables = module.body(*entry).filter(|i| i.op() == Op::Variable);
        for variable in variables.filter_map(InstRef::result) {
            found.insert(variable);
        }
    }
    found
}
