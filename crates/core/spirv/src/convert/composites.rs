//! Lowering of copies and selections of whole composites, which 1.4 introduced, to earlier versions.

use super::ConvertError;
use crate::Id;
use crate::analysis::IdDefinitions;
use crate::grammar::{Op, SpirvVersion};
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};

/// Most members of a copied composite.
const MOST_PARTS: usize = 1024;

/// Replaces `OpCopyLogical` by copies of the parts. `OpSelect` of vectors by one scalar becomes a choice for each
/// component, and `OpSelect` of other composites choices of their parts.
///
/// # Errors
/// When a composite has too many parts, or a number of them that is not known.
pub(super) fn lower_composites(
    module: &mut SpirvModule,
    version: SpirvVersion,
) -> Result<(), ConvertError> {
    let definitions = IdDefinitions::from_module(module);
    let is_late = |i: &InstRef<'_>| match i.op() {
        Op::CopyLogical => true,
        Op::Select => {
            let ty = |id| definitions.get(module, id).and_then(InstRef::result_type);
            let op = |id: Option<Id>| id.and_then(|id| definitions.defining_op(module, id));
            let whole = op(i.result_type());
            let scalar = op(ty(i.id_operand(0))) == Some(Op::TypeBool);
            match whole {
                Some(Op::TypeVector) => scalar,
                Some(Op::TypeStruct | Op::TypeArray | Op::TypeMatrix) => true,
                _ => false,
            }
        }
        _ => false,
    };
    let insts = module
        .functions()
        .iter()
        .flat_map(|f| module.function_insts(*f));
    let late: Vec<Inst> = insts.filter(is_late).map(InstRef::handle).collect();
    for at in late {
        let inst = module.inst(at);
        let (op, words) = (inst.op(), inst.words().to_vec());
        let ids: Vec<Id> = inst.id_operands(0).collect();
        let Some(ty) = inst.result_type() else {
            continue;
        };
        let mut parts = CompositeExpander {
            definitions: &definitions,
            at,
            left: MOST_PARTS,
        };
        let made = match op {
            Op::CopyLogical => {
                let from = definitions.get(module, ids[0]);
                let from = from.and_then(InstRef::result_type);
                from.and_then(|from| parts.emit_copy(module, ids[0], from, ty))
            }
            _ => parts.emit_select(module, ids[0], ids[1], ids[2], ty),
        };
        let Some(made) = made else {
            let what = "its parts are too many or not known";
            return Err(ConvertError::new(version, module.inst(at), what));
        };
        // The result keeps its id.
        let copy = module.create_inst(Op::CopyObject, &[words[0], words[1], made.word()]);
        module.insert_before(at, copy);
        module.remove_inst(at);
    }
    Ok(())
}

/// Makes composites of parts before an instruction.
struct CompositeExpander<'a> {
    definitions: &'a IdDefinitions,
    at: Inst,
    left: usize,
}

impl CompositeExpander<'_> {
    fn emit_instruction(
        &mut self,
        module: &mut SpirvModule,
        op: Op,
        ty: Id,
        operands: &[u32],
    ) -> Option<Id> {
        self.left = self.left.checked_sub(1)?;
        let id = module.fresh_id();
        let words = [&[ty.word(), id.word()], operands].concat();
        let inst = module.create_inst(op, &words);
        module.insert_before(self.at, inst);
        Some(id)
    }

    /// The types of a composite's parts.
    fn component_types(&self, module: &SpirvModule, ty: Id) -> Option<Vec<Id>> {
        let inst = self.definitions.get(module, ty)?;
        match inst.op() {
            Op::TypeStruct => Some(inst.id_operands(0).collect()),
            Op::TypeVector | Op::TypeMatrix => Some(vec![
                inst.id_operand(0);
                inst.operand_word(1).min(MOST_PARTS as u32)
                    as usize
            ]),
            Op::TypeArray => {
                let length = self
                    .definitions
                    .constant_value(module, inst.id_operand(1))?;
                (length <= MOST_PARTS as u64).then(|| vec![inst.id_operand(0); length as usize])
            }
            _ => None,
        }
    }

    /// A value of one type as a value of another that has parts of the same meaning.
    fn emit_copy(&mut self, module: &mut SpirvModule, value: Id, from: Id, to: Id) -> Option<Id> {
        if from == to {
            return Some(value);
        }
        let (old, new) = (
            self.component_types(module, from)?,
            self.component_types(module, to)?,
        );
        let mut parts = Vec::with_capacity(new.len());
        for (number, (from, to)) in old.into_iter().zip(new).enumerate() {
            let operands = [value.word(), number as u32];
            let part = self.emit_instruction(module, Op::CompositeExtract, from, &operands)?;
            parts.push(self.emit_copy(module, part, from, to)?.word());
        }
        self.emit_instruction(module, Op::CompositeConstruct, to, &parts)
    }

    /// One of two values by a condition.
    fn emit_select(
        &mut self,
        module: &mut SpirvModule,
        which: Id,
        a: Id,
        b: Id,
        ty: Id,
    ) -> Option<Id> {
        let op = self.definitions.defining_op(module, ty)?;
        let operands = [which.word(), a.word(), b.word()];
        let is_whole = !matches!(
            op,
            Op::TypeVector | Op::TypeStruct | Op::TypeArray | Op::TypeMatrix
        );
        if is_whole {
            return self.emit_instruction(module, Op::Select, ty, &operands);
        }
        if op == Op::TypeVector {
            let bools = self.splat_condition(module, which, ty)?;
            let operands = [bools.word(), a.word(), b.word()];
            return self.emit_instruction(module, Op::Select, ty, &operands);
        }
        let types = self.component_types(module, ty)?;
        let mut parts = Vec::with_capacity(types.len());
        for (number, ty) in types.into_iter().enumerate() {
            let number = number as u32;
            let first =
                self.emit_instruction(module, Op::CompositeExtract, ty, &[a.word(), number])?;
            let second =
                self.emit_instruction(module, Op::CompositeExtract, ty, &[b.word(), number])?;
            parts.push(self.emit_select(module, which, first, second, ty)?.word());
        }
        self.emit_instruction(module, Op::CompositeConstruct, ty, &parts)
    }

    /// The condition for each component of a vector.
    fn splat_condition(&mut self, module: &mut SpirvModule, which: Id, vector: Id) -> Option<Id> {
        let count = self.definitions.get(module, vector)?.operand_word(1);
        if count as usize > MOST_PARTS {
            return None;
        }
        let condition = self.definitions.get(module, which)?.result_type()?;
        if self.definitions.defining_op(module, condition)? == Op::TypeVector {
            return Some(which);
        }
        let wanted = [condition.word(), count];
        let globals = module.section_insts(ModuleSection::Globals);
        let mut same = globals.filter(|i| i.op() == Op::TypeVector && i.operands() == wanted);
        let ty = same.next().and_then(InstRef::result).unwrap_or_else(|| {
            let id = module.fresh_id();
            let inst = module.create_inst(Op::TypeVector, &[id.word(), wanted[0], wanted[1]]);
            module.append_inst(ModuleSection::Globals.list(), inst);
            id
        });
        let parts = vec![which.word(); count as usize];
        self.emit_instruction(module, Op::CompositeConstruct, ty, &parts)
    }
}
