//! Which words of an instruction are ids.
//!
//! [`IdWords`] answers by a table that is made once from the grammar: for most opcodes a mask of the
//! first words and whether the rest are ids too; only what has strings, masks with parameters or
//! extended instructions is split operand by operand.

use super::{InstRef, Module, Section};
use crate::Id;
use crate::grammar::{Category, ExtInstSet, Kind, Op, Operand, Operands, Quantifier, ResultForm};
use crate::grammar::{Instruction, instructions};
use std::sync::OnceLock;

/// What follows an instruction's first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// No id.
    None,
    /// Ids only.
    Ids,
    /// Literals and labels by turns.
    Switch,
    /// A number of an extended instruction and its operands.
    Ext,
    /// Anything: split by the grammar.
    Any,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bit n: word n is an id that is used.
    mask: u32,
    /// Number of words that the mask is about.
    fixed: u8,
    rest: Rest,
}

impl Shape {
    fn of(row: &Instruction) -> Shape {
        let (mut mask, mut fixed) = (0, 0);
        let mut operands = row.operands;
        while let [first, rest @ ..] = operands {
            if first.quantifier != Quantifier::One || !is_one_word(first.kind) || fixed == 31 {
                break;
            }
            if first.kind.info().category == Category::Id && first.kind != Kind::IdResult {
                mask |= 1 << fixed;
            }
            fixed += 1;
            operands = rest;
        }
        Shape {
            mask,
            fixed,
            rest: Rest::of(operands),
        }
    }
}

impl Rest {
    fn of(operands: &[Operand]) -> Rest {
        let only = |allowed: &dyn Fn(Kind) -> bool| operands.iter().all(|o| allowed(o.kind));
        let literal = |k| matches!(k, Kind::LiteralInteger | Kind::LiteralString);
        match operands {
            [one] if one.kind == Kind::PairLiteralIntegerIdRef => Rest::Switch,
            [first, ..] if first.kind == Kind::LiteralExtInstInteger => Rest::Ext,
            [one] if one.kind == Kind::LiteralContextDependentNumber => Rest::None,
            _ if only(&literal) => Rest::None,
            _ if only(&|k| {
                k.info().category == Category::Id && k != Kind::IdResult
                    || k == Kind::PairIdRefIdRef
            }) =>
            {
                Rest::Ids
            }
            _ => Rest::Any,
        }
    }
}

/// Whether an operand of this kind is one word and brings no others.
pub(super) fn is_one_word(kind: Kind) -> bool {
    let info = kind.info();
    match info.category {
        Category::Id => true,
        Category::ValueEnum | Category::BitEnum => {
            info.enumerants.iter().all(|e| e.parameters.is_empty())
        }
        Category::Literal => kind == Kind::LiteralInteger,
        Category::Composite => false,
    }
}

fn shape(op: Op) -> Option<Shape> {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(|| instructions().iter().map(Shape::of).collect());
    shapes.get(op.row()?).copied()
}

/// Finds the ids in a module's instructions. Made anew when the module's imports or the types of
/// selectors have changed.
#[derive(Clone, Debug)]
pub struct IdWords {
    sets: Vec<(u32, Option<&'static ExtInstSet>)>,
    /// One bit for each id whose type is an integer wider than 32 bits; empty where there is no
    /// such type.
    wide: Vec<u64>,
    /// The types of such values.
    wide_types: Vec<u32>,
    /// Words that only may be ids are none from here on.
    bound: u32,
}

impl IdWords {
    /// Reads the module's imports, and its values where it has integers of 64 bits.
    pub fn new(module: &Module) -> Self {
        let imports = module.section(Section::Imports);
        let imports = imports.filter(|i| i.op() == Op::ExtInstImport);
        let sets = imports.map(|i| {
            let id = i.result().map_or(0, Id::word);
            (id, ExtInstSet::by_name(&i.string(0)))
        });
        let mut found = IdWords {
            sets: sets.collect(),
            wide: Vec::new(),
            wide_types: Vec::new(),
            bound: module.bound(),
        };
        let globals = module.section(Section::Globals);
        let is_wide = |i: &InstRef<'_>| i.op() == Op::TypeInt && i.word(0) > 32;
        let types: Vec<u32> = globals
            .filter(is_wide)
            .filter_map(|i| i.words().first().copied())
            .collect();
        if !types.is_empty() {
            found.wide = vec![0; module.bound() as usize / 64 + 1];
            found.wide_types = types;
            for inst in module.all_insts() {
                found.learn(inst);
            }
        }
        found
    }

