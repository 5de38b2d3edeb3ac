//! Alias analysis: which memory accesses may touch the same location.

use crate::values::ModuleValues;
use spirula_spirv::grammar::enumerants::{Decoration, MemoryAccess, MemorySemantics, StorageClass};
use spirula_spirv::grammar::{InstructionEffects, Op};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The scope of possible writers of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterScope {
    /// Nothing writes it while the module runs.
    ReadOnly,
    /// Only this function.
    Local,
    /// Only this invocation.
    Private,
    /// Any invocation.
    Shared,
    /// Any agent at any time. Loaded values are not reused.
    Volatile,
}

/// A memory location.
#[derive(Clone, Copy, Debug)]
pub struct MemoryLocation {
    /// The pointer to it.
    pub pointer: Id,
    /// The variable that contains it.
    pub base: Option<Id>,
    /// Its possible writers.
    pub kind: WriterScope,
}

/// An event that changes memory.
#[derive(Clone, Copy, Debug)]
pub enum MemoryEvent {
    /// A write to one location.
    Write(MemoryLocation),
    /// Writes of other invocations become visible.
    Sync,
    /// All shared memory may be written.
    Any,
}

/// Alias analysis: the variables of a module, and facts about them.
#[derive(Debug)]
pub struct AliasAnalysis {
    base: IdMap<Option<Id>>,
    kinds: IdMap<Option<WriterScope>>,
    aliased: IdMap<bool>,
}

