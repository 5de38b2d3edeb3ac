//! Read-ahead: unrolls loops with workgroup barriers that read a buffer which nobody writes. The loads of all copied
//! iterations move before the first of them. The loads then wait for memory together. Otherwise each iteration waits
//! for its own, because no load after a barrier starts before the barrier is passed. This is prefetching, with
//! registers in place of a cache. See Mowry, Lam and Gupta, "Design and evaluation of a compiler algorithm for
//! prefetching", 1992.
//!
//! The loops are those of [`unroll_runtime`](super::unroll_runtime), with more than one block, in structured
//! control flow. Their barriers order workgroup memory only, and they write nothing else that others see. Whether
//! and where a buffer is read must depend on the counter alone.
//!
//! Before:
//! ```text
//! %i = OpPhi %int %zero %entry %next %continue
//! ...
//!      OpControlBarrier %workgroup %workgroup %memory_of_the_workgroup
//! %p = OpAccessChain %pointer %buffer %zero %i
//! %x = OpLoad %float %p
//! ```
//! After, by two, ahead of both iterations:
//! ```text
//! %p1 = OpAccessChain %pointer %buffer %zero %i
//! %x1 = OpLoad %float %p1
//! %i2 = OpIAdd %int %i %one
//! %p2 = OpAccessChain %pointer %buffer %zero %i2
//! %x2 = OpLoad %float %p2
//! ```
//! A read that stands in a selection is guarded by what decides there.

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::gvn::{AliasAnalysis, WriterScope};
use crate::loops::{
    IterationChain, LoopPass, LoopPassContext, LoopShape, append_branch, append_inst,
    count_loop_words, find_loop_shapes, is_plain,
};
use crate::pass::PassOutcome;
use crate::passes::unroll_runtime::{LoopCounter, find_loop_counter, unroll_with_remainder};
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics, StorageClass};
use spirula_spirv::ir::{Block, Inst, InstRef, SpirvModule};

/// Most words of an iteration, and most instructions that decide on one of its loads.
const MOST_WORDS: usize = 384;
const MOST_INSTS: usize = 64;

pub fn run_read_ahead(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    factor: &str,
) -> Result<PassOutcome, SourceDiagnostic> {
    let factor = factor.parse().unwrap_or(2);
    crate::loops::run_loop_pass(
        module,
        cache,
        &mut ReadAhead { factor },
        "loops that read ahead",
    )
}

struct ReadAhead {
    factor: u32,
}

/// A loop with the conditions under which an iteration reaches each of its blocks.
struct ReadAheadLoop {
    shape: LoopShape,
    decided: Vec<Option<Vec<PathCondition>>>,
}

/// A condition and the value that it must have.
#[derive(Clone, Copy)]
struct PathCondition {
    value: Id,
    holds: bool,
}

/// A load that can be hoisted.
struct ReadAheadLoad {
    load: Inst,
    /// The instructions that compute its address and its conditions, in order.
    slice: Vec<Inst>,
    conditions: Vec<PathCondition>,
}

impl LoopPass for ReadAhead {
    type Candidate = ReadAheadLoop;

    fn is_worth(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> bool {
        // In unstructured control flow more than selections decides which blocks an iteration reaches.
        let mut shapes = find_loop_shapes(module, flow, tools.structured).into_iter();
        tools.structured && shapes.any(|s| is_barrier_loop(module, &tools.facts, &s))
    }

    fn find_candidates(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> Vec<ReadAheadLoop> {
        let all = find_loop_shapes(module, flow, tools.structured).into_iter();
        let waiting = all.filter(|s| is_barrier_loop(module, &tools.facts, s));
        let found = waiting.map(|shape| ReadAheadLoop {
            decided: shape
                .blocks
                .iter()
                .map(|block| find_path_conditions(module, flow, &shape, *block))
                .collect(),
            shape,
        });
        found.collect()
    }

    fn candidate_blocks<'a>(&self, found: &'a ReadAheadLoop) -> &'a [Block] {
        &found.shape.blocks
    }

