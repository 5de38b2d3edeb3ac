//! Access analysis of function variables: which instructions use each address of a variable.

use crate::structure;
use crate::values::ModuleValues;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{Func, Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The uses of each composite function variable, and of each address derived from one. Names and decorations are
/// excluded.
pub struct AggregateAccesses {
    /// Index into `users` by address. Entries of other functions are meaningless.
    slot: IdMap<Option<u32>>,
    users: Vec<Vec<Inst>>,
    /// Whether addressing is physical.
    pub physical: bool,
}

/// A composite variable.
#[derive(Clone, Copy, Debug)]
pub struct AggregateVariable {
    /// The variable.
    pub id: Id,
    /// Its `OpVariable`.
    pub inst: Inst,
    /// Type of its value.
    pub ty: Id,
}

impl AggregateAccesses {
    pub fn new(module: &SpirvModule) -> Self {
        AggregateAccesses {
            slot: IdMap::new(module.bound(), None),
            users: Vec::new(),
            physical: structure::is_physical(module),
        }
    }

    /// Analyses a function. Returns its composite variables.
    pub fn gather_variables(
        &mut self,
        facts: &ModuleValues,
        module: &SpirvModule,
        func: Func,
    ) -> Vec<AggregateVariable> {
        self.users.clear();
        let mut found = Vec::new();
        if !has_variables(module, func) {
            return found;
        }
        for block in &module.function(func).blocks {
            for inst in module.body(*block) {
                if inst.op() == Op::Variable {
                    found.extend(match_variable(facts, module, inst));
                    if let Some(AggregateVariable { id, .. }) = found.last()
                        && inst.result() == Some(*id)
                    {
                        self.follow_address(*id);
                    }
                    continue;
                }
                if found.is_empty() {
                    continue;
                }
                let mut followed = false;
                let (slot, users) = (&self.slot, &mut self.users);
                facts.ids.visit_uses(inst, |_, id| {
                    let list = slot[id].and_then(|at| users.get_mut(at as usize));
                    if let Some(list) = list {
                        followed = true;
                        if list.last() != Some(&inst.handle()) {
                            list.push(inst.handle());
                        }
                    }
                });
                let address = inst.op().is_plain_access_chain() || inst.op() == Op::Bitcast;
                if let Some(result) = inst.result().filter(|_| followed && address) {
                    self.follow_address(result);
                }
            }
        }
        found
    }

    /// Starts to track an address without uses.
    pub fn follow_address(&mut self, id: Id) {
        self.slot.set(id, Some(self.users.len() as u32));
        self.users.push(Vec::new());
    }

    /// The users of an address.
    pub fn address_users(&self, id: Id) -> &[Inst] {
        let list = self.slot[id].and_then(|at| self.users.get(at as usize));
        list.map_or(&[], |l| &l[..])
    }

    /// Records a user.
    pub fn record_user(&mut self, id: Id, user: Inst) {
        let list = self.slot[id].and_then(|at| self.users.get_mut(at as usize));
        if let Some(list) = list {
            list.push(user);
        }
    }
}

/// Whether a function has variables, which come first in it.
fn has_variables(module: &SpirvModule, func: Func) -> bool {
    let entry = module.function(func).blocks.first();
    let first = entry.and_then(|b| module.body(*b).find(|i| !i.op().is_line()));
    first.is_some_and(|i| i.op() == Op::Variable)
}

fn match_variable(
    facts: &ModuleValues,
    module: &SpirvModule,
    inst: InstRef<'_>,
) -> Option<AggregateVariable> {
    let (id, pointer) = (inst.result()?, inst.result_type()?);
    let ty = facts
        .def_of(module, pointer, Op::TypePointer)?
        .id_operand(1);
    let parts = matches!(
        facts.defining_op(module, ty),
        Op::TypeStruct | Op::TypeArray | Op::TypeVector | Op::TypeMatrix
    );
    // Other decorations may concern the whole; relaxed precision holds for members, too.
    let local =
        inst.operand_word(0) == StorageClass::Function.0 && facts.decoration_marks(id).is_some();
    (parts && local).then_some(AggregateVariable {
        id,
        inst: inst.handle(),
        ty,
    })
}
