//! The dominator-tree walk of global value numbering.

use super::alias_analysis::{AliasAnalysis, MemoryEvent};
use super::conditions::DecidedConditions;
use super::stored_values::{GvnPosition, LocationContents};
use crate::analyses::FlowAnalysis;
use crate::rules;
use crate::values::{ModuleValues, SimplifyOutcome};
use rustc_hash::{FxHashMap, FxHasher};
use spirula_spirv::grammar::{InstructionEffects, Op};
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};
use std::hash::Hasher;

/// Counts of changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct GvnCounts {
    /// Instructions that were simplified.
    pub simplified: usize,
    /// Instructions whose value was computed before.
    pub redundant: usize,
    /// Instructions hoisted to a common dominator, because another block computed the same value.
    pub hoisted: usize,
    /// Loads that were replaced by a known value.
    pub loads: usize,
    /// Redundant or overwritten stores.
    pub stores: usize,
}

/// A value that is available in the blocks that its own dominates.
#[derive(Clone, Copy)]
pub(super) struct AvailableValue {
    pub(super) inst: Inst,
    pub(super) block: u32,
}

/// The walker over functions.
pub struct GvnWalker<'a> {
    pub(super) facts: &'a mut ModuleValues,
    pub(super) memory: Option<&'a mut AliasAnalysis>,
    /// Whether computations that two blocks share are hoisted into their common dominator.
    hoists: bool,
    replaced: IdMap<Option<Id>>,
    pub(super) known: FxHashMap<u64, AvailableValue>,
    conditions: DecidedConditions,
    pub(super) held: FxHashMap<Id, LocationContents>,
    /// The memory events of the current function, block by block.
    pub(super) events: Vec<MemoryEvent>,
    /// For each block the position of its first event, which is the end of those of the previous block.
    pub(super) first_event: Vec<u32>,
    /// Whether the function has any event.
    pub(super) eventful: bool,
    pub(super) seen: Vec<u32>,
    pub(super) stamp: u32,
    pub counts: GvnCounts,
}

/// Most blocks that are searched for memory events between two points.
pub(super) const MOST_BLOCKS: usize = 48;

impl<'a> GvnWalker<'a> {
    /// Creates a walker. With `memory`, redundant instructions and loads are eliminated; without, instructions
    /// are only simplified.
    pub fn new(
        module: &SpirvModule,
        facts: &'a mut ModuleValues,
        memory: Option<&'a mut AliasAnalysis>,
    ) -> Self {
        GvnWalker {
            facts,
            memory,
            hoists: false,
            replaced: IdMap::new(module.bound(), None),
            known: FxHashMap::default(),
            conditions: DecidedConditions::default(),
            held: FxHashMap::default(),
            events: Vec::new(),
            first_event: Vec::new(),
            eventful: false,
            seen: Vec::new(),
            stamp: 0,
            counts: GvnCounts::default(),
        }
    }

    /// Enables hoisting of computations that two blocks share.
    pub fn with_hoisting(mut self) -> Self {
        self.hoists = true;
        self
    }

    /// Numbers the values of a function.
    pub fn number_function(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        erased: &mut ErasedIds,
    ) {
        self.known.clear();
        self.conditions.clear();
        self.held.clear();
        self.note_events(module, flow);
        let before = self.counts;
        for &at in flow.dominators.preorder() {
            self.number_block(module, flow, at, erased);
        }
        let after = self.counts;
        let renamed = after.simplified > before.simplified
            || after.redundant > before.redundant
            || after.loads > before.loads;
        if renamed {
            self.rename_remaining_uses(module, flow);
        }
    }

    fn resolve_value(&self, mut id: Id) -> Id {
        while let Some(next) = self.replaced[id] {
            id = next;
        }
        id
    }

    fn number_block(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        at: u32,
        erased: &mut ErasedIds,
    ) {
        let block = flow.cfg.block(at);
        self.conditions.enter_block(self.facts, module, flow, at);
        let mut state = GvnPosition {
            block: at,
            events: 0,
            pending: Vec::new(),
        };
        let mut next = module.body(block).next().map(InstRef::handle);
        while let Some(inst) = next {
            next = module.next(inst);
            self.rename_operands(module, inst);
            self.fold_decided_condition(module, flow, inst, at);
            self.process_inst(module, flow, inst, &mut state, erased);
        }
    }

