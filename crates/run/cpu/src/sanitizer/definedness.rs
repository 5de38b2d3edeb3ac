//! Definedness analysis: which values may be undefined, as part of them comes from `OpUndef` or from private memory.
//!
//! Values that pass through memory or calls count as defined, so that nothing is reported that may be intended.
//! Structures, arrays and vectors are followed through both, as unoptimised code returns and copies them whole. Each
//! component is followed by itself, since vectors are often assembled component by component from an undefined one,
//! also in memory. Scalars are followed only where they are merely copied and selected. The cost is linear in the
//! instructions of modules with undefined values, and nothing otherwise.

use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::promoted_variables::MAX_SCALARS;
use crate::analysis::provenance::is_private;
use crate::module::operand_ids::operand_ids;
use crate::module::types::LoweredTypeKind;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, InstRef, ModuleSection};
use spirula_spirv::{Id, IdMap};

/// How the definedness of a result follows from that of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinednessFlow {
    /// `OpUndef`.
    Nothing,
    /// The components that are assigned where predecessors are left.
    Phi,
    /// Components move without change.
    Moved,
    /// The first operand selects one of the others.
    Chosen,
    /// A zero operand defines the result, whatever the other one is.
    Masked,
    /// Ones of one side do.
    Filled,
    /// Each component follows from the components at the same position.
    Each,
    /// The result follows from all components. It is undefined only if no component is defined, as one may decide it.
    All,
    /// The result follows from all components, each of which counts.
    Sum,
}

/// The flow of undefined operands through an instruction; none where its result counts as defined.
pub(crate) fn classify_flow(op: Op) -> Option<DefinednessFlow> {
    Some(match op {
        Op::Undef => DefinednessFlow::Nothing,
        Op::Phi => DefinednessFlow::Phi,
        Op::CompositeConstruct
        | Op::CompositeExtract
        | Op::CompositeInsert
        | Op::VectorShuffle
        | Op::CopyLogical => DefinednessFlow::Moved,
        Op::Select => DefinednessFlow::Chosen,
        Op::LogicalAnd | Op::BitwiseAnd | Op::IMul => DefinednessFlow::Masked,
        Op::LogicalOr | Op::BitwiseOr => DefinednessFlow::Filled,
        Op::Any | Op::All => DefinednessFlow::All,
        Op::Dot => DefinednessFlow::Sum,
        op if op.is_access_chain() => DefinednessFlow::Each,
        // Conversions; arithmetic but for matrices; comparisons; operations on bits.
        Op(109..=116 | 126..=141 | 156..=168 | 170..=191 | 194..=205) => DefinednessFlow::Each,
        _ => return None,
    })
}

/// The mask of components that may be undefined, by value. None where no value of the module may be.
pub(crate) fn undefined_components(
    program: &AnalysedModule<'_>,
    moved: &IdMap<bool>,
) -> Option<IdMap<u64>> {
    let mut found = UndefAnalysis {
        program,
        masks: IdMap::new(program.module.bound(), 0),
        moved,
        stored: stored_vectors(program),
    };
    let module = program.module;
    let mut pending: Vec<Id> = Vec::new();
    let insts = || {
        let functions = program.functions.bottom_up.iter();
        functions.flat_map(|func| module.function_insts(*func))
    };
    let undefined = insts().filter(|inst| matches!(inst.op(), Op::Undef | Op::Load));
    for inst in module
        .section_insts(ModuleSection::Globals)
        .chain(undefined)
    {
        if matches!(inst.op(), Op::Undef | Op::ConstantComposite | Op::Load) {
            pending.extend(found.update_result(inst));
        }
    }
    if pending.is_empty() {
        return None;
    }
    let mut uses: Vec<(Id, Id)> = Vec::new();
    for inst in insts().filter(|inst| classify_flow(inst.op()).is_some()) {
        if let Some(id) = inst.result() {
            uses.extend(operand_ids(inst).map(|operand| (operand, id)));
        }
    }
    for inst in insts().filter(|inst| inst.op() == Op::FunctionCall) {
        if let Some(id) = inst.result() {
            uses.extend(returned_values(program, inst).map(|value| (value, id)));
        }
    }
    uses.extend(found.stored.iter().map(|(load, value)| (*value, *load)));
    uses.sort_unstable();
    while let Some(id) = pending.pop() {
        let first = uses.partition_point(|(operand, _)| *operand < id);
        let users = uses[first..].iter();
        for (_, user) in users.take_while(|(operand, _)| *operand == id) {
            let user = program.definitions.get(module, *user);
            pending.extend(user.and_then(|inst| found.update_result(inst)));
        }
    }
    Some(found.masks)
}

