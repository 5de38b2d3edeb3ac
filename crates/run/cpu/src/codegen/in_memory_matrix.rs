//! In-memory matrices: large cooperative matrices that lie in the memory of a workgroup which is one gang, row by
//! row.
//!
//! Each operation is a call whose arguments are uniform, so that a gang makes it once. If each invocation made it,
//! the result would be the same. Each value has memory of its own with 32 bits for each component. Components of 16
//! bits are widened when they are loaded.

use super::ClifResult;
use super::lowering::{ClifLowering, IdLocation};
use crate::layout::globals::ReachedGlobals;
use crate::layout::launch_context::at;
use crate::matrix::in_memory::{self, pack_sizes};
use crate::module::constants::ConstantScalar;
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::CooperativeMatrixLayout;
use spirula_spirv::ir::InstRef;

/// Alignment of matrices: that of a cache line.
const LINE: u32 = 64;

/// Offset of the in-memory matrices in the workgroup's memory.
pub(crate) fn matrix_base(globals: &ReachedGlobals) -> u32 {
    globals.workgroup_bytes.next_multiple_of(LINE)
}

/// Alignment of the workgroup's memory, of which matrices take `matrix_bytes` bytes.
pub(crate) fn workgroup_align(globals: &ReachedGlobals, matrix_bytes: u32) -> u32 {
    match matrix_bytes {
        0 => globals.workgroup_align,
        _ => globals.workgroup_align.max(LINE),
    }
}

/// `OpCooperativeMatrixLoadKHR`.
pub(super) fn lower_in_memory_load(lower: &mut ClifLowering, inst: InstRef, ty: Id) -> ClifResult {
    let [address, stride, by_rows] =
        lower.in_memory_place(inst.id_operand(0), inst.id_operand(1), inst.get_id(2))?;
    let size = lower.in_memory_size(ty)?;
    let to = lower.in_memory_result(inst, ty)?;
    let size = lower.emit_iconst(types::I64, pack_sizes(size[0], size[1]));
    let callee = match lower.component_scalar(ty)? {
        ScalarRepr::F16 => in_memory::load_matrix::<u16> as *const () as usize,
        _ => in_memory::load_matrix::<f32> as *const () as usize,
    };
    let args = [to, address, stride, size, by_rows];
    lower.call_host(callee, &[types::I64; 5], &[], &args);
    Ok(())
}

/// `OpCooperativeMatrixStoreKHR`.
pub(super) fn lower_in_memory_store(lower: &mut ClifLowering, inst: InstRef, ty: Id) -> ClifResult {
    let [address, stride, by_rows] =
        lower.in_memory_place(inst.id_operand(0), inst.id_operand(2), inst.get_id(3))?;
    let size = lower.single_size(ty)?;
    let from = lower.resolve_in_memory_address(inst.id_operand(1))?;
    let size = lower.emit_iconst(types::I64, pack_sizes(size[0], size[1]));
    let callee = in_memory::store_matrix as *const () as usize;
    let args = [address, from, stride, size, by_rows];
    lower.call_host(callee, &[types::I64; 5], &[], &args);
    Ok(())
}

/// `OpCooperativeMatrixMulAddKHR`.
pub(super) fn lower_in_memory_multiply(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let sizes = [0, 1, 2].map(|n| lower.type_of(inst.id_operand(n)));
    let [a, b, c] = sizes.map(|ty| ty.and_then(|ty| lower.in_memory_size(ty)));
    let ([rows, depth], b, c) = (a?, b?, c?);
    let size = lower.in_memory_size(ty)?;
    if b[0] != depth || [rows, b[1]] != size || c != size {
        return Err(lower.instruction_fault("its matrices do not fit each other"));
    }
    let [a, b, c] = [0, 1, 2].map(|n| lower.resolve_in_memory_address(inst.id_operand(n)));
    let (a, b, c) = (a?, b?, c?);
    let to = lower.in_memory_result(inst, ty)?;
    let size = lower.emit_iconst(types::I64, pack_sizes(size[0], size[1]));
    let depth = lower.emit_iconst(types::I64, depth.into());
    let callee = in_memory::multiply_matrices as *const () as usize;
    let args = [to, a, b, c, size, depth];
    lower.call_host(callee, &[types::I64; 6], &[], &args);
    Ok(())
}

