//! Structured control flow of a reducible graph, by its dominator tree.
//!
//! Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow" (ICFP 2022). A
//! block that joins ways follows a WebAssembly `block` that its dominator opens; a block that edges lead back to is in a
//! `loop`; any other block stands where the one edge to it is. Work is on a stack of its own, as graphs can be deep.

use super::FunctionEmitter;
use crate::step::CodeStep;
use crate::wasm::block_graph::{BlockExit, BlockNumber, FlowEdge};
use crate::wasm::module_writer::{FAULT_STEPS, GLOBAL_STEPS, HELPER_FAULT};
use crate::wasm::value_class::ValueClass;
use spirula_diagnostics::SourceDiagnostic;
use wasm_encoder::BlockType;

/// A label of code that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wasm) enum CodeLabel {
    /// A branch to it enters the loop again.
    Loop(BlockNumber),
    /// A branch to it leads to the block.
    Join(BlockNumber),
    /// No branch leads to it.
    Plain,
}

/// Work that is left.
#[derive(Clone, Copy, Debug)]
enum StructureTask {
    /// The block and all that it dominates.
    Tree(BlockNumber),
    /// The edge from a block.
    Edge(BlockNumber, FlowEdge),
    /// The way from the dispatcher to a block.
    Enter(BlockNumber),
    /// The case of the switch of a block, and all after it.
    Case(BlockNumber, usize),
    Else,
    End,
}

use StructureTask as Task;

