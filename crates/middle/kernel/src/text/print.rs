//! The printer of the text form.

use super::SYNTAX;
use crate::ir::{
    ArrayDimension, AtomicOp, AtomicStmt, BlockSize, CallStmt, CopyOperand, CopyStmt, EntryDecl,
    EntryDeclValue, EntryKind, ExprData, ExprId, ForeignStmt, FuncArgument, FuncId, KernelCapture,
    KernelId, KernelProgram, KernelSyncScope, LaunchIndex, MemoryElement, MemorySpace, MessageId,
    MessageSegment, PlainValue, StmtBlock, StmtKind, SyncKind, VarId, VariableType,
};

/// Prints a program.
pub fn print_program(program: &KernelProgram) -> String {
    let mut printer = KernelPrinter {
        program,
        out: String::new(),
        depth: 0,
    };
    printer.print_program();
    printer.out
}

pub(super) struct KernelPrinter<'a> {
    program: &'a KernelProgram,
    pub(super) out: String,
    depth: usize,
}

/// The name of a row of a table of names.
pub(super) fn name_of<T: PartialEq>(rows: &[(&'static str, T)], value: T) -> &'static str {
    let row = rows.iter().find(|(_, v)| *v == value);
    row.map_or("", |(name, _)| name)
}

/// Writes to the text; writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($format:tt)*) => {{
        use std::fmt::Write as _;
        _ = write!($printer.out, $($format)*)
    }};
}
pub(super) use put;

