//! Built-in variables of older translators, in the storage class `UniformConstant`: they become inputs.

use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::{Inst, ModuleSection, SpirvModule};

/// Moves built-in variables to the storage class `Input`, with the pointers that are derived from them.
///
/// Cost: one pass over the module's declarations, and one over its functions where there is such a variable.
pub fn move_to_inputs(module: &mut SpirvModule) {
    let definitions = IdDefinitions::from_module(module);
    let annotations = module.section_insts(ModuleSection::Annotations);
    let builtins = annotations
        .filter(|a| a.op() == Op::Decorate && a.operand_word(1) == Decoration::BuiltIn.0);
    let moved: Vec<(Inst, Id, Id)> = builtins
        .filter_map(|a| {
            let variable = definitions.get(module, a.id_operand(0))?;
            let is_constant = variable.op() == Op::Variable
                && variable.operand_word(0) == StorageClass::UniformConstant.0;
            let pointer = is_constant.then(|| variable.result_type())??;
            Some((variable.handle(), a.id_operand(0), pointer))
        })
        .collect();
    if moved.is_empty() {
        return;
    }
    let mut types = InputPointerTypes {
        definitions,
        known: FxHashMap::default(),
    };
    let mut pointers: Vec<Id> = Vec::new();
    for (old, id, pointer) in moved {
        let Some(ty) = types.find(module, pointer) else {
            continue;
        };
        // The pointer's type is declared last, and so is its user.
        module.remove_inst(old);
        let words = [ty.word(), id.word(), StorageClass::Input.0];
        let new = module.create_inst(Op::Variable, &words);
        module.append_inst(ModuleSection::Globals.list(), new);
        pointers.push(id);
    }
    retype_chains(module, &mut types, &mut pointers);
}

/// Pointer types of the class `Input`, by those that they stand for.
struct InputPointerTypes {
    definitions: IdDefinitions,
    known: FxHashMap<Id, Id>,
}

impl InputPointerTypes {
    fn find(&mut self, module: &mut SpirvModule, pointer: Id) -> Option<Id> {
        if let Some(known) = self.known.get(&pointer) {
            return Some(*known);
        }
        let pointee = self
            .definitions
            .get(module, pointer)?
            .operands()
            .get(1)
            .copied()?;
        let id = module.fresh_id();
        let words = [id.word(), StorageClass::Input.0, pointee];
        let new = module.create_inst(Op::TypePointer, &words);
        module.append_inst(ModuleSection::Globals.list(), new);
        self.known.insert(pointer, id);
        Some(id)
    }
}

/// Gives access chains of the variables pointers of their class.
fn retype_chains(module: &mut SpirvModule, types: &mut InputPointerTypes, pointers: &mut Vec<Id>) {
    for func in module.functions().to_vec() {
        let chains: Vec<Inst> = module
            .function_insts(func)
            .filter(|inst| inst.op().is_plain_access_chain())
            .map(|inst| inst.handle())
            .collect();
        for chain in chains {
            let inst = module.inst(chain);
            let (Some(ty), Some(id)) = (inst.result_type(), inst.result()) else {
                continue;
            };
            if !pointers.contains(&inst.id_operand(0)) {
                continue;
            }
            let mut words = inst.words().to_vec();
            if let Some(new) = types.find(module, ty) {
                words[0] = new.word();
                module.replace_words(chain, &words);
                pointers.push(id);
            }
        }
    }
}
