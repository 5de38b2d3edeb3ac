//! Printer of functions.
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
//! Elements have lines of their own, as have nodes that are used more than once. Index arithmetic is written with
//! operators.

use super::SYNTAX;
use crate::ir::{
    AxisKind, DimExtent, ForeignCall, MessagePiece, NodeData, NodeGraph, OpKind, ProductPrecision,
    ScalarCombiner, ScalarNode, SizeRelation, StructuredOp, TensorBlock, TensorConstant,
    TensorFunction, TensorOp, TensorReduction, TensorValue, YieldDestination,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use std::fmt::Write;

/// Most elements of a constant that are shown.
const ELEMENTS: usize = 16;

/// The text of a function for people, as `--print-after` shows it: elements of large constants are left out, and how
/// the function's caller sees it.
pub fn print_function(function: &TensorFunction) -> String {
    TensorPrinter::new(function, false).print_function()
}

/// The whole text of a function, which [`parse_function`](super::parse_function) reads back.
///
/// Beyond [`print_function`] it has all elements of constants, names of parameters and integers without a sign. Demands
/// on sizes, signatures of foreign calls and origins of assertions are in it, too:
///
/// ```text
/// func @main(%1 "x": i32[%0] unsigned) -> i32[%0] unsigned {
///   demand %0 = 4
///   assert %2 else "negative" from "model.mlir:3"
///   return %1
/// }
/// ```
pub fn write_function(function: &TensorFunction) -> String {
    TensorPrinter::new(function, true).print_function()
}

struct TensorPrinter<'a> {
    function: &'a TensorFunction,
    /// Whether everything is written.
    is_whole: bool,
    text: String,
    depth: usize,
}

/// Items with commas between them.
pub(crate) fn format_list<T>(items: &[T], mut text: impl FnMut(&T) -> String) -> String {
    let texts: Vec<String> = items.iter().map(&mut text).collect();
    texts.join(", ")
}

impl<'a> TensorPrinter<'a> {
    fn new(function: &'a TensorFunction, is_whole: bool) -> Self {
        TensorPrinter {
            function,
            is_whole,
            text: String::new(),
            depth: 1,
        }
    }

    fn print_function(mut self) -> String {
        let function = self.function;
        let results = &function.block(function.body()).results;
        let results = results.iter().enumerate();
        let results = results.map(|(at, value)| {
            let is_unsigned = function.entry.unsigned_results.get(at) == Some(&true);
            format!("{}{}", function.ty(*value), self.format_sign(is_unsigned))
        });
        let results: Vec<String> = results.collect();
        let (name, parameters) = (self.format_name(), self.format_parameters());
        let results = results.join(", ");
        self.text = format!("func @{name}({parameters}) -> {results} {{\n");
        if self.is_whole {
            self.print_demands();
        }
        self.print_block(function.body(), "return");
        self.text.push_str("}\n");
        self.text
    }

    /// The function's name, in quotes where it needs them to be read back.
    fn format_name(&self) -> String {
        let name = &self.function.name;
        if name.is_empty() || self.is_whole && !SYNTAX.is_plain_name(name) {
            format!("{name:?}")
        } else {
            name.clone()
        }
    }

    fn format_parameters(&self) -> String {
        let function = self.function;
        let parameters = &function.block(function.body()).parameters;
        let parameters = parameters.iter().enumerate().map(|(at, value)| {
            let ty = function.ty(*value);
            let name = function.entry.parameters.get(at).filter(|_| self.is_whole);
            let name = name.map_or_else(String::new, |name| format!(" {name:?}"));
            let is_unsigned = function.entry.unsigned_parameters.get(at) == Some(&true);
            format!("{value:?}{name}: {ty}{}", self.format_sign(is_unsigned))
        });
        let parameters: Vec<String> = parameters.collect();
        parameters.join(", ")
    }

