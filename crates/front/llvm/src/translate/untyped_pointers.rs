//! Untyped pointers: SPV_KHR_untyped_pointers.
//!
//! The translation emits typed pointers, and [`make_untyped`] removes the pointees from the
//! finished words. One pointer type remains for each storage class, variables and address
//! computations state their pointees, and casts between pointers of one class disappear. Pointers
//! to functions and to built-in variables are unchanged. Functions of extended instruction sets
//! require typed pointers, so their arguments are cast.
//!
//! Cost: two passes over the words.

use super::words::push_string;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::binary::{InstructionStream, RawInst};
use spirula_spirv::grammar::enumerants::{AddressingModel, Capability, StorageClass};
use spirula_spirv::grammar::{
    AccessChainForm, ExtInstSet, Op, OperandCategory, OperandIter, literal_string,
};
use spirula_spirv::ir as spirv;
use std::collections::HashMap;

/// The extension.
pub(super) const EXTENSION: &str = "SPV_KHR_untyped_pointers";

/// The module with pointers that have no pointee types.
pub(super) fn make_untyped(
    module: &spirv::SpirvModule,
) -> Result<spirv::SpirvModule, SourceDiagnostic> {
    let words = module.to_words();
    let known = UntypedPointerInfo::from_words(&words);
    let bound = words.get(3).copied().unwrap_or(0);
    let mut writer = UntypedPointerWriter {
        out: words[..5.min(words.len())].to_vec(),
        next: bound,
        typed: HashMap::new(),
        declared_address: None,
        known,
    };
    let mut extended = false;
    for inst in InstructionStream::new(&words).flatten() {
        if inst.op != Op::Capability && !std::mem::replace(&mut extended, true) {
            let mut name = Vec::new();
            push_string(&mut name, EXTENSION);
            writer.push_op(Op::Extension, &name);
        }
        writer.rewrite_instruction(&inst);
    }
    if let Some(bound) = writer.out.get_mut(3) {
        *bound = writer.next;
    }
    spirv::SpirvModule::from_words(writer.out)
}

/// Facts that the first pass over the words collects.
#[derive(Default)]
struct UntypedPointerInfo {
    /// By id: the id that replaces it.
    replacements: Vec<u32>,
    /// By id: its type.
    types: Vec<u32>,
    /// Pointer types that lose their pointee: class, pointee.
    pointers: HashMap<u32, (u32, u32)>,
    /// Pointer types that extended instructions need with their pointee.
    needed: Vec<u32>,
    sets: HashMap<u32, Option<&'static ExtInstSet>>,
    /// An integer type of the width of pointers.
    address: Option<u32>,
    /// Bits of pointers.
    address_bits: u32,
}

impl UntypedPointerInfo {
    fn from_words(words: &[u32]) -> UntypedPointerInfo {
        let bound = words.get(3).copied().unwrap_or(0) as usize;
        let mut known = UntypedPointerInfo {
            replacements: (0..bound as u32).collect(),
            types: vec![0; bound],
            ..UntypedPointerInfo::default()
        };
        let mut by_class: HashMap<u32, u32> = HashMap::new();
        let mut functions: HashMap<Vec<u32>, u32> = HashMap::new();
        for inst in InstructionStream::new(words).flatten() {
            match (inst.op, inst.words) {
                (Op::MemoryModel, [addressing, ..]) => {
                    known.address_bits = match AddressingModel(*addressing) {
                        AddressingModel::Physical32 => 32,
                        _ => 64,
                    };
                }
                (Op::TypeInt, [id, bits, 0]) if *bits == known.address_bits => {
                    known.address = Some(*id);
                }
                (Op::TypePointer, [id, class, pointee]) if loses_type(*class) => {
                    known.pointers.insert(*id, (*class, *pointee));
                    let one = *by_class.entry(*class).or_insert(*id);
                    known.replacements[*id as usize] = one;
                }
                (Op::TypeFunction, [id, types @ ..]) => {
                    let types = types.iter().map(|ty| known.resolve_id(*ty)).collect();
                    let one = *functions.entry(types).or_insert(*id);
                    known.replacements[*id as usize] = one;
                }
                (Op::ExtInstImport, [id, name @ ..]) => {
                    known
                        .sets
                        .insert(*id, ExtInstSet::by_name(&literal_string(name)));
                }
                _ => {
                    known.record_value(&inst);
                    known.record_operand_types(&inst);
                }
            }
        }
        known
    }

