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

use crate::analysis::{Cfg, Definitions, Dominators, Frontiers};
use crate::grammar::Op;
use crate::grammar::enumerants::Decoration;
use crate::ir::{Erased, Func, IdWords, Inst, Module, Section};
use crate::{Id, IdMap};
use candidates::Candidates;
use fates::Fates;
use spirula_source::Diagnostic;

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
    definitions: Definitions,
    names: IdMap<Option<Inst>>,
    /// Variables decorated `RelaxedPrecision`.
    relaxed: IdMap<bool>,
    /// Variables decorated `Volatile`.
    pinned: IdMap<bool>,
    fates: Fates,
    /// Undefined values by type.
    undefs: IdMap<Option<Id>>,
}

const NONE: u32 = u32::MAX;

/// Turns all variables of functions that can be turned into values, in the whole module.
///
/// # Errors
/// When a branch goes to what is no label of its function.
pub fn construct(module: &mut Module) -> Result<Promoted, Diagnostic> {
    let definitions = Definitions::compute(module);
    construct_with(module, definitions)
}

/// The same for who knows what defines each id.
///
/// # Errors
/// As [`construct`].
pub fn construct_with(
    module: &mut Module,
    definitions: Definitions,
) -> Result<Promoted, Diagnostic> {
    let mut promoter = Promoter::with(module, definitions);
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
    /// One pass over the module.
    pub fn new(module: &Module) -> Self {
        Self::with(module, Definitions::compute(module))
    }

    /// The same for who knows what defines each id: a pass over names and decorations.
    pub fn with(module: &Module, definitions: Definitions) -> Self {
        let mut names = IdMap::new(0, None);
        let named = module.section(Section::Names);
        for name in named.filter(|i| i.op() == Op::Name) {
            names.set(name.id(0), Some(name.handle()));
        }
        let mut relaxed = IdMap::new(0, false);
        let mut pinned = IdMap::new(0, false);
        let decorations = module.section(Section::Annotations);
        for d in decorations.filter(|i| i.op() == Op::Decorate) {
            match Decoration(d.word(1)) {
                Decoration::RelaxedPrecision => relaxed.set(d.id(0), true),
                Decoration::Volatile => pinned.set(d.id(0), true),
                _ => {}
            }
        }
        Promoter {
            ids: IdWords::new(module),
            definitions,
            names,
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
    ) -> Result<Promoted, Diagnostic> {
        let candidates = Candidates::gather(self, module, func, choose);
        let variables = candidates.kept().count();
        if variables == 0 {
            return Ok(Promoted::default());
        }
        let cfg = Cfg::compute(module, &self.definitions, func)?;
        let dominators = Dominators::compute(&cfg);
        let frontiers = Frontiers::compute(&cfg, &dominators);
        let mut phis = phis::place(module, &candidates, &cfg, &frontiers);
        let count = phis.len();
        rename::Renamer::new(self, module, &candidates, &cfg, &mut phis, erased).run(&dominators);
        Ok(Promoted {
            variables,
            phis: count,
        })
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