/// Loads of vectors from private memory with the values that are stored through the same pointer, in order.
fn stored_vectors(program: &AnalysedModule<'_>) -> Vec<(Id, Id)> {
    let functions = program.functions.bottom_up.iter();
    let insts = functions.flat_map(|func| program.module.function_insts(*func));
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    for inst in insts {
        match (inst.op(), inst.result()) {
            (Op::Load, Some(load)) if is_vector(program, load) => {
                loads.push((inst.id_operand(0), load))
            }
            (Op::Store, _) if is_vector(program, inst.id_operand(1)) => {
                stores.push((inst.id_operand(0), inst.id_operand(1)));
            }
            _ => {}
        }
    }
    loads.retain(|(pointer, _)| is_private(program, *pointer));
    stores.sort_unstable();
    let mut pairs = Vec::new();
    for (pointer, load) in loads {
        let first = stores.partition_point(|(to, _)| *to < pointer);
        let same = stores[first..].iter().take_while(|(to, _)| *to == pointer);
        pairs.extend(same.map(|(_, value)| (load, *value)));
    }
    pairs.sort_unstable();
    pairs
}

fn is_vector(program: &AnalysedModule<'_>, id: Id) -> bool {
    let kind = program.type_of(id).map(|ty| program.types.kind(ty));
    matches!(kind, Some(LoweredTypeKind::Vector { .. }))
}

/// Whether values of a type are followed through memory: all but scalars.
pub(crate) fn is_followed(program: &AnalysedModule<'_>, ty: Id) -> bool {
    matches!(
        program.types.kind(ty),
        LoweredTypeKind::Struct { .. }
            | LoweredTypeKind::Array { .. }
            | LoweredTypeKind::Vector { .. }
    )
}

/// The values that a called function may return, where they are followed.
fn returned_values<'m>(
    program: &AnalysedModule<'m>,
    call: InstRef<'m>,
) -> impl Iterator<Item = Id> + use<'m> {
    let whole = call
        .result_type()
        .is_some_and(|ty| is_followed(program, ty));
    let func: Option<Func> = program
        .functions
        .by_id(call.id_operand(0))
        .filter(|_| whole);
    let insts = func.map(|func| program.module.function_insts(func));
    let returns = insts.into_iter().flatten();
    let returns = returns.filter(|inst| inst.op() == Op::ReturnValue);
    returns.map(|inst| inst.id_operand(0))
}

/// The state of the analysis.
struct UndefAnalysis<'a, 'm> {
    program: &'a AnalysedModule<'m>,
    masks: IdMap<u64>,
    /// Values that are only moved.
    moved: &'a IdMap<bool>,
    /// Loads of vectors, each with the values that it may return.
    stored: Vec<(Id, Id)>,
}

impl UndefAnalysis<'_, '_> {
    /// Updates the result of an instruction. Returns it if more of it may be undefined than before.
    fn update_result(&mut self, inst: InstRef<'_>) -> Option<Id> {
        let (id, ty) = inst.result().zip(inst.result_type())?;
        let count = self.program.types.scalar_count(ty);
        if count > MAX_SCALARS {
            return None;
        }
        let mask = self.masks[id] | (self.compute_undefined(inst, count) & all_components(count));
        (std::mem::replace(self.masks.get_mut(id), mask) != mask).then_some(id)
    }

