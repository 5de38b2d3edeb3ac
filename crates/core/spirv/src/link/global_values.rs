//! Value numbering of globals: types and constants of a module by value.

use super::decorations::{TargetAnnotation, TargetAnnotations, map_ids};
use super::recursive_types;
use crate::analysis::IdDefinitions;
use crate::grammar::{InstructionClass, Op};
use crate::ir::{IdWords, InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap};
use rustc_hash::{FxHashMap, FxHashSet};

/// The types, constants, imports and strings of a module by value, decorations included, so that equal ones are
/// found. It records the additions of an [`SpirvImporter`](super::SpirvImporter), and must be created again if
/// the module changes otherwise.
#[derive(Clone, Debug)]
pub struct GlobalValueTable {
    known: FxHashMap<Box<[u32]>, Id>,
    /// Pointers with forward declarations.
    recursive: FxHashMap<Box<[u32]>, Id>,
    once: FxHashSet<Box<[u32]>>,
    /// Ids that have names.
    named: IdMap<bool>,
}

/// Stands between an instruction's words and its decorations in a key; no decoration has it.
const DECORATED: u32 = u32::MAX;

impl GlobalValueTable {
    /// One pass over the module outside of its functions.
    pub fn from_module(module: &SpirvModule) -> Self {
        let mut values = GlobalValueTable {
            known: FxHashMap::default(),
            recursive: FxHashMap::default(),
            once: FxHashSet::default(),
            named: IdMap::new(module.bound(), false),
        };
        let annotations = TargetAnnotations::from_module(module);
        let ids = IdWords::new(module);
        let mut keys = ValueKeyBuilder::default();
        for section in ModuleSection::ALL {
            for inst in module.section_insts(section) {
                if is_once(inst.op()) {
                    values.once.insert(once_key(inst.op(), inst.words()));
                }
                if matches!(inst.op(), Op::Name | Op::MemberName) {
                    values.named.set(inst.id_operand(0), true);
                }
                if let Some(id) = inst.result().filter(|_| is_value(inst.op())) {
                    let rows = annotations.decorations_of(id);
                    if keys.build_key(module, &ids, inst, rows, Some) {
                        values.known.entry(keys.to_boxed()).or_insert(id);
                    }
                }
            }
        }
        let mut definitions = None;
        let globals = module.section_insts(ModuleSection::Globals);
        for inst in globals.filter(|i| i.op() == Op::TypeForwardPointer) {
            let definitions = definitions.get_or_insert_with(|| IdDefinitions::from_module(module));
            let pointer = inst.id_operand(0);
            let key = recursive_types::canonicalise_type(
                module,
                &ids,
                definitions,
                &annotations,
                pointer,
            );
            if let Some(key) = key {
                values.recursive.entry(key).or_insert(pointer);
            }
        }
        values
    }

    pub(super) fn get_recursive(&self, key: &[u32]) -> Option<Id> {
        self.recursive.get(key).copied()
    }

    pub(super) fn insert_recursive(&mut self, key: Box<[u32]>, id: Id) {
        self.recursive.insert(key, id);
    }

    pub(super) fn get(&self, keys: &ValueKeyBuilder) -> Option<Id> {
        self.known.get(keys.words.as_slice()).copied()
    }

    pub(super) fn insert(&mut self, keys: &ValueKeyBuilder, id: Id) {
        self.known.insert(keys.to_boxed(), id);
    }

    /// Records an instruction that may occur once. Returns whether it is new.
    pub(super) fn is_new(&mut self, op: Op, words: &[u32]) -> bool {
        self.once.insert(once_key(op, words))
    }

    pub(super) fn has_name(&self, id: Id) -> bool {
        self.named[id]
    }

    pub(super) fn set_named(&mut self, id: Id) {
        self.named.set(id, true);
    }
}

/// Whether two equal instructions of this opcode are the same thing: types, constants that are no
/// specialisation constants of their own, sets of instructions, strings.
pub(super) fn is_value(op: Op) -> bool {
    match op {
        Op::TypeForwardPointer
        | Op::TypeStructContinuedINTEL
        | Op::SpecConstant
        | Op::SpecConstantTrue
        | Op::SpecConstantFalse
        | Op::ConstantCompositeContinuedINTEL
        | Op::SpecConstantCompositeContinuedINTEL => false,
        Op::ExtInstImport | Op::String | Op::Undef => true,
        _ => op.info().is_some_and(|row| {
            matches!(
                row.class,
                InstructionClass::TypeDeclaration | InstructionClass::ConstantCreation
            )
        }),
    }
}

/// Whether an instruction of this opcode continues the one before it.
pub(super) fn is_continuation(op: Op) -> bool {
    matches!(
        op,
        Op::TypeStructContinuedINTEL
            | Op::ConstantCompositeContinuedINTEL
            | Op::SpecConstantCompositeContinuedINTEL
            | Op::SourceContinued
    )
}

/// Whether repetitions of an instruction of this opcode are redundant.
fn is_once(op: Op) -> bool {
    matches!(
        op,
        Op::Capability | Op::Extension | Op::Source | Op::SourceExtension | Op::ModuleProcessed
    )
}

fn once_key(op: Op, words: &[u32]) -> Box<[u32]> {
    let head = std::iter::once(u32::from(op.0));
    head.chain(words.iter().copied()).collect()
}

/// Makes the words by which values are found.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueKeyBuilder {
    words: Vec<u32>,
    rows: Vec<Vec<u32>>,
    row: Vec<u32>,
}

impl ValueKeyBuilder {
    /// The key of a value: opcode, words without the result id, decorations in an order of their
    /// own; ids as `map` has them. Returns whether `map` has all of them.
    pub fn build_key(
        &mut self,
        module: &SpirvModule,
        ids: &IdWords,
        inst: InstRef<'_>,
        rows: &[TargetAnnotation],
        map: impl Fn(Id) -> Option<Id>,
    ) -> bool {
        let words = inst.words();
        let result = words.len() - inst.operands().len() - 1;
        self.words.clear();
        self.words.push(u32::from(inst.op().0));
        self.words.extend_from_slice(words);
        let mut complete = true;
        ids.visit_uses(inst, |at, id| match map(id) {
            Some(new) => self.words[at + 1] = new.word(),
            None => complete = false,
        });
        self.words.remove(result + 1);
        if rows.is_empty() {
            return complete;
        }
        self.rows.clear();
        for row in rows {
            let op = row.write_instruction(module, &mut self.row);
            complete &= map_ids(op, &mut self.row, module.bound(), &map);
            let mut words = vec![DECORATED, u32::from(op.0)];
            words.append(&mut self.row);
            self.rows.push(words);
        }
        self.rows.sort_unstable();
        self.rows.dedup();
        self.words.extend(self.rows.iter().flatten());
        complete
    }

    fn to_boxed(&self) -> Box<[u32]> {
        self.words.as_slice().into()
    }
}
