//! The data of the segmented form.

use spirula_entity::EntityArena;
use spirula_soac::ir::{
    SoacAccumulator, SoacBody, SoacFunction, SoacFunctionId, SoacLambda, SoacLoopForm, SoacOperand,
    SoacOperation, SoacVariableId,
};

/// A function.
#[derive(Clone, Debug, Default)]
pub struct SegmentFunction {
    /// Its name, variables and parameters. Its body is empty.
    pub signature: SoacFunction,
    /// The code of the host.
    pub body: SegmentBody,
    /// The functions that the host calls. They have none of their own.
    pub callees: EntityArena<SoacFunctionId, SegmentFunction>,
}

/// Statements of the host, and results.
#[derive(Clone, Debug, Default)]
pub struct SegmentBody {
    /// The statements. Each is in scope of those after it.
    pub statements: Vec<SegmentStatement>,
    /// The results.
    pub results: Vec<SoacOperand>,
}

impl SegmentBody {
    /// Statements whose results are variables.
    pub fn from_variables(statements: Vec<SegmentStatement>, results: Vec<SoacVariableId>) -> Self {
        SegmentBody {
            statements,
            results: results.into_iter().map(SoacOperand::Variable).collect(),
        }
    }

    /// Calls a function with the body of each kernel, and that of each function of kernels.
    pub(crate) fn for_each_kernel_body<'b>(&'b self, visit: &mut dyn FnMut(&'b SoacBody)) {
        for statement in &self.statements {
            match &statement.operation {
                HostOperation::Plain(_) => {}
                HostOperation::If(_, accept, reject) => {
                    accept.for_each_kernel_body(visit);
                    reject.for_each_kernel_body(visit);
                }
                HostOperation::Loop(_, _, body) => body.for_each_kernel_body(visit),
                HostOperation::WithAccumulators(accumulators, body) => {
                    let combine = accumulators.iter().filter_map(|one| one.combine.as_ref());
                    combine.for_each(|function| visit(&function.body));
                    body.for_each_kernel_body(visit);
                }
                HostOperation::Grouped(operation, otherwise) => {
                    operation.for_each_body(visit);
                    otherwise.for_each_kernel_body(visit);
                }
                HostOperation::Parallel(operation) => operation.for_each_body(visit),
            }
        }
    }
}

/// A statement of the host.
#[derive(Clone, Debug)]
pub struct SegmentStatement {
    /// The variables that are bound.
    pub results: Vec<SoacVariableId>,
    /// The certificates that the operation needs.
    pub certificates: Vec<SoacVariableId>,
    /// The operation.
    pub operation: HostOperation,
}

/// An operation of the host.
#[derive(Clone, Debug)]
pub enum HostOperation {
    /// An operation without bodies.
    Plain(SoacOperation),
    /// A choice.
    If(SoacOperand, SegmentBody, SegmentBody),
    /// A loop: parameters with their first values, its form, and the values for the next iteration.
    Loop(
        Vec<(SoacVariableId, SoacOperand)>,
        SoacLoopForm,
        SegmentBody,
    ),
    /// A body that writes arrays through accumulators. The results are the arrays of all accumulators, then those of the body.
    WithAccumulators(Vec<SoacAccumulator>, SegmentBody),
    /// Parallel code.
    Parallel(Box<ParallelOperation>),
    /// A map with a workgroup for each point, whose invocations share the combinators of the body. These must be
    /// narrow, and the arrays of the body fit into the memory of a workgroup. Otherwise another body with the same
    /// results.
    Grouped(Box<ParallelOperation>, SegmentBody),
}

/// A dimension of a space.
#[derive(Clone, Copy, Debug)]
pub struct SpaceDimension {
    /// The position, an `i64`.
    pub index: SoacVariableId,
    /// The number of positions.
    pub size: SoacOperand,
}

/// A body that runs for each point of a space, in any order. The last dimension of a space that is folded is the segment; the others
/// number the segments.
#[derive(Clone, Debug)]
pub struct ParallelOperation {
    /// The dimensions, outermost first. A map over no dimension runs once.
    pub space: Vec<SpaceDimension>,
    /// The body of a point. Its combinators run one element after the other.
    pub body: SoacBody,
    /// The use of the body's results.
    pub kind: SegmentKind,
}