    fn format_sign(&self, is_unsigned: bool) -> &'static str {
        if self.is_whole && is_unsigned {
            " unsigned"
        } else {
            ""
        }
    }

    fn print_demands(&mut self) {
        for demand in &self.function.demands {
            let [first, second] = demand.sizes.map(format_extent);
            let relation = match demand.relation {
                SizeRelation::Equal => "=",
                SizeRelation::Repeated => "repeats",
            };
            self.push_line(&format!("demand {first} {relation} {second}"));
        }
    }

    fn push_line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn format_typed(&self, values: &[TensorValue]) -> String {
        format_list(values, |v| format!("{v:?}: {}", self.function.ty(*v)))
    }

    fn print_block(&mut self, block: TensorBlock, end: &str) {
        let data = self.function.block(block);
        for op in &data.ops {
            self.print_op(op);
        }
        self.push_line(&format!(
            "{end} {}",
            format_list(&data.results, |v| format!("{v:?}"))
        ));
    }

    fn print_nested_block(&mut self, block: TensorBlock) {
        self.depth += 1;
        self.print_block(block, "give");
        self.depth -= 1;
    }

    fn print_op(&mut self, op: &TensorOp) {
        let results = self.format_typed(&op.results);
        match &op.kind {
            OpKind::Constant(constant) => {
                let elements = self.format_elements(constant);
                self.push_line(&format!("{results} = constant {elements}"));
            }
            OpKind::Reshape(value) => self.push_line(&format!("{results} = reshape {value:?}")),
            OpKind::Structured(structured) => {
                self.push_line(&format!("{results} = over {} {{", format_axes(structured)));
                self.depth += 1;
                for line in format_body(structured) {
                    self.push_line(&line);
                }
                self.depth -= 1;
                self.push_line("}");
            }
            OpKind::Sort(sort) => {
                let operands = format_list(&sort.operands, |v| format!("{v:?}"));
                let stable = if sort.is_stable { " stable" } else { "" };
                let by = match sort.operands.len() {
                    1 => format_combiner(&sort.comparator),
                    _ => format_combiner_results(&sort.comparator),
                };
                let dimension = sort.dimension;
                let line = format!("{results} = sort{stable} {operands} along {dimension} by {by}");
                self.push_line(&line);
            }
            OpKind::RadixSort(sort) => {
                let words = sort.words;
                let carried = sort.carried.map(|v| format!(" with {v:?}"));
                let carried = carried.unwrap_or_default();
                let line = format!(
                    "{results} = radix_sort {words:?}{carried} bits {}",
                    sort.bits
                );
                self.push_line(&line);
            }
            OpKind::WordSelection(selection) => {
                let (words, count) = (selection.words, selection.count);
                self.push_line(&format!("{results} = select {words:?} least {count}"));
            }
            OpKind::Assert(assertion) => {
                let message = format_list(&assertion.message, |piece| match piece {
                    MessagePiece::Text(text) => format!("{text:?}"),
                    MessagePiece::Value(value) => format!("{value:?}"),
                });
                let origin = Some(&assertion.origin).filter(|o| self.is_whole && !o.is_empty());
                let origin = origin.map_or_else(String::new, |o| format!(" from {o:?}"));
                let condition = assertion.condition;
                self.push_line(&format!("assert {condition:?} else {message}{origin}"));
            }
            OpKind::Foreign(call) => {
                let line = self.format_foreign(call, &results);
                self.push_line(&line);
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.push_line(&format!("{results} = if {condition:?} {{"));
                self.print_nested_block(*then);
                self.push_line("} else {");
                self.print_nested_block(*otherwise);
                self.push_line("}");
            }
            OpKind::While {
                initial,
                condition,
                body,
            } => {
                let initial = format_list(initial, |v| format!("{v:?}"));
                self.push_line(&format!("{results} = while from {initial}"));
                for (block, name) in [(*condition, "condition"), (*body, "body")] {
                    let parameters = self.format_typed(&self.function.block(block).parameters);
                    self.push_line(&format!("{name} ({parameters}) {{"));
                    self.print_nested_block(block);
                    self.push_line("}");
                }
            }
        }
    }

    fn format_foreign(&self, call: &ForeignCall, results: &str) -> String {
        let signature = &call.signature;
        let sign = if results.is_empty() { "" } else { " = " };
        let effect = if signature.has_effect { "effect " } else { "" };
        let target = &signature.target;
        let operands = format_list(&call.operands, |v| format!("{v:?}"));
        let mut line = format!("{results}{sign}foreign {effect}{target:?} ({operands})");
        if self.is_whole {
            let _ = write!(line, " by {:?}", signature.to_text());
        }
        line
    }

    fn format_elements(&self, constant: &TensorConstant) -> String {
        let count = constant.ty.element_count().unwrap_or(0) as usize;
        let most = if self.is_whole { count } else { ELEMENTS };
        let shown: Vec<usize> = (0..count.min(most)).collect();
        let ty = constant.ty.element;
        let mut text = format_list(&shown, |at| {
            ScalarLiteral::new(ty, constant.element_bits(*at)).to_string()
        });
        if count > most {
            let _ = write!(text, ", … {} more", count - most);
        }
        format!("[{text}]")
    }
}

