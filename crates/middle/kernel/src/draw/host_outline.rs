//! Rows and boxes of a function of the host: statements that use the device, in loops and branches.

use super::size_text::SizeFormatter;
use super::{DrawnFunction, function_name};
use crate::ir::{
    EntryDecl, EntryDeclValue, EntryKind, ExprId, FuncId, KernelId, KernelProgram, MemoryElement,
    MemorySpace, StmtBlock, StmtKind, VarId, VariableType,
};
use spirula_spirv::draw::{DrawnRow, RowBox, RowLook};

/// A statement, or a box of statements.
#[derive(Debug)]
pub(super) enum OutlineItem<'p> {
    /// A statement, with its row if it has one.
    Single(&'p StmtKind, Option<usize>),
    /// A loop with its number.
    Loop(usize, Vec<OutlineItem<'p>>),
    Branch([Vec<OutlineItem<'p>>; 2]),
}

/// The rows of a function.
#[derive(Debug)]
pub(super) struct HostOutline<'p> {
    pub rows: Vec<DrawnRow>,
    pub boxes: Vec<RowBox>,
    pub items: Vec<OutlineItem<'p>>,
    /// Number of loops.
    pub loops: usize,
    /// Memory that the function takes and returns.
    pub inputs: Vec<VarId>,
    pub outputs: Vec<VarId>,
}

impl<'p> HostOutline<'p> {
    /// The rows of a function; none for one that is no entry point and has no row between its inputs and outputs.
    pub(super) fn from_function(
        program: &'p KernelProgram,
        numbers: &[usize],
        sizes: &SizeFormatter<'p>,
        drawn: DrawnFunction<'p>,
    ) -> Option<HostOutline<'p>> {
        let mut writer = OutlineWriter {
            program,
            numbers,
            sizes,
            rows: Vec::new(),
            boxes: Vec::new(),
            loops: 0,
        };
        let (block, entry) = match drawn {
            DrawnFunction::Start(block) => (block, None),
            DrawnFunction::Named(function, entry) => {
                writer.write_inputs(function, entry);
                (program.function(function).body?, entry)
            }
        };
        let before = writer.rows.len();
        let items = writer.write_block(block);
        if writer.rows.len() == before && entry.is_none() {
            return None;
        }
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        if let DrawnFunction::Named(function, _) = drawn {
            writer.write_outputs(function, entry);
            let data = program.function(function);
            inputs.clone_from(&data.inputs);
            outputs.clone_from(&data.outputs);
        }
        Some(HostOutline {
            rows: writer.rows,
            boxes: writer.boxes,
            items,
            loops: writer.loops,
            inputs,
            outputs,
        })
    }
}

/// The writer of a function's rows.
struct OutlineWriter<'p, 'w> {
    program: &'p KernelProgram,
    /// The numbers of kernels in the compiled program.
    numbers: &'w [usize],
    sizes: &'w SizeFormatter<'p>,
    rows: Vec<DrawnRow>,
    boxes: Vec<RowBox>,
    loops: usize,
}

impl<'p> OutlineWriter<'p, '_> {
    fn push_row(&mut self, title: String, lines: Vec<String>, look: RowLook) -> usize {
        self.rows.push(DrawnRow {
            title,
            notes: Vec::new(),
            lines,
            look,
        });
        self.rows.len() - 1
    }

    fn write_inputs(&mut self, function: FuncId, entry: Option<&EntryDecl>) {
        let lines = match entry {
            Some(entry) => {
                let parameters = entry.parameters.iter();
                let lines = parameters
                    .map(|one| format!("{}: {}", one.name, self.format_value(&one.value)));
                lines.collect()
            }
            None => self.format_vars(&self.program.function(function).inputs),
        };
        self.push_row("inputs".to_owned(), lines, RowLook::Round);
    }

    fn write_outputs(&mut self, function: FuncId, entry: Option<&EntryDecl>) {
        let lines = match entry {
            Some(entry) => {
                let results = entry.results.iter();
                results.map(|result| self.format_value(result)).collect()
            }
            None => self.format_vars(&self.program.function(function).outputs),
        };
        self.push_row("results".to_owned(), lines, RowLook::Round);
    }

    fn format_vars(&self, vars: &[VarId]) -> Vec<String> {
        let lines = vars.iter().map(|var| {
            let ty = match self.program.var(*var).ty {
                VariableType::Scalar(ty) => ty.name(),
                VariableType::Memory(_) => "memory",
                VariableType::Array(_) => "array",
                VariableType::Fragment(_) => "fragment",
            };
            format!("{}: {ty}", self.sizes.name_var(*var))
        });
        lines.collect()
    }

    fn format_value(&self, value: &EntryDeclValue) -> String {
        match &value.kind {
            EntryKind::Plain(value) => self.sizes.format_plain(value),
            EntryKind::Opaque(name, _) => name.clone(),
        }
    }

    fn write_block(&mut self, block: StmtBlock) -> Vec<OutlineItem<'p>> {
        let stmts = self.program.block_stmts(block).iter();
        stmts.map(|stmt| self.write_statement(&stmt.kind)).collect()
    }

    fn write_statement(&mut self, stmt: &'p StmtKind) -> OutlineItem<'p> {
        match stmt {
            StmtKind::For {
                counter,
                bound,
                body,
            } => {
                let counter = self.program.var_name(*counter);
                let title = format!("for {counter} < {}", self.sizes.format_expr(*bound));
                self.write_loop(title, *body)
            }
            StmtKind::While { condition, body } => {
                let title = format!("while {}", self.sizes.format_expr(*condition));
                self.write_loop(title, *body)
            }
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.sizes.format_expr(*condition);
                let then = self.write_box(format!("if {condition}"), false, *then);
                let title = format!("otherwise ({condition})");
                OutlineItem::Branch([then, self.write_box(title, false, *otherwise)])
            }
            _ => {
                let row = self.describe_row(stmt);
                let row = row.map(|(title, lines)| self.push_row(title, lines, RowLook::Plain));
                OutlineItem::Single(stmt, row)
            }
        }
    }

    fn write_loop(&mut self, title: String, body: StmtBlock) -> OutlineItem<'p> {
        let number = self.loops;
        self.loops += 1;
        OutlineItem::Loop(number, self.write_box(title, true, body))
    }

    /// Writes a block with a box around its rows.
    fn write_box(
        &mut self,
        title: String,
        is_loop: bool,
        block: StmtBlock,
    ) -> Vec<OutlineItem<'p>> {
        let first = self.rows.len();
        let items = self.write_block(block);
        if let Some(last) = self.rows.len().checked_sub(1).filter(|last| *last >= first) {
            self.boxes.push(RowBox {
                first,
                last,
                title,
                is_loop,
            });
        }
        items
    }

    /// Title and lines of a statement that uses the device.
    fn describe_row(&self, stmt: &StmtKind) -> Option<(String, Vec<String>)> {
        let device = |element: &MemoryElement| {
            let ty = self.program.var(element.memory).ty;
            ty == VariableType::Memory(MemorySpace::Device)
        };
        let described = match stmt {
            StmtKind::Launch(kernel) => self.describe_launch(*kernel),
            StmtKind::Copy(copy) => {
                let shape = self.format_exprs(&copy.shape);
                ("copy".to_owned(), vec![format!("{}[{shape}]", copy.ty)])
            }
            StmtKind::Foreign(call) => (format!("call {}", call.signature.target), Vec::new()),
            StmtKind::Call(call) => {
                let name = function_name(self.program, call.function);
                (format!("function {name}"), Vec::new())
            }
            StmtKind::Read { from, .. } if device(from) => {
                ("read one element".to_owned(), vec![from.ty.to_string()])
            }
            StmtKind::Write { to, .. } if device(to) => {
                ("write one element".to_owned(), vec![to.ty.to_string()])
            }
            _ => return None,
        };
        Some(described)
    }

    fn describe_launch(&self, kernel: KernelId) -> (String, Vec<String>) {
        let data = self.program.kernel(kernel);
        let size: Vec<ExprId> = data
            .block_size
            .iter()
            .map(|size| size.size_expr())
            .collect();
        let mut lines = Vec::from_iter(data.label.clone());
        lines.push(format!("groups {}", self.format_exprs(&data.blocks)));
        lines.push(format!("size {}", self.format_exprs(&size)));
        (format!("kernel {}", self.numbers[kernel.index()]), lines)
    }

    fn format_exprs(&self, exprs: &[ExprId]) -> String {
        let formulas = exprs.iter().map(|expr| self.sizes.format_expr(*expr));
        formulas.collect::<Vec<_>>().join(" × ")
    }
}