/// `OpCompositeConstruct`: all components are one number.
pub(super) fn lower_in_memory_construct(
    lower: &mut ClifLowering,
    inst: InstRef,
    ty: Id,
) -> ClifResult {
    let size = lower.single_size(ty)?;
    let value = lower.read_value(inst.id_operand(0))?;
    let to = lower.in_memory_result(inst, ty)?;
    lower.emit_in_memory_fill(to, value, size);
    Ok(())
}

/// `OpPhi`: memory that the predecessors copy to.
pub(super) fn lower_in_memory_phi(lower: &mut ClifLowering, id: Id, ty: Id) -> ClifResult {
    lower.allocate_matrix(id, ty).map(|_| ())
}

/// `OpVariable`.
pub(super) fn lower_in_memory_variable(
    lower: &mut ClifLowering,
    id: Id,
    ty: Id,
    initial: Option<Id>,
) -> ClifResult {
    let to = lower.allocate_matrix(id, ty)?;
    match initial {
        Some(initial) => lower.copy_to(to, initial, ty),
        None => Ok(()),
    }
}

/// `OpLoad`, of a variable.
pub(super) fn lower_in_memory_read(lower: &mut ClifLowering, inst: InstRef, ty: Id) -> ClifResult {
    let to = lower.in_memory_result(inst, ty)?;
    lower.copy_to(to, inst.id_operand(0), ty)
}

/// `OpStore`, to a variable.
pub(super) fn lower_in_memory_write(lower: &mut ClifLowering, inst: InstRef, ty: Id) -> ClifResult {
    let to = lower.resolve_in_memory_address(inst.id_operand(0))?;
    lower.copy_to(to, inst.id_operand(1), ty)
}

