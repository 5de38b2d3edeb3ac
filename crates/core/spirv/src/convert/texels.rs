//! Lowering of the image operands `SignExtend` and `ZeroExtend` (SPIR-V 1.4).

use crate::analysis::IdDefinitions;
use crate::grammar::enumerants::ImageOperands;
use crate::grammar::{Kind, Op, OperandIter, SpirvVersion};
use crate::ir::{Inst, InstRef, SpirvModule};

/// The first version with them.
const EXTENSIONS: SpirvVersion = SpirvVersion::new(1, 4);

/// Removes extension operands from image operands if they agree with the sampled type of the image. Without them
/// texels are extended by the signedness of that type (Vulkan, *Image Sign and Zero Extension*). The version has
/// no form for others; they stay.
pub(super) fn drop_extensions(module: &mut SpirvModule, version: SpirvVersion) {
    if version >= EXTENSIONS {
        return;
    }
    let definitions = IdDefinitions::from_module(module);
    let changes: Vec<(Inst, usize, u32)> = module
        .all_insts()
        .filter_map(|inst| {
            let (at, mask) = find_image_operands(inst)?;
            let implied = find_implied_extension(module, &definitions, inst)?;
            (mask & implied != 0).then_some((inst.handle(), at, mask & !implied))
        })
        .collect();
    for (inst, at, mask) in changes {
        let mut words = module.inst(inst).words().to_vec();
        if mask == 0 {
            words.remove(at);
        } else {
            words[at] = mask;
        }
        module.replace_words(inst, &words);
    }
}

/// Where an instruction's image operands are, in words, and which there are.
fn find_image_operands(inst: InstRef<'_>) -> Option<(usize, u32)> {
    let row = inst.op().info()?;
    row.operands
        .iter()
        .find(|o| o.kind == Kind::ImageOperands)?;
    let mut at = 0;
    for operand in OperandIter::new(inst.op(), inst.words()).map_while(Result::ok) {
        if operand.kind == Kind::ImageOperands {
            return Some((at, operand.words[0]));
        }
        at += operand.words.len();
    }
    None
}

/// The extension that the sampled type of an instruction's image implies.
fn find_implied_extension(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    inst: InstRef<'_>,
) -> Option<u32> {
    let object = definitions.get(module, inst.id_operand(0))?;
    let mut ty = definitions.get(module, object.result_type()?)?;
    if ty.op() == Op::TypeSampledImage {
        ty = definitions.get(module, ty.id_operand(0))?;
    }
    let sampled = definitions.get(module, ty.id_operand(0))?;
    (ty.op() == Op::TypeImage && sampled.op() == Op::TypeInt).then(|| {
        match sampled.operand_word(1) {
            0 => ImageOperands::ZeroExtend.0,
            _ => ImageOperands::SignExtend.0,
        }
    })
}
