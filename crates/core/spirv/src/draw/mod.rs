//! Control-flow drawings, in the DOT language of Graphviz and as SVG.
//!
//! In a graph for Graphviz, each function is a cluster with a node for each block. Branches are solid edges. Dashed
//! edges lead from headers to merge blocks and continue targets. Headers of loops have two borders, and unreachable
//! blocks are dotted. Dominator and post-dominator trees are clusters of their own. Cost: linear in the module.

mod row_boxes;
mod rows;
mod svg;

pub use row_boxes::RowBox;
pub use svg::{DrawnRow, RowDrawing, RowEdge, RowLook, draw_rows};

use crate::Id;
use crate::analysis::{BlockDominators, FlowGraph, IdDefinitions, IdNames, PostDominators};
use crate::grammar::Op;
use crate::ir::{Block, Func, IdWords, ModuleSection, SpirvModule, switch_cases};
use crate::text::{self, PrintOptions};
use rows::BlockRows;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::fmt::Write;

/// Options of the drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphvizOptions {
    /// Draw the dominator tree of each function.
    pub dominators: bool,
    /// Draw the post-dominator tree of each function.
    pub post_dominators: bool,
    /// Show the instructions of each block, not its label alone.
    pub instructions: bool,
    /// Draw this function only: its name, that of its entry point, or its id as in `%12`.
    pub only: Option<String>,
}

impl GraphvizOptions {
    /// Draws the functions of a module that have a body.
    ///
    /// ```
    /// use spirula_spirv::draw::GraphvizOptions;
    /// use spirula_spirv::ir::SpirvModule;
    /// use spirula_spirv::text::{ParseOptions, parse_assembly};
    ///
    /// let source = "%1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpFunction %1 None %2\n\
    ///     %4 = OpLabel\nOpBranch %5\n%5 = OpLabel\nOpReturn\nOpFunctionEnd";
    /// let words = parse_assembly(source, &ParseOptions::default()).unwrap();
    /// let drawn = GraphvizOptions::default().draw_module(&SpirvModule::from_words(words).unwrap()).unwrap();
    /// assert!(drawn.contains("f0b0 -> f0b1;"), "{drawn}");
    /// ```
    ///
    /// # Errors
    /// When there is no such function, or a branch leads to no block of its function.
    pub fn draw_module(&self, module: &SpirvModule) -> Result<String, SourceDiagnostic> {
        let mut drawer = GraphvizWriter::new(module, self)?;
        drawer.write_line("digraph module {");
        drawer.write_line("  node [shape=box, fontname=monospace];");
        for (number, func) in self.choose_functions(&drawer)? {
            drawer.draw_function(self, number, func)?;
        }
        drawer.write_line("}");
        Ok(drawer.out)
    }

    /// Draws the functions of a module that have a body as SVG. Blocks stand in the order of structured control flow,
    /// with boxes around loops and selections. Where dominators are requested, each block names its immediate one.
    ///
    /// # Errors
    /// Those of [`GraphvizOptions::draw_module`].
    pub fn draw_module_as_svg(&self, module: &SpirvModule) -> Result<String, SourceDiagnostic> {
        let drawer = GraphvizWriter::new(module, self)?;
        let mut functions = Vec::new();
        for (_, func) in self.choose_functions(&drawer)? {
            functions.push(drawer.describe_function(self, func)?);
        }
        Ok(draw_rows(&functions))
    }

    /// The functions that are drawn, with their numbers in the module.
    fn choose_functions(
        &self,
        drawer: &GraphvizWriter<'_>,
    ) -> Result<Vec<(usize, Func)>, SourceDiagnostic> {
        let module = drawer.module;
        let is_drawn = |func: Func| {
            let only = self.only.as_ref();
            !module.function(func).blocks.is_empty()
                && only.is_none_or(|only| drawer.is_called(func, only))
        };
        let functions = module.functions().iter().copied().enumerate();
        let chosen: Vec<_> = functions.filter(|(_, func)| is_drawn(*func)).collect();
        match &self.only {
            Some(only) if chosen.is_empty() => {
                let message = format!("the module has no function {only} with a body");
                Err(SourceDiagnostic::error(SourceLocation::Unknown, message))
            }
            _ => Ok(chosen),
        }
    }
}

/// The text of each instruction from the first function on, by handle.
fn disassemble_lines(module: &SpirvModule) -> Result<Vec<Option<String>>, SourceDiagnostic> {
    let options = PrintOptions {
        header: false,
        indent: false,
        friendly_names: false,
        ..PrintOptions::default()
    };
    let lines = text::print_instructions(&module.to_words(), &options)?;
    let insts: Vec<_> = module
        .functions()
        .iter()
        .flat_map(|f| module.function_insts(*f))
        .collect();
    let after = module.section_insts(ModuleSection::Trailer).count();
    let mut by_inst = vec![None; module.inst_count()];
    for (inst, line) in insts.iter().rev().zip(lines.into_iter().rev().skip(after)) {
        by_inst[inst.handle().index()] = Some(line);
    }
    Ok(by_inst)
}

