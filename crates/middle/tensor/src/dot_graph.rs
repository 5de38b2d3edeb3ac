//! Graphs of dispatches in Graphviz's language: launches, and the tensors between them.

use crate::ir::{OpKind, TensorBlock, TensorFunction, TensorOp, TensorValue};
use crate::lower::measure_memory_use;
use crate::schedule::TensorDispatch;
use crate::text::format_axes;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The graph of a function with its dispatches. Structured operations without one are scalars of the host, or empty.
pub fn draw_function(function: &TensorFunction, dispatches: &[TensorDispatch]) -> String {
    let keyed = dispatches.iter().map(|d| (d.results[0], d));
    let mut drawing = DispatchDotWriter {
        function,
        dispatches: keyed.collect(),
        makers: vec![None; function.value_count()],
        nodes: 0,
        text: format!("digraph {:?} {{\n", function.name),
        depth: 1,
    };
    let memory = measure_memory_use(function);
    let label = format!(
        "{} dispatches, tensors of {} bytes, at most {} at once",
        dispatches.len(),
        memory.made,
        memory.peak
    );
    drawing.push_line(&format!("graph [label=\"{label}\" fontname=monospace]"));
    drawing.push_line("node [shape=box fontname=monospace]");
    drawing.push_line("edge [fontname=monospace]");
    let body = function.block(function.body());
    for (name, value) in function.entry.parameters.iter().zip(&body.parameters) {
        drawing.add_node(std::slice::from_ref(name), "ellipse", &[*value]);
    }
    drawing.draw_block(function.body());
    for (at, value) in body.results.iter().enumerate() {
        let node = drawing.add_node(&[format!("result {at}")], "ellipse", &[]);
        drawing.add_edge(*value, node);
    }
    drawing.text.push_str("}\n");
    drawing.text
}

struct DispatchDotWriter<'a> {
    function: &'a TensorFunction,
    dispatches: FxHashMap<TensorValue, &'a TensorDispatch>,
    /// The node that defines each value.
    makers: Vec<Option<usize>>,
    nodes: usize,
    text: String,
    depth: usize,
}

impl DispatchDotWriter<'_> {
    fn push_line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(line);
        self.text.push_str(";\n");
    }

    /// Adds a node with lines of text that defines values.
    fn add_node(&mut self, lines: &[String], shape: &str, makes: &[TensorValue]) -> usize {
        let number = self.nodes;
        self.nodes += 1;
        for value in makes {
            self.makers[value.index()] = Some(number);
        }
        let label = lines.join("\\n").replace('"', "'");
        self.push_line(&format!("n{number} [shape={shape} label=\"{label}\"]"));
        number
    }

    /// Adds an edge from the node that defines a value.
    fn add_edge(&mut self, value: TensorValue, to: usize) {
        if let Some(from) = self.makers[value.index()] {
            let ty = self.function.ty(value);
            self.push_line(&format!("n{from} -> n{to} [label=\"{ty}\"]"));
        }
    }

    fn draw_block(&mut self, block: TensorBlock) {
        let function = self.function;
        for op in &function.block(block).ops {
            self.draw_op(op);
        }
    }

    fn draw_op(&mut self, op: &TensorOp) {
        let node = match &op.kind {
            OpKind::Reshape(source) => {
                self.makers[op.results[0].index()] = self.makers[source.index()];
                return;
            }
            OpKind::Constant(constant) => {
                let text = format!("constant {}", constant.ty);
                self.add_node(&[text], "note", &op.results);
                return;
            }
            OpKind::Structured(structured) => match self.dispatches.get(&op.results[0]) {
                Some(dispatch) => {
                    let lines = [
                        dispatch.name.clone(),
                        format!("over {}", format_axes(structured)),
                        dispatch.format_attributes(),
                    ];
                    self.add_node(&lines, "box", &op.results)
                }
                None => self.add_node(&["host".to_owned()], "plaintext", &op.results),
            },
            OpKind::Sort(_) => self.add_node(&["sort".to_owned()], "box", &op.results),
            OpKind::RadixSort(_) => self.add_node(&["radix sort".to_owned()], "box", &op.results),
            OpKind::WordSelection(_) => {
                self.add_node(&["selection".to_owned()], "box", &op.results)
            }
            OpKind::Assert(_) => self.add_node(&["assert".to_owned()], "octagon", &[]),
            OpKind::Foreign(call) => {
                let name = call.signature.target.clone();
                self.add_node(&[name], "cds", &op.results)
            }
            OpKind::If { .. } => self.add_node(&["if".to_owned()], "diamond", &op.results),
            OpKind::While { .. } => self.add_node(&["while".to_owned()], "diamond", &op.results),
        };
        for operand in op.kind.collect_operands() {
            self.add_edge(operand, node);
        }
        for block in op.kind.blocks() {
            self.draw_nested_block(block, node);
        }
    }

    /// Draws a block of an operation, in a frame of its own. Its parameters come from the operation, and its results go
    /// there.
    fn draw_nested_block(&mut self, block: TensorBlock, node: usize) {
        let function = self.function;
        for parameter in &function.block(block).parameters {
            self.makers[parameter.index()] = Some(node);
        }
        let opened = format!("subgraph cluster_{} {{\n", block.index());
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(&opened);
        self.depth += 1;
        self.draw_block(block);
        self.depth -= 1;
        let _ = writeln!(self.text, "{}}}", "  ".repeat(self.depth));
        for result in &function.block(block).results {
            if self.makers[result.index()] != Some(node) {
                self.add_edge(*result, node);
            }
        }
    }
}
