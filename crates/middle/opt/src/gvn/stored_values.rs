//! Loads and stores in the walk of global value numbering: the values that memory holds, and stores that are lost.

use super::alias_analysis::{MemoryEvent, MemoryLocation, WriterScope, is_plain};
use super::dominator_walk::{GvnWalker, MOST_BLOCKS};
use crate::analyses::FlowAnalysis;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Inst, SpirvModule};

/// Most stores of a block that are tracked until they are overwritten.
const MOST_PENDING: usize = 8;

/// A value that a location holds from some point on.
#[derive(Clone, Copy)]
pub(super) struct LocationContents {
    value: Id,
    block: u32,
    /// Number of events of the block before that point.
    events: u32,
}

/// The position of the walk.
pub(super) struct GvnPosition {
    pub(super) block: u32,
    /// Number of events of this block that have passed.
    pub(super) events: u32,
    /// Stores that nothing has read yet.
    pub(super) pending: Vec<(MemoryLocation, Inst)>,
}

impl GvnPosition {
    fn location_contents(&self, value: Id) -> LocationContents {
        LocationContents {
            value,
            block: self.block,
            events: self.events,
        }
    }
}

impl GvnWalker<'_> {
    pub(super) fn note_events(&mut self, module: &SpirvModule, flow: &FlowAnalysis) {
        self.eventful = false;
        let Some(memory) = &self.memory else { return };
        self.events.clear();
        self.first_event.clear();
        self.first_event.push(0);
        self.seen.clear();
        self.seen.resize(flow.cfg.len(), 0);
        self.stamp = 0;
        for at in 0..flow.cfg.len() as u32 {
            let body = module.body(flow.cfg.block(at));
            let events = body.filter_map(|i| memory.classify_event(self.facts, module, i));
            self.events.extend(events);
            self.first_event.push(self.events.len() as u32);
        }
        self.eventful = !self.events.is_empty();
    }

    fn events_of(&self, block: u32) -> &[MemoryEvent] {
        let [begin, end] = [block, block + 1].map(|b| self.first_event[b as usize] as usize);
        &self.events[begin..end]
    }

    pub(super) fn process_load(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        state: &mut GvnPosition,
        erased: &mut ErasedIds,
    ) {
        let i = module.inst(inst);
        let (pointer, ty) = (i.id_operand(0), i.result_type());
        let plain = is_plain(i.operands().get(1));
        let Some(memory) = &self.memory else { return };
        let place = memory.pointer_location(self.facts, module, pointer);
        let (facts, event) = (&*self.facts, memory.classify_event(self.facts, module, i));
        state
            .pending
            .retain(|(p, _)| !memory.may_be_same(facts, module, p, &place));
        if event.is_some() {
            state.events += 1;
        }
        let Some(result) = i
            .result()
            .filter(|_| plain && place.kind != WriterScope::Volatile)
        else {
            return;
        };
        if self.facts.decoration_marks(result).is_none() {
            return;
        }
        if let Some(held) = self.held.get(&pointer).copied()
            && flow.dominators.dominates(held.block, state.block)
            && self.facts.type_of(module, held.value) == ty
            && self.facts.is_non_uniform(held.value) == self.facts.is_non_uniform(result)
            && self.is_held(module, flow, &held, &place, state)
        {
            self.counts.loads += 1;
            return self.replace_inst(module, inst, held.value, erased);
        }
        self.held.insert(pointer, state.location_contents(result));
    }

    pub(super) fn process_store(
        &mut self,
        module: &mut SpirvModule,
        flow: &FlowAnalysis,
        inst: Inst,
        state: &mut GvnPosition,
        erased: &mut ErasedIds,
    ) {
        let i = module.inst(inst);
        let (pointer, value) = (i.id_operand(0), i.id_operand(1));
        let plain = is_plain(i.operands().get(2));
        let Some(memory) = &self.memory else { return };
        let place = memory.pointer_location(self.facts, module, pointer);
        if !plain || place.kind == WriterScope::Volatile {
            state.events += 1;
            state.pending.clear();
            return;
        }
        if let Some(held) = self.held.get(&pointer).copied()
            && held.value == value
            && flow.dominators.dominates(held.block, state.block)
            && self.is_held(module, flow, &held, &place, state)
        {
            state.events += 1;
            self.counts.stores += 1;
            module.erase_inst(inst, erased);
            return;
        }
        state.events += 1;
        if let Some(at) = state.pending.iter().position(|(p, _)| p.pointer == pointer) {
            let (_, old) = state.pending.remove(at);
            self.counts.stores += 1;
            module.erase_inst(old, erased);
        }
        if state.pending.len() == MOST_PENDING {
            state.pending.remove(0);
        }
        state.pending.push((place, inst));
        self.held.insert(pointer, state.location_contents(value));
    }

    /// Deletes stores to function variables that are lost when the function is left.
    pub(super) fn process_function_end(
        &mut self,
        module: &mut SpirvModule,
        op: Op,
        state: &mut GvnPosition,
        erased: &mut ErasedIds,
    ) {
        let leaves = matches!(
            op,
            Op::Return | Op::ReturnValue | Op::Kill | Op::Unreachable
        );
        for (place, store) in state.pending.drain(..) {
            if leaves && place.kind == WriterScope::Local {
                self.counts.stores += 1;
                module.erase_inst(store, erased);
            }
        }
    }

    /// Whether a location is unchanged since its value was recorded.
    fn is_held(
        &mut self,
        module: &SpirvModule,
        flow: &FlowAnalysis,
        held: &LocationContents,
        place: &MemoryLocation,
        state: &GvnPosition,
    ) -> bool {
        let Some(memory) = &self.memory else {
            return false;
        };
        if place.kind == WriterScope::ReadOnly || !self.eventful {
            return true;
        }
        let facts = &*self.facts;
        let changes = |events: &[MemoryEvent]| {
            events
                .iter()
                .any(|e| memory.may_clobber(facts, module, e, place))
        };
        let here = self.events_of(state.block);
        let passed = (state.events as usize).min(here.len());
        if held.block == state.block {
            let from = (held.events as usize).min(passed);
            return !changes(&here[from..passed]);
        }
        let there = self.events_of(held.block);
        let from = (held.events as usize).min(there.len());
        if changes(&here[..passed]) || changes(&there[from..]) {
            return false;
        }
        // All blocks on a path from there to here.
        self.stamp += 1;
        let mut work: Vec<u32> = flow.cfg.predecessors(state.block).to_vec();
        let mut visited = 0;
        while let Some(at) = work.pop() {
            if at == held.block || self.seen[at as usize] == self.stamp {
                continue;
            }
            self.seen[at as usize] = self.stamp;
            visited += 1;
            if visited > MOST_BLOCKS || changes(self.events_of(at)) {
                return false;
            }
            work.extend(flow.cfg.predecessors(at));
        }
        true
    }
}
