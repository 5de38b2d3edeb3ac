//! Loop hints: `!llvm.loop` metadata of a back edge becomes `OpLoopMerge` in the loop's header.
//!
//! Kernels need no structured control flow, so only loops with hints get a merge instruction. The
//! loop must have an exit block that is not the merge block of another loop. Cost: linear in the
//! blocks of the loops with hints; nothing without hints.

use crate::ir::{LlvmBlock, LlvmFunction, LlvmMetadata, LlvmModule, LlvmPredecessors};
use spirula_spirv::analysis::AllowedExtensions;
use spirula_spirv::grammar::enumerants::LoopControl;
use spirula_spirv::grammar::{Kind, SpirvVersion};

/// The hints of a loop, which its header states.
#[derive(Clone, Debug)]
pub(super) struct LoopHints {
    pub(super) header: LlvmBlock,
    /// The exit block of the loop.
    pub(super) merge: LlvmBlock,
    /// The first block with an edge back to the header.
    pub(super) latch: LlvmBlock,
    /// The mask and its operands.
    pub(super) control: Vec<u32>,
}

/// The operand of a loop control.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoopHintOperand {
    /// Neither the hint nor the control has an operand.
    Nothing,
    /// A number.
    Number,
    /// A fixed number.
    Always(u32),
}

/// Names of hints after `llvm.loop.`, in the order of their loop control bits.
const HINTS: &[(&str, LoopControl, LoopHintOperand)] = &[
    (
        "unroll.enable",
        LoopControl::Unroll,
        LoopHintOperand::Nothing,
    ),
    ("unroll.full", LoopControl::Unroll, LoopHintOperand::Nothing),
    (
        "unroll.disable",
        LoopControl::DontUnroll,
        LoopHintOperand::Nothing,
    ),
    (
        "ivdep.enable",
        LoopControl::DependencyInfinite,
        LoopHintOperand::Nothing,
    ),
    (
        "ivdep.safelen",
        LoopControl::DependencyLength,
        LoopHintOperand::Number,
    ),
    (
        "unroll.count",
        LoopControl::PartialCount,
        LoopHintOperand::Number,
    ),
    (
        "unroll.full",
        LoopControl::PartialCount,
        LoopHintOperand::Always(1),
    ),
    (
        "ii.count",
        LoopControl::InitiationIntervalINTEL,
        LoopHintOperand::Number,
    ),
    (
        "max_concurrency.count",
        LoopControl::MaxConcurrencyINTEL,
        LoopHintOperand::Number,
    ),
    (
        "intel.pipelining.enable",
        LoopControl::PipelineEnableINTEL,
        LoopHintOperand::Number,
    ),
    (
        "coalesce.enable",
        LoopControl::LoopCoalesceINTEL,
        LoopHintOperand::Always(0),
    ),
    (
        "coalesce.count",
        LoopControl::LoopCoalesceINTEL,
        LoopHintOperand::Number,
    ),
    (
        "max_interleaving.count",
        LoopControl::MaxInterleavingINTEL,
        LoopHintOperand::Number,
    ),
    (
        "intel.speculated.iterations.count",
        LoopControl::SpeculatedIterationsINTEL,
        LoopHintOperand::Number,
    ),
    (
        "fusion.disable",
        LoopControl::NoFusionINTEL,
        LoopHintOperand::Nothing,
    ),
];

/// The names of supported hints, without duplicates.
pub(super) fn hint_names() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _, _) in HINTS {
        let name = format!("llvm.loop.{name}");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The module and target whose loop hints are read.
#[derive(Clone, Copy)]
pub(super) struct LoopHintContext<'m> {
    pub(super) module: &'m LlvmModule,
    pub(super) version: SpirvVersion,
    pub(super) extensions: &'m AllowedExtensions,
}