    fn transform_candidate(
        &mut self,
        tools: &mut LoopPassContext,
        module: &mut SpirvModule,
        found: &ReadAheadLoop,
    ) -> bool {
        let shape = &found.shape;
        let Some(counter) = find_loop_counter(module, &tools.facts, shape) else {
            return false;
        };
        let Some(reads) = find_hoistable_reads(module, tools, found, counter.at) else {
            return false;
        };
        let factor = self.factor;
        unroll_with_remainder(
            module,
            tools,
            shape,
            &counter,
            factor,
            |module, tools, count, values| {
                emit_read_iterations(module, tools, shape, &counter, &reads, count, values)
            },
        )
    }
}

/// Whether a loop is short, has its exit in its header, has no inner loop, and has barriers for the workgroup
/// only.
fn is_barrier_loop(module: &SpirvModule, facts: &ModuleValues, shape: &LoopShape) -> bool {
    let mut barriers = 0;
    let mut is_fit = shape.exit == shape.header
        && shape.stays_when
        && count_loop_words(module, shape) <= MOST_WORDS;
    for block in &shape.blocks {
        for inst in module.body(*block) {
            match inst.op() {
                Op::ControlBarrier => {
                    barriers += 1;
                    is_fit &= is_for_workgroup(module, facts, inst.id_operand(2));
                }
                Op::LoopMerge if *block != shape.header => is_fit = false,
                Op::Switch | Op::FunctionCall => is_fit = false,
                _ => {}
            }
        }
    }
    is_fit && barriers > 0
}

/// Whether the semantics of a barrier cover workgroup memory and nothing else.
fn is_for_workgroup(module: &SpirvModule, facts: &ModuleValues, semantics: Id) -> bool {
    let orders = MemorySemantics::Acquire.0
        | MemorySemantics::Release.0
        | MemorySemantics::AcquireRelease.0
        | MemorySemantics::SequentiallyConsistent.0;
    let allowed = u64::from(orders | MemorySemantics::WorkgroupMemory.0);
    facts
        .scalar_constant_bits(module, semantics)
        .is_some_and(|s| s.bits & !allowed == 0)
}

/// The conditions under which an iteration reaches a block, if only selections decide.
fn find_path_conditions(
    module: &SpirvModule,
    flow: &FlowAnalysis,
    shape: &LoopShape,
    block: Block,
) -> Option<Vec<PathCondition>> {
    let (cfg, dominators) = (&flow.cfg, &flow.dominators);
    let position = |block: Block| cfg.block_position(module.label(block));
    let (header, mut at) = (position(shape.header)?, position(block)?);
    let mut conditions = Vec::new();
    while at != header {
        let above = dominators.immediate_dominator(at)?;
        let branch = module.terminator(cfg.block(above));
        if above != header && branch.op() == Op::BranchConditional {
            let [yes, no] = [
                cfg.block_position(branch.id_operand(1))?,
                cfg.block_position(branch.id_operand(2))?,
            ];
            let is_arm = |arm: u32| arm == at && cfg.predecessors(arm).len() == 1;
            if is_arm(yes) != is_arm(no) {
                conditions.push(PathCondition {
                    value: branch.id_operand(0),
                    holds: is_arm(yes),
                });
            }
        }
        at = above;
    }
    Some(conditions)
}

/// The loads of a loop that can be hoisted. `None` if there are none, or if the memory may be changed by others.
fn find_hoistable_reads(
    module: &SpirvModule,
    tools: &mut LoopPassContext,
    found: &ReadAheadLoop,
    counter: usize,
) -> Option<Vec<ReadAheadLoad>> {
    let (memory, facts) = tools.alias_analysis(module);
    let shape = &found.shape;
    let mut reads = Vec::new();
    for (block, decided) in shape.blocks.iter().zip(&found.decided) {
        for inst in module.body(*block) {
            match inst.op() {
                Op::Load => {
                    let conditions = decided.as_deref();
                    reads.extend(match_hoistable_read(
                        module,
                        memory,
                        facts,
                        shape,
                        counter,
                        inst,
                        conditions?,
                    ));
                }
                Op::Store if is_own(module, facts, memory, inst.id_operand(0)) => {}
                Op::ControlBarrier => {}
                _ if memory.classify_event(facts, module, inst).is_some() => return None,
                _ if is_plain(facts, inst) => {}
                _ => return None,
            }
        }
    }
    (!reads.is_empty()).then_some(reads)
}

