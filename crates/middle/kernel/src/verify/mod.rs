//! The verifier of kernel programs.
//!
//! | rule | invariant |
//! | --- | --- |
//! | 1 | every function that is called or is an entry point has a body; functions that kernels call do not call themselves |
//! | 2 | a variable is used only in the block that declares it, after its declaration |
//! | 3 | an operator exists at its types, and its operands have these types |
//! | 4 | a target has the type of its value; conditions are truth values; sizes and indices are `i64`s |
//! | 5 | host statements stand on the host; kernel statements stand in kernels and in functions that kernels call |
//! | 6 | a kernel, and a function that it calls, sees only those variables of the host that it captures |
//! | 7 | a memory variable refers to memory of its space; private arrays and shared memory belong to kernels, host memory to the host |
//! | 8 | a launch has one to three dimensions, and as many block sizes |
//! | 9 | constants, constant block sizes and the shapes of private arrays depend only on parameters, limits, literals and constants |
//! | 10 | the arguments and results of a call match the parameters and outputs of its function |
//! | 11 | the values of an entry point match the inputs and outputs of its function |
//! | 12 | vectors have 4, 8 or 16 bytes; shuffled values have 4; fragments belong to kernels and match the memory and each other |
//! | 13 | the operands and results of a foreign call have the sizes of its signature |
//!
//! A function with device memory that kernels call is checked as a function of the host. Lowering refuses the
//! kernels that call it.

mod entry;
mod fragment;
mod kernel;
mod memory;

use crate::ir::{
    CallStmt, ExprData, ExprId, ForeignStmt, FuncArgument, FuncId, KernelProgram, MemorySpace,
    MessageId, MessageSegment, StmtBlock, StmtKind, VarId, VariableType,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::ScalarType;

/// Checks a program.
///
/// # Errors
/// At the first violation of a rule.
pub fn verify_program(program: &KernelProgram) -> Result<(), SourceDiagnostic> {
    let on_device = crate::call_graph::on_device(program)?;
    let mut verifier = KernelVerifier {
        program,
        visible: vec![false; program.vars.len()],
        bound: Vec::new(),
        constant: vec![false; program.vars.len()],
        is_device: false,
        place: SourceLocation::Unknown,
    };
    for global in &program.globals {
        verifier.bind_var(*global);
    }
    if let Some(block) = program.initialise {
        verifier.verify_block(block)?;
    }
    for function in program.function_ids() {
        verifier.verify_function(function, on_device[function.index()])?;
    }
    program
        .entries
        .iter()
        .try_for_each(|e| verifier.verify_entry(e))
}

struct KernelVerifier<'a> {
    program: &'a KernelProgram,
    visible: Vec<bool>,
    /// Variables in the order in which they became visible.
    bound: Vec<VarId>,
    /// For each variable, whether it is a constant of the current kernel.
    constant: Vec<bool>,
    /// Whether the current statements belong to a kernel.
    is_device: bool,
    place: SourceLocation,
}

