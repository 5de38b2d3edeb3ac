//! Fused maps as loops in kernels.

use super::group_map::{SharedFold, can_fail};
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use spirula_soac::ir::{FusedSink, SoacFusedMap, SoacVariableId};

/// The targets that a fused map changes with each of its elements.
struct LoweredSink {
    /// The state of a reduction or scan.
    states: Vec<LoweredValue>,
    /// The results of a scan, or the arrays that are changed in place.
    arrays: Vec<ArrayView>,
}

impl FunctionLowering<'_> {
    /// Lowers a fused map to a loop.
    pub(super) fn lower_fused(
        &mut self,
        results: &[SoacVariableId],
        fused: &SoacFusedMap,
    ) -> Result<(), String> {
        let width = self.scalar(fused.width)?;
        let arrays = self.element_sources(&fused.arrays)?;
        let (heads, mapped) = results.split_at(fused.sink.count_results().min(results.len()));
        let others = self.make_result_arrays(mapped)?;
        let can_fail = can_fail(&fused.function.body);
        let element = |lowering: &mut Self, index| {
            lowering.bind_elements(&fused.function.parameters, &arrays, index)?;
            let mut values = lowering.lower_body(&fused.function.body)?;
            let rest = values.split_off(fused.sink.count_inputs().min(values.len()));
            lowering.write_point(&others, &[index], &rest)?;
            Ok(values)
        };
        let (states, targets) = match &fused.sink {
            FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) if self.is_in_group() => {
                let targets = self.sink_arrays(&fused.sink, heads)?;
                let fold = SharedFold {
                    function: &fold.function,
                    neutral: &fold.neutral,
                    width,
                    targets: &targets,
                    can_fail,
                };
                (self.share_fold(&fold, element)?, targets)
            }
            _ => {
                let sink = self.begin_sink(&fused.sink, heads)?;
                self.visit_elements(width, can_fail, |lowering, index| {
                    let values = element(lowering, index)?;
                    lowering.feed_sink(&fused.sink, &sink, index, values)
                })?;
                (sink.states, sink.arrays)
            }
        };
        self.set_folded(heads, states, targets);
        self.set_arrays(mapped, others);
        Ok(())
    }

    /// The results of a scan, or the arrays that are changed in place.
    fn sink_arrays(
        &mut self,
        sink: &FusedSink,
        results: &[SoacVariableId],
    ) -> Result<Vec<ArrayView>, String> {
        match sink {
            FusedSink::Scan(_) => self.make_result_arrays(results),
            _ => self.arrays(sink.targets()),
        }
    }

    fn begin_sink(
        &mut self,
        sink: &FusedSink,
        results: &[SoacVariableId],
    ) -> Result<LoweredSink, String> {
        let arrays = self.sink_arrays(sink, results)?;
        let states = match sink {
            FusedSink::Reduce(fold, _) | FusedSink::Scan(fold) => {
                let initial = self.operand_values(&fold.neutral)?;
                self.make_states(&initial)?
            }
            FusedSink::Scatter(_) | FusedSink::Histogram(..) => Vec::new(),
        };
        Ok(LoweredSink { states, arrays })
    }

    /// Uses the values of an element.
    fn feed_sink(
        &mut self,
        sink: &FusedSink,
        lowered: &LoweredSink,
        index: ScalarRef,
        mut values: Vec<LoweredValue>,
    ) -> Result<(), String> {
        let LoweredSink { states, arrays } = lowered;
        match sink {
            FusedSink::Reduce(fold, _) => self.combine_states(&fold.function, states, &values),
            FusedSink::Scan(fold) => {
                self.combine_states(&fold.function, states, &values)?;
                self.write_point(arrays, &[index], states)
            }
            FusedSink::Scatter(_) => self.scatter_values(arrays, &values),
            FusedSink::Histogram(_, fold) => {
                let LoweredValue::Scalar(position) = values.remove(0) else {
                    return Err("the position of a fused map is no scalar".into());
                };
                self.if_inside(position, arrays[0].shape[0], |lowering| {
                    lowering.combine_rows(&fold.function, arrays, position, &values)
                })
            }
        }
    }
}
