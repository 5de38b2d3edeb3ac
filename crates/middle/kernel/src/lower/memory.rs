//! Memory accesses: device memory through one view for each element width, and private arrays.
//!
//! Memory holds unsigned integers; other types are converted at each access. A block of device memory is one
//! binding with a variable for each width.

use super::context::{KernelLowering, VIEW_BYTES, VIEWS};
use super::lowered_kernel::SpecValue;
use super::unsupported::unsupported_diagnostic;
use crate::ir::{ExprData, MemoryElement, MemorySpace, VarId, VariableType};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};

/// Memory operand of volatile loads and stores.
const VOLATILE: u32 = 1;

impl KernelLowering<'_> {
    pub(super) fn find_alias_class(&self, var: VarId) -> Result<usize, SourceDiagnostic> {
        let class = self.memory_use.alias_class.get(&var).copied();
        class.ok_or_else(|| unsupported_diagnostic(self.place, "memory that refers to nothing"))
    }

    /// Converts a value to the bits that memory holds.
    pub(super) fn as_bits(&mut self, ty: ScalarType, value: Id) -> Id {
        let bits = self.uint_type(ty.size() as u32 * 8);
        match ty {
            ScalarType::Bool => {
                let (one, zero) = (self.const_uint(8, 1), self.const_uint(8, 0));
                self.select(bits, value, one, zero)
            }
            _ => self.emit_bitcast(bits, value),
        }
    }

    /// Converts bits of memory to a value.
    pub(super) fn convert_from_memory_bits(&mut self, ty: ScalarType, bits: Id) -> Id {
        match ty {
            ScalarType::Bool => {
                let zero = self.const_uint(8, 0);
                self.emit_bool_value(Op::INotEqual, &[bits, zero])
            }
            _ => {
                let ty = self.scalar_type(ty);
                self.emit_bitcast(ty, bits)
            }
        }
    }

    /// Loads an element.
    pub(super) fn read_element(
        &mut self,
        element: &MemoryElement,
        index: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let ty = element.ty;
        let bits = self.uint_type(ty.size() as u32 * 8);
        match self.p.var(element.memory).ty {
            VariableType::Array(_) => {
                let pointer = self.private_pointer(element.memory, ty, index)?;
                let value = self.scalar_type(ty);
                Ok(self.emit_load(value, pointer))
            }
            VariableType::Memory(MemorySpace::Shared) => {
                let read = self.read_shared(element.memory, ty.size(), index, element.volatile)?;
                Ok(self.convert_from_memory_bits(ty, read))
            }
            _ => {
                let volatile = element.volatile;
                let read = |l: &mut Self, binding| {
                    let pointer = l.device_pointer(binding, ty.size(), index);
                    Ok(Some(l.load_bits(bits, pointer, volatile)))
                };
                let read = self.emit_for_binding(element.memory, Some(bits), read)?;
                let read = read
                    .ok_or_else(|| unsupported_diagnostic(self.place, "memory that is nowhere"))?;
                Ok(self.convert_from_memory_bits(ty, read))
            }
        }
    }

    /// Stores an element.
    pub(super) fn write_element(
        &mut self,
        element: &MemoryElement,
        index: Id,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        let ty = element.ty;
        if let VariableType::Array(_) = self.p.var(element.memory).ty {
            let pointer = self.private_pointer(element.memory, ty, index)?;
            self.emit_store(pointer, value);
            return Ok(());
        }
        let bits = self.as_bits(ty, value);
        let volatile = element.volatile;
        match self.p.var(element.memory).ty {
            VariableType::Memory(MemorySpace::Shared) => {
                self.write_shared(element.memory, ty.size(), index, bits, volatile)
            }
            _ => {
                self.emit_for_binding(element.memory, None, |l, binding| {
                    let pointer = l.device_pointer(binding, ty.size(), index);
                    l.store_bits(pointer, bits, volatile);
                    Ok(None)
                })?;
                Ok(())
            }
        }
    }

    pub(super) fn load_bits(&mut self, ty: Id, pointer: Id, volatile: bool) -> Id {
        if volatile {
            self.b
                .append_value(Op::Load, ty, &[pointer.word(), VOLATILE])
        } else {
            self.emit_load(ty, pointer)
        }
    }

    pub(super) fn store_bits(&mut self, pointer: Id, bits: Id, volatile: bool) {
        if volatile {
            self.b
                .append_effect(Op::Store, &[pointer.word(), bits.word(), VOLATILE])
        } else {
            self.emit_store(pointer, bits)
        }
    }

    /// Calls a closure with the binding that a variable refers to. If several bindings are possible, the variable
    /// holds which, and a chain of branches selects it. Returns the closure's result, which has type `given`.
    pub(super) fn emit_for_binding(
        &mut self,
        var: VarId,
        given: Option<Id>,
        mut each: impl FnMut(&mut Self, u32) -> Result<Option<Id>, SourceDiagnostic>,
    ) -> Result<Option<Id>, SourceDiagnostic> {
        let class = self.find_alias_class(var)?;
        let bindings = self.memory_use.classes[class].bindings.clone();
        let Some((last, others)) = bindings.split_last() else {
            return Err(unsupported_diagnostic(
                self.place,
                "memory that refers to nothing",
            ));
        };
        if others.is_empty() {
            return each(self, *last);
        }
        let u32_ty = self.uint_type(32);
        let chosen = self.reference_variable(var);
        let chosen = self.emit_load(u32_ty, chosen);
        let result = given.map(|ty| self.add_local_variable(ty));
        let mut merges = Vec::new();
        for binding in others {
            let number = self.const_u32(*binding);
            let is_it = self.emit_bool_value(Op::IEqual, &[chosen, number]);
            let [yes, no, merge] = [(); 3].map(|()| self.b.fresh_id());
            self.b.append_effect(Op::SelectionMerge, &[merge.word(), 0]);
            self.emit_effect(Op::BranchConditional, &[is_it, yes, no]);
            self.begin_block(yes);
            let done = each(self, *binding)?;
            if let (Some(result), Some(done)) = (result, done) {
                self.emit_store(result, done);
            }
            self.emit_branch(merge);
            self.begin_block(no);
            merges.push(merge);
        }
        let done = each(self, *last)?;
        if let (Some(result), Some(done)) = (result, done) {
            self.emit_store(result, done);
        }
        for merge in merges.into_iter().rev() {
            self.emit_branch(merge);
            self.begin_block(merge);
        }
        Ok(given
            .zip(result)
            .map(|(ty, variable)| self.emit_load(ty, variable)))
    }

    /// The variable that holds what a memory variable refers to: a binding, or the first element in shared memory.
    pub(super) fn reference_variable(&mut self, var: VarId) -> Id {
        if let Some(variable) = self.slots[var.index()] {
            return variable;
        }
        let ty = self.uint_type(32);
        let variable = self.add_local_variable(ty);
        self.slots[var.index()] = Some(variable);
        variable
    }

    /// Whether variables of an alias class need a reference variable.
    pub(super) fn needs_reference(&self, class: usize) -> bool {
        let class = &self.memory_use.classes[class];
        class.bindings.len().max(class.allocations.len()) > 1
    }

    /// A pointer to an element of `size` bytes in a binding.
    pub(super) fn device_pointer(&mut self, binding: u32, size: u64, index: Id) -> Id {
        let ty = self.uint_type(size as u32 * 8);
        let variable = self.binding_variable(binding, size);
        let pointer = self.b.pointer_type(StorageClass::StorageBuffer, ty);
        let zero = self.const_u32(0);
        self.emit_value(Op::AccessChain, pointer, &[variable, zero, index])
    }

    /// The variable of a binding with elements of `size` bytes.
    fn binding_variable(&mut self, binding: u32, size: u64) -> Id {
        let key = size.trailing_zeros() as usize;
        let element = self.uint_type(size as u32 * 8);
        self.binding_of(binding, key, element)
    }

    /// A pointer to a word or a vector of words in a binding.
    pub(super) fn device_words(&mut self, binding: u32, words: u32, index: Id) -> Id {
        let ty = self.word_type(words);
        let key = match words {
            1 => 2,
            2 => 4,
            _ => 5,
        };
        let variable = self.binding_of(binding, key, ty);
        let pointer = self.b.pointer_type(StorageClass::StorageBuffer, ty);
        let zero = self.const_u32(0);
        self.emit_value(Op::AccessChain, pointer, &[variable, zero, index])
    }

    /// The variable of a binding with a given view.
    fn binding_of(&mut self, binding: u32, view: usize, element: Id) -> Id {
        let key = binding as usize * VIEWS + view;
        if self.bindings.len() <= key {
            self.bindings.resize(key + 1, None);
        }
        if let Some(variable) = self.bindings[key] {
            return variable;
        }
        let mut classes = self.memory_use.classes.iter();
        let class = classes.find(|class| class.bindings.contains(&binding));
        // Only the failure block belongs to no class.
        let fails = self.can_fail();
        let (coherent, written) = class.map_or((fails, fails), |c| (c.coherent, c.written));
        let block = self.block_of(view, element, written);
        let variable = self.add_global_variable(StorageClass::StorageBuffer, block);
        self.b
            .decorate_id(variable, Decoration::DescriptorSet, &[0]);
        self.b
            .decorate_id(variable, Decoration::Binding, &[binding]);
        self.b.decorate_id(variable, Decoration::Aliased, &[]);
        if coherent {
            self.b.decorate_id(variable, Decoration::Coherent, &[]);
        }
        self.bindings[key] = Some(variable);
        variable
    }

    /// The type of a storage buffer with a runtime array. Read-only buffers have a type of their own. The reason is
    /// NVIDIA's driver 580: it treats all variables of a type as `NonWritable` if one of them is, and moves loads
    /// from them before stores of the same invocation.
    fn block_of(&mut self, view: usize, element: Id, written: bool) -> Id {
        let size: u32 = VIEW_BYTES[view];
        let own = usize::from(written);
        if let Some(block) = self.blocks[view][own] {
            return block;
        }
        let array = self
            .b
            .distinct_type(Op::TypeRuntimeArray, &[element.word()]);
        self.b.decorate_id(array, Decoration::ArrayStride, &[size]);
        let block = self.b.distinct_type(Op::TypeStruct, &[array.word()]);
        self.b.decorate_id(block, Decoration::Block, &[]);
        self.b.decorate_member(block, 0, Decoration::Offset, &[0]);
        if !written {
            self.b
                .decorate_member(block, 0, Decoration::NonWritable, &[]);
        }
        self.blocks[view][own] = Some(block);
        block
    }

    /// A pointer to an element of a private array.
    fn private_pointer(
        &mut self,
        var: VarId,
        ty: ScalarType,
        index: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let (variable, _) = self.private_array(var)?;
        let element = self.scalar_type(ty);
        let pointer = self.b.pointer_type(StorageClass::Function, element);
        Ok(self.emit_value(Op::AccessChain, pointer, &[variable, index]))
    }

    /// The variable of a private array, and its length.
    pub(super) fn private_array(&mut self, var: VarId) -> Result<(Id, Id), SourceDiagnostic> {
        let VariableType::Array(array) = self.p.var(var).ty else {
            return Err(unsupported_diagnostic(
                self.place,
                "a variable that is no private array",
            ));
        };
        let data = self.p.array(array);
        let length = match self.array_lengths[array.index()] {
            Some(length) => length,
            None => {
                let known: Option<u64> =
                    data.shape
                        .iter()
                        .try_fold(1u64, |product, size| match self.p.expr(*size) {
                            ExprData::Literal(literal) => product.checked_mul(literal.bits),
                            _ => None,
                        });
                let length = match known {
                    Some(known) => self.const_u32(known.clamp(1, 1 << 24) as u32),
                    None => self.spec_u32(SpecValue::Product(data.shape.clone())),
                };
                self.array_lengths[array.index()] = Some(length);
                length
            }
        };
        if let Some(variable) = self.slots[var.index()] {
            return Ok((variable, length));
        }
        let element = self.scalar_type(data.element);
        let ty = self.b.array_type(element, length);
        let variable = self.add_local_variable(ty);
        self.slots[var.index()] = Some(variable);
        Ok((variable, length))
    }
}
