//! The checker.
//!
//! | rule | what holds |
//! | --- | --- |
//! | 1 | every function that is called or entered has a body; calls do not recurse |
//! | 2 | a variable is used only in the block that declares it, after its declaration |
//! | 3 | operators exist at their types and have operands of these types |
//! | 4 | targets have the type of what they are given; conditions are truth values; sizes and indices are `i64`s |
//! | 5 | host statements stand on the host, kernel statements in kernels and in functions that they call |
//! | 6 | a kernel, and a function that it calls, sees nothing of the host but its uses |
//! | 7 | memory is referred to by variables of its space; private arrays and shared memory are the kernel's, host memory the host's |
//! | 8 | a launch has one to three dimensions, and as many block sizes |
//! | 9 | constants, constant block sizes and the shapes of private arrays depend on parameters, limits, literals and constants only |
//! | 10 | calls give and take what the function takes and gives |
//! | 11 | entry points are typed by inputs and outputs of their function |
//! | 12 | vectors have 4, 8 or 16 bytes, what is shuffled 4; fragments are the kernel's, and fit the memory and each other |
//!
//! A function that kernels call and that has device memory is checked as the host's; lowering
//! refuses the kernels that call it.

mod fragment;

use crate::ir::{
    ArrayDimension, AtomicOp, AtomicStmt, BlockSize, CallStmt, CopyStmt, EntryDecl, EntryDeclValue,
    EntryKind, ExprData, ExprId, FuncArgument, FuncId, KernelCapture, KernelData, KernelId,
    KernelProgram, MemoryElement, MemorySpace, MessageId, MessageSegment, PlainValue, StaticData,
    StmtBlock, StmtKind, VarId, VariableType,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::ScalarType;

/// Checks a program.
///
/// # Errors
/// At the first breach of a rule.
pub fn check(program: &KernelProgram) -> Result<(), SourceDiagnostic> {
    let on_device = crate::calls::on_device(program)?;
    let mut checker = KernelVerifier {
        program,
        visible: vec![false; program.vars.len()],
        bound: Vec::new(),
        constant: vec![false; program.vars.len()],
        is_device: false,
        place: SourceLocation::Unknown,
    };
    for global in &program.globals {
        checker.bind(*global);
    }
    if let Some(block) = program.initialise {
        checker.block(block)?;
    }
    for function in program.function_ids() {
        checker.function(function, on_device[function.index()])?;
    }
    program.entries.iter().try_for_each(|e| checker.entry(e))
}

struct KernelVerifier<'a> {
    program: &'a KernelProgram,
    visible: Vec<bool>,
    /// Variables in the order they became visible.
    bound: Vec<VarId>,
    /// Constants of the current kernel.
    constant: Vec<bool>,
    /// Whether statements are those of a kernel.
    is_device: bool,
    place: SourceLocation,
}

