//! Uniqued types and constants of a module: found, or created if there are none.

use rustc_hash::{FxHashMap, FxHasher};
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::grammar::{InstructionClass, Op};
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};
use std::hash::Hasher;

/// The words of a key, and its id.
#[derive(Clone, Copy, Debug)]
struct InternEntry {
    begin: u32,
    end: u32,
    id: Id,
}

/// Types and constants by value. One with decorations is equal to nothing.
#[derive(Debug)]
pub struct InternPool {
    /// Entries by hash. An entry whose hash is taken has the next free one.
    known: FxHashMap<u64, InternEntry>,
    /// The words of all keys.
    words: Vec<u32>,
    /// The instructions that were created, for callers that keep definitions.
    pub made: Vec<Inst>,
}

impl InternPool {
    /// One pass over the global instructions.
    pub fn new(module: &SpirvModule) -> Self {
        let mut decorated = IdMap::new(module.bound(), false);
        for d in module.section_insts(ModuleSection::Annotations) {
            match d.op() {
                Op::GroupDecorate | Op::GroupMemberDecorate => {
                    d.id_operands(1).for_each(|id| decorated.set(id, true));
                }
                _ => {
                    if let Some(target) = d.get_id(0) {
                        decorated.set(target, true);
                    }
                }
            }
        }
        let mut pool = InternPool {
            known: FxHashMap::default(),
            words: Vec::new(),
            made: Vec::new(),
        };
        for inst in module.section_insts(ModuleSection::Globals) {
            if inst.result().is_some_and(|id| !decorated[id]) {
                pool.record_global(inst);
            }
        }
        pool
    }

    /// Records a global instruction without decorations.
    pub fn record_global(&mut self, inst: InstRef<'_>) {
        let class = inst.op().info().map(|i| i.class);
        let constant = class == Some(InstructionClass::ConstantCreation)
            && !matches!(
                inst.op(),
                Op::SpecConstant
                    | Op::SpecConstantTrue
                    | Op::SpecConstantFalse
                    | Op::SpecConstantComposite
                    | Op::SpecConstantOp
            );
        if (constant || class == Some(InstructionClass::TypeDeclaration) || inst.op() == Op::Undef)
            && let Some(id) = inst.result()
        {
            let ty = inst.result_type().map_or(0, Id::word);
            if let Err(free) = self.lookup_key(inst.op(), ty, inst.operands()) {
                self.record_entry(free, inst.op(), ty, inst.operands(), id);
            }
        }
    }

    /// A recorded id for which the predicate holds.
    pub fn find_missing(&self, is_gone: impl Fn(Id) -> bool) -> Option<Id> {
        let all = self.known.values().map(|e| e.id);
        all.filter(|id| is_gone(*id)).min()
    }

    /// The id of a key, or the hash under which it would be recorded.
    fn lookup_key(&self, op: Op, ty: u32, operands: &[u32]) -> Result<Id, u64> {
        let mut hasher = FxHasher::default();
        hasher.write_u32(u32::from(op.0));
        hasher.write_u32(ty);
        operands.iter().for_each(|w| hasher.write_u32(*w));
        let mut hash = hasher.finish();
        while let Some(entry) = self.known.get(&hash) {
            let words = &self.words[entry.begin as usize..entry.end as usize];
            if words[..2] == [u32::from(op.0), ty] && words[2..] == *operands {
                return Ok(entry.id);
            }
            hash = hash.wrapping_add(1);
        }
        Err(hash)
    }

    fn record_entry(&mut self, free: u64, op: Op, ty: u32, operands: &[u32], id: Id) {
        let begin = self.words.len() as u32;
        self.words.extend([u32::from(op.0), ty]);
        self.words.extend_from_slice(operands);
        let end = self.words.len() as u32;
        self.known.insert(free, InternEntry { begin, end, id });
    }

    /// The type with this opcode and these operands.
    pub fn intern_type(&mut self, module: &mut SpirvModule, op: Op, operands: &[u32]) -> Id {
        self.find_or_create(module, op, None, operands)
    }

    /// The constant, or undefined value, with this opcode, type and operands.
    pub fn intern_constant(
        &mut self,
        module: &mut SpirvModule,
        op: Op,
        ty: Id,
        operands: &[u32],
    ) -> Id {
        self.find_or_create(module, op, Some(ty), operands)
    }

    /// A type or constant that the module already has.
    pub fn find_existing(&self, op: Op, ty: Option<Id>, operands: &[u32]) -> Option<Id> {
        self.lookup_key(op, ty.map_or(0, Id::word), operands).ok()
    }

    fn find_or_create(
        &mut self,
        module: &mut SpirvModule,
        op: Op,
        ty: Option<Id>,
        operands: &[u32],
    ) -> Id {
        let type_word = ty.map_or(0, Id::word);
        let free = match self.lookup_key(op, type_word, operands) {
            Ok(id) => return id,
            Err(free) => free,
        };
        let id = module.fresh_id();
        let mut words: Vec<u32> = ty.into_iter().map(Id::word).collect();
        words.push(id.word());
        words.extend_from_slice(operands);
        let inst = module.create_inst(op, &words);
        module.append_inst(ModuleSection::Globals.list(), inst);
        self.made.push(inst);
        self.record_entry(free, op, type_word, operands, id);
        id
    }

    /// `OpTypeBool`.
    pub fn intern_bool_type(&mut self, module: &mut SpirvModule) -> Id {
        self.intern_type(module, Op::TypeBool, &[])
    }

    /// The type of a pointer to a function variable.
    pub fn local_pointer(&mut self, module: &mut SpirvModule, pointee: Id) -> Id {
        let operands = [StorageClass::Function.0, pointee.word()];
        self.intern_type(module, Op::TypePointer, &operands)
    }

    /// A Boolean constant of a given type.
    pub fn intern_bool_constant(&mut self, module: &mut SpirvModule, ty: Id, value: bool) -> Id {
        let op = if value {
            Op::ConstantTrue
        } else {
            Op::ConstantFalse
        };
        self.intern_constant(module, op, ty, &[])
    }

    /// A 32-bit constant. Its type is that of the module, if the module has a single one.
    pub fn intern_u32_constant(&mut self, module: &mut SpirvModule, value: u32) -> Id {
        let signed = self.find_existing(Op::TypeInt, None, &[32, 1]);
        let ty = match (self.find_existing(Op::TypeInt, None, &[32, 0]), signed) {
            (Some(ty), _) | (None, Some(ty)) => ty,
            _ => self.intern_type(module, Op::TypeInt, &[32, 0]),
        };
        self.intern_constant(module, Op::Constant, ty, &[value])
    }

    /// An undefined value.
    pub fn intern_undef(&mut self, module: &mut SpirvModule, ty: Id) -> Id {
        self.intern_constant(module, Op::Undef, ty, &[])
    }
}
