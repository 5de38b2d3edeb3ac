//! Sizes as short formulas: `⌈n/256⌉` for the number of workgroups of a launch.
//!
//! A scalar that is assigned once stands for its value, so that formulas are over the parameters of an entry point. Where
//! the formula would be long, the scalar has its name in the kernel IR.

use super::DrawnFunction;
use crate::ir::{
    ArrayDimension, EntryDecl, EntryKind, ExprData, ExprId, KernelProgram, PlainValue, StmtBlock,
    StmtKind, VarId,
};
use rustc_hash::FxHashMap;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOpSignature, ScalarOperator};
use std::cell::Cell;

/// Most characters of the value of a scalar within a formula.
const MOST_VALUE: usize = 28;
/// Most characters of a formula.
const MOST_FORMULA: usize = 60;
/// Most nodes of a formula, with the values of its scalars.
const MOST_NODES: usize = 100;

/// How tightly parts of a formula hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FormulaLevel {
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Atom,
}

use FormulaLevel::{And, Atom, Comparison, Or, Product, Sum};

/// Operators that stand between their operands.
const INFIX: &[(ScalarOp, &str, FormulaLevel)] = &[
    (ScalarOp::Add, " + ", Sum),
    (ScalarOp::Sub, " − ", Sum),
    (ScalarOp::Mul, "·", Product),
    (ScalarOp::SDiv, "/", Product),
    (ScalarOp::SQuot, "/", Product),
    (ScalarOp::UDiv, "/", Product),
    (ScalarOp::SDivSafe, "/", Product),
    (ScalarOp::SQuotSafe, "/", Product),
    (ScalarOp::UDivSafe, "/", Product),
    (ScalarOp::SMod, " mod ", Product),
    (ScalarOp::UMod, " mod ", Product),
    (ScalarOp::Eq, " = ", Comparison),
    (ScalarOp::SLt, " < ", Comparison),
    (ScalarOp::ULt, " < ", Comparison),
    (ScalarOp::FLt, " < ", Comparison),
    (ScalarOp::SLe, " ≤ ", Comparison),
    (ScalarOp::ULe, " ≤ ", Comparison),
    (ScalarOp::FLe, " ≤ ", Comparison),
    (ScalarOp::LogAnd, " and ", And),
    (ScalarOp::LogOr, " or ", Or),
];

/// Divisions that round up.
const ROUNDED_UP: &[ScalarOp] = &[
    ScalarOp::SDivUp,
    ScalarOp::UDivUp,
    ScalarOp::SDivUpSafe,
    ScalarOp::UDivUpSafe,
];

/// Operators that have another name in formulas.
const RENAMED: &[(ScalarOp, &str)] = &[
    (ScalarOp::SMin, "min"),
    (ScalarOp::UMin, "min"),
    (ScalarOp::SMax, "max"),
    (ScalarOp::UMax, "max"),
];

/// A formula, or a part of one.
struct FormulaText {
    text: String,
    level: FormulaLevel,
}

impl FormulaText {
    fn atom(text: String) -> FormulaText {
        FormulaText { text, level: Atom }
    }

    /// The text as an operand of an operator of this level.
    fn into_operand(self, least: FormulaLevel) -> String {
        if self.level >= least {
            self.text
        } else {
            format!("({})", self.text)
        }
    }
}

/// Formats the sizes of a function.
pub(super) struct SizeFormatter<'p> {
    program: &'p KernelProgram,
    /// Names of parameters of the entry point.
    names: FxHashMap<VarId, &'p str>,
    /// The values of scalars; none for one that is assigned several times.
    values: FxHashMap<VarId, Option<ExprId>>,
}

