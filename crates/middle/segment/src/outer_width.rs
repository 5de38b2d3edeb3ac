//! The choice between forms of a nest by its width, which the host makes.

use crate::ir::{HostOperation, SegmentBody, SegmentStatement};
use crate::nest::{MapNest, add_variable};
use crate::translate::SegmentTranslation;
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use spirula_soac::ir::{SoacOperand, SoacOperation, SoacType, SoacVariableId};

impl SegmentTranslation {
    /// Whether the nest alone is enough parallelism.
    fn compare_width(&mut self, nest: &MapNest, out: &mut Vec<SegmentStatement>) -> SoacOperand {
        let mut product = SoacOperand::from_int64(1);
        for size in nest.sizes() {
            let multiply = ScalarOperator::with_type(ScalarOp::Mul, ScalarType::I64);
            product = self.push_scalar(multiply, vec![product, size], out);
        }
        let enough = self.push_threshold(nest, out);
        let compare = ScalarOperator::with_type(ScalarOp::SLe, ScalarType::I64);
        self.push_scalar(compare, vec![enough, product], out)
    }

    /// Adds a choice between two versions of a nest. The first is taken where the nest alone is enough parallelism.
    pub(crate) fn push_choice(
        &mut self,
        nest: &MapNest,
        results: &[SoacVariableId],
        versions: [SegmentBody; 2],
        out: &mut Vec<SegmentStatement>,
    ) {
        let condition = self.compare_width(nest, out);
        let [accept, reject] = versions;
        out.push(SegmentStatement {
            results: results.to_vec(),
            certificates: Vec::new(),
            operation: HostOperation::If(condition, accept, reject),
        });
    }

    /// The width from which on a nest is enough parallelism: a tuning parameter, unless the widths are constants.
    fn push_threshold(&mut self, nest: &MapNest, out: &mut Vec<SegmentStatement>) -> SoacOperand {
        let default = self.profile.enough_width;
        let sizes = nest.sizes();
        if sizes
            .iter()
            .all(|size| matches!(size, SoacOperand::Constant(_)))
        {
            return SoacOperand::from_int64(default);
        }
        let name = format!("{}.outer_width_{}", self.signature.name, self.thresholds);
        self.thresholds += 1;
        let id = add_variable(&mut self.signature, "t", SoacType::Scalar(ScalarType::I64));
        out.push(SegmentStatement {
            results: vec![id],
            certificates: Vec::new(),
            operation: HostOperation::Plain(SoacOperation::Parameter(name.into(), Some(default))),
        });
        SoacOperand::Variable(id)
    }

    fn push_scalar(
        &mut self,
        operator: ScalarOperator,
        operands: Vec<SoacOperand>,
        out: &mut Vec<SegmentStatement>,
    ) -> SoacOperand {
        let id = add_variable(&mut self.signature, "w", SoacType::Scalar(operator.to));
        out.push(SegmentStatement {
            results: vec![id],
            certificates: Vec::new(),
            operation: HostOperation::Plain(SoacOperation::Scalar(operator, operands)),
        });
        SoacOperand::Variable(id)
    }
}
