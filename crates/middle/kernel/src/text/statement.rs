//! The parser: statements.

use super::lexer::KernelToken;
use super::parse::{DEPTH, KernelParser};
use crate::ir::{
    AtomicOp, AtomicStmt, BlockSize, CallStmt, CopyOperand, CopyStmt, FuncArgument, KernelCapture,
    KernelData, KernelSyncScope, LaunchIndex, MemoryElement, MemorySpace, MessageData, MessageId,
    MessageSegment, StaticData, StmtBlock, StmtKind, SyncKind, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;

impl KernelParser {
    /// `{ statements }`.
    pub(super) fn block(&mut self) -> Result<StmtBlock, SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("too many nested blocks"));
        }
        self.expect("{")?;
        let outer = self.builder.place();
        self.builder.begin_block();
        while !self.eat("}") {
            if *self.peek() == KernelToken::End {
                return Err(self.fault("expected \"}\""));
            }
            self.builder.at(self.place());
            self.statement()?;
        }
        self.builder.at(outer);
        self.depth -= 1;
        Ok(self.builder.end_block())
    }

    fn statement(&mut self) -> Result<(), SourceDiagnostic> {
        match self.peek() {
            KernelToken::Var(_) => {
                let to = self.var()?;
                self.expect("=")?;
                return self.change(to);
            }
            KernelToken::Mark("(") => {
                self.next();
                let outputs = self.list(")", Self::var)?;
                self.expect("=")?;
                if self.eat_word("load") {
                    self.expect_word("vector")?;
                    return self.read_vector(outputs);
                }
                self.expect_word("call")?;
                return self.call(outputs);
            }
            _ => {}
        }
        if self.eat_word("var") {
            let name = self.new_name()?;
            self.expect(":")?;
            let volatile = self.eat_word("volatile");
            let ty = self.ty()?;
            let var = self.builder.declare(&name, ty, volatile);
            self.locals.insert(name, var);
        } else if self.eat_word("free") {
            let var = self.var()?;
            self.builder.push(StmtKind::Free(var));
        } else if self.eat_word("clear") {
            self.clear()?;
        } else if self.eat_word("store") {
            if self.eat_word("vector") {
                return self.write_vector();
            }
            if self.eat_word("fragment") {
                return self.store_fragment();
            }
            let to = self.element()?;
            self.expect(",")?;
            let value = self.expr()?;
            self.builder.push(StmtKind::Write { to, value });
        } else if self.eat_word("copy") {
            self.copy()?;
        } else if self.eat_word("call") {
            self.call(Vec::new())?;
        } else if self.eat_word("launch") {
            self.kernel()?;
        } else if self.eat_word("atomic") {
            self.atomic(None)?;
        } else {
            return self.control();
        }
        Ok(())
    }

    fn control(&mut self) -> Result<(), SourceDiagnostic> {
        if self.eat_word("if") {
            let condition = self.expr()?;
            let then = self.block()?;
            let otherwise = match self.eat_word("else") {
                true => self.block()?,
                false => {
                    self.builder.begin_block();
                    self.builder.end_block()
                }
            };
            self.builder.push(StmtKind::If {
                condition,
                then,
                otherwise,
            });
        } else if self.eat_word("for") {
            let name = self.new_name()?;
            self.expect(":")?;
            let ty = self.ty()?;
            self.expect("<")?;
            let bound = self.expr()?;
            let counter = self.builder.var(&name, ty);
            self.locals.insert(name, counter);
            let body = self.block()?;
            self.builder.push(StmtKind::For {
                counter,
                bound,
                body,
            });
        } else if self.eat_word("while") {
            let condition = self.expr()?;
            let body = self.block()?;
            self.builder.push(StmtKind::While { condition, body });
        } else if self.eat_word("assert") {
            let condition = self.expr()?;
            self.expect(",")?;
            let message = self.message()?;
            self.builder.push(StmtKind::Assert { condition, message });
        } else if self.eat_word("trace") {
            let message = self.message()?;
            self.builder.push(StmtKind::Trace(message));
        } else if let Some(kind) = self.one_of(&SyncKind::NAMES) {
            let fault = self.fault("expected shared or device");
            let scope = match self.one_of(&MemorySpace::NAMES) {
                Some(MemorySpace::Shared) => KernelSyncScope::Shared,
                Some(MemorySpace::Device) => KernelSyncScope::Device,
                _ => return Err(fault),
            };
            self.builder.push(StmtKind::Sync { kind, scope });
        } else {
            return Err(self.fault("expected a statement"));
        }
        Ok(())
    }

    /// What stands after `%x =`.
    fn change(&mut self, to: VarId) -> Result<(), SourceDiagnostic> {
        let kind = if self.eat_word("memory") {
            StmtKind::Alias {
                to,
                from: self.var()?,
            }
        } else if self.eat_word("alloc") {
            StmtKind::Alloc {
                to,
                bytes: self.expr()?,
            }
        } else if self.eat_word("data") {
            let ty = self.scalar()?;
            self.expect("{")?;
            let values = self.list("}", Self::literal)?;
            let repeat = match self.eat("*") {
                true => Some(self.number()?),
                false => None,
            };
            let data = Box::new(StaticData { ty, values, repeat });
            StmtKind::Static { to, data }
        } else if self.eat_word("accumulate") {
            return self.accumulate(to);
        } else if self.eat_word("load") {
            if self.eat_word("fragment") {
                return self.load_fragment(to);
            }
            StmtKind::Read {
                to,
                from: self.element()?,
            }
        } else if self.eat_word("atomic") {
            return self.atomic(Some(to));
        } else if self.eat_word("shuffle") {
            let value = self.expr()?;
            self.expect(",")?;
            StmtKind::Shuffle {
                to,
                value,
                mask: self.number()?,
            }
        } else if let Some(what) = self.one_of(&LaunchIndex::NAMES) {
            StmtKind::Where {
                to,
                what,
                dimension: self.number()?,
            }
        } else {
            StmtKind::Assign {
                to,
                value: self.expr()?,
            }
        };
        self.builder.push(kind);
        Ok(())
    }

    pub(super) fn element(&mut self) -> Result<MemoryElement, SourceDiagnostic> {
        let volatile = self.eat_word("volatile");
        let ty = self.scalar()?;
        let memory = self.var()?;
        self.expect("[")?;
        let index = self.expr()?;
        self.expect("]")?;
        Ok(MemoryElement {
            memory,
            ty,
            index,
            volatile,
        })
    }

    fn copy(&mut self) -> Result<(), SourceDiagnostic> {
        let ty = self.scalar()?;
        let shape = self.exprs()?;
        let to = self.side()?;
        self.expect(",")?;
        let from = self.side()?;
        self.builder.push(StmtKind::Copy(Box::new(CopyStmt {
            ty,
            shape,
            to,
            from,
        })));
        Ok(())
    }

    fn side(&mut self) -> Result<CopyOperand, SourceDiagnostic> {
        let memory = self.var()?;
        self.expect("+")?;
        let offset = self.expr()?;
        let strides = self.exprs()?;
        Ok(CopyOperand {
            memory,
            offset,
            strides,
        })
    }

    fn atomic(&mut self, old: Option<VarId>) -> Result<(), SourceDiagnostic> {
        let fault = self.fault("unknown atomic operation");
        let op = self.one_of(&AtomicOp::NAMES).ok_or(fault)?;
        let element = self.element()?;
        self.expect(",")?;
        let mut value = self.expr()?;
        let mut expected = None;
        if op == AtomicOp::CompareExchange {
            self.expect(",")?;
            expected = Some(value);
            value = self.expr()?;
        }
        self.builder.push(StmtKind::Atomic(Box::new(AtomicStmt {
            op,
            element,
            value,
            expected,
            old,
        })));
        Ok(())
    }

    fn call(&mut self, outputs: Vec<VarId>) -> Result<(), SourceDiagnostic> {
        let name = self.function_name()?;
        let function = self.builder.function(&name);
        self.expect("(")?;
        let inputs = self.list(")", |parser| match parser.eat_word("memory") {
            true => Ok(FuncArgument::Memory(parser.var()?)),
            false => Ok(FuncArgument::Scalar(parser.expr()?)),
        })?;
        self.builder.push(StmtKind::Call(Box::new(CallStmt {
            function,
            inputs,
            outputs,
        })));
        Ok(())
    }

    fn message(&mut self) -> Result<MessageId, SourceDiagnostic> {
        self.expect("{")?;
        let parts = self.list("}", |parser| match parser.peek() {
            KernelToken::Text(_) => Ok(MessageSegment::Text(parser.text()?)),
            _ => Ok(MessageSegment::Value(parser.expr()?)),
        })?;
        let backtrace = match self.eat_word("at") {
            true => self.text()?,
            false => String::new(),
        };
        Ok(self.builder.message(MessageData { parts, backtrace }))
    }

    fn kernel(&mut self) -> Result<(), SourceDiagnostic> {
        let place = self.builder.place();
        let blocks = self.exprs()?;
        self.expect_word("size")?;
        self.expect("[")?;
        let block_size = self.list("]", |parser| {
            if parser.eat_word("dynamic") {
                return Ok(BlockSize::Dynamic(parser.expr()?));
            }
            parser.expect_word("constant")?;
            Ok(BlockSize::Constant(parser.expr()?))
        })?;
        self.expect_word("uses")?;
        self.expect("(")?;
        let uses = self.list(")", Self::one_use)?;
        let failure_tolerant = self.eat_word("tolerant");
        let body = self.block()?;
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

    fn one_use(&mut self) -> Result<KernelCapture, SourceDiagnostic> {
        if self.eat_word("constant") {
            let name = self.new_name()?;
            self.expect(":")?;
            let ty = self.ty()?;
            self.expect("=")?;
            let value = self.expr()?;
            let var = self.builder.var(&name, ty);
            self.locals.insert(name, var);
            return Ok(KernelCapture::Constant(var, value));
        }
        let var = self.var()?;
        Ok(match self.builder.program().var(var).ty {
            VariableType::Scalar(_) => KernelCapture::Scalar(var),
            _ => KernelCapture::Memory(var),
        })
    }
}
