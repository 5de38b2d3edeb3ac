//! Calls: the body of the function is lowered in the place of the call.

use super::binding::{TileBinding, TileLowering};
use super::destination::CarriedPlace;
use super::fault;
use crate::TritonResult;
use crate::ir::TileOperation;

/// Deepest nesting of calls. Recursive functions exceed it.
const MAX_CALLS: usize = 32;

/// Where a function that was called continues, and where it puts its results.
#[derive(Clone, Debug)]
pub(super) struct ReturnPoint {
    label: String,
    places: Vec<CarriedPlace>,
}

impl ReturnPoint {
    /// A label, and places for the results.
    pub fn new(label: String, places: Vec<CarriedPlace>) -> ReturnPoint {
        ReturnPoint { label, places }
    }
}

impl<'m> TileLowering<'m, '_> {
    /// Lowers `tt.call`.
    pub fn lower_call(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let name = operation.word_at(0).unwrap_or_default();
        let module = self.kernel.module;
        let Some(callee) = module.functions.iter().find(|f| f.name == name) else {
            let message = format!("the function @{name} is not defined");
            return Err(fault(&operation.place, message));
        };
        if self.kernel.call_depth >= MAX_CALLS {
            let message = format!("calls of @{name} are nested too deeply");
            return Err(fault(&operation.place, message));
        }
        let mut arguments = Vec::new();
        for operand in &operation.operands {
            arguments.push(if self.type_of(*operand).shape.is_some() {
                TileBinding::Buffer(self.require_buffer(*operand)?)
            } else {
                TileBinding::Scalar(self.evaluate_scalar(*operand)?)
            });
        }
        let results = operation.results.iter();
        let places = results.map(|result| self.make_place(self.type_of(*result)));
        let places: Vec<CarriedPlace> = places.collect();
        let label = self.kernel.text.make_label();
        self.kernel.call_depth += 1;
        let mut inner = TileLowering::new(callee, self.kernel);
        inner.return_to = Some(ReturnPoint::new(label.clone(), places.clone()));
        let parameters = callee.body.blocks.first().map(|block| &block.arguments);
        for (parameter, argument) in parameters.into_iter().flatten().zip(arguments) {
            inner.bind(*parameter, argument);
        }
        inner.lower_region(&callee.body)?;
        self.kernel.call_depth -= 1;
        self.kernel.text.begin_block(&label);
        for (result, place) in operation.results.iter().zip(&places) {
            self.bind_place(*result, place);
        }
        Ok(())
    }

    /// Lowers `tt.return`, and the end of a region that returns.
    pub fn lower_return(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let Some(point) = self.return_to.clone() else {
            self.kernel.text.act("ret void");
            return Ok(());
        };
        self.move_values(&operation.operands, &point.places)?;
        self.kernel.text.branch(&point.label);
        Ok(())
    }
}
