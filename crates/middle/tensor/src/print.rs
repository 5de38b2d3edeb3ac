//! The text of functions, as `--print-after` shows it.
//!
//! ```text
//! func @main(%0: f32[32,24], %1: f32[24,16]) -> f32[32,16] {
//!   %2: f32[32,16] = over d0 < 32, d1 < 16, fold d2 < 24 {
//!     n0 = %0[d0, d2]
//!     n1 = %1[d2, d1]
//!     r0 = fold fadd.f32 from 0.0f32 of fmul.f32(n0, n1)
//!     yield r0
//!   }
//!   return %2
//! }
//! ```
//!
//! Elements and what is used more than once have lines of their own; index arithmetic is written
//! with operators.

use crate::ir::{
    AxisKind, DimExtent, MessagePiece, NodeData, NodeGraph, OpKind, ScalarCombiner, ScalarNode,
    StructuredOp, TensorBlock, TensorConstant, TensorFunction, TensorOp, TensorValue,
    YieldDestination,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use std::fmt::Write;

/// Most elements of a constant that are written.
const ELEMENTS: usize = 16;

/// The text of a function.
pub fn print(function: &TensorFunction) -> String {
    let mut printer = TensorPrinter {
        function,
        text: String::new(),
        depth: 1,
    };
    let body = function.block(function.body());
    let parameters = printer.typed(&body.parameters);
    let results = types(function, &body.results);
    let name = &function.name;
    printer.text = format!("func @{name}({parameters}) -> {results} {{\n");
    printer.block(function.body(), "return");
    printer.text.push_str("}\n");
    printer.text
}

struct TensorPrinter<'a> {
    function: &'a TensorFunction,
    text: String,
    depth: usize,
}

fn types(function: &TensorFunction, values: &[TensorValue]) -> String {
    list(values, |v| function.ty(*v).to_string())
}

/// Things with commas between them.
pub(crate) fn list<T>(items: &[T], mut text: impl FnMut(&T) -> String) -> String {
    let texts: Vec<String> = items.iter().map(&mut text).collect();
    texts.join(", ")
}

impl TensorPrinter<'_> {
    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn typed(&self, values: &[TensorValue]) -> String {
        list(values, |v| format!("{v:?}: {}", self.function.ty(*v)))
    }

    fn block(&mut self, block: TensorBlock, end: &str) {
        let data = self.function.block(block);
        for op in &data.ops {
            self.op(op);
        }
        self.line(&format!(
            "{end} {}",
            list(&data.results, |v| format!("{v:?}"))
        ));
    }

    fn nested(&mut self, block: TensorBlock) {
        self.depth += 1;
        self.block(block, "give");
        self.depth -= 1;
    }

    fn op(&mut self, op: &TensorOp) {
        let results = self.typed(&op.results);
        match &op.kind {
            OpKind::Constant(constant) => {
                self.line(&format!("{results} = constant {}", elements(constant)));
            }
            OpKind::Reshape(value) => self.line(&format!("{results} = reshape {value:?}")),
            OpKind::Structured(structured) => {
                self.line(&format!("{results} = over {} {{", axes(structured)));
                self.depth += 1;
                for line in lines(structured) {
                    self.line(&line);
                }
                self.depth -= 1;
                self.line("}");
            }
            OpKind::Sort(sort) => {
                let operands = list(&sort.operands, |v| format!("{v:?}"));
                let stable = if sort.is_stable { " stable" } else { "" };
                let by = combiner(&sort.comparator);
                let dimension = sort.dimension;
                let line = format!("{results} = sort{stable} {operands} along {dimension} by {by}");
                self.line(&line);
            }
            OpKind::Assert(assertion) => {
                let message = list(&assertion.message, |piece| match piece {
                    MessagePiece::Text(text) => format!("{text:?}"),
                    MessagePiece::Value(value) => format!("{value:?}"),
                });
                self.line(&format!("assert {:?} else {message}", assertion.condition));
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.line(&format!("{results} = if {condition:?} {{"));
                self.nested(*then);
                self.line("} else {");
                self.nested(*otherwise);
                self.line("}");
            }
            OpKind::While {
                initial,
                condition,
                body,
            } => {
                let initial = list(initial, |v| format!("{v:?}"));
                self.line(&format!("{results} = while from {initial}"));
                for (block, name) in [(*condition, "condition"), (*body, "body")] {
                    let parameters = self.typed(&self.function.block(block).parameters);
                    self.line(&format!("{name} ({parameters}) {{"));
                    self.nested(block);
                    self.line("}");
                }
            }
        }
    }
}

