//! The sweep phase of dead-code elimination: deletes everything that was not marked as live.

use super::control::ControlDependence;
use super::marks::{LiveFunction, LivenessMarks};
use crate::pass::PassOutcome;
use crate::structure::change_interfaces;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, ErasedIds, Inst, InstRef, ModuleSection, SpirvModule};

/// Deletes all unmarked instructions.
pub fn sweep_unmarked(module: &mut SpirvModule, marks: &LivenessMarks) -> PassOutcome {
    let mut erased = ErasedIds::new();
    let functions = module.functions().len();
    module.erase_functions(|f| marks.functions[f.index()].is_none(), &mut erased);
    let functions = functions - module.functions().len();
    let mut insts = 0;
    for live in marks.functions.iter().flatten() {
        insts += sweep_instructions(module, marks, live, &mut erased);
    }
    let mut branches = 0;
    for live in marks.functions.iter().flatten() {
        let here = redirect_dead_branches(module, marks, live);
        if here > 0 {
            module.remove_unreachable(&marks.ids, live.func, &mut erased);
            module.order_blocks(&marks.ids, live.func);
        }
        branches += here;
    }
    let variables = sweep_interfaces(module, marks);
    let globals = sweep_globals(module, marks, &mut erased);
    sweep_debug_insts(module, marks, &mut erased);
    module.sweep_annotations(&erased);
    PassOutcome {
        statistics: vec![
            ("instructions deleted", insts),
            ("branches deleted", branches),
            ("functions deleted", functions),
            ("globals deleted", globals),
            ("interface variables deleted", variables),
        ],
    }
}

/// Deletes the instructions of a function, except terminators, merge instructions, and lines that an instruction
/// follows.
fn sweep_instructions(
    module: &mut SpirvModule,
    marks: &LivenessMarks,
    live: &LiveFunction,
    erased: &mut ErasedIds,
) -> usize {
    let mut deleted = 0;
    for at in 0..live.flow.cfg.len() as u32 {
        let block = live.flow.cfg.block(at);
        let mut line: Option<Inst> = None;
        let mut next = module.body(block).next().map(InstRef::handle);
        while let Some(inst) = next {
            next = module.next(inst);
            let op = module.inst(inst).op();
            if op.is_line() {
                if let Some(unused) = line.replace(inst) {
                    module.erase_inst(unused, erased);
                }
                continue;
            }
            let is_branch = op.is_terminator() || matches!(op, Op::LoopMerge | Op::SelectionMerge);
            if is_branch || marks.live[inst.index()] {
                line = None;
            } else {
                module.erase_inst(inst, erased);
                deleted += 1;
            }
        }
    }
    deleted
}

/// Redirects dead branches past the blocks that they decided on.
fn redirect_dead_branches(
    module: &mut SpirvModule,
    marks: &LivenessMarks,
    live: &LiveFunction,
) -> usize {
    let cfg = &live.flow.cfg;
    let mut changed = 0;
    for &at in cfg.reverse_postorder() {
        let block = cfg.block(at);
        let target = match &live.control {
            ControlDependence::Structured { constructs, .. } => {
                let dead = constructs
                    .headed_by(at)
                    .filter(|c| !live.constructs[*c as usize]);
                dead.map(|c| constructs.constructs()[c as usize].merge)
            }
            ControlDependence::Free { tree, .. } => {
                let terminator = module.terminator(block);
                let conditional = matches!(terminator.op(), Op::BranchConditional | Op::Switch);
                let dead = conditional && !marks.live[terminator.handle().index()];
                let mut next = dead.then(|| tree.immediate_post_dominator(at)).flatten();
                while let Some(b) = next.filter(|b| !live.blocks[*b as usize]) {
                    next = tree.immediate_post_dominator(b);
                }
                next
            }
        };
        if let Some(target) = target {
            redirect_branch(module, live, block, at, target);
            changed += 1;
        }
    }
    changed
}

