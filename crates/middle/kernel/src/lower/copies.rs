//! Copies: strided copies between blocks, copies of private arrays, and references.

use super::context::KernelLowering;
use super::unsupported::unsupported_diagnostic;
use crate::ir::{CopyOperand, CopyStmt, MemoryElement, VarId, VariableType};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Destination or source of a strided copy.
struct StridedSide {
    /// Its first element; the index is not used.
    element: MemoryElement,
    /// Index of the first element.
    offset: Id,
    /// Elements from one index to the next in each dimension.
    strides: Vec<Id>,
}

impl KernelLowering<'_> {
    /// Lets a memory variable refer to what another refers to, or copies a private array.
    pub(super) fn lower_alias(&mut self, to: VarId, from: VarId) -> Result<(), SourceDiagnostic> {
        if let VariableType::Array(_) = self.p.var(to).ty {
            return self.copy_private(to, from);
        }
        let class = self.find_alias_class(to)?;
        if self.needs_reference(class) {
            let u32_ty = self.uint_type(32);
            let from = self.reference_variable(from);
            let value = self.emit_load(u32_ty, from);
            let to = self.reference_variable(to);
            self.emit_store(to, value);
        }
        Ok(())
    }

    /// Copies a private array, as many elements as the source has.
    fn copy_private(&mut self, to: VarId, from: VarId) -> Result<(), SourceDiagnostic> {
        let VariableType::Array(array) = self.p.var(from).ty else {
            return Err(unsupported_diagnostic(
                self.place,
                "a copy from a variable that is no private array",
            ));
        };
        let element = self.p.array(array).element;
        let element = self.scalar_type(element);
        let pointer = self.b.pointer_type(StorageClass::Function, element);
        let (to, _) = self.private_array(to)?;
        let (from, length) = self.private_array(from)?;
        self.emit_counted_loop(32, length, |l, at| {
            let source = l.emit_value(Op::AccessChain, pointer, &[from, at]);
            let value = l.emit_load(element, source);
            let target = l.emit_value(Op::AccessChain, pointer, &[to, at]);
            l.emit_store(target, value);
            Ok(())
        })
    }

    /// A strided copy, element by element.
    pub(super) fn lower_copy(&mut self, copy: &CopyStmt) -> Result<(), SourceDiagnostic> {
        let shape: Vec<Id> = copy
            .shape
            .iter()
            .map(|size| self.lower_index(*size))
            .collect::<Result<_, _>>()?;
        let to = self.lower_copy_operand(&copy.to, copy.ty)?;
        let from = self.lower_copy_operand(&copy.from, copy.ty)?;
        self.copy_dimensions(&shape, 0, &to, to.offset, &from, from.offset)
    }

    fn lower_copy_operand(
        &mut self,
        side: &CopyOperand,
        ty: ScalarType,
    ) -> Result<StridedSide, SourceDiagnostic> {
        let offset = self.lower_index(side.offset)?;
        let strides = side.strides.iter().map(|stride| self.lower_index(*stride));
        Ok(StridedSide {
            offset,
            strides: strides.collect::<Result<_, _>>()?,
            element: MemoryElement {
                memory: side.memory,
                ty,
                index: side.offset,
                volatile: false,
            },
        })
    }

    /// Copies the elements of the dimensions from one on; the indices are those of the first elements.
    fn copy_dimensions(
        &mut self,
        shape: &[Id],
        dimension: usize,
        to: &StridedSide,
        to_first: Id,
        from: &StridedSide,
        from_first: Id,
    ) -> Result<(), SourceDiagnostic> {
        let Some(size) = shape.get(dimension) else {
            let value = self.read_element(&from.element, from_first)?;
            return self.write_element(&to.element, to_first, value);
        };
        self.emit_counted_loop(32, *size, |l, at| {
            let to_at = l.advance_index(to_first, at, to.strides[dimension]);
            let from_at = l.advance_index(from_first, at, from.strides[dimension]);
            l.copy_dimensions(shape, dimension + 1, to, to_at, from, from_at)
        })
    }

    fn advance_index(&mut self, first: Id, steps: Id, stride: Id) -> Id {
        let ty = self.uint_type(32);
        let distance = self.emit_value(Op::IMul, ty, &[steps, stride]);
        self.emit_value(Op::IAdd, ty, &[first, distance])
    }
}
