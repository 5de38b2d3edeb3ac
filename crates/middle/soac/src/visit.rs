//! Visits of the parts of operations: operands, variables that they bind, bodies.

use crate::ir::{
    ArgumentOwnership, FusedSink, SliceSelector, SoacAccumulation, SoacBody, SoacFunction,
    SoacLoopForm, SoacMessagePart, SoacOperand, SoacOperation, SoacStatement, SoacVariable,
    SoacVariableId,
};
use spirula_entity::EntityArena;

impl SliceSelector {
    /// The operands, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut SoacOperand> {
        match self {
            SliceSelector::Point(point) => vec![point],
            SliceSelector::Stride {
                start,
                count,
                stride,
            } => vec![start, count, stride],
        }
    }

    /// The operands.
    pub fn operands(mut self) -> Vec<SoacOperand> {
        let operands = self.operands_mut().into_iter();
        operands.map(|operand| *operand).collect()
    }
}

/// The operands of selectors.
fn selector_operands(selectors: &[SliceSelector]) -> impl Iterator<Item = SoacOperand> {
    selectors.iter().flat_map(|selector| selector.operands())
}

impl SoacOperation {
    /// Calls a function with each operand, apart from those in bodies.
    pub fn for_each_operand(&self, mut visit: impl FnMut(SoacOperand)) {
        match self {
            SoacOperation::Scalar(_, operands)
            | SoacOperation::Literal(operands)
            | SoacOperation::Concat(operands) => {
                operands.iter().copied().for_each(visit);
            }
            SoacOperation::Parameter(..) => {}
            SoacOperation::Check(condition, message) => {
                visit(*condition);
                for part in &message.parts {
                    if let SoacMessagePart::Value(value) = part {
                        visit(*value);
                    }
                }
            }
            SoacOperation::Slice(array, selectors) => {
                visit(*array);
                selector_operands(selectors).for_each(visit);
            }
            SoacOperation::Update(array, selectors, value) => {
                visit(*array);
                selector_operands(selectors).for_each(&mut visit);
                visit(*value);
            }
            SoacOperation::Iota(count, first, step) => {
                [*count, *first, *step].into_iter().for_each(visit)
            }
            SoacOperation::Replicate(sizes, value) | SoacOperation::Reshape(value, sizes) => {
                sizes.iter().copied().for_each(&mut visit);
                visit(*value);
            }
            SoacOperation::Rearrange(array, _) | SoacOperation::Manifest(array) => visit(*array),
            SoacOperation::If(condition, _, _) => visit(*condition),
            SoacOperation::Loop(parameters, form, _) => {
                parameters.iter().for_each(|(_, initial)| visit(*initial));
                if let SoacLoopForm::For(_, bound) = form {
                    visit(*bound);
                }
            }
            combinator => combinator.for_each_combinator_operand(&mut visit),
        }
    }

    /// Calls a function with each operand of a combinator.
    fn for_each_combinator_operand(&self, visit: &mut dyn FnMut(SoacOperand)) {
        match self {
            SoacOperation::Map(width, arrays, _) => {
                visit(*width);
                arrays.iter().copied().for_each(visit);
            }
            SoacOperation::Reduce(width, arrays, neutral, _, _)
            | SoacOperation::Scan(width, arrays, neutral, _) => {
                visit(*width);
                arrays.iter().chain(neutral).copied().for_each(visit);
            }
            SoacOperation::Scatter(array, positions, values) => {
                [*array, *positions, *values].into_iter().for_each(visit);
            }
            SoacOperation::Histogram(histogram) => {
                let operands = histogram
                    .targets
                    .iter()
                    .chain(&histogram.neutral)
                    .chain(&histogram.values);
                operands.copied().for_each(&mut *visit);
                visit(histogram.positions);
            }
            SoacOperation::Fused(fused) => {
                visit(fused.width);
                fused.arrays.iter().copied().for_each(&mut *visit);
                fused.sink.targets().iter().copied().for_each(&mut *visit);
                if let Some(fold) = fused.sink.fold() {
                    fold.neutral.iter().copied().for_each(visit);
                }
            }
            SoacOperation::Accumulate(accumulator, position, values) => {
                visit(SoacOperand::Variable(*accumulator));
                visit(*position);
                values.iter().copied().for_each(visit);
            }
            SoacOperation::WithAccumulators(accumulation) => {
                accumulation.targets().into_iter().for_each(visit);
            }
            SoacOperation::Call(_, arguments) => {
                arguments
                    .iter()
                    .for_each(|argument| visit(argument.operand));
            }
            _ => {}
        }
    }

