//! Streamed scans: each element is computed in the loop of the reduction that reads it.

use super::element::ElementSource;
use super::view::ScalarRef;
use super::{FunctionLowering, LoweredValue};
use spirula_soac::ir::{FusedSink, SoacLambda, SoacOperation, SoacStatement, SoacVariableId};
use std::rc::Rc;

/// A scan whose elements are computed when they are read.
#[derive(Debug)]
pub(super) struct StreamedScan {
    /// The arrays that it reads.
    sources: Vec<ElementSource>,
    /// The function that is applied to their elements first, if any.
    map: Option<SoacLambda>,
    /// The function that combines the states with an element.
    function: SoacLambda,
    /// The elements of the results at the position that was computed last.
    pub states: Vec<LoweredValue>,
}

impl FunctionLowering<'_> {
    /// Whether a statement is a streamed scan. The invocations of a workgroup share other scans.
    pub(super) fn is_streamed(&self, statement: &SoacStatement) -> bool {
        self.streamed_scans.contains(statement) && !self.is_in_group()
    }

    /// Gives the results of a streamed scan their first states.
    pub(super) fn begin_stream(
        &mut self,
        results: &[SoacVariableId],
        operation: &SoacOperation,
    ) -> Result<(), String> {
        let (arrays, map, neutral, function) = match operation {
            SoacOperation::Scan(_, arrays, neutral, function) => (arrays, None, neutral, function),
            SoacOperation::Fused(fused) => match &fused.sink {
                FusedSink::Scan(fold) => {
                    let map = Some(fused.function.clone());
                    (&fused.arrays, map, &fold.neutral, &fold.function)
                }
                _ => return Err("a streamed operation is no scan".into()),
            },
            _ => return Err("a streamed operation is no scan".into()),
        };
        let sources = self.element_sources(arrays)?;
        let initial = self.operand_values(neutral)?;
        let scan = Rc::new(StreamedScan {
            sources,
            map,
            function: function.clone(),
            states: self.make_states(&initial)?,
        });
        for (result, &id) in results.iter().enumerate() {
            self.set(id, LoweredValue::Streamed(Rc::clone(&scan), result));
        }
        Ok(())
    }

    /// Computes the elements at a position of each streamed scan among sources.
    pub(super) fn step_streams(
        &mut self,
        sources: &[ElementSource],
        position: ScalarRef,
    ) -> Result<(), String> {
        let mut stepped: Vec<&Rc<StreamedScan>> = Vec::new();
        for source in sources {
            if let ElementSource::Streamed(scan, _) = source
                && !stepped.iter().any(|other| Rc::ptr_eq(other, scan))
            {
                self.step_stream(scan, position)?;
                stepped.push(scan);
            }
        }
        Ok(())
    }

    fn step_stream(&mut self, scan: &StreamedScan, position: ScalarRef) -> Result<(), String> {
        let values = match &scan.map {
            Some(map) => {
                self.bind_elements(&map.parameters, &scan.sources, position)?;
                self.lower_body(&map.body)?
            }
            None => self.source_values(&scan.sources, position)?,
        };
        self.combine_states(&scan.function, &scan.states, &values)
    }
}