impl KernelPrinter<'_> {
    fn print_program(&mut self) {
        let program = self.program;
        for line in &program.opaque_types {
            put!(self, "opaque {line:?}\n");
        }
        for global in &program.globals {
            self.out.push_str("global ");
            self.print_binding(*global);
            self.out.push('\n');
        }
        if let Some(block) = program.initialise {
            self.out.push_str("\ninitialise ");
            self.print_block(block);
            self.out.push('\n');
        }
        for function in program.function_ids() {
            self.print_function(function);
        }
        for entry in &program.entries {
            self.print_entry(entry);
        }
    }

    fn print_function(&mut self, id: FuncId) {
        let function = self.program.function(id);
        let Some(body) = function.body else {
            return;
        };
        self.out.push_str("\nfunction ");
        self.function_name(id);
        self.out.push('(');
        self.print_bindings(&function.inputs);
        self.out.push_str(") -> (");
        self.print_bindings(&function.outputs);
        self.out.push_str(") ");
        self.print_block(body);
        self.out.push('\n');
    }

    fn print_bindings(&mut self, vars: &[VarId]) {
        self.print_list(vars, |printer, var| printer.print_binding(*var));
    }

    pub(super) fn print_list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            each(self, item);
        }
    }

    fn print_binding(&mut self, var: VarId) {
        self.print_var(var);
        self.out.push_str(": ");
        let data = self.program.var(var);
        if data.volatile {
            self.out.push_str("volatile ");
        }
        match data.ty {
            VariableType::Scalar(ty) => put!(self, "{ty}"),
            VariableType::Memory(space) => self.out.push_str(name_of(&MemorySpace::NAMES, space)),
            VariableType::Fragment(fragment) => self.fragment_type(fragment),
            VariableType::Array(array) => {
                let array = self.program.array(array);
                put!(self, "private {}[", array.element);
                self.print_exprs(&array.shape);
                self.out.push(']');
            }
        }
    }

    pub(super) fn print_var(&mut self, var: VarId) {
        let name = self.program.var_name(var);
        self.print_name('%', name);
    }

    fn function_name(&mut self, function: FuncId) {
        let name = self.program.names.get(self.program.function(function).name);
        self.print_name('@', name);
    }

    fn print_name(&mut self, sigil: char, name: &str) {
        if SYNTAX.is_plain_name(name) {
            put!(self, "{sigil}{name}")
        } else {
            put!(self, "{sigil}{name:?}")
        }
    }

    fn print_exprs(&mut self, exprs: &[ExprId]) {
        self.print_list(exprs, |printer, expr| printer.print_expr(*expr));
    }

    pub(super) fn print_expr(&mut self, expr: ExprId) {
        match self.program.expr(expr) {
            ExprData::Literal(literal) => put!(self, "{literal}"),
            ExprData::Var(var) => self.print_var(var),
            ExprData::Apply(operator, start) => {
                put!(self, "{operator}(");
                self.print_exprs(self.program.operands(operator, start));
                self.out.push(')');
            }
            ExprData::Parameter(param) => {
                let parameter = &self.program.parameters[param.index()];
                put!(self, "parameter({:?}, {})", parameter.name, parameter.class);
            }
            ExprData::Limit(limit) => {
                put!(self, "limit({})", self.program.limits[limit.index()]);
            }
        }
    }

    fn print_block(&mut self, block: StmtBlock) {
        self.out.push_str("{\n");
        self.depth += 1;
        let program = self.program;
        for stmt in program.block_stmts(block) {
            self.print_indent();
            self.print_statement(&stmt.kind);
            self.out.push('\n');
        }
        self.depth -= 1;
        self.print_indent();
        self.out.push('}');
    }

    fn print_indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    fn print_statement(&mut self, stmt: &StmtKind) {
        match stmt {
            StmtKind::Declare(var) => {
                self.out.push_str("var ");
                self.print_binding(*var);
            }
            StmtKind::Assign { to, value } => {
                self.print_target(*to);
                self.print_expr(*value);
            }
            StmtKind::Alias { to, from } => {
                self.print_target(*to);
                self.out.push_str("memory ");
                self.print_var(*from);
            }
            StmtKind::Alloc { to, bytes } => {
                self.print_target(*to);
                self.out.push_str("alloc ");
                self.print_expr(*bytes);
            }
            StmtKind::Free(var) => {
                self.out.push_str("free ");
                self.print_var(*var);
            }
            StmtKind::IsUnique { to, memory } => {
                self.print_target(*to);
                self.out.push_str("unique ");
                self.print_var(*memory);
            }
            StmtKind::Static { to, data } => {
                self.print_target(*to);
                put!(self, "data {} {{", data.ty);
                self.print_list(&data.values, |printer, value| put!(printer, "{value}"));
                self.out.push('}');
                if let Some(repeat) = data.repeat {
                    put!(self, " * {repeat}");
                }
            }
            StmtKind::Read { to, from } => {
                self.print_target(*to);
                self.out.push_str("load ");
                self.print_element(from);
            }
            StmtKind::Write { to, value } => {
                self.out.push_str("store ");
                self.print_element(to);
                self.out.push_str(", ");
                self.print_expr(*value);
            }
            StmtKind::ReadVector { to, from } => self.read_vector(to, from),
            StmtKind::WriteVector { to, values } => self.write_vector(to, values),
            StmtKind::Fragment(op) => self.print_fragment_op(op),
            StmtKind::Copy(copy) => self.print_copy(copy),
            StmtKind::Atomic(atomic) => self.print_atomic(atomic),
            StmtKind::Launch(kernel) => self.print_kernel(*kernel),
            _ => self.print_control_flow(stmt),
        }
    }

    pub(super) fn print_target(&mut self, var: VarId) {
        self.print_var(var);
        self.out.push_str(" = ");
    }

    fn print_control_flow(&mut self, stmt: &StmtKind) {
        match stmt {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.out.push_str("if ");
                self.print_expr(*condition);
                self.out.push(' ');
                self.print_block(*then);
                if !self.program.block_stmts(*otherwise).is_empty() {
                    self.out.push_str(" else ");
                    self.print_block(*otherwise);
                }
            }
            StmtKind::For {
                counter,
                bound,
                body,
            } => {
                self.out.push_str("for ");
                self.print_binding(*counter);
                self.out.push_str(" < ");
                self.print_expr(*bound);
                self.out.push(' ');
                self.print_block(*body);
            }
            StmtKind::While { condition, body } => {
                self.out.push_str("while ");
                self.print_expr(*condition);
                self.out.push(' ');
                self.print_block(*body);
            }
            StmtKind::Call(call) => self.print_call(call),
            StmtKind::Foreign(call) => self.print_foreign(call),
            StmtKind::Assert { condition, message } => {
                self.out.push_str("assert ");
                self.print_expr(*condition);
                self.out.push_str(", ");
                self.print_message(*message);
            }
            StmtKind::Trace(message) => {
                self.out.push_str("trace ");
                self.print_message(*message);
            }
            StmtKind::Position {
                to,
                part,
                dimension,
            } => {
                self.print_target(*to);
                put!(self, "{} {dimension}", name_of(&LaunchIndex::NAMES, *part));
            }
            StmtKind::Shuffle { to, value, mask } => {
                self.print_target(*to);
                self.out.push_str("shuffle ");
                self.print_expr(*value);
                put!(self, ", {mask}");
            }
            StmtKind::Sync { kind, scope } => {
                let scope = match scope {
                    KernelSyncScope::Shared => MemorySpace::Shared,
                    KernelSyncScope::Device => MemorySpace::Device,
                };
                let (kind, scope) = (
                    name_of(&SyncKind::NAMES, *kind),
                    name_of(&MemorySpace::NAMES, scope),
                );
                put!(self, "{kind} {scope}");
            }
            _ => {}
        }
    }

    fn print_call(&mut self, call: &CallStmt) {
        if !call.outputs.is_empty() {
            self.out.push('(');
            self.print_list(&call.outputs, |printer, var| printer.print_var(*var));
            self.out.push_str(") = ");
        }
        self.out.push_str("call ");
        self.function_name(call.function);
        self.print_arguments(&call.inputs);
    }

    fn print_foreign(&mut self, call: &ForeignStmt) {
        if !call.outputs.is_empty() {
            self.out.push('(');
            self.print_list(&call.outputs, |printer, var| printer.print_var(*var));
            self.out.push_str(") = ");
        }
        self.out.push_str("foreign ");
        self.print_arguments(&call.inputs);
        put!(self, " by {:?}", call.signature.to_text());
    }

    fn print_arguments(&mut self, arguments: &[FuncArgument]) {
        self.out.push('(');
        self.print_list(arguments, |printer, input| match input {
            FuncArgument::Scalar(expr) => printer.print_expr(*expr),
            FuncArgument::Memory(var) => {
                printer.out.push_str("memory ");
                printer.print_var(*var);
            }
        });
        self.out.push(')');
    }

    pub(super) fn print_element(&mut self, element: &MemoryElement) {
        if element.volatile {
            self.out.push_str("volatile ");
        }
        put!(self, "{} ", element.ty);
        self.print_var(element.memory);
        self.out.push('[');
        self.print_expr(element.index);
        self.out.push(']');
    }

    fn print_copy(&mut self, copy: &CopyStmt) {
        put!(self, "copy {} [", copy.ty);
        self.print_exprs(&copy.shape);
        self.out.push_str("] ");
        self.print_copy_operand(&copy.to);
        self.out.push_str(", ");
        self.print_copy_operand(&copy.from);
    }

    fn print_copy_operand(&mut self, side: &CopyOperand) {
        self.print_var(side.memory);
        self.out.push_str(" + ");
        self.print_expr(side.offset);
        self.out.push_str(" [");
        self.print_exprs(&side.strides);
        self.out.push(']');
    }

    fn print_message(&mut self, message: MessageId) {
        let message = self.program.message(message);
        self.out.push('{');
        self.print_list(&message.parts, |printer, part| match part {
            MessageSegment::Text(text) => put!(printer, "{text:?}"),
            MessageSegment::Value(expr) => printer.print_expr(*expr),
        });
        self.out.push('}');
        if !message.backtrace.is_empty() {
            put!(self, " at {:?}", message.backtrace);
        }
    }

    fn print_atomic(&mut self, atomic: &AtomicStmt) {
        if let Some(old) = atomic.old {
            self.print_target(old);
        }
        put!(self, "atomic {} ", name_of(&AtomicOp::NAMES, atomic.op));
        self.print_element(&atomic.element);
        for operand in atomic.expected.iter().chain([&atomic.value]) {
            self.out.push_str(", ");
            self.print_expr(*operand);
        }
    }

    fn print_kernel(&mut self, kernel: KernelId) {
        let kernel = self.program.kernel(kernel);
        self.out.push_str("launch ");
        if let Some(label) = &kernel.label {
            put!(self, "{label:?} ");
        }
        self.out.push('[');
        self.print_exprs(&kernel.blocks);
        self.out.push_str("] size [");
        self.print_list(&kernel.block_size, |printer, size| {
            printer.out.push_str(match size {
                BlockSize::Dynamic(_) => "dynamic ",
                BlockSize::Constant(_) => "constant ",
            });
            printer.print_expr(size.size_expr());
        });
        self.out.push_str("] uses (");
        self.print_list(&kernel.captures, |printer, used| match used {
            KernelCapture::Scalar(var) | KernelCapture::Memory(var) => printer.print_var(*var),
            KernelCapture::Constant(var, value) => {
                printer.out.push_str("constant ");
                printer.print_binding(*var);
                printer.out.push_str(" = ");
                printer.print_expr(*value);
            }
        });
        self.out.push_str(") ");
        if kernel.failure_tolerant {
            self.out.push_str("tolerant ");
        }
        self.print_block(kernel.body);
    }

    fn print_entry(&mut self, entry: &EntryDecl) {
        put!(self, "\nentry {:?} = ", entry.name);
        self.function_name(entry.function);
        self.out.push_str(" {\n");
        for parameter in &entry.parameters {
            put!(self, "  parameter {:?}: ", parameter.name);
            self.entry_value(&parameter.value);
        }
        for result in &entry.results {
            self.out.push_str("  result ");
            self.entry_value(result);
        }
        self.out.push_str("}\n");
    }

    fn entry_value(&mut self, value: &EntryDeclValue) {
        if value.unique {
            self.out.push_str("unique ");
        }
        match &value.kind {
            EntryKind::Plain(plain) => self.plain_value(plain),
            EntryKind::Opaque(name, parts) => {
                put!(self, "opaque {name:?} {{");
                self.print_list(parts, |printer, part| printer.plain_value(part));
                self.out.push('}');
            }
        }
        self.out.push('\n');
    }

    fn plain_value(&mut self, value: &PlainValue) {
        if value.unsigned {
            self.out.push_str("unsigned ");
        }
        put!(self, "{}", value.element);
        if let Some(shape) = &value.shape {
            self.out.push('[');
            self.print_list(shape, |printer, size| match size {
                ArrayDimension::Var(var) => printer.print_var(*var),
                ArrayDimension::Literal(size) => put!(printer, "{size}i64"),
            });
            self.out.push(']');
        }
        self.out.push(' ');
        self.print_var(value.var);
    }
}
