//! Conversion to an earlier version.

use super::composites;
use super::error::ConvertError;
use super::interfaces::{ALL_VARIABLES, reduce_interfaces};
use super::texels;
use crate::IdMap;
use crate::analysis::{IdDefinitions, ModuleRequirements, RequirementCeiling};
use crate::grammar::enumerants::{Decoration, ExecutionMode, StorageClass};
use crate::grammar::{Kind, Op, OperandCategory, OperandIter, SpirvVersion};
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use crate::recompute::declare_chosen;

/// Instructions that only inform, and go where a version does not have them.
const INFORM: &[Op] = &[Op::ModuleProcessed];

/// Informative decorations, which consumers may use or ignore.
const HINTS: &[Decoration] = &[
    Decoration::UniformId,
    Decoration::MaxByteOffset,
    Decoration::MaxByteOffsetId,
    Decoration::NoSignedWrap,
    Decoration::NoUnsignedWrap,
];

/// Lowers a module to an earlier version. A module of that version or an earlier one is left unchanged.
///
/// # Errors
/// If the version lacks a feature that an instruction uses; the module may have changed then.
pub(super) fn lower_version(
    module: &mut SpirvModule,
    version: SpirvVersion,
) -> Result<(), ConvertError> {
    if module.version <= version {
        return Ok(());
    }
    let old = module.version;
    module.version = version;
    if old >= ALL_VARIABLES && version < ALL_VARIABLES {
        reduce_interfaces(module);
        composites::lower_composites(module, version)?;
    }
    drop_hints(module, version);
    drop_controls(module, version);
    workgroup_sizes(module, version);
    texels::drop_extensions(module, version);
    let needs = ModuleRequirements::in_version(module, version);
    let refused = |inst: Option<Inst>, what: String| match inst {
        Some(inst) => ConvertError::new(version, module.inst(inst), what),
        None => ConvertError::of_module(version, what),
    };
    if let Some((first, reason)) = needs.newer_versions().first() {
        let what = format!("{} needs SPIR-V {first}", reason.what);
        return Err(refused(reason.inst, what));
    }
    let choice = needs.choose_within(&RequirementCeiling::default());
    let choice = choice.map_err(|over| {
        refused(
            over.reason.inst,
            format!("{} needs {}", over.reason.what, over.needed),
        )
    })?;
    declare_chosen(module, &choice, false);
    Ok(())
}

/// Whether a version has an enumerant or instruction by itself.
fn is_unavailable(version: SpirvVersion, first: SpirvVersion, extensions: &[&str]) -> bool {
    version < first && extensions.is_empty()
}

/// From here on variables of functions may be decorated `NonWritable`.
const CONSTANT_VARIABLES: SpirvVersion = SpirvVersion::new(1, 4);

fn drop_hints(module: &mut SpirvModule, version: SpirvVersion) {
    let mut own = IdMap::new(module.bound(), false);
    if version < CONSTANT_VARIABLES {
        for inst in module.all_insts().filter(|i| i.op() == Op::Variable) {
            let class = StorageClass(inst.operand_word(0));
            if let (StorageClass::Function | StorageClass::Private, Some(id)) =
                (class, inst.result())
            {
                own.set(id, true);
            }
        }
    }
    let is_gone = |i: &InstRef<'_>| {
        let row = i.op().info();
        let late = row.is_some_and(|row| is_unavailable(version, row.version, row.extensions));
        if INFORM.contains(&i.op()) {
            return late;
        }
        let at = match i.op() {
            Op::Decorate | Op::DecorateId => 1,
            Op::MemberDecorate => 2,
            _ => return false,
        };
        let what = Decoration(i.operand_word(at));
        if what == Decoration::NonWritable && own[i.id_operand(0)] {
            return true;
        }
        let row = Kind::Decoration.info().enumerant_by_value(what.0);
        let late =
            late || row.is_some_and(|row| is_unavailable(version, row.version, row.extensions));
        HINTS.contains(&what) && late
    };
    let sections = [ModuleSection::Processed, ModuleSection::Annotations];
    let removed = sections.into_iter().flat_map(|s| module.section_insts(s));
    let removed: Vec<Inst> = removed.filter(is_gone).map(InstRef::handle).collect();
    for inst in removed {
        module.remove_inst(inst);
    }
}

