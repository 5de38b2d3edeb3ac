//! A generator of random valid modules. A module has one function over variables, either with any control flow (a
//! kernel) or with structured control flow (a shader).

use crate::ChoiceSequence;
use spirula_spirv::Id;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Capability, ExecutionMode, ExecutionModel, FunctionControl, LinkageType,
    LoopControl, MemoryModel, SelectionControl, StorageClass,
};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::SpirvModule;

/// Most blocks of a function with unstructured control flow.
const MOST_BLOCKS: usize = 10;

/// Deepest nesting of constructs.
const DEEPEST: usize = 3;

/// Generates a kernel or a shader.
pub fn generate_module(choices: &mut ChoiceSequence<'_>) -> SpirvModule {
    if choices.choose_below(2) == 0 {
        generate_kernel(choices)
    } else {
        generate_shader(choices)
    }
}

/// Generates a kernel with arbitrary control flow.
pub fn generate_kernel(choices: &mut ChoiceSequence<'_>) -> SpirvModule {
    let mut b = SpirvBuilder::new(SpirvVersion::V1_0);
    for capability in [
        Capability::Kernel,
        Capability::Addresses,
        Capability::Linkage,
    ] {
        b.declare_capability(capability);
    }
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let (void, bool) = (b.void_type(), b.bool_type());
    let uint = b.int_type(32, false);
    let ty = b.function_type(void, &[bool, uint]);
    let main = b.fresh_id();
    b.set_linkage(main, "main", LinkageType::Export);
    let mut code = RandomShader::new(b, uint, bool);
    code.b.begin_function(main, void, FunctionControl::None, ty);
    code.conditions.push(code.b.append_parameter(bool));
    let argument = code.b.append_parameter(uint);
    let graph = generate_graph(choices);
    let labels: Vec<Id> = graph.iter().map(|_| code.b.fresh_id()).collect();
    for at in order_by_dominance(&graph) {
        code.b.begin_block(labels[at]);
        if at == 0 {
            code.begin_entry_block(argument);
        }
        code.emit_statements(choices);
        let targets: Vec<Id> = graph[at].iter().map(|t| labels[*t]).collect();
        code.emit_terminator(&targets);
    }
    code.b.end_function();
    code.b.into_module()
}

/// The successors of each block. The first block is the entry and has no predecessors.
fn generate_graph(choices: &mut ChoiceSequence<'_>) -> Vec<Vec<usize>> {
    let blocks = 1 + choices.choose_below(MOST_BLOCKS);
    let mut targets = |_| match blocks {
        1 => Vec::new(),
        _ => {
            let count = choices.choose_below(4);
            (0..count)
                .map(|_| 1 + choices.choose_below(blocks - 1))
                .collect()
        }
    };
    (0..blocks).map(&mut targets).collect()
}

/// Orders blocks so that dominators come first: reverse postorder, followed by unreachable blocks.
fn order_by_dominance(graph: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; graph.len()];
    let mut order = Vec::new();
    seen[0] = true;
    let mut stack = vec![(0, 0)];
    while let Some((at, next)) = stack.last_mut() {
        match graph[*at].get(*next) {
            Some(target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*target], true) {
                    stack.push((*target, 0));
                }
            }
            None => {
                order.push(*at);
                stack.pop();
            }
        }
    }
    order.reverse();
    order.extend((0..graph.len()).filter(|at| !seen[*at]));
    order
}

/// Generates a compute shader.
pub fn generate_shader(choices: &mut ChoiceSequence<'_>) -> SpirvModule {
    let mut b = SpirvBuilder::new(SpirvVersion::new(1, 3));
    b.declare_capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let (void, bool) = (b.void_type(), b.bool_type());
    let uint = b.int_type(32, false);
    let ty = b.function_type(void, &[]);
    let main = b.fresh_id();
    b.entry_point(ExecutionModel::GLCompute, main, "main", &[]);
    b.execution_mode(main, ExecutionMode::LocalSize, &[1, 1, 1]);
    let mut code = RandomShader::new(b, uint, bool);
    code.b.begin_function(main, void, FunctionControl::None, ty);
    let entry = code.b.fresh_id();
    code.b.begin_block(entry);
    let seven = code.b.constant_u32(7);
    code.begin_entry_block(seven);
    code.emit_structured(choices, DEEPEST, None);
    code.b.append_effect(Op::Return, &[]);
    code.b.end_function();
    code.b.into_module()
}

