//! Atomic instructions and fences.
//!
//! A pointer is accessed as the integer of its address. A value narrower than a word is exchanged
//! within the word that contains it (`partword_atomics`). An update without an instruction of its
//! own becomes a compare-exchange loop (`compare_exchange_loops`).

use crate::ir::{InstructionExtra, LlvmInst, LlvmSymbol, LlvmType, LlvmValue, Ordering, RmwOp};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics, Scope, StorageClass};

/// Updates that SPIR-V has instructions for.
const UPDATES: &[(RmwOp, Op)] = &[
    (RmwOp::Xchg, Op::AtomicExchange),
    (RmwOp::Add, Op::AtomicIAdd),
    (RmwOp::Sub, Op::AtomicISub),
    (RmwOp::And, Op::AtomicAnd),
    (RmwOp::Or, Op::AtomicOr),
    (RmwOp::Xor, Op::AtomicXor),
    (RmwOp::Max, Op::AtomicSMax),
    (RmwOp::Min, Op::AtomicSMin),
    (RmwOp::UMax, Op::AtomicUMax),
    (RmwOp::UMin, Op::AtomicUMin),
    (RmwOp::FAdd, Op::AtomicFAddEXT),
    (RmwOp::FSub, Op::AtomicFAddEXT),
    (RmwOp::FMax, Op::AtomicFMaxEXT),
    (RmwOp::FMin, Op::AtomicFMinEXT),
];

/// Synchronisation scopes by name; those of OpenCL are named as Clang does.
const SCOPES: &[(&str, Scope)] = &[
    // That of the whole system.
    ("", Scope::CrossDevice),
    ("all_svm_devices", Scope::CrossDevice),
    ("device", Scope::Device),
    ("agent", Scope::Device),
    ("workgroup", Scope::Workgroup),
    ("subgroup", Scope::Subgroup),
    ("wavefront", Scope::Subgroup),
    ("singlethread", Scope::Invocation),
];

/// The scope with this name.
pub(super) fn scope_of(name: &str) -> LlvmResult<Scope> {
    match SCOPES.iter().find(|row| row.0 == name) {
        Some(row) => Ok(row.1),
        None => Err(make_refusal(format!(
            "the synchronisation scope {name} is not supported"
        ))),
    }
}

/// Ordering, storage class and scope as memory semantics. The invocation scope needs no ordering,
/// as an invocation always sees its own accesses in order.
pub(super) fn semantics_of(
    ordering: Ordering,
    class: Option<StorageClass>,
    scope: Scope,
) -> MemorySemantics {
    let order = match ordering {
        _ if scope == Scope::Invocation => return MemorySemantics::default(),
        Ordering::NotAtomic | Ordering::Unordered | Ordering::Monotonic => {
            return MemorySemantics::default();
        }
        Ordering::Acquire => MemorySemantics::Acquire,
        Ordering::Release => MemorySemantics::Release,
        Ordering::AcquireRelease => MemorySemantics::AcquireRelease,
        Ordering::SeqCst => MemorySemantics::SequentiallyConsistent,
    };
    let memory = match class {
        Some(StorageClass::CrossWorkgroup) => MemorySemantics::CrossWorkgroupMemory,
        Some(StorageClass::Workgroup) => MemorySemantics::WorkgroupMemory,
        _ => MemorySemantics::CrossWorkgroupMemory | MemorySemantics::WorkgroupMemory,
    };
    order | memory
}

/// The ordering of a failed exchange, which releases nothing.
fn drop_release(ordering: Ordering) -> Ordering {
    match ordering {
        Ordering::Release => Ordering::Monotonic,
        Ordering::AcquireRelease => Ordering::Acquire,
        other => other,
    }
}

