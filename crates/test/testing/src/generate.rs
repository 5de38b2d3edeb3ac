//! Valid modules made at random: one function over variables, with any control flow (a kernel) or
//! with structured control flow (a shader).

use crate::ChoiceSequence;
use spirula_spirv::Id;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Capability, ExecutionMode, ExecutionModel, FunctionControl, LinkageType,
    LoopControl, MemoryModel, SelectionControl, StorageClass,
};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::SpirvModule;

/// Most blocks of a function with any control flow.
const MOST_BLOCKS: usize = 10;

/// Most constructs around a statement.
const DEEPEST: usize = 3;

/// A kernel or a shader.
pub fn module(choices: &mut ChoiceSequence<'_>) -> SpirvModule {
    if choices.below(2) == 0 {
        kernel(choices)
    } else {
        shader(choices)
    }
}

/// A kernel whose function branches in any way.
pub fn kernel(choices: &mut ChoiceSequence<'_>) -> SpirvModule {
    let mut b = SpirvBuilder::new(SpirvVersion::V1_0);
    for capability in [
        Capability::Kernel,
        Capability::Addresses,
        Capability::Linkage,
    ] {
        b.capability(capability);
    }
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let (void, bool) = (b.void(), b.bool());
    let uint = b.int(32, false);
    let ty = b.function_type(void, &[bool, uint]);
    let main = b.fresh_id();
    b.linkage(main, "main", LinkageType::Export);
    let mut code = RandomShader::new(b, uint, bool);
    code.b.begin_function(main, void, FunctionControl::None, ty);
    code.conditions.push(code.b.parameter(bool));
    let argument = code.b.parameter(uint);
    let graph = graph(choices);
    let labels: Vec<Id> = graph.iter().map(|_| code.b.fresh_id()).collect();
    for at in order(&graph) {
        code.b.begin_block(labels[at]);
        if at == 0 {
            code.begin(argument);
        }
        code.statements(choices);
        let targets: Vec<Id> = graph[at].iter().map(|t| labels[*t]).collect();
        code.branch(&targets);
    }
    code.b.end_function();
    code.b.finish()
}

/// For each block the blocks that it leads to; the first is the entry and no target.
fn graph(choices: &mut ChoiceSequence<'_>) -> Vec<Vec<usize>> {
    let blocks = 1 + choices.below(MOST_BLOCKS);
    let mut targets = |_| match blocks {
        1 => Vec::new(),
        _ => {
            let count = choices.below(4);
            (0..count).map(|_| 1 + choices.below(blocks - 1)).collect()
        }
    };
    (0..blocks).map(&mut targets).collect()
}