impl FunctionEmitter<'_, '_> {
    /// Emits all blocks of the function.
    ///
    /// # Errors
    /// When a step is not possible in WebAssembly.
    pub(super) fn emit_structure(&mut self) -> Result<(), SourceDiagnostic> {
        let mut tasks = vec![Task::Tree(self.graph.root())];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Tree(node) => self.emit_tree(node, &mut tasks)?,
                Task::Edge(from, edge) => self.emit_edge(from, edge, &mut tasks),
                Task::Enter(target) => {
                    let from = self.graph.dispatcher();
                    self.emit_way(from, target, &mut tasks);
                }
                Task::Case(block, number) => self.emit_case(block, number, &mut tasks),
                Task::Else => {
                    self.sink().else_();
                }
                Task::End => {
                    self.labels.pop();
                    self.sink().end();
                }
            }
        }
        // All ways end in branches, so that the end of the body is not reached.
        self.sink().unreachable().end();
        Ok(())
    }

    fn open(&mut self, label: CodeLabel) {
        match label {
            CodeLabel::Loop(_) => self.sink().loop_(BlockType::Empty),
            CodeLabel::Join(_) | CodeLabel::Plain => self.sink().block(BlockType::Empty),
        };
        self.labels.push(label);
    }

    fn open_if(&mut self) {
        self.sink().if_(BlockType::Empty);
        self.labels.push(CodeLabel::Plain);
    }

    fn emit_tree(
        &mut self,
        node: BlockNumber,
        tasks: &mut Vec<StructureTask>,
    ) -> Result<(), SourceDiagnostic> {
        if self.graph.is_loop[node] {
            self.open(CodeLabel::Loop(node));
            tasks.push(Task::End);
        }
        for join in self.graph.joins[node].clone() {
            self.open(CodeLabel::Join(join));
            tasks.push(Task::Tree(join));
            tasks.push(Task::End);
        }
        if node == self.graph.dispatcher() {
            self.emit_dispatch(tasks);
            return Ok(());
        }
        let block = self.graph.blocks[node].clone();
        self.emit_steps(&block)?;
        let last = &self.kernel.code.steps[block.steps.end - 1];
        match (&block.exit, last) {
            (BlockExit::Ways(edges), CodeStep::Branch { condition, .. }) => {
                self.push_slot(*condition, ValueClass::I32);
                self.sink().i32_const(1).i32_and();
                self.open_if();
                tasks.push(Task::End);
                tasks.push(Task::Edge(node, edges[1]));
                tasks.push(Task::Else);
                tasks.push(Task::Edge(node, edges[0]));
            }
            (BlockExit::Ways(_), CodeStep::Switch { .. }) => tasks.push(Task::Case(node, 0)),
            (BlockExit::Ways(edges), _) => tasks.push(Task::Edge(node, edges[0])),
            (BlockExit::Next(edge), _) => tasks.push(Task::Edge(node, *edge)),
            (BlockExit::Leave, _) => {}
        }
        Ok(())
    }

    /// Emits the table of ways from the dispatcher. Each block stands after the end of its label.
    fn emit_dispatch(&mut self, tasks: &mut Vec<StructureTask>) {
        let targets = self.graph.dispatched.clone();
        for _ in &targets {
            self.open(CodeLabel::Plain);
        }
        let (local, last) = (self.dispatch_local, targets.len() as u32 - 1);
        self.sink().local_get(local).br_table(0..last, last);
        for target in targets.into_iter().rev() {
            tasks.push(Task::Enter(target));
            tasks.push(Task::End);
        }
    }

    fn emit_case(&mut self, node: BlockNumber, number: usize, tasks: &mut Vec<StructureTask>) {
        let block = &self.graph.blocks[node];
        let (
            BlockExit::Ways(edges),
            CodeStep::Switch {
                selector, cases, ..
            },
        ) = (&block.exit, &self.kernel.code.steps[block.steps.end - 1])
        else {
            return;
        };
        let edge = edges[number];
        if number as u32 == cases.count {
            tasks.push(Task::Edge(node, edge));
            return;
        }
        let literal = self.kernel.code.cases[cases.indices()][number].literal;
        self.push_slot(*selector, ValueClass::I64);
        self.sink().i64_const(literal as i64).i64_eq();
        self.open_if();
        tasks.push(Task::Case(node, number + 1));
        tasks.push(Task::End);
        tasks.push(Task::Edge(node, edge));
    }

    fn emit_edge(&mut self, from: BlockNumber, edge: FlowEdge, tasks: &mut Vec<StructureTask>) {
        for step in &self.kernel.code.moves[edge.moves.indices()] {
            self.copy_slot(step.to, step.from);
        }
        if self.graph.is_routed[edge.target] {
            let number = self.graph.dispatch_number(edge.target);
            let local = self.dispatch_local;
            self.sink().i32_const(number as i32).local_set(local);
            self.emit_way(from, self.graph.dispatcher(), tasks);
        } else {
            self.emit_way(from, edge.target, tasks);
        }
    }

    /// Emits the way to a node: a branch, or the node itself where no other way leads to it.
    fn emit_way(&mut self, from: BlockNumber, target: BlockNumber, tasks: &mut Vec<StructureTask>) {
        let label = if self.graph.order[target] <= self.graph.order[from] {
            CodeLabel::Loop(target)
        } else if self.graph.is_join[target] {
            CodeLabel::Join(target)
        } else {
            tasks.push(Task::Tree(target));
            return;
        };
        if matches!(label, CodeLabel::Loop(_)) {
            self.count_steps(from, target);
        }
        let open = self.labels.iter().rev().position(|open| *open == label);
        match open {
            Some(depth) => self.sink().br(depth as u32),
            // A graph that is reducible has all labels.
            None => self.sink().unreachable(),
        };
    }

    /// Counts the steps of a way back to the head of a loop: those from its head to the end of the block. The launch ends with
    /// a fault where no steps are left, so that endless loops end.
    fn count_steps(&mut self, from: BlockNumber, target: BlockNumber) {
        let blocks = &self.graph.blocks;
        let (Some(block), head) = (blocks.get(from), blocks.get(target)) else {
            // The dispatcher itself is entered through its loop alone.
            return;
        };
        let last = block.steps.end - 1;
        let first = head.map_or(block.steps.start, |head| head.steps.start);
        let steps = (last + 1).saturating_sub(first).max(1);
        let left = self.temporary(ValueClass::I64, 0);
        self.sink()
            .global_get(GLOBAL_STEPS)
            .i64_const(steps as i64)
            .i64_sub()
            .local_tee(left)
            .global_set(GLOBAL_STEPS)
            .local_get(left)
            .i64_const(0)
            .i64_lt_s()
            .if_(BlockType::Empty)
            .i32_const(FAULT_STEPS)
            .i32_const(last as i32)
            .i64_const(0)
            .i64_const(0)
            .call(HELPER_FAULT)
            .end();
    }
}