/// The weakest ordering that is as strong as both orderings of an exchange. SPIR-V does not allow a
/// stronger one on failure than on success.
fn merge_orderings(success: Ordering, failure: Ordering) -> Ordering {
    match (success, failure) {
        (Ordering::SeqCst, _) | (_, Ordering::SeqCst) => Ordering::SeqCst,
        (Ordering::Release | Ordering::AcquireRelease, Ordering::Acquire) => {
            Ordering::AcquireRelease
        }
        (Ordering::Release | Ordering::AcquireRelease | Ordering::Acquire, _) => success,
        (_, failure) => failure,
    }
}

/// Pointer, scope, and the semantics of a successful and of a failed exchange.
#[derive(Clone, Copy)]
pub(super) struct AtomicSite {
    pub(super) pointer: Id,
    pub(super) scope: Id,
    pub(super) equal: Id,
    pub(super) unequal: Id,
}

/// The representation in memory of an atomically accessed value.
#[derive(Clone, Copy)]
struct AtomicCell {
    /// The values; of pointers the integers of their addresses.
    value: NumericShape,
    /// The shape in memory.
    stored: NumericShape,
}

impl AtomicCell {
    /// Whether it is narrower than a word.
    fn is_partword(self) -> bool {
        self.stored.width < 32 && self.stored.elem == NumericElement::Int
    }

    /// The same with integers in memory, because only integers can be compared.
    fn of_bits(self) -> AtomicCell {
        AtomicCell {
            stored: NumericShape::new_int(self.value.width, 1),
            ..self
        }
    }
}

impl FunctionTranslator<'_, '_> {
    /// The representation of values of a type. `native` keeps halves as they are.
    fn atomic_cell(&self, ty: LlvmType, native: bool) -> LlvmResult<AtomicCell> {
        if self.t.module.types.address_space(ty).is_some() && !self.t.is_shader() {
            let address = NumericShape::new_int(self.t.pointer_bits, 1);
            return Ok(AtomicCell {
                value: address,
                stored: address,
            });
        }
        let shape = self.t.require_shape(ty)?;
        let cell = AtomicCell {
            value: shape,
            stored: shape,
        };
        // With an extension, halves can be added and compared two or four at a time.
        let halves = shape.elem == NumericElement::Float && shape.width == 16;
        let lanes = shape.lanes == 1 || (halves && native && matches!(shape.lanes, 2 | 4));
        // Shaders cannot access the word that contains a value.
        let least = if self.t.is_shader() { 16 } else { 8 };
        if !shape.is_exact() || !lanes || shape.width < least {
            return Err(make_refusal(
                "an atomic access has 8, 16, 32 or 64 bits in SPIR-V, and this one does not",
            ));
        }
        if shape.elem == NumericElement::Brain && self.t.is_shader() {
            return Err(make_refusal(
                "atomic operations on bfloat have no counterpart in shaders",
            ));
        }
        if shape.width >= 32 || (halves && native) || self.t.is_shader() {
            Ok(cell)
        } else {
            Ok(cell.of_bits())
        }
    }

    /// A value in its memory representation.
    fn convert_to_cell(&mut self, cell: AtomicCell, value: LlvmValue) -> LlvmResult<Id> {
        if self.is_pointer(value) && !self.t.is_shader() {
            let pointer = self.in_memory(value)?;
            return self.pointer_bits_as(pointer, cell.stored);
        }
        let id = self.lower_value(value)?;
        self.emit_bitcast(cell.value, cell.stored, id)
    }

    /// A value of a type from its memory representation; a pointer is in memory form.
    fn convert_from_cell(&mut self, cell: AtomicCell, ty: LlvmType, id: Id) -> LlvmResult<Id> {
        if self.t.module.types.address_space(ty).is_some() && !self.t.is_shader() {
            let ty = self.t.memory_type(ty)?;
            return Ok(self.emit_op(Op::ConvertUToPtr, ty, [id]));
        }
        self.emit_bitcast(cell.stored, cell.value, id)
    }

