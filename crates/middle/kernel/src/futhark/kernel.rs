//! Kernels and the statements that only they have.

use super::Reader;
use crate::ir::{
    Atomic, AtomicOp, BlockSize, Element, Expr, Index, KernelData, Scope, StmtKind, Sync, Type,
    Use, Var,
};
use spirula_diagnostics::Diagnostic;
use spirula_program::Scalar;

const INDICES: [(&str, Index); 4] = [
    ("get_tblock_id(", Index::Group),
    ("get_local_id(", Index::Local),
    ("get_local_size(", Index::LocalSize),
    ("get_lockstep_width(", Index::LockstepWidth),
];

const SYNCHRONISATIONS: [(&str, Sync, Scope); 6] = [
    ("local_barrier()", Sync::Barrier, Scope::Shared),
    ("global_barrier()", Sync::Barrier, Scope::Device),
    ("mem_fence_local()", Sync::Fence, Scope::Shared),
    ("mem_fence_global()", Sync::Fence, Scope::Device),
    ("error_sync_local()", Sync::Error, Scope::Shared),
    ("error_sync_global()", Sync::Error, Scope::Device),
];

/// Longer names before those that they begin with.
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

impl Reader<'_> {
    pub(super) fn synchronisation(&mut self) -> Result<bool, Diagnostic> {
        for (name, kind, scope) in SYNCHRONISATIONS {
            if self.cursor.eat(name) {
                self.builder.push(StmtKind::Sync { kind, scope });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A question for the position in the launch, if one is next.
    pub(super) fn position(&mut self, to: Var, ty: Scalar) -> Result<bool, Diagnostic> {
        for (name, what) in INDICES {
            if !self.cursor.eat(name) {
                continue;
            }
            let mut dimension = 0;
            if what != Index::LockstepWidth {
                let fault = self.cursor.fault("expected a dimension: 0, 1 or 2");
                let number = self.cursor.word().parse().ok().filter(|d| *d < 3);
                dimension = number.ok_or(fault)?;
            }
            self.cursor.expect(")")?;
            self.result(to, ty, Scalar::I32, |to| StmtKind::Where {
                to,
                what,
                dimension,
            })?;
            return Ok(true);
        }
        Ok(false)
    }

    /// An atomic operation, with the variable that gets the value from before and its type.
    pub(super) fn atomic(&mut self, old: Option<(Var, Scalar)>) -> Result<(), Diagnostic> {
        let start = self.cursor.at;
        let name = self.cursor.word();
        let name = name.strip_prefix("atomic_").unwrap_or(name);
        let found = ATOMICS.iter().find_map(|(op, kind)| {
            let ty = name.strip_prefix(op)?;
            let ty = Scalar::from_name(ty.strip_prefix('_').unwrap_or(ty))?;
            Some((*kind, ty))
        });
        let (op, mut ty) = found.ok_or_else(|| {
            let message = "unknown atomic operation";
            self.cursor.fault_at(start, message)
        })?;
        self.cursor.expect("(")?;
        let memory = self.memory()?;
        self.cursor.expect("[")?;
        let index = self.typed(Scalar::I64)?;
        self.cursor.expect("], ")?;
        let value = self.expr()?;
        // Truth values, which are bytes, are exchanged under the name of a type that would take what follows
        // along.
        if self.builder.program().type_of(value) == Some(Scalar::Bool) {
            ty = Scalar::I8;
        }
        let mut value = self.convert(value, ty).ok_or_else(|| {
            let message = format!("expected an expression of type {ty}");
            self.cursor.fault(message)
        })?;
        let mut expected = None;
        if op == AtomicOp::CompareExchange {
            self.cursor.expect(", ")?;
            expected = Some(value);
            value = self.typed(ty)?;
        }
        self.cursor.expect(")")?;
        let element = Element {
            memory,
            ty,
            index,
            volatile: false,
        };
        let statement = |old| {
            StmtKind::Atomic(Box::new(Atomic {
                op,
                element,
                value,
                expected,
                old,
            }))
        };
        match old {
            Some((to, target)) => self.result(to, target, ty, |to| statement(Some(to))),
            None => {
                self.builder.push(statement(None));
                Ok(())
            }
        }
    }

    /// What stands after `kernel`.
    pub(super) fn kernel(&mut self) -> Result<(), Diagnostic> {
        let place = self.builder.place();
        self.open("{")?;
        self.open("blocks  {")?;
        self.open("[")?;
        let mut blocks = Vec::new();
        while !self.cursor.eat("]") {
            self.comma(blocks.is_empty())?;
            blocks.push(self.typed(Scalar::I64)?);
        }
        self.open("}")?;
        self.open("tblock_size  {")?;
        self.open("[")?;
        let mut block_size = Vec::new();
        while !self.cursor.eat("]") {
            self.comma(block_size.is_empty())?;
            block_size.push(self.block_size()?);
        }
        self.open("}")?;
        self.scopes.open();
        self.open("uses  {")?;
        let mut uses = Vec::new();
        self.cursor.skip_space();
        while !self.cursor.eat("}") {
            uses.push(self.one_use()?);
            self.cursor.eat(",");
            self.cursor.skip_space();
        }
        let failure_tolerant = self.flag("failure_tolerant  {")?;
        self.flag("check_shared_memory  {")?;
        self.open("body  {")?;
        self.builder.begin_block();
        self.is_in_kernel = true;
        self.statements()?;
        self.is_in_kernel = false;
        let body = self.builder.end_block();
        self.open("}")?;
        self.open("}")?;
        self.scopes.close();
        self.builder.at(place);
        let kernel = self.builder.kernel(KernelData {
            blocks,
            block_size,
            uses,
            failure_tolerant,
            body,
            place,
        });
        self.builder.push(StmtKind::Launch(kernel));
        Ok(())
    }

    fn open(&mut self, piece: &str) -> Result<(), Diagnostic> {
        self.cursor.skip_space();
        self.cursor.expect(piece)
    }

    fn comma(&mut self, is_first: bool) -> Result<(), Diagnostic> {
        match is_first {
            true => Ok(()),
            false => self.cursor.expect(", "),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool, Diagnostic> {
        self.open(name)?;
        self.cursor.skip_space();
        let fault = self.cursor.fault("expected True or False");
        let value = match self.cursor.word() {
            "True" => true,
            "False" => false,
            _ => return Err(fault),
        };
        self.open("}")?;
        Ok(value)
    }

    fn block_size(&mut self) -> Result<BlockSize, Diagnostic> {
        if self.cursor.eat("dyn ") {
            return Ok(BlockSize::Dynamic(self.typed(Scalar::I64)?));
        }
        self.cursor.expect("const ")?;
        Ok(BlockSize::Constant(self.typed(Scalar::I64)?))
    }

    fn one_use(&mut self) -> Result<Use, Diagnostic> {
        if self.cursor.eat("scalar_copy(") {
            let var = self.scalar_var()?;
            self.cursor.expect(", ")?;
            self.scalar_type()?;
            self.cursor.expect(")")?;
            return Ok(Use::Scalar(var));
        }
        if self.cursor.eat("mem_copy(") {
            let var = self.memory()?;
            self.cursor.expect(")")?;
            return Ok(Use::Memory(var));
        }
        self.cursor.expect("const(")?;
        let name = self.cursor.new_name(", ")?;
        let value: Expr = self.expr()?;
        self.cursor.expect(")")?;
        let ty = self.builder.program().type_of(value);
        let ty = ty.ok_or_else(|| self.cursor.fault("a constant is a scalar"))?;
        let var = self.builder.var(name, Type::Scalar(ty));
        self.scopes.bind(name, var);
        Ok(Use::Constant(var, value))
    }
}