    /// Takes note of an instruction that was put into the module since.
    pub fn learn(&mut self, inst: InstRef<'_>) {
        if self.wide_types.is_empty() || inst.op().result_form() != ResultForm::Typed {
            return;
        }
        let words = inst.words();
        if self.wide_types.contains(&words[0]) {
            let (at, bit) = (words[1] as usize / 64, words[1] % 64);
            if at >= self.wide.len() {
                self.wide.resize(at + 1, 0);
            }
            self.wide[at] |= 1 << bit;
        }
    }

    /// The extended instruction set that an `OpExtInst` names.
    pub fn set(&self, inst: InstRef<'_>) -> Option<&'static ExtInstSet> {
        let id = *inst.operands().first()?;
        let found = self.sets.iter().find(|(set, _)| *set == id);
        found.and_then(|(_, set)| *set)
    }

    /// Words of an `OpSwitch`'s literals: 2 where its selector is wider than 32 bits.
    pub fn switch_literal_words(&self, switch: InstRef<'_>) -> usize {
        let selector = switch.words().first().copied().unwrap_or(0);
        let bits = self.wide.get(selector as usize / 64).copied().unwrap_or(0);
        if bits >> (selector % 64) & 1 == 1 {
            2
        } else {
            1
        }
    }

    /// Visits the position among [`InstRef::words`] of each id that the instruction uses: all but
    /// its result. Of an instruction that the tables do not know, every word that could be an id of
    /// the module when the imports were read.
    pub fn visit(&self, inst: InstRef<'_>, mut visit: impl FnMut(usize, Id)) {
        let words = inst.words();
        let mut id = |at: usize| {
            if let Some(id) = words.get(at).copied().and_then(Id::new) {
                visit(at, id);
            }
        };
        let Some(shape) = shape(inst.op()) else {
            return self.possible(inst, 0, id);
        };
        let fixed = usize::from(shape.fixed);
        if shape.rest != Rest::Any || words.len() <= fixed {
            let mut mask = shape.mask;
            while mask != 0 {
                id(mask.trailing_zeros() as usize);
                mask &= mask - 1;
            }
        }
        match shape.rest {
            Rest::None => {}
            Rest::Ids => (fixed..words.len()).for_each(id),
            Rest::Switch => {
                let step = self.switch_literal_words(inst) + 1;
                (fixed + step - 1..words.len()).step_by(step).for_each(id);
            }
            Rest::Ext => {
                let set = self.set(inst);
                let row = set.and_then(|s| s.instruction(*words.get(3)?));
                match row {
                    Some(row) if row.operands.iter().any(|o| o.kind != Kind::IdRef) => {
                        self.split(inst, set, fixed + 1, id);
                    }
                    _ => (fixed + 1..words.len()).for_each(id),
                }
            }
            Rest::Any if words.len() > fixed => self.split(inst, None, 0, id),
            Rest::Any => {}
        }
    }

    /// Whether it is certain which words are ids: the tables know the opcode, and the values that
    /// bring operands of their own.
    pub fn is_certain(&self, inst: InstRef<'_>) -> bool {
        match shape(inst.op()) {
            None => false,
            Some(shape) if shape.rest == Rest::Any => {
                inst.words().len() <= usize::from(shape.fixed)
                    || Operands::new(inst.op(), inst.words()).all(|o| o.is_ok())
            }
            Some(_) => true,
        }
    }

    /// Gives each id that an instruction uses the name that `map` has for it.
    pub fn rewrite(&self, module: &mut Module, inst: super::Inst, map: impl Fn(Id) -> Id) {
        let mut changes: Vec<(usize, u32)> = Vec::new();
        self.visit(module.inst(inst), |at, id| {
            let new = map(id);
            if new != id {
                changes.push((at, new.word()));
            }
        });
        if !changes.is_empty() {
            let words = module.words_mut(inst);
            for (at, new) in changes {
                words[at] = new;
            }
        }
    }

    /// The words from a position on that could be ids.
    fn possible(&self, inst: InstRef<'_>, from: usize, id: impl FnMut(usize)) {
        let words = inst.words();
        (from..words.len())
            .filter(|at| words[*at] < self.bound)
            .for_each(id);
    }

    fn split(
        &self,
        inst: InstRef<'_>,
        set: Option<&'static ExtInstSet>,
        from: usize,
        mut id: impl FnMut(usize),
    ) {
        let mut end = 0;
        for operand in Operands::new(inst.op(), inst.words()).with_ext(set) {
            let Ok(operand) = operand else {
                // What follows a value that the tables do not know may be ids.
                return self.possible(inst, end.max(from), id);
            };
            end = operand.at + operand.words.len();
            let kind = operand.kind;
            if operand.at >= from && kind.info().category == Category::Id && kind != Kind::IdResult
            {
                id(operand.at);
            }
        }
    }
}
