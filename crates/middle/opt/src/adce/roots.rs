//! The roots of liveness: instructions that are live by themselves.

use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDefinitions, SpirvCallGraph};
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};
use spirula_spirv::grammar::{InstructionEffects, Op};
use spirula_spirv::ir::{Func, IdWords, InstRef, SpirvModule};
use spirula_spirv::{IdMap, ir};

/// The reason why an instruction is live, if it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivenessClass {
    /// Live by itself.
    Root,
    /// Live if this variable is.
    WritesTo(Id),
    /// Live if its result is used.
    Removable,
    /// Debug information, which keeps nothing alive.
    Debug,
}

/// Facts about the functions and variables of a module before marking.
pub struct LivenessRoots<'a> {
    module: &'a SpirvModule,
    ids: &'a IdWords,
    definitions: &'a IdDefinitions,
    /// The variables whose writes are always live.
    volatile: IdMap<bool>,
    /// The functions without visible effects, by [`Func::index`].
    pure: Vec<bool>,
    by_id: IdMap<Option<Func>>,
}

/// The volatile bit of the image operands.
const VOLATILE_TEXEL: u32 = 0x800;

impl<'a> LivenessRoots<'a> {
    pub fn new(
        module: &'a SpirvModule,
        ids: &'a IdWords,
        definitions: &'a IdDefinitions,
        calls: &SpirvCallGraph,
    ) -> Self {
        let mut volatile = IdMap::new(0, false);
        for d in module.section_insts(ir::ModuleSection::Annotations) {
            use spirula_spirv::grammar::enumerants::Decoration;
            let kept = [
                Decoration::Volatile,
                Decoration::Aliased,
                Decoration::Coherent,
            ];
            if d.op() == Op::Decorate && kept.iter().any(|k| k.0 == d.operand_word(1)) {
                volatile.set(d.id_operand(0), true);
            }
        }
        let mut by_id = IdMap::new(module.bound(), None);
        let size = module.functions().iter().map(|f| f.index() + 1).max();
        for func in module.functions() {
            by_id.set(module.function_id(*func), Some(*func));
        }
        let mut roots = LivenessRoots {
            module,
            ids,
            definitions,
            volatile,
            pure: vec![false; size.unwrap_or(0)],
            by_id,
        };
        for func in calls.bottom_up() {
            let blocks = &module.function(*func).blocks;
            let pure = !blocks.is_empty()
                && !calls.is_recursive(*func)
                && blocks
                    .iter()
                    .all(|b| module.body(*b).all(|i| roots.is_harmless(i)));
            roots.pure[func.index()] = pure;
        }
        roots
    }

    /// The function of an id.
    pub fn function_of_id(&self, id: Id) -> Option<Func> {
        self.by_id[id]
    }

    /// Whether a function with this instruction may still be free of visible effects.
    fn is_harmless(&self, inst: InstRef<'_>) -> bool {
        if matches!(inst.op(), Op::Return | Op::ReturnValue) {
            return true;
        }
        match self.classify_inst(inst) {
            LivenessClass::Root => false,
            LivenessClass::WritesTo(variable) => {
                let class = self
                    .definitions
                    .get(self.module, variable)
                    .map(|v| v.operand_word(0));
                class == Some(StorageClass::Function.0)
            }
            LivenessClass::Removable | LivenessClass::Debug => true,
        }
    }

    /// Classifies an instruction in a block.
    pub fn classify_inst(&self, inst: InstRef<'_>) -> LivenessClass {
        match inst.op() {
            // Branches become live by what they decide on.
            Op::Branch | Op::BranchConditional | Op::Switch => LivenessClass::Removable,
            Op::LoopMerge | Op::SelectionMerge | Op::Line | Op::NoLine => LivenessClass::Removable,
            Op::Store | Op::CopyMemory | Op::CopyMemorySized => self.classify_write(inst),
            Op::LifetimeStart | Op::LifetimeStop => self.classify_local_write(inst.id_operand(0)),
            Op::Load if is_volatile(inst.operands().get(1)) => LivenessClass::Root,
            Op::ImageRead | Op::ImageSparseRead
                if inst
                    .operands()
                    .get(2)
                    .is_some_and(|m| m & VOLATILE_TEXEL != 0) =>
            {
                LivenessClass::Root
            }
            Op::FunctionCall => match self.by_id[inst.id_operand(0)] {
                Some(func) if self.pure[func.index()] => LivenessClass::Removable,
                _ => LivenessClass::Root,
            },
            Op::ExtInst => match self.ids.ext_inst_set(inst) {
                Some(set) if set.is_debug_info() => LivenessClass::Debug,
                Some(set) => of_effects(set.instruction_effects(inst.operand_word(1))),
                None => LivenessClass::Root,
            },
            op => of_effects(op.effects()),
        }
    }

    fn classify_write(&self, inst: InstRef<'_>) -> LivenessClass {
        let masks = inst.operands().get(2..).unwrap_or(&[]);
        // Copies have up to two masks with parameters between. Any word with the volatile bit counts.
        let volatile = match inst.op() {
            Op::Store => is_volatile(masks.first()),
            _ => masks.iter().any(|m| is_volatile(Some(m))),
        };
        if volatile {
            return LivenessClass::Root;
        }
        self.classify_local_write(inst.id_operand(0))
    }

    /// Classifies a write to memory that only the invocation or its workgroup can read.
    fn classify_local_write(&self, pointer: Id) -> LivenessClass {
        let Some(variable) = self.find_base_variable(pointer) else {
            return LivenessClass::Root;
        };
        let own = [
            StorageClass::Function,
            StorageClass::Private,
            StorageClass::Workgroup,
        ];
        let class = variable.operand_word(0);
        match variable.result() {
            Some(id) if own.iter().any(|c| c.0 == class) && !self.volatile[id] => {
                LivenessClass::WritesTo(id)
            }
            _ => LivenessClass::Root,
        }
    }

    /// The variable that a pointer is derived from.
    fn find_base_variable(&self, mut pointer: Id) -> Option<InstRef<'a>> {
        // Chains of addresses are short. A longer one is not followed.
        for _ in 0..64 {
            let inst = self.definitions.get(self.module, pointer)?;
            match inst.op() {
                Op::Variable => return Some(inst),
                op if op.is_access_chain() || matches!(op, Op::CopyObject | Op::Bitcast) => {
                    pointer = inst.id_operand(0)
                }
                _ => return None,
            }
        }
        None
    }
}

fn of_effects(effects: InstructionEffects) -> LivenessClass {
    if effects.is_removable() {
        LivenessClass::Removable
    } else {
        LivenessClass::Root
    }
}

fn is_volatile(mask: Option<&u32>) -> bool {
    mask.is_some_and(|m| m & MemoryAccess::Volatile.0 != 0)
}