impl AliasAnalysis {
    /// Two passes over the module.
    pub fn new(module: &SpirvModule, facts: &ModuleValues) -> Self {
        let mut memory = AliasAnalysis {
            base: IdMap::new(module.bound(), None),
            kinds: IdMap::new(0, None),
            aliased: IdMap::new(0, false),
        };
        let mut volatile = IdMap::new(0, false);
        let mut blocks = IdMap::new(0, false);
        let mut volatile_members = false;
        for d in module.section_insts(ModuleSection::Annotations) {
            let decoration = match d.op() {
                Op::Decorate => Decoration(d.operand_word(1)),
                Op::MemberDecorate => {
                    let member = Decoration(d.operand_word(2));
                    volatile_members |=
                        matches!(member, Decoration::Volatile | Decoration::Coherent);
                    continue;
                }
                // A group may decorate with anything.
                Op::GroupDecorate => {
                    d.id_operands(1).for_each(|id| volatile.set(id, true));
                    continue;
                }
                _ => continue,
            };
            match decoration {
                Decoration::Volatile | Decoration::Coherent => volatile.set(d.id_operand(0), true),
                Decoration::Aliased | Decoration::AliasedPointer => {
                    memory.aliased.set(d.id_operand(0), true);
                }
                Decoration::BufferBlock => blocks.set(d.id_operand(0), true),
                _ => {}
            }
        }
        let mut own = false;
        for inst in module.all_insts() {
            let Some(id) = inst.result() else { continue };
            match inst.op() {
                Op::Variable | Op::UntypedVariableKHR => {
                    let class = StorageClass(inst.operand_word(0));
                    let mut kind = of_class(class);
                    let writable = class == StorageClass::Uniform
                        && is_block(facts, module, inst.result_type(), &blocks);
                    let buffer =
                        matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer);
                    if class == StorageClass::Uniform && !writable {
                        kind = WriterScope::ReadOnly;
                    }
                    if volatile[id] || buffer && volatile_members {
                        kind = WriterScope::Volatile;
                    }
                    own |= matches!(kind, WriterScope::Local | WriterScope::Private);
                    memory.kinds.set(id, Some(kind));
                    memory.base.set(id, Some(id));
                }
                op if is_chain(op) => {
                    let base = memory.base[inst.id_operand(0)];
                    memory.base.set(id, base);
                }
                _ => {}
            }
        }
        if own {
            memory.mark_escaping_variables(module, facts);
        }
        memory
    }

    /// Marks variables whose address escapes as shared.
    fn mark_escaping_variables(&mut self, module: &SpirvModule, facts: &ModuleValues) {
        for inst in module.all_insts() {
            let op = inst.op();
            let known = op.is_about_ids() || op == Op::EntryPoint || is_chain(op);
            let debug = op == Op::ExtInst
                && facts
                    .ids
                    .ext_inst_set(inst)
                    .is_some_and(|s| s.is_debug_info());
            if known || debug {
                continue;
            }
            let direct = match op {
                Op::Load | Op::Store | Op::CopyMemory | Op::LifetimeStart | Op::LifetimeStop => 1,
                _ => 0,
            };
            let begin = inst.words().len() - inst.operands().len();
            facts.ids.visit_uses(inst, |at, id| {
                let operand = at.wrapping_sub(begin);
                let accessed = operand < direct || op == Op::CopyMemory && operand < 2;
                if let Some(base) = self.base[id].filter(|_| !accessed)
                    && let Some(WriterScope::Local | WriterScope::Private) = self.kinds[base]
                {
                    self.kinds.set(base, Some(WriterScope::Shared));
                }
            });
        }
    }

    /// The location that a pointer points to.
    pub fn pointer_location(
        &self,
        facts: &ModuleValues,
        module: &SpirvModule,
        pointer: Id,
    ) -> MemoryLocation {
        let base = self.base[pointer];
        let kind = match base.and_then(|b| self.kinds[b]) {
            Some(kind) => kind,
            None => {
                let ty = facts.type_of(module, pointer);
                let ty = ty.and_then(|ty| facts.definition(module, ty));
                match ty.map(|ty| (ty.op(), ty.operands().first().copied())) {
                    Some((Op::TypePointer, Some(class)))
                        if of_class(StorageClass(class)) == WriterScope::ReadOnly =>
                    {
                        WriterScope::ReadOnly
                    }
                    _ => WriterScope::Shared,
                }
            }
        };
        MemoryLocation {
            pointer,
            base,
            kind,
        }
    }

    /// Records a pointer that was created since the analysis.
    pub fn record_pointer(&mut self, inst: InstRef<'_>) {
        if let Some(id) = inst.result().filter(|_| is_chain(inst.op())) {
            let base = self.base[inst.id_operand(0)];
            self.base.set(id, base);
        }
    }

    /// The effect of an instruction on memory.
    pub fn classify_event(
        &self,
        facts: &ModuleValues,
        module: &SpirvModule,
        inst: InstRef<'_>,
    ) -> Option<MemoryEvent> {
        let write = |pointer| {
            Some(MemoryEvent::Write(
                self.pointer_location(facts, module, pointer),
            ))
        };
        match inst.op() {
            Op::Store if is_plain(inst.operands().get(2)) => write(inst.id_operand(0)),
            Op::CopyMemory if inst.operands().len() == 2 => write(inst.id_operand(0)),
            Op::LifetimeStart | Op::LifetimeStop => write(inst.id_operand(0)),
            Op::Load if !is_plain(inst.operands().get(1)) => Some(MemoryEvent::Sync),
            Op::ExtInst => match facts.ids.ext_inst_set(inst) {
                Some(set) if set.is_debug_info() => None,
                Some(set) if set.instruction_effects(inst.operand_word(1)).is_removable() => None,
                _ => Some(MemoryEvent::Any),
            },
            op if op.is_line() || op.is_terminator() => None,
            Op::LoopMerge | Op::SelectionMerge => None,
            op if op.is_barrier() => Some(MemoryEvent::Sync),
            Op::AtomicStore
            | Op::AtomicExchange
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicFAddEXT => {
                let semantics = facts
                    .scalar_constant_bits(module, inst.id_operand(2))
                    .map(|v| v.bits as u32);
                let order = MemorySemantics::Acquire
                    | MemorySemantics::Release
                    | MemorySemantics::AcquireRelease
                    | MemorySemantics::SequentiallyConsistent;
                if semantics.is_some_and(|s| s & order.0 == 0) {
                    write(inst.id_operand(0))
                } else {
                    Some(MemoryEvent::Sync)
                }
            }
            op if op.effects().contains(InstructionEffects::WRITES) => Some(MemoryEvent::Any),
            _ => None,
        }
    }

    /// Whether an event may change the content of a location.
    pub fn may_clobber(
        &self,
        facts: &ModuleValues,
        module: &SpirvModule,
        event: &MemoryEvent,
        place: &MemoryLocation,
    ) -> bool {
        if place.kind == WriterScope::ReadOnly {
            return false;
        }
        match event {
            MemoryEvent::Sync => !matches!(place.kind, WriterScope::Local | WriterScope::Private),
            MemoryEvent::Any => place.kind != WriterScope::Local,
            MemoryEvent::Write(written) => self.may_be_same(facts, module, written, place),
        }
    }

    /// Whether two locations may overlap.
    pub fn may_be_same(
        &self,
        facts: &ModuleValues,
        module: &SpirvModule,
        a: &MemoryLocation,
        b: &MemoryLocation,
    ) -> bool {
        let own = |p: &MemoryLocation| matches!(p.kind, WriterScope::Local | WriterScope::Private);
        match (a.base, b.base) {
            (Some(x), Some(y)) if x == y => !are_apart(facts, module, a.pointer, b.pointer),
            (Some(x), Some(y)) => self.aliased[x] && self.aliased[y],
            (None, Some(_)) => !own(b),
            (Some(_), None) => !own(a),
            (None, None) => true,
        }
    }
}