/// The use of the results of a body.
#[derive(Clone, Debug)]
pub enum SegmentKind {
    /// Each result is an element of an array of the space's sizes.
    Map,
    /// The first results are reduced along the last dimension, the others are elements of arrays.
    Reduce(SegmentFold),
    /// The first results are scanned along the last dimension, the others are elements of arrays.
    Scan(SegmentFold),
    /// The first results are a position, and values that are combined with the elements of arrays at that position. Positions
    /// outside are ignored. The others are elements of arrays.
    Histogram(SegmentHistogram),
    /// The first results are a position and a value for each array, whose element at that position the value replaces. Positions
    /// outside are ignored. The arrays are consumed. They have the sizes of all but the last dimension in front of their own. The other
    /// results are elements of arrays.
    Scatter(Vec<SoacOperand>),
}

/// An associative function and its neutral element.
#[derive(Clone, Debug)]
pub struct SegmentFold {
    /// The function. It may use the indices of all but the last dimension.
    pub function: SoacLambda,
    /// The neutral element, which is the same for all points.
    pub neutral: Vec<SoacOperand>,
    /// Whether the operands of the function may change places.
    pub is_commutative: bool,
}

impl SegmentFold {
    /// The fold of a function with a neutral element.
    pub fn new(function: &SoacLambda, neutral: &[SoacOperand], is_commutative: bool) -> Self {
        SegmentFold {
            function: function.clone(),
            neutral: neutral.to_vec(),
            is_commutative,
        }
    }
}

/// The arrays of a histogram, and the associative and commutative function that combines their elements with values.
#[derive(Clone, Debug)]
pub struct SegmentHistogram {
    /// The arrays, which are consumed. They have the sizes of all but the last dimension in front of their own.
    pub targets: Vec<SoacOperand>,
    /// The function, and its neutral element.
    pub fold: SegmentFold,
}

impl ParallelOperation {
    /// Calls a function with the body of a point, and that of the function of a fold.
    pub(crate) fn for_each_body<'b>(&'b self, visit: &mut dyn FnMut(&'b SoacBody)) {
        visit(&self.body);
        if let Some(fold) = self.fold() {
            visit(&fold.function.body);
        }
    }

    /// The variables of the positions.
    pub fn indices(&self) -> Vec<SoacVariableId> {
        self.space.iter().map(|dimension| dimension.index).collect()
    }

    /// The function with its neutral element, if results are folded.
    pub fn fold(&self) -> Option<&SegmentFold> {
        match &self.kind {
            SegmentKind::Reduce(fold) | SegmentKind::Scan(fold) => Some(fold),
            SegmentKind::Histogram(histogram) => Some(&histogram.fold),
            SegmentKind::Map | SegmentKind::Scatter(_) => None,
        }
    }

    /// The number of results of the body that are no elements of arrays.
    pub fn count_inputs(&self) -> usize {
        match &self.kind {
            SegmentKind::Map => 0,
            SegmentKind::Reduce(fold) | SegmentKind::Scan(fold) => fold.neutral.len(),
            SegmentKind::Histogram(histogram) => histogram.targets.len() + 1,
            SegmentKind::Scatter(targets) => 2 * targets.len(),
        }
    }

    /// The number of variables that are bound to no arrays of elements.
    pub fn count_outputs(&self) -> usize {
        match &self.kind {
            SegmentKind::Map => 0,
            SegmentKind::Reduce(fold) | SegmentKind::Scan(fold) => fold.neutral.len(),
            SegmentKind::Histogram(histogram) => histogram.targets.len(),
            SegmentKind::Scatter(targets) => targets.len(),
        }
    }

    /// Arrays that the operation changes in place.
    pub fn targets(&self) -> &[SoacOperand] {
        match &self.kind {
            SegmentKind::Histogram(histogram) => &histogram.targets,
            SegmentKind::Scatter(targets) => targets,
            _ => &[],
        }
    }
}