/// The targets of `break` and `continue`.
#[derive(Clone, Copy)]
struct JumpTargets {
    merge: Id,
    next: Id,
}

struct RandomShader {
    b: SpirvBuilder,
    uint: Id,
    bool: Id,
    variables: Vec<Id>,
    conditions: Vec<Id>,
    last: Option<Id>,
}

impl RandomShader {
    fn new(b: SpirvBuilder, uint: Id, bool: Id) -> RandomShader {
        RandomShader {
            b,
            uint,
            bool,
            variables: Vec::new(),
            conditions: Vec::new(),
            last: None,
        }
    }

    /// Begins the entry block and initialises three variables.
    fn begin_entry_block(&mut self, value: Id) {
        let pointer = self.b.pointer_type(StorageClass::Function, self.uint);
        self.variables = (0..3)
            .map(|_| self.b.local_variable(pointer, None))
            .collect();
        for (at, variable) in self.variables.clone().into_iter().enumerate() {
            self.b.set_name(variable, ["x", "y", "z"][at]);
            self.b
                .append_effect(Op::Store, &[variable, value].map(Id::word));
        }
    }

    fn emit_load(&mut self, choices: &mut ChoiceSequence<'_>) -> Id {
        let variable = self.variables[choices.choose_below(self.variables.len())];
        self.b.append_value(Op::Load, self.uint, &[variable.word()])
    }

    /// Emits a few sums and products of variables and stores each.
    fn emit_statements(&mut self, choices: &mut ChoiceSequence<'_>) {
        self.last = None;
        for _ in 0..choices.choose_below(4) {
            let (x, y) = (self.emit_load(choices), self.emit_load(choices));
            let op = [Op::IAdd, Op::IMul, Op::BitwiseXor][choices.choose_below(3)];
            let value = self.b.append_value(op, self.uint, &[x, y].map(Id::word));
            let variable = self.variables[choices.choose_below(self.variables.len())];
            self.b
                .append_effect(Op::Store, &[variable, value].map(Id::word));
            self.last = Some(value);
        }
    }

    /// Emits a boolean computed from variables.
    fn emit_condition(&mut self, choices: &mut ChoiceSequence<'_>) -> Id {
        let (x, y) = (self.emit_load(choices), self.emit_load(choices));
        self.b
            .append_value(Op::ULessThan, self.bool, &[x, y].map(Id::word))
    }

    /// Terminates a block with a return, a branch, a conditional branch or a switch, depending on the number of
    /// targets.
    fn emit_terminator(&mut self, targets: &[Id]) {
        match targets {
            [] => self.b.append_effect(Op::Return, &[]),
            [one] => self.b.append_effect(Op::Branch, &[one.word()]),
            [x, y] => {
                let words = [self.conditions[0], *x, *y].map(Id::word);
                self.b.append_effect(Op::BranchConditional, &words);
            }
            [default, cases @ ..] => {
                let selector = self.last.unwrap_or_else(|| {
                    let variable = self.variables[0];
                    self.b.append_value(Op::Load, self.uint, &[variable.word()])
                });
                let mut words = vec![selector.word(), default.word()];
                for (at, case) in cases.iter().enumerate() {
                    words.extend([at as u32, case.word()]);
                }
                self.b.append_effect(Op::Switch, &words);
            }
        }
    }

