//! Objects of bytes, of each of which is known what it is a part of.

use super::value::{Address, Kind, Leaf, Scalar};

/// A byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// It may be anything.
    Any,
    /// This number.
    Byte(u8),
    /// A byte of a NaN of so many bits, by its number.
    Nan(u8, u8),
    /// A byte of an address, by its number.
    Address(Address, u8),
}

/// All objects.
#[derive(Default)]
pub struct Memory {
    objects: Vec<Vec<Cell>>,
}

impl Memory {
    /// A new object of bytes that may be anything.
    pub fn allocate(&mut self, size: u64) -> Address {
        self.objects.push(vec![Cell::Any; size as usize]);
        Address {
            object: self.objects.len() - 1,
            offset: 0,
        }
    }

    /// The bytes of an object.
    pub fn object(&mut self, number: usize) -> &mut Vec<Cell> {
        &mut self.objects[number]
    }

    /// Bytes at an address; `None` where they are not all within the object.
    pub fn at(&mut self, address: Address, size: u64) -> Option<&mut [Cell]> {
        let from = usize::try_from(address.offset).ok()?;
        let to = from.checked_add(size as usize)?;
        self.objects.get_mut(address.object)?.get_mut(from..to)
    }

    /// Reads a scalar.
    pub fn load(&mut self, address: Address, leaf: Leaf) -> Option<Scalar> {
        let kind = leaf.kind;
        let address = behind(address, leaf.offset);
        let cells = self.at(address, u64::from(kind.bits().div_ceil(8)))?;
        Some(join(cells, kind))
    }

    /// Writes a scalar.
    pub fn store(&mut self, address: Address, leaf: Leaf, value: Scalar) -> Option<()> {
        let size = leaf.kind.bits().div_ceil(8);
        let cells = self.at(behind(address, leaf.offset), u64::from(size))?;
        for (n, cell) in cells.iter_mut().enumerate() {
            *cell = match value {
                Scalar::Any => Cell::Any,
                Scalar::Nan => Cell::Nan(leaf.kind.bits() as u8, n as u8),
                Scalar::Bits(bits) => Cell::Byte((bits >> (8 * n)) as u8),
                Scalar::Address(address) => Cell::Address(address, n as u8),
            };
        }
        Some(())
    }
}

/// An address further on.
pub fn behind(address: Address, bytes: u64) -> Address {
    Address {
        offset: address.offset.wrapping_add(bytes as i64),
        ..address
    }
}

/// The scalar that bytes are.
fn join(cells: &[Cell], kind: Kind) -> Scalar {
    if let Kind::Float(bits) = kind {
        let mut all = cells.iter().enumerate();
        if all.all(|(n, cell)| *cell == Cell::Nan(bits as u8, n as u8)) {
            return Scalar::Nan;
        }
    }
    if let Cell::Address(address, 0) = cells[0] {
        let mut all = cells.iter().enumerate();
        let is_whole = all.all(|(n, cell)| *cell == Cell::Address(address, n as u8));
        return match is_whole && kind.bits() == 64 {
            true => Scalar::Address(address),
            false => Scalar::Any,
        };
    }
    let mut bits = 0;
    for (n, cell) in cells.iter().enumerate() {
        match cell {
            Cell::Byte(byte) => bits |= u128::from(*byte) << (8 * n),
            _ => return Scalar::Any,
        }
    }
    super::float::known(kind, bits)
}
