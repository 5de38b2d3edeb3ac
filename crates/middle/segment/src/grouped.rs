//! Maps by workgroups: a body with several narrow combinators runs as one kernel, a workgroup for each point of the nest. This is
//! the version within a workgroup of Henriksen et al., "Incremental flattening for nested data parallelism" (PPoPP 2019).

use crate::distribute::SMALL_WIDTH;
use crate::ir::{HostOperation, SegmentBody, SegmentKind, SegmentStatement};
use crate::nest::MapNest;
use crate::scope::{contains_operation, find_width, is_simple};
use crate::translate::SegmentTranslation;
use spirula_soac::ir::{
    FusedSink, SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};

/// Elements for each invocation of a workgroup up to which it shares a combinator.
pub(crate) const MOST_TURNS: i64 = 4;

impl SegmentTranslation {
    /// Whether the invocations of a workgroup can share the work of a body, and gain by it: one kernel does the work of several.
    pub(crate) fn is_groupable(&self, body: &SoacBody) -> bool {
        self.profile.runs_in_lockstep()
            && self.count_launches(body) > 1
            && self.can_share_body(body)
    }

    /// A statement that runs a body by workgroups, or else statements with the same results; and its own results.
    pub(crate) fn make_grouped(
        &mut self,
        nest: &MapNest,
        body: &SoacBody,
        statements: Vec<SegmentStatement>,
        results: &[SoacVariableId],
    ) -> (Vec<SegmentStatement>, Vec<SoacVariableId>) {
        let twins: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let operation = nest.make_operation(&mut self.signature, body, &SegmentKind::Map);
        let results = results.iter();
        let otherwise = SegmentBody {
            statements,
            results: results.map(|&id| SoacOperand::Variable(id)).collect(),
        };
        let statement = SegmentStatement {
            results: twins.clone(),
            certificates: Vec::new(),
            operation: HostOperation::Grouped(Box::new(operation), otherwise),
        };
        (vec![statement], twins)
    }

    /// The number of launches that a body takes at least, where its combinators are launched one by one. Combinators with a few
    /// elements need none.
    fn count_launches(&self, body: &SoacBody) -> usize {
        let statements = body.statements.iter();
        let counts = statements.map(|statement| match &statement.operation {
            SoacOperation::Loop(_, _, body) => 2 * self.count_launches(body),
            SoacOperation::If(_, accept, reject) => {
                self.count_launches(accept).max(self.count_launches(reject))
            }
            operation => {
                let width = find_width(&self.signature, operation).map(SoacOperand::to_int64);
                usize::from(
                    width.is_some_and(|width| width.is_none_or(|width| width > SMALL_WIDTH)),
                )
            }
        });
        counts.sum()
    }

    fn can_share_body(&self, body: &SoacBody) -> bool {
        let mut statements = body.statements.iter();
        statements.all(|statement| self.can_share(&statement.operation))
    }

    /// Whether the invocations of a workgroup can share an operation.
    fn can_share(&self, operation: &SoacOperation) -> bool {
        match operation {
            SoacOperation::Scalar(..)
            | SoacOperation::Check(..)
            | SoacOperation::Slice(..)
            | SoacOperation::Update(..)
            | SoacOperation::Literal(..)
            | SoacOperation::Iota(..)
            | SoacOperation::Replicate(..)
            | SoacOperation::Concat(..)
            | SoacOperation::Reshape(..)
            | SoacOperation::Rearrange(..)
            | SoacOperation::Manifest(..)
            | SoacOperation::Scatter(..) => true,
            SoacOperation::If(_, accept, reject) => {
                self.can_share_body(accept) && self.can_share_body(reject)
            }
            SoacOperation::Loop(_, _, body) => self.can_share_body(body),
            SoacOperation::Map(width, _, function) => {
                self.is_narrow(*width) && has_no_accumulators(&function.body)
            }
            SoacOperation::Reduce(width, _, neutral, function, _)
            | SoacOperation::Scan(width, _, neutral, function) => {
                self.is_narrow(*width) && self.can_share_fold(neutral, function)
            }
            SoacOperation::Fused(fused) => {
                let can_share = match &fused.sink {
                    FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) => {
                        self.can_share_fold(&fold.neutral, &fold.function)
                    }
                    FusedSink::Scatter(_) => true,
                    FusedSink::Histogram(..) => false,
                };
                can_share
                    && self.is_narrow(fused.width)
                    && has_no_accumulators(&fused.function.body)
            }
            _ => false,
        }
    }

    /// Whether the states of invocations are scalars that a simple function combines.
    fn can_share_fold(&self, neutral: &[SoacOperand], function: &SoacLambda) -> bool {
        let mut neutral = neutral.iter();
        let is_scalar =
            |&operand: &SoacOperand| matches!(self.signature.type_of(operand), SoacType::Scalar(_));
        neutral.all(is_scalar) && is_simple(function)
    }

    /// Whether a width may be that of a combinator that a workgroup shares.
    fn is_narrow(&self, width: SoacOperand) -> bool {
        let most = self.profile.chunk_group_size * MOST_TURNS;
        width.to_int64().is_none_or(|width| width <= most)
    }
}

/// Whether nothing in a body writes accumulators: the writes of a workgroup's invocations could meet.
fn has_no_accumulators(body: &SoacBody) -> bool {
    !contains_operation(&body.statements, &|operation| {
        matches!(
            operation,
            SoacOperation::Accumulate(..) | SoacOperation::WithAccumulators(..)
        )
    })
}
