//! Types and constants of a module, to be found or made.

use rustc_hash::FxHashMap;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::grammar::{Class, Op};
use spirula_spirv::ir::{Inst, InstRef, Module, Section};
use spirula_spirv::{Id, IdMap};

/// Types and constants by what they are. What is decorated is equal to nothing.
#[derive(Debug)]
pub struct Pool {
    known: FxHashMap<Box<[u32]>, Id>,
    /// What was made, for who keeps definitions.
    pub made: Vec<Inst>,
}

impl Pool {
    /// One pass over the globals.
    pub fn new(module: &Module) -> Self {
        let mut decorated = IdMap::new(module.bound(), false);
        for d in module.section(Section::Annotations) {
            match d.op() {
                Op::GroupDecorate | Op::GroupMemberDecorate => {
                    d.ids(1).for_each(|id| decorated.set(id, true));
                }
                _ => {
                    if let Some(target) = d.get_id(0) {
                        decorated.set(target, true);
                    }
                }
            }
        }
        let mut pool = Pool {
            known: FxHashMap::default(),
            made: Vec::new(),
        };
        for inst in module.section(Section::Globals) {
            if inst.result().is_some_and(|id| !decorated[id]) {
                pool.learn(inst);
            }
        }
        pool
    }

    /// Takes note of an instruction of the globals that is not decorated.
    pub fn learn(&mut self, inst: InstRef<'_>) {
        let class = inst.op().info().map(|i| i.class);
        let constant = class == Some(Class::ConstantCreation)
            && !matches!(
                inst.op(),
                Op::SpecConstant
                    | Op::SpecConstantTrue
                    | Op::SpecConstantFalse
                    | Op::SpecConstantComposite
                    | Op::SpecConstantOp
            );
        if (constant || class == Some(Class::TypeDeclaration) || inst.op() == Op::Undef)
            && let Some(id) = inst.result()
        {
            self.known.entry(key(inst)).or_insert(id);
        }
    }

    /// One of the known of which this holds.
    pub fn missing(&self, is_gone: impl Fn(Id) -> bool) -> Option<Id> {
        self.known.values().copied().filter(|id| is_gone(*id)).min()
    }

    /// A type by its opcode and operands.
    pub fn ty(&mut self, module: &mut Module, op: Op, operands: &[u32]) -> Id {
        let mut key = vec![u32::from(op.0), 0];
        key.extend_from_slice(operands);
        self.find(module, key, |id| {
            let mut words = vec![id.word()];
            words.extend_from_slice(operands);
            (op, words)
        })
    }

    /// A constant, or an undefined value, by its opcode, type and operands.
    pub fn constant(&mut self, module: &mut Module, op: Op, ty: Id, operands: &[u32]) -> Id {
        let mut key = vec![u32::from(op.0), ty.word()];
        key.extend_from_slice(operands);
        self.find(module, key, |id| {
            let mut words = vec![ty.word(), id.word()];
            words.extend_from_slice(operands);
            (op, words)
        })
    }

    /// A type or constant that the module has already.
    pub fn known(&self, op: Op, ty: Option<Id>, operands: &[u32]) -> Option<Id> {
        let mut key = vec![u32::from(op.0), ty.map_or(0, Id::word)];
        key.extend_from_slice(operands);
        self.known.get(&key[..]).copied()
    }

    fn find(
        &mut self,
        module: &mut Module,
        key: Vec<u32>,
        make: impl FnOnce(Id) -> (Op, Vec<u32>),
    ) -> Id {
        if let Some(id) = self.known.get(&key[..]) {
            return *id;
        }
        let id = module.fresh_id();
        let (op, words) = make(id);
        let inst = module.create(op, &words);
        module.append(Section::Globals.list(), inst);
        self.made.push(inst);
        self.known.insert(key.into(), id);
        id
    }

    /// `OpTypeBool`.
    pub fn bool(&mut self, module: &mut Module) -> Id {
        self.ty(module, Op::TypeBool, &[])
    }

    /// A pointer to a variable of a function.
    pub fn local_pointer(&mut self, module: &mut Module, pointee: Id) -> Id {
        let operands = [StorageClass::Function.0, pointee.word()];
        self.ty(module, Op::TypePointer, &operands)
    }

    /// A Boolean constant of a type.
    pub fn truth(&mut self, module: &mut Module, ty: Id, value: bool) -> Id {
        let op = if value {
            Op::ConstantTrue
        } else {
            Op::ConstantFalse
        };
        self.constant(module, op, ty, &[])
    }

    /// A 32-bit number, of the type that the module has already where it has only one.
    pub fn u32(&mut self, module: &mut Module, value: u32) -> Id {
        let signed = self.known(Op::TypeInt, None, &[32, 1]);
        let ty = match (self.known(Op::TypeInt, None, &[32, 0]), signed) {
            (Some(ty), _) | (None, Some(ty)) => ty,
            _ => self.ty(module, Op::TypeInt, &[32, 0]),
        };
        self.constant(module, Op::Constant, ty, &[value])
    }

    /// An undefined value.
    pub fn undef(&mut self, module: &mut Module, ty: Id) -> Id {
        self.constant(module, Op::Undef, ty, &[])
    }
}

fn key(inst: InstRef<'_>) -> Box<[u32]> {
    let ty = inst.result_type().map_or(0, Id::word);
    let head = [u32::from(inst.op().0), ty];
    let words = head.into_iter().chain(inst.operands().iter().copied());
    words.collect()
}
