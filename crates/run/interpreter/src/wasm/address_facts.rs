//! Points-to analysis: the memory region that the address in each register names.
//!
//! The analysis makes accesses cheaper, and no access depends on it: each is compared with the bounds of the region that is
//! expected here, and an address outside of these is looked up among all regions.

use super::function_plan::FunctionPlan;
use super::step_registers::{RegisterRow, list_writes};
use crate::memory::{MemoryRegion, OFFSET_BITS, REGION_STRIDE};
use crate::operation::OperationName;
use crate::step::{CONSTANT, CodeStep, KernelCode, Slot};
use spirula_spirv::grammar::Op;

/// The region of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AddressFact {
    /// No address was seen yet.
    #[default]
    Unseen,
    /// The address is known.
    Exact(u64),
    Region(u32),
    /// The region that a parameter of the function points to.
    Parameter(Slot),
    Anywhere,
}

use AddressFact as Fact;

impl AddressFact {
    /// The fact of a known address.
    fn of_address(address: u64) -> AddressFact {
        Fact::Exact(address)
    }

    fn region(self) -> Option<u32> {
        match self {
            Fact::Exact(address) => Some((address >> OFFSET_BITS) as u32),
            Fact::Region(region) => Some(region),
            _ => None,
        }
    }

    /// A fact that holds for both.
    fn join(self, other: AddressFact) -> AddressFact {
        match (self, other) {
            (Fact::Unseen, fact) | (fact, Fact::Unseen) => fact,
            (a, b) if a == b => a,
            (a, b) => match (a.region(), b.region()) {
                (Some(a), Some(b)) if a == b => Fact::Region(a),
                _ => Fact::Anywhere,
            },
        }
    }

    /// The fact of an address at an offset, which is known or not.
    fn add_offset(self, offset: Option<u64>) -> AddressFact {
        match (self, offset) {
            (Fact::Exact(address), Some(offset)) => Fact::of_address(address.wrapping_add(offset)),
            (Fact::Exact(address), None) => Fact::Region((address >> OFFSET_BITS) as u32),
            (fact, _) => fact,
        }
    }
}

/// Facts of the registers of a function.
pub(super) struct AddressFacts<'k> {
    code: &'k KernelCode,
    facts: Vec<AddressFact>,
    is_changed: bool,
}

impl<'k> AddressFacts<'k> {
    /// Finds the facts of a function.
    pub(super) fn from_function(
        code: &'k KernelCode,
        plans: &[FunctionPlan],
        plan: &FunctionPlan,
    ) -> AddressFacts<'k> {
        let registers = code.functions[plan.number as usize].registers as usize;
        let mut facts = AddressFacts {
            code,
            facts: vec![Fact::Unseen; registers],
            is_changed: true,
        };
        for parameter in 0..plan.parameters {
            facts.facts[parameter as usize] = Fact::Parameter(parameter);
        }
        let edges = plan.list_edges(code);
        while facts.is_changed {
            facts.is_changed = false;
            for step in &code.steps[plan.steps.clone()] {
                facts.visit_step(plans, plan, step);
            }
            for edge in &edges {
                let moves = code.edges[*edge as usize].moves;
                for step in &code.moves[moves.indices()] {
                    facts.set(step.to, facts.get(step.from));
                }
            }
        }
        facts
    }

    /// The fact of a register or constant.
    pub(super) fn get(&self, slot: Slot) -> AddressFact {
        if slot & CONSTANT != 0 {
            Fact::of_address(self.code.constants[(slot & !CONSTANT) as usize])
        } else {
            self.facts[slot as usize]
        }
    }

    fn set(&mut self, slot: Slot, fact: AddressFact) {
        let own = &mut self.facts[slot as usize];
        let joined = own.join(fact);
        self.is_changed |= joined != *own;
        *own = joined;
    }

    fn set_row(&mut self, row: RegisterRow, fact: AddressFact) {
        row.list().for_each(|slot| self.set(slot, fact));
    }

    fn visit_step(&mut self, plans: &[FunctionPlan], plan: &FunctionPlan, step: &CodeStep) {
        match step {
            CodeStep::LocalAddress { to, offset } => {
                let address = MemoryRegion::PRIVATE.address(plan.frame + offset);
                self.set(*to, Fact::of_address(address));
            }
            CodeStep::Address {
                to,
                base,
                offset,
                terms,
            } => {
                let known = (terms.count == 0).then_some(*offset);
                let mut terms = self.code.terms[terms.indices()].iter();
                // An index of an array of descriptors chooses a region.
                let leaves = terms.any(|term| term.stride >= REGION_STRIDE);
                let fact = if leaves {
                    Fact::Anywhere
                } else {
                    self.get(*base).add_offset(known)
                };
                self.set(*to, fact);
            }
            CodeStep::Copy { to, from, count } => {
                for n in 0..*count {
                    self.set(to + n, self.get(from + n));
                }
            }
            CodeStep::Apply {
                operation,
                to,
                operands,
                strides,
                count,
            } if operation.name == OperationName::Core(Op::Select) => {
                for n in 0..*count {
                    for at in [1, 2] {
                        let slot = operands[at] + n * Slot::from(strides[at]);
                        self.set(to + n, self.get(slot));
                    }
                }
            }
            _ => {
                let writes = list_writes(self.code, step, |called| plans[called as usize].results);
                for row in writes {
                    self.set_row(row, Fact::Anywhere);
                }
            }
        }
    }
}