fn redirect_branch(
    module: &mut SpirvModule,
    live: &LiveFunction,
    block: Block,
    at: u32,
    target: u32,
) {
    let label = module.label(block);
    for &old in live.flow.cfg.successors(at) {
        if old != target {
            module.remove_phi_parent(live.flow.cfg.block(old), label);
        }
    }
    if let Some(merge) = module.merge_inst(block).map(InstRef::handle) {
        module.remove_inst(merge);
    }
    let target = module.label(live.flow.cfg.block(target));
    module.branch_to(block, Some(target));
}

/// Removes deleted variables from the interfaces of entry points.
fn sweep_interfaces(module: &mut SpirvModule, marks: &LivenessMarks) -> usize {
    let is_live = |id: Id| {
        let definition = marks.definitions.defining_inst(id);
        definition.is_some_and(|d| marks.live[d.index()])
    };
    change_interfaces(module, |_, id, new| {
        if is_live(id) {
            new.push(id.word());
        }
    })
}

/// Deletes unused types, constants, variables, imports and strings.
fn sweep_globals(module: &mut SpirvModule, marks: &LivenessMarks, erased: &mut ErasedIds) -> usize {
    let mut deleted = 0;
    for section in [
        ModuleSection::Imports,
        ModuleSection::Sources,
        ModuleSection::Globals,
    ] {
        let insts: Vec<Inst> = module.section_insts(section).map(InstRef::handle).collect();
        for inst in insts {
            let i = module.inst(inst);
            let live = match i.op() {
                Op::TypeForwardPointer => {
                    let ty = marks.definitions.defining_inst(i.id_operand(0));
                    ty.is_some_and(|t| marks.live[t.index()])
                }
                _ => marks.live.get(inst.index()).copied().unwrap_or(true),
            };
            if !live {
                module.erase_inst(inst, erased);
                deleted += 1;
            }
        }
    }
    deleted
}

/// Updates debug instructions about deleted ids: those in functions are deleted, in others `DebugInfoNone`
/// replaces the ids.
fn sweep_debug_insts(module: &mut SpirvModule, marks: &LivenessMarks, erased: &mut ErasedIds) {
    let mut none = None;
    for inst in &marks.debug {
        let Some(list) = module.list_of(*inst) else {
            continue;
        };
        let mut gone = Vec::new();
        marks.ids.visit_uses(module.inst(*inst), |at, id| {
            if erased.contains(id) {
                gone.push(at);
            }
        });
        if gone.is_empty() {
            continue;
        }
        if list != ModuleSection::Globals.list() && list != ModuleSection::Trailer.list() {
            module.erase_inst(*inst, erased);
            continue;
        }
        let place = none.or_else(|| intern_debug_info_none(module, marks, *inst));
        none = place;
        if let Some(id) = place {
            for at in gone {
                module.words_mut(*inst)[at] = id.word();
            }
        }
    }
}

/// The `DebugInfoNone` of the module, created before its first debug instruction if there is none.
fn intern_debug_info_none(
    module: &mut SpirvModule,
    marks: &LivenessMarks,
    like: Inst,
) -> Option<Id> {
    let set = marks.ids.ext_inst_set(module.inst(like))?;
    let number = set.instruction_by_name("DebugInfoNone")?.number;
    let head = module.inst(like).words()[..4].to_vec();
    let mut debug = module
        .section_insts(ModuleSection::Globals)
        .filter(|i| i.op() == Op::ExtInst && i.words()[2] == head[2]);
    let first = debug.next()?.handle();
    let known = module
        .section_insts(ModuleSection::Globals)
        .find(|i| i.op() == Op::ExtInst && i.words()[2..4] == [head[2], number]);
    if let Some(known) = known.filter(|k| k.handle() == first) {
        return known.result();
    }
    let id = module.fresh_id();
    let inst = module.create_inst(Op::ExtInst, &[head[0], id.word(), head[2], number]);
    module.insert_before(first, inst);
    Some(id)
}
