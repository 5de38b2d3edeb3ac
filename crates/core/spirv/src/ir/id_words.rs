//! Id positions: which words of an instruction are ids.
//!
//! [`IdWords`] answers by the table of opcode layouts. For most opcodes a mask gives the first words, and a flag
//! the rest. Only instructions with strings before ids, or extended instructions with literals, are split operand
//! by operand.

use super::module::is_silent_set;
use super::{InstRef, ModuleSection, SpirvModule};
use crate::grammar::{
    ExtInst, ExtInstSet, Kind, Op, OperandCategory, OperandIter, ResultForm, TrailingOperands,
};
use crate::{Id, IdSet};

/// A set of extended instructions that a module imports.
#[derive(Clone, Debug)]
struct ImportedSet {
    id: u32,
    /// Where the tables have it.
    set: Option<&'static ExtInstSet>,
    /// It describes the module and computes nothing.
    is_silent: bool,
}

/// Finds the ids in a module's instructions. It must be created again if the imports or the types of selectors
/// have changed.
#[derive(Clone, Debug)]
pub struct IdWords {
    sets: Vec<ImportedSet>,
    /// The ids whose type is an integer wider than 32 bits, where there are such types and switches.
    wide: IdSet,
    /// The types of such values.
    wide_types: Vec<u32>,
    /// From now on ambiguous words do not count as ids. Those of later instructions are only known if they are
    /// recorded.
    bound: u32,
}

impl IdWords {
    /// Reads the module's imports, and its values where it has integers of 64 bits and switches.
    pub fn new(module: &SpirvModule) -> Self {
        let imports = module.section_insts(ModuleSection::Imports);
        let imports = imports.filter(|i| i.op() == Op::ExtInstImport);
        let sets = imports.map(|i| {
            let name = i.string_operand(0);
            ImportedSet {
                id: i.result().map_or(0, Id::word),
                set: ExtInstSet::by_name(&name),
                is_silent: is_silent_set(&name),
            }
        });
        let mut found = IdWords {
            sets: sets.collect(),
            wide: IdSet::new(),
            wide_types: Vec::new(),
            bound: module.bound(),
        };
        let globals = module.section_insts(ModuleSection::Globals);
        let is_wide = |i: &InstRef<'_>| i.op() == Op::TypeInt && i.operand_word(0) > 32;
        let types: Vec<u32> = globals
            .filter(is_wide)
            .filter_map(|i| i.words().first().copied())
            .collect();
        if !types.is_empty() && module.has_switches() {
            found.wide = IdSet::with_bound(module.bound());
            found.wide_types = types;
            for inst in module.all_insts() {
                found.record_inst(inst);
            }
        }
        found
    }

    /// Records an instruction that was inserted into the module since.
    #[inline]
    pub fn record_inst(&mut self, inst: InstRef<'_>) {
        let words = inst.words();
        if let Some(id) = inst.result() {
            self.bound = self.bound.max(id.word().saturating_add(1));
        }
        if words.len() > 1
            && self.wide_types.contains(&words[0])
            && inst.op().result_form() == ResultForm::Typed
            && let Some(id) = Id::new(words[1])
        {
            self.wide.insert(id);
        }
    }