fn elements(constant: &TensorConstant) -> String {
    let count = constant.ty.elements().unwrap_or(0) as usize;
    let shown: Vec<usize> = (0..count.min(ELEMENTS)).collect();
    let ty = constant.ty.element;
    let mut text = list(&shown, |at| {
        ScalarLiteral::new(ty, constant.bits(*at)).to_string()
    });
    if count > ELEMENTS {
        let _ = write!(text, ", … {} more", count - ELEMENTS);
    }
    format!("[{text}]")
}

/// The axes of a space.
pub(crate) fn axes(op: &StructuredOp) -> String {
    let numbered: Vec<usize> = (0..op.axes.len()).collect();
    let text = list(&numbered, |at| {
        let axis = op.axes[*at];
        let fold = match axis.kind {
            AxisKind::Parallel => "",
            AxisKind::Reduction => "fold ",
        };
        match axis.extent {
            DimExtent::Static(size) => format!("{fold}d{at} < {size}"),
            DimExtent::Value(value) => format!("{fold}d{at} < {value:?}"),
        }
    });
    if text.is_empty() {
        "a point".to_owned()
    } else {
        text
    }
}

/// The body of a structured operation, line by line.
pub(crate) fn lines(op: &StructuredOp) -> Vec<String> {
    let roots = op.roots();
    let mut names = NodeNames::new(&op.body, &roots);
    let mut lines = Vec::new();
    let mut number = 0;
    let mut folds = op.reductions.iter().peekable();
    for node in op.body.ids().filter(|n| names.uses[n.index()] > 0) {
        if matches!(op.body.node(node), NodeData::Reduced(0)) {
            fold_lines(&mut folds, &names, &mut lines);
        }
        if names.has_line(node) {
            lines.push(format!("n{number} = {}", names.expression(node)));
            names.names[node.index()] = Some(format!("n{number}"));
            number += 1;
        }
    }
    fold_lines(&mut folds, &names, &mut lines);
    for result in &op.yields {
        let value = names.expression(result.value);
        lines.push(match &result.destination {
            YieldDestination::Point => format!("yield {value}"),
            YieldDestination::Each(indices) => {
                let position = list(indices, |n| names.expression(*n));
                format!("yield {value} at each [{position}]")
            }
            YieldDestination::Prefix { indices, .. } => {
                let position = list(indices, |n| names.expression(*n));
                format!("yield {value} so far at [{position}]")
            }
            YieldDestination::Scatter {
                base,
                indices,
                combiner: by,
                distinct,
            } => {
                let at = list(indices, |n| names.expression(*n));
                let by = by.as_ref().map(combiner).unwrap_or_default();
                let space = if by.is_empty() { "" } else { " by " };
                let distinct = if *distinct { " distinct" } else { "" };
                format!("scatter {value} into {base:?}[{at}]{space}{by}{distinct}")
            }
        });
    }
    lines
}

/// Folds that are still to be written.
fn fold_lines<'a>(
    folds: &mut impl Iterator<Item = &'a crate::ir::TensorReduction>,
    names: &NodeNames<'_>,
    lines: &mut Vec<String>,
) {
    let mut first = 0;
    for fold in folds {
        let numbered: Vec<usize> = (first..first + fold.values.len()).collect();
        first += fold.values.len();
        let results = list(&numbered, |at| format!("r{at}"));
        let initial = list(&fold.initial, |n| names.expression(*n));
        let values = list(&fold.values, |n| names.expression(*n));
        let by = combiner(&fold.combiner);
        lines.push(format!("{results} = fold {by} from {initial} of {values}"));
    }
}

/// A combiner: an operator, or a function of arguments `a0, a1, …`.
fn combiner(combiner: &ScalarCombiner) -> String {
    let Some(op) = combiner.operator() else {
        let names = NodeNames::new(&combiner.body, &combiner.results);
        return format!("({})", list(&combiner.results, |n| names.expression(*n)));
    };
    let ty = combiner.body.ty(combiner.results[0]);
    format!("{}.{ty}", op.row().name)
}

