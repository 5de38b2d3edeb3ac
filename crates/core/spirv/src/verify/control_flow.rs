//! Rule 13: blocks, branches and phis.

use super::context::{DefPlace, VerifyContext, VerifyFault, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::Id;
use crate::analysis::{DominanceTree, EdgeLists, FlowEdges};
use crate::grammar::Op;
use crate::grammar::enumerants::{Capability, StorageClass};
use crate::ir::{Block, Func, Inst, InstRef, switch_cases};
use rustc_hash::FxHashSet;

/// A function's control flow.
pub(super) struct FunctionFlow<'m> {
    cx: &'m VerifyContext<'m>,
    pub blocks: &'m [Block],
    /// Where the function is.
    place: DefPlace,
    graph: FlowEdges,
    pub dominators: DominanceTree,
}

/// Checks the order of a block's instructions and its terminator, before there is a graph.
pub(super) fn verify_block_order(
    cx: &VerifyContext<'_>,
    func: Func,
    block: Block,
    is_entry: bool,
) -> Result<(), (Inst, VerifyFault)> {
    let mut phis = true;
    let mut variables = is_entry;
    let mut before = Op::Nop;
    for inst in cx.module.body(block) {
        let at = |check: VerifyResult| check.map_err(|f| (inst.handle(), f));
        let op = inst.op();
        match op {
            Op::Phi => at(ensure(VerifyRule::Blocks, phis && !is_entry, || {
                "phis come first in their block, and not in a function's first".to_owned()
            }))?,
            Op::Variable | Op::UntypedVariableKHR => {
                at(ensure(VerifyRule::Blocks, variables, || {
                    "variables come first in their function".to_owned()
                }))?;
            }
            Op::Line | Op::NoLine | Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
                if !matches!(op, Op::Line | Op::NoLine) && !super::ids::is_debug(cx, inst) {
                    (phis, variables) = (false, false);
                }
            }
            _ => (phis, variables) = (false, false),
        }
        if op != Op::Phi && !matches!(op, Op::Line | Op::NoLine) {
            phis = false;
        }
        let is_merge = matches!(before, Op::LoopMerge | Op::SelectionMerge);
        if is_merge {
            at(follows_merge(before, op))?;
        }
        before = op;
        if op.is_terminator() {
            at(verify_terminator(cx, func, inst))?;
        } else if matches!(op, Op::LoopMerge | Op::SelectionMerge) {
            at(verify_merge(cx, block, inst))?;
        }
    }
    Ok(())
}

/// Checks that each block is the merge block of one header.
pub(super) fn merge_blocks(cx: &VerifyContext<'_>, func: Func) -> Result<(), (Inst, VerifyFault)> {
    let mut seen = FxHashSet::default();
    for block in &cx.module.function(func).blocks {
        if let Some(merge) = cx.module.merge_inst(*block) {
            let label = merge.operand_word(0);
            ensure(VerifyRule::Structure, seen.insert(label), || {
                format!("%{label} is the merge block of another header already")
            })
            .map_err(|fault| (merge.handle(), fault))?;
        }
    }
    Ok(())
}

fn follows_merge(merge: Op, op: Op) -> VerifyResult {
    let fits = match merge {
        Op::LoopMerge => matches!(op, Op::Branch | Op::BranchConditional),
        _ => matches!(op, Op::BranchConditional | Op::Switch),
    };
    ensure(VerifyRule::Blocks, fits, || {
        format!("it follows {merge}, which it may not")
    })
}

fn verify_label(cx: &VerifyContext<'_>, id: u32, what: &str) -> VerifyResult {
    ensure(VerifyRule::Blocks, cx.defining_op(id) == Op::Label, || {
        format!("{what} %{id} is no label")
    })
}

fn verify_merge(cx: &VerifyContext<'_>, block: Block, inst: InstRef<'_>) -> VerifyResult {
    let own = cx.module.label(block).word();
    verify_label(cx, inst.operand_word(0), "the merge block")?;
    ensure(VerifyRule::Structure, inst.operand_word(0) != own, || {
        "the merge block is the header itself".to_owned()
    })?;
    if inst.op() == Op::SelectionMerge {
        return Ok(());
    }
    verify_label(cx, inst.operand_word(1), "the continue target")?;
    ensure(
        VerifyRule::Structure,
        inst.operand_word(0) != inst.operand_word(1),
        || "merge block and continue target are the same".to_owned(),
    )?;
    let control = inst.operand_word(2);
    ensure(
        VerifyRule::Blocks,
        control & 3 != 3 && !(control & 2 != 0 && control & (0x80 | 0x100) != 0),
        || "the loop is to be unrolled and not to be".to_owned(),
    )
}