    fn record_value(&mut self, inst: &RawInst<'_>) {
        let typed = inst
            .op
            .info()
            .is_some_and(|row| row.result == spirula_spirv::grammar::ResultForm::Typed);
        if !typed {
            return;
        }
        let [ty, id, rest @ ..] = inst.words else {
            return;
        };
        self.types[*id as usize] = *ty;
        // Casts of constants remain, because other constants may contain casts but not variables.
        if let (Op::Bitcast, [operand]) = (inst.op, rest)
            && self.pointers.contains_key(ty)
            && self.pointers.contains_key(&self.types[*operand as usize])
        {
            self.replacements[*id as usize] = self.resolve_id(*operand);
        }
    }

    /// Notes the types of operands that keep them.
    fn record_operand_types(&mut self, inst: &RawInst<'_>) {
        if !self.needs_types(inst) {
            return;
        }
        for operand in inst.words {
            let ty = self.types.get(*operand as usize).copied().unwrap_or(0);
            if self.pointers.contains_key(&ty) && !self.needed.contains(&ty) {
                self.needed.push(ty);
            }
        }
    }

    /// Whether an instruction states a property of a variable that the validator accepts only for
    /// typed ones: its lifetime, or its debug location.
    fn is_of_typed_variable(&self, inst: &RawInst<'_>) -> bool {
        match (inst.op, inst.words) {
            (Op::LifetimeStart | Op::LifetimeStop, _) => true,
            (Op::ExtInst, [_, _, set, number, ..]) => {
                let set = self.sets.get(set).copied().flatten();
                let row = set.and_then(|set| set.instruction_by_number(*number));
                row.is_some_and(|row| matches!(row.name, "DebugDeclare" | "DebugGlobalVariable"))
            }
            _ => false,
        }
    }

    /// Whether an instruction requires typed pointers as operands.
    fn needs_types(&self, inst: &RawInst<'_>) -> bool {
        match (inst.op, inst.words) {
            (Op::ExtInst, [_, _, set, ..]) => {
                let set = self.sets.get(set).copied().flatten();
                set.is_some_and(|set| set.name == "OpenCL.std")
            }
            _ => WITH_TYPES.contains(&inst.op),
        }
    }

    fn resolve_id(&self, id: u32) -> u32 {
        self.replacements.get(id as usize).copied().unwrap_or(id)
    }
}

/// Instructions whose operands must be typed pointers.
const WITH_TYPES: &[Op] = &[
    Op::GroupAsyncCopy,
    Op::GroupWaitEvents,
    Op::EnqueueKernel,
    Op::GetKernelWorkGroupSize,
    Op::GetKernelPreferredWorkGroupSizeMultiple,
    Op::GetKernelNDrangeSubGroupCount,
    Op::GetKernelNDrangeMaxSubGroupSize,
    Op::SubgroupBlockReadINTEL,
    Op::SubgroupBlockWriteINTEL,
];

/// Whether pointers of a class have no pointee types.
fn loses_type(class: u32) -> bool {
    let class = StorageClass(class);
    !matches!(class, StorageClass::Input | StorageClass::CodeSectionINTEL)
}

/// An address computation without pointee types.
fn untyped_chain(op: Op) -> Option<Op> {
    let typed = op.access_chain_form().filter(|chain| !chain.is_untyped)?;
    let untyped = AccessChainForm {
        is_untyped: true,
        ..typed
    };
    Some(untyped.opcode())
}

