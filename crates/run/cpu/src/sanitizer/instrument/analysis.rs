//! Sanitizer analysis: facts about a kernel by which checks are chosen.

use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::provenance::PointerProvenance;
use crate::layout::globals::{ReachedGlobals, is_workgroup};
use crate::module::types::LoweredTypeKind;
use crate::sanitizer::component_uses::{find_moved_values, used_components};
use crate::sanitizer::covered_loads::covered_loads;
use crate::sanitizer::definedness::undefined_components;
use crate::sanitizer::load_purpose::{LoadPurpose, classify_load_purposes};
use crate::sanitizer::strided_group::StridedGroups;
use crate::sanitizer::volatile_updates::can_invocations_wait;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::{Id, IdMap};

/// Most scalars of shared memory whose checks are emitted at each access. Each takes a dozen blocks, most of which rarely
/// run.
const MAX_IN_PLACE: usize = 16;

/// Facts about a kernel by which checks are chosen.
pub(crate) struct SanitizerAnalysis {
    /// The variable or argument that each pointer comes from.
    pub provenance: PointerProvenance,
    /// The use of each load's result.
    pub purposes: IdMap<LoadPurpose>,
    /// Loads whose address is written right after.
    pub covered: IdMap<bool>,
    /// Loads that are checked together.
    pub strided_groups: StridedGroups,
    /// The mask of components that are used by themselves, by value.
    pub used: IdMap<u64>,
    /// Values that are only moved, not computed with.
    pub moved: IdMap<bool>,
    /// The mask of components that may be undefined, by value; none where no value may be.
    pub undefined: Option<IdMap<u64>>,
    /// Logarithm of the bytes that a cell of workgroup memory stands for.
    pub group_granule: u32,
    /// Whether private memory may be reached through pointers of unknown origin.
    pub registers: bool,
    /// Whether any function has a loop.
    pub loops: bool,
    /// Whether invocations may wait for others in loops.
    pub waits: bool,
    /// Whether checks of shared memory are emitted at each access instead of in functions.
    pub in_place: bool,
}

/// A row of the table of arguments and bindings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowKind {
    /// Logarithm of the bytes of a cell.
    pub granule: u32,
    /// Whether invocations may race for its memory.
    pub races: bool,
}

impl SanitizerAnalysis {
    /// Analyses a kernel before it is lowered.
    pub fn new(program: &AnalysedModule<'_>, globals: &ReachedGlobals) -> SanitizerAnalysis {
        let provenance = PointerProvenance::from_program(program);
        let entry = program.functions.get(program.entry.func);
        let groups = entry
            .params
            .iter()
            .copied()
            .filter(|p| is_workgroup(program, *p))
            .chain(globals.workgroup.iter().copied());
        let group_granule = groups
            .map(|id| provenance.access_granule(id))
            .min()
            .unwrap_or(2);
        let moved = find_moved_values(program);
        let purposes = classify_load_purposes(program);
        let strided_groups = StridedGroups::from_program(program);
        let mut functions = program.functions.bottom_up.iter();
        let called =
            functions.any(|f| *f != program.entry.func && !program.functions.get(*f).inline);
        SanitizerAnalysis {
            registers: provenance.has_unknown() || called,
            waits: can_invocations_wait(program, &purposes),
            purposes,
            used: used_components(program, &moved),
            undefined: undefined_components(program, &moved),
            moved,
            covered: covered_loads(program),
            in_place: count_shared_scalars(program, &strided_groups) <= MAX_IN_PLACE,
            strided_groups,
            provenance,
            group_granule,
            loops: has_loops(program),
        }
    }

    /// The rows of arguments, then of bindings, in order.
    pub fn collect_row_kinds(
        &self,
        program: &AnalysedModule<'_>,
        globals: &ReachedGlobals,
    ) -> Vec<RowKind> {
        let row = |id: Id| RowKind {
            granule: self.provenance.access_granule(id),
            races: self.provenance.is_written(id),
        };
        let params = &program.functions.get(program.entry.func).params;
        let mut rows: Vec<RowKind> = params.iter().map(|p| row(*p)).collect();
        for index in 0..globals.bindings.len() as u32 {
            let same = globals.bound.iter().filter(|b| b.row == index);
            let kinds = same.map(|b| row(b.id));
            let none = RowKind {
                granule: 2,
                races: false,
            };
            rows.push(kinds.fold(none, |a, b| RowKind {
                granule: a.granule.min(b.granule),
                races: a.races || b.races,
            }));
        }
        rows
    }
}

/// Number of scalars that are accessed in memory which invocations may share. Strided groups are left out.
fn count_shared_scalars(program: &AnalysedModule<'_>, groups: &StridedGroups) -> usize {
    let functions = program.functions.bottom_up.iter();
    let insts = functions.flat_map(|func| program.module.function_insts(*func));
    let accessed = insts.filter_map(|inst| match inst.op() {
        Op::Load => {
            let load = inst.result()?;
            groups
                .group_of_load(load)
                .is_none()
                .then_some((inst.id_operand(0), load))
        }
        Op::Store => Some((inst.id_operand(0), inst.id_operand(1))),
        _ => None,
    });
    let shared = accessed.filter(|(pointer, _)| is_shared(program, *pointer));
    let scalars = |value| {
        program
            .type_of(value)
            .map(|ty| program.types.scalar_count(ty))
    };
    shared.filter_map(|(_, value)| scalars(value)).sum()
}

/// Whether a pointer is to memory that invocations may share.
fn is_shared(program: &AnalysedModule<'_>, pointer: Id) -> bool {
    let ty = program.type_of(pointer);
    let class = ty.map(|ty| program.types.kind(ty));
    !matches!(
        class,
        Some(LoweredTypeKind::Pointer {
            class: StorageClass::Function
                | StorageClass::Private
                | StorageClass::Input
                | StorageClass::PushConstant
                | StorageClass::UniformConstant,
            ..
        })
    )
}

/// Whether any block may be run again.
fn has_loops(program: &AnalysedModule<'_>) -> bool {
    program.functions.bottom_up.iter().any(|func| {
        let cfg = &program.functions.get(*func).cfg;
        let mut seen = vec![false; cfg.len()];
        cfg.reverse_postorder().iter().any(|at| {
            seen[*at as usize] = true;
            cfg.successors(*at).iter().any(|to| seen[*to as usize])
        })
    })
}
