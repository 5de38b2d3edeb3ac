//! Memory as objects of bytes; each byte knows which value it is part of.

use super::value::{AbstractScalar, LeafType, ObjectAddress, ValueLeaf};

/// A byte of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbstractByte {
    /// Any value.
    Any,
    /// A known value.
    Byte(u8),
    /// A byte of a NaN with a width in bits, by its index.
    Nan(u8, u8),
    /// A byte of an address, by its index.
    Address(ObjectAddress, u8),
}

/// All objects.
#[derive(Default)]
pub struct AbstractMemory {
    objects: Vec<Vec<AbstractByte>>,
}

impl AbstractMemory {
    /// Allocates an object whose bytes may be anything.
    pub fn allocate_object(&mut self, size: u64) -> ObjectAddress {
        self.objects.push(vec![AbstractByte::Any; size as usize]);
        ObjectAddress {
            object: self.objects.len() - 1,
            offset: 0,
        }
    }

    /// The bytes of an object.
    pub fn object_cells(&mut self, number: usize) -> &mut Vec<AbstractByte> {
        &mut self.objects[number]
    }

    /// Bytes at an address; `None` if they are not all within the object.
    pub fn cells_at(&mut self, address: ObjectAddress, size: u64) -> Option<&mut [AbstractByte]> {
        let from = usize::try_from(address.offset).ok()?;
        let to = from.checked_add(size as usize)?;
        self.objects.get_mut(address.object)?.get_mut(from..to)
    }

    /// Loads a scalar.
    pub fn load_scalar(
        &mut self,
        address: ObjectAddress,
        leaf: ValueLeaf,
    ) -> Option<AbstractScalar> {
        let kind = leaf.kind;
        let address = offset_address(address, leaf.offset);
        let cells = self.cells_at(address, u64::from(kind.bit_width().div_ceil(8)))?;
        Some(join_cells(cells, kind))
    }

    /// Stores a scalar.
    pub fn store_scalar(
        &mut self,
        address: ObjectAddress,
        leaf: ValueLeaf,
        value: AbstractScalar,
    ) -> Option<()> {
        let size = leaf.kind.bit_width().div_ceil(8);
        let cells = self.cells_at(offset_address(address, leaf.offset), u64::from(size))?;
        for (n, cell) in cells.iter_mut().enumerate() {
            *cell = match value {
                AbstractScalar::Any => AbstractByte::Any,
                AbstractScalar::Nan => AbstractByte::Nan(leaf.kind.bit_width() as u8, n as u8),
                AbstractScalar::Bits(bits) => AbstractByte::Byte((bits >> (8 * n)) as u8),
                AbstractScalar::Address(address) => AbstractByte::Address(address, n as u8),
            };
        }
        Some(())
    }
}

/// Adds an offset to an address.
pub fn offset_address(address: ObjectAddress, bytes: u64) -> ObjectAddress {
    ObjectAddress {
        offset: address.offset.wrapping_add(bytes as i64),
        ..address
    }
}

/// The scalar that some bytes represent.
fn join_cells(cells: &[AbstractByte], kind: LeafType) -> AbstractScalar {
    if let LeafType::Float(bits) = kind {
        let mut all = cells.iter().enumerate();
        if all.all(|(n, cell)| *cell == AbstractByte::Nan(bits as u8, n as u8)) {
            return AbstractScalar::Nan;
        }
    }
    if let AbstractByte::Address(address, 0) = cells[0] {
        let mut all = cells.iter().enumerate();
        let is_whole = all.all(|(n, cell)| *cell == AbstractByte::Address(address, n as u8));
        return if is_whole && kind.bit_width() == 64 {
            AbstractScalar::Address(address)
        } else {
            AbstractScalar::Any
        };
    }
    let mut bits = 0;
    for (n, cell) in cells.iter().enumerate() {
        match cell {
            AbstractByte::Byte(byte) => bits |= u128::from(*byte) << (8 * n),
            _ => return AbstractScalar::Any,
        }
    }
    super::float::scalar_from_bits(kind, bits)
}
