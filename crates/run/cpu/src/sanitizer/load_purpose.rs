//! Load purposes: which loads search a structure, as graph algorithms search one that changes meanwhile.
//!
//! The address of such a load depends on an earlier load, and its result is compared. An algorithm that repeats until
//! nothing changes works with the old and with the new value. In workgroup memory a barrier would have been cheap.

use crate::analysis::analysed_module::AnalysedModule;
use crate::module::operand_ids::operand_ids;
use crate::module::types::LoweredTypeKind;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::InstRef;
use spirula_spirv::{Id, IdMap};

/// Most iterations over the instructions.
const ROUNDS: usize = 8;

/// The use of a load's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LoadPurpose {
    /// Any other use.
    #[default]
    Any,
    /// The result is compared, also by an atomic exchange.
    Compared,
    /// The load searches a structure.
    Search,
}

/// The use of each load's result.
pub(crate) fn classify_load_purposes(program: &AnalysedModule<'_>) -> IdMap<LoadPurpose> {
    let bound = program.module.bound();
    let mut loaded = IdMap::new(bound, false);
    let mut compared = IdMap::new(bound, false);
    for _ in 0..ROUNDS {
        if !propagate_dependences(program, &mut loaded, &mut compared) {
            break;
        }
    }
    let mut found = IdMap::new(bound, LoadPurpose::Any);
    for_each_inst(program, |inst| {
        if let (Op::Load, Some(id)) = (inst.op(), inst.result()) {
            let group = class_of(program, inst.id_operand(0)) == Some(StorageClass::Workgroup);
            let purpose = match (compared[id], loaded[inst.id_operand(0)] && !group) {
                (true, true) => LoadPurpose::Search,
                (true, false) => LoadPurpose::Compared,
                _ => LoadPurpose::Any,
            };
            found.set(id, purpose);
        }
    });
    found
}

fn for_each_inst(program: &AnalysedModule<'_>, mut f: impl FnMut(InstRef<'_>)) {
    for func in &program.functions.bottom_up {
        for inst in program.module.function_insts(*func) {
            f(inst);
        }
    }
}

/// Propagates dependences on loads forward, and comparisons backward.
fn propagate_dependences(
    program: &AnalysedModule<'_>,
    loaded: &mut IdMap<bool>,
    compared: &mut IdMap<bool>,
) -> bool {
    let mut changed = false;
    let mut mark = |map: &mut IdMap<bool>, id: Id| {
        changed |= !std::mem::replace(map.get_mut(id), true);
    };
    for_each_inst(program, |inst| {
        if inst.op() == Op::Store
            && loaded[inst.id_operand(1)]
            && is_private(program, inst.id_operand(0))
        {
            mark(loaded, inst.id_operand(0));
        }
        if inst.op() == Op::FunctionCall
            && let Some(func) = program.functions.by_id(inst.id_operand(0))
        {
            let params = &program.functions.get(func).params;
            for (param, argument) in params.iter().zip(inst.id_operands(1)) {
                if loaded[argument] {
                    mark(loaded, *param);
                }
                // A function leaves its result in a variable of its caller.
                if loaded[*param] && is_private(program, argument) {
                    mark(loaded, argument);
                }
            }
        }
        let Some(id) = inst.result() else { return };
        let depends = match inst.op() {
            Op::Load => loads_data(program, inst) || loaded[inst.id_operand(0)],
            Op::FunctionCall => inst.id_operands(1).any(|a| loaded[a]),
            _ => operand_ids(inst).any(|o| loaded[o]),
        };
        if depends {
            mark(loaded, id);
        }
        let passes = matches!(
            inst.op(),
            Op::Phi | Op::UConvert | Op::SConvert | Op::CopyObject | Op::Bitcast | Op::Select
        );
        if is_comparison(inst.op()) || (passes && compared[id]) {
            for operand in operand_ids(inst) {
                mark(compared, operand);
            }
        }
        if matches!(
            inst.op(),
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak
        ) {
            const COMPARATOR: usize = 5;
            mark(compared, inst.id_operand(COMPARATOR));
        }
        // A load from a variable returns a value that was stored there.
        if inst.op() == Op::Load && compared[id] && is_private(program, inst.id_operand(0)) {
            mark(compared, inst.id_operand(0));
        }
    });
    for_each_inst(program, |inst| {
        if inst.op() == Op::Store && compared[inst.id_operand(0)] {
            mark(compared, inst.id_operand(1));
        }
    });
    changed
}

/// Whether an id is a pointer to a variable of a function, or to one of its caller.
fn is_private(program: &AnalysedModule<'_>, id: Id) -> bool {
    class_of(program, id) == Some(StorageClass::Function)
}

fn class_of(program: &AnalysedModule<'_>, id: Id) -> Option<StorageClass> {
    match program.types.kind(program.type_of(id)?) {
        LoweredTypeKind::Pointer { class, .. } => Some(class),
        _ => None,
    }
}

/// Whether a load reads data: no built-in value and no variable of the function.
fn loads_data(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
    !matches!(
        class_of(program, inst.id_operand(0)),
        Some(
            StorageClass::Input
                | StorageClass::Function
                | StorageClass::PushConstant
                | StorageClass::UniformConstant
                | StorageClass::Uniform
        )
    )
}

fn is_comparison(op: Op) -> bool {
    matches!(
        op,
        Op::IEqual
            | Op::INotEqual
            | Op::UGreaterThan
            | Op::SGreaterThan
            | Op::UGreaterThanEqual
            | Op::SGreaterThanEqual
            | Op::ULessThan
            | Op::SLessThan
            | Op::ULessThanEqual
            | Op::SLessThanEqual
    )
}
