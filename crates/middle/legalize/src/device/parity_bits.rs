//! Parity bits: lowest bits of 64-bit integers as selections.
//!
//! NVIDIA's driver 580 takes the lowest bit of a 64-bit sum for 1 where it is multiplied and added to a 64-bit remainder:
//! `t % 3 + (n + t / 3 & 1) * 3` gives `t % 3 + 3`. A selection between 1 and 0 by the same bit is compiled correctly. The driver
//! treats remainders by two like such bits.

use super::shader_editor::ShaderEditor;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};

/// The module with selections in place of parity bits; `None` where it has none.
pub fn select_parity_bits(module: &SpirvModule) -> Option<SpirvModule> {
    let definitions = IdDefinitions::from_module(module);
    let parities: Vec<(Inst, Id)> = module
        .all_insts()
        .filter_map(|inst| Some((inst.handle(), match_parity(module, &definitions, &inst)?)))
        .collect();
    let (_, ty) = *parities.first()?;
    let mut module = module.clone();
    let mut editor = ShaderEditor {
        module: &mut module,
    };
    let bool_ty = editor.declare_type(Op::TypeBool, &[]);
    let [zero, one] = [0, 1].map(|value| {
        let id = editor.module.fresh_id();
        let words = [ty.word(), id.word(), value, 0];
        editor.append_instruction(ModuleSection::Globals, Op::Constant, &words);
        id
    });
    for (inst, ty) in parities {
        let module = &mut *editor.module;
        let Some(result) = module.inst(inst).result() else {
            continue;
        };
        let [bit, is_odd] = [0; 2].map(|_| module.fresh_id());
        module.words_mut(inst)[1] = bit.word();
        let choice = [ty, result, is_odd, one, zero].map(Id::word);
        let choice = module.create_inst(Op::Select, &choice);
        module.insert_after(inst, choice);
        let compared = [bool_ty, is_odd, bit, zero].map(Id::word);
        let compared = module.create_inst(Op::INotEqual, &compared);
        module.insert_after(inst, compared);
    }
    Some(module)
}

/// The type of an instruction that computes a 64-bit parity bit.
fn match_parity(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    inst: &InstRef<'_>,
) -> Option<Id> {
    let wanted = match inst.op() {
        Op::BitwiseAnd => 1,
        Op::UMod => 2,
        _ => return None,
    };
    let ty = inst.result_type()?;
    let is_wide = |ty: InstRef<'_>| ty.op() == Op::TypeInt && ty.operand_word(0) == 64;
    definitions.get(module, ty).filter(|ty| is_wide(*ty))?;
    let is_wanted = |id: Id| {
        let constant = definitions.get(module, id);
        constant.is_some_and(|c| {
            c.op() == Op::Constant && (c.operand_word(0), c.operand_word(1)) == (wanted, 0)
        })
    };
    let mut operands = inst.id_operands(0).skip(usize::from(inst.op() == Op::UMod));
    operands.any(is_wanted).then_some(ty)
}

#[cfg(test)]
mod tests {
    use super::super::tests::build_module;
    use super::select_parity_bits;
    use spirula_spirv::text::{PrintOptions, print_assembly};
    use spirula_spirv::verify;

    #[test]
    fn lowest_bits_of_64_become_choices() {
        for body in [
            "%r = OpBitwiseAnd %ulong %a %one\n%s = OpIMul %ulong %r %two",
            "%r = OpBitwiseAnd %ulong %one %a\n%s = OpIMul %ulong %r %two",
            "%r = OpUMod %ulong %a %two\n%s = OpIMul %ulong %r %two",
        ] {
            let changed = select_parity_bits(&build_module(body)).expect("there is one");
            let faults = verify::verify_module(&changed, &verify::VerifyOptions::default());
            assert!(faults.is_ok(), "{faults:?}");
            let text = print_assembly(&changed.to_words(), &PrintOptions::default());
            let text = text.expect("it can be printed");
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let chosen = lines
                .iter()
                .position(|l| l.contains("OpSelect"))
                .expect("a choice");
            let (id, _) = lines[chosen].split_once(' ').expect("it has a result");
            assert!(
                lines[chosen + 1].contains(&format!("OpIMul %2 {id} ")),
                "{text}"
            );
        }
    }

    #[test]
    fn others_stay() {
        for body in [
            "%r = OpBitwiseAnd %uint %n %one_32",
            "%r = OpBitwiseAnd %ulong %a %two",
            "%r = OpUMod %ulong %two %a",
        ] {
            assert!(select_parity_bits(&build_module(body)).is_none(), "{body}");
        }
    }
}
