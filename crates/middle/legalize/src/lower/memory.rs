//! Loads and stores of values of any type, by the class of the pointer.

use super::ShaderLowering;
use super::types::WIDEST;
use crate::classes::{PointerRegion, PointsToSetId, common};
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Capability, MemoryAccess, StorageClass};

/// Most types within each other.
const DEEPEST: u32 = 64;

/// Where a value lies.
#[derive(Clone, Copy)]
pub struct ShaderMemoryLocation {
    /// Class of the pointer.
    pub class: PointsToSetId,
    /// The pointer.
    pub pointer: Id,
    /// The region, once it is known of a pointer of a generic class, which is an offset in it then.
    pub region: Option<PointerRegion>,
    /// Bytes behind it.
    pub offset: u64,
    /// What the pointer without the offset is aligned to.
    pub align: u32,
    /// Whether accesses are volatile.
    pub is_volatile: bool,
}

impl ShaderMemoryLocation {
    pub fn after(self, bytes: u64) -> ShaderMemoryLocation {
        ShaderMemoryLocation {
            offset: self.offset + bytes,
            ..self
        }
    }
}

impl ShaderLowering<'_> {
    /// Loads a value of a source type.
    pub fn load(&mut self, place: ShaderMemoryLocation, ty: Id) -> Result<Id, SourceDiagnostic> {
        self.load_part(place, ty, 0)
    }

    fn load_part(
        &mut self,
        place: ShaderMemoryLocation,
        ty: Id,
        depth: u32,
    ) -> Result<Id, SourceDiagnostic> {
        if depth > DEEPEST {
            return Err(self.facts.refuse(ty, "so deep a type"));
        }
        if let Some(scalar) = self.facts.scalar(ty) {
            return self.load_scalars(place, scalar, 1);
        }
        let def = self.facts.def(ty)?;
        if def.op() == Op::TypeVector
            && let Some(scalar) = self.facts.scalar(def.id(0))
            && def.word(1) <= WIDEST
        {
            return self.load_scalars(place, scalar, def.word(1));
        }
        let made = self.ty(ty)?;
        let mut parts = Vec::new();
        for (part, at) in self.facts.parts(ty)? {
            parts.push(self.load_part(place.after(at), part, depth + 1)?);
        }
        Ok(self.construct(made, parts))
    }

    /// Stores a value of a source type, given as it is kept within composites.
    pub fn store(
        &mut self,
        place: ShaderMemoryLocation,
        ty: Id,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        self.store_part(place, ty, value, 0)
    }

    fn store_part(
        &mut self,
        place: ShaderMemoryLocation,
        ty: Id,
        value: Id,
        depth: u32,
    ) -> Result<(), SourceDiagnostic> {
        if depth > DEEPEST {
            return Err(self.facts.refuse(ty, "so deep a type"));
        }
        if let Some(scalar) = self.facts.scalar(ty) {
            return self.store_scalars(place, scalar, 1, value);
        }
        let def = self.facts.def(ty)?;
        if def.op() == Op::TypeVector
            && let Some(scalar) = self.facts.scalar(def.id(0))
            && def.word(1) <= WIDEST
        {
            return self.store_scalars(place, scalar, def.word(1), value);
        }
        for (n, (part, at)) in self.facts.parts(ty)?.into_iter().enumerate() {
            let made = self.ty(part)?;
            let piece = self.extract(made, value, n as u32);
            self.store_part(place.after(at), part, piece, depth + 1)?;
        }
        Ok(())
    }

    /// Loads consecutive scalars.
    pub fn load_scalars(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
    ) -> Result<Id, SourceDiagnostic> {
        let part = self.scalar(scalar);
        let ty = self.vector(part, count);
        let Some(region) = self.region(place) else {
            return self.load_generic(place, scalar, count, ty);
        };
        let size = scalar.size();
        let align = common(place.align, place.offset);
        let is_physical = region == PointerRegion::Buffer;
        if is_physical && align >= size {
            let kept = self.kept(scalar);
            let stored = self.vector(kept, count);
            let id = self.load_physical(place, stored, size, align);
            return Ok(self.unkept(id, scalar, count));
        }
        let mut parts = Vec::new();
        for n in 0..count {
            let place = place.after(u64::from(n * size));
            parts.push(match is_physical {
                true => self.load_pieces(place, scalar, align),
                false => self.load_object(place, scalar)?,
            });
        }
        Ok(self.construct(ty, parts))
    }

    /// Stores consecutive scalars.
    pub fn store_scalars(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        let Some(region) = self.region(place) else {
            return self.store_generic(place, scalar, count, value);
        };
        let size = scalar.size();
        let align = common(place.align, place.offset);
        let is_physical = region == PointerRegion::Buffer;
        if is_physical && align >= size {
            let value = self.keep(value, scalar, count);
            let kept = self.kept(scalar);
            let stored = self.vector(kept, count);
            self.store_physical(place, stored, size, align, value);
            return Ok(());
        }
        let part = self.scalar(scalar);
        for n in 0..count {
            let one = match count {
                1 => value,
                _ => self.extract(part, value, n),
            };
            let place = place.after(u64::from(n * size));
            match is_physical {
                true => self.store_pieces(place, scalar, align, one),
                false => self.store_object(place, scalar, one)?,
            }
        }
        Ok(())
    }

    /// The type of a scalar in memory.
    fn kept(&mut self, scalar: MemoryScalar) -> Id {
        match scalar {
            MemoryScalar::Bool => self.int(8),
            other => self.scalar(other),
        }
    }

    fn unkept(&mut self, value: Id, scalar: MemoryScalar, count: u32) -> Id {
        if scalar != MemoryScalar::Bool {
            return value;
        }
        let zero = self.number(8, 0);
        let zero = self.splat(zero, count);
        let truth = self.b.bool();
        let ty = self.vector(truth, count);
        self.op(Op::INotEqual, ty, &[value, zero])
    }

    fn keep(&mut self, value: Id, scalar: MemoryScalar, count: u32) -> Id {
        if scalar != MemoryScalar::Bool {
            return value;
        }
        let (one, zero) = (self.number(8, 1), self.number(8, 0));
        let (one, zero) = (self.splat(one, count), self.splat(zero, count));
        let byte = self.int(8);
        let ty = self.vector(byte, count);
        self.op(Op::Select, ty, &[value, one, zero])
    }

    /// A pointer to something of a buffer.
    pub fn physical(&mut self, place: ShaderMemoryLocation, stored: Id, size: u32) -> Id {
        match size {
            1 => self.b.capability(Capability::StorageBuffer8BitAccess),
            2 => self.b.capability(Capability::StorageBuffer16BitAccess),
            _ => {}
        }
        let address = self.plus(64, place.pointer, place.offset as i64);
        let pointer = self.b.pointer(StorageClass::PhysicalStorageBuffer, stored);
        self.op(Op::ConvertUToPtr, pointer, &[address])
    }

    fn flags(&self, place: ShaderMemoryLocation) -> u32 {
        let volatile = match place.is_volatile {
            true => MemoryAccess::Volatile.0,
            false => 0,
        };
        volatile | MemoryAccess::NonPrivatePointer.0
    }

    fn load_physical(
        &mut self,
        place: ShaderMemoryLocation,
        stored: Id,
        size: u32,
        align: u32,
    ) -> Id {
        let pointer = self.physical(place, stored, size);
        let flags = self.flags(place) | MemoryAccess::Aligned.0;
        self.b
            .value(Op::Load, stored, &[pointer.word(), flags, align])
    }

    pub fn store_physical(
        &mut self,
        place: ShaderMemoryLocation,
        stored: Id,
        size: u32,
        align: u32,
        value: Id,
    ) {
        let pointer = self.physical(place, stored, size);
        let flags = self.flags(place) | MemoryAccess::Aligned.0;
        let words = [pointer.word(), value.word(), flags, align];
        self.b.effect(Op::Store, &words);
    }

    /// A scalar of a buffer that is not aligned to its size, in pieces.
    fn load_pieces(&mut self, place: ShaderMemoryLocation, scalar: MemoryScalar, align: u32) -> Id {
        let piece = self.int(align * 8);
        let pieces = (0..scalar.size() / align).map(|n| {
            let place = place.after(u64::from(n * align));
            self.load_physical(place, piece, align, align)
        });
        let pieces = pieces.collect();
        self.join_pieces(pieces, MemoryScalar::Int(align * 8), scalar)
    }

    fn store_pieces(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        align: u32,
        value: Id,
    ) {
        let piece = self.int(align * 8);
        let pieces = self.split_pieces(value, scalar, MemoryScalar::Int(align * 8));
        for (n, value) in pieces.into_iter().enumerate() {
            let place = place.after(n as u64 * u64::from(align));
            self.store_physical(place, piece, align, align, value);
        }
    }

    /// A pointer to element `n` behind what a place is at, of the array of its class.
    pub fn element(&mut self, place: ShaderMemoryLocation, n: u32) -> Result<Id, SourceDiagnostic> {
        let region = self.region(place).unwrap_or(PointerRegion::Own);
        let (array, class) = self.array(place.class, region)?;
        let element = self.classes.memory(place.class).element();
        let offset = place.offset as i64 + i64::from(n * element.size());
        let at = self.plus(32, place.pointer, offset);
        let shift = element.size().trailing_zeros();
        let index = match self.numbers.get(&at) {
            Some(value) => self.number(32, value >> shift),
            None if shift == 0 => at,
            None => {
                let (ty, shift) = (self.int(32), self.number(32, shift.into()));
                self.op(Op::ShiftRightLogical, ty, &[at, shift])
            }
        };
        let element = self.scalar(element);
        let pointer = self.b.pointer(class, element);
        Ok(self.op(Op::AccessChain, pointer, &[array, index]))
    }

    fn load_object(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
    ) -> Result<Id, SourceDiagnostic> {
        let memory = self.classes.memory(place.class);
        let (element, unit) = (memory.element(), memory.unit());
        if unit < element.size() {
            return self.load_packed(place, scalar, unit);
        }
        let ty = self.scalar(element);
        let mut pieces = Vec::new();
        for n in 0..(scalar.size() / element.size()).max(1) {
            let pointer = self.element(place, n)?;
            pieces.push(match self.object_flags(place) {
                Some(flags) => self.b.value(Op::Load, ty, &[pointer.word(), flags]),
                None => self.op(Op::Load, ty, &[pointer]),
            });
        }
        Ok(self.join_pieces(pieces, element, scalar))
    }

    fn store_object(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        let memory = self.classes.memory(place.class);
        let (element, unit) = (memory.element(), memory.unit());
        if unit < element.size() {
            return self.store_packed(place, scalar, unit, value);
        }
        let pieces = self.split_pieces(value, scalar, element);
        for (n, value) in pieces.into_iter().enumerate() {
            let pointer = self.element(place, n as u32)?;
            match self.object_flags(place) {
                Some(flags) => {
                    let words = [pointer.word(), value.word(), flags];
                    self.b.effect(Op::Store, &words);
                }
                None => self.effect(Op::Store, &[pointer, value]),
            }
        }
        Ok(())
    }

    /// Memory operands for the array of a class: what a workgroup shares is not private.
    pub fn object_flags(&self, place: ShaderMemoryLocation) -> Option<u32> {
        let is_shared = self.region(place) == Some(PointerRegion::Shared);
        is_shared.then(|| self.flags(place))
    }
}