/// The loops of a function that have hints and an exit block.
pub(super) fn find_loop_hints(
    context: LoopHintContext<'_>,
    function: &LlvmFunction,
) -> Vec<LoopHints> {
    let module = context.module;
    let mut found: Vec<LoopHints> = Vec::new();
    let Some(kind) = module.strings.find_symbol("llvm.loop") else {
        return found;
    };
    if function.attachments.is_empty() {
        return found;
    }
    if function.attachments.iter().all(|a| a.kind != kind) {
        return found;
    }
    let order = &function.reverse_post_order();
    let mut position = vec![usize::MAX; function.blocks.len()];
    for (at, block) in order.iter().enumerate() {
        position[block.index()] = at;
    }
    let mut before: Option<LlvmPredecessors> = None;
    let mut known = vec![false; function.blocks.len()];
    // A block can be the merge block of only one loop.
    let mut merges = vec![false; function.blocks.len()];
    for &latch in order {
        let Some(node) = function.find_attachment(function.terminator(latch), kind) else {
            continue;
        };
        let back = |b: &&LlvmBlock| position[b.index()] <= position[latch.index()];
        let Some(&header) = function.successors(latch).iter().find(back) else {
            continue;
        };
        let control = read_loop_control(context, node);
        if control.is_empty() || known[header.index()] {
            continue;
        }
        let before = before.get_or_insert_with(|| LlvmPredecessors::from_blocks(function, order));
        let merge = find_loop_exit(function, order, before, header, latch);
        if let Some(merge) = merge.filter(|merge| !merges[merge.index()]) {
            known[header.index()] = true;
            merges[merge.index()] = true;
            found.push(LoopHints {
                header,
                merge,
                latch,
                control,
            });
        }
    }
    found
}

/// The exit block of a loop: the one that the latch or the header leaves to, otherwise the first
/// exit.
fn find_loop_exit(
    function: &LlvmFunction,
    order: &[LlvmBlock],
    before: &LlvmPredecessors,
    header: LlvmBlock,
    latch: LlvmBlock,
) -> Option<LlvmBlock> {
    let mut inside = vec![false; function.blocks.len()];
    inside[header.index()] = true;
    let mut pending = vec![latch];
    while let Some(block) = pending.pop() {
        if !std::mem::replace(&mut inside[block.index()], true) {
            pending.extend_from_slice(before.get(block));
        }
    }
    let exit = |block: LlvmBlock| {
        let next = function.successors(block).iter();
        next.copied().find(|b| !inside[b.index()])
    };
    let all = order.iter().copied().filter(|b| inside[b.index()]);
    exit(latch)
        .or_else(|| exit(header))
        .or_else(|| all.into_iter().find_map(exit))
}

/// The loop control that a node requests: its mask, then the operands. It is empty if SPIR-V has no
/// control for any of the hints.
fn read_loop_control(context: LoopHintContext<'_>, node: LlvmMetadata) -> Vec<u32> {
    let module = context.module;
    let metadata = &module.metadata;
    let mut hints: Vec<(&str, Option<u32>)> = Vec::new();
    for hint in metadata.operands(node).iter().flatten() {
        let mut operands = metadata.operands(*hint).iter().flatten();
        let name = operands.next().and_then(|name| metadata.as_string(*name));
        let number = operands
            .next()
            .and_then(|number| metadata.as_constant(*number));
        let number = number.and_then(|number| module.consts.as_u64(number));
        if let Some(name) =
            name.and_then(|name| module.symbol_text(name).strip_prefix("llvm.loop."))
        {
            hints.push((name, number.map(|n| n as u32)));
        }
    }
    let mut mask = LoopControl::default();
    let mut words = vec![0];
    for (name, bit, operand) in HINTS {
        let Some((_, number)) = hints.iter().find(|hint| hint.0 == *name) else {
            continue;
        };
        if mask.0 & bit.0 != 0 || !is_control_available(context, *bit) {
            continue;
        }
        match (operand, number) {
            (LoopHintOperand::Nothing, _) => {}
            (LoopHintOperand::Number, Some(number)) => words.push(*number),
            (LoopHintOperand::Number, None) => continue,
            (LoopHintOperand::Always(number), _) => words.push(*number),
        }
        mask |= *bit;
    }
    words[0] = mask.0;
    if mask == LoopControl::default() {
        Vec::new()
    } else {
        words
    }
}

/// Whether the version or an allowed extension has a control. As it is a hint, it may be omitted.
fn is_control_available(context: LoopHintContext<'_>, control: LoopControl) -> bool {
    let Some(row) = Kind::LoopControl.info().enumerant_by_value(control.0) else {
        return false;
    };
    if row.version != SpirvVersion::NEVER {
        return row.version <= context.version;
    }
    let capabilities = row.capabilities.iter();
    let mut extensions = capabilities
        .filter_map(|c| Kind::Capability.info().enumerant_by_value(c.0))
        .flat_map(|capability| capability.extensions)
        .peekable();
    extensions.peek().is_none() || extensions.any(|name| context.extensions.is_allowed(name))
}