    /// The extended instruction set that an `OpExtInst` names.
    pub fn ext_inst_set(&self, inst: InstRef<'_>) -> Option<&'static ExtInstSet> {
        self.find_import(inst)?.set
    }

    fn find_import(&self, inst: InstRef<'_>) -> Option<&ImportedSet> {
        let id = *inst.operands().first()?;
        self.sets.iter().find(|import| import.id == id)
    }

    /// Whether an instruction belongs to an unknown set that describes the module. It may describe its own
    /// position, so that copies of code omit it.
    pub fn is_unknown_remark(&self, inst: InstRef<'_>) -> bool {
        let is_extended = matches!(inst.op(), Op::ExtInst | Op::ExtInstWithForwardRefsKHR);
        let import = self
            .find_import(inst)
            .filter(|i| is_extended && i.is_silent);
        let number = inst.operands().get(1).copied();
        let is_known =
            |set: &ExtInstSet| number.is_some_and(|n| set.instruction_by_number(n).is_some());
        import.is_some_and(|import| !import.set.is_some_and(is_known))
    }

    /// Words of an `OpSwitch`'s literals: 2 where its selector is wider than 32 bits.
    pub fn switch_literal_words(&self, switch: InstRef<'_>) -> usize {
        let selector = switch.words().first().copied().and_then(Id::new);
        let is_wide = selector.is_some_and(|id| self.wide.contains(id));
        1 + usize::from(is_wide)
    }

    /// Visits the position among [`InstRef::words`] of each id that the instruction uses, that is, any id except its
    /// result. For an unknown instruction, visits every word that could be an id of the module when the imports were
    /// read. Ids of instructions that were inserted since count, too.
    #[inline]
    pub fn visit_uses(&self, inst: InstRef<'_>, mut visit: impl FnMut(usize, Id)) {
        let (words, shape) = (inst.words(), inst.op().shape());
        let Some(spots) = shape.locate_ids(words) else {
            return self.visit_split(inst, &mut visit);
        };
        let mut bits = spots.bits & !shape.result_bit();
        while bits != 0 {
            let at = bits.trailing_zeros() as usize;
            if let Some(id) = words.get(at).copied().and_then(Id::new) {
                visit(at, id);
            }
            bits &= bits - 1;
        }
        for (at, word) in words.iter().enumerate().skip(spots.from) {
            if let Some(id) = Id::new(*word) {
                visit(at, id);
            }
        }
    }

    /// As [`IdWords::visit_uses`], for instructions that have to be split.
    #[inline(never)]
    fn visit_split(&self, inst: InstRef<'_>, visit: &mut dyn FnMut(usize, Id)) {
        let (words, shape) = (inst.words(), inst.op().shape());
        let mut id = |at: usize| {
            if let Some(id) = words.get(at).copied().and_then(Id::new) {
                visit(at, id);
            }
        };
        match shape.rest {
            TrailingOperands::Unknown => self.visit_possible_ids(inst, 0, id),
            TrailingOperands::Switch => {
                let step = self.switch_literal_words(inst) + 1;
                (0..2.min(words.len())).for_each(&mut id);
                (1 + step..words.len()).step_by(step).for_each(id);
            }
            TrailingOperands::Ext => {
                let set = self.ext_inst_set(inst);
                let row = set.and_then(|s| s.instruction_by_number(*words.get(3)?));
                match row {
                    Some(row) if !has_ids_only(row) => self.visit_parsed_ids(inst, set, id),
                    Some(_) => {
                        [0, 2].into_iter().for_each(&mut id);
                        (4..words.len()).for_each(id);
                    }
                    // The reader does not know either: they need not be below the bound.
                    None => {
                        [0, 2].into_iter().for_each(&mut id);
                        self.visit_possible_ids(inst, 4, id);
                    }
                }
            }
            _ => self.visit_parsed_ids(inst, None, id),
        }
    }

    /// Whether it is certain which words are ids: the tables know the opcode, and the values that
    /// bring operands of their own.
    pub fn is_certain(&self, inst: InstRef<'_>) -> bool {
        let op = inst.op();
        let by_shape = matches!(
            op.shape().rest,
            TrailingOperands::Switch | TrailingOperands::Ext
        );
        op.info().is_some()
            && (by_shape
                || op.shape().locate_ids(inst.words()).is_some()
                || OperandIter::new(op, inst.words()).all(|o| o.is_ok()))
    }

    /// Renames each id that an instruction uses by `map`.
    #[inline]
    pub fn rewrite_uses(
        &self,
        module: &mut SpirvModule,
        inst: super::Inst,
        mut map: impl FnMut(Id) -> Id,
    ) {
        let old = module.inst(inst);
        let shape = old.op().shape();
        let Some(spots) = shape.locate_ids(old.words()) else {
            return self.rewrite_split(module, inst, &mut map);
        };
        let mut bits = spots.bits & !shape.result_bit();
        let words = module.words_mut(inst);
        let mut change = |word: &mut u32| {
            if let Some(id) = Id::new(*word) {
                *word = map(id).word();
            }
        };
        while bits != 0 {
            if let Some(word) = words.get_mut(bits.trailing_zeros() as usize) {
                change(word);
            }
            bits &= bits - 1;
        }
        words.iter_mut().skip(spots.from).for_each(change);
    }

    /// As [`IdWords::rewrite_uses`], for instructions that have to be split.
    #[inline(never)]
    fn rewrite_split(
        &self,
        module: &mut SpirvModule,
        inst: super::Inst,
        map: &mut dyn FnMut(Id) -> Id,
    ) {
        let mut changes: Vec<(usize, u32)> = Vec::new();
        self.visit_uses(module.inst(inst), |at, id| {
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
    fn visit_possible_ids(&self, inst: InstRef<'_>, from: usize, id: impl FnMut(usize)) {
        let words = inst.words();
        (from..words.len())
            .filter(|at| words[*at] < self.bound)
            .for_each(id);
    }

    fn visit_parsed_ids(
        &self,
        inst: InstRef<'_>,
        set: Option<&'static ExtInstSet>,
        mut id: impl FnMut(usize),
    ) {
        let mut end = 0;
        for operand in OperandIter::new(inst.op(), inst.words()).with_ext(set) {
            let Ok(operand) = operand else {
                // Words after an unknown value may be ids.
                return self.visit_possible_ids(inst, end, id);
            };
            end = operand.at + operand.words.len();
            let kind = operand.kind;
            if kind.info().category == OperandCategory::Id && kind != Kind::IdResult {
                id(operand.at);
            }
        }
    }
}

/// Whether all operands of an extended instruction are ids.
pub(super) fn has_ids_only(row: &ExtInst) -> bool {
    row.operands.iter().all(|o| o.kind == Kind::IdRef)
}
