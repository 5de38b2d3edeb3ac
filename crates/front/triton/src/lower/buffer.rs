//! Buffers: tensors in workgroup memory, element by element in the order of the last dimension.

use super::binding::{TileBinding, TileLowering};
use crate::TritonResult;
use crate::emit::{storage_type, value_type};
use crate::ir::{TileElement, TileType, ValueId};

/// A tensor in workgroup memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TileBuffer {
    /// Name of the array.
    pub name: String,
    pub shape: Vec<u64>,
    pub element: TileElement,
}

impl TileLowering<'_, '_> {
    /// A new buffer for a tensor.
    pub fn make_buffer(&mut self, ty: &TileType) -> TileBuffer {
        let count = ty.count_elements();
        let storage = storage_type(&ty.element);
        let buffer = TileBuffer {
            name: self.kernel.take_array(count, &storage, ty.element.bits()),
            shape: ty.dimensions().to_vec(),
            element: ty.element.clone(),
        };
        self.kernel.record_taken(&buffer);
        buffer
    }

    /// Address of an element of a buffer.
    pub fn address_element(&mut self, buffer: &TileBuffer, index: &[String]) -> String {
        let linear = self.linearise(&buffer.shape, index);
        let storage = storage_type(&buffer.element);
        let count: u64 = buffer.shape.iter().product();
        self.kernel.text.compute(format!(
            "getelementptr [{count} x {storage}], ptr addrspace(3) {}, i64 0, i32 {linear}",
            buffer.name
        ))
    }

    /// Loads an element of a buffer.
    pub fn load_element(&mut self, buffer: &TileBuffer, index: &[String]) -> String {
        let address = self.address_element(buffer, index);
        let storage = storage_type(&buffer.element);
        let text = &mut self.kernel.text;
        let stored = text.compute(format!("load {storage}, ptr addrspace(3) {address}"));
        self.read_stored(&buffer.element, &stored)
    }

    /// Stores an element of a buffer.
    pub fn store_element(&mut self, buffer: &TileBuffer, index: &[String], value: &str) {
        let stored = self.make_stored(&buffer.element, value);
        let address = self.address_element(buffer, index);
        let storage = storage_type(&buffer.element);
        let text = &mut self.kernel.text;
        text.act(format!(
            "store {storage} {stored}, ptr addrspace(3) {address}"
        ));
    }

    /// The value of what is stored in memory.
    pub fn read_stored(&mut self, element: &TileElement, stored: &str) -> String {
        let text = &mut self.kernel.text;
        match element {
            TileElement::Integer(1) => text.compute(format!("icmp ne i8 {stored}, 0")),
            TileElement::Pointer(_) => {
                text.compute(format!("inttoptr i64 {stored} to {}", value_type(element)))
            }
            _ => stored.to_owned(),
        }
    }

    /// Converts a value to its form in memory.
    pub fn make_stored(&mut self, element: &TileElement, value: &str) -> String {
        let text = &mut self.kernel.text;
        match element {
            TileElement::Integer(1) => text.compute(format!("zext i1 {value} to i8")),
            TileElement::Pointer(_) => {
                text.compute(format!("ptrtoint {} {value} to i64", value_type(element)))
            }
            _ => value.to_owned(),
        }
    }

    /// Stores all elements of a value in a buffer.
    pub fn fill_buffer(&mut self, buffer: &TileBuffer, value: ValueId) -> TritonResult<()> {
        self.kernel.emit_barrier();
        let shape = buffer.shape.clone();
        self.for_each_element(&shape, &mut |lowering, index| {
            let element = lowering.evaluate(value, index)?;
            lowering.store_element(buffer, index, &element);
            Ok(())
        })?;
        self.kernel.emit_barrier();
        Ok(())
    }

    /// The buffer of a tensor, which is filled where it has none.
    pub fn require_buffer(&mut self, value: ValueId) -> TritonResult<TileBuffer> {
        if let Some(TileBinding::Buffer(buffer)) = self.binding(value) {
            return Ok(buffer.clone());
        }
        let buffer = self.make_buffer(self.type_of(value));
        self.fill_buffer(&buffer, value)?;
        Ok(buffer)
    }
}