    /// The site of an atomic access to a memory representation, with its scope and semantics.
    fn cell_site(
        &mut self,
        cell: AtomicCell,
        pointer: LlvmValue,
        orderings: [Ordering; 2],
        scope: LlvmSymbol,
    ) -> LlvmResult<AtomicSite> {
        let ty = self.t.shape_type(cell.stored);
        let pointer = self.lower_pointer(pointer, ty)?;
        self.site_at(pointer, orderings, scope)
    }

    /// A pointer with the scope and semantics of an access.
    pub(super) fn site_at(
        &mut self,
        pointer: Id,
        orderings: [Ordering; 2],
        scope: LlvmSymbol,
    ) -> LlvmResult<AtomicSite> {
        let known = self.t.b.type_of(pointer);
        let class = known.and_then(|ty| self.t.pointee_of(ty)).map(|p| p.0);
        let kind = scope_of(self.t.module.symbol_text(scope))?;
        let scope = self.t.make_u32(kind.0);
        let [equal, unequal] =
            orderings.map(|ordering| self.t.make_u32(semantics_of(ordering, class, kind).0));
        Ok(AtomicSite {
            pointer,
            scope,
            equal,
            unequal,
        })
    }

    pub(super) fn emit_atomic_load(
        &mut self,
        ty: LlvmType,
        pointer: LlvmValue,
        ordering: Ordering,
        scope: LlvmSymbol,
    ) -> LlvmResult<Id> {
        let cell = self.atomic_cell(ty, false)?;
        let id = if cell.is_partword() && !self.t.is_shader() {
            self.load_partword(cell.stored, pointer, ordering, scope)?
        } else {
            let site = self.cell_site(cell, pointer, [ordering; 2], scope)?;
            let stored = self.t.shape_type(cell.stored);
            self.emit_op(
                Op::AtomicLoad,
                stored,
                [site.pointer, site.scope, site.equal],
            )
        };
        self.convert_from_cell(cell, ty, id)
    }

    pub(super) fn emit_atomic_store(
        &mut self,
        value: LlvmValue,
        pointer: LlvmValue,
        ordering: Ordering,
        scope: LlvmSymbol,
    ) -> LlvmResult<()> {
        let cell = self.atomic_cell(self.type_of(value), false)?;
        let value = self.convert_to_cell(cell, value)?;
        if cell.is_partword() && !self.t.is_shader() {
            let orderings = [ordering, Ordering::Monotonic];
            self.exchange_partword(cell.stored, pointer, orderings, scope, |_, _| Ok(value))?;
            return Ok(());
        }
        let site = self.cell_site(cell, pointer, [ordering; 2], scope)?;
        let words = [site.pointer, site.scope, site.equal, value].map(Id::word);
        self.t.b.append_effect(Op::AtomicStore, &words);
        Ok(())
    }

    pub(super) fn lower_atomic_update(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let data = self.function.inst(inst);
        let InstructionExtra::Rmw {
            op,
            ordering,
            scope,
            ..
        } = data.extra
        else {
            return Err(make_refusal("an atomic update without an operation"));
        };
        let [pointer, operand] = self.function.operands(inst) else {
            return Err(make_refusal("an atomic update without two operands"));
        };
        let (pointer, operand) = (*pointer, *operand);
        let native = UPDATES.iter().find(|row| row.0 == op);
        let cell = self.atomic_cell(data.ty, native.is_some() && op != RmwOp::Xchg)?;
        let orderings = [ordering, drop_release(ordering)];
        let floats = cell.value.elem != NumericElement::Brain;
        if let Some((_, instruction)) = native.filter(|_| !cell.is_partword() && floats) {
            let site = self.cell_site(cell, pointer, orderings, scope)?;
            let ty = self.t.shape_type(cell.stored);
            let mut value = self.convert_to_cell(cell, operand)?;
            if op == RmwOp::FSub {
                value = self.emit_op(Op::FNegate, ty, [value]);
            }
            let operands = [site.pointer, site.scope, site.equal, value];
            let old = self.emit_op(*instruction, ty, operands);
            return self.convert_from_cell(cell, data.ty, old);
        }
        let cell = cell.of_bits();
        let shape = cell.value;
        let value = match op {
            RmwOp::Xchg => self.convert_to_cell(cell, operand)?,
            _ => self.lower_value(operand)?,
        };
        let new = |body: &mut Self, old: Id| {
            if op == RmwOp::Xchg {
                return Ok(value);
            }
            let old = body.emit_bitcast(cell.stored, shape, old)?;
            let new = body.compute_update(op, shape, old, value)?;
            body.emit_bitcast(shape, cell.stored, new)
        };
        let old = if cell.is_partword() && !self.t.is_shader() {
            self.exchange_partword(cell.stored, pointer, orderings, scope, new)?
        } else {
            let site = self.cell_site(cell, pointer, orderings, scope)?;
            let stored = self.t.shape_type(cell.stored);
            self.exchange_loop(stored, site, new)?
        };
        self.convert_from_cell(cell, data.ty, old)
    }

