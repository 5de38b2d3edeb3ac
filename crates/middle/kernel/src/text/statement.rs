//! The parser of statements.

use super::parse::{DEPTH, KernelParser};
use crate::ir::{
    AtomicOp, AtomicStmt, BlockSize, CallStmt, CopyOperand, CopyStmt, ForeignStmt, FuncArgument,
    KernelCapture, KernelData, KernelSyncScope, LaunchIndex, MemoryElement, MemorySpace,
    MessageData, MessageId, MessageSegment, StaticData, StmtBlock, StmtKind, SyncKind, VarId,
    VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ForeignSignature;
use spirula_text::TextToken;

impl KernelParser {
    /// Parses `{ statements }`.
    pub(super) fn parse_block(&mut self) -> Result<StmtBlock, SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault_here("too many nested blocks"));
        }
        self.expect_mark("{")?;
        let outer = self.builder.current_place();
        self.builder.begin_block();
        while !self.eat_mark("}") {
            if *self.peek() == TextToken::End {
                return Err(self.fault_here("expected \"}\""));
            }
            self.builder.set_place(self.next_place());
            self.parse_statement()?;
        }
        self.builder.set_place(outer);
        self.depth -= 1;
        Ok(self.builder.end_block())
    }

    fn parse_statement(&mut self) -> Result<(), SourceDiagnostic> {
        match self.peek() {
            TextToken::Value(_) => {
                let to = self.parse_var()?;
                self.expect_mark("=")?;
                return self.parse_assignment(to);
            }
            TextToken::Mark("(") => {
                self.next();
                let outputs = self.parse_list(")", Self::parse_var)?;
                self.expect_mark("=")?;
                if self.eat_word("load") {
                    self.expect_word("vector")?;
                    return self.read_vector(outputs);
                }
                if self.eat_word("foreign") {
                    return self.parse_foreign(outputs);
                }
                self.expect_word("call")?;
                return self.parse_call(outputs);
            }
            _ => {}
        }
        if self.eat_word("var") {
            let name = self.new_name()?;
            self.expect_mark(":")?;
            let volatile = self.eat_word("volatile");
            let ty = self.parse_variable_type()?;
            let var = self.builder.declare_var(&name, ty, volatile);
            self.locals.insert(name, var);
        } else if self.eat_word("free") {
            let var = self.parse_var()?;
            self.builder.push_statement(StmtKind::Free(var));
        } else if self.eat_word("clear") {
            self.parse_clear()?;
        } else if self.eat_word("store") {
            if self.eat_word("vector") {
                return self.write_vector();
            }
            if self.eat_word("fragment") {
                return self.store_fragment();
            }
            let to = self.parse_element()?;
            self.expect_mark(",")?;
            let value = self.parse_expr()?;
            self.builder.push_statement(StmtKind::Write { to, value });
        } else if self.eat_word("copy") {
            self.parse_copy()?;
        } else if self.eat_word("call") {
            self.parse_call(Vec::new())?;
        } else if self.eat_word("foreign") {
            self.parse_foreign(Vec::new())?;
        } else if self.eat_word("launch") {
            self.parse_kernel()?;
        } else if self.eat_word("atomic") {
            self.parse_atomic(None)?;
        } else {
            return self.parse_control_flow();
        }
        Ok(())
    }

    fn parse_control_flow(&mut self) -> Result<(), SourceDiagnostic> {
        if self.eat_word("if") {
            let condition = self.parse_expr()?;
            let then = self.parse_block()?;
            let otherwise = if self.eat_word("else") {
                self.parse_block()?
            } else {
                self.builder.begin_block();
                self.builder.end_block()
            };
            self.builder.push_statement(StmtKind::If {
                condition,
                then,
                otherwise,
            });
        } else if self.eat_word("for") {
            let name = self.new_name()?;
            self.expect_mark(":")?;
            let ty = self.parse_variable_type()?;
            self.expect_mark("<")?;
            let bound = self.parse_expr()?;
            let counter = self.builder.new_var(&name, ty);
            self.locals.insert(name, counter);
            let body = self.parse_block()?;
            self.builder.push_statement(StmtKind::For {
                counter,
                bound,
                body,
            });
        } else if self.eat_word("while") {
            let condition = self.parse_expr()?;
            let body = self.parse_block()?;
            self.builder
                .push_statement(StmtKind::While { condition, body });
        } else if self.eat_word("assert") {
            let condition = self.parse_expr()?;
            self.expect_mark(",")?;
            let message = self.parse_message()?;
            self.builder
                .push_statement(StmtKind::Assert { condition, message });
        } else if self.eat_word("trace") {
            let message = self.parse_message()?;
            self.builder.push_statement(StmtKind::Trace(message));
        } else if let Some(kind) = self.one_of(&SyncKind::NAMES) {
            let fault = self.fault_here("expected shared or device");
            let scope = match self.one_of(&MemorySpace::NAMES) {
                Some(MemorySpace::Shared) => KernelSyncScope::Shared,
                Some(MemorySpace::Device) => KernelSyncScope::Device,
                _ => return Err(fault),
            };
            self.builder.push_statement(StmtKind::Sync { kind, scope });
        } else {
            return Err(self.fault_here("expected a statement"));
        }
        Ok(())
    }

    /// Parses the rest of an assignment, after `%x =`.
    fn parse_assignment(&mut self, to: VarId) -> Result<(), SourceDiagnostic> {
        let kind = if self.eat_word("memory") {
            StmtKind::Alias {
                to,
                from: self.parse_var()?,
            }
        } else if self.eat_word("alloc") {
            StmtKind::Alloc {
                to,
                bytes: self.parse_expr()?,
            }
        } else if self.eat_word("unique") {
            StmtKind::IsUnique {
                to,
                memory: self.parse_var()?,
            }
        } else if self.eat_word("data") {
            let ty = self.parse_scalar_type()?;
            self.expect_mark("{")?;
            let values = self.parse_list("}", Self::parse_literal)?;
            let repeat = if self.eat_mark("*") {
                Some(self.parse_number()?)
            } else {
                None
            };
            let data = Box::new(StaticData { ty, values, repeat });
            StmtKind::Static { to, data }
        } else if self.eat_word("accumulate") {
            return self.parse_accumulate(to);
        } else if self.eat_word("load") {
            if self.eat_word("fragment") {
                return self.load_fragment(to);
            }
            StmtKind::Read {
                to,
                from: self.parse_element()?,
            }
        } else if self.eat_word("atomic") {
            return self.parse_atomic(Some(to));
        } else if self.eat_word("shuffle") {
            let value = self.parse_expr()?;
            self.expect_mark(",")?;
            StmtKind::Shuffle {
                to,
                value,
                mask: self.parse_number()?,
            }
        } else if let Some(part) = self.one_of(&LaunchIndex::NAMES) {
            StmtKind::Position {
                to,
                part,
                dimension: self.parse_number()?,
            }
        } else {
            StmtKind::Assign {
                to,
                value: self.parse_expr()?,
            }
        };
        self.builder.push_statement(kind);
        Ok(())
    }

    pub(super) fn parse_element(&mut self) -> Result<MemoryElement, SourceDiagnostic> {
        let volatile = self.eat_word("volatile");
        let ty = self.parse_scalar_type()?;
        let memory = self.parse_var()?;
        self.expect_mark("[")?;
        let index = self.parse_expr()?;
        self.expect_mark("]")?;
        Ok(MemoryElement {
            memory,
            ty,
            index,
            volatile,
        })
    }

    fn parse_copy(&mut self) -> Result<(), SourceDiagnostic> {
        let ty = self.parse_scalar_type()?;
        let shape = self.parse_exprs()?;
        let to = self.parse_copy_operand()?;
        self.expect_mark(",")?;
        let from = self.parse_copy_operand()?;
        self.builder
            .push_statement(StmtKind::Copy(Box::new(CopyStmt {
                ty,
                shape,
                to,
                from,
            })));
        Ok(())
    }

    fn parse_copy_operand(&mut self) -> Result<CopyOperand, SourceDiagnostic> {
        let memory = self.parse_var()?;
        self.expect_mark("+")?;
        let offset = self.parse_expr()?;
        let strides = self.parse_exprs()?;
        Ok(CopyOperand {
            memory,
            offset,
            strides,
        })
    }

    fn parse_atomic(&mut self, old: Option<VarId>) -> Result<(), SourceDiagnostic> {
        let fault = self.fault_here("unknown atomic operation");
        let op = self.one_of(&AtomicOp::NAMES).ok_or(fault)?;
        let element = self.parse_element()?;
        self.expect_mark(",")?;
        let mut value = self.parse_expr()?;
        let mut expected = None;
        if op == AtomicOp::CompareExchange {
            self.expect_mark(",")?;
            expected = Some(value);
            value = self.parse_expr()?;
        }
        self.builder
            .push_statement(StmtKind::Atomic(Box::new(AtomicStmt {
                op,
                element,
                value,
                expected,
                old,
            })));
        Ok(())
    }

    fn parse_call(&mut self, outputs: Vec<VarId>) -> Result<(), SourceDiagnostic> {
        let name = self.function_name()?;
        let function = self.builder.declare_function(&name);
        let inputs = self.parse_arguments()?;
        self.builder
            .push_statement(StmtKind::Call(Box::new(CallStmt {
                function,
                inputs,
                outputs,
            })));
        Ok(())
    }

    /// Parses `(inputs) by "signature"`.
    fn parse_foreign(&mut self, outputs: Vec<VarId>) -> Result<(), SourceDiagnostic> {
        let inputs = self.parse_arguments()?;
        self.expect_word("by")?;
        let fault = self.fault_here("this is no signature of a foreign call");
        let text = self.parse_string()?;
        let signature = ForeignSignature::from_text(&text).map_err(|_| fault)?;
        self.builder
            .push_statement(StmtKind::Foreign(Box::new(ForeignStmt {
                signature,
                inputs,
                outputs,
            })));
        Ok(())
    }

    fn parse_arguments(&mut self) -> Result<Vec<FuncArgument>, SourceDiagnostic> {
        self.expect_mark("(")?;
        self.parse_list(")", |parser| {
            if parser.eat_word("memory") {
                Ok(FuncArgument::Memory(parser.parse_var()?))
            } else {
                Ok(FuncArgument::Scalar(parser.parse_expr()?))
            }
        })
    }

    fn parse_message(&mut self) -> Result<MessageId, SourceDiagnostic> {
        self.expect_mark("{")?;
        let parts = self.parse_list("}", |parser| match parser.peek() {
            TextToken::Text(_) => Ok(MessageSegment::Text(parser.parse_string()?)),
            _ => Ok(MessageSegment::Value(parser.parse_expr()?)),
        })?;
        let backtrace = if self.eat_word("at") {
            self.parse_string()?
        } else {
            String::new()
        };
        Ok(self.builder.add_message(MessageData { parts, backtrace }))
    }

    fn parse_kernel(&mut self) -> Result<(), SourceDiagnostic> {
        let place = self.builder.current_place();
        let label = match self.peek() {
            TextToken::Text(_) => Some(self.parse_string()?),
            _ => None,
        };
        let blocks = self.parse_exprs()?;
        self.expect_word("size")?;
        self.expect_mark("[")?;
        let block_size = self.parse_list("]", |parser| {
            if parser.eat_word("dynamic") {
                return Ok(BlockSize::Dynamic(parser.parse_expr()?));
            }
            parser.expect_word("constant")?;
            Ok(BlockSize::Constant(parser.parse_expr()?))
        })?;
        self.expect_word("uses")?;
        self.expect_mark("(")?;
        let captures = self.parse_list(")", Self::parse_capture)?;
        let failure_tolerant = self.eat_word("tolerant");
        let body = self.parse_block()?;
        let kernel = self.builder.add_kernel(KernelData {
            label,
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

    fn parse_capture(&mut self) -> Result<KernelCapture, SourceDiagnostic> {
        if self.eat_word("constant") {
            let name = self.new_name()?;
            self.expect_mark(":")?;
            let ty = self.parse_variable_type()?;
            self.expect_mark("=")?;
            let value = self.parse_expr()?;
            let var = self.builder.new_var(&name, ty);
            self.locals.insert(name, var);
            return Ok(KernelCapture::Constant(var, value));
        }
        let var = self.parse_var()?;
        Ok(match self.builder.program().var(var).ty {
            VariableType::Scalar(_) => KernelCapture::Scalar(var),
            _ => KernelCapture::Memory(var),
        })
    }
}
