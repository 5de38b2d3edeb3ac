//! Modules whose specialisation constants have other defaults.

use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::spec_constants;

/// Makes values the defaults of their constants.
pub fn specialise_constants(module: &mut SpirvModule, spec: &[(u32, u64)]) {
    if spec.is_empty() {
        return;
    }
    let definitions = IdDefinitions::from_module(module);
    let constants = spec_constants(module, &definitions, &IdDecorations::from_module(module));
    for &(spec_id, value) in spec {
        for constant in constants.iter().filter(|c| c.spec_id == spec_id) {
            let ty = definitions.get(module, constant.ty);
            let ty = ty.map_or([0; 2], |ty| match ty.op() {
                Op::TypeInt => [ty.operand_word(0), ty.operand_word(1)],
                _ => [64, 0],
            });
            let Some(inst) = definitions.get(module, constant.id) else {
                continue;
            };
            let (inst, op) = (inst.handle(), inst.op());
            if matches!(op, Op::SpecConstantTrue | Op::SpecConstantFalse) {
                let truth = [Op::SpecConstantFalse, Op::SpecConstantTrue];
                let words = module.words_mut(inst).to_vec();
                module.replace_inst(inst, truth[usize::from(value != 0)], &words);
                continue;
            }
            // Narrow numbers with a sign fill their word with it.
            let value = match ty {
                [8, 1] => value as i8 as u64,
                [16, 1] => value as i16 as u64,
                _ => value,
            };
            let words = module.words_mut(inst).iter_mut().skip(2);
            for (word, value) in words.zip([value as u32, (value >> 32) as u32]) {
                *word = value;
            }
        }
    }
}
