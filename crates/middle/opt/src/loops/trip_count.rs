//! Trip counts: the exit condition of a loop is evaluated iteration by iteration from its initial values. This
//! handles counters of any kind (sums, products, shifts, floats), within a limit of iterations.

use super::LoopShape;
use crate::values::{ModuleValues, first_value};
use spirula_scalar::fold::FoldConstant;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most instructions that may compute the exit condition.
const MOST_INSTS: usize = 32;

const NONE: u32 = u32::MAX;

/// The trip count analysis, which evaluates exit conditions.
pub struct TripCounter {
    /// The position of each value in evaluation order.
    slot: IdMap<u32>,
    /// The number of each instruction of the current loop. Numbers below `base` belong to other loops.
    number: IdMap<u32>,
    base: u32,
    next: u32,
}

/// The instructions that are evaluated in each iteration.
struct TripSlice {
    phis: Vec<Inst>,
    insts: Vec<Inst>,
}

impl TripCounter {
    pub fn new(module: &SpirvModule) -> Self {
        TripCounter {
            slot: IdMap::new(module.bound(), NONE),
            number: IdMap::new(module.bound(), 0),
            base: 1,
            next: 1,
        }
    }

    /// The trip count: the number of iterations before the exit is taken, if it is known and at most `limit`.
    pub fn count_iterations(
        &mut self,
        facts: &ModuleValues,
        module: &SpirvModule,
        shape: &LoopShape,
        limit: u32,
    ) -> Option<u32> {
        self.base = self.next;
        for block in &shape.blocks {
            for id in module.body(*block).filter_map(InstRef::result) {
                self.number.set(id, self.next);
                self.next += 1;
            }
        }
        let condition = module.terminator(shape.exit).id_operand(0);
        let slice = self.slice_value(facts, module, shape, condition)?;
        let all = || slice.phis.iter().chain(&slice.insts);
        for (at, inst) in all().enumerate() {
            let id = module.inst(*inst).result()?;
            self.slot.set(id, at as u32);
        }
        let found = self.simulate_iterations(facts, module, shape, &slice, condition, limit);
        for inst in all() {
            let id = module.inst(*inst).result()?;
            self.slot.set(id, NONE);
        }
        found
    }

    fn is_inside(&self, id: Id) -> bool {
        self.number[id] >= self.base
    }

    /// The instructions that a value depends on, in block order.
    fn slice_value(
        &self,
        facts: &ModuleValues,
        module: &SpirvModule,
        shape: &LoopShape,
        root: Id,
    ) -> Option<TripSlice> {
        let mut slice = TripSlice {
            phis: Vec::new(),
            insts: Vec::new(),
        };
        let header: Vec<Inst> = module.phis(shape.header).map(InstRef::handle).collect();
        let latch = module.label(shape.latch);
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            if !self.is_inside(id) {
                facts.scalar_constant_bits(module, id)?;
                continue;
            }
            let inst = facts.definition(module, id)?;
            let handle = inst.handle();
            if slice.phis.contains(&handle) || slice.insts.contains(&handle) {
                continue;
            }
            if slice.insts.len() == MOST_INSTS {
                return None;
            }
            if header.contains(&handle) {
                slice.phis.push(handle);
                work.push(module.phi_value(handle, latch)?);
            } else if facts.is_foldable(inst) {
                facts.scalar_type(module, inst.result_type()?)?;
                slice.insts.push(handle);
                work.extend(inst.id_operands(first_value(inst.op())));
            } else {
                return None;
            }
        }
        let number = |inst: &Inst| module.inst(*inst).result().map(|id| self.number[id]);
        slice.insts.sort_by_key(number);
        Some(slice)
    }

    fn simulate_iterations(
        &self,
        facts: &ModuleValues,
        module: &SpirvModule,
        shape: &LoopShape,
        slice: &TripSlice,
        condition: Id,
        limit: u32,
    ) -> Option<u32> {
        let mut values: Vec<Option<FoldConstant>> = Vec::new();
        let get = |values: &[Option<FoldConstant>], id: Id| match self.slot[id] {
            NONE => facts.scalar_constant_bits(module, id),
            at => *values.get(at as usize)?,
        };
        let from =
            |label: Id, values: &[Option<FoldConstant>]| -> Option<Vec<Option<FoldConstant>>> {
                let of = |phi: &Inst| Some(Some(get(values, module.phi_value(*phi, label)?)?));
                slice.phis.iter().map(of).collect()
            };
        let mut heads = from(module.label(shape.entry), &values)?;
        for iteration in 0..=limit {
            values.clear();
            values.append(&mut heads);
            for inst in &slice.insts {
                let i = module.inst(*inst);
                let operands: Option<Vec<Vec<FoldConstant>>> = i
                    .id_operands(first_value(i.op()))
                    .map(|id| Some(vec![get(&values, id)?]))
                    .collect();
                let bits = *facts.evaluate_components(module, i, &operands?)?.first()?;
                let ty = facts.scalar_type(module, i.result_type()?)?;
                values.push(Some(FoldConstant { ty, bits }));
            }
            let holds = get(&values, condition)?.bits != 0;
            if holds != shape.stays_when {
                return Some(iteration);
            }
            heads = from(module.label(shape.latch), &values)?;
        }
        None
    }
}

/// Number of words of an iteration.
pub fn count_loop_words(module: &SpirvModule, shape: &LoopShape) -> usize {
    let insts = shape.blocks.iter().flat_map(|b| module.body(*b));
    let words = insts.filter(|i| i.op() != Op::Phi && !i.op().is_line());
    words.map(|i| 1 + i.words().len()).sum::<usize>() + 2 * shape.blocks.len()
}