fn format_extent(extent: DimExtent) -> String {
    match extent {
        DimExtent::Static(size) => size.to_string(),
        DimExtent::Value(value) => format!("{value:?}"),
    }
}

/// The axes of a space, and the word `reduced` where products are.
pub(crate) fn format_axes(op: &StructuredOp) -> String {
    let numbered: Vec<usize> = (0..op.axes.len()).collect();
    let text = format_list(&numbered, |at| {
        let axis = op.axes[*at];
        let fold = match axis.kind {
            AxisKind::Parallel => "",
            AxisKind::Reduction => "fold ",
        };
        format!("{fold}d{at} < {}", format_extent(axis.extent))
    });
    let reduced = match op.precision {
        ProductPrecision::Full => "",
        ProductPrecision::Reduced => " reduced",
    };
    if text.is_empty() {
        format!("a point{reduced}")
    } else {
        format!("{text}{reduced}")
    }
}

/// The body of a structured operation, line by line.
pub(crate) fn format_body(op: &StructuredOp) -> Vec<String> {
    let roots = op.collect_roots();
    let mut names = NodeNames::new(&op.body, &roots);
    let mut lines = Vec::new();
    let mut number = 0;
    let mut folds = op.reductions.iter().peekable();
    for node in op.body.node_ids().filter(|n| names.uses[n.index()] > 0) {
        if matches!(op.body.node(node), NodeData::Reduced(0)) {
            print_folds(&mut folds, &names, &mut lines);
        }
        if names.has_line(node) {
            lines.push(format!("n{number} = {}", names.format_node(node)));
            names.names[node.index()] = Some(format!("n{number}"));
            number += 1;
        }
    }
    print_folds(&mut folds, &names, &mut lines);
    for result in &op.yields {
        let value = names.format_node(result.value);
        lines.push(match &result.destination {
            YieldDestination::Point => format!("yield {value}"),
            YieldDestination::Each(indices) => {
                let position = format_list(indices, |n| names.format_node(*n));
                format!("yield {value} at each [{position}]")
            }
            YieldDestination::Prefix { indices, .. } => {
                let position = format_list(indices, |n| names.format_node(*n));
                format!("yield {value} so far at [{position}]")
            }
            YieldDestination::Scatter {
                base,
                indices,
                combiner: by,
                distinct,
            } => {
                let at = format_list(indices, |n| names.format_node(*n));
                let by = by.as_ref().map(format_combiner).unwrap_or_default();
                let space = if by.is_empty() { "" } else { " by " };
                let distinct = if *distinct { " distinct" } else { "" };
                format!("scatter {value} into {base:?}[{at}]{space}{by}{distinct}")
            }
        });
    }
    lines
}

/// Prints the reductions that are not printed yet.
fn print_folds<'a>(
    folds: &mut impl Iterator<Item = &'a TensorReduction>,
    names: &NodeNames<'_>,
    lines: &mut Vec<String>,
) {
    let mut first = 0;
    for fold in folds {
        let numbered: Vec<usize> = (first..first + fold.values.len()).collect();
        first += fold.values.len();
        let results = format_list(&numbered, |at| format!("r{at}"));
        let initial = format_list(&fold.initial, |n| names.format_node(*n));
        let values = format_list(&fold.values, |n| names.format_node(*n));
        let by = format_combiner(&fold.combiner);
        lines.push(format!("{results} = fold {by} from {initial} of {values}"));
    }
}