impl KernelVerifier<'_> {
    fn demand(
        &self,
        rule: u32,
        holds: bool,
        message: impl FnOnce() -> String,
    ) -> Result<(), SourceDiagnostic> {
        match holds {
            true => Ok(()),
            false => {
                let message = format!("{} (rule {rule})", message());
                Err(SourceDiagnostic::error(self.place, message))
            }
        }
    }

    fn bind(&mut self, var: VarId) {
        self.visible[var.index()] = true;
        self.bound.push(var);
    }

    fn unbind_to(&mut self, length: usize) {
        for var in self.bound.drain(length..) {
            self.visible[var.index()] = false;
            self.constant[var.index()] = false;
        }
    }

    fn name(&self, var: VarId) -> &str {
        self.program.var_name(var)
    }

    fn function(&mut self, id: FuncId, on_device: bool) -> Result<(), SourceDiagnostic> {
        let function = self.program.function(id);
        let Some(body) = function.body else {
            return Ok(());
        };
        self.place = function.place;
        let length = self.bound.len();
        for var in function.inputs.iter().chain(&function.outputs) {
            self.bind(*var);
            let is_shared = matches!(
                self.program.var(*var).ty,
                VariableType::Memory(MemorySpace::Shared)
                    | VariableType::Array(_)
                    | VariableType::Fragment(_)
            );
            self.demand(7, !is_shared, || {
                format!("%{} is not host's", self.name(*var))
            })?;
        }
        self.is_device = on_device;
        self.block(body)?;
        self.is_device = false;
        self.unbind_to(length);
        Ok(())
    }

    fn block(&mut self, block: StmtBlock) -> Result<(), SourceDiagnostic> {
        let length = self.bound.len();
        for stmt in self.program.block(block) {
            self.place = stmt.place;
            self.statement(&stmt.kind)?;
        }
        self.unbind_to(length);
        Ok(())
    }

    fn statement(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match stmt {
            StmtKind::Declare(var) => self.declare(*var),
            StmtKind::Assign { to, value } => {
                let ty = self.expr(*value)?;
                self.target(*to, ty)
            }
            StmtKind::Alias { to, from } => self.alias(*to, *from),
            StmtKind::Alloc { to, bytes } => {
                let space = match self.is_device {
                    true => MemorySpace::Shared,
                    false => MemorySpace::Device,
                };
                self.memory(*to, &[space])?;
                self.typed(*bytes, ScalarType::I64)
            }
            StmtKind::Free(var) => {
                self.see(*var)?;
                let is_memory = self.program.scalar(*var).is_none();
                self.demand(7, is_memory, || {
                    format!("%{} is no memory", self.name(*var))
                })
            }
            StmtKind::Static { to, data } => self.static_data(*to, data),
            StmtKind::Read { to, from } => {
                self.element(from)?;
                self.target(*to, from.ty)
            }
            StmtKind::Write { to, value } => {
                self.element(to)?;
                self.typed(*value, to.ty)
            }
            StmtKind::ReadVector { to, from } => {
                self.vector(from, to.len())?;
                to.iter().try_for_each(|var| self.target(*var, from.ty))
            }
            StmtKind::WriteVector { to, values } => {
                self.vector(to, values.len())?;
                values
                    .iter()
                    .try_for_each(|value| self.typed(*value, to.ty))
            }
            StmtKind::Fragment(op) => self.fragment(op),
            StmtKind::Copy(copy) => self.copy(copy),
            StmtKind::Call(call) => self.call(call),
            StmtKind::Assert { condition, message } => {
                self.typed(*condition, ScalarType::Bool)?;
                self.message(*message)
            }
            StmtKind::Trace(message) => self.message(*message),
            StmtKind::Launch(kernel) => {
                self.on_host("launch")?;
                self.kernel(*kernel)
            }
            StmtKind::Where { to, dimension, .. } => {
                self.on_device("the position")?;
                self.demand(8, *dimension < 3, || format!("no dimension {dimension}"))?;
                self.target(*to, ScalarType::I32)
            }
            StmtKind::Shuffle { to, value, mask } => self.shuffle(*to, *value, *mask),
            StmtKind::Sync { .. } => self.on_device("a barrier or fence"),
            StmtKind::Atomic(atomic) => self.atomic(atomic),
            StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. } => {
                self.control(stmt)
            }
        }
    }

    fn control(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match *stmt {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.typed(condition, ScalarType::Bool)?;
                self.block(then)?;
                self.block(otherwise)
            }
            StmtKind::For {
                counter,
                bound,
                body,
            } => self.count(counter, bound, body),
            StmtKind::While { condition, body } => {
                self.typed(condition, ScalarType::Bool)?;
                self.block(body)
            }
            _ => Ok(()),
        }
    }

    fn count(
        &mut self,
        counter: VarId,
        bound: ExprId,
        body: StmtBlock,
    ) -> Result<(), SourceDiagnostic> {
        let length = self.bound.len();
        let ty = self.expr(bound)?;
        self.bind(counter);
        self.target(counter, ty)?;
        self.demand(4, ty.is_int(), || {
            format!("a loop counts integers, not {ty}")
        })?;
        self.block(body)?;
        self.unbind_to(length);
        Ok(())
    }

    fn on_host(&self, what: &str) -> Result<(), SourceDiagnostic> {
        self.demand(5, !self.is_device, || format!("{what} is for the host"))
    }

    fn on_device(&self, what: &str) -> Result<(), SourceDiagnostic> {
        self.demand(5, self.is_device, || format!("{what} is for kernels"))
    }

    fn declare(&mut self, var: VarId) -> Result<(), SourceDiagnostic> {
        let (allowed, shape) = match self.program.var(var).ty {
            VariableType::Scalar(_) | VariableType::Memory(MemorySpace::Device) => (true, None),
            VariableType::Memory(MemorySpace::Host) => (!self.is_device, None),
            VariableType::Memory(MemorySpace::Shared) => (self.is_device, None),
            VariableType::Array(array) => (self.is_device, Some(array)),
            VariableType::Fragment(_) => (self.is_device, None),
        };
        self.demand(7, allowed, || {
            format!("%{} is in the wrong space", self.name(var))
        })?;
        if let Some(array) = shape {
            for size in &self.program.array(array).shape {
                self.typed(*size, ScalarType::I64)?;
                self.constant(*size)?;
            }
        }
        self.bind(var);
        Ok(())
    }

    fn alias(&self, to: VarId, from: VarId) -> Result<(), SourceDiagnostic> {
        self.see(to)?;
        self.see(from)?;
        let fits = match (self.program.var(to).ty, self.program.var(from).ty) {
            (VariableType::Memory(a), VariableType::Memory(b)) => a == b,
            (VariableType::Array(a), VariableType::Array(b)) => {
                self.program.array(a).element == self.program.array(b).element
            }
            _ => false,
        };
        self.demand(7, fits, || {
            format!("%{} cannot refer to %{}", self.name(to), self.name(from))
        })
    }

    fn static_data(&self, to: VarId, data: &StaticData) -> Result<(), SourceDiagnostic> {
        self.on_host("data")?;
        self.memory(to, &[MemorySpace::Host])?;
        let typed = data.values.iter().all(|value| value.ty == data.ty);
        self.demand(4, typed, || {
            format!("data of %{} is not {}", self.name(to), data.ty)
        })?;
        let repeats = data.repeat.is_none() || data.values.len() == 1;
        self.demand(4, repeats, || "only a single value is repeated".to_owned())
    }

    fn see(&self, var: VarId) -> Result<(), SourceDiagnostic> {
        self.demand(2, self.visible[var.index()], || {
            format!("%{} is not declared here", self.name(var))
        })
    }

    fn memory(&self, var: VarId, spaces: &[MemorySpace]) -> Result<(), SourceDiagnostic> {
        self.see(var)?;
        let ty = self.program.var(var).ty;
        let fits = matches!(ty, VariableType::Memory(space) if spaces.contains(&space));
        self.demand(7, fits, || {
            format!("%{} is not in the memory needed", self.name(var))
        })
    }

    /// A block or array that statements here may access.
    fn accessible(&self, var: VarId, ty: ScalarType) -> Result<(), SourceDiagnostic> {
        self.see(var)?;
        let fits = match self.program.var(var).ty {
            VariableType::Memory(MemorySpace::Device) => true,
            VariableType::Memory(MemorySpace::Shared) => self.is_device,
            VariableType::Memory(MemorySpace::Host) => !self.is_device,
            VariableType::Array(array) => self.program.array(array).element == ty,
            VariableType::Scalar(_) | VariableType::Fragment(_) => false,
        };
        self.demand(7, fits, || {
            format!(
                "%{} has no elements of type {ty} that can be accessed here",
                self.name(var)
            )
        })
    }

    fn target(&self, var: VarId, ty: ScalarType) -> Result<(), SourceDiagnostic> {
        self.see(var)?;
        self.demand(4, self.program.scalar(var) == Some(ty), || {
            format!("%{} is given a value of type {ty}", self.name(var))
        })
    }

    fn element(&self, element: &MemoryElement) -> Result<(), SourceDiagnostic> {
        self.accessible(element.memory, element.ty)?;
        self.demand(4, element.ty != ScalarType::Unit, || {
            "units have no place in memory".to_owned()
        })?;
        self.typed(element.index, ScalarType::I64)
    }

    fn copy(&self, copy: &CopyStmt) -> Result<(), SourceDiagnostic> {
        for side in [&copy.to, &copy.from] {
            self.accessible(side.memory, copy.ty)?;
            self.typed(side.offset, ScalarType::I64)?;
            for stride in &side.strides {
                self.typed(*stride, ScalarType::I64)?;
            }
            self.demand(4, side.strides.len() == copy.shape.len(), || {
                "a copy has one stride for each dimension".to_owned()
            })?;
        }
        for size in &copy.shape {
            self.typed(*size, ScalarType::I64)?;
        }
        Ok(())
    }

    fn atomic(&self, atomic: &AtomicStmt) -> Result<(), SourceDiagnostic> {
        self.on_device("an atomic operation")?;
        self.element(&atomic.element)?;
        let ty = atomic.element.ty;
        let is_memory = matches!(
            self.program.var(atomic.element.memory).ty,
            VariableType::Memory(_)
        );
        self.demand(7, is_memory, || "private arrays need no atomics".to_owned())?;
        self.demand(3, atomic.op.takes(ty), || format!("no such atomic on {ty}"))?;
        self.typed(atomic.value, ty)?;
        let is_exchange = atomic.op == AtomicOp::CompareExchange;
        self.demand(3, is_exchange == atomic.expected.is_some(), || {
            "only a compare and exchange expects a value".to_owned()
        })?;
        if let Some(expected) = atomic.expected {
            self.typed(expected, ty)?;
        }
        let gives = atomic.op != AtomicOp::Write;
        self.demand(4, gives == atomic.old.is_some(), || {
            "an atomic operation gives the value from before, a write none".to_owned()
        })?;
        atomic.old.map_or(Ok(()), |old| self.target(old, ty))
    }

    fn call(&self, call: &CallStmt) -> Result<(), SourceDiagnostic> {
        let function = self.program.function(call.function);
        let name = self.program.names.text(function.name);
        let counts = function.inputs.len() == call.inputs.len()
            && function.outputs.len() == call.outputs.len();
        self.demand(10, counts, || {
            format!("@{name} takes or gives another number of values")
        })?;
        for (input, given) in function.inputs.iter().zip(&call.inputs) {
            let fits = match (self.program.var(*input).ty, *given) {
                (VariableType::Scalar(ty), FuncArgument::Scalar(expr)) => self.expr(expr)? == ty,
                (VariableType::Memory(space), FuncArgument::Memory(var)) => {
                    self.memory(var, &[space])?;
                    true
                }
                _ => false,
            };
            self.demand(10, fits, || {
                format!("@{name} takes another %{}", self.name(*input))
            })?;
        }
        for (output, to) in function.outputs.iter().zip(&call.outputs) {
            self.see(*to)?;
            let fits = self.program.var(*output).ty == self.program.var(*to).ty;
            self.demand(10, fits, || {
                format!("@{name} gives another %{}", self.name(*output))
            })?;
        }
        Ok(())
    }

    fn message(&self, message: MessageId) -> Result<(), SourceDiagnostic> {
        for part in &self.program.message(message).parts {
            if let MessageSegment::Value(expr) = part {
                self.expr(*expr)?;
            }
        }
        Ok(())
    }

    fn typed(&self, expr: ExprId, ty: ScalarType) -> Result<(), SourceDiagnostic> {
        let found = self.expr(expr)?;
        self.demand(4, found == ty, || format!("expected {ty}, not {found}"))
    }

    /// The type of an expression whose parts are checked.
    fn expr(&self, expr: ExprId) -> Result<ScalarType, SourceDiagnostic> {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            let at = self.program.expr(expr);
            if let ExprData::Var(var) = at {
                self.see(var)?;
                let is_scalar = self.program.scalar(var).is_some();
                self.demand(4, is_scalar, || format!("%{} is memory", self.name(var)))?;
            }
            let ExprData::Apply(operator, start) = at else {
                continue;
            };
            self.demand(3, operator.is_valid(), || format!("there is no {operator}"))?;
            for (index, operand) in self.program.operands(operator, start).iter().enumerate() {
                let (found, wanted) = (self.program.type_of(*operand), operator.operand(index));
                self.demand(3, found == Some(wanted), || {
                    format!("operand {index} of {operator} is not {wanted}")
                })?;
                open.push(*operand);
            }
        }
        let ty = self.program.type_of(expr);
        ty.ok_or_else(|| SourceDiagnostic::error(self.place, "memory is no value (rule 4)"))
    }

    /// That an expression depends on nothing that is known only at the launch.
    fn constant(&self, expr: ExprId) -> Result<(), SourceDiagnostic> {
        let mut fault = None;
        self.program.each_var(expr, &mut |var| {
            if !self.constant[var.index()] {
                fault = Some(var);
            }
        });
        self.demand(9, fault.is_none(), || {
            let name = fault.map_or("", |var| self.name(var));
            format!("%{name} is no constant")
        })
    }

    fn kernel(&mut self, kernel: KernelId) -> Result<(), SourceDiagnostic> {
        let missing = crate::uses::missing(self.program, kernel);
        self.demand(6, missing.is_empty(), || {
            let name = missing.first().map_or("", |var| self.name(*var));
            format!("a function of the kernel sees %{name}, which the kernel does not use")
        })?;
        let kernel = self.program.kernel(kernel);
        let ranks = (kernel.blocks.len(), kernel.block_size.len());
        self.demand(8, ranks.0 == ranks.1 && (1..=3).contains(&ranks.0), || {
            format!("{} dimensions and {} block sizes", ranks.0, ranks.1)
        })?;
        for size in &kernel.blocks {
            self.typed(*size, ScalarType::I64)?;
        }
        for size in &kernel.block_size {
            self.typed(size.value(), ScalarType::I64)?;
            if let BlockSize::Constant(size) = size {
                self.constant(*size)?;
            }
        }
        self.kernel_body(kernel)
    }

    fn kernel_body(&mut self, kernel: &KernelData) -> Result<(), SourceDiagnostic> {
        let mut seen = Vec::new();
        for used in &kernel.uses {
            match *used {
                KernelCapture::Scalar(var) => {
                    self.see(var)?;
                    self.demand(6, self.program.scalar(var).is_some(), || {
                        format!("%{} is no scalar", self.name(var))
                    })?;
                    seen.push((var, false));
                }
                KernelCapture::Memory(var) => {
                    self.memory(var, &[MemorySpace::Device])?;
                    seen.push((var, false));
                }
                KernelCapture::Constant(var, value) => {
                    let ty = self.expr(value)?;
                    self.constant(value)?;
                    let fits = self.program.scalar(var) == Some(ty);
                    self.demand(4, fits, || format!("%{} is not {ty}", self.name(var)))?;
                    seen.push((var, true));
                }
            }
        }
        // The host's variables are out of sight while the body is checked.
        let outer = std::mem::take(&mut self.bound);
        for var in &outer {
            self.visible[var.index()] = false;
        }
        for (var, is_constant) in seen {
            self.bind(var);
            self.constant[var.index()] = is_constant;
        }
        self.is_device = true;
        self.block(kernel.body)?;
        self.is_device = false;
        self.unbind_to(0);
        for var in &outer {
            self.visible[var.index()] = true;
        }
        self.bound = outer;
        Ok(())
    }

    fn entry(&mut self, entry: &EntryDecl) -> Result<(), SourceDiagnostic> {
        let function = self.program.function(entry.function);
        self.place = function.place;
        for parameter in &entry.parameters {
            self.entry_value(&parameter.value, &[&function.inputs])?;
        }
        for result in &entry.results {
            self.entry_value(result, &[&function.outputs, &function.inputs])?;
        }
        Ok(())
    }

    fn entry_value(
        &self,
        value: &EntryDeclValue,
        vars: &[&[VarId]],
    ) -> Result<(), SourceDiagnostic> {
        let parts = match &value.kind {
            EntryKind::Plain(plain) => std::slice::from_ref(plain),
            EntryKind::Opaque(_, parts) => parts,
        };
        parts
            .iter()
            .try_for_each(|part| self.plain_value(part, vars))
    }

    fn plain_value(&self, value: &PlainValue, vars: &[&[VarId]]) -> Result<(), SourceDiagnostic> {
        let known = |var: &VarId| vars.iter().any(|list| list.contains(var));
        let globals = &self.program.globals;
        let fits = match (&value.shape, self.program.var(value.var).ty) {
            (None, VariableType::Scalar(ty)) => ty == value.element,
            (Some(_), VariableType::Memory(MemorySpace::Device)) => true,
            _ => false,
        };
        self.demand(11, fits && known(&value.var), || {
            format!("%{} is no such value of the function", self.name(value.var))
        })?;
        for size in value.shape.iter().flatten() {
            if let ArrayDimension::Var(var) = size {
                let is_size = self.program.scalar(*var) == Some(ScalarType::I64)
                    && (known(var) || globals.contains(var));
                self.demand(11, is_size, || format!("%{} is no size", self.name(*var)))?;
            }
        }
        Ok(())
    }
}