impl<'p> SizeFormatter<'p> {
    pub(super) fn for_function(
        program: &'p KernelProgram,
        drawn: DrawnFunction<'p>,
    ) -> SizeFormatter<'p> {
        let mut formatter = SizeFormatter {
            program,
            names: FxHashMap::default(),
            values: FxHashMap::default(),
        };
        let (body, entry) = match drawn {
            DrawnFunction::Start(block) => (Some(block), None),
            DrawnFunction::Named(function, entry) => (program.function(function).body, entry),
        };
        if let Some(entry) = entry {
            formatter.add_names(entry);
        }
        if let Some(body) = body {
            formatter.add_values(body);
        }
        formatter
    }

    fn add_names(&mut self, entry: &'p EntryDecl) {
        for parameter in &entry.parameters {
            if let EntryKind::Plain(value) = &parameter.value.kind {
                self.names.insert(value.var, &parameter.name);
            }
        }
    }

    fn add_values(&mut self, body: StmtBlock) {
        let mut open = vec![body];
        while let Some(block) = open.pop() {
            for stmt in self.program.block_stmts(block) {
                if let StmtKind::Assign { to, value } = stmt.kind {
                    let assigned = self.values.entry(to);
                    assigned
                        .and_modify(|value| *value = None)
                        .or_insert(Some(value));
                }
                open.extend(stmt.kind.nested_blocks());
            }
        }
    }

    /// The name of a variable: that of a parameter, or that in the kernel IR.
    pub(super) fn name_var(&self, var: VarId) -> &'p str {
        let named = self.names.get(&var).copied();
        named.unwrap_or_else(|| self.program.var_name(var))
    }

    /// An expression as a formula.
    pub(super) fn format_expr(&self, expr: ExprId) -> String {
        let formula = self.format_nested(expr, &Cell::new(MOST_NODES)).text;
        if formula.chars().count() <= MOST_FORMULA {
            return formula;
        }
        formula
            .chars()
            .take(MOST_FORMULA - 1)
            .chain(['…'])
            .collect()
    }

    /// The type of a parameter or a result: `f32[n, 3]`.
    pub(super) fn format_plain(&self, value: &PlainValue) -> String {
        let element = value.element.name();
        let element = if value.unsigned {
            element.replace('i', "u")
        } else {
            element.to_owned()
        };
        let Some(shape) = &value.shape else {
            return element;
        };
        let shape = shape.iter().map(|size| match size {
            ArrayDimension::Var(var) => self.format_var(*var, &Cell::new(MOST_NODES)).text,
            ArrayDimension::Literal(size) => size.to_string(),
        });
        format!("{element}[{}]", shape.collect::<Vec<_>>().join(", "))
    }

    /// A number of bytes as a formula.
    pub(super) fn format_bytes(&self, bytes: ExprId) -> String {
        match self.format_expr(bytes) {
            one if one == "1" => "1 byte".to_owned(),
            bytes => format!("{bytes} bytes"),
        }
    }

    fn format_nested(&self, expr: ExprId, left: &Cell<usize>) -> FormulaText {
        let Some(rest) = left.get().checked_sub(1) else {
            return FormulaText::atom("…".to_owned());
        };
        left.set(rest);
        match self.program.expr(expr) {
            ExprData::Literal(literal) => FormulaText::atom(format_literal(literal)),
            ExprData::Var(var) => self.format_var(var, left),
            ExprData::Apply(operator, start) => {
                self.format_apply(operator, self.program.operands(operator, start), left)
            }
            ExprData::Parameter(parameter) => {
                let parameter = &self.program.parameters[parameter.index()];
                FormulaText::atom(parameter.name.clone())
            }
            ExprData::Limit(limit) => {
                FormulaText::atom(format!("limit {}", self.program.limits[limit.index()]))
            }
        }
    }

    fn format_var(&self, var: VarId, left: &Cell<usize>) -> FormulaText {
        let name = || FormulaText::atom(self.name_var(var).to_owned());
        if self.names.contains_key(&var) {
            return name();
        }
        let Some(value) = self.values.get(&var).copied().flatten() else {
            return name();
        };
        let value = self.format_nested(value, left);
        if value.text.chars().count() > MOST_VALUE {
            return name();
        }
        value
    }

    fn format_apply(
        &self,
        operator: ScalarOperator,
        operands: &[ExprId],
        left: &Cell<usize>,
    ) -> FormulaText {
        let format = |at: usize| self.format_nested(operands[at], left);
        let infix = INFIX.iter().find(|(op, ..)| *op == operator.op);
        if let Some((op, between, level)) = infix {
            let first = format(0).into_operand(*level);
            // Of operands on the right, sums and products need none of their own kind in brackets.
            let is_associative = matches!(op, ScalarOp::Add | ScalarOp::Mul);
            let least = if is_associative { *level } else { level.next() };
            let second = format(1).into_operand(least);
            return FormulaText {
                text: format!("{first}{between}{second}"),
                level: *level,
            };
        }
        if ROUNDED_UP.contains(&operator.op) {
            let first = format(0).into_operand(Product);
            let second = format(1).into_operand(Atom);
            return FormulaText::atom(format!("⌈{first}/{second}⌉"));
        }
        let row = operator.op.row();
        if matches!(row.shape, ScalarOpSignature::Convert(_)) {
            return format(0);
        }
        let renamed = RENAMED.iter().find(|(op, _)| *op == operator.op);
        let name = renamed.map_or(row.name, |(_, name)| name);
        let operands: Vec<String> = (0..operands.len()).map(|at| format(at).text).collect();
        FormulaText::atom(format!("{name}({})", operands.join(", ")))
    }
}

impl FormulaLevel {
    /// The level that holds tighter.
    fn next(self) -> FormulaLevel {
        match self {
            Or => And,
            And => Comparison,
            Comparison => Sum,
            Sum => Product,
            Product | Atom => Atom,
        }
    }
}

/// A literal without its type.
fn format_literal(literal: ScalarLiteral) -> String {
    let text = literal.to_string();
    let name = literal.ty.name();
    text.strip_suffix(name).unwrap_or(&text).to_owned()
}
