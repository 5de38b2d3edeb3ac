//! Target numbers: the constants by which structured control flow distinguishes targets.

use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// The types `u32` and `bool`, and constants, each declared once.
pub struct TargetNumbers {
    /// The type of numbers.
    pub ty: Id,
    truth: Option<Id>,
    constants: FxHashMap<u32, Id>,
}

impl TargetNumbers {
    /// Finds the types, or declares that of numbers.
    pub fn new(module: &mut SpirvModule) -> TargetNumbers {
        let mut globals = module.section_insts(ModuleSection::Globals);
        let ty = globals.find(|i| i.op() == Op::TypeInt && i.operands() == [32, 0]);
        let ty = ty.and_then(|i| i.result());
        let mut globals = module.section_insts(ModuleSection::Globals);
        let truth = globals.find(|i| i.op() == Op::TypeBool);
        let truth = truth.and_then(|i| i.result());
        let ty = ty.unwrap_or_else(|| declare_global(module, Op::TypeInt, &[], &[32, 0]));
        let constants = FxHashMap::default();
        TargetNumbers {
            ty,
            truth,
            constants,
        }
    }

    /// The type `bool`.
    pub fn make_bool_type(&mut self, module: &mut SpirvModule) -> Id {
        let made = || declare_global(module, Op::TypeBool, &[], &[]);
        *self.truth.get_or_insert_with(made)
    }

    /// Declares a constant number.
    pub fn make_constant(&mut self, module: &mut SpirvModule, value: u32) -> Id {
        let ty = self.ty;
        let made = || declare_global(module, Op::Constant, &[ty.word()], &[value]);
        *self.constants.entry(value).or_insert_with(made)
    }
}

/// Declares a global instruction with the words before and after its result.
fn declare_global(module: &mut SpirvModule, op: Op, before: &[u32], after: &[u32]) -> Id {
    let id = module.fresh_id();
    let words: Vec<u32> = [before, &[id.word()], after].concat();
    let inst = module.create_inst(op, &words);
    module.append_inst(ModuleSection::Globals.list(), inst);
    id
}
