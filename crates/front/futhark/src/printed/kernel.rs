//! Kernels, and statements that occur only in kernels.

use super::reader::FutharkReader;
use spirula_diagnostics::SourceDiagnostic;
use spirula_kernel::ir::{
    AtomicOp, AtomicStmt, BlockSize, ExprId, KernelCapture, KernelData, KernelSyncScope,
    LaunchIndex, MemoryElement, StmtKind, SyncKind, VarId, VariableType,
};
use spirula_program::ScalarType;

const INDICES: [(&str, LaunchIndex); 4] = [
    ("get_tblock_id(", LaunchIndex::Group),
    ("get_local_id(", LaunchIndex::Local),
    ("get_local_size(", LaunchIndex::LocalSize),
    ("get_lockstep_width(", LaunchIndex::LockstepWidth),
];

const SYNCHRONISATIONS: [(&str, SyncKind, KernelSyncScope); 6] = [
    (
        "local_barrier()",
        SyncKind::Barrier,
        KernelSyncScope::Shared,
    ),
    (
        "global_barrier()",
        SyncKind::Barrier,
        KernelSyncScope::Device,
    ),
    (
        "mem_fence_local()",
        SyncKind::Fence,
        KernelSyncScope::Shared,
    ),
    (
        "mem_fence_global()",
        SyncKind::Fence,
        KernelSyncScope::Device,
    ),
    (
        "error_sync_local()",
        SyncKind::Error,
        KernelSyncScope::Shared,
    ),
    (
        "error_sync_global()",
        SyncKind::Error,
        KernelSyncScope::Device,
    ),
];

/// Names come before their prefixes.
const ATOMICS: [(&str, AtomicOp); 12] = [
    ("fadd", AtomicOp::FAdd),
    ("add", AtomicOp::Add),
    ("smax", AtomicOp::SMax),
    ("smin", AtomicOp::SMin),
    ("umax", AtomicOp::UMax),
    ("umin", AtomicOp::UMin),
    ("and", AtomicOp::And),
    ("xor", AtomicOp::Xor),
    ("or", AtomicOp::Or),
    ("xchg", AtomicOp::Exchange),
    ("cmp_xchg", AtomicOp::CompareExchange),
    ("write", AtomicOp::Write),
];