struct UntypedPointerWriter {
    out: Vec<u32>,
    next: u32,
    /// Typed pointer types that were written, by their original id.
    typed: HashMap<u32, u32>,
    /// An integer type that the module did not have.
    declared_address: Option<u32>,
    known: UntypedPointerInfo,
}

impl UntypedPointerWriter {
    fn push_op(&mut self, op: Op, words: &[u32]) {
        self.out
            .push(((words.len() as u32 + 1) << 16) | u32::from(op.0));
        self.out.extend_from_slice(words);
    }

    fn rewrite_instruction(&mut self, inst: &RawInst<'_>) {
        let known = &self.known;
        let is_pointer = |ty: &u32| known.pointers.contains_key(ty);
        let gone = |id: &u32| known.resolve_id(*id) != *id;
        match (inst.op, inst.words) {
            (Op::Capability, words) => {
                if self.out.len() == 5 {
                    self.push_op(Op::Capability, &[Capability::UntypedPointersKHR.0]);
                }
                self.push_op(inst.op, words);
            }
            (Op::TypeVoid, words) if known.address.is_none() && self.declared_address.is_none() => {
                let (fresh, bits) = (self.next, known.address_bits);
                self.next += 1;
                self.declared_address = Some(fresh);
                self.push_op(Op::TypeInt, &[fresh, bits, 0]);
                self.push_op(Op::TypeVoid, words);
            }
            (Op::TypeForwardPointer, [id, ..]) if is_pointer(id) => {}
            (Op::TypePointer, [id, class, pointee]) if is_pointer(id) => {
                self.pointer_type(*id, *class, *pointee);
            }
            (Op::TypeFunction, [id, ..]) if gone(id) => {}
            (Op::Name | Op::Decorate | Op::DecorateId, [id, ..]) if gone(id) => {}
            (Op::Bitcast, [_, id, _]) | (Op::SpecConstantOp, [_, id, ..]) if gone(id) => {}
            (Op::Variable, [ty, id, class, rest @ ..]) if is_pointer(ty) => {
                let pointee = known.pointers[ty].1;
                let mut words = vec![
                    known.resolve_id(*ty),
                    *id,
                    *class,
                    known.resolve_id(pointee),
                ];
                words.extend(rest.iter().map(|id| known.resolve_id(*id)));
                self.push_op(Op::UntypedVariableKHR, &words);
            }
            (Op::SpecConstantOp, [ty, id, op, base, rest @ ..]) if is_pointer(ty) => {
                self.constant_chain(inst, [*ty, *id, *op, *base], rest);
            }
            (op, [ty, id, base, rest @ ..]) if is_pointer(ty) && untyped_chain(op).is_some() => {
                let Some((words, op)) = self.rewrite_access_chain(op, [*ty, *id, *base], rest)
                else {
                    return self.push_remapped(inst);
                };
                self.push_op(op, &words);
            }
            _ if known.is_of_typed_variable(inst) => {}
            _ if known.needs_types(inst) => self.with_types(inst),
            _ => self.push_remapped(inst),
        }
    }

    /// Writes the first pointer type of a class, and any that is needed with its pointee.
    fn pointer_type(&mut self, id: u32, class: u32, pointee: u32) {
        if self.known.resolve_id(id) == id {
            self.push_op(Op::TypeUntypedPointerKHR, &[id, class]);
        }
        if self.known.needed.contains(&id) {
            let fresh = self.next;
            self.next += 1;
            self.typed.insert(id, fresh);
            let pointee = self.known.resolve_id(pointee);
            self.push_op(Op::TypePointer, &[fresh, class, pointee]);
        }
    }

