//! Loops whose number of rounds is known only when they run: as long as so many rounds are left, they
//! are made at once, and the rest by the loop as it was (Muchnick, "Advanced Compiler Design and
//! Implementation", 1997, section 17.4.3; LLVM's "runtime unrolling").
//!
//! What this is for are loops that read memory and add up: the reads of several rounds need not wait
//! for each other. Taken are innermost loops with a short body of one block that reads and does not write,
//! and whose counter goes up by a constant until it is not below a bound.
//!
//! Before:
//! ```text
//! %h = OpLabel
//! %i = OpPhi %int %zero %entry %next %body
//! %c = OpSLessThan %bool %i %n
//!      OpLoopMerge %end %body None
//!      OpBranchConditional %c %body %end
//! ```
//! After, by two:
//! ```text
//! %less = OpISub %int %n %one
//! %fits = OpSLessThan %bool %less %n
//! %most = OpSelect %int %fits %less %lowest
//! ...
//! %h1 = OpLabel
//! %i1 = OpPhi %int %zero %entry %next2 %second
//! %c1 = OpSLessThan %bool %i1 %most
//!       OpLoopMerge %h0 %second None
//!       OpBranchConditional %c1 %first %h0
//! ```
//! and `%h` begins with `%i1`.

use crate::analyses::{Cache, Flow};
use crate::loops::{Chain, LoopPass, Shape, Tools, accesses, come_from, end_with, shapes, words};
use crate::pass::Outcome;
use crate::passes::unroll::{control, leave_rolled};
use crate::values::Facts;
use spirula_scalar::fold::Type;
use spirula_source::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::LoopControl;
use spirula_spirv::ir::{Block, Inst, InstRef, Module};

/// Words of a round that is made several at once.
const MOST_WORDS: usize = 128;

pub fn run(module: &mut Module, cache: &mut Cache, factor: &str) -> Result<Outcome, Diagnostic> {
    let factor = factor.parse().unwrap_or(2);
    crate::loops::walk(module, cache, &mut Runtime { factor }, "loops unrolled")
}

struct Runtime {
    factor: u32,
}

/// How a loop counts.
pub struct Counter {
    /// The comparison that it stays by, signed or not.
    pub less: Op,
    /// What the counter is compared with.
    pub bound: Id,
    /// What is added to it.
    pub step: u64,
    pub ty: Id,
    pub width: u32,
    /// Where its value stands among the header's phis.
    pub at: usize,
}

impl LoopPass for Runtime {
    type Found = Shape;

    fn is_worth(&self, tools: &mut Tools, module: &Module, flow: &Flow) -> bool {
        let mut shapes = shapes(module, flow, tools.structured).into_iter();
        shapes.any(|s| is_short(module, &s))
    }

    fn find(&self, tools: &mut Tools, module: &Module, flow: &Flow) -> Vec<Shape> {
        shapes(module, flow, tools.structured)
    }

    fn blocks<'a>(&self, shape: &'a Shape) -> &'a [Block] {
        &shape.blocks
    }

    fn change(&mut self, tools: &mut Tools, module: &mut Module, shape: &Shape) -> bool {
        if !is_short(module, shape) || !reads_only(module, tools, shape) {
            return false;
        }
        let Some(counter) = counter(module, &tools.facts, shape) else {
            return false;
        };
        let factor = self.factor;
        unroll(
            module,
            tools,
            shape,
            &counter,
            factor,
            |module, tools, values| {
                let copier = tools.copier(module);
                copier.rounds(module, shape, factor as usize, Some(values.to_vec()))
            },
        )
    }
}

/// Whether a loop is a header that decides and one short block, and may be unrolled.
fn is_short(module: &Module, shape: &Shape) -> bool {
    let control = control(module, shape);
    let said = [LoopControl::Unroll, LoopControl::DontUnroll];
    shape.blocks.len() == 2
        && shape.exit == shape.header
        && shape.stays_when
        && !said.iter().any(|s| control.contains(*s))
        && words(module, shape) <= MOST_WORDS
}

/// Whether a loop reads memory and has no other effect.
fn reads_only(module: &Module, tools: &mut Tools, shape: &Shape) -> bool {
    let (memory, facts) = tools.memory(module);
    let found = accesses(module, facts, memory, &shape.blocks);
    found.is_some_and(|found| !found.reads.is_empty() && found.writes.is_empty())
}