    /// Components of a result that may be undefined.
    fn compute_undefined(&self, inst: InstRef<'_>, count: usize) -> u64 {
        let any = |of: &[u64]| of.iter().fold(0, |any, mask| any | mask);
        match inst.op() {
            Op::Load => return self.loaded_undefined(inst, count),
            Op::FunctionCall => {
                let values = returned_values(self.program, inst);
                return values.fold(0, |mask, value| mask | self.masks[value]);
            }
            _ => {}
        }
        match classify_flow(inst.op()) {
            Some(DefinednessFlow::Nothing) => all_components(count),
            Some(DefinednessFlow::Moved) | None => self.moved_undefined(inst),
            Some(DefinednessFlow::Phi) => inst
                .id_operands(0)
                .step_by(2)
                .fold(0, |m, id| m | self.masks[id]),
            Some(DefinednessFlow::Each)
                if inst.operands().len() == 2 && inst.id_operand(0) == inst.id_operand(1) =>
            {
                0
            }
            Some(
                DefinednessFlow::Chosen
                | DefinednessFlow::Masked
                | DefinednessFlow::Filled
                | DefinednessFlow::Each,
            ) => {
                let parts: Vec<u64> = inst
                    .id_operands(0)
                    .map(|id| self.spread_mask(id, count))
                    .collect();
                any(&parts)
            }
            Some(DefinednessFlow::Sum) => {
                let known = inst.id_operands(0).all(|id| self.masks[id] == 0);
                if known { 0 } else { all_components(count) }
            }
            Some(DefinednessFlow::All) => {
                let nothing = |id: Id| self.masks[id] == all_components(self.component_count(id));
                if inst.id_operands(0).all(nothing) {
                    all_components(count)
                } else {
                    0
                }
            }
        }
    }

    /// The mask of a load from private memory. A vector is followed where it is written component by component, or
    /// where it may be undefined when it is stored.
    fn loaded_undefined(&self, load: InstRef<'_>, count: usize) -> u64 {
        let Some((id, ty)) = load.result().zip(load.result_type()) else {
            return 0;
        };
        if !is_private(self.program, load.id_operand(0)) {
            return 0;
        }
        if !is_followed(self.program, ty) {
            return u64::from(self.moved[id]);
        }
        if self.moved[id] || !is_vector(self.program, id) {
            return all_components(count);
        }
        let first = self.stored.partition_point(|(load, _)| *load < id);
        let same = self.stored[first..]
            .iter()
            .take_while(|(load, _)| *load == id);
        same.fold(0, |mask, (_, value)| mask | self.masks[*value])
    }

    fn moved_undefined(&self, inst: InstRef<'_>) -> u64 {
        match inst.op() {
            Op::CompositeConstruct | Op::ConstantComposite => {
                self.join_masks(inst.id_operands(0)).0
            }
            Op::CompositeExtract => {
                let first = self.first_of(inst.id_operand(0), &inst.operands()[1..]);
                first.map_or(0, |at| self.masks[inst.id_operand(0)] >> at)
            }
            Op::CompositeInsert => {
                let (part, whole) = (inst.id_operand(0), self.masks[inst.id_operand(1)]);
                let first = self.first_of(inst.id_operand(1), &inst.operands()[2..]);
                first.map_or(0, |at| {
                    (whole & !(all_components(self.component_count(part)) << at))
                        | self.masks[part] << at
                })
            }
            Op::VectorShuffle => {
                let (both, count) = self.join_masks(inst.id_operands(0).take(2));
                let bit = |n: u32| n as usize >= count || both >> n & 1 != 0;
                let places = inst.operands()[2..].iter().take(MAX_SCALARS).enumerate();
                places.fold(0, |mask, (to, from)| mask | u64::from(bit(*from)) << to)
            }
            Op::CopyLogical => self.masks[inst.id_operand(0)],
            _ => 0,
        }
    }

    /// The mask of several values in a row, and the number of their components.
    fn join_masks(&self, parts: impl Iterator<Item = Id>) -> (u64, usize) {
        parts.fold((0, 0), |(mask, at), part| {
            if at < MAX_SCALARS {
                (
                    mask | self.masks[part] << at,
                    at + self.component_count(part),
                )
            } else {
                (mask, at)
            }
        })
    }

    /// The mask of a value at `count` positions. A scalar is at all of them.
    fn spread_mask(&self, id: Id, count: usize) -> u64 {
        match (self.component_count(id), self.masks[id]) {
            (1, mask) if mask != 0 => all_components(count),
            (_, mask) => mask,
        }
    }

    /// The number of the first component that a path leads to.
    fn first_of(&self, whole: Id, path: &[u32]) -> Option<usize> {
        let (mut ty, mut at) = (self.program.type_of(whole)?, 0);
        for index in path {
            let (part, before) = self.program.types.find_part(ty, *index)?;
            (ty, at) = (part, at + before);
        }
        (at < MAX_SCALARS).then_some(at)
    }

    fn component_count(&self, id: Id) -> usize {
        let ty = self.program.type_of(id);
        ty.map_or(0, |ty| self.program.types.scalar_count(ty))
    }
}

fn all_components(count: usize) -> u64 {
    u64::MAX >> (64 - count.clamp(1, MAX_SCALARS))
}