/// Blocks behind their dominators: the reverse of a postorder, then what is not reached.
fn order(graph: &[Vec<usize>]) -> Vec<usize> {
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

/// A compute shader.
pub fn shader(choices: &mut ChoiceSequence<'_>) -> SpirvModule {
    let mut b = SpirvBuilder::new(SpirvVersion::new(1, 3));
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let (void, bool) = (b.void(), b.bool());
    let uint = b.int(32, false);
    let ty = b.function_type(void, &[]);
    let main = b.fresh_id();
    b.entry_point(ExecutionModel::GLCompute, main, "main", &[]);
    b.execution_mode(main, ExecutionMode::LocalSize, &[1, 1, 1]);
    let mut code = RandomShader::new(b, uint, bool);
    code.b.begin_function(main, void, FunctionControl::None, ty);
    let entry = code.b.fresh_id();
    code.b.begin_block(entry);
    let seven = code.b.constant_u32(7);
    code.begin(seven);
    code.structured(choices, DEEPEST, None);
    code.b.effect(Op::Return, &[]);
    code.b.end_function();
    code.b.finish()
}

/// Where `break` and `continue` go.
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

    /// Begins the entry block: three variables that have a value.
    fn begin(&mut self, value: Id) {
        let pointer = self.b.pointer(StorageClass::Function, self.uint);
        self.variables = (0..3)
            .map(|_| self.b.local_variable(pointer, None))
            .collect();
        for (at, variable) in self.variables.clone().into_iter().enumerate() {
            self.b.name(variable, ["x", "y", "z"][at]);
            self.b.effect(Op::Store, &[variable, value].map(Id::word));
        }
    }

    fn load(&mut self, choices: &mut ChoiceSequence<'_>) -> Id {
        let variable = self.variables[choices.below(self.variables.len())];
        self.b.value(Op::Load, self.uint, &[variable.word()])
    }

    /// A few sums and products of variables, each stored.
    fn statements(&mut self, choices: &mut ChoiceSequence<'_>) {
        self.last = None;
        for _ in 0..choices.below(4) {
            let (x, y) = (self.load(choices), self.load(choices));
            let op = [Op::IAdd, Op::IMul, Op::BitwiseXor][choices.below(3)];
            let value = self.b.value(op, self.uint, &[x, y].map(Id::word));
            let variable = self.variables[choices.below(self.variables.len())];
            self.b.effect(Op::Store, &[variable, value].map(Id::word));
            self.last = Some(value);
        }
    }

    /// A boolean made of variables.
    fn condition(&mut self, choices: &mut ChoiceSequence<'_>) -> Id {
        let (x, y) = (self.load(choices), self.load(choices));
        self.b
            .value(Op::ULessThan, self.bool, &[x, y].map(Id::word))
    }

    /// Ends a block: a return, a branch, a conditional branch or a switch, by the number of targets.
    fn branch(&mut self, targets: &[Id]) {
        match targets {
            [] => self.b.effect(Op::Return, &[]),
            [one] => self.b.effect(Op::Branch, &[one.word()]),
            [x, y] => {
                let words = [self.conditions[0], *x, *y].map(Id::word);
                self.b.effect(Op::BranchConditional, &words);
            }
            [default, cases @ ..] => {
                let selector = self.last.unwrap_or_else(|| {
                    let variable = self.variables[0];
                    self.b.value(Op::Load, self.uint, &[variable.word()])
                });
                let mut words = vec![selector.word(), default.word()];
                for (at, case) in cases.iter().enumerate() {
                    words.extend([at as u32, case.word()]);
                }
                self.b.effect(Op::Switch, &words);
            }
        }
    }

    /// Statements and constructs; leaves a block open.
    fn structured(
        &mut self,
        choices: &mut ChoiceSequence<'_>,
        depth: usize,
        around: Option<JumpTargets>,
    ) {
        for _ in 0..=choices.below(3) {
            self.statements(choices);
            match (choices.below(5), around) {
                (_, _) if depth == 0 => {}
                (1, _) => self.selection(choices, depth - 1, around),
                (2, _) => self.repeat(choices, depth - 1),
                (3, _) => self.switch(choices, depth - 1, around),
                (4, Some(inner)) => self.leave(choices, inner),
                _ => {}
            }
        }
    }

    fn merge(&mut self, merge: Id) {
        let words = [merge.word(), SelectionControl::None.0];
        self.b.effect(Op::SelectionMerge, &words);
    }

    fn selection(
        &mut self,
        choices: &mut ChoiceSequence<'_>,
        depth: usize,
        around: Option<JumpTargets>,
    ) {
        let condition = self.condition(choices);
        let [yes, no, merge] = [(); 3].map(|()| self.b.fresh_id());
        let no = if choices.below(2) == 0 { merge } else { no };
        self.merge(merge);
        let words = [condition, yes, no].map(Id::word);
        self.b.effect(Op::BranchConditional, &words);
        for label in [yes, no].into_iter().filter(|l| *l != merge) {
            self.b.begin_block(label);
            self.structured(choices, depth, around);
            self.b.effect(Op::Branch, &[merge.word()]);
        }
        self.b.begin_block(merge);
    }

    fn repeat(&mut self, choices: &mut ChoiceSequence<'_>, depth: usize) {
        let [header, test, body, next, merge] = [(); 5].map(|()| self.b.fresh_id());
        self.b.effect(Op::Branch, &[header.word()]);
        self.b.begin_block(header);
        let words = [merge.word(), next.word(), LoopControl::None.0];
        self.b.effect(Op::LoopMerge, &words);
        self.b.effect(Op::Branch, &[test.word()]);
        self.b.begin_block(test);
        let condition = self.condition(choices);
        let words = [condition, body, merge].map(Id::word);
        self.b.effect(Op::BranchConditional, &words);
        self.b.begin_block(body);
        self.structured(choices, depth, Some(JumpTargets { merge, next }));
        self.b.effect(Op::Branch, &[next.word()]);
        self.b.begin_block(next);
        self.statements(choices);
        self.b.effect(Op::Branch, &[header.word()]);
        self.b.begin_block(merge);
    }

    fn switch(
        &mut self,
        choices: &mut ChoiceSequence<'_>,
        depth: usize,
        around: Option<JumpTargets>,
    ) {
        let selector = self.load(choices);
        let [first, second, merge] = [(); 3].map(|()| self.b.fresh_id());
        self.merge(merge);
        let default = [first, merge][choices.below(2)];
        let words = [
            selector.word(),
            default.word(),
            1,
            first.word(),
            2,
            second.word(),
        ];
        self.b.effect(Op::Switch, &words);
        self.b.begin_block(first);
        self.structured(choices, depth, around);
        let falls = choices.below(3) == 0;
        let next = if falls { second } else { merge };
        self.b.effect(Op::Branch, &[next.word()]);
        self.b.begin_block(second);
        self.structured(choices, depth, around);
        self.b.effect(Op::Branch, &[merge.word()]);
        self.b.begin_block(merge);
    }

    /// `if (c) break;` or `if (c) continue;`
    fn leave(&mut self, choices: &mut ChoiceSequence<'_>, inner: JumpTargets) {
        let condition = self.condition(choices);
        let [yes, merge] = [(); 2].map(|()| self.b.fresh_id());
        self.merge(merge);
        let words = [condition, yes, merge].map(Id::word);
        self.b.effect(Op::BranchConditional, &words);
        self.b.begin_block(yes);
        let to = [inner.merge, inner.next][choices.below(2)];
        self.b.effect(Op::Branch, &[to.word()]);
        self.b.begin_block(merge);
    }
}
