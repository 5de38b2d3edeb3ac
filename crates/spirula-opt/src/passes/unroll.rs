//! Loop unrolling: the rounds of a loop that runs a known number of times, one behind the other
//! (Muchnick, "Advanced Compiler Design and Implementation", 1997, section 17.4.3).
//!
//! `unroll` takes the loops that ask for it (`Unroll`), `unroll-small` also those whose rounds are few
//! and short, `unroll-by=N` makes N rounds one round in loops whose number of rounds N divides. Loops
//! are left by one branch that every round comes to and are not continued from within constructs;
//! others stay. How often a loop runs is computed, see [`crate::loops::Trips`].
//!
//! Before:
//! ```text
//! %h = OpLabel
//! %i = OpPhi %int %zero %entry %j %body
//! %c = OpSLessThan %bool %i %two
//!      OpLoopMerge %m %body Unroll
//!      OpBranchConditional %c %body %m
//! %body = OpLabel
//!      OpStore %x %i
//! %j = OpIAdd %int %i %one
//!      OpBranch %h
//! ```
//! After:
//! ```text
//!      OpStore %x %zero
//! %j1 = OpIAdd %int %zero %one
//!      OpStore %x %j1
//! ```

use crate::analyses::Cache;
use crate::loops::{Copier, Shape, Trips, prepare, shapes, words};
use crate::pass::Outcome;
use crate::values::Facts;
use spirula_source::Diagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::LoopControl;
use spirula_spirv::ir::{Erased, IdWords, Inst, InstRef, Module};

/// Rounds that a loop may have which asks to be unrolled.
const MOST_ROUNDS: u32 = 1024;
/// Words that all rounds of such a loop may have.
const MOST_WORDS: usize = 1 << 14;
/// Words that all rounds of a loop may have which does not ask.
const SMALL: usize = 192;
/// Rounds that a loop may have of which some are made one.
const MOST_COUNTED: u32 = 1 << 12;
/// Levels of loops within each other that are unrolled.
const LEVELS: usize = 6;

/// Those that ask for it.
pub fn run(module: &mut Module, cache: &mut Cache) -> Result<Outcome, Diagnostic> {
    fully(module, cache, 0)
}

/// Small ones too.
pub fn run_small(module: &mut Module, cache: &mut Cache) -> Result<Outcome, Diagnostic> {
    fully(module, cache, SMALL)
}

/// Whether a text is a number of rounds.
pub fn is_factor(text: &str) -> bool {
    matches!(text.parse(), Ok(2..=64u32))
}

/// What a loop asks for.
fn control(module: &Module, shape: &Shape) -> LoopControl {
    let merge = module.merge(shape.header);
    let merge = merge.filter(|m| m.op() == Op::LoopMerge);
    LoopControl(merge.map_or(0, |m| m.word(2)))
}

fn fully(module: &mut Module, cache: &mut Cache, small: usize) -> Result<Outcome, Diagnostic> {
    let ids = cache.ids(module);
    let structured = module.is_structured();
    let (mut unrolled, mut rounds, mut made) = (0, 0, 0);
    let mut erased = Erased::new();
    let wanted = |module: &Module, shape: &Shape, count: u32| {
        let control = control(module, shape);
        let size = words(module, shape) * count as usize;
        let most = match control.contains(LoopControl::Unroll) {
            true => MOST_WORDS,
            false => small,
        };
        !control.contains(LoopControl::DontUnroll) && size <= most
    };
    for func in module.functions().to_vec() {
        for _ in 0..LEVELS {
            let flow = cache.flow(module, func)?;
            let asks = |s: &Shape| small > 0 || control(module, s).contains(LoopControl::Unroll);
            if !shapes(module, &flow, structured).iter().any(asks) {
                break;
            }
            made += prepare(module, cache, &ids, func)?;
            let flow = cache.flow(module, func)?;
            let facts = Facts::new(module);
            let mut trips = Trips::new(module);
            let mut touched = vec![false; module.block_count()];
            let mut copier = None;
            for shape in shapes(module, &flow, structured) {
                if shape.blocks.iter().any(|b| touched[b.index()]) {
                    continue;
                }
                let count = trips.count(&facts, module, &shape, MOST_ROUNDS);
                let Some(count) = count.filter(|c| wanted(module, &shape, *c)) else {
                    continue;
                };
                let copier = copier.get_or_insert_with(|| Copier::new(module));
                all(module, copier, &shape, count);
                for block in shape.blocks.iter().chain([&shape.entry]) {
                    touched[block.index()] = true;
                }
                unrolled += 1;
                rounds += count as usize;
            }
            if copier.is_none() {
                break;
            }
            module.remove_unreachable(&ids, func, &mut erased);
            module.order_blocks(&ids, func);
            cache.drop_flow(func);
            cache.keep(crate::Analyses::FLOW);
        }
    }
    module.sweep(&erased);
    Ok(Outcome {
        statistics: vec![
            ("loops unrolled", unrolled),
            ("rounds copied", rounds),
            ("pre-headers made", made),
        ],
    })
}