    /// The operands, apart from those in bodies and from accumulators, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut SoacOperand> {
        match self {
            SoacOperation::Scalar(_, operands)
            | SoacOperation::Literal(operands)
            | SoacOperation::Concat(operands) => operands.iter_mut().collect(),
            SoacOperation::Parameter(..) => Vec::new(),
            SoacOperation::Check(condition, message) => {
                let values = message.parts.iter_mut().filter_map(|part| match part {
                    SoacMessagePart::Value(value) => Some(value),
                    SoacMessagePart::Text(_) => None,
                });
                std::iter::once(condition).chain(values).collect()
            }
            SoacOperation::Slice(array, selectors) => {
                let selectors = selectors.iter_mut().flat_map(SliceSelector::operands_mut);
                std::iter::once(array).chain(selectors).collect()
            }
            SoacOperation::Update(array, selectors, value) => {
                let selectors = selectors.iter_mut().flat_map(SliceSelector::operands_mut);
                [array, value].into_iter().chain(selectors).collect()
            }
            SoacOperation::Iota(count, first, step) => vec![count, first, step],
            SoacOperation::Replicate(sizes, value) | SoacOperation::Reshape(value, sizes) => {
                sizes.iter_mut().chain([value]).collect()
            }
            SoacOperation::Rearrange(array, _) | SoacOperation::Manifest(array) => vec![array],
            SoacOperation::If(condition, _, _) => vec![condition],
            SoacOperation::Loop(parameters, form, _) => {
                let bound = match form {
                    SoacLoopForm::For(_, bound) => Some(bound),
                    SoacLoopForm::While(_) => None,
                };
                let initial = parameters.iter_mut().map(|(_, initial)| initial);
                initial.chain(bound).collect()
            }
            combinator => combinator.combinator_operands_mut(),
        }
    }

    /// The operands of a combinator, to be changed.
    fn combinator_operands_mut(&mut self) -> Vec<&mut SoacOperand> {
        match self {
            SoacOperation::Map(width, arrays, _) => {
                std::iter::once(width).chain(arrays.iter_mut()).collect()
            }
            SoacOperation::Reduce(width, arrays, neutral, _, _)
            | SoacOperation::Scan(width, arrays, neutral, _) => {
                let arrays = arrays.iter_mut().chain(neutral.iter_mut());
                std::iter::once(width).chain(arrays).collect()
            }
            SoacOperation::Scatter(array, positions, values) => vec![array, positions, values],
            SoacOperation::Histogram(histogram) => {
                let targets = histogram.targets.iter_mut();
                let values = histogram.values.iter_mut();
                let operands = targets.chain(&mut histogram.neutral).chain(values);
                operands.chain([&mut histogram.positions]).collect()
            }
            SoacOperation::Fused(fused) => {
                let mut operands = vec![&mut fused.width];
                operands.extend(fused.arrays.iter_mut());
                match &mut fused.sink {
                    FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) => {
                        operands.extend(fold.neutral.iter_mut());
                    }
                    FusedSink::Scatter(targets) => operands.extend(targets),
                    FusedSink::Histogram(targets, fold) => {
                        operands.extend(targets.iter_mut().chain(&mut fold.neutral));
                    }
                }
                operands
            }
            SoacOperation::Accumulate(_, position, values) => {
                std::iter::once(position).chain(values).collect()
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let accumulators = accumulation.accumulators.iter_mut();
                accumulators
                    .flat_map(|accumulator| &mut accumulator.targets)
                    .collect()
            }
            SoacOperation::Call(_, arguments) => {
                let arguments = arguments.iter_mut();
                arguments.map(|argument| &mut argument.operand).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The bodies in the operation.
    pub fn bodies(&self) -> Vec<&SoacBody> {
        match self {
            SoacOperation::If(_, accept, reject) => vec![accept, reject],
            SoacOperation::Loop(_, _, body) => vec![body],
            SoacOperation::Map(_, _, function)
            | SoacOperation::Reduce(_, _, _, function, _)
            | SoacOperation::Scan(_, _, _, function) => vec![&function.body],
            SoacOperation::Histogram(histogram) => vec![&histogram.function.body],
            SoacOperation::Fused(fused) => {
                let fold = fused.sink.fold().map(|fold| &fold.function.body);
                std::iter::once(&fused.function.body).chain(fold).collect()
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let combine = accumulation.accumulators.iter();
                let combine = combine.filter_map(|accumulator| accumulator.combine.as_ref());
                let combine = combine.map(|function| &function.body);
                combine.chain([&accumulation.body]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The bodies in the operation, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut SoacBody> {
        match self {
            SoacOperation::If(_, accept, reject) => vec![accept, reject],
            SoacOperation::Loop(_, _, body) => vec![body],
            SoacOperation::Map(_, _, function)
            | SoacOperation::Reduce(_, _, _, function, _)
            | SoacOperation::Scan(_, _, _, function) => vec![&mut function.body],
            SoacOperation::Histogram(histogram) => vec![&mut histogram.function.body],
            SoacOperation::Fused(fused) => {
                let fold = fused.sink.fold_mut().map(|fold| &mut fold.function.body);
                std::iter::once(&mut fused.function.body)
                    .chain(fold)
                    .collect()
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let combine = accumulation.accumulators.iter_mut();
                let combine = combine.filter_map(|accumulator| accumulator.combine.as_mut());
                let combine = combine.map(|function| &mut function.body);
                combine.chain([&mut accumulation.body]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The variables that the operation binds for its bodies: parameters and counters.
    pub fn bound(&self) -> Vec<SoacVariableId> {
        match self {
            SoacOperation::Loop(parameters, form, _) => {
                let counter = match form {
                    SoacLoopForm::For(counter, _) => Some(*counter),
                    SoacLoopForm::While(_) => None,
                };
                let parameters = parameters.iter().map(|(id, _)| *id);
                parameters.chain(counter).collect()
            }
            SoacOperation::Map(_, _, function)
            | SoacOperation::Reduce(_, _, _, function, _)
            | SoacOperation::Scan(_, _, _, function) => function.parameters.clone(),
            SoacOperation::Histogram(histogram) => histogram.function.parameters.clone(),
            SoacOperation::Fused(fused) => {
                let fold = fused.sink.fold().map(|fold| &fold.function.parameters);
                let parameters = fused.function.parameters.iter();
                parameters
                    .chain(fold.into_iter().flatten())
                    .copied()
                    .collect()
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let mut bound = Vec::new();
                for accumulator in &accumulation.accumulators {
                    let combine = accumulator.combine.iter();
                    bound.extend(combine.flat_map(|function| &function.parameters));
                    bound.push(accumulator.variable);
                }
                bound
            }
            _ => Vec::new(),
        }
    }

    /// The variables that the operation binds for its bodies, to be changed, in the order of [`SoacOperation::bound`].
    pub fn bound_mut(&mut self) -> Vec<&mut SoacVariableId> {
        match self {
            SoacOperation::Loop(parameters, form, _) => {
                let counter = match form {
                    SoacLoopForm::For(counter, _) => Some(counter),
                    SoacLoopForm::While(_) => None,
                };
                let parameters = parameters.iter_mut().map(|(id, _)| id);
                parameters.chain(counter).collect()
            }
            SoacOperation::Map(_, _, function)
            | SoacOperation::Reduce(_, _, _, function, _)
            | SoacOperation::Scan(_, _, _, function) => function.parameters.iter_mut().collect(),
            SoacOperation::Histogram(histogram) => {
                histogram.function.parameters.iter_mut().collect()
            }
            SoacOperation::Fused(fused) => {
                let SoacFusedParts { map, fold } = fused_parameters(fused);
                map.iter_mut().chain(fold.into_iter().flatten()).collect()
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let mut bound = Vec::new();
                for accumulator in &mut accumulation.accumulators {
                    let combine = accumulator.combine.iter_mut();
                    bound.extend(combine.flat_map(|function| &mut function.parameters));
                    bound.push(&mut accumulator.variable);
                }
                bound
            }
            _ => Vec::new(),
        }
    }

    /// The arrays that the operation consumes, apart from what its bodies consume.
    pub fn consumed(&self) -> Vec<SoacOperand> {
        match self {
            SoacOperation::Update(array, ..) | SoacOperation::Scatter(array, ..) => vec![*array],
            SoacOperation::Histogram(histogram) => histogram.targets.clone(),
            SoacOperation::Fused(fused) => fused.sink.targets().to_vec(),
            SoacOperation::WithAccumulators(accumulation) => accumulation.targets(),
            SoacOperation::Call(_, arguments) => {
                let consumed = arguments
                    .iter()
                    .filter(|argument| argument.ownership == ArgumentOwnership::Consumed);
                consumed.map(|argument| argument.operand).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the operation, or one in its bodies, writes an accumulator.
    pub fn writes_accumulator(&self) -> bool {
        match self {
            SoacOperation::Accumulate(..) => true,
            _ => self.bodies().into_iter().any(SoacBody::writes_accumulator),
        }
    }
}

impl SoacAccumulation {
    /// The arrays of the accumulators.
    pub fn targets(&self) -> Vec<SoacOperand> {
        let accumulators = self.accumulators.iter();
        let targets = accumulators.flat_map(|accumulator| &accumulator.targets);
        targets.copied().collect()
    }
}

/// The parameters of the functions of a fused map.
struct SoacFusedParts<'a> {
    map: &'a mut Vec<SoacVariableId>,
    fold: Option<&'a mut Vec<SoacVariableId>>,
}

fn fused_parameters(fused: &mut crate::ir::SoacFusedMap) -> SoacFusedParts<'_> {
    SoacFusedParts {
        map: &mut fused.function.parameters,
        fold: fused
            .sink
            .fold_mut()
            .map(|fold| &mut fold.function.parameters),
    }
}

impl SoacBody {
    /// Whether a statement of the body, or of one in it, writes an accumulator.
    pub fn writes_accumulator(&self) -> bool {
        let mut statements = self.statements.iter();
        statements.any(|statement| statement.operation.writes_accumulator())
    }

    /// Calls a function with each statement of the body and of those within it, in order.
    pub fn for_each_statement(&self, visit: &mut dyn FnMut(&SoacStatement)) {
        for statement in &self.statements {
            visit(statement);
            for body in statement.operation.bodies() {
                body.for_each_statement(visit);
            }
        }
    }
}

impl SoacFunction {
    /// Calls a function with each variable that the body uses, apart from sizes of parameters.
    pub fn for_each_use(&self, visit: &mut dyn FnMut(SoacVariableId)) {
        for statement in &self.body.statements {
            for_each_used_variable(&self.variables, statement, visit);
        }
        for &result in &self.body.results {
            visit_operand(result, visit);
        }
    }
}

/// Calls a function with each variable that a statement and its bodies use, and with those that the bodies bind. Uses
/// are operands, results of bodies, certificates, and sizes of the types of variables.
pub fn for_each_used_variable(
    variables: &EntityArena<SoacVariableId, SoacVariable>,
    statement: &SoacStatement,
    visit: &mut dyn FnMut(SoacVariableId),
) {
    statement.certificates.iter().copied().for_each(&mut *visit);
    statement
        .operation
        .for_each_operand(|operand| visit_operand(operand, visit));
    for id in statement.operation.bound().iter().chain(&statement.results) {
        for &size in variables[*id].variable_type.shape() {
            visit_operand(size, visit);
        }
    }
    for body in statement.operation.bodies() {
        for statement in &body.statements {
            for_each_used_variable(variables, statement, visit);
        }
        for &result in &body.results {
            visit_operand(result, visit);
        }
    }
}

fn visit_operand(operand: SoacOperand, visit: &mut dyn FnMut(SoacVariableId)) {
    if let SoacOperand::Variable(id) = operand {
        visit(id);
    }
}