/// Removes control hints of loops, functions and selections that a version lacks.
fn drop_controls(module: &mut SpirvModule, version: SpirvVersion) {
    let hint_kinds = [
        Kind::LoopControl,
        Kind::FunctionControl,
        Kind::SelectionControl,
    ];
    let heads = module
        .all_insts()
        .filter(|i| matches!(i.op(), Op::LoopMerge | Op::SelectionMerge | Op::Function));
    let mut changes = Vec::new();
    for inst in heads {
        let mut words = Vec::new();
        let mut changed = false;
        let mut mask = None;
        let mut dropped = 0;
        for operand in OperandIter::new(inst.op(), inst.words()).map_while(Result::ok) {
            let kind = operand.kind;
            if hint_kinds.contains(&kind) {
                let kept = known_bits(kind, operand.words[0], version);
                changed |= kept != operand.words[0];
                mask = Some((kind, operand.words[0]));
                words.push(kept);
            } else if let Some((kind, bits)) = mask
                && kind.info().category == OperandCategory::BitEnum
                && inst.op() == Op::LoopMerge
            {
                // Parameters are in the order of the bits, one for each bit that has one.
                let with = (0..32).map(|b| 1 << b).filter(|b| {
                    let row = kind.info().enumerant_by_value(*b);
                    bits & b != 0 && row.is_some_and(|row| !row.parameters.is_empty())
                });
                let bit = with.into_iter().nth(dropped).unwrap_or(0);
                dropped += 1;
                if known_bits(kind, bit, version) != 0 {
                    words.extend_from_slice(operand.words);
                }
            } else {
                words.extend_from_slice(operand.words);
            }
        }
        if changed {
            changes.push((inst.handle(), words));
        }
    }
    for (inst, words) in changes {
        module.replace_words(inst, &words);
    }
}

fn known_bits(kind: Kind, mask: u32, version: SpirvVersion) -> u32 {
    let mut kept = 0;
    for bit in (0..32).map(|b| 1 << b).filter(|b| mask & b != 0) {
        let row = kind.info().enumerant_by_value(bit);
        if row.is_none_or(|row| !is_unavailable(version, row.version, row.extensions)) {
            kept |= bit;
        }
    }
    kept
}

/// Sizes of workgroups that ids give become literals where the ids are constants.
fn workgroup_sizes(module: &mut SpirvModule, version: SpirvVersion) {
    let row = Op::ExecutionModeId.info();
    if row.is_none_or(|row| version >= row.version) {
        return;
    }
    let definitions = IdDefinitions::from_module(module);
    let by_id = module
        .section_insts(ModuleSection::ExecutionModes)
        .filter(|i| {
            i.op() == Op::ExecutionModeId && i.operand_word(1) == ExecutionMode::LocalSizeId.0
        });
    let sizes: Vec<(Inst, Option<Vec<u32>>)> = by_id
        .map(|inst| {
            let values = inst
                .id_operands(2)
                .map(|id| definitions.constant_value(module, id));
            let values: Option<Vec<u32>> = values.map(|v| v.map(|v| v as u32)).collect();
            let head = [inst.operand_word(0), ExecutionMode::LocalSize.0];
            (inst.handle(), values.map(|v| [&head[..], &v].concat()))
        })
        .collect();
    for (inst, words) in sizes {
        if let Some(words) = words {
            let new = module.create_inst(Op::ExecutionMode, &words);
            module.insert_before(inst, new);
            module.remove_inst(inst);
        }
    }
}
