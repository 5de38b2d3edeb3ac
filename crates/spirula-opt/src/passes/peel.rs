//! Loop peeling: the first round of a loop goes before it, where that makes the others simpler: a
//! phi of the header is the same from the second round on, or a branch or selection asks whether
//! this is the first round (Muchnick, "Advanced Compiler Design and Implementation", 1997, section
//! 17.4). The loop must be known to run, see [`crate::loops::Trips`].
//!
//! Before:
//! ```text
//! %h = OpLabel
//! %x = OpPhi %int %first %entry %other %body
//! ```
//! After: a copy of the round with `%first`, and a loop with `%other` in the place of `%x`.

use crate::analyses::Cache;
use crate::loops::{Copier, Shape, Trips, prepare, shapes, words};
use crate::pass::Outcome;
use crate::values::Facts;
use spirula_source::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{InstRef, Module};

/// Words that a round may have.
const MOST_WORDS: usize = 256;
/// Rounds that are computed to know that a loop runs at all.
const MOST_ROUNDS: u32 = 1 << 12;

pub fn run(module: &mut Module, cache: &mut Cache) -> Result<Outcome, Diagnostic> {
    let ids = cache.ids(module);
    let structured = module.is_structured();
    let (mut peeled, mut made) = (0, 0);
    for func in module.functions().to_vec() {
        let flow = cache.flow(module, func)?;
        if shapes(module, &flow, structured).is_empty() {
            continue;
        }
        made += prepare(module, cache, &ids, func)?;
        let flow = cache.flow(module, func)?;
        let facts = Facts::new(module);
        let mut trips = Trips::new(module);
        let mut touched = vec![false; module.block_count()];
        let mut copier = None;
        for shape in shapes(module, &flow, structured) {
            let inner = !shape.blocks.iter().any(|b| touched[b.index()]);
            if !inner || words(module, &shape) > MOST_WORDS || !is_worth(&facts, module, &shape) {
                continue;
            }
            let count = trips.count(&facts, module, &shape, MOST_ROUNDS);
            if count.is_none_or(|c| c < 2) {
                continue;
            }
            let copier = copier.get_or_insert_with(|| Copier::new(module));
            let chain = copier.rounds(module, &shape, 1, None);
            chain.put_before(module, &shape);
            for block in shape.blocks.iter().chain([&shape.entry]) {
                touched[block.index()] = true;
            }
            peeled += 1;
        }
        if copier.is_some() {
            module.order_blocks(&ids, func);
            cache.drop_flow(func);
            cache.keep(crate::Analyses::FLOW);
        }
    }
    Ok(Outcome {
        statistics: vec![("loops peeled", peeled), ("pre-headers made", made)],
    })
}

fn is_worth(facts: &Facts, module: &Module, shape: &Shape) -> bool {
    let (entry, latch) = (module.label(shape.entry), module.label(shape.latch));
    let is_inside = |id: Id| {
        let mut insts = shape.blocks.iter().flat_map(|b| module.body(*b));
        insts.any(|i| i.result() == Some(id))
    };
    module.phis(shape.header).any(|phi| {
        let own = phi.result();
        let (Some(first), Some(next)) = (
            module.phi_value(phi.handle(), entry),
            module.phi_value(phi.handle(), latch),
        ) else {
            return false;
        };
        // The same from the second round on.
        if first != next && Some(next) != own && !is_inside(next) {
            return true;
        }
        facts.is_constant(module, first)
            && own.is_some_and(|own| asks(facts, module, shape, own, first))
    })
}

/// Whether something within the loop is decided by a counter being what it is at first.
fn asks(facts: &Facts, module: &Module, shape: &Shape, counter: Id, first: Id) -> bool {
    let deciding = |i: InstRef<'_>| matches!(i.op(), Op::BranchConditional | Op::Select);
    let blocks = shape.blocks.iter().filter(|b| **b != shape.exit);
    let mut insts = blocks
        .flat_map(|b| module.body(*b))
        .filter(|i| deciding(*i));
    insts.any(|i| {
        let Some(test) = facts.def(module, i.id(0)) else {
            return false;
        };
        let compared = matches!(test.op(), Op::IEqual | Op::INotEqual);
        let value = |id| facts.scalar(module, id);
        let is_first = |id| id == first || value(id).is_some() && value(id) == value(first);
        compared
            && (test.id(0) == counter && is_first(test.id(1))
                || test.id(1) == counter && is_first(test.id(0)))
    })
}
