//! Shared memory with an explicit layout (`SPV_KHR_workgroup_memory_explicit_layout`).
//!
//! All shared memory of a workgroup is one block, accessed through one aliased variable for each element width. It
//! begins with the failure flag, if there is one. The allocations follow, each at a multiple of 16 bytes.

use super::context::KernelLowering;
use super::lowered_kernel::SpecValue;
use super::memory_use::SharedAllocation;
use super::unsupported::unsupported_diagnostic;
use crate::ir::{ExprId, VarId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};

/// Bytes that references count in; every element width divides them.
const GRAIN: u64 = 16;

impl KernelLowering<'_> {
    /// A pointer to an element of `size` bytes in the allocation that a variable refers to.
    pub(super) fn laid_out_pointer(
        &mut self,
        var: VarId,
        size: u64,
        index: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let class = self.find_alias_class(var)?;
        let ty = self.uint_type(32);
        let first = if self.needs_reference(class) {
            let reference = self.reference_variable(var);
            self.emit_load(ty, reference)
        } else {
            let allocation = self.memory_use.classes[class].allocations.first().copied();
            let allocation = allocation.ok_or_else(|| {
                unsupported_diagnostic(self.place, "shared memory that is nowhere")
            })?;
            self.first_layout_unit(class, allocation)
        };
        let by = self.const_u32((GRAIN / size).trailing_zeros());
        let first = self.emit_value(Op::ShiftLeftLogical, ty, &[first, by]);
        let index = self.emit_value(Op::IAdd, ty, &[first, index]);
        Ok(self.view_pointer(size, index))
    }

    /// A pointer to the failure flag.
    pub(super) fn laid_out_flag(&mut self) -> Id {
        let zero = self.const_u32(0);
        self.view_pointer(4, zero)
    }

    /// The offset of an allocation in units of [`GRAIN`].
    pub(super) fn first_layout_unit(&mut self, class: usize, allocation: SharedAllocation) -> Id {
        let classes = self.memory_use.classes.iter().take(class);
        let mut bytes: Vec<ExprId> = classes
            .flat_map(|class| class.allocations.iter().map(|allocation| allocation.bytes))
            .collect();
        let own = self.memory_use.classes[class].allocations.iter();
        bytes.extend(
            own.take_while(|m| **m != allocation)
                .map(|allocation| allocation.bytes),
        );
        let more = self.flag_bytes();
        if bytes.is_empty() {
            self.const_u32((more / GRAIN) as u32)
        } else {
            self.spec_u32(SpecValue::Shared {
                bytes,
                more,
                size: GRAIN,
                least: 0,
            })
        }
    }

    fn flag_bytes(&self) -> u64 {
        if self.shares_failure() { GRAIN } else { 0 }
    }

    fn view_pointer(&mut self, size: u64, index: Id) -> Id {
        let variable = self.shared_memory_view(size);
        let ty = self.uint_type(size as u32 * 8);
        let pointer = self.b.pointer_type(StorageClass::Workgroup, ty);
        let zero = self.const_u32(0);
        self.emit_value(Op::AccessChain, pointer, &[variable, zero, index])
    }

    /// The variable that views all shared memory as elements of `size` bytes.
    fn shared_memory_view(&mut self, size: u64) -> Id {
        let at = size.trailing_zeros() as usize;
        if let Some(view) = self.layout.as_ref().and_then(|layout| layout.views[at]) {
            return view;
        }
        let all = self.memory_use.classes.iter();
        let bytes =
            all.flat_map(|class| class.allocations.iter().map(|allocation| allocation.bytes));
        let length = SpecValue::Shared {
            bytes: bytes.collect(),
            more: self.flag_bytes(),
            size,
            least: 1,
        };
        let length = self.spec_u32(length);
        let element = self.uint_type(size as u32 * 8);
        let words = [element.word(), length.word()];
        let array = self.b.distinct_type(Op::TypeArray, &words);
        self.b
            .decorate_id(array, Decoration::ArrayStride, &[size as u32]);
        let block = self.b.distinct_type(Op::TypeStruct, &[array.word()]);
        self.b.decorate_id(block, Decoration::Block, &[]);
        self.b.decorate_member(block, 0, Decoration::Offset, &[0]);
        let variable = self.add_global_variable(StorageClass::Workgroup, block);
        self.b.decorate_id(variable, Decoration::Aliased, &[]);
        if let Some(layout) = &mut self.layout {
            layout.views[at] = Some(variable);
        }
        variable
    }
}
