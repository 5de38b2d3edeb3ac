//! Loads and stores through pointers.

use super::binding::TileLowering;
use super::fault;
use crate::TritonResult;
use crate::emit::{storage_type, value_type};
use crate::ir::{TileElement, TileOperation, ValueId};

impl<'m> TileLowering<'m, '_> {
    /// Emits the load of one element. Where its mask does not hold, it is the value for other elements, or zero.
    pub fn emit_load(
        &mut self,
        operation: &'m TileOperation,
        index: &[String],
    ) -> TritonResult<String> {
        let [pointer, masks @ ..] = operation.operands.as_slice() else {
            return Err(fault(&operation.place, "a load needs a pointer"));
        };
        let element = self.type_of(operation.results[0]).element.clone();
        let address = self.evaluate(*pointer, index)?;
        let Some(mask) = masks.first() else {
            return Ok(self.load_from(&element, &address));
        };
        let mask = self.evaluate(*mask, index)?;
        let other = match masks.get(1) {
            Some(other) => {
                let other = self.evaluate(*other, index)?;
                self.make_stored(&element, &other)
            }
            None => zero_stored(&element).to_owned(),
        };
        let storage = storage_type(&element);
        let variable = self.kernel.text.make_variable(&storage);
        let text = &mut self.kernel.text;
        text.act(format!("store {storage} {other}, ptr {variable}"));
        self.emit_if(&mask, &mut |lowering| {
            let text = &mut lowering.kernel.text;
            let loaded = text.compute(load_instruction(&element, &address));
            text.act(format!("store {storage} {loaded}, ptr {variable}"));
            Ok(())
        })?;
        let stored = self
            .kernel
            .text
            .compute(format!("load {storage}, ptr {variable}"));
        Ok(self.read_stored(&element, &stored))
    }

    /// Loads from an address.
    pub fn load_from(&mut self, element: &TileElement, address: &str) -> String {
        let stored = self.kernel.text.compute(load_instruction(element, address));
        self.read_stored(element, &stored)
    }

    /// Lowers `tt.store`.
    pub fn lower_store(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let [pointer, value, mask @ ..] = operation.operands.as_slice() else {
            return Err(fault(
                &operation.place,
                "a store needs a pointer and a value",
            ));
        };
        let (pointer, value, mask) = (*pointer, *value, mask.first().copied());
        match &self.type_of(pointer).shape {
            None => self.emit_alone(&mut |lowering| lowering.store_one(pointer, value, mask, &[])),
            Some(shape) => {
                self.kernel.emit_barrier();
                self.for_each_element(shape, &mut |lowering, index| {
                    lowering.store_one(pointer, value, mask, index)
                })?;
                self.kernel.emit_barrier();
                Ok(())
            }
        }
    }

    fn store_one(
        &mut self,
        pointer: ValueId,
        value: ValueId,
        mask: Option<ValueId>,
        index: &[String],
    ) -> TritonResult<()> {
        let element = self.type_of(value).element.clone();
        let Some(mask) = mask else {
            return self.store_unmasked(pointer, value, &element, index);
        };
        let mask = self.evaluate(mask, index)?;
        self.emit_if(&mask, &mut |lowering| {
            lowering.store_unmasked(pointer, value, &element, index)
        })
    }

    fn store_unmasked(
        &mut self,
        pointer: ValueId,
        value: ValueId,
        element: &TileElement,
        index: &[String],
    ) -> TritonResult<()> {
        let value = self.evaluate(value, index)?;
        let address = self.evaluate(pointer, index)?;
        let stored = self.make_stored(element, &value);
        let storage = storage_type(element);
        let pointer = "ptr addrspace(1)";
        let bytes = element.bits().max(8) / 8;
        self.kernel.text.act(format!(
            "store {storage} {stored}, {pointer} {address}, align {bytes}"
        ));
        Ok(())
    }
}

/// The instruction that loads an element from an address.
fn load_instruction(element: &TileElement, address: &str) -> String {
    let bytes = element.bits().max(8) / 8;
    let storage = storage_type(element);
    format!("load {storage}, ptr addrspace(1) {address}, align {bytes}")
}

/// The zero of a type in memory.
pub(super) fn zero_stored(element: &TileElement) -> &'static str {
    match value_type(element).as_str() {
        "float" | "double" | "half" => "0.0",
        _ => "0",
    }
}