struct GraphvizWriter<'a> {
    module: &'a SpirvModule,
    definitions: IdDefinitions,
    names: IdNames,
    ids: IdWords,
    lines: Vec<Option<String>>,
    out: String,
}

impl<'a> GraphvizWriter<'a> {
    fn new(module: &'a SpirvModule, what: &GraphvizOptions) -> Result<Self, SourceDiagnostic> {
        let lines = if what.instructions {
            disassemble_lines(module)?
        } else {
            Vec::new()
        };
        Ok(GraphvizWriter {
            module,
            definitions: IdDefinitions::from_module(module),
            names: IdNames::from_module(module),
            ids: IdWords::new(module),
            lines,
            out: String::new(),
        })
    }

    /// A function with its blocks and branches, for a drawing as SVG.
    fn describe_function(
        &self,
        what: &GraphvizOptions,
        func: Func,
    ) -> Result<RowDrawing, SourceDiagnostic> {
        let cfg = FlowGraph::from_function(self.module, &self.definitions, func)?;
        let dominators = BlockDominators::from_cfg(&cfg);
        let post_dominators = what.post_dominators.then(|| PostDominators::from_cfg(&cfg));
        let label = |at: u32| self.module.label(cfg.block(at));
        let rows = BlockRows::from_function(self.module, &cfg, &dominators);
        let blocks = rows.blocks.iter().map(|at| {
            let block = cfg.block(*at);
            let texts = self.module.body(block).filter(|_| !self.lines.is_empty());
            let texts = texts.map(|inst| self.lines[inst.handle().index()].clone());
            let mut notes: Vec<String> = self.find_source(block).into_iter().collect();
            let above = dominators.immediate_dominator(*at);
            if let Some(above) = above.filter(|_| what.dominators) {
                notes.push(format!("dominated by {}", label(above)));
            }
            let after = post_dominators.as_ref();
            if let Some(after) = after.and_then(|tree| tree.immediate_post_dominator(*at)) {
                notes.push(format!("post-dominated by {}", label(after)));
            }
            DrawnRow {
                title: self.format_title(self.module.label(block)),
                notes,
                lines: texts.map(Option::unwrap_or_default).collect(),
                look: if dominators.is_reachable(*at) {
                    RowLook::Plain
                } else {
                    RowLook::Dotted
                },
            }
        });
        let blocks = blocks.collect();
        let mut edges: Vec<RowEdge> = Vec::new();
        for at in &rows.blocks {
            let first = edges.len();
            for (target, label) in self.list_branches(cfg.block(*at)) {
                let Some(to) = cfg.block_position(target) else {
                    continue;
                };
                let (from, to) = (rows.row_of(*at), rows.row_of(to));
                match edges[first..].iter_mut().find(|edge| edge.to == to) {
                    Some(edge) => edge.label += &format!(", {label}"),
                    None => edges.push(RowEdge { from, to, label }),
                }
            }
        }
        Ok(RowDrawing {
            title: self.format_title(self.module.function_id(func)),
            rows: blocks,
            boxes: rows.boxes,
            edges,
        })
    }

    /// The source lines of a block, by its `OpLine`.
    fn find_source(&self, block: Block) -> Option<String> {
        let lines = self.module.body(block).filter(|inst| inst.op() == Op::Line);
        let (mut file, mut range) = (None, None);
        for inst in lines {
            let (of, line) = (inst.id_operand(0), inst.operand_word(1));
            if file.is_some_and(|file| file != of) {
                continue;
            }
            file = Some(of);
            let (first, last) = range.unwrap_or((line, line));
            range = Some((first.min(line), last.max(line)));
        }
        let (first, last) = range?;
        let name = self.definitions.get(self.module, file?);
        let name = name.filter(|inst| inst.op() == Op::String);
        let name = name.map_or(String::new(), |inst| inst.string_operand(0));
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        if first == last {
            Some(format!("{name}:{first}"))
        } else {
            Some(format!("{name}:{first}-{last}"))
        }
    }

    fn write_line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// An id with its name.
    fn format_title(&self, id: Id) -> String {
        match self.names.get(self.module, id) {
            Some(name) => format!("{id} {name}"),
            None => id.to_string(),
        }
    }

    fn is_called(&self, func: Func, name: &str) -> bool {
        let id = self.module.function_id(func);
        let points = self.module.section_insts(ModuleSection::EntryPoints);
        let mut points = points.filter(|p| p.op() == Op::EntryPoint && p.id_operand(1) == id);
        id.to_string() == name
            || self.names.get(self.module, id).as_deref() == Some(name)
            || points.any(|p| p.string_operand(2) == name)
    }

