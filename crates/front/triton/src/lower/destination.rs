//! Destinations: variables and buffers that carry values between blocks of control flow.

use super::binding::{TileBinding, TileLowering};
use super::buffer::TileBuffer;
use crate::TritonResult;
use crate::emit::storage_type;
use crate::ir::{TileElement, TileType, ValueId};

/// Where a value that control flow carries is kept.
#[derive(Clone, Debug)]
pub(super) enum CarriedPlace {
    /// A scalar in a variable of the function.
    Variable { name: String, element: TileElement },
    /// A tensor.
    Buffer(TileBuffer),
    /// The sum of the steps of a stepped tensor, in a variable, with the value before the loop and the tensor that each iteration
    /// adds.
    Stepped {
        name: String,
        initial: ValueId,
        step: ValueId,
    },
}

/// A value on its way to a place.
enum PendingValue {
    Scalar(String),
    Buffer(TileBuffer),
    Expression(ValueId),
    Done,
}

impl TileLowering<'_, '_> {
    /// A place for values of a type.
    pub fn make_place(&mut self, ty: &TileType) -> CarriedPlace {
        if ty.shape.is_some() {
            return CarriedPlace::Buffer(self.make_buffer(ty));
        }
        CarriedPlace::Variable {
            name: self.kernel.text.make_variable(&storage_type(&ty.element)),
            element: ty.element.clone(),
        }
    }

    /// Binds a value to what its place holds now.
    pub fn bind_place(&mut self, value: ValueId, place: &CarriedPlace) {
        match place {
            CarriedPlace::Variable { name, element } => {
                let scalar = self.load_variable(name, element);
                self.bind(value, TileBinding::Scalar(scalar));
            }
            CarriedPlace::Buffer(buffer) => {
                self.bind(value, TileBinding::Buffer(buffer.clone()));
            }
            CarriedPlace::Stepped { name, initial, .. } => {
                self.bind_stepped(value, *initial, name);
            }
        }
    }

    /// The scalar that a variable holds.
    pub fn load_variable(&mut self, name: &str, element: &TileElement) -> String {
        let storage = storage_type(element);
        let stored = self
            .kernel
            .text
            .compute(format!("load {storage}, ptr {name}"));
        self.read_stored(element, &stored)
    }

    /// Stores a scalar in a variable.
    pub fn store_variable(&mut self, name: &str, element: &TileElement, value: &str) {
        let storage = storage_type(element);
        let stored = self.make_stored(element, value);
        self.kernel
            .text
            .act(format!("store {storage} {stored}, ptr {name}"));
    }

    /// Moves values to their places, all at once: a value may depend on what a place of another one holds.
    pub fn move_values(&mut self, values: &[ValueId], places: &[CarriedPlace]) -> TritonResult<()> {
        let mut pending = Vec::new();
        for (value, place) in values.iter().zip(places) {
            pending.push(self.prepare_move(*value, place, values, places)?);
        }
        for (pending, place) in pending.into_iter().zip(places) {
            self.complete_move(pending, place)?;
        }
        Ok(())
    }

    /// Evaluates what must be evaluated before any place changes.
    fn prepare_move(
        &mut self,
        value: ValueId,
        place: &CarriedPlace,
        values: &[ValueId],
        places: &[CarriedPlace],
    ) -> TritonResult<PendingValue> {
        match place {
            CarriedPlace::Variable { element, .. } => {
                let scalar = self.evaluate_scalar(value)?;
                Ok(PendingValue::Scalar(self.make_stored(element, &scalar)))
            }
            CarriedPlace::Stepped { name, step, .. } => self.prepare_step(name, *step),
            CarriedPlace::Buffer(target) => {
                if let Some(TileBinding::Buffer(source)) = self.binding(value)
                    && source == target
                {
                    return Ok(PendingValue::Done);
                }
                let is_read = values.iter().any(|other| self.reads_buffer(*other, target));
                let reads_others = places.iter().any(|place| match place {
                    CarriedPlace::Buffer(buffer) => self.reads_buffer(value, buffer),
                    _ => false,
                });
                if !is_read && !reads_others {
                    return Ok(PendingValue::Expression(value));
                }
                let is_alone = values.len() == 1 && self.reads_in_place(value, target);
                if is_alone {
                    return Ok(PendingValue::Expression(value));
                }
                let copy = self.make_buffer(self.type_of(value));
                self.fill_buffer(&copy, value)?;
                Ok(PendingValue::Buffer(copy))
            }
        }
    }

    /// The sum of the steps after one more.
    fn prepare_step(&mut self, name: &str, step: ValueId) -> TritonResult<PendingValue> {
        let index = vec!["0".to_owned(); self.type_of(step).dimensions().len()];
        let mut added = self.evaluate(step, &index)?;
        let bits = self.type_of(step).element.bits();
        let text = &mut self.kernel.text;
        if bits < 64 {
            added = text.compute(format!("sext i{bits} {added} to i64"));
        }
        let sum = text.compute(format!("load i64, ptr {name}"));
        Ok(PendingValue::Scalar(
            text.compute(format!("add i64 {sum}, {added}")),
        ))
    }

    /// Writes to a place.
    fn complete_move(&mut self, pending: PendingValue, place: &CarriedPlace) -> TritonResult<()> {
        match (pending, place) {
            (PendingValue::Scalar(scalar), CarriedPlace::Variable { name, element }) => {
                let storage = storage_type(element);
                self.kernel
                    .text
                    .act(format!("store {storage} {scalar}, ptr {name}"));
            }
            (PendingValue::Scalar(scalar), CarriedPlace::Stepped { name, .. }) => {
                self.kernel
                    .text
                    .act(format!("store i64 {scalar}, ptr {name}"));
            }
            (PendingValue::Buffer(source), CarriedPlace::Buffer(target)) => {
                self.copy_buffer(&source, target)?;
            }
            (PendingValue::Expression(value), CarriedPlace::Buffer(target)) => {
                self.fill_buffer(target, value)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn copy_buffer(&mut self, source: &TileBuffer, target: &TileBuffer) -> TritonResult<()> {
        self.kernel.emit_barrier();
        self.for_each_element(&source.shape, &mut |lowering, index| {
            let element = lowering.load_element(source, index);
            lowering.store_element(target, index, &element);
            Ok(())
        })?;
        self.kernel.emit_barrier();
        Ok(())
    }

    /// Whether the evaluation of a value reads a buffer.
    fn reads_buffer(&self, value: ValueId, buffer: &TileBuffer) -> bool {
        match self.binding(value) {
            Some(TileBinding::Buffer(source)) => source == buffer,
            Some(TileBinding::Expression { operation, .. }) => operation
                .operands
                .iter()
                .any(|operand| self.reads_buffer(*operand, buffer)),
            Some(TileBinding::Stepped { initial, .. }) => self.reads_buffer(*initial, buffer),
            _ => false,
        }
    }

    /// Whether each element of a value depends on no other element of a buffer than that at its own index.
    fn reads_in_place(&self, value: ValueId, buffer: &TileBuffer) -> bool {
        match self.binding(value) {
            Some(TileBinding::Expression { operation, .. }) => {
                if super::binding::is_shape_operation(&operation.name) {
                    return !self.reads_buffer(value, buffer);
                }
                let mut operands = operation.operands.iter();
                operands.all(|operand| self.reads_in_place(*operand, buffer))
            }
            _ => true,
        }
    }
}