fn verify_terminator(cx: &VerifyContext<'_>, func: Func, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::Branch => verify_label(cx, inst.operand_word(0), "the target"),
        Op::BranchConditional => {
            ensure(
                VerifyRule::Blocks,
                matches!(inst.operands().len(), 3 | 5),
                || "weights are given for both targets or for none".to_owned(),
            )?;
            ensure(
                VerifyRule::Values,
                cx.value_shape(inst.operand_word(0)).op == Op::TypeBool,
                || "the condition is no boolean".to_owned(),
            )?;
            verify_label(cx, inst.operand_word(1), "the target")?;
            verify_label(cx, inst.operand_word(2), "the target")?;
            ensure(
                VerifyRule::Blocks,
                cx.version < crate::grammar::SpirvVersion::new(1, 6)
                    || inst.operand_word(1) != inst.operand_word(2),
                || "both targets are the same, which SPIR-V 1.6 does not allow".to_owned(),
            )
        }
        Op::Switch => verify_switch_operands(cx, inst),
        Op::Return => ensure(
            VerifyRule::Functions,
            cx.defining_op(result_of(cx, func)) == Op::TypeVoid,
            || "the function returns a value".to_owned(),
        ),
        Op::ReturnValue => return_value(cx, func, inst),
        _ => Ok(()),
    }
}

fn result_of(cx: &VerifyContext<'_>, func: Func) -> u32 {
    cx.module.inst(cx.module.function(func).def).words()[0]
}

fn verify_switch_operands(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    ensure(
        VerifyRule::Values,
        cx.value_shape(inst.operand_word(0)).op == Op::TypeInt,
        || "the selector is no integer".to_owned(),
    )?;
    verify_label(cx, inst.operand_word(1), "the default target")?;
    let words = cx.ids.switch_literal_words(inst);
    for (_, target) in switch_cases(inst, words) {
        verify_label(cx, target.word(), "the target")?;
    }
    ensure(
        VerifyRule::Limits,
        (inst.operands().len() - 2) / (words + 1) <= 16383,
        || "there are more than 16383 cases".to_owned(),
    )
}

fn return_value(cx: &VerifyContext<'_>, func: Func, inst: InstRef<'_>) -> VerifyResult {
    let found = cx.type_of(inst.operand_word(0));
    let shape = cx.type_shape(found);
    ensure(VerifyRule::Functions, found == result_of(cx, func), || {
        format!(
            "the value is of {}, the function's result of {}",
            cx.describe_type(found),
            cx.describe_type(result_of(cx, func))
        )
    })?;
    ensure(VerifyRule::Functions, shape.op != Op::TypeVoid, || {
        "void has no values".to_owned()
    })?;
    ensure(
        VerifyRule::Functions,
        !cx.is_logical()
            || !matches!(shape.op, Op::TypePointer | Op::TypeUntypedPointerKHR)
            || cx.variable_pointers(),
        || "pointers are no results in logical addressing".to_owned(),
    )
}