    /// Emits statements and constructs, and leaves a block open.
    fn emit_structured(
        &mut self,
        choices: &mut ChoiceSequence<'_>,
        depth: usize,
        around: Option<JumpTargets>,
    ) {
        for _ in 0..=choices.choose_below(3) {
            self.emit_statements(choices);
            match (choices.choose_below(5), around) {
                (_, _) if depth == 0 => {}
                (1, _) => self.emit_selection(choices, depth - 1, around),
                (2, _) => self.emit_loop(choices, depth - 1),
                (3, _) => self.emit_switch(choices, depth - 1, around),
                (4, Some(inner)) => self.emit_conditional_exit(choices, inner),
                _ => {}
            }
        }
    }

    fn emit_merge(&mut self, merge: Id) {
        let words = [merge.word(), SelectionControl::None.0];
        self.b.append_effect(Op::SelectionMerge, &words);
    }

    fn emit_selection(
        &mut self,
        choices: &mut ChoiceSequence<'_>,
        depth: usize,
        around: Option<JumpTargets>,
    ) {
        let condition = self.emit_condition(choices);
        let [yes, no, merge] = [(); 3].map(|()| self.b.fresh_id());
        let no = if choices.choose_below(2) == 0 {
            merge
        } else {
            no
        };
        self.emit_merge(merge);
        let words = [condition, yes, no].map(Id::word);
        self.b.append_effect(Op::BranchConditional, &words);
        for label in [yes, no].into_iter().filter(|l| *l != merge) {
            self.b.begin_block(label);
            self.emit_structured(choices, depth, around);
            self.b.append_effect(Op::Branch, &[merge.word()]);
        }
        self.b.begin_block(merge);
    }

    fn emit_loop(&mut self, choices: &mut ChoiceSequence<'_>, depth: usize) {
        let [header, test, body, next, merge] = [(); 5].map(|()| self.b.fresh_id());
        self.b.append_effect(Op::Branch, &[header.word()]);
        self.b.begin_block(header);
        let words = [merge.word(), next.word(), LoopControl::None.0];
        self.b.append_effect(Op::LoopMerge, &words);
        self.b.append_effect(Op::Branch, &[test.word()]);
        self.b.begin_block(test);
        let condition = self.emit_condition(choices);
        let words = [condition, body, merge].map(Id::word);
        self.b.append_effect(Op::BranchConditional, &words);
        self.b.begin_block(body);
        self.emit_structured(choices, depth, Some(JumpTargets { merge, next }));
        self.b.append_effect(Op::Branch, &[next.word()]);
        self.b.begin_block(next);
        self.emit_statements(choices);
        self.b.append_effect(Op::Branch, &[header.word()]);
        self.b.begin_block(merge);
    }

    fn emit_switch(
        &mut self,
        choices: &mut ChoiceSequence<'_>,
        depth: usize,
        around: Option<JumpTargets>,
    ) {
        let selector = self.emit_load(choices);
        let [first, second, merge] = [(); 3].map(|()| self.b.fresh_id());
        self.emit_merge(merge);
        let default = [first, merge][choices.choose_below(2)];
        let words = [
            selector.word(),
            default.word(),
            1,
            first.word(),
            2,
            second.word(),
        ];
        self.b.append_effect(Op::Switch, &words);
        self.b.begin_block(first);
        self.emit_structured(choices, depth, around);
        let falls = choices.choose_below(3) == 0;
        let next = if falls { second } else { merge };
        self.b.append_effect(Op::Branch, &[next.word()]);
        self.b.begin_block(second);
        self.emit_structured(choices, depth, around);
        self.b.append_effect(Op::Branch, &[merge.word()]);
        self.b.begin_block(merge);
    }

    /// Emits `if (c) break;` or `if (c) continue;`.
    fn emit_conditional_exit(&mut self, choices: &mut ChoiceSequence<'_>, inner: JumpTargets) {
        let condition = self.emit_condition(choices);
        let [yes, merge] = [(); 2].map(|()| self.b.fresh_id());
        self.emit_merge(merge);
        let words = [condition, yes, merge].map(Id::word);
        self.b.append_effect(Op::BranchConditional, &words);
        self.b.begin_block(yes);
        let to = [inner.merge, inner.next][choices.choose_below(2)];
        self.b.append_effect(Op::Branch, &[to.word()]);
        self.b.begin_block(merge);
    }
}
