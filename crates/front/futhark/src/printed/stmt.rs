//! Statements of the host and of kernels.

use super::reader::{DEPTH, FutharkReader};
use spirula_diagnostics::SourceDiagnostic;
use spirula_kernel::ir::{
    CallStmt, CopyOperand, CopyStmt, ExprId, FuncArgument, MemoryElement, MemorySpace, MessageData,
    MessageId, MessageSegment, StaticData, StmtBlock, StmtKind, VarId, VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

impl FutharkReader<'_> {
    /// Parses statements up to a closing brace or a line that is not indented.
    pub(super) fn parse_statements(&mut self) -> Result<(), SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.cursor.fault_here("too many nested blocks"));
        }
        loop {
            self.cursor.skip_space();
            let rest = self.cursor.remaining_text();
            if rest.is_empty() || rest.starts_with('}') || self.cursor.at_line_start() {
                break;
            }
            self.builder.set_place(self.cursor.line_place());
            self.parse_statement()?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Parses `{ statements }` in a scope of their own.
    fn parse_braced_block(&mut self) -> Result<StmtBlock, SourceDiagnostic> {
        let place = self.builder.current_place();
        self.cursor.expect_piece("{")?;
        self.scopes.push_scope();
        self.builder.begin_block();
        self.parse_statements()?;
        self.scopes.pop_scope();
        self.cursor.expect_piece("}")?;
        self.builder.set_place(place);
        Ok(self.builder.end_block())
    }

    fn parse_statement(&mut self) -> Result<(), SourceDiagnostic> {
        let start = self.cursor.at;
        if let Some(var) = self.take_bound_var() {
            let rest = self.cursor.remaining_text();
            if rest.starts_with(" <- ") || rest.starts_with(" = ") || rest.starts_with('<') {
                return self.parse_var_statement(var);
            }
            self.cursor.at = start;
        }
        if self.cursor.eat_piece("skip") {
            return Ok(());
        }
        if self.cursor.eat_piece("--") || self.cursor.eat_piece("debug (") {
            self.cursor.take_line();
            return Ok(());
        }
        if self.cursor.eat_piece("@ ") {
            self.provenance = self.cursor.take_line();
            return Ok(());
        }
        if self.cursor.eat_piece("var ") {
            return self.parse_declaration();
        }
        if self.cursor.eat_piece("array ") {
            return self.parse_static_data();
        }
        if self.cursor.eat_piece("free(") {
            let var = self.parse_memory()?;
            self.cursor.expect_piece(")")?;
            self.parse_memory_space()?;
            self.builder.push_statement(StmtKind::Free(var));
            return Ok(());
        }
        if self.cursor.eat_piece("lmadcopy_") {
            return self.parse_copy();
        }
        if self.cursor.eat_piece("call ") {
            return self.parse_call();
        }
        if self.cursor.eat_piece("get_user_param ") {
            return self.parse_user_parameter_assignment();
        }
        if self.cursor.eat_piece("kernel") {
            return self.parse_kernel();
        }
        if self.parse_control_flow()?
            || self.parse_synchronisation()?
            || self.parse_message_statement()?
        {
            return Ok(());
        }
        if self.cursor.remaining_text().starts_with("atomic_") {
            return self.parse_atomic(None);
        }
        Err(self.cursor.fault_here("expected a statement"))
    }

    fn parse_control_flow(&mut self) -> Result<bool, SourceDiagnostic> {
        if self.cursor.eat_piece("if ") {
            self.parse_if()?;
        } else if self.cursor.eat_piece("for ") {
            let name = self.cursor.take_new_name(" < ")?;
            let bound = self.parse_expr()?;
            let Some(ty) = self.builder.program().type_of(bound) else {
                return Err(self.cursor.fault_here("the bound is no scalar"));
            };
            self.cursor.expect_piece(" ")?;
            self.scopes.push_scope();
            let counter = self.builder.new_var(name, VariableType::Scalar(ty));
            self.scopes.bind_var(name, counter);
            let body = self.parse_braced_block()?;
            self.scopes.pop_scope();
            self.builder.push_statement(StmtKind::For {
                counter,
                bound,
                body,
            });
        } else if self.cursor.eat_piece("while ") {
            let condition = self.parse_typed_expr(ScalarType::Bool)?;
            self.cursor.expect_piece(" ")?;
            let body = self.parse_braced_block()?;
            self.builder
                .push_statement(StmtKind::While { condition, body });
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Parses a conditional, after `if`. In a chain of conditionals each is nested in the last branch of the one
    /// before.
    fn parse_if(&mut self) -> Result<(), SourceDiagnostic> {
        let mut open = Vec::new();
        loop {
            let place = self.builder.current_place();
            let condition = self.parse_typed_expr(ScalarType::Bool)?;
            self.cursor.expect_piece(" then ")?;
            let before = self.broken_copy.take();
            let then = self.parse_braced_block()?;
            let condition = self.avoid_broken(condition);
            self.broken_copy = before.or(self.broken_copy.take());
            self.cursor.expect_piece(" else ")?;
            open.push((place, condition, then));
            if !self.cursor.eat_piece("if ") {
                break;
            }
        }
        let mut otherwise = self.parse_braced_block()?;
        let mut remaining = open.len();
        for (place, condition, then) in open.into_iter().rev() {
            remaining -= 1;
            if remaining > 0 {
                self.builder.begin_block();
            }
            self.builder.set_place(place);
            self.insert_flag_barrier(then);
            self.push_branch(condition, then, otherwise);
            if remaining > 0 {
                otherwise = self.builder.end_block();
            }
        }
        Ok(())
    }

    fn parse_message_statement(&mut self) -> Result<bool, SourceDiagnostic> {
        if self.cursor.eat_piece("assert(") {
            let message = self.parse_message()?;
            self.cursor.expect_piece(", ")?;
            let condition = self.parse_typed_expr(ScalarType::Bool)?;
            self.cursor.expect_piece(")")?;
            self.builder
                .push_statement(StmtKind::Assert { condition, message });
        } else if self.cursor.eat_piece("trace (") {
            let message = self.parse_message()?;
            self.cursor.expect_piece(")")?;
            self.builder.push_statement(StmtKind::Trace(message));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn parse_message(&mut self) -> Result<MessageId, SourceDiagnostic> {
        self.cursor.expect_piece("{")?;
        let mut parts = Vec::new();
        while !self.cursor.eat_piece("}") {
            if !parts.is_empty() {
                self.cursor.expect_piece(", ")?;
            }
            if self.cursor.remaining_text().starts_with('"') {
                parts.push(MessageSegment::Text(self.cursor.take_string()?));
            } else {
                let expr = self.parse_expr()?;
                self.cursor.expect_piece(" : ")?;
                let fault = self.cursor.fault_here("the value is not of this type");
                let ty = self.parse_scalar_type()?;
                parts.push(MessageSegment::Value(
                    self.convert_expr(expr, ty).ok_or(fault)?,
                ));
            }
        }
        let backtrace = self.provenance.to_owned();
        Ok(self.builder.add_message(MessageData { parts, backtrace }))
    }

    /// Parses a declaration, after `var`.
    fn parse_declaration(&mut self) -> Result<(), SourceDiagnostic> {
        let name = self.cursor.take_new_name(": ")?;
        let volatile = self.cursor.eat_piece("volatile ");
        let ty = if self.cursor.eat_piece("mem") {
            self.parse_memory_space()?
        } else {
            VariableType::Scalar(self.parse_scalar_type()?)
        };
        let var = self.builder.declare_var(name, ty, volatile);
        self.scopes.bind_var(name, var);
        Ok(())
    }

    /// Parses a memory space: nothing, `@device`, `@global`, `@shared`, or the type of a private array.
    pub(super) fn parse_memory_space(&mut self) -> Result<VariableType, SourceDiagnostic> {
        if !self.cursor.eat_piece("@") {
            return Ok(VariableType::Memory(MemorySpace::Host));
        }
        let names = [
            ("device", MemorySpace::Device),
            ("global", MemorySpace::Device),
            ("shared", MemorySpace::Shared),
        ];
        for (name, space) in names {
            if self.cursor.eat_piece(name) {
                return Ok(VariableType::Memory(space));
            }
        }
        let mut shape = Vec::new();
        while self.cursor.eat_piece("[") {
            shape.push(self.parse_typed_expr(ScalarType::I64)?);
            self.cursor.expect_piece("]")?;
        }
        let element = self.parse_scalar_type()?;
        Ok(VariableType::Array(
            self.builder.add_array_type(element, shape),
        ))
    }

    /// Parses constant data, after `array`.
    fn parse_static_data(&mut self) -> Result<(), SourceDiagnostic> {
        let name = self.cursor.take_new_name(" : ")?;
        let ty = self.parse_scalar_type()?;
        self.cursor.expect_piece(" = {")?;
        let mut values = Vec::new();
        while !self.cursor.eat_piece("}") {
            if !values.is_empty() {
                self.cursor.expect_piece(", ")?;
            }
            let start = self.cursor.at;
            let zero = ScalarLiteral::new(ty, 0);
            let literal = if self.cursor.eat_piece("0}") {
                self.cursor.at -= 1;
                Some(zero)
            } else {
                self.parse_literal()
            };
            let literal = literal.filter(|l| l.ty == ty).ok_or_else(|| {
                let message = format!("expected a value of type {ty}");
                self.cursor.fault_at(start, message)
            })?;
            values.push(literal);
        }
        let mut repeat = None;
        if self.cursor.eat_piece(" * ") {
            let fault = self.cursor.fault_here("expected a number of elements");
            repeat = Some(self.cursor.take_word().parse().map_err(|_| fault)?);
        }
        let to = self
            .builder
            .declare_var(name, VariableType::Memory(MemorySpace::Host), false);
        self.scopes.bind_var(name, to);
        let data = Box::new(StaticData { ty, values, repeat });
        self.builder.push_statement(StmtKind::Static { to, data });
        Ok(())
    }

    /// Parses a strided copy, after `lmadcopy_`.
    fn parse_copy(&mut self) -> Result<(), SourceDiagnostic> {
        let fault = self
            .cursor
            .fault_here("expected the rank and type of a copy");
        let rank = self.cursor.take_word();
        let (rank, ty) = rank.split_once("d_").ok_or_else(|| fault.clone())?;
        let rank: usize = rank.parse().map_err(|_| fault.clone())?;
        let ty = ScalarType::from_name(ty).ok_or(fault)?;
        self.cursor.expect_piece("(")?;
        let shape = self.parse_bracketed_exprs()?;
        if shape.len() != rank {
            let message = format!("expected {rank} sizes, not {}", shape.len());
            return Err(self.cursor.fault_here(message));
        }
        self.cursor.expect_piece(",")?;
        let to = self.parse_copy_operand(rank)?;
        self.cursor.expect_piece(",")?;
        let from = self.parse_copy_operand(rank)?;
        self.cursor.expect_piece(")")?;
        if ty != ScalarType::Unit {
            let copy = CopyStmt {
                ty,
                shape,
                to,
                from,
            };
            self.builder.push_statement(StmtKind::Copy(Box::new(copy)));
        }
        Ok(())
    }

    fn parse_bracketed_exprs(&mut self) -> Result<Vec<ExprId>, SourceDiagnostic> {
        let mut all = Vec::new();
        while self.cursor.eat_piece("[") {
            all.push(self.parse_typed_expr(ScalarType::I64)?);
            self.cursor.expect_piece("]")?;
        }
        Ok(all)
    }

    /// The condition of a branch of the host; the branch is never taken if its statements contain a broken copy.
    ///
    /// If the elements of a segmented reduction are arrays, Futhark prints two kernels. The copies of the kernel
    /// for small segments lack a dimension. The other branch has the kernel for large segments, which is correct
    /// for all sizes.
    fn avoid_broken(&mut self, condition: ExprId) -> ExprId {
        if self.is_in_kernel || self.broken_copy.take().is_none() {
            return condition;
        }
        self.builder
            .make_literal(ScalarLiteral::new(ScalarType::Bool, 0))
    }

    /// Parses one side of a copy. A wrong number of strides is recorded as a broken copy.
    fn parse_copy_operand(&mut self, rank: usize) -> Result<CopyOperand, SourceDiagnostic> {
        self.cursor.skip_space();
        let memory = self.parse_memory()?;
        self.parse_memory_space()?;
        self.cursor.expect_piece("+")?;
        let offset = self.parse_typed_expr(ScalarType::I64)?;
        self.cursor.skip_blanks();
        let mut strides = self.parse_bracketed_exprs()?;
        if strides.len() != rank {
            let message = format!("expected {rank} strides, not {}", strides.len());
            let fault = self.cursor.fault_here(message);
            self.broken_copy.get_or_insert(fault);
            let zero = self.builder.make_i64(0);
            strides.resize(rank, zero);
        }
        Ok(CopyOperand {
            memory,
            offset,
            strides,
        })
    }

    /// Parses the rest of a statement that begins with a variable.
    fn parse_var_statement(&mut self, var: VarId) -> Result<(), SourceDiagnostic> {
        if self.cursor.eat_piece(" = shared_alloc(") {
            let bytes = self.parse_typed_expr(ScalarType::I64)?;
            self.cursor.expect_piece(")")?;
            self.builder
                .push_statement(StmtKind::Alloc { to: var, bytes });
            return Ok(());
        }
        if self.cursor.eat_piece("<") {
            return self.parse_write(var);
        }
        self.cursor.expect_piece(" <- ")?;
        match self.builder.program().var(var).ty {
            VariableType::Scalar(ty) => self.parse_assignment(var, ty),
            ty => self.parse_memory_assignment(var, ty),
        }
    }

    fn parse_write(&mut self, memory: VarId) -> Result<(), SourceDiagnostic> {
        let to = self.parse_element(memory)?;
        self.cursor.expect_piece(" <- ")?;
        let value = self.parse_typed_expr(to.ty)?;
        if to.ty != ScalarType::Unit {
            self.builder.push_statement(StmtKind::Write { to, value });
        }
        Ok(())
    }

    /// Parses an element, after `NAME<`.
    fn parse_element(&mut self, memory: VarId) -> Result<MemoryElement, SourceDiagnostic> {
        let volatile = self.cursor.eat_piece("volatile ");
        let ty = self.parse_scalar_type()?;
        self.parse_memory_space()?;
        self.cursor.expect_piece(">[")?;
        let index = self.parse_typed_expr(ScalarType::I64)?;
        self.cursor.expect_piece("]")?;
        Ok(MemoryElement {
            memory,
            ty,
            index,
            volatile,
        })
    }

    fn parse_memory_assignment(
        &mut self,
        to: VarId,
        ty: VariableType,
    ) -> Result<(), SourceDiagnostic> {
        if self.cursor.eat_piece("malloc(") {
            let bytes = self.parse_typed_expr(ScalarType::I64)?;
            self.cursor.expect_piece(")")?;
            self.parse_memory_space()?;
            if !matches!(ty, VariableType::Array(_)) {
                self.builder.push_statement(StmtKind::Alloc { to, bytes });
            }
            return Ok(());
        }
        let from = self.parse_memory()?;
        if self.cursor.eat_piece(" @") {
            self.parse_memory_space()?;
        }
        self.builder.push_statement(StmtKind::Alias { to, from });
        Ok(())
    }

    fn parse_assignment(&mut self, to: VarId, ty: ScalarType) -> Result<(), SourceDiagnostic> {
        let start = self.cursor.at;
        if let Some(memory) = self.take_bound_var()
            && self.cursor.eat_piece("<")
        {
            let from = self.parse_element(memory)?;
            if from.ty != ScalarType::Unit {
                self.push_converted_result(to, ty, from.ty, |to| StmtKind::Read { to, from })?;
            }
            return Ok(());
        }
        self.cursor.at = start;
        if self.cursor.remaining_text().starts_with("atomic_") {
            return self.parse_atomic(Some((to, ty)));
        }
        if self.parse_position_query(to, ty)? {
            return Ok(());
        }
        if self.cursor.eat_piece("get_size(") {
            let mut value = self.parse_size_parameter()?;
            if self.cursor.eat_piece(" < ") {
                // This comparison is printed as `<` but means `<=`.
                let bound = self.parse_typed_expr(ScalarType::I64)?;
                value = self.builder.apply_op(ScalarOp::SLe, &[value, bound]);
            }
            let fault = self.cursor.fault_here(format!("a size is no {ty}"));
            let value = self.convert_expr(value, ty).ok_or(fault)?;
            self.builder.push_assignment(to, value);
            return Ok(());
        }
        let value = self.parse_typed_expr(ty)?;
        if ty != ScalarType::Unit {
            self.builder.push_assignment(to, value);
        }
        Ok(())
    }

    /// Appends a statement with a result of a type, and converts the result if its target has another type.
    pub(super) fn push_converted_result(
        &mut self,
        to: VarId,
        ty: ScalarType,
        given: ScalarType,
        statement: impl FnOnce(VarId) -> StmtKind,
    ) -> Result<(), SourceDiagnostic> {
        if ty == given {
            self.builder.push_statement(statement(to));
            return Ok(());
        }
        let name = self.builder.program().var_name(to).to_owned();
        let narrow = self
            .builder
            .declare_var(&name, VariableType::Scalar(given), false);
        self.builder.push_statement(statement(narrow));
        let value = self.builder.read_var(narrow);
        let fault = self
            .cursor
            .fault_here(format!("{given} does not convert to {ty}"));
        let value = self.convert_expr(value, ty).ok_or(fault)?;
        self.builder.push_assignment(to, value);
        Ok(())
    }

    /// Parses the assignment of a user parameter, after `get_user_param`.
    fn parse_user_parameter_assignment(&mut self) -> Result<(), SourceDiagnostic> {
        let to = self.parse_scalar_var()?;
        self.cursor.expect_piece(" <- ")?;
        let value = self.parse_user_parameter("(")?;
        self.builder.push_assignment(to, value);
        Ok(())
    }

    /// Parses a call, after `call`.
    fn parse_call(&mut self) -> Result<(), SourceDiagnostic> {
        let start = self.cursor.at;
        let mut outputs = Vec::new();
        while let Some(var) = self.take_bound_var() {
            outputs.push(var);
            if !self.cursor.eat_piece(", ") {
                break;
            }
        }
        if !self.cursor.eat_piece(" <- ") {
            self.cursor.at = start;
            outputs.clear();
        }
        let line = self.cursor.remaining_line();
        let name = line
            .match_indices('(')
            .map(|(at, _)| &line[..at])
            .find(|name| self.signatures.contains_key(name));
        match name {
            Some(name) => {
                self.cursor.take_bytes(name.len() + 1);
                self.call_function(name, outputs)
            }
            None => match outputs[..] {
                [to] => {
                    let fault = self.cursor.fault_here("a function returns a scalar");
                    let ty = self.builder.program().scalar_type(to).ok_or(fault)?;
                    let value = self.parse_typed_expr(ty)?;
                    self.builder.push_assignment(to, value);
                    Ok(())
                }
                _ => Err(self.cursor.fault_here("expected the name of a function")),
            },
        }
    }

    fn call_function(&mut self, name: &str, outputs: Vec<VarId>) -> Result<(), SourceDiagnostic> {
        let types = self.signatures[name].inputs.clone();
        let given = self.signatures[name].outputs.clone();
        let mut inputs = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            if index > 0 {
                self.cursor.expect_piece(", ")?;
            }
            inputs.push(match *ty {
                VariableType::Scalar(ty) => FuncArgument::Scalar(self.parse_typed_expr(ty)?),
                _ => FuncArgument::Memory(self.parse_memory()?),
            });
        }
        self.cursor.expect_piece(")")?;
        if given.len() != outputs.len() {
            let message = format!(
                "{name} returns {} values, not {}",
                given.len(),
                outputs.len()
            );
            return Err(SourceDiagnostic::error(
                self.builder.current_place(),
                message,
            ));
        }
        let function = self.builder.declare_function(name);
        self.builder
            .push_statement(StmtKind::Call(Box::new(CallStmt {
                function,
                inputs,
                outputs,
            })));
        Ok(())
    }
}
