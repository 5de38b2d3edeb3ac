//! What a module needs of capabilities, found from what it uses.

use crate::grammar::enumerants::Capability;
use crate::grammar::{Category, ExtInstSet, Kind, Op, Operands};
use crate::ir::{IdWords, Module, Section};
use std::collections::BTreeSet;

/// The capabilities that a module's instructions and enumerants ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Each need as the capabilities of which one is enough.
    alternatives: BTreeSet<Vec<u32>>,
    declared: BTreeSet<u32>,
}

impl Needs {
    /// One pass over the module. What depends on more than an opcode or an enumerant is counted for
    /// the widths of numbers only.
    pub fn compute(module: &Module) -> Self {
        let ids = IdWords::new(module);
        let mut needs = Needs {
            alternatives: BTreeSet::new(),
            declared: BTreeSet::new(),
        };
        for inst in module.all_insts() {
            if inst.op() == Op::Capability {
                needs.declared.insert(inst.word(0));
                continue;
            }
            let Some(row) = inst.op().info() else {
                continue;
            };
            needs.ask(row.capabilities);
            let is_ext = matches!(inst.op(), Op::ExtInst | Op::ExtInstWithForwardRefsKHR);
            let set = ids.set(inst).filter(|_| is_ext);
            let operands = Operands::new(inst.op(), inst.words())
                .with_ext(set)
                .with_switch_literal_words(ids.switch_literal_words(inst));
            for operand in operands.map_while(Result::ok) {
                needs.operand(operand.kind, operand.words[0], set);
            }
            match (inst.op(), inst.operands()) {
                (Op::TypeInt, [8, ..]) => needs.ask(&[Capability::Int8]),
                (Op::TypeInt, [16, ..]) => needs.ask(&[Capability::Int16]),
                (Op::TypeInt, [64, ..]) => needs.ask(&[Capability::Int64]),
                (Op::TypeFloat, [16]) => needs.ask(&[Capability::Float16]),
                (Op::TypeFloat, [64]) => needs.ask(&[Capability::Float64]),
                (Op::TypeVector, [_, 8 | 16]) => needs.ask(&[Capability::Vector16]),
                _ => {}
            }
        }
        let entries = module.section(Section::EntryPoints);
        if !entries.into_iter().any(|i| i.op() == Op::EntryPoint) {
            needs.ask(&[Capability::Linkage]);
        }
        needs
    }

    fn operand(&mut self, kind: Kind, word: u32, set: Option<&ExtInstSet>) {
        let info = kind.info();
        match info.category {
            Category::ValueEnum => {
                if let Some(row) = info.enumerant(word) {
                    self.ask(row.capabilities);
                }
            }
            Category::BitEnum => {
                let mut rest = word;
                while rest != 0 {
                    let bit = rest & rest.wrapping_neg();
                    rest ^= bit;
                    if let Some(row) = info.enumerant(bit) {
                        self.ask(row.capabilities);
                    }
                }
            }
            Category::Literal if kind == Kind::LiteralExtInstInteger => {
                if let Some(row) = set.and_then(|s| s.instruction(word)) {
                    self.ask(row.capabilities);
                }
            }
            _ => {}
        }
    }

    fn ask(&mut self, any: &[Capability]) {
        if !any.is_empty() {
            self.alternatives.insert(any.iter().map(|c| c.0).collect());
        }
    }

    /// The needs that a set of capabilities, with those that they imply, does not meet: each as the
    /// capabilities of which one would be enough.
    pub fn unmet(&self, declared: &[Capability]) -> Vec<Vec<Capability>> {
        let all = implied(declared.iter().map(|c| c.0));
        let missing = self
            .alternatives
            .iter()
            .filter(|any| !any.iter().any(|c| all.contains(c)));
        missing
            .map(|any| any.iter().map(|c| Capability(*c)).collect())
            .collect()
    }

    /// Capabilities that meet all needs, by increasing number: of those that the module declares the
    /// ones that it uses, and for needs that it does not meet the first that does.
    pub fn capabilities(&self) -> Vec<Capability> {
        let mut chosen: BTreeSet<u32> = BTreeSet::new();
        let mut open = Vec::new();
        for any in &self.alternatives {
            match any.as_slice() {
                [one] => drop(chosen.insert(*one)),
                _ => open.push(any),
            }
        }
        for any in open {
            let met = implied(chosen.iter().copied());
            if any.iter().any(|c| met.contains(c)) {
                continue;
            }
            let declared = implied(self.declared.iter().copied());
            let pick = any.iter().find(|c| declared.contains(c)).or(any.first());
            chosen.extend(pick);
        }
        // What others imply need not be declared.
        let needed = chosen.iter().filter(|c| {
            let others = chosen.iter().copied().filter(|other| other != *c);
            !implied(others).contains(c)
        });
        needed.map(|c| Capability(*c)).collect()
    }
}

/// Capabilities with those that they imply.
fn implied(from: impl Iterator<Item = u32>) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    let mut stack: Vec<u32> = from.collect();
    while let Some(value) = stack.pop() {
        if all.insert(value)
            && let Some(row) = Kind::Capability.info().enumerant(value)
        {
            stack.extend(row.capabilities.iter().map(|c| c.0));
        }
    }
    all
}
