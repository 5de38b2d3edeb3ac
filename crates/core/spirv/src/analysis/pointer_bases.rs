//! Pointer bases: the variable, parameter or instruction that each pointer is derived from.

use super::IdDefinitions;
use crate::grammar::Op;
use crate::ir::SpirvModule;
use crate::{Id, IdMap};

/// The base of each pointer: the variable, parameter or other instruction that it is derived from by access
/// chains, copies and casts. Phis, selections, loads and calls are bases of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerBases {
    base: IdMap<Option<Id>>,
}

impl PointerBases {
    /// One pass over the module. If a module uses a pointer before its definition (in blocks out of order), the
    /// base ends there.
    pub fn from_module(module: &SpirvModule, definitions: &IdDefinitions) -> Self {
        let mut base: IdMap<Option<Id>> = IdMap::new(module.bound(), None);
        for inst in module.all_insts() {
            let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
                continue;
            };
            let is_pointer = matches!(
                definitions.defining_op(module, ty),
                Some(Op::TypePointer | Op::TypeUntypedPointerKHR)
            );
            if !is_pointer {
                continue;
            }
            let from = match inst.op() {
                Op::CopyObject
                | Op::Bitcast
                | Op::PtrCastToGeneric
                | Op::GenericCastToPtr
                | Op::GenericCastToPtrExplicit
                | Op::ImageTexelPointer => inst.get_id(0),
                op => op.access_chain_base().and_then(|n| inst.get_id(n)),
            };
            let found = from.and_then(|from| base[from]).unwrap_or(id);
            base.set(id, Some(found));
        }
        PointerBases { base }
    }

    /// The base of a pointer; the pointer itself if it is derived from nothing; `None` for other ids.
    pub fn base_of(&self, pointer: Id) -> Option<Id> {
        self.base[pointer]
    }
}