/// A combiner: an operator, or a function of arguments `a0, a1, …`.
fn format_combiner(combiner: &ScalarCombiner) -> String {
    let Some(op) = combiner.as_operator() else {
        return format_combiner_results(combiner);
    };
    let ty = combiner.body.ty(combiner.results[0]);
    format!("{}.{ty}", op.row().name)
}

/// The results of a combiner. Other combiners than those of one accumulator and one value have no shorter form.
fn format_combiner_results(combiner: &ScalarCombiner) -> String {
    let names = NodeNames::new(&combiner.body, &combiner.results);
    let results = format_list(&combiner.results, |n| names.format_node(*n));
    format!("({results})")
}

/// The text of nodes: names of those that have lines.
pub(crate) struct NodeNames<'a> {
    body: &'a NodeGraph,
    uses: Vec<u32>,
    /// Nesting of a node's text.
    depths: Vec<u32>,
    names: Vec<Option<String>>,
}

/// Deepest nesting within a line.
const DEPTH: u32 = 12;

impl<'a> NodeNames<'a> {
    pub(crate) fn new(body: &'a NodeGraph, roots: &[ScalarNode]) -> Self {
        let needed = body.mark_reachable(roots);
        let mut uses = vec![0; body.len()];
        for root in roots {
            uses[root.index()] += 1;
        }
        for node in body.node_ids().filter(|n| needed[n.index()]) {
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
        for node in body.node_ids().filter(|n| needed[n.index()]) {
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

    /// The text of a node: its name, if it has one.
    pub(crate) fn format_node(&self, node: ScalarNode) -> String {
        if let Some(name) = &self.names[node.index()] {
            return name.clone();
        }
        match self.body.node(node) {
            NodeData::Literal(literal) if literal.ty == ScalarType::I64 => {
                literal.to_signed().to_string()
            }
            NodeData::Literal(literal) => literal.to_string(),
            NodeData::Index(axis) => format!("d{axis}"),
            NodeData::Counter(number) => format!("i{number}"),
            NodeData::Size(value) => format!("size({value:?})"),
            NodeData::Reduced(number) => format!("r{number}"),
            NodeData::Argument(number) => format!("a{number}"),
            NodeData::Element(value, position) => {
                format!(
                    "{value:?}[{}]",
                    format_list(position, |n| self.format_node(*n))
                )
            }
            NodeData::Apply(operator, operands) => {
                match (infix_operator(operator.op), &operands[..]) {
                    (Some((sign, _)), [a, b]) if operator.to == ScalarType::I64 => {
                        let level = node_precedence(self.body, node);
                        format!(
                            "{} {sign} {}",
                            self.format_operand(*a, level),
                            self.format_operand(*b, level + 1)
                        )
                    }
                    _ => format!(
                        "{operator}({})",
                        format_list(operands, |n| self.format_node(*n))
                    ),
                }
            }
        }
    }

    /// The text of an operand, in brackets where its precedence is below `level`.
    fn format_operand(&self, node: ScalarNode, level: u32) -> String {
        let text = self.format_node(node);
        let named = self.names[node.index()].is_some();
        if !named && node_precedence(self.body, node) < level {
            format!("({text})")
        } else {
            text
        }
    }
}

fn is_index(op: ScalarOp, ty: ScalarType) -> bool {
    ty == ScalarType::I64 && infix_operator(op).is_some()
}

/// Sign and precedence of an operator of index arithmetic.
fn infix_operator(op: ScalarOp) -> Option<(&'static str, u32)> {
    match op {
        ScalarOp::Add => Some(("+", 1)),
        ScalarOp::Mul => Some(("*", 2)),
        ScalarOp::SDiv => Some(("div", 2)),
        ScalarOp::SMod => Some(("mod", 2)),
        _ => None,
    }
}

fn node_precedence(body: &NodeGraph, node: ScalarNode) -> u32 {
    match body.as_apply(node) {
        Some((operator, _)) if operator.to == ScalarType::I64 => {
            infix_operator(operator.op).map_or(3, |(_, level)| level)
        }
        _ => 3,
    }
}