impl ClifLowering<'_, '_, '_> {
    /// Whether a value is a matrix that lies in memory.
    pub(super) fn is_in_memory_matrix(&self, id: Id) -> bool {
        let ty = self.program.type_of(id);
        ty.is_some_and(|ty| self.program.is_in_memory_matrix(ty))
    }

    /// Sets a phi.
    pub(super) fn copy_in_memory(&mut self, phi: Id, value: Id, ways: usize) -> ClifResult {
        let ty = self.type_of(phi)?;
        let definition = self.program.definitions.get(self.program.module, value);
        let is_phi = definition.is_some_and(|inst| inst.op() == Op::Phi);
        // Other phis may be read after this one, on this edge or the other.
        if ways > 1 || (is_phi && phi != value) {
            return self.fail_unsupported("a phi of such matrices");
        }
        if phi == value {
            return Ok(());
        }
        let to = self.allocate_matrix(phi, ty)?;
        self.copy_to(to, value, ty)
    }

    /// Copies a matrix.
    fn copy_to(&mut self, to: Value, from: Id, ty: Id) -> ClifResult {
        let size = self.in_memory_size(ty)?;
        let from = self.resolve_in_memory_address(from)?;
        let count = self.emit_iconst(types::I64, i64::from(size[0]) * i64::from(size[1]));
        let callee = in_memory::copy_matrix as *const () as usize;
        self.call_host(callee, &[types::I64; 3], &[], &[to, from, count]);
        Ok(())
    }

    /// Rows and columns of such a matrix.
    fn in_memory_size(&self, ty: Id) -> Result<[u32; 2], SourceDiagnostic> {
        let program = self.program;
        let def = program.definitions.get(program.module, ty);
        let Some(def) = def.filter(|_| program.is_in_memory_matrix(ty)) else {
            return self.fail_unsupported("a product of small and large matrices");
        };
        if !matches!(
            self.component_scalar(ty)?,
            ScalarRepr::F16 | ScalarRepr::F32
        ) {
            return self.fail_unsupported("a cooperative matrix of so many components");
        }
        Ok([
            self.read_constant(def.id_operand(2))? as u32,
            self.read_constant(def.id_operand(3))? as u32,
        ])
    }

    /// The size of a matrix with components of 32 bits. Other matrices are only loaded and multiplied.
    fn single_size(&self, ty: Id) -> Result<[u32; 2], SourceDiagnostic> {
        match self.component_scalar(ty)? {
            ScalarRepr::F32 => self.in_memory_size(ty),
            _ => self.fail_unsupported("a cooperative matrix of so many components"),
        }
    }

    /// Address, bytes between rows or columns, and whether it lies row by row.
    fn in_memory_place(
        &mut self,
        pointer: Id,
        layout: Id,
        stride: Option<Id>,
    ) -> Result<[Value; 3], SourceDiagnostic> {
        let by_rows = match CooperativeMatrixLayout(self.read_constant(layout)? as u32) {
            CooperativeMatrixLayout::RowMajorKHR => 1,
            CooperativeMatrixLayout::ColumnMajorKHR => 0,
            other => return self.fail_unsupported(format!("the layout {other}")),
        };
        let base = self.read_pointer(pointer)?;
        let base = self.address_of(base)?;
        let stride = self.matrix_stride(pointer, stride, 4)?;
        let by_rows = self.emit_iconst(types::I64, by_rows);
        Ok([base, stride, by_rows])
    }

    /// The address of a matrix.
    fn resolve_in_memory_address(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        if let IdLocation::InMemoryMatrix(offset) = self.id_location(id) {
            return Ok(self.in_memory_address(offset));
        }
        if !self.program.constants.contains(id) {
            return Err(self.instruction_fault(format!("{id} is used before it is defined")));
        }
        let ty = self.type_of(id)?;
        let size = self.single_size(ty)?;
        let bits = match self.program.constants.scalars(id) {
            [ConstantScalar::Plain(bits), ..] => *bits,
            _ => 0,
        };
        let offset = self.allocate_in_memory(size)?;
        let to = self.in_memory_address(offset);
        let value = self.scalar_constant(ScalarRepr::F32, bits);
        self.emit_in_memory_fill(to, value, size);
        Ok(to)
    }

    fn emit_in_memory_fill(&mut self, to: Value, value: Value, size: [u32; 2]) {
        let bits = self
            .builder
            .ins()
            .bitcast(types::I32, MemFlagsData::new(), value);
        let bits = self.builder.ins().uextend(types::I64, bits);
        let count = self.emit_iconst(types::I64, i64::from(size[0]) * i64::from(size[1]));
        let callee = in_memory::fill_matrix as *const () as usize;
        self.call_host(callee, &[types::I64; 3], &[], &[to, bits, count]);
    }

    fn in_memory_result(&mut self, inst: InstRef<'_>, ty: Id) -> Result<Value, SourceDiagnostic> {
        match inst.result() {
            Some(id) => self.allocate_matrix(id, ty),
            None => Err(self.instruction_fault("it has no result")),
        }
    }

    /// Room for a matrix, where it has none yet; its address.
    fn allocate_matrix(&mut self, id: Id, ty: Id) -> Result<Value, SourceDiagnostic> {
        if let IdLocation::InMemoryMatrix(offset) = self.id_location(id) {
            return Ok(self.in_memory_address(offset));
        }
        let size = self.in_memory_size(ty)?;
        let offset = self.allocate_in_memory(size)?;
        self.set_id_location(id, IdLocation::InMemoryMatrix(offset));
        Ok(self.in_memory_address(offset))
    }

    /// Memory for a matrix.
    fn allocate_in_memory(&mut self, [rows, columns]: [u32; 2]) -> Result<u32, SourceDiagnostic> {
        let first = self.shared.matrix_bytes;
        let bytes = rows.checked_mul(columns).and_then(|n| n.checked_mul(4));
        let end = bytes.and_then(|bytes| first.checked_add(bytes)?.checked_next_multiple_of(LINE));
        match end {
            Some(end) if end <= MOST => {
                self.shared.matrix_bytes = end;
                Ok(first)
            }
            _ => self.fail_unsupported("a cooperative matrix of so many components"),
        }
    }

    fn in_memory_address(&mut self, offset: u32) -> Value {
        let base = self.load_context_field(types::I64, at::WORKGROUP);
        let offset = matrix_base(self.shared.globals) + offset;
        self.builder.ins().iadd_imm_s(base, i64::from(offset))
    }
}

/// Most bytes of all matrices of a workgroup.
const MOST: u32 = 1 << 24;