/// How nodes are written.
pub(crate) struct NodeNames<'a> {
    body: &'a NodeGraph,
    uses: Vec<u32>,
    /// How deep what is written in place of a node nests.
    depths: Vec<u32>,
    names: Vec<Option<String>>,
}

/// Deepest nesting within a line.
const DEPTH: u32 = 12;

impl<'a> NodeNames<'a> {
    pub(crate) fn new(body: &'a NodeGraph, roots: &[ScalarNode]) -> Self {
        let needed = body.reachable(roots);
        let mut uses = vec![0; body.len()];
        for root in roots {
            uses[root.index()] += 1;
        }
        for node in body.ids().filter(|n| needed[n.index()]) {
            for operand in body.operands(node) {
                uses[operand.index()] += 1;
            }
        }
        let mut names = NodeNames {
            body,
            uses,
            depths: vec![0; body.len()],
            names: vec![None; body.len()],
        };
        for node in body.ids().filter(|n| needed[n.index()]) {
            let operands = body.operands(node).iter();
            let within = operands.filter(|n| !names.has_line(**n));
            let deepest = within.map(|n| names.depths[n.index()]).max();
            names.depths[node.index()] = deepest.map_or(0, |depth| depth + 1);
        }
        names
    }

    fn has_line(&self, node: ScalarNode) -> bool {
        match self.body.node(node) {
            NodeData::Element(..) => true,
            NodeData::Apply(operator, _) => {
                let is_shared = self.uses[node.index()] > 1 && !is_index(operator.op, operator.to);
                is_shared || self.depths[node.index()] >= DEPTH
            }
            _ => false,
        }
    }

    /// A node, as its name or as what it is.
    pub(crate) fn expression(&self, node: ScalarNode) -> String {
        if let Some(name) = &self.names[node.index()] {
            return name.clone();
        }
        match self.body.node(node) {
            NodeData::Literal(literal) if literal.ty == ScalarType::I64 => {
                literal.signed().to_string()
            }
            NodeData::Literal(literal) => literal.to_string(),
            NodeData::Index(axis) => format!("d{axis}"),
            NodeData::Counter(number) => format!("i{number}"),
            NodeData::Size(value) => format!("size({value:?})"),
            NodeData::Reduced(number) => format!("r{number}"),
            NodeData::Argument(number) => format!("a{number}"),
            NodeData::Element(value, position) => {
                format!("{value:?}[{}]", list(position, |n| self.expression(*n)))
            }
            NodeData::Apply(operator, operands) => match (infix(operator.op), &operands[..]) {
                (Some((sign, _)), [a, b]) if operator.to == ScalarType::I64 => {
                    let level = precedence(self.body, node);
                    format!(
                        "{} {sign} {}",
                        self.within(*a, level),
                        self.within(*b, level + 1)
                    )
                }
                _ => format!("{operator}({})", list(operands, |n| self.expression(*n))),
            },
        }
    }

    /// An operand, in brackets where it binds less.
    fn within(&self, node: ScalarNode, level: u32) -> String {
        let text = self.expression(node);
        let named = self.names[node.index()].is_some();
        match !named && precedence(self.body, node) < level {
            true => format!("({text})"),
            false => text,
        }
    }
}

fn is_index(op: ScalarOp, ty: ScalarType) -> bool {
    ty == ScalarType::I64 && infix(op).is_some()
}

/// Sign and precedence of index arithmetic.
fn infix(op: ScalarOp) -> Option<(&'static str, u32)> {
    match op {
        ScalarOp::Add => Some(("+", 1)),
        ScalarOp::Mul => Some(("*", 2)),
        ScalarOp::SDiv => Some(("div", 2)),
        ScalarOp::SMod => Some(("mod", 2)),
        _ => None,
    }
}

fn precedence(body: &NodeGraph, node: ScalarNode) -> u32 {
    match body.applied(node) {
        Some((operator, _)) if operator.to == ScalarType::I64 => {
            infix(operator.op).map_or(3, |(_, level)| level)
        }
        _ => 3,
    }
}