    /// An address computation: its words and its instruction.
    fn rewrite_access_chain(
        &self,
        op: Op,
        [ty, id, base]: [u32; 3],
        rest: &[u32],
    ) -> Option<(Vec<u32>, Op)> {
        let known = &self.known;
        let (_, pointee) = known.pointers.get(known.types.get(base as usize)?)?;
        let mut words = vec![known.resolve_id(ty), id];
        words.extend([self.find_step_type(*pointee), base].map(|id| known.resolve_id(id)));
        words.extend(rest.iter().map(|id| known.resolve_id(*id)));
        Some((words, untyped_chain(op)?))
    }

    /// The type that an address computation steps over. Pointer types are not allowed there, so an
    /// integer of the same size replaces them.
    fn find_step_type(&self, pointee: u32) -> u32 {
        let address = self.known.address.or(self.declared_address);
        let is_pointer = self.known.pointers.contains_key(&pointee);
        address.filter(|_| is_pointer).unwrap_or(pointee)
    }

    fn constant_chain(&mut self, inst: &RawInst<'_>, words: [u32; 4], rest: &[u32]) {
        let [ty, id, op, base] = words;
        match self.rewrite_access_chain(Op(op as u16), [ty, id, base], rest) {
            Some((mut words, op)) => {
                words.insert(2, u32::from(op.0));
                self.push_op(Op::SpecConstantOp, &words);
            }
            None => self.push_remapped(inst),
        }
    }

    /// An instruction whose pointers get types first.
    fn with_types(&mut self, inst: &RawInst<'_>) {
        let mut words = inst.words.to_vec();
        let ids = self.ids_of(inst);
        for (index, word) in words.iter_mut().enumerate() {
            if !ids.get(index).copied().unwrap_or(false) {
                continue;
            }
            let ty = self.known.types.get(*word as usize).copied().unwrap_or(0);
            // The set of an extended instruction is not a value.
            let value = index >= if inst.op == Op::ExtInst { 4 } else { 1 };
            match self.typed.get(&ty) {
                Some(typed) if value => {
                    let cast = self.next;
                    self.next += 1;
                    let operand = self.known.resolve_id(*word);
                    let typed = *typed;
                    self.out.push((4 << 16) | u32::from(Op::Bitcast.0));
                    self.out.extend([typed, cast, operand]);
                    *word = cast;
                }
                _ => *word = self.known.resolve_id(*word),
            }
        }
        self.push_op(inst.op, &words);
    }

    /// Which words of an instruction are ids.
    fn ids_of(&self, inst: &RawInst<'_>) -> Vec<bool> {
        let mut operands = OperandIter::new(inst.op, inst.words);
        if let (Op::ExtInst, [_, _, set, ..]) = (inst.op, inst.words) {
            operands = operands.with_ext(self.known.sets.get(set).copied().flatten());
        }
        let mut ids = Vec::with_capacity(inst.words.len());
        for operand in operands.map_while(Result::ok) {
            let is_id = operand.kind.info().category == OperandCategory::Id;
            ids.extend(operand.words.iter().map(|_| is_id));
        }
        ids
    }

    /// An instruction with other ids.
    fn push_remapped(&mut self, inst: &RawInst<'_>) {
        let mut words = Vec::with_capacity(inst.words.len());
        let mut operands = OperandIter::new(inst.op, inst.words);
        if let (Op::ExtInst, [_, _, set, ..]) = (inst.op, inst.words) {
            operands = operands.with_ext(self.known.sets.get(set).copied().flatten());
        }
        if inst.op == Op::Switch {
            return self.push_op(inst.op, inst.words);
        }
        for operand in operands {
            let Ok(operand) = operand else {
                return self.push_op(inst.op, inst.words);
            };
            let id = operand.kind.info().category == OperandCategory::Id;
            let map = |word: &u32| {
                if id {
                    self.known.resolve_id(*word)
                } else {
                    *word
                }
            };
            words.extend(operand.words.iter().map(map));
        }
        self.push_op(inst.op, &words);
    }
}