impl FutharkReader<'_> {
    pub(super) fn parse_synchronisation(&mut self) -> Result<bool, SourceDiagnostic> {
        for (name, kind, scope) in SYNCHRONISATIONS {
            if self.cursor.eat_piece(name) {
                self.builder.push_statement(StmtKind::Sync { kind, scope });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Parses a query of the position in the launch, if one is next.
    pub(super) fn parse_position_query(
        &mut self,
        to: VarId,
        ty: ScalarType,
    ) -> Result<bool, SourceDiagnostic> {
        for (name, part) in INDICES {
            if !self.cursor.eat_piece(name) {
                continue;
            }
            let mut dimension = 0;
            if part != LaunchIndex::LockstepWidth {
                let fault = self.cursor.fault_here("expected a dimension: 0, 1 or 2");
                let number = self.cursor.take_word().parse().ok().filter(|d| *d < 3);
                dimension = number.ok_or(fault)?;
            }
            self.cursor.expect_piece(")")?;
            self.push_converted_result(to, ty, ScalarType::I32, |to| StmtKind::Position {
                to,
                part,
                dimension,
            })?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Parses an atomic operation; `old` is the variable that gets the old value, and its type.
    pub(super) fn parse_atomic(
        &mut self,
        old: Option<(VarId, ScalarType)>,
    ) -> Result<(), SourceDiagnostic> {
        let start = self.cursor.at;
        let name = self.cursor.take_word();
        let name = name.strip_prefix("atomic_").unwrap_or(name);
        let found = ATOMICS.iter().find_map(|(op, kind)| {
            let ty = name.strip_prefix(op)?;
            let ty = ScalarType::from_name(ty.strip_prefix('_').unwrap_or(ty))?;
            Some((*kind, ty))
        });
        let (op, mut ty) = found.ok_or_else(|| {
            let message = "unknown atomic operation";
            self.cursor.fault_at(start, message)
        })?;
        self.cursor.expect_piece("(")?;
        let memory = self.parse_memory()?;
        self.cursor.expect_piece("[")?;
        let index = self.parse_typed_expr(ScalarType::I64)?;
        self.cursor.expect_piece("], ")?;
        let value = self.parse_expr()?;
        // Truth values are bytes, but they are exchanged under the name of a wider type, which would change
        // adjacent bytes too.
        if self.builder.program().type_of(value) == Some(ScalarType::Bool) {
            ty = ScalarType::I8;
        }
        let mut value = self.convert_expr(value, ty).ok_or_else(|| {
            let message = format!("expected an expression of type {ty}");
            self.cursor.fault_here(message)
        })?;
        let mut expected = None;
        if op == AtomicOp::CompareExchange {
            self.cursor.expect_piece(", ")?;
            expected = Some(value);
            value = self.parse_typed_expr(ty)?;
        }
        self.cursor.expect_piece(")")?;
        let element = MemoryElement {
            memory,
            ty,
            index,
            volatile: false,
        };
        let statement = |old| {
            StmtKind::Atomic(Box::new(AtomicStmt {
                op,
                element,
                value,
                expected,
                old,
            }))
        };
        match old {
            Some((to, target)) => {
                self.push_converted_result(to, target, ty, |to| statement(Some(to)))
            }
            None => {
                self.builder.push_statement(statement(None));
                Ok(())
            }
        }
    }

    /// Parses a kernel, after `kernel`.
    pub(super) fn parse_kernel(&mut self) -> Result<(), SourceDiagnostic> {
        let place = self.builder.current_place();
        self.expect_after_space("{")?;
        self.expect_after_space("blocks  {")?;
        self.expect_after_space("[")?;
        let mut blocks = Vec::new();
        while !self.cursor.eat_piece("]") {
            self.expect_comma(blocks.is_empty())?;
            blocks.push(self.parse_typed_expr(ScalarType::I64)?);
        }
        self.expect_after_space("}")?;
        self.expect_after_space("tblock_size  {")?;
        self.expect_after_space("[")?;
        let mut block_size = Vec::new();
        while !self.cursor.eat_piece("]") {
            self.expect_comma(block_size.is_empty())?;
            block_size.push(self.parse_block_size()?);
        }
        self.expect_after_space("}")?;
        self.scopes.push_scope();
        self.expect_after_space("uses  {")?;
        let mut captures = Vec::new();
        self.cursor.skip_space();
        while !self.cursor.eat_piece("}") {
            captures.push(self.parse_capture()?);
            self.cursor.eat_piece(",");
            self.cursor.skip_space();
        }
        let failure_tolerant = self.parse_flag("failure_tolerant  {")?;
        self.parse_flag("check_shared_memory  {")?;
        self.expect_after_space("body  {")?;
        self.builder.begin_block();
        self.is_in_kernel = true;
        self.parse_statements()?;
        self.is_in_kernel = false;
        let body = self.builder.end_block();
        self.expect_after_space("}")?;
        self.expect_after_space("}")?;
        self.scopes.pop_scope();
        self.builder.set_place(place);
        let kernel = self.builder.add_kernel(KernelData {
            label: None,
            blocks,
            block_size,
            captures,
            failure_tolerant,
            body,
            place,
        });
        self.builder.push_statement(StmtKind::Launch(kernel));
        Ok(())
    }

    fn expect_after_space(&mut self, piece: &str) -> Result<(), SourceDiagnostic> {
        self.cursor.skip_space();
        self.cursor.expect_piece(piece)
    }

    fn expect_comma(&mut self, is_first: bool) -> Result<(), SourceDiagnostic> {
        if is_first {
            Ok(())
        } else {
            self.cursor.expect_piece(", ")
        }
    }

    fn parse_flag(&mut self, name: &str) -> Result<bool, SourceDiagnostic> {
        self.expect_after_space(name)?;
        self.cursor.skip_space();
        let fault = self.cursor.fault_here("expected True or False");
        let value = match self.cursor.take_word() {
            "True" => true,
            "False" => false,
            _ => return Err(fault),
        };
        self.expect_after_space("}")?;
        Ok(value)
    }

    fn parse_block_size(&mut self) -> Result<BlockSize, SourceDiagnostic> {
        if self.cursor.eat_piece("dyn ") {
            return Ok(BlockSize::Dynamic(self.parse_typed_expr(ScalarType::I64)?));
        }
        self.cursor.expect_piece("const ")?;
        Ok(BlockSize::Constant(self.parse_typed_expr(ScalarType::I64)?))
    }

    fn parse_capture(&mut self) -> Result<KernelCapture, SourceDiagnostic> {
        if self.cursor.eat_piece("scalar_copy(") {
            let var = self.parse_scalar_var()?;
            self.cursor.expect_piece(", ")?;
            self.parse_scalar_type()?;
            self.cursor.expect_piece(")")?;
            return Ok(KernelCapture::Scalar(var));
        }
        if self.cursor.eat_piece("mem_copy(") {
            let var = self.parse_memory()?;
            self.cursor.expect_piece(")")?;
            return Ok(KernelCapture::Memory(var));
        }
        self.cursor.expect_piece("const(")?;
        let name = self.cursor.take_new_name(", ")?;
        let value: ExprId = self.parse_expr()?;
        self.cursor.expect_piece(")")?;
        let ty = self.builder.program().type_of(value);
        let ty = ty.ok_or_else(|| self.cursor.fault_here("a constant is a scalar"))?;
        let var = self.builder.new_var(name, VariableType::Scalar(ty));
        self.scopes.bind_var(name, var);
        Ok(KernelCapture::Constant(var, value))
    }
}
