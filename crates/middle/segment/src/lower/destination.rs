//! Destinations: where the arrays go that bodies of kernels make.

use super::view::ArrayView;
use super::{FunctionLowering, LoweredValue};
use spirula_soac::ir::{SoacBody, SoacOperand, SoacVariableId};

impl FunctionLowering<'_> {
    /// Has results of a body be made in arrays, of which nothing is read before they are complete.
    pub(super) fn aim_results(&mut self, body: &SoacBody, targets: &[Option<&ArrayView>]) {
        for (&result, target) in body.results.iter().zip(targets) {
            if let (SoacOperand::Variable(id), Some(target)) = (result, target)
                && self.kernel.is_some()
                && let Some(made) = self.direct_results.find_direct(id)
            {
                self.destinations.insert(made, (*target).clone());
            }
        }
    }

    /// Has results of a body be made in the arrays of its parameters that they replace, where that is done element by element.
    pub(super) fn aim_at_parameters(
        &mut self,
        body: &SoacBody,
        parameters: &[SoacVariableId],
        places: &[Option<&ArrayView>],
    ) {
        for ((&result, &parameter), place) in body.results.iter().zip(parameters).zip(places) {
            if let (SoacOperand::Variable(id), Some(place)) = (result, place)
                && self.kernel.is_some()
                && self.direct_results.replaces(id, parameter)
            {
                self.destinations.insert(id, (*place).clone());
            }
        }
    }

    /// The array in which a result is made: its destination, or a new one.
    pub(super) fn make_result_array(&mut self, id: SoacVariableId) -> Result<ArrayView, String> {
        if let Some(destination) = self.destinations.remove(&id) {
            return Ok(destination);
        }
        let (element, shape) = self.result_shape(id)?;
        Ok(self.new_array(element, shape))
    }

    /// Values that arrays are given at once. Those in memory of any of these arrays are copied, unless they stay where they are.
    pub(super) fn settle_values(
        &mut self,
        values: &[LoweredValue],
        targets: &[Option<&ArrayView>],
    ) -> Vec<LoweredValue> {
        let mut settled = Vec::with_capacity(values.len());
        for (value, target) in values.iter().zip(targets) {
            settled.push(match (value, target) {
                (LoweredValue::Array(view), Some(target)) if !view.is_same_place(target) => {
                    let mut others = targets.iter().flatten();
                    if others.any(|other| other.memory == view.memory) {
                        LoweredValue::Array(self.manifest_with(view, target.shape.clone()))
                    } else {
                        value.clone()
                    }
                }
                _ => value.clone(),
            });
        }
        settled
    }
}