/// Whether a pointer is to memory of the workgroup or of the invocation.
fn is_own(module: &SpirvModule, facts: &ModuleValues, memory: &AliasAnalysis, pointer: Id) -> bool {
    let class = facts
        .type_of(module, pointer)
        .and_then(|ty| facts.definition(module, ty));
    let classes = [
        StorageClass::Workgroup,
        StorageClass::Private,
        StorageClass::Function,
    ];
    let is_here = class.is_some_and(|ty| classes.iter().any(|c| c.0 == ty.operand_word(0)));
    is_here && memory.pointer_location(facts, module, pointer).kind != WriterScope::Volatile
}

/// Matches a load that can be hoisted.
fn match_hoistable_read(
    module: &SpirvModule,
    memory: &AliasAnalysis,
    facts: &ModuleValues,
    shape: &LoopShape,
    counter: usize,
    load: InstRef<'_>,
    conditions: &[PathCondition],
) -> Option<ReadAheadLoad> {
    let place = memory.pointer_location(facts, module, load.id_operand(0));
    let base = facts.definition(module, place.base?)?;
    let is_buffer = base.op() == Op::Variable
        && [StorageClass::StorageBuffer, StorageClass::Uniform]
            .iter()
            .any(|c| c.0 == base.operand_word(0));
    if !is_buffer || place.kind == WriterScope::Volatile {
        return None;
    }
    let mut wanted: Vec<Id> = conditions.iter().map(|c| c.value).collect();
    wanted.push(load.id_operand(0));
    let mut slice = Vec::new();
    let insts: Vec<InstRef> = shape.blocks.iter().flat_map(|b| module.body(*b)).collect();
    for inst in insts.iter().rev() {
        let Some(id) = inst.result().filter(|id| wanted.contains(id)) else {
            continue;
        };
        if inst.op() == Op::Phi {
            let header = module.phis(shape.header).nth(counter);
            if header.and_then(InstRef::result) != Some(id) {
                return None;
            }
            continue;
        }
        if !inst.op().effects().is_pure() || slice.len() == MOST_INSTS {
            return None;
        }
        slice.push(inst.handle());
        facts.ids.visit_uses(*inst, |_, id| wanted.push(id));
    }
    slice.reverse();
    Some(ReadAheadLoad {
        load: load.handle(),
        slice,
        conditions: conditions.to_vec(),
    })
}

/// Emits the loads of n iterations, and the iterations after them, with given values of the header's phis.
fn emit_read_iterations(
    module: &mut SpirvModule,
    tools: &mut LoopPassContext,
    shape: &LoopShape,
    counter: &LoopCounter,
    reads: &[ReadAheadLoad],
    count: u32,
    values: &[Id],
) -> IterationChain {
    let func = module.block(shape.header).func;
    let label = module.fresh_id();
    let first = module.create_block(func, label);
    let phi = module
        .phis(shape.header)
        .nth(counter.at)
        .and_then(InstRef::result);
    let (own, start) = (phi.unwrap_or(Id::MAX), values[counter.at]);
    let mut last = first;
    let mut made = Vec::new();
    for iteration in 0..count {
        let ahead = counter.step * u64::from(iteration);
        let ahead = tools
            .facts
            .intern_scalar(module, counter.ty, ahead)
            .filter(|_| iteration > 0);
        let value = ahead.map_or(start, |ahead| {
            append_inst(module, last, Op::IAdd, counter.ty, &[start, ahead])
        });
        for read in reads {
            made.push(emit_guarded_read(
                module, tools, read, own, value, &mut last,
            ));
        }
    }
    let mut values = values.to_vec();
    for made in made.chunks(reads.len()) {
        let chain = tools
            .block_cloner(module)
            .clone_iterations(module, shape, 1, Some(values));
        let copies: Vec<Id> = reads
            .iter()
            .filter_map(|read| module.inst(read.load).result())
            .map(|id| tools.block_cloner(module).resolve_clone(id))
            .collect();
        tools.facts.catch_up(module);
        for (copy, id) in copies.into_iter().zip(made) {
            let load = tools.facts.definition(module, copy).map(InstRef::handle);
            load.into_iter()
                .for_each(|load| replace_load(module, load, *id));
        }
        let label = module.label(chain.first);
        append_branch(module, last, label);
        (last, values) = (chain.last, chain.values);
    }
    IterationChain {
        first,
        last,
        values,
    }
}

