//! SSA construction: variables of functions become values and phis.
//!
//! [`Promoter`] takes the variables of storage class `Function` that are only loaded and stored as
//! a whole, puts phis at the iterated dominance frontiers of their stores where the variable is
//! live (Cytron et al., "Efficiently Computing Static Single Assignment Form and the Control
//! Dependence Graph", 1991; pruned as by Choi, Cytron and Ferrante, 1991), and has every load
//! replaced by the value that reaches it along the dominator tree. A read of what was never written
//! is `OpUndef`. Phis take over name and `RelaxedPrecision` of their variable, and what debuggers
//! were told of the variable they are told of its values.
//!
//! Cost: linear in the function, but for the blocks in which each variable is live and the sizes of
//! dominance frontiers.

mod candidates;
mod debug;
mod fates;
mod phis;
mod rename;

use crate::analysis::{Cfg, Edges, Frontiers, Tree};
use crate::grammar::enumerants::Decoration;
use crate::grammar::{Class, Op};
use crate::ir::{Erased, Func, IdWords, Inst, InstRef, Module, Section};
use crate::{Id, IdMap, IdSet};
use candidates::Candidates;
use fates::Fates;
use phis::Phis;
use rename::Renamer;
use spirula_diagnostics::SourceDiagnostic;

/// What was done to a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promoted {
    /// Variables that are no more.
    pub variables: usize,
    /// Phis that were made.
    pub phis: usize,
}

/// Tables that are made once for a module and serve all of its functions.
#[derive(Debug)]
pub struct Promoter {
    ids: IdWords,
    types: Rows,
    /// Names of variables of functions.
    names: Rows,
    /// Ids decorated `RelaxedPrecision`.
    relaxed: IdSet,
    /// Ids decorated `Volatile`.
    pinned: IdSet,
    fates: Fates,
    /// Undefined values by type.
    undefs: IdMap<Option<Id>>,
}

/// Instructions about few of a module's ids, sorted by these: a table over all ids would be larger than what
/// it says.
#[derive(Debug)]
struct Rows(Vec<(Id, Inst)>);

impl Rows {
    fn new(rows: impl Iterator<Item = (Id, Inst)>) -> Rows {
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| row.0);
        Rows(rows)
    }

    /// The first instruction about an id.
    fn get(&self, id: Id) -> Option<Inst> {
        let at = self.0.partition_point(|row| row.0 < id);
        self.0.get(at).filter(|row| row.0 == id).map(|row| row.1)
    }
}

const NONE: u32 = u32::MAX;

/// Turns all variables of functions that can be turned into values, in the whole module.
///
/// # Errors
/// When a branch goes to what is no label of its function.
pub fn construct(module: &mut Module) -> Result<Promoted, SourceDiagnostic> {
    let mut promoter = Promoter::new(module);
    let mut erased = Erased::new();
    let mut sum = Promoted::default();
    for func in module.functions().to_vec() {
        let promoted = promoter.promote(module, func, |_| true, &mut erased)?;
        sum.variables += promoted.variables;
        sum.phis += promoted.phis;
    }
    module.sweep(&erased);
    Ok(sum)
}

impl Promoter {
    /// One pass over what stands outside of functions, and over their variables.
    pub fn new(module: &Module) -> Self {
        let globals = module.section(Section::Globals);
        let is_type = |i: &InstRef<'_>| {
            let info = i.op().info();
            info.is_some_and(|i| i.class == Class::TypeDeclaration)
        };
        let types = globals.filter(is_type);
        let variables = variables(module);
        let names = module.section(Section::Names);
        let names = names.filter(|n| n.op() == Op::Name && variables.contains(n.id(0)));
        let (mut relaxed, mut pinned) = (IdSet::new(), IdSet::new());
        let decorations = module.section(Section::Annotations);
        for d in decorations.filter(|i| i.op() == Op::Decorate) {
            match Decoration(d.word(1)) {
                Decoration::RelaxedPrecision => relaxed.insert(d.id(0)),
                Decoration::Volatile => pinned.insert(d.id(0)),
                _ => false,
            };
        }
        Promoter {
            ids: IdWords::new(module),
            types: Rows::new(types.filter_map(|t| Some((t.result()?, t.handle())))),
            names: Rows::new(names.map(|n| (n.id(0), n.handle()))),
            relaxed,
            pinned,
            fates: Fates::new(module.bound()),
            undefs: IdMap::new(0, None),
        }
    }

    /// The variables of a function that can become values, in their order.
    pub fn promotable(&mut self, module: &Module, func: Func) -> Vec<Id> {
        let found = Candidates::gather(self, module, func, |_| true);
        found.kept().map(|c| c.variable).collect()
    }

    /// Turns those variables of a function that `choose` picks and that can be turned into values.
    /// Names and decorations of what is no more are left to `erased`.
    ///
    /// # Errors
    /// When a branch goes to what is no label of the function.
    pub fn promote(
        &mut self,
        module: &mut Module,
        func: Func,
        choose: impl Fn(Id) -> bool,
        erased: &mut Erased,
    ) -> Result<Promoted, SourceDiagnostic> {
        let mut candidates = Candidates::gather(self, module, func, choose);
        let variables = candidates.kept().count();
        if variables == 0 {
            return Ok(Promoted::default());
        }
        // What is no longer needed goes before the next is made: together it is larger than the module.
        let mut graph = Cfg::with_ids(module, &self.ids, func)?.into_graph();
        let above = graph.dominators();
        let frontiers = Frontiers::of_graph(
            &graph,
            |block| above[block as usize] != NONE,
            |block| Some(above[block as usize]).filter(|up| *up != block && *up != NONE),
        );
        let mut phis = Phis::place(module, &candidates, &graph, &frontiers);
        drop(frontiers);
        graph.predecessors = Edges::default();
        (candidates.reads, candidates.writes) = (Vec::new(), Vec::new());
        let count = phis.len();
        let tree = Tree::numbered(above, &graph.reverse_postorder);
        let mut renamer = Renamer::new(self, module, func, candidates, &mut phis, erased);
        renamer.walk(&tree, &graph.successors);
        drop((tree, graph));
        renamer.finish();
        Ok(Promoted {
            variables,
            phis: count,
        })
    }

    /// The instruction that declares a type.
    fn type_of<'m>(&self, module: &'m Module, ty: Id) -> Option<InstRef<'m>> {
        self.types.get(ty).map(|inst| module.inst(inst))
    }

    fn resolve(&self, id: Id) -> Id {
        self.fates.resolve(id)
    }

    fn undef(&mut self, module: &mut Module, ty: Id) -> Id {
        *self
            .undefs
            .get_mut(ty)
            .get_or_insert_with(|| module.undef(ty))
    }
}

/// The variables of functions.
fn variables(module: &Module) -> IdSet {
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
