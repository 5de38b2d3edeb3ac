//! Component uses: the components of a value that some result is computed from.
//!
//! A vector that is read whole may have components that were never written, as long as they are only moved into other
//! vectors. An instruction that extracts a component and computes with it, stores it or branches on it reads that
//! component. Arithmetic that works on each component by itself passes the use on. A dot product reads all
//! components.

use super::definedness::{DefinednessFlow, classify_flow};
use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::promoted_variables::MAX_SCALARS;
use crate::analysis::provenance::is_private;
use crate::module::operand_ids::operand_ids;
use crate::module::types::LoweredTypeKind;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use spirula_spirv::{Id, IdMap};

/// The mask of components that are used by themselves, by scalar or vector. The cost is linear in the instructions.
pub(crate) fn used_components(program: &AnalysedModule<'_>, moved: &IdMap<bool>) -> IdMap<u64> {
    let mut uses = ComponentUses {
        program,
        moved,
        used: IdMap::new(program.module.bound(), 0),
        pending: Vec::new(),
    };
    let functions = program.functions.bottom_up.iter();
    for inst in functions.flat_map(|func| program.module.function_insts(*func)) {
        uses.note_instruction(inst);
    }
    while let Some(id) = uses.pending.pop() {
        if let Some(inst) = program.definitions.get(program.module, id) {
            uses.propagate_uses(inst, uses.used[id]);
        }
    }
    uses.used
}

/// The values that are only moved, so that no part of them need be defined. Such a value only becomes part of vectors
/// that are assembled component by component, or of structures. A variant of an enumeration without its fields is an
/// example. It may also be an operand of a selection. It may go from one private variable to another, as a function's
/// result in a variable of its caller does. A scalar that only other blocks use counts as moved, too: optimisers hoist
/// loads that only some branches need. The cost is linear in the instructions.
pub(crate) fn find_moved_values(program: &AnalysedModule<'_>) -> IdMap<bool> {
    let mut moved = IdMap::new(program.module.bound(), true);
    // The number of the block of each loaded scalar.
    let mut loaded_in = IdMap::new(program.module.bound(), 0_u32);
    let mut block = 0;
    let functions = program.functions.bottom_up.iter();
    for inst in functions.flat_map(|func| program.module.function_insts(*func)) {
        block += u32::from(inst.op() == Op::Label);
        let joins = is_structure(program, inst);
        let goes_on = |id: Id| match inst.op() {
            Op::CompositeInsert => {
                id == inst.id_operand(1) || joins && is_private_load(program, id)
            }
            Op::CompositeConstruct => joins && is_private_load(program, id),
            Op::VectorInsertDynamic => id == inst.id_operand(0),
            Op::Phi => is_private_load(program, id),
            Op::Select => id != inst.id_operand(0) && is_private_load(program, id),
            Op::Store => {
                id == inst.id_operand(1)
                    && is_private(program, inst.id_operand(0))
                    && is_private_load(program, id)
            }
            _ => false,
        };
        let is_far = |id: Id| loaded_in[id] != 0 && loaded_in[id] != block;
        if inst.op() != Op::VectorShuffle {
            operand_ids(inst)
                .filter(|id| !goes_on(*id) && !is_far(*id))
                .for_each(|id| moved.set(id, false));
        }
        if let Some(id) = inst.result()
            && is_private_load(program, id)
            && has_one_scalar(program, id)
        {
            loaded_in.set(id, block);
        }
    }
    moved
}

/// Whether the result of an instruction is a structure or an array.
fn is_structure(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
    let ty = inst.result_type().map(|ty| program.types.kind(ty));
    matches!(
        ty,
        Some(LoweredTypeKind::Struct { .. } | LoweredTypeKind::Array { .. })
    )
}

/// Whether a value has one scalar. A structure or array of one scalar has one, too.
fn has_one_scalar(program: &AnalysedModule<'_>, id: Id) -> bool {
    let ty = program.type_of(id);
    ty.is_some_and(|ty| program.types.scalar_count(ty) == 1)
}

/// Whether a value is loaded from a private variable.
fn is_private_load(program: &AnalysedModule<'_>, value: Id) -> bool {
    let inst = program.definitions.get(program.module, value);
    inst.is_some_and(|inst| inst.op() == Op::Load && is_private(program, inst.id_operand(0)))
}

struct ComponentUses<'a, 'm> {
    program: &'a AnalysedModule<'m>,
    /// Values that are only moved.
    moved: &'a IdMap<bool>,
    used: IdMap<u64>,
    pending: Vec<Id>,
}

impl ComponentUses<'_, '_> {
    fn mark_components(&mut self, id: Id, components: u64) {
        let mask = self.used[id] | components;
        if std::mem::replace(self.used.get_mut(id), mask) != mask {
            self.pending.push(id);
        }
    }

