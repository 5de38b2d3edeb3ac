//! Inference of element types from what a shader does with words that it declares as unsigned integers.
//!
//! Modules that access the same memory at several types declare it as words and convert loaded and stored values. If all loaded
//! words become floats of one type, and all stored words were such floats, the words are floats. Copies give no evidence. Cost: one
//! pass over the module.

use crate::data::ElementType;
use crate::type_names::TypeNames;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{IdWords, InstRef, ModuleSection, SpirvModule};

/// Evidence of the types of variables.
pub struct ElementEvidence {
    /// For each id, the variable that it points into or was loaded from; 0 for none.
    roots: Vec<u32>,
    /// For each id of a computed value, the type whose bits it has.
    made: Vec<Option<ElementUse>>,
    found: Vec<(u32, ElementUse)>,
}

/// The type that a use of a value shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementUse {
    Float(ElementType),
    Other,
}

impl ElementEvidence {
    /// Gathers the evidence of a module.
    pub fn from_module(module: &SpirvModule, names: &TypeNames<'_>) -> ElementEvidence {
        let bound = module.bound() as usize;
        let mut evidence = ElementEvidence {
            roots: vec![0; bound],
            made: vec![None; bound],
            found: Vec::new(),
        };
        for inst in module.section_insts(ModuleSection::Globals) {
            if let (Op::Variable, Some(id)) = (inst.op(), inst.result()) {
                evidence.roots[id.index()] = id.word();
            }
        }
        let ids = IdWords::new(module);
        for function in module.functions() {
            for inst in module.function_insts(*function) {
                evidence.note_instruction(inst, &ids, names);
            }
        }
        evidence
    }

    /// The float type of the words of some variables, if all their uses agree.
    pub fn infer_float_type(&self, variables: &[Id]) -> Option<ElementType> {
        let is_theirs = |root: u32| variables.iter().any(|v| v.word() == root);
        let uses = self.found.iter().filter(|(root, _)| is_theirs(*root));
        let mut uses = uses.map(|(_, used)| *used);
        match uses.next()? {
            ElementUse::Float(element) if uses.all(|used| used == ElementUse::Float(element)) => {
                Some(element)
            }
            _ => None,
        }
    }

    fn note_instruction(&mut self, inst: InstRef<'_>, ids: &IdWords, names: &TypeNames<'_>) {
        match inst.op() {
            op if op.is_plain_access_chain() || matches!(op, Op::Load | Op::AtomicLoad) => {
                if let Some(id) = inst.result() {
                    self.roots[id.index()] = self.find_root(inst.operand_word(0));
                }
            }
            Op::Bitcast => self.note_bitcast(inst, names),
            Op::Store => {
                let made = self.made.get(inst.operand_word(1) as usize);
                if let Some(made) = made.copied().flatten() {
                    self.note_use(inst.operand_word(0), made);
                }
            }
            // Passing a value on gives no evidence.
            Op::Phi | Op::Select | Op::CopyObject | Op::ArrayLength => {}
            Op::AtomicStore | Op::AtomicExchange | Op::AtomicCompareExchange => {}
            _ => {
                ids.visit_uses(inst, |_, id| self.note_use(id.word(), ElementUse::Other));
                if let Some(id) = inst.result() {
                    self.made[id.index()] = Some(ElementUse::Other);
                }
            }
        }
    }

    fn note_bitcast(&mut self, inst: InstRef<'_>, names: &TypeNames<'_>) {
        let float = |ty: Option<Id>| {
            let element = names.parse_value_type(ty?)?.element;
            element.is_float().then_some(element)
        };
        if let Some(element) = float(inst.result_type()) {
            self.note_use(inst.operand_word(0), ElementUse::Float(element));
        } else if let Some(id) = inst.result() {
            // Conversions between integers give no evidence.
            let from = names
                .type_of(inst.operand_word(0))
                .and_then(|ty| float(Some(ty)));
            self.made[id.index()] = from.map(ElementUse::Float);
        }
    }

    /// Notes the type that a value of a variable is used as.
    fn note_use(&mut self, word: u32, used: ElementUse) {
        let root = self.find_root(word);
        if root != 0 {
            self.found.push((root, used));
        }
    }

    fn find_root(&self, word: u32) -> u32 {
        self.roots.get(word as usize).copied().unwrap_or(0)
    }
}
