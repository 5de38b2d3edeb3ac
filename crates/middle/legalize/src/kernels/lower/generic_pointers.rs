//! Generic pointers: accesses that select the region by the highest bits of the pointer.

use super::ShaderLowering;
use super::memory::ShaderMemoryLocation;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::PointerRegion;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl ShaderLowering<'_> {
    /// The region of a location, unless only its pointer names it.
    pub fn find_region(&self, place: ShaderMemoryLocation) -> Option<PointerRegion> {
        let memory = self.points_to.memory(place.set);
        if memory.is_generic() {
            place.region
        } else {
            memory.list_regions().first().copied()
        }
    }

    /// Whether a generic pointer points to a region.
    pub fn is_to(&mut self, pointer: Id, region: PointerRegion) -> Id {
        let (wide, truth) = (self.make_int_type(64), self.b.bool_type());
        let (mask, tag) = (
            self.make_uint_constant(64, 3 << 62),
            self.make_uint_constant(64, region.tag()),
        );
        let found = self.emit_value(Op::BitwiseAnd, wide, &[pointer, mask]);
        self.emit_value(Op::IEqual, truth, &[found, tag])
    }

    /// Loads scalars from one of several regions.
    pub fn load_generic(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
        ty: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let mut ways = Vec::new();
        self.branch_by_region(place, |l, place| {
            let value = l.load_scalars(place, scalar, count)?;
            ways.extend([value.word(), l.kernel.open.word()]);
            Ok(())
        })?;
        let (value, phi) = self.b.append_phi(ty);
        self.b.set_phi(phi, &ways);
        Ok(value)
    }

    /// Stores scalars to one of several regions.
    pub fn store_generic(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        self.branch_by_region(place, |l, place| {
            l.store_scalars(place, scalar, count, value)
        })
    }

    /// Emits a branch for each region; the branches meet in the block that is open afterwards.
    pub fn branch_by_region(
        &mut self,
        place: ShaderMemoryLocation,
        mut make: impl FnMut(&mut Self, ShaderMemoryLocation) -> Result<(), SourceDiagnostic>,
    ) -> Result<(), SourceDiagnostic> {
        let regions = self.points_to.memory(place.set).list_regions();
        let after = self.b.fresh_id();
        for (n, region) in regions.iter().enumerate() {
            if n + 1 < regions.len() {
                let [here, next] = [(); 2].map(|()| self.b.fresh_id());
                let is_there = self.is_to(place.pointer, *region);
                self.emit_effect(Op::BranchConditional, &[is_there, here, next]);
                self.begin_block(here);
                self.emit_in_region(place, *region, &mut make)?;
                self.emit_effect(Op::Branch, &[after]);
                self.begin_block(next);
            } else {
                self.emit_in_region(place, *region, &mut make)?;
                self.emit_effect(Op::Branch, &[after]);
            }
        }
        self.begin_block(after);
        Ok(())
    }

    fn emit_in_region(
        &mut self,
        place: ShaderMemoryLocation,
        region: PointerRegion,
        make: &mut impl FnMut(&mut Self, ShaderMemoryLocation) -> Result<(), SourceDiagnostic>,
    ) -> Result<(), SourceDiagnostic> {
        let pointer = match region {
            PointerRegion::Buffer => place.pointer,
            _ => self.resize_int(place.pointer, 64, 32),
        };
        make(
            self,
            ShaderMemoryLocation {
                pointer,
                region: Some(region),
                ..place
            },
        )
    }
}