    /// Replaces operands by the values that have replaced them.
    fn rename_operands(&self, module: &mut SpirvModule, inst: Inst) {
        let ids = &self.facts.ids;
        ids.rewrite_uses(module, inst, |id| self.resolve_value(id));
    }

    /// Replaces the condition of a branch or selection by its value, if that is decided.
    fn fold_decided_condition(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        at: u32,
    ) {
        let i = module.inst(inst);
        let place = match i.op() {
            Op::BranchConditional => 0,
            Op::Select => 2,
            _ => return,
        };
        let condition = i.id_operand(0);
        let Some(value) = self.conditions.condition_value(flow, condition, at) else {
            return;
        };
        let ty = self.facts.type_of(module, condition);
        let decided = ty.and_then(|ty| self.facts.intern_lanes(module, ty, &[u64::from(value)]));
        if let Some(decided) = decided.filter(|id| *id != condition) {
            module.words_mut(inst)[place] = decided.word();
            self.counts.simplified += 1;
        }
    }

    fn process_inst(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        state: &mut GvnPosition,
        erased: &mut ErasedIds,
    ) {
        for _ in 0..8 {
            match rules::simplify_inst(self.facts, module, inst) {
                Some(SimplifyOutcome::Value(value)) => {
                    self.counts.simplified += 1;
                    return self.replace_inst(module, inst, value, erased);
                }
                Some(SimplifyOutcome::Changed) => self.counts.simplified += 1,
                None => break,
            }
        }
        let i = module.inst(inst);
        if i.op() == Op::Phi
            && let Some(value) = self.only_value(i)
        {
            self.counts.simplified += 1;
            return self.replace_inst(module, inst, value, erased);
        }
        let Some(memory) = &mut self.memory else {
            return;
        };
        memory.record_pointer(i);
        match i.op() {
            Op::Load => self.process_load(module, flow, inst, state, erased),
            Op::Store => self.process_store(module, flow, inst, state, erased),
            op if op.is_terminator() => self.process_function_end(module, op, state, erased),
            _ => {
                if memory.classify_event(self.facts, module, i).is_some() {
                    state.events += 1;
                    state.pending.clear();
                    return;
                }
                if !i.op().effects().is_pure() && !i.op().is_line() && i.op() != Op::Phi {
                    // The instruction may read memory.
                    state.pending.clear();
                }
                if let Some(product) = self.reuse_quotient(module, flow, inst, state.block) {
                    self.number_inst(module, flow, product, state.block, erased);
                    self.rename_operands(module, inst);
                }
                self.number_inst(module, flow, inst, state.block, erased);
            }
        }
    }

    pub(super) fn replace_inst(
        &mut self,
        module: &mut SpirvModule,
        inst: Inst,
        value: Id,
        erased: &mut ErasedIds,
    ) {
        let value = self.resolve_value(value);
        if let Some(result) = module.inst(inst).result()
            && result != value
        {
            self.replaced.set(result, Some(value));
            module.erase_inst(inst, erased);
        }
    }

    /// The value of a phi if all its incoming values are equal.
    fn only_value(&self, phi: InstRef<'_>) -> Option<Id> {
        let own = phi.result()?;
        let mut only = None;
        for pair in phi.operands().chunks_exact(2) {
            let value = Id::new(pair[0])?;
            if value != own && *only.get_or_insert(value) != value {
                return None;
            }
        }
        only
    }