    /// Marks the operands that an instruction uses whatever its result is used for.
    fn note_instruction(&mut self, inst: InstRef<'_>) {
        if is_value_transfer(self.program, inst) {
            return self.note_stored(inst);
        }
        let whole = matches!(
            classify_flow(inst.op()),
            Some(DefinednessFlow::All | DefinednessFlow::Sum)
        );
        for id in operand_ids(inst) {
            match self.component_count(id) {
                Some(1) => self.mark_components(id, 1),
                Some(count) if whole => self.mark_components(id, u64::MAX >> (64 - count)),
                None if needs_matrices(inst.op()) => self.mark_matrix(id),
                _ => {}
            }
        }
    }

    /// Marks all of a matrix.
    fn mark_matrix(&mut self, id: Id) {
        let types = &self.program.types;
        let ty = self.program.type_of(id);
        let matrix = ty.filter(|ty| matches!(types.kind(*ty), LoweredTypeKind::Matrix { .. }));
        let count = matrix.map_or(0, |ty| types.scalar_count(ty));
        if matches!(count, 1..=MAX_SCALARS) {
            self.mark_components(id, u64::MAX >> (64 - count));
        }
    }

    /// Marks a scalar that is stored: nothing else of it can be read.
    fn note_stored(&mut self, inst: InstRef<'_>) {
        let value = (inst.op() == Op::Store).then(|| inst.id_operand(1));
        if let Some(value) =
            value.filter(|v| self.component_count(*v) == Some(1) && !self.moved[*v])
        {
            self.mark_components(value, 1);
        }
    }

    /// Marks the operands from which components of a result come.
    fn propagate_uses(&mut self, inst: InstRef<'_>, components: u64) {
        let literals = inst.operands();
        match inst.op() {
            Op::CompositeExtract => {
                if let (&[_, n @ 0..64], Some(_)) =
                    (literals, self.component_count(inst.id_operand(0)))
                {
                    self.mark_components(inst.id_operand(0), 1 << n);
                }
            }
            Op::CompositeConstruct => {
                let mut at = 0;
                for part in inst.id_operands(0) {
                    let Some(count) = self.component_count(part).filter(|_| at < MAX_SCALARS)
                    else {
                        return;
                    };
                    self.mark_components(part, components >> at & (u64::MAX >> (64 - count)));
                    at += count;
                }
            }
            Op::CompositeInsert => {
                if let &[_, _, n @ 0..64] = literals {
                    self.mark_components(inst.id_operand(0), components >> n & 1);
                    self.mark_components(inst.id_operand(1), components & !(1 << n));
                }
            }
            Op::VectorShuffle => self.propagate_shuffled_uses(inst, components),
            Op::CopyObject | Op::VectorTimesScalar => {
                self.mark_components(inst.id_operand(0), components)
            }
            op if matches!(
                classify_flow(op),
                Some(DefinednessFlow::Each | DefinednessFlow::Masked | DefinednessFlow::Filled)
            ) =>
            {
                for id in inst.id_operands(0) {
                    if self.component_count(id) != Some(1) {
                        self.mark_components(id, components);
                    }
                }
            }
            _ => {}
        }
    }

    fn propagate_shuffled_uses(&mut self, inst: InstRef<'_>, components: u64) {
        let Some(first) = self.component_count(inst.id_operand(0)) else {
            return;
        };
        for (to, from) in inst.operands()[2..].iter().enumerate().take(MAX_SCALARS) {
            let from = *from as usize;
            match (components >> to & 1 != 0, from.checked_sub(first)) {
                (false, _) => {}
                (true, None) => self.mark_components(inst.id_operand(0), 1 << from),
                (true, Some(from @ 0..64)) => self.mark_components(inst.id_operand(1), 1 << from),
                _ => {}
            }
        }
    }

    /// The components of a scalar or vector.
    fn component_count(&self, id: Id) -> Option<usize> {
        let ty = self.program.type_of(id)?;
        match self.program.types.kind(ty) {
            LoweredTypeKind::Scalar(_) => Some(1),
            LoweredTypeKind::Vector { count, .. } => {
                Some(count as usize).filter(|n| *n <= MAX_SCALARS)
            }
            _ => None,
        }
    }
}

/// Whether an operation computes with all of a matrix.
fn needs_matrices(op: Op) -> bool {
    matches!(
        op,
        Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix | Op::ExtInst
    )
}

/// Whether an instruction only passes values on, so that they may be undefined.
fn is_value_transfer(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::CompositeConstruct
        | Op::CompositeInsert
        | Op::CompositeExtract
        | Op::VectorShuffle
        | Op::VectorInsertDynamic
        | Op::CopyObject
        | Op::FreezeKHR
        | Op::Bitcast
        | Op::Phi
        | Op::Select
        | Op::FunctionCall
        | Op::ReturnValue => true,
        Op::Store => is_private(program, inst.id_operand(0)),
        _ => false,
    }
}
