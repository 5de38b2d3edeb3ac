//! How variables of functions are accessed.

use crate::values::Facts;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{Func, Inst, InstRef, Module};
use spirula_spirv::{Id, IdMap};

/// The instructions that use each variable of a function.
pub struct Accesses {
    /// Position in `all` by variable.
    slot: IdMap<Option<u32>>,
    all: Vec<Variable>,
}

/// A variable with its uses.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The variable.
    pub id: Id,
    /// Its `OpVariable`.
    pub inst: Inst,
    /// Type of its value.
    pub ty: Id,
    /// What uses it, names and decorations left out.
    pub users: Vec<Inst>,
}

impl Accesses {
    pub fn new(bound: u32) -> Self {
        Accesses {
            slot: IdMap::new(bound, None),
            all: Vec::new(),
        }
    }

    /// The variables of a function whose values have parts.
    pub fn gather(&mut self, facts: &Facts, module: &Module, func: Func) -> Vec<Variable> {
        self.all.clear();
        for block in &module.function(func).blocks {
            for inst in module.body(*block) {
                if inst.op() == Op::Variable {
                    self.declare(facts, module, inst);
                } else if self.all.is_empty() {
                    continue;
                }
                let (slot, all) = (&self.slot, &mut self.all);
                facts.ids.visit(inst, |_, id| {
                    let at = slot[id].map(|s| s as usize);
                    if let Some(variable) = at.and_then(|at| all.get_mut(at))
                        && variable.id == id
                        && variable.users.last() != Some(&inst.handle())
                    {
                        variable.users.push(inst.handle());
                    }
                });
            }
        }
        std::mem::take(&mut self.all)
    }

    fn declare(&mut self, facts: &Facts, module: &Module, inst: InstRef<'_>) {
        let (Some(id), Some(pointer)) = (inst.result(), inst.result_type()) else {
            return;
        };
        let pointer = facts.def_of(module, pointer, Op::TypePointer);
        let Some(ty) = pointer.map(|p| p.id(1)) else {
            return;
        };
        let parts = matches!(
            facts.op(module, ty),
            Op::TypeStruct | Op::TypeArray | Op::TypeVector | Op::TypeMatrix
        );
        // Decorations of all kinds may be about the whole; that of precision holds for the parts.
        if inst.word(0) == StorageClass::Function.0 && parts && facts.marks(id).is_some() {
            self.slot.set(id, Some(self.all.len() as u32));
            self.all.push(Variable {
                id,
                inst: inst.handle(),
                ty,
                users: Vec::new(),
            });
        }
    }
}
