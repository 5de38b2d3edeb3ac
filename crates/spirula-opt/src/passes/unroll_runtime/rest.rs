//! The rounds that are left where fewer are than were made at once, without a loop: all that there may be stand one behind the
//! other, and those beyond the last are made with the counter of the first and change nothing. Their reads
//! then need not wait for each other either (Mahlke et al., "A comparison of full and partial predicated execution
//! support for ILP processors", 1995, has the selections).
//!
//! Of two rounds at most, with a counter that goes up by one:
//! ```text
//! %more = OpSLessThan %bool %i %n
//!         OpSelectionMerge %h None
//!         OpBranchConditional %more %rest %h
//! %rest = OpLabel
//! %left = OpISub %int %n %i
//! %is   = OpULessThan %bool %one %left
//! %j    = OpIAdd %int %i %one
//! %i2   = OpSelect %int %is %j %i
//!         ; the first round makes %sum1 of %i and %sum0, the second %sum2 of %i2 and %sum1
//! %sum  = OpSelect %float %is %sum2 %sum1
//!         OpBranch %h
//! ```
//! and `%h`, the header that was, has no loop any more.

use super::Counter;
use crate::loops::{Shape, Tools, come_from, end_with};
use crate::values::Facts;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Effects, Op};
use spirula_spirv::ir::{Block, Inst, InstRef, Module};

/// Whether a round may be made again with a counter that it had: what it reads, and what may be undefined, is
/// decided by the counter, of the header's phis the one at a place, and what it hands on can be selected.
pub fn is_harmless(module: &Module, facts: &Facts, shape: &Shape, counter: usize) -> bool {
    let phis: Vec<InstRef> = module.phis(shape.header).collect();
    let is_scalar = |phi: &InstRef| {
        let ty = phi.result_type();
        ty.is_some_and(|ty| facts.scalar_type(module, ty).is_some())
    };
    if !phis.iter().all(is_scalar) {
        return false;
    }
    // What is not the same where the counter is.
    let others = phis.iter().enumerate().filter(|(at, _)| *at != counter);
    let mut changes: Vec<Id> = others.filter_map(|(_, phi)| phi.result()).collect();
    let insts = shape.blocks.iter().flat_map(|b| module.body(*b));
    for inst in insts.filter(|i| i.op() != Op::Phi) {
        let mut is_changed = false;
        facts
            .ids
            .visit(inst, |_, id| is_changed |= changes.contains(&id));
        let Some(result) = inst.result().filter(|_| is_changed) else {
            continue;
        };
        if inst.op() == Op::Load || inst.op().effects() == Effects::TRAPS {
            return false;
        }
        changes.push(result);
    }
    true
}

/// Puts what makes up to `count` rounds in the place of a loop that has no more, and is entered from a block that
/// leads nowhere else.
pub fn replace(
    module: &mut Module,
    tools: &mut Tools,
    shape: &Shape,
    counter: &Counter,
    count: u32,
) {
    let phis: Vec<Inst> = module.phis(shape.header).map(InstRef::handle).collect();
    let types: Vec<Id> = phis
        .iter()
        .map(|phi| module.inst(*phi).result_type().unwrap_or(counter.ty))
        .collect();
    let entry = module.label(shape.entry);
    let first = |phi: &Inst| module.phi_value(*phi, entry).unwrap_or(Id::MAX);
    let mut values: Vec<Id> = phis.iter().map(first).collect();
    let start = values[counter.at];
    let rest = enter(module, tools, shape, counter, start);
    let bool = tools.facts.ty(module, Op::TypeBool, &[]);
    let left = append(module, rest, Op::ISub, counter.ty, &[counter.bound, start]);
    let mut last = rest;
    for round in 0..count {
        let mut own = values.clone();
        let mut is = None;
        if round > 0
            && let Some(ahead) =
                tools
                    .facts
                    .number(module, counter.ty, counter.step * u64::from(round))
        {
            let is_left = append(module, last, Op::ULessThan, bool, &[ahead, left]);
            let later = append(module, last, Op::IAdd, counter.ty, &[start, ahead]);
            own[counter.at] = append(
                module,
                last,
                Op::Select,
                counter.ty,
                &[is_left, later, start],
            );
            is = Some(is_left);
        }
        let chain = tools.copier(module).rounds(module, shape, 1, Some(own));
        let label = module.label(chain.first);
        end_with(module, last, label);
        last = chain.last;
        for ((value, next), ty) in values.iter_mut().zip(chain.values).zip(&types) {
            *value = match is {
                Some(is) => append(module, last, Op::Select, *ty, &[is, next, *value]),
                None => next,
            };
        }
    }
    leave(module, shape, last, &values);
}

/// Has the block before a loop decide whether any round is left; returns the block for these.
fn enter(
    module: &mut Module,
    tools: &mut Tools,
    shape: &Shape,
    counter: &Counter,
    start: Id,
) -> Block {
    let func = module.block(shape.header).func;
    let label = module.fresh_id();
    let rest = module.create_block(func, label);
    let branch = module.terminator(shape.entry).handle();
    module.remove(branch);
    let bool = tools.facts.ty(module, Op::TypeBool, &[]);
    let more = append(
        module,
        shape.entry,
        counter.less,
        bool,
        &[start, counter.bound],
    );
    let [rest_label, header] = [rest, shape.header].map(|b| module.label(b).word());
    let body = module.block(shape.entry).body;
    if tools.structured {
        let merge = module.create(Op::SelectionMerge, &[header, 0]);
        module.append(body, merge);
    }
    let branch = module.create(Op::BranchConditional, &[more.word(), rest_label, header]);
    module.append(body, branch);
    rest
}

/// Has a header be the block behind the rounds, of which the last hands these values on.
fn leave(module: &mut Module, shape: &Shape, last: Block, values: &[Id]) {
    let header = module.label(shape.header);
    end_with(module, last, header);
    come_from(module, shape.header, [shape.latch, last], values);
    let merge = module.merge(shape.header).map(InstRef::handle);
    let branch = module.terminator(shape.header).handle();
    for inst in merge.into_iter().chain([branch]) {
        module.remove(inst);
    }
    end_with(module, shape.header, shape.leaves);
}

/// Puts an instruction at the end of a block that has none which ends it.
pub fn append(module: &mut Module, block: Block, op: Op, ty: Id, operands: &[Id]) -> Id {
    let id = module.fresh_id();
    let mut words = vec![ty.word(), id.word()];
    words.extend(operands.iter().map(|id| id.word()));
    let inst = module.create(op, &words);
    module.append(module.block(block).body, inst);
    id
}
