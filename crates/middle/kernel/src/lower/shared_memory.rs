//! Shared memory without an explicit layout.
//!
//! A class gets its variable when it is first accessed. Its elements have the narrowest width that is accessed, or
//! the width of its atomics. Wider accesses take several elements; narrower ones change a part of an element
//! atomically.

use super::context::{KernelLowering, SharedVariable};
use super::fragments::NON_PRIVATE;
use super::lowered_kernel::SpecValue;
use super::memory_use::SharedAllocation;
use super::unsupported::unsupported_diagnostic;
use super::vector_access::WIDEST;
use crate::ir::{ExprId, VarId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Scope and semantics of relaxed atomic accesses.
const RELAXED: u32 = 0;

impl KernelLowering<'_> {
    /// Loads from shared memory. Vulkan's memory model treats accesses as private unless they are marked.
    pub(super) fn load_shared(&mut self, ty: Id, pointer: Id) -> Id {
        if self.memory_use.has_fragments {
            self.b
                .append_value(Op::Load, ty, &[pointer.word(), NON_PRIVATE])
        } else {
            self.emit_load(ty, pointer)
        }
    }

    /// Stores to shared memory, with the same mark.
    pub(super) fn store_shared(&mut self, pointer: Id, value: Id) {
        if self.memory_use.has_fragments {
            let words = [pointer.word(), value.word(), NON_PRIVATE];
            self.b.append_effect(Op::Store, &words);
        } else {
            self.emit_store(pointer, value)
        }
    }

    fn load_shared_bits(&mut self, ty: Id, pointer: Id, volatile: bool) -> Id {
        if volatile {
            self.load_bits(ty, pointer, true)
        } else {
            self.load_shared(ty, pointer)
        }
    }

    fn store_shared_bits(&mut self, pointer: Id, bits: Id, volatile: bool) {
        if volatile {
            self.store_bits(pointer, bits, true)
        } else {
            self.store_shared(pointer, bits)
        }
    }

    /// The variable of a class; creates it at its first use.
    pub(super) fn shared_variable(
        &mut self,
        class: usize,
    ) -> Result<SharedVariable, SourceDiagnostic> {
        if let Some(shared) = self.shared[class] {
            return Ok(shared);
        }
        let data = self.memory_use.classes[class].clone();
        let narrow_atomics = data.atomic_sizes & 3 != 0;
        let size = match data.atomic_sizes {
            0 => 1 << (data.sizes | 16).trailing_zeros(),
            8 => 8,
            sizes if sizes & 8 != 0 => {
                return Err(unsupported_diagnostic(
                    self.place,
                    "shared memory with atomics of several widths",
                ));
            }
            _ => 4,
        };
        let size = if narrow_atomics { 4 } else { size };
        let bytes = data
            .allocations
            .iter()
            .map(|allocation| allocation.bytes)
            .collect();
        let element = self.shared_element(size);
        let length = self.spec_u32(SpecValue::Shared {
            bytes,
            more: 0,
            size,
            least: 1,
        });
        let array = self.b.array_type(element, length);
        let variable = self.add_global_variable(StorageClass::Workgroup, array);
        let shared = SharedVariable { variable, size };
        self.shared[class] = Some(shared);
        Ok(shared)
    }

    /// Makes a variable refer to an allocation of shared memory.
    pub(super) fn lower_alloc(&mut self, to: VarId, bytes: ExprId) -> Result<(), SourceDiagnostic> {
        let class = self.find_alias_class(to)?;
        if !self.needs_reference(class) {
            return Ok(());
        }
        if self.layout.is_some() {
            let first = self.first_layout_unit(class, SharedAllocation { var: to, bytes });
            let reference = self.reference_variable(to);
            self.emit_store(reference, first);
            return Ok(());
        }
        let shared = self.shared_variable(class)?;
        let all = self.memory_use.classes[class].allocations.clone();
        let before = all
            .iter()
            .take_while(|allocation| **allocation != SharedAllocation { var: to, bytes });
        let before: Vec<ExprId> = before.map(|allocation| allocation.bytes).collect();
        let first = if before.is_empty() {
            self.const_u32(0)
        } else {
            self.spec_u32(SpecValue::Shared {
                bytes: before,
                more: 0,
                size: shared.size,
                least: 0,
            })
        };
        let reference = self.reference_variable(to);
        self.emit_store(reference, first);
        Ok(())
    }

    /// A pointer to an element of shared memory; the index counts elements of the class.
    pub(super) fn shared_pointer(&mut self, var: VarId, index: Id) -> Result<Id, SourceDiagnostic> {
        let class = self.find_alias_class(var)?;
        let shared = self.shared_variable(class)?;
        let u32_ty = self.uint_type(32);
        let mut index = index;
        if self.needs_reference(class) {
            let first = self.reference_variable(var);
            let first = self.emit_load(u32_ty, first);
            index = self.emit_value(Op::IAdd, u32_ty, &[first, index]);
        }
        let element = self.shared_element(shared.size);
        let pointer = self.b.pointer_type(StorageClass::Workgroup, element);
        Ok(self.emit_value(Op::AccessChain, pointer, &[shared.variable, index]))
    }

    /// The type of elements of `size` bytes.
    fn shared_element(&mut self, size: u64) -> Id {
        match size {
            WIDEST => self.word_type((WIDEST / 4) as u32),
            size => self.uint_type(size as u32 * 8),
        }
    }

    pub(super) fn read_shared(
        &mut self,
        var: VarId,
        size: u64,
        index: Id,
        volatile: bool,
    ) -> Result<Id, SourceDiagnostic> {
        let class = self.find_alias_class(var)?;
        let ty = self.uint_type(size as u32 * 8);
        if self.layout.is_some() {
            let pointer = self.laid_out_pointer(var, size, index)?;
            return Ok(self.load_shared_bits(ty, pointer, volatile));
        }
        let own = self.shared_variable(class)?.size;
        let own_ty = self.uint_type(own as u32 * 8);
        if size == own {
            let pointer = self.shared_pointer(var, index)?;
            return Ok(self.load_shared_bits(ty, pointer, volatile));
        }
        if size < own {
            let (pointer, shift) = self.shared_part_pointer(var, own / size, size, index)?;
            let word = self.load_shared_bits(own_ty, pointer, volatile);
            let word = self.emit_value(Op::ShiftRightLogical, own_ty, &[word, shift]);
            return Ok(self.emit_value(Op::UConvert, ty, &[word]));
        }
        let mut whole = None;
        for piece in 0..size / own {
            let pointer = self.shared_piece_pointer(var, size / own, piece, index)?;
            let part = self.load_shared_bits(own_ty, pointer, volatile);
            let part = self.emit_value(Op::UConvert, ty, &[part]);
            let by = self.const_uint(size as u32 * 8, piece * own * 8);
            let part = self.emit_value(Op::ShiftLeftLogical, ty, &[part, by]);
            whole = Some(match whole {
                Some(whole) => self.emit_value(Op::BitwiseOr, ty, &[whole, part]),
                None => part,
            });
        }
        whole.ok_or_else(|| unsupported_diagnostic(self.place, "elements without bytes"))
    }

    pub(super) fn write_shared(
        &mut self,
        var: VarId,
        size: u64,
        index: Id,
        bits: Id,
        volatile: bool,
    ) -> Result<(), SourceDiagnostic> {
        let class = self.find_alias_class(var)?;
        if self.layout.is_some() {
            let pointer = self.laid_out_pointer(var, size, index)?;
            self.store_shared_bits(pointer, bits, volatile);
            return Ok(());
        }
        let own = self.shared_variable(class)?.size;
        let (ty, own_ty) = (
            self.uint_type(size as u32 * 8),
            self.uint_type(own as u32 * 8),
        );
        if size == own {
            let pointer = self.shared_pointer(var, index)?;
            self.store_shared_bits(pointer, bits, volatile);
        } else if size < own {
            let (pointer, shift) = self.shared_part_pointer(var, own / size, size, index)?;
            let ones = self.const_uint(own as u32 * 8, (1 << (size * 8)) - 1);
            let hole = self.emit_value(Op::ShiftLeftLogical, own_ty, &[ones, shift]);
            let hole = self.emit_value(Op::Not, own_ty, &[hole]);
            let bits = self.emit_value(Op::UConvert, own_ty, &[bits]);
            let bits = self.emit_value(Op::ShiftLeftLogical, own_ty, &[bits, shift]);
            let (scope, relaxed) = (self.const_u32(2), self.const_u32(RELAXED));
            self.emit_value(Op::AtomicAnd, own_ty, &[pointer, scope, relaxed, hole]);
            self.emit_value(Op::AtomicOr, own_ty, &[pointer, scope, relaxed, bits]);
        } else {
            for piece in 0..size / own {
                let pointer = self.shared_piece_pointer(var, size / own, piece, index)?;
                let by = self.const_uint(size as u32 * 8, piece * own * 8);
                let part = self.emit_value(Op::ShiftRightLogical, ty, &[bits, by]);
                let part = self.emit_value(Op::UConvert, own_ty, &[part]);
                self.store_shared_bits(pointer, part, volatile);
            }
        }
        Ok(())
    }

    /// The element that contains a smaller part, and the part's bit offset in it.
    pub(super) fn shared_part_pointer(
        &mut self,
        var: VarId,
        count: u64,
        size: u64,
        index: Id,
    ) -> Result<(Id, Id), SourceDiagnostic> {
        let (word, shift) = self.split_index(index, count, size);
        Ok((self.shared_pointer(var, word)?, shift))
    }

    /// Splits an index of parts, `count` of which make an element: the element's index and the part's bit offset.
    pub(super) fn split_index(&mut self, index: Id, count: u64, size: u64) -> (Id, Id) {
        let ty = self.uint_type(32);
        let by = self.const_u32(count.trailing_zeros());
        let word = self.emit_value(Op::ShiftRightLogical, ty, &[index, by]);
        let last = self.const_u32(count as u32 - 1);
        let part = self.emit_value(Op::BitwiseAnd, ty, &[index, last]);
        let bits = self.const_u32(size as u32 * 8);
        (word, self.emit_value(Op::IMul, ty, &[part, bits]))
    }

    /// A pointer to one of the `count` elements of a wide access.
    fn shared_piece_pointer(
        &mut self,
        var: VarId,
        count: u64,
        piece: u64,
        index: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let ty = self.uint_type(32);
        let (count, piece) = (self.const_u32(count as u32), self.const_u32(piece as u32));
        let first = self.emit_value(Op::IMul, ty, &[index, count]);
        let at = self.emit_value(Op::IAdd, ty, &[first, piece]);
        self.shared_pointer(var, at)
    }
}