impl KernelVerifier<'_> {
    fn require_rule(
        &self,
        rule: u32,
        holds: bool,
        message: impl FnOnce() -> String,
    ) -> Result<(), SourceDiagnostic> {
        if holds {
            Ok(())
        } else {
            let message = format!("{} (rule {rule})", message());
            Err(SourceDiagnostic::error(self.place, message))
        }
    }

    fn bind_var(&mut self, var: VarId) {
        self.visible[var.index()] = true;
        self.bound.push(var);
    }

    fn unbind_to(&mut self, length: usize) {
        for var in self.bound.drain(length..) {
            self.visible[var.index()] = false;
            self.constant[var.index()] = false;
        }
    }

    fn var_name(&self, var: VarId) -> &str {
        self.program.var_name(var)
    }

    fn verify_function(&mut self, id: FuncId, on_device: bool) -> Result<(), SourceDiagnostic> {
        let function = self.program.function(id);
        let Some(body) = function.body else {
            return Ok(());
        };
        self.place = function.place;
        let length = self.bound.len();
        for var in function.inputs.iter().chain(&function.outputs) {
            self.bind_var(*var);
            let is_shared = matches!(
                self.program.var(*var).ty,
                VariableType::Memory(MemorySpace::Shared)
                    | VariableType::Array(_)
                    | VariableType::Fragment(_)
            );
            self.require_rule(7, !is_shared, || {
                format!("%{} does not belong to the host", self.var_name(*var))
            })?;
        }
        self.is_device = on_device;
        self.verify_block(body)?;
        self.is_device = false;
        self.unbind_to(length);
        Ok(())
    }

    fn verify_block(&mut self, block: StmtBlock) -> Result<(), SourceDiagnostic> {
        let length = self.bound.len();
        for stmt in self.program.block_stmts(block) {
            self.place = stmt.place;
            self.verify_statement(&stmt.kind)?;
        }
        self.unbind_to(length);
        Ok(())
    }

    fn verify_statement(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match stmt {
            StmtKind::Declare(var) => self.verify_declaration(*var),
            StmtKind::Assign { to, value } => {
                let ty = self.verify_expr(*value)?;
                self.verify_target(*to, ty)
            }
            StmtKind::Alias { to, from } => self.verify_alias(*to, *from),
            StmtKind::Alloc { to, bytes } => {
                let space = if self.is_device {
                    MemorySpace::Shared
                } else {
                    MemorySpace::Device
                };
                self.verify_memory(*to, &[space])?;
                self.verify_expr_type(*bytes, ScalarType::I64)
            }
            StmtKind::Free(var) => {
                self.verify_visible(*var)?;
                let is_memory = self.program.scalar_type(*var).is_none();
                self.require_rule(7, is_memory, || {
                    format!("%{} is no memory", self.var_name(*var))
                })
            }
            StmtKind::IsUnique { to, memory } => {
                self.on_host("a test of references")?;
                self.verify_memory(*memory, &[MemorySpace::Device])?;
                self.verify_target(*to, ScalarType::Bool)
            }
            StmtKind::Static { to, data } => self.verify_static_data(*to, data),
            StmtKind::Read { to, from } => {
                self.verify_element(from)?;
                self.verify_target(*to, from.ty)
            }
            StmtKind::Write { to, value } => {
                self.verify_element(to)?;
                self.verify_expr_type(*value, to.ty)
            }
            StmtKind::ReadVector { to, from } => {
                self.verify_vector(from, to.len())?;
                to.iter()
                    .try_for_each(|var| self.verify_target(*var, from.ty))
            }
            StmtKind::WriteVector { to, values } => {
                self.verify_vector(to, values.len())?;
                values
                    .iter()
                    .try_for_each(|value| self.verify_expr_type(*value, to.ty))
            }
            StmtKind::Fragment(op) => self.verify_fragment_op(op),
            StmtKind::Copy(copy) => self.verify_copy(copy),
            StmtKind::Call(call) => self.verify_call(call),
            StmtKind::Foreign(call) => self.verify_foreign(call),
            StmtKind::Assert { condition, message } => {
                self.verify_expr_type(*condition, ScalarType::Bool)?;
                self.verify_message(*message)
            }
            StmtKind::Trace(message) => self.verify_message(*message),
            StmtKind::Launch(kernel) => {
                self.on_host("launch")?;
                self.verify_kernel(*kernel)
            }
            StmtKind::Position { to, dimension, .. } => {
                self.on_device("the position")?;
                self.require_rule(8, *dimension < 3, || format!("no dimension {dimension}"))?;
                self.verify_target(*to, ScalarType::I32)
            }
            StmtKind::Shuffle { to, value, mask } => self.verify_shuffle(*to, *value, *mask),
            StmtKind::Sync { .. } => self.on_device("a barrier or fence"),
            StmtKind::Atomic(atomic) => self.verify_atomic(atomic),
            StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. } => {
                self.verify_control_flow(stmt)
            }
        }
    }

    fn verify_control_flow(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match *stmt {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.verify_expr_type(condition, ScalarType::Bool)?;
                self.verify_block(then)?;
                self.verify_block(otherwise)
            }
            StmtKind::For {
                counter,
                bound,
                body,
            } => self.verify_counted_loop(counter, bound, body),
            StmtKind::While { condition, body } => {
                self.verify_expr_type(condition, ScalarType::Bool)?;
                self.verify_block(body)
            }
            _ => Ok(()),
        }
    }

    fn verify_counted_loop(
        &mut self,
        counter: VarId,
        bound: ExprId,
        body: StmtBlock,
    ) -> Result<(), SourceDiagnostic> {
        let length = self.bound.len();
        let ty = self.verify_expr(bound)?;
        self.bind_var(counter);
        self.verify_target(counter, ty)?;
        self.require_rule(4, ty.is_int(), || {
            format!("a loop counts integers, not {ty}")
        })?;
        self.verify_block(body)?;
        self.unbind_to(length);
        Ok(())
    }

    fn on_host(&self, construct: &str) -> Result<(), SourceDiagnostic> {
        self.require_rule(5, !self.is_device, || {
            format!("{construct} is for the host")
        })
    }

    fn on_device(&self, construct: &str) -> Result<(), SourceDiagnostic> {
        self.require_rule(5, self.is_device, || format!("{construct} is for kernels"))
    }

    fn verify_declaration(&mut self, var: VarId) -> Result<(), SourceDiagnostic> {
        let (allowed, shape) = match self.program.var(var).ty {
            VariableType::Scalar(_) | VariableType::Memory(MemorySpace::Device) => (true, None),
            VariableType::Memory(MemorySpace::Host) => (!self.is_device, None),
            VariableType::Memory(MemorySpace::Shared) => (self.is_device, None),
            VariableType::Array(array) => (self.is_device, Some(array)),
            VariableType::Fragment(_) => (self.is_device, None),
        };
        self.require_rule(7, allowed, || {
            format!("%{} is in the wrong space", self.var_name(var))
        })?;
        if let Some(array) = shape {
            for size in &self.program.array(array).shape {
                self.verify_expr_type(*size, ScalarType::I64)?;
                self.verify_constant(*size)?;
            }
        }
        self.bind_var(var);
        Ok(())
    }

    fn verify_visible(&self, var: VarId) -> Result<(), SourceDiagnostic> {
        self.require_rule(2, self.visible[var.index()], || {
            format!("%{} is not declared here", self.var_name(var))
        })
    }

    fn verify_target(&self, var: VarId, ty: ScalarType) -> Result<(), SourceDiagnostic> {
        self.verify_visible(var)?;
        self.require_rule(4, self.program.scalar_type(var) == Some(ty), || {
            format!("%{} is assigned a value of type {ty}", self.var_name(var))
        })
    }

    fn verify_call(&self, call: &CallStmt) -> Result<(), SourceDiagnostic> {
        let function = self.program.function(call.function);
        let name = self.program.names.get(function.name);
        let counts = function.inputs.len() == call.inputs.len()
            && function.outputs.len() == call.outputs.len();
        self.require_rule(10, counts, || {
            format!("@{name} has another number of parameters or results")
        })?;
        for (input, given) in function.inputs.iter().zip(&call.inputs) {
            let fits = match (self.program.var(*input).ty, *given) {
                (VariableType::Scalar(ty), FuncArgument::Scalar(expr)) => {
                    self.verify_expr(expr)? == ty
                }
                (VariableType::Memory(space), FuncArgument::Memory(var)) => {
                    self.verify_memory(var, &[space])?;
                    true
                }
                _ => false,
            };
            self.require_rule(10, fits, || {
                format!(
                    "the argument for %{} of @{name} has another type",
                    self.var_name(*input)
                )
            })?;
        }
        for (output, to) in function.outputs.iter().zip(&call.outputs) {
            self.verify_visible(*to)?;
            let fits = self.program.var(*output).ty == self.program.var(*to).ty;
            self.require_rule(10, fits, || {
                format!(
                    "the result %{} of @{name} has another type",
                    self.var_name(*output)
                )
            })?;
        }
        Ok(())
    }

    /// Checks a foreign call: scalars have the bytes of their types, and all memory is on the device.
    fn verify_foreign(&self, call: &ForeignStmt) -> Result<(), SourceDiagnostic> {
        self.on_host("a foreign call")?;
        let ForeignStmt {
            signature,
            inputs,
            outputs,
        } = call;
        let name = &signature.target;
        let counts =
            inputs.len() == signature.operands.len() && outputs.len() == signature.results.len();
        self.require_rule(13, counts, || {
            format!("{name:?} has another number of operands or results")
        })?;
        for (input, ty) in inputs.iter().zip(&signature.operands) {
            match *input {
                FuncArgument::Scalar(expr) => {
                    let found = self.verify_expr(expr)?;
                    self.require_rule(13, found.size() == ty.bytes, || {
                        format!("an operand of {name:?} has another size")
                    })?;
                }
                FuncArgument::Memory(var) => self.verify_memory(var, &[MemorySpace::Device])?,
            }
        }
        for (output, ty) in outputs.iter().zip(&signature.results) {
            self.verify_visible(*output)?;
            match self.program.scalar_type(*output) {
                Some(found) => self.require_rule(13, found.size() == ty.bytes, || {
                    format!("a result of {name:?} has another size")
                })?,
                None => self.verify_memory(*output, &[MemorySpace::Device])?,
            }
        }
        let aliases = signature.check_aliases();
        self.require_rule(13, aliases.is_ok(), || {
            aliases.clone().err().unwrap_or_default()
        })
    }

    fn verify_message(&self, message: MessageId) -> Result<(), SourceDiagnostic> {
        for part in &self.program.message(message).parts {
            if let MessageSegment::Value(expr) = part {
                self.verify_expr(*expr)?;
            }
        }
        Ok(())
    }

    fn verify_expr_type(&self, expr: ExprId, ty: ScalarType) -> Result<(), SourceDiagnostic> {
        let found = self.verify_expr(expr)?;
        self.require_rule(4, found == ty, || format!("expected {ty}, not {found}"))
    }

    /// Checks the parts of an expression, and returns its type.
    fn verify_expr(&self, expr: ExprId) -> Result<ScalarType, SourceDiagnostic> {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            let at = self.program.expr(expr);
            if let ExprData::Var(var) = at {
                self.verify_visible(var)?;
                let is_scalar = self.program.scalar_type(var).is_some();
                self.require_rule(4, is_scalar, || {
                    format!("%{} is memory", self.var_name(var))
                })?;
            }
            let ExprData::Apply(operator, start) = at else {
                continue;
            };
            self.require_rule(3, operator.is_valid(), || format!("there is no {operator}"))?;
            for (index, operand) in self.program.operands(operator, start).iter().enumerate() {
                let (found, wanted) =
                    (self.program.type_of(*operand), operator.operand_type(index));
                self.require_rule(3, found == Some(wanted), || {
                    format!("operand {index} of {operator} is not {wanted}")
                })?;
                open.push(*operand);
            }
        }
        let ty = self.program.type_of(expr);
        ty.ok_or_else(|| SourceDiagnostic::error(self.place, "memory is no value (rule 4)"))
    }

    /// Checks that an expression does not depend on values that are known only at the launch.
    fn verify_constant(&self, expr: ExprId) -> Result<(), SourceDiagnostic> {
        let mut fault = None;
        self.program.each_var(expr, &mut |var| {
            if !self.constant[var.index()] {
                fault = Some(var);
            }
        });
        self.require_rule(9, fault.is_none(), || {
            let name = fault.map_or("", |var| self.var_name(var));
            format!("%{name} is no constant")
        })
    }
}
