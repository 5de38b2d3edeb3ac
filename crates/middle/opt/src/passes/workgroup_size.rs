//! Workgroup size specialisation: sets the size of workgroups before the module is used. [`super::specialise`]
//! describes how the passes of specialisation relate.
//!
//! An entry point whose size is open gets it as `LocalSize`. These are kernels without a size, and compute shaders
//! whose `WorkgroupSize` or `LocalSizeId` consists of specialisation constants. Another size in numbers stays.
//!
//! Before: `OpExecutionModeId %main LocalSizeId %x %y %z` with specialisation constants. After:
//! `OpExecutionMode %main LocalSize 64 1 1`.

use super::specialise::freeze_constants;
use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, ExecutionMode, ExecutionModel};
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, ModuleSection, SpirvModule};

/// Parses three positive numbers.
fn parse_size(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text
        .split(':')
        .map(|n| n.parse::<u32>().ok().filter(|n| *n > 0));
    let size = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(size)
}

/// Whether a text is a size.
pub fn is_size(text: &str) -> bool {
    parse_size(text).is_some()
}

pub fn run_workgroup_size(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
    argument: &str,
) -> Result<PassOutcome, SourceDiagnostic> {
    let size = parse_size(argument).unwrap_or([1; 3]);
    let facts = ModuleValues::new(module);
    let constants = find_built_ins(module, BuiltIn::WorkgroupSize);
    let mut components: Vec<(Id, u32)> = Vec::new();
    for id in &constants {
        if let Some(composite) = facts.def_of(module, *id, Op::SpecConstantComposite) {
            components.extend(composite.id_operands(0).zip(size));
        }
    }
    let mut sized = 0;
    for entry in find_compute_entries(module) {
        sized += usize::from(set_entry_size(module, &facts, entry, size, &mut components));
    }
    let mut set = 0;
    for (component, value) in &components {
        if let Some(constant) = facts.def_of(module, *component, Op::SpecConstant) {
            let handle = constant.handle();
            let words = [constant.words()[0], constant.words()[1], *value];
            module.replace_words(handle, &words);
            set += 1;
        }
    }
    if set > 0 {
        freeze_constants(module, |id| components.iter().any(|c| c.0 == id));
    }
    let answered = replace_size_loads(module, &constants, size);
    Ok(PassOutcome {
        statistics: vec![
            ("entry points given a size", sized),
            ("constants frozen", set),
            ("loads of the size answered", answered),
        ],
    })
}

/// The ids that are decorated as a built-in.
fn find_built_ins(module: &SpirvModule, wanted: BuiltIn) -> Vec<Id> {
    let decorations = module.section_insts(ModuleSection::Annotations);
    let is = |d: &InstRef<'_>| {
        d.op() == Op::Decorate
            && d.operand_word(1) == Decoration::BuiltIn.0
            && d.operands().get(2) == Some(&wanted.0)
    };
    decorations.filter(is).map(|d| d.id_operand(0)).collect()
}

/// The compute entry points.
fn find_compute_entries(module: &SpirvModule) -> Vec<Id> {
    let models = [ExecutionModel::GLCompute, ExecutionModel::Kernel];
    let entries = module.section_insts(ModuleSection::EntryPoints);
    let compute = entries
        .filter(|e| e.op() == Op::EntryPoint && models.iter().any(|m| m.0 == e.operand_word(0)));
    let mut found: Vec<Id> = compute.filter_map(|e| e.get_id(1)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Sets the size of an entry point if it is open. Records the constants that gave it.
fn set_entry_size(
    module: &mut SpirvModule,
    facts: &ModuleValues,
    entry: Id,
    size: [u32; 3],
    components: &mut Vec<(Id, u32)>,
) -> bool {
    let modes: Vec<Inst> = module
        .section_insts(ModuleSection::ExecutionModes)
        .filter(|m| m.get_id(0) == Some(entry))
        .map(InstRef::handle)
        .collect();
    let words = [
        entry.word(),
        ExecutionMode::LocalSize.0,
        size[0],
        size[1],
        size[2],
    ];
    for mode in modes {
        let inst = module.inst(mode);
        if inst.operand_word(1) == ExecutionMode::LocalSize.0 {
            return false;
        }
        if inst.operand_word(1) == ExecutionMode::LocalSizeId.0 {
            let open = inst
                .id_operands(2)
                .any(|id| facts.defining_op(module, id) == Op::SpecConstant);
            components.extend(inst.id_operands(2).zip(size));
            if open {
                module.replace_inst(mode, Op::ExecutionMode, &words);
            }
            return open;
        }
    }
    let mode = module.create_inst(Op::ExecutionMode, &words);
    module.append_inst(ModuleSection::ExecutionModes.list(), mode);
    true
}

/// Replaces loads of the built-in variable for the size, which kernels use.
fn replace_size_loads(module: &mut SpirvModule, variables: &[Id], size: [u32; 3]) -> usize {
    let mut facts = ModuleValues::new(module);
    let is_variable = |id: &Id| facts.defining_op(module, *id) == Op::Variable;
    let variables: Vec<Id> = variables.iter().copied().filter(is_variable).collect();
    if variables.is_empty() {
        return 0;
    }
    let loads: Vec<Inst> = module
        .all_insts()
        .filter(|i| i.op() == Op::Load && variables.contains(&i.id_operand(0)))
        .map(InstRef::handle)
        .collect();
    let mut replaced: Vec<(Id, Id)> = Vec::new();
    let mut erased = ErasedIds::new();
    for load in loads {
        let inst = module.inst(load);
        let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
            continue;
        };
        let Some(constant) = facts.intern_lanes(module, ty, &size.map(u64::from)) else {
            continue;
        };
        replaced.push((id, constant));
        module.erase_inst(load, &mut erased);
    }
    replaced.sort_unstable();
    let all: Vec<Inst> = module.all_insts().map(InstRef::handle).collect();
    for inst in all {
        facts.ids.rewrite_uses(module, inst, |id| {
            let found = replaced.binary_search_by_key(&id, |r| r.0);
            found.map_or(id, |at| replaced[at].1)
        });
    }
    module.sweep_annotations(&erased);
    replaced.len()
}