/// Emits a load at the end of a block for a given counter value. Returns the loaded value.
fn emit_guarded_read(
    module: &mut SpirvModule,
    tools: &mut LoopPassContext,
    read: &ReadAheadLoad,
    counter: Id,
    value: Id,
    last: &mut Block,
) -> Id {
    let mut map = vec![(counter, value)];
    for inst in &read.slice {
        clone_inst_to_end(module, &tools.facts, *inst, &mut map, *last);
    }
    let get = |map: &[(Id, Id)], id: Id| {
        map.iter()
            .find(|(old, _)| *old == id)
            .map_or(id, |(_, new)| *new)
    };
    let bool = tools.facts.intern_type(module, Op::TypeBool, &[]);
    let mut guard = None;
    for condition in &read.conditions {
        let mut is = get(&map, condition.value);
        if !condition.holds {
            is = append_inst(module, *last, Op::LogicalNot, bool, &[is]);
        }
        guard = Some(match guard {
            None => is,
            Some(before) => append_inst(module, *last, Op::LogicalAnd, bool, &[before, is]),
        });
    }
    let Some(guard) = guard else {
        return clone_inst_to_end(module, &tools.facts, read.load, &mut map, *last);
    };
    let func = module.block(*last).func;
    let [there, join] = [(); 2].map(|()| {
        let label = module.fresh_id();
        module.create_block(func, label)
    });
    let labels = [there, join].map(|b| module.label(b).word());
    let body = module.block(*last).body;
    if tools.structured {
        let merge = module.create_inst(Op::SelectionMerge, &[labels[1], 0]);
        module.append_inst(body, merge);
    }
    let branch = module.create_inst(Op::BranchConditional, &[guard.word(), labels[0], labels[1]]);
    module.append_inst(body, branch);
    let value = clone_inst_to_end(module, &tools.facts, read.load, &mut map, there);
    append_branch(module, there, module.label(join));
    let ty = module.inst(read.load).result_type().unwrap_or(bool);
    let none = tools.facts.intern_constant(module, Op::Undef, ty, &[]);
    let from = [there, *last].map(|b| module.label(b));
    *last = join;
    append_inst(module, join, Op::Phi, ty, &[value, from[0], none, from[1]])
}

/// Copies an instruction to the end of a block with renamed operands, and records the copy.
fn clone_inst_to_end(
    module: &mut SpirvModule,
    facts: &ModuleValues,
    inst: Inst,
    map: &mut Vec<(Id, Id)>,
    block: Block,
) -> Id {
    let old = module.inst(inst);
    let (op, mut words) = (old.op(), old.words().to_vec());
    facts.ids.visit_uses(old, |at, id| {
        let new = map.iter().find(|(old, _)| *old == id);
        words[at] = new.map_or(id, |(_, new)| *new).word();
    });
    let (result, operands) = (old.result().unwrap_or(Id::MAX), old.operands().len());
    let at = words.len() - operands - 1;
    let id = module.fresh_id();
    words[at] = id.word();
    map.push((result, id));
    let new = module.create_inst(op, &words);
    module.append_inst(module.block(block).body, new);
    id
}

/// Replaces a load by the value that was loaded ahead.
fn replace_load(module: &mut SpirvModule, load: Inst, value: Id) {
    let inst = module.inst(load);
    let (ty, id) = (inst.result_type(), inst.result());
    let (Some(ty), Some(id)) = (ty, id) else {
        return;
    };
    let words = [ty, id, value].map(Id::word);
    let copy = module.create_inst(Op::CopyObject, &words);
    module.insert_before(load, copy);
    module.remove_inst(load);
}