impl<'m> FunctionFlow<'m> {
    /// The graph of a function.
    ///
    /// # Errors
    /// If the target of a branch is a label of another function or the first block, or a block precedes its
    /// dominator.
    pub fn new(
        cx: &'m VerifyContext<'m>,
        place: DefPlace,
        func: Func,
    ) -> Result<FunctionFlow<'m>, (Inst, VerifyFault)> {
        let blocks = &cx.module.function(func).blocks;
        let position = |label| find_block_position(cx, place, blocks.len(), label);
        let targets = |terminator: InstRef<'_>, visit: &mut dyn FnMut(Id)| {
            visit_targets(cx, terminator, visit);
        };
        let graph = FlowEdges::of_targets(cx.module, func, position, targets);
        let mut graph = graph.map_err(|(inst, id)| {
            let message = format!("its target {id} is no block of this function");
            (inst, make_fault(VerifyRule::Blocks, message))
        })?;
        // They are no longer needed, and large together with the tables of the dominator computation.
        graph.successors = EdgeLists::default();
        if !blocks.is_empty()
            && let Some(first) = graph.predecessors.targets(0).first()
        {
            let last = cx.module.terminator(blocks[*first as usize]);
            let message = "it leads to the first block of its function";
            return Err((last.handle(), make_fault(VerifyRule::Blocks, message)));
        }
        let dominators =
            DominanceTree::from_parents(graph.compute_dominators(), &graph.reverse_postorder);
        let flow = FunctionFlow {
            cx,
            blocks,
            place,
            graph,
            dominators,
        };
        for (at, block) in blocks.iter().enumerate() {
            if let Some(above) = flow.dominators.parent(at as u32)
                && above > at as u32
            {
                let message = "the block precedes its dominator";
                let label = cx.module.block(*block).label;
                return Err((label, make_fault(VerifyRule::Blocks, message)));
            }
        }
        Ok(flow)
    }

    /// The position of the block with a label.
    pub fn block_position(&self, label: Id) -> Option<u32> {
        find_block_position(self.cx, self.place, self.blocks.len(), label)
    }

    /// Checks the phis of a block.
    pub fn verify_phis(&self, block: u32) -> Result<(), (Inst, VerifyFault)> {
        let cx = self.cx;
        let phis = cx.module.body(self.blocks[block as usize]);
        let mut predecessors = Vec::new();
        for inst in phis.filter(|i| i.op() == Op::Phi) {
            if predecessors.is_empty() {
                predecessors.extend_from_slice(self.graph.predecessors.targets(block));
                predecessors.sort_unstable();
                predecessors.dedup();
            }
            self.verify_phi(inst, &predecessors)
                .map_err(|f| (inst.handle(), f))?;
        }
        Ok(())
    }

    fn verify_phi(&self, inst: InstRef<'_>, predecessors: &[u32]) -> VerifyResult {
        let cx = self.cx;
        let result = inst.words()[0];
        let shape = cx.type_shape(result);
        ensure(VerifyRule::Values, shape.op != Op::TypeVoid, || {
            "void has no values".to_owned()
        })?;
        ensure(
            VerifyRule::Memory,
            !matches!(shape.op, Op::TypePointer | Op::TypeUntypedPointerKHR)
                || !cx.is_logical()
                || cx.variable_pointers(),
            || "phis of pointers need variable pointers".to_owned(),
        )?;
        let is_object = shape.op == Op::TypeSampledImage
            || cx.is_shader && matches!(shape.op, Op::TypeImage | Op::TypeSampler);
        ensure(
            VerifyRule::Values,
            !is_object || cx.has_capability(Capability::BindlessTextureNV),
            || "phis do not choose between images or samplers".to_owned(),
        )?;
        let pairs = inst.operands();
        ensure(VerifyRule::Blocks, pairs.len().is_multiple_of(2), || {
            "a value has no parent".to_owned()
        })?;
        ensure(
            VerifyRule::Blocks,
            pairs.len() / 2 == predecessors.len(),
            || {
                format!(
                    "{} values for {} predecessors",
                    pairs.len() / 2,
                    predecessors.len()
                )
            },
        )?;
        let mut seen: Vec<u32> = Vec::with_capacity(predecessors.len());
        for pair in pairs.chunks_exact(2) {
            let found = cx.type_of(pair[0]);
            ensure(VerifyRule::Values, found == result, || {
                format!(
                    "%{} is of {}, not of {}",
                    pair[0],
                    cx.describe_type(found),
                    cx.describe_type(result)
                )
            })?;
            let parent = Id::new(pair[1]).and_then(|l| self.block_position(l));
            match parent {
                Some(p) if predecessors.binary_search(&p).is_ok() => seen.push(p),
                _ => {
                    let message = format!("%{} is no predecessor", pair[1]);
                    return Err(make_fault(VerifyRule::Blocks, message));
                }
            }
        }
        seen.sort_unstable();
        ensure(
            VerifyRule::Blocks,
            seen.windows(2).all(|w| w[0] != w[1]),
            || "a predecessor occurs twice".to_owned(),
        )
    }
}

/// The index of a block in a function with n blocks, by its label.
fn find_block_position(
    cx: &VerifyContext<'_>,
    function: DefPlace,
    blocks: usize,
    label: Id,
) -> Option<u32> {
    let def = cx.definition(label.word()).filter(|d| d.op == Op::Label)?;
    def.place.block_index(function, blocks).ok().flatten()
}

/// Visits the labels of a terminator's targets.
fn visit_targets(cx: &VerifyContext<'_>, terminator: InstRef<'_>, visit: &mut dyn FnMut(Id)) {
    match terminator.op() {
        Op::Branch => visit(terminator.id_operand(0)),
        Op::BranchConditional => {
            visit(terminator.id_operand(1));
            visit(terminator.id_operand(2));
        }
        Op::Switch => {
            visit(terminator.id_operand(1));
            let words = cx.ids.switch_literal_words(terminator);
            switch_cases(terminator, words).for_each(|(_, label)| visit(label));
        }
        _ => {}
    }
}

/// Checks lifetime markers.
pub(super) fn verify_lifetime(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let pointer = cx.value_shape(inst.operand_word(0));
    ensure(
        VerifyRule::Memory,
        pointer.op == Op::TypePointer && pointer.class == StorageClass::Function,
        || "the operand is no pointer to a variable of a function".to_owned(),
    )?;
    ensure(
        VerifyRule::Memory,
        inst.operand_word(1) == 0 || cx.has_capability(Capability::Addresses),
        || "the size is not 0, which needs the capability Addresses".to_owned(),
    )
}
