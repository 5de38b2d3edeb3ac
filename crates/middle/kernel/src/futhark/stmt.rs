//! Statements.

use super::{DEPTH, FutharkReader};
use crate::ir::{
    CallStmt, CopyOperand, CopyStmt, ExprId, FuncArgument, MemoryElement, MemorySpace, MessageData,
    MessageId, MessageSegment, StaticData, StmtBlock, StmtKind, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

impl FutharkReader<'_> {
    /// Statements up to a closing brace or a line that is not indented.
    pub(super) fn statements(&mut self) -> Result<(), SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.cursor.fault("too many nested blocks"));
        }
        loop {
            self.cursor.skip_space();
            let rest = self.cursor.rest();
            if rest.is_empty() || rest.starts_with('}') || self.cursor.at_line_start() {
                break;
            }
            self.builder.at(self.cursor.place());
            self.statement()?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// `{ statements }` in a scope of its own.
    fn braces(&mut self) -> Result<StmtBlock, SourceDiagnostic> {
        let place = self.builder.place();
        self.cursor.expect("{")?;
        self.scopes.open();
        self.builder.begin_block();
        self.statements()?;
        self.scopes.close();
        self.cursor.expect("}")?;
        self.builder.at(place);
        Ok(self.builder.end_block())
    }

    fn statement(&mut self) -> Result<(), SourceDiagnostic> {
        let start = self.cursor.at;
        if let Some(var) = self.bound() {
            let rest = self.cursor.rest();
            if rest.starts_with(" <- ") || rest.starts_with(" = ") || rest.starts_with('<') {
                return self.change(var);
            }
            self.cursor.at = start;
        }
        if self.cursor.eat("skip") {
            return Ok(());
        }
        if self.cursor.eat("--") || self.cursor.eat("debug (") {
            self.cursor.take_line();
            return Ok(());
        }
        if self.cursor.eat("@ ") {
            self.provenance = self.cursor.take_line();
            return Ok(());
        }
        if self.cursor.eat("var ") {
            return self.declaration();
        }
        if self.cursor.eat("array ") {
            return self.static_data();
        }
        if self.cursor.eat("free(") {
            let var = self.memory()?;
            self.cursor.expect(")")?;
            self.space()?;
            self.builder.push(StmtKind::Free(var));
            return Ok(());
        }
        if self.cursor.eat("lmadcopy_") {
            return self.copy();
        }
        if self.cursor.eat("call ") {
            return self.call();
        }
        if self.cursor.eat("get_user_param ") {
            return self.user_parameter_of();
        }
        if self.cursor.eat("kernel") {
            return self.kernel();
        }
        if self.control()? || self.synchronisation()? || self.message_statement()? {
            return Ok(());
        }
        if self.cursor.rest().starts_with("atomic_") {
            return self.atomic(None);
        }
        Err(self.cursor.fault("expected a statement"))
    }

    fn control(&mut self) -> Result<bool, SourceDiagnostic> {
        if self.cursor.eat("if ") {
            self.branch()?;
        } else if self.cursor.eat("for ") {
            let name = self.cursor.new_name(" < ")?;
            let bound = self.expr()?;
            let Some(ty) = self.builder.program().type_of(bound) else {
                return Err(self.cursor.fault("the bound is no scalar"));
            };
            self.cursor.expect(" ")?;
            self.scopes.open();
            let counter = self.builder.var(name, VariableType::Scalar(ty));
            self.scopes.bind(name, counter);
            let body = self.braces()?;
            self.scopes.close();
            self.builder.push(StmtKind::For {
                counter,
                bound,
                body,
            });
        } else if self.cursor.eat("while ") {
            let condition = self.typed(ScalarType::Bool)?;
            self.cursor.expect(" ")?;
            let body = self.braces()?;
            self.builder.push(StmtKind::While { condition, body });
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What stands after `if`. A chain of branches nests in the last branch of each.
    fn branch(&mut self) -> Result<(), SourceDiagnostic> {
        let mut open = Vec::new();
        loop {
            let place = self.builder.place();
            let condition = self.typed(ScalarType::Bool)?;
            self.cursor.expect(" then ")?;
            let before = self.broken.take();
            let then = self.braces()?;
            let condition = self.avoid_broken(condition);
            self.broken = before.or(self.broken.take());
            self.cursor.expect(" else ")?;
            open.push((place, condition, then));
            if !self.cursor.eat("if ") {
                break;
            }
        }
        let mut otherwise = self.braces()?;
        let mut remaining = open.len();
        for (place, condition, then) in open.into_iter().rev() {
            remaining -= 1;
            if remaining > 0 {
                self.builder.begin_block();
            }
            self.builder.at(place);
            self.separate_flags(then);
            self.push_branch(condition, then, otherwise);
            if remaining > 0 {
                otherwise = self.builder.end_block();
            }
        }
        Ok(())
    }

    fn message_statement(&mut self) -> Result<bool, SourceDiagnostic> {
        if self.cursor.eat("assert(") {
            let message = self.message()?;
            self.cursor.expect(", ")?;
            let condition = self.typed(ScalarType::Bool)?;
            self.cursor.expect(")")?;
            self.builder.push(StmtKind::Assert { condition, message });
        } else if self.cursor.eat("trace (") {
            let message = self.message()?;
            self.cursor.expect(")")?;
            self.builder.push(StmtKind::Trace(message));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn message(&mut self) -> Result<MessageId, SourceDiagnostic> {
        self.cursor.expect("{")?;
        let mut parts = Vec::new();
        while !self.cursor.eat("}") {
            if !parts.is_empty() {
                self.cursor.expect(", ")?;
            }
            if self.cursor.rest().starts_with('"') {
                parts.push(MessageSegment::Text(self.cursor.string()?));
            } else {
                let expr = self.expr()?;
                self.cursor.expect(" : ")?;
                let fault = self.cursor.fault("the value is not of this type");
                let ty = self.scalar_type()?;
                parts.push(MessageSegment::Value(self.convert(expr, ty).ok_or(fault)?));
            }
        }
        let backtrace = self.provenance.to_owned();
        Ok(self.builder.message(MessageData { parts, backtrace }))
    }

    /// What stands after `var`.
    fn declaration(&mut self) -> Result<(), SourceDiagnostic> {
        let name = self.cursor.new_name(": ")?;
        let volatile = self.cursor.eat("volatile ");
        let ty = match self.cursor.eat("mem") {
            true => self.space()?,
            false => VariableType::Scalar(self.scalar_type()?),
        };
        let var = self.builder.declare(name, ty, volatile);
        self.scopes.bind(name, var);
        Ok(())
    }

    /// A space: nothing, `@device`, `@global`, `@shared`, or the type of a private array.
    pub(super) fn space(&mut self) -> Result<VariableType, SourceDiagnostic> {
        if !self.cursor.eat("@") {
            return Ok(VariableType::Memory(MemorySpace::Host));
        }
        let names = [
            ("device", MemorySpace::Device),
            ("global", MemorySpace::Device),
            ("shared", MemorySpace::Shared),
        ];
        for (name, space) in names {
            if self.cursor.eat(name) {
                return Ok(VariableType::Memory(space));
            }
        }
        let mut shape = Vec::new();
        while self.cursor.eat("[") {
            shape.push(self.typed(ScalarType::I64)?);
            self.cursor.expect("]")?;
        }
        let element = self.scalar_type()?;
        Ok(VariableType::Array(self.builder.array(element, shape)))
    }

    /// What stands after `array`.
    fn static_data(&mut self) -> Result<(), SourceDiagnostic> {
        let name = self.cursor.new_name(" : ")?;
        let ty = self.scalar_type()?;
        self.cursor.expect(" = {")?;
        let mut values = Vec::new();
        while !self.cursor.eat("}") {
            if !values.is_empty() {
                self.cursor.expect(", ")?;
            }
            let start = self.cursor.at;
            let zero = ScalarLiteral::new(ty, 0);
            let literal = match self.cursor.eat("0}") {
                true => {
                    self.cursor.at -= 1;
                    Some(zero)
                }
                false => self.literal(),
            };
            let literal = literal.filter(|l| l.ty == ty).ok_or_else(|| {
                let message = format!("expected a value of type {ty}");
                self.cursor.fault_at(start, message)
            })?;
            values.push(literal);
        }
        let mut repeat = None;
        if self.cursor.eat(" * ") {
            let fault = self.cursor.fault("expected a number of elements");
            repeat = Some(self.cursor.word().parse().map_err(|_| fault)?);
        }
        let to = self
            .builder
            .declare(name, VariableType::Memory(MemorySpace::Host), false);
        self.scopes.bind(name, to);
        let data = Box::new(StaticData { ty, values, repeat });
        self.builder.push(StmtKind::Static { to, data });
        Ok(())
    }

    /// What stands after `lmadcopy_`.
    fn copy(&mut self) -> Result<(), SourceDiagnostic> {
        let fault = self.cursor.fault("expected the rank and type of a copy");
        let rank = self.cursor.word();
        let (rank, ty) = rank.split_once("d_").ok_or_else(|| fault.clone())?;
        let rank: usize = rank.parse().map_err(|_| fault.clone())?;
        let ty = ScalarType::from_name(ty).ok_or(fault)?;
        self.cursor.expect("(")?;
        let shape = self.brackets()?;
        if shape.len() != rank {
            let message = format!("expected {rank} sizes, not {}", shape.len());
            return Err(self.cursor.fault(message));
        }
        self.cursor.expect(",")?;
        let to = self.side(rank)?;
        self.cursor.expect(",")?;
        let from = self.side(rank)?;
        self.cursor.expect(")")?;
        if ty != ScalarType::Unit {
            let copy = CopyStmt {
                ty,
                shape,
                to,
                from,
            };
            self.builder.push(StmtKind::Copy(Box::new(copy)));
        }
        Ok(())
    }

    fn brackets(&mut self) -> Result<Vec<ExprId>, SourceDiagnostic> {
        let mut all = Vec::new();
        while self.cursor.eat("[") {
            all.push(self.typed(ScalarType::I64)?);
            self.cursor.expect("]")?;
        }
        Ok(all)
    }

    /// The condition of a branch of the host, which is never taken if its statements are broken.
    ///
    /// Where the elements of a segmented reduction are arrays, Futhark prints for small segments a kernel whose copies
    /// miss a dimension. The other branch has the one for large segments, which is right for all.
    fn avoid_broken(&mut self, condition: ExprId) -> ExprId {
        if self.is_in_kernel || self.broken.take().is_none() {
            return condition;
        }
        self.builder
            .literal(ScalarLiteral::new(ScalarType::Bool, 0))
    }

    /// A side of a copy; of strides that lack or are too many it is noted that they do.
    fn side(&mut self, rank: usize) -> Result<CopyOperand, SourceDiagnostic> {
        self.cursor.skip_space();
        let memory = self.memory()?;
        self.space()?;
        self.cursor.expect("+")?;
        let offset = self.typed(ScalarType::I64)?;
        self.cursor.skip_blanks();
        let mut strides = self.brackets()?;
        if strides.len() != rank {
            let message = format!("expected {rank} strides, not {}", strides.len());
            let fault = self.cursor.fault(message);
            self.broken.get_or_insert(fault);
            let zero = self.builder.i64(0);
            strides.resize(rank, zero);
        }
        Ok(CopyOperand {
            memory,
            offset,
            strides,
        })
    }

    /// What stands after a name at the beginning of a statement.
    fn change(&mut self, var: VarId) -> Result<(), SourceDiagnostic> {
        if self.cursor.eat(" = shared_alloc(") {
            let bytes = self.typed(ScalarType::I64)?;
            self.cursor.expect(")")?;
            self.builder.push(StmtKind::Alloc { to: var, bytes });
            return Ok(());
        }
        if self.cursor.eat("<") {
            return self.write(var);
        }
        self.cursor.expect(" <- ")?;
        match self.builder.program().var(var).ty {
            VariableType::Scalar(ty) => self.assignment(var, ty),
            ty => self.memory_assignment(var, ty),
        }
    }

    fn write(&mut self, memory: VarId) -> Result<(), SourceDiagnostic> {
        let to = self.element(memory)?;
        self.cursor.expect(" <- ")?;
        let value = self.typed(to.ty)?;
        if to.ty != ScalarType::Unit {
            self.builder.push(StmtKind::Write { to, value });
        }
        Ok(())
    }

    /// What stands after `NAME<`.
    fn element(&mut self, memory: VarId) -> Result<MemoryElement, SourceDiagnostic> {
        let volatile = self.cursor.eat("volatile ");
        let ty = self.scalar_type()?;
        self.space()?;
        self.cursor.expect(">[")?;
        let index = self.typed(ScalarType::I64)?;
        self.cursor.expect("]")?;
        Ok(MemoryElement {
            memory,
            ty,
            index,
            volatile,
        })
    }

    fn memory_assignment(&mut self, to: VarId, ty: VariableType) -> Result<(), SourceDiagnostic> {
        if self.cursor.eat("malloc(") {
            let bytes = self.typed(ScalarType::I64)?;
            self.cursor.expect(")")?;
            self.space()?;
            if !matches!(ty, VariableType::Array(_)) {
                self.builder.push(StmtKind::Alloc { to, bytes });
            }
            return Ok(());
        }
        let from = self.memory()?;
        if self.cursor.eat(" @") {
            self.space()?;
        }
        self.builder.push(StmtKind::Alias { to, from });
        Ok(())
    }

    fn assignment(&mut self, to: VarId, ty: ScalarType) -> Result<(), SourceDiagnostic> {
        let start = self.cursor.at;
        if let Some(memory) = self.bound()
            && self.cursor.eat("<")
        {
            let from = self.element(memory)?;
            if from.ty != ScalarType::Unit {
                self.result(to, ty, from.ty, |to| StmtKind::Read { to, from })?;
            }
            return Ok(());
        }
        self.cursor.at = start;
        if self.cursor.rest().starts_with("atomic_") {
            return self.atomic(Some((to, ty)));
        }
        if self.position(to, ty)? {
            return Ok(());
        }
        if self.cursor.eat("get_size(") {
            let mut value = self.parameter()?;
            if self.cursor.eat(" < ") {
                // What is printed as `<` means at most.
                let bound = self.typed(ScalarType::I64)?;
                value = self.builder.op(ScalarOp::SLe, &[value, bound]);
            }
            let fault = self.cursor.fault(format!("a size is no {ty}"));
            let value = self.convert(value, ty).ok_or(fault)?;
            self.builder.assign(to, value);
            return Ok(());
        }
        let value = self.typed(ty)?;
        if ty != ScalarType::Unit {
            self.builder.assign(to, value);
        }
        Ok(())
    }

    /// Appends a statement that gives a value of a type, converted where its target has another.
    pub(super) fn result(
        &mut self,
        to: VarId,
        ty: ScalarType,
        given: ScalarType,
        statement: impl FnOnce(VarId) -> StmtKind,
    ) -> Result<(), SourceDiagnostic> {
        if ty == given {
            self.builder.push(statement(to));
            return Ok(());
        }
        let name = self.builder.program().var_name(to).to_owned();
        let narrow = self
            .builder
            .declare(&name, VariableType::Scalar(given), false);
        self.builder.push(statement(narrow));
        let value = self.builder.value(narrow);
        let fault = self
            .cursor
            .fault(format!("{given} does not convert to {ty}"));
        let value = self.convert(value, ty).ok_or(fault)?;
        self.builder.assign(to, value);
        Ok(())
    }

    /// What stands after `get_user_param` where a scalar gets its value.
    fn user_parameter_of(&mut self) -> Result<(), SourceDiagnostic> {
        let to = self.scalar_var()?;
        self.cursor.expect(" <- ")?;
        let value = self.user_parameter("(")?;
        self.builder.assign(to, value);
        Ok(())
    }

    /// What stands after `call`.
    fn call(&mut self) -> Result<(), SourceDiagnostic> {
        let start = self.cursor.at;
        let mut outputs = Vec::new();
        while let Some(var) = self.bound() {
            outputs.push(var);
            if !self.cursor.eat(", ") {
                break;
            }
        }
        if !self.cursor.eat(" <- ") {
            self.cursor.at = start;
            outputs.clear();
        }
        let line = self.cursor.line();
        let name = line
            .match_indices('(')
            .map(|(at, _)| &line[..at])
            .find(|name| self.signatures.contains_key(name));
        match name {
            Some(name) => {
                self.cursor.take(name.len() + 1);
                self.call_function(name, outputs)
            }
            None => match outputs[..] {
                [to] => {
                    let fault = self.cursor.fault("a function gives a scalar");
                    let ty = self.builder.program().scalar(to).ok_or(fault)?;
                    let value = self.typed(ty)?;
                    self.builder.assign(to, value);
                    Ok(())
                }
                _ => Err(self.cursor.fault("expected the name of a function")),
            },
        }
    }

    fn call_function(&mut self, name: &str, outputs: Vec<VarId>) -> Result<(), SourceDiagnostic> {
        let types = self.signatures[name].inputs.clone();
        let given = self.signatures[name].outputs.clone();
        let mut inputs = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            if index > 0 {
                self.cursor.expect(", ")?;
            }
            inputs.push(match *ty {
                VariableType::Scalar(ty) => FuncArgument::Scalar(self.typed(ty)?),
                _ => FuncArgument::Memory(self.memory()?),
            });
        }
        self.cursor.expect(")")?;
        if given.len() != outputs.len() {
            let message = format!("{name} gives {} values, not {}", given.len(), outputs.len());
            return Err(SourceDiagnostic::error(self.builder.place(), message));
        }
        let function = self.builder.function(name);
        self.builder.push(StmtKind::Call(Box::new(CallStmt {
            function,
            inputs,
            outputs,
        })));
        Ok(())
    }
}