    pub(super) fn compare_exchange(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let data = self.function.inst(inst);
        let InstructionExtra::CmpXchg {
            success,
            failure,
            scope,
            ..
        } = data.extra
        else {
            return Err(make_refusal("a compare-and-exchange without orderings"));
        };
        let [pointer, expected, new] = self.function.operands(inst) else {
            return Err(make_refusal(
                "a compare-and-exchange without three operands",
            ));
        };
        let ty = self.stored_type(*expected);
        let cell = self.atomic_cell(ty, false)?;
        let (expected, new) = (
            self.convert_to_cell(cell, *expected)?,
            self.convert_to_cell(cell, *new)?,
        );
        let stored = self.t.shape_type(cell.stored);
        let orderings = [merge_orderings(success, failure), failure];
        let old = if cell.is_partword() && !self.t.is_shader() {
            let bool = self.t.b.bool_type();
            self.exchange_partword(cell.stored, *pointer, orderings, scope, |body, old| {
                let same = body.emit_op(Op::IEqual, bool, [old, expected]);
                Ok(body.emit_select(stored, same, new, old))
            })?
        } else {
            let site = self.cell_site(cell, *pointer, orderings, scope)?;
            let operands = [
                site.pointer,
                site.scope,
                site.equal,
                site.unequal,
                new,
                expected,
            ];
            self.emit_op(Op::AtomicCompareExchange, stored, operands)
        };
        let bool = self.t.b.bool_type();
        let same = self.emit_op(Op::IEqual, bool, [old, expected]);
        let old = self.convert_from_cell(cell, ty, old)?;
        self.compose_exchange_result(inst, old, same)
    }

    /// The old value, and whether it equals the expected one.
    fn compose_exchange_result(&mut self, inst: LlvmInst, old: Id, same: Id) -> LlvmResult<Id> {
        if self.keep_flag_separate(inst, same) {
            return Ok(old);
        }
        let flag = self.convert_boolean(same, NumericShape::new_int(8, 1), false);
        let result = self.result_type(inst)?;
        Ok(self.emit_op(Op::CompositeConstruct, result, [old, flag]))
    }

    /// A fence. A fence for the invocation alone only concerns the compiler.
    pub(super) fn lower_fence(&mut self, inst: LlvmInst) -> LlvmResult<()> {
        let InstructionExtra::Fence { ordering, scope } = self.function.inst(inst).extra else {
            return Err(make_refusal("a fence without an ordering"));
        };
        let scope = scope_of(self.t.module.symbol_text(scope))?;
        let semantics = semantics_of(ordering, None, scope);
        if semantics == MemorySemantics::default() {
            return Ok(());
        }
        let words = [self.t.make_u32(scope.0), self.t.make_u32(semantics.0)].map(Id::word);
        self.t.b.append_effect(Op::MemoryBarrier, &words);
        Ok(())
    }
}
