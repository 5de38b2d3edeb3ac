//! Interchange of maps and loops: a loop in the body of a map becomes a loop of the host over the body's operations, each
//! of which runs for all points of the nest. The number of iterations is the same for all points.

use crate::ir::{HostOperation, SegmentBody, SegmentStatement};
use crate::nest::MapNest;
use crate::translate::SegmentTranslation;
use spirula_soac::ir::{SoacBody, SoacLoopForm, SoacOperand, SoacVariableId};

impl SegmentTranslation {
    /// Makes a loop of the host. Its parameters are arrays with an element for each point. Returns whether it is possible.
    pub(crate) fn interchange_loop(
        &mut self,
        nest: &MapNest,
        parameters: &[(SoacVariableId, SoacOperand)],
        form: SoacLoopForm,
        body: &SoacBody,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let mut expand = || {
            let mut arrays = Vec::with_capacity(parameters.len());
            for &(id, _) in parameters {
                arrays.push(self.expand_variable(nest, id)?);
            }
            Some(arrays)
        };
        let (Some(first), Some(carried), Some(next)) = (expand(), expand(), expand()) else {
            return false;
        };
        let mut inner = nest.clone();
        for (&(id, _), &array) in parameters.iter().zip(&carried) {
            inner.made.insert(array);
            inner.define_element(id, SoacOperand::Variable(array), nest.point());
        }
        let mut statements = Vec::new();
        if !self.distribute_body(&inner, body, &next, &mut statements) {
            return false;
        }
        let initial = SoacBody {
            statements: Vec::new(),
            results: parameters.iter().map(|&(_, initial)| initial).collect(),
        };
        self.push_map(nest, &initial, &first, out);
        let first = first.into_iter().map(SoacOperand::Variable);
        let body = SegmentBody::from_variables(statements, next);
        out.push(SegmentStatement {
            results: results.to_vec(),
            certificates: Vec::new(),
            operation: HostOperation::Loop(carried.into_iter().zip(first).collect(), form, body),
        });
        true
    }
}