/// Puts all rounds before the loop, and has what is left of the loop leave it.
fn all(module: &mut Module, copier: &mut Copier, shape: &Shape, count: u32) {
    if count > 0 {
        let chain = copier.rounds(module, shape, count as usize, None);
        chain.put_before(module, shape);
    }
    let merge = module.merge(shape.header).map(InstRef::handle);
    if let Some(merge) = merge.filter(|m| module.inst(*m).op() == Op::LoopMerge) {
        module.remove(merge);
    }
    leave(module, shape);
}

/// Has a loop's exit always leave.
fn leave(module: &mut Module, shape: &Shape) {
    let func = module.block(shape.header).func;
    if let Some(stays) = module.find_block(func, shape.stays) {
        module.remove_phi_parent(stays, module.label(shape.exit));
    }
    module.branch_to(shape.exit, Some(shape.leaves));
}

/// Some rounds become one.
pub fn run_by(module: &mut Module, cache: &mut Cache, factor: &str) -> Result<Outcome, Diagnostic> {
    let factor: u32 = factor.parse().unwrap_or(2);
    let ids = cache.ids(module);
    let structured = module.is_structured();
    let (mut unrolled, mut made) = (0, 0);
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
            let divided = |count: &u32| *count > 0 && count.is_multiple_of(factor);
            let count = trips.count(&facts, module, &shape, MOST_COUNTED);
            let control = control(module, &shape);
            let kept = control.contains(LoopControl::DontUnroll);
            let size = words(module, &shape) * factor as usize;
            let inner = !shape.blocks.iter().any(|b| touched[b.index()]);
            if kept || !inner || size > MOST_WORDS || !count.is_some_and(|c| divided(&c)) {
                continue;
            }
            let copier = copier.get_or_insert_with(|| Copier::new(module));
            by(module, copier, &ids, &shape, factor);
            for block in &shape.blocks {
                touched[block.index()] = true;
            }
            unrolled += 1;
        }
        if copier.is_some() {
            module.order_blocks(&ids, func);
            cache.drop_flow(func);
            cache.keep(crate::Analyses::FLOW);
        }
    }
    Ok(Outcome {
        statistics: vec![("loops unrolled", unrolled), ("pre-headers made", made)],
    })
}

fn by(module: &mut Module, copier: &mut Copier, ids: &IdWords, shape: &Shape, factor: u32) {
    let latch = module.label(shape.latch);
    let phis: Vec<Inst> = module.phis(shape.header).map(InstRef::handle).collect();
    let values = phis.iter().filter_map(|p| module.phi_value(*p, latch));
    let values: Vec<_> = values.collect();
    let chain = copier.rounds(module, shape, factor as usize - 1, Some(values));
    let merge = module.merge(shape.header);
    let merge = merge.filter(|m| m.op() == Op::LoopMerge);
    let continues = merge.map(|m| copier.resolve(m.id(1)));
    chain.put_behind(module, shape, continues);
    let merge = module.merge(shape.header).map(InstRef::handle);
    if let Some(merge) = merge.filter(|m| module.inst(*m).op() == Op::LoopMerge) {
        // What it says of the number of rounds does not hold any more.
        let words = module.inst(merge).words();
        let words = [words[0], words[1], LoopControl::DontUnroll.0];
        module.replace_words(merge, &words);
    }
    debug_assert!(!module.targets(ids, chain.last).is_empty());
}