/// Whether two addresses in one variable differ in a constant index.
fn are_apart(facts: &ModuleValues, module: &SpirvModule, a: Id, b: Id) -> bool {
    let chain = |id| {
        let inst = facts.definition(module, id)?;
        inst.op().is_plain_access_chain().then(|| inst.operands())
    };
    let (Some([x, left @ ..]), Some([y, right @ ..])) = (chain(a), chain(b)) else {
        return false;
    };
    if x != y {
        return false;
    }
    for (l, r) in left.iter().zip(right) {
        if l == r {
            continue;
        }
        let value = |w: &u32| facts.scalar_constant_bits(module, Id::new(*w)?);
        return match (value(l), value(r)) {
            (Some(l), Some(r)) => l.bits != r.bits,
            _ => false,
        };
    }
    false
}

pub fn is_chain(op: Op) -> bool {
    op.is_plain_access_chain() || op == Op::CopyObject
}

/// Whether a mask of memory operands requests nothing special.
pub fn is_plain(mask: Option<&u32>) -> bool {
    let plain = MemoryAccess::Aligned | MemoryAccess::Nontemporal;
    mask.is_none_or(|m| m & !plain.0 == 0)
}

fn of_class(class: StorageClass) -> WriterScope {
    match class {
        StorageClass::UniformConstant | StorageClass::Input | StorageClass::PushConstant => {
            WriterScope::ReadOnly
        }
        StorageClass::Function => WriterScope::Local,
        StorageClass::Private => WriterScope::Private,
        _ => WriterScope::Shared,
    }
}

/// Whether a pointer type points to a buffer in the old form (`BufferBlock`), or to an array of such buffers.
fn is_block(
    facts: &ModuleValues,
    module: &SpirvModule,
    pointer: Option<Id>,
    blocks: &IdMap<bool>,
) -> bool {
    let pointer = pointer.and_then(|p| facts.def_of(module, p, Op::TypePointer));
    let mut ty = pointer.map(|p| p.id_operand(1));
    // Arrays of arrays of descriptors are not deep.
    for _ in 0..8 {
        let Some(inst) = ty.and_then(|ty| facts.definition(module, ty)) else {
            break;
        };
        match inst.op() {
            Op::TypeArray | Op::TypeRuntimeArray => ty = inst.get_id(0),
            Op::TypeStruct => return inst.result().is_some_and(|id| blocks[id]),
            _ => break,
        }
    }
    true
}