    /// Searches for an earlier instruction that computes the same value.
    fn number_inst(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        block: u32,
        erased: &mut ErasedIds,
    ) {
        let i = module.inst(inst);
        let (Some(ty), Some(result)) = (i.result_type(), i.result()) else {
            return;
        };
        let effects = match i.op() {
            Op::ExtInst => match self.facts.ids.ext_inst_set(i) {
                Some(set) => set.instruction_effects(i.operand_word(1)),
                None => return,
            },
            Op::Phi => InstructionEffects::PURE,
            Op::Undef | Op::Variable | Op::FunctionParameter => return,
            op => op.effects(),
        };
        if !effects.is_pure() && effects != InstructionEffects::TRAPS {
            return;
        }
        let Some(marks) = self.facts.decoration_marks(result) else {
            return;
        };
        let hash = hash_value(i.op(), i, marks, block);
        let pure = effects.is_pure() && i.op() != Op::Phi;
        if let Some(known) = self.known.get(&hash).copied()
            && let Some(above) = self.find_common_block(flow, known.block, block, pure)
        {
            let other = module.inst(known.inst);
            let same = other.op() == i.op()
                && other.result_type() == Some(ty)
                && (i.op() != Op::Phi || known.block == block)
                && other
                    .result()
                    .and_then(|id| self.facts.decoration_marks(id))
                    == Some(marks)
                && canonicalise_operands(i.op(), i.operands()).as_slice(i.operands())
                    == canonicalise_operands(other.op(), other.operands())
                        .as_slice(other.operands());
            if let (true, Some(value)) = (same, other.result()) {
                self.counts.redundant += 1;
                if above != known.block {
                    let end = module.before_end(flow.cfg.block(above));
                    module.move_before(end, known.inst);
                    let (inst, block) = (known.inst, above);
                    self.known.insert(hash, AvailableValue { inst, block });
                    self.counts.hoisted += 1;
                }
                return self.replace_inst(module, inst, value, erased);
            }
            return;
        }
        self.known.insert(hash, AvailableValue { inst, block });
    }

    /// A block from which a value reaches both uses: its own if that dominates them, or a common dominator to
    /// which it can be hoisted.
    fn find_common_block(
        &self,
        flow: &FlowAnalysis,
        known: u32,
        block: u32,
        pure: bool,
    ) -> Option<u32> {
        let mut at = known;
        for _ in 0..MOST_BLOCKS {
            if flow.dominators.dominates(at, block) {
                return Some(at);
            }
            if !self.hoists || !pure {
                return None;
            }
            // Both have the same operands, so that the definitions of the operands dominate both.
            at = flow.dominators.immediate_dominator(at)?;
        }
        None
    }

    /// Renames uses that precede their definition in the walk: phis, and unreachable blocks.
    fn rename_remaining_uses(&self, module: &mut SpirvModule, flow: &FlowAnalysis) {
        for at in 0..flow.cfg.len() as u32 {
            let reached = flow.dominators.is_reachable(at);
            let mut next = module.body(flow.cfg.block(at)).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                let op = module.inst(inst).op();
                if op == Op::Phi || !reached {
                    self.facts
                        .ids
                        .rewrite_uses(module, inst, |id| self.resolve_value(id));
                } else if !op.is_line() {
                    break;
                }
            }
        }
    }
}

/// The operands of an instruction in canonical order, if its first two can be exchanged.
#[derive(PartialEq)]
enum CanonicalOperands {
    AsIs,
    Swapped([u32; 2]),
}

impl CanonicalOperands {
    fn as_slice<'a>(&'a self, operands: &'a [u32]) -> &'a [u32] {
        match self {
            CanonicalOperands::AsIs => operands,
            CanonicalOperands::Swapped(pair) => pair,
        }
    }
}

/// The hash of the value that an instruction would compute with an opcode. `block` is its block.
pub(super) fn hash_value(op: Op, i: InstRef<'_>, marks: u8, block: u32) -> u64 {
    let mut hash = FxHasher::default();
    hash.write_u32(u32::from(op.0) | u32::from(marks) << 16);
    hash.write_u32(i.result_type().map_or(0, Id::word));
    if op == Op::Phi {
        hash.write_u32(block);
    }
    for word in canonicalise_operands(op, i.operands()).as_slice(i.operands()) {
        hash.write_u32(*word);
    }
    hash.finish()
}

fn canonicalise_operands(op: Op, operands: &[u32]) -> CanonicalOperands {
    match operands {
        [a, b] if op.is_commutative() && a > b => CanonicalOperands::Swapped([*b, *a]),
        _ => CanonicalOperands::AsIs,
    }
}