/// How a loop counts, if it does so until its counter is not below a bound.
pub fn counter(module: &Module, facts: &Facts, shape: &Shape) -> Option<Counter> {
    let condition = facts.def(module, module.terminator(shape.header).id(0))?;
    let (less, [value, bound]) = match condition.op() {
        Op::SLessThan | Op::ULessThan => (condition.op(), [condition.id(0), condition.id(1)]),
        Op::SGreaterThan => (Op::SLessThan, [condition.id(1), condition.id(0)]),
        Op::UGreaterThan => (Op::ULessThan, [condition.id(1), condition.id(0)]),
        _ => return None,
    };
    let mut phis = module.phis(shape.header);
    let at = phis.position(|p| p.result() == Some(value))?;
    let phi = facts.def(module, value)?.handle();
    let next = facts.def(module, module.phi_value(phi, module.label(shape.latch))?)?;
    let steps = match [next.get_id(0)?, next.get_id(1)?] {
        [of, step] if of == value => facts.scalar(module, step),
        [step, of] if of == value => facts.scalar(module, step),
        _ => None,
    };
    let ty = facts.type_of(module, value)?;
    let Some(Type::Int { width }) = facts.scalar_type(module, ty) else {
        return None;
    };
    let step = steps?.bits;
    let inside = |id: Id| {
        let mut insts = shape.blocks.iter().flat_map(|b| module.body(*b));
        insts.any(|i| i.result() == Some(id))
    };
    let counts = next.op() == Op::IAdd && step > 0 && step < 1 << (width.min(32) - 8);
    (counts && facts.type_of(module, bound) == Some(ty) && !inside(bound)).then_some(Counter {
        less,
        bound,
        step,
        ty,
        width,
        at,
    })
}

/// What the counter has to be below for so many rounds to be left, computed before the loop.
fn most(
    module: &mut Module,
    facts: &mut Facts,
    shape: &Shape,
    counter: &Counter,
    factor: u32,
) -> Option<Id> {
    let Counter {
        less, bound, ty, ..
    } = *counter;
    let before = module.terminator(shape.entry).handle();
    let ahead = facts.number(module, ty, counter.step * u64::from(factor - 1))?;
    let lowest = match less {
        Op::SLessThan => 1 << (counter.width - 1),
        _ => 0,
    };
    let lowest = facts.number(module, ty, lowest)?;
    let bool = facts.ty(module, Op::TypeBool, &[]);
    let mut insert = |op, ty, operands: &[Id]| {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        facts.insert(module, before, op, ty, &words)
    };
    let reduced = insert(Op::ISub, ty, &[bound, ahead]);
    // The lowest numbers have none below by as much.
    let fits = insert(less, bool, &[reduced, bound]);
    Some(insert(Op::Select, ty, &[fits, reduced, lowest]))
}

/// Puts a loop of so many rounds at once before a loop, or says no. The rounds are made with values in the place of the
/// header's phis.
pub fn unroll(
    module: &mut Module,
    tools: &mut Tools,
    shape: &Shape,
    counter: &Counter,
    factor: u32,
    rounds: impl FnOnce(&mut Module, &mut Tools, &[Id]) -> Chain,
) -> bool {
    let Some(most) = most(module, &mut tools.facts, shape, counter, factor) else {
        return false;
    };
    let phis: Vec<Inst> = module.phis(shape.header).map(InstRef::handle).collect();
    let entry = module.label(shape.entry);
    let values: Vec<Id> = phis.iter().map(|_| module.fresh_id()).collect();
    let chain = rounds(module, tools, &values);
    let func = module.block(shape.header).func;
    let [head, end] = [(); 2].map(|()| {
        let label = module.fresh_id();
        module.create_block(func, label)
    });
    let body = module.block(head).body;
    for ((phi, own), next) in phis.iter().zip(&values).zip(&chain.values) {
        let ty = module.inst(*phi).result_type().unwrap_or(counter.ty);
        let Some(first) = module.phi_value(*phi, entry) else {
            continue;
        };
        let last = module.label(chain.last);
        let words = [ty, *own, first, entry, *next, last].map(Id::word);
        let inst = module.create(Op::Phi, &words);
        module.append(body, inst);
    }
    decide(
        module,
        tools,
        counter,
        &chain,
        [head, end],
        values[counter.at],
        most,
    );
    let start = module.label(head);
    module.branch_to(shape.entry, Some(start));
    end_with(module, end, module.label(shape.header));
    come_from(module, shape.header, [shape.entry, end], &values);
    // Few rounds are left to it.
    leave_rolled(module, shape.header);
    tools.touch(shape.entry);
    true
}

/// Has a header enter several rounds at once as long as they are left, and come back behind them.
fn decide(
    module: &mut Module,
    tools: &mut Tools,
    counter: &Counter,
    chain: &Chain,
    [head, end]: [Block; 2],
    value: Id,
    most: Id,
) {
    let body = module.block(head).body;
    let bool = tools.facts.ty(module, Op::TypeBool, &[]);
    let condition = module.fresh_id();
    let words = [bool, condition, value, most].map(Id::word);
    let compared = module.create(counter.less, &words);
    module.append(body, compared);
    let [first, last, behind] = [chain.first, chain.last, end].map(|b| module.label(b));
    if tools.structured {
        let words = [behind.word(), last.word(), LoopControl::DontUnroll.0];
        let merge = module.create(Op::LoopMerge, &words);
        module.append(body, merge);
    }
    let words = [condition, first, behind].map(Id::word);
    let branch = module.create(Op::BranchConditional, &words);
    module.append(body, branch);
    end_with(module, chain.last, module.label(head));
}