    fn draw_function(
        &mut self,
        what: &GraphvizOptions,
        number: usize,
        func: Func,
    ) -> Result<(), SourceDiagnostic> {
        let cfg = FlowGraph::from_function(self.module, &self.definitions, func)?;
        let dominators = BlockDominators::from_cfg(&cfg);
        let title = self.format_title(self.module.function_id(func));
        self.begin_cluster(&format!("f{number}"), &title);
        for at in 0..cfg.len() as u32 {
            self.draw_node(number, at, cfg.block(at), dominators.is_reachable(at));
        }
        for at in 0..cfg.len() as u32 {
            self.draw_edges(number, at, &cfg);
        }
        self.write_line("  }");
        if what.dominators {
            let parent = |at| dominators.immediate_dominator(at);
            self.draw_tree(number, 'd', &format!("dominators of {title}"), &cfg, parent);
        }
        if what.post_dominators {
            let post = PostDominators::from_cfg(&cfg);
            let parent = |at| post.immediate_post_dominator(at);
            self.draw_tree(
                number,
                'p',
                &format!("post-dominators of {title}"),
                &cfg,
                parent,
            );
        }
        Ok(())
    }

    fn begin_cluster(&mut self, name: &str, title: &str) {
        self.write_line(&format!("  subgraph cluster_{name} {{"));
        self.write_line(&format!("    label=\"{}\";", escape_quoted(title)));
    }

    fn draw_node(&mut self, func: usize, at: u32, block: Block, is_reachable: bool) {
        let mut label = escape_quoted(&self.format_title(self.module.label(block)));
        if !self.lines.is_empty() {
            label.push_str("\\l");
            for inst in self.module.body(block) {
                let text = self.lines[inst.handle().index()].as_deref();
                label.push_str(&escape_quoted(text.unwrap_or("")));
                label.push_str("\\l");
            }
        }
        let is_loop = self
            .module
            .merge_inst(block)
            .is_some_and(|m| m.op() == Op::LoopMerge);
        let border = if is_loop { ", peripheries=2" } else { "" };
        let style = if is_reachable { "" } else { ", style=dotted" };
        self.write_line(&format!(
            "    f{func}b{at} [label=\"{label}\"{border}{style}];"
        ));
    }

    /// The targets of a block's branch, with the conditions or values.
    fn list_branches(&self, block: Block) -> Vec<(Id, String)> {
        let end = self.module.terminator(block);
        match end.op() {
            Op::Branch => vec![(end.id_operand(0), String::new())],
            Op::BranchConditional => {
                vec![
                    (end.id_operand(1), "true".to_owned()),
                    (end.id_operand(2), "false".to_owned()),
                ]
            }
            Op::Switch => {
                let words = self.ids.switch_literal_words(end);
                let cases = switch_cases(end, words).map(|(value, id)| (id, value.to_string()));
                let default = (end.id_operand(1), "default".to_owned());
                std::iter::once(default).chain(cases).collect()
            }
            _ => Vec::new(),
        }
    }

    fn draw_edges(&mut self, func: usize, at: u32, cfg: &FlowGraph) {
        let block = cfg.block(at);
        for (target, label) in self.list_branches(block) {
            let Some(to) = cfg.block_position(target) else {
                continue;
            };
            let label = if label.is_empty() {
                String::new()
            } else {
                format!(" [label=\"{label}\"]")
            };
            self.write_line(&format!("    f{func}b{at} -> f{func}b{to}{label};"));
        }
        let Some(merge) = self.module.merge_inst(block) else {
            return;
        };
        let named = merge.id_operands(0).zip(["merge", "continue"]);
        let count = if merge.op() == Op::LoopMerge { 2 } else { 1 };
        for (target, label) in named.take(count) {
            if let Some(to) = cfg.block_position(target) {
                self.write_line(&format!(
                    "    f{func}b{at} -> f{func}b{to} [label=\"{label}\", style=dashed, constraint=false];"
                ));
            }
        }
    }

    /// Draws a tree of the function's blocks, without blocks outside of the tree.
    fn draw_tree(
        &mut self,
        func: usize,
        kind: char,
        title: &str,
        cfg: &FlowGraph,
        parent: impl Fn(u32) -> Option<u32>,
    ) {
        self.begin_cluster(&format!("f{func}{kind}"), title);
        for at in 0..cfg.len() as u32 {
            let label = escape_quoted(&self.format_title(self.module.label(cfg.block(at))));
            self.write_line(&format!("    f{func}{kind}{at} [label=\"{label}\"];"));
        }
        for at in 0..cfg.len() as u32 {
            if let Some(above) = parent(at) {
                self.write_line(&format!("    f{func}{kind}{above} -> f{func}{kind}{at};"));
            }
        }
        self.write_line("  }");
    }
}

/// Escapes text within quotes.
fn escape_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\\\u{:x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
