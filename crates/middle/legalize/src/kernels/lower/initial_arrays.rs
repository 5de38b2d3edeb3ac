//! Initial arrays: initial contents of variables as arrays of constants.

use super::ShaderLowering;
use crate::kernels::initial_values;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::{PointerRegion, PointsToObject, PointsToSetId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;

/// Most bytes of constants in one points-to set.
const MOST_BYTES: u64 = 1 << 20;

/// Most operands of an instruction.
const MOST_ELEMENTS: u64 = 65_532;

impl ShaderLowering<'_> {
    /// The constant with the initial contents of a set's array.
    pub fn make_initial_array(
        &mut self,
        set: PointsToSetId,
        array: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let memory = self.points_to.memory(set);
        let (size, element) = (memory.size_of(PointerRegion::Own), memory.element_scalar());
        let own = memory
            .objects
            .iter()
            .filter(|o| o.region() == PointerRegion::Own);
        let objects: Vec<PointsToObject> = own.copied().collect();
        if size > MOST_BYTES || size / u64::from(element.size()) > MOST_ELEMENTS {
            return Err(self.info.diagnose_id(objects[0].id, "so large a constant"));
        }
        let mut bytes = vec![0; size as usize];
        for object in &objects {
            let variable = self.info.find_definition(object.id)?;
            if let Some(initializer) = variable.get_id(1) {
                let ty = self.info.find_pointee(object.id)?;
                self.write_constant_bytes(initializer, ty, object.offset as usize, &mut bytes)?;
            }
        }
        let parts = self.elements_of(&bytes, element);
        if parts.is_empty() {
            return Ok(self.b.constant_null(array));
        }
        Ok(self.b.constant_composite(array, &parts))
    }

    /// The initial elements of a variable.
    pub fn initial_elements(
        &mut self,
        variable: Id,
        initializer: Id,
        element: MemoryScalar,
    ) -> Result<Vec<Id>, SourceDiagnostic> {
        let ty = self.info.find_pointee(variable)?;
        let size = self.info.layouts.get(ty).size;
        if size > MOST_BYTES || size / u64::from(element.size()) > MOST_ELEMENTS {
            return Err(self.info.diagnose_id(variable, "so large an initial value"));
        }
        let mut bytes = vec![0; size as usize];
        self.write_constant_bytes(initializer, ty, 0, &mut bytes)?;
        Ok(self.elements_of(&bytes, element))
    }

    fn elements_of(&mut self, bytes: &[u8], element: MemoryScalar) -> Vec<Id> {
        let ty = self.make_scalar_type(element);
        let mut parts = Vec::new();
        for chunk in bytes.chunks(element.size() as usize) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let bits = u64::from_le_bytes(word);
            parts.push(self.b.constant_bits(ty, element.size() * 8, bits));
        }
        parts
    }

    /// Writes a constant of a type into bytes.
    fn write_constant_bytes(
        &mut self,
        constant: Id,
        ty: Id,
        at: usize,
        out: &mut [u8],
    ) -> Result<(), SourceDiagnostic> {
        let info = self.info;
        initial_values::visit_constant_scalars(
            info,
            constant,
            ty,
            &mut |constant, scalar, offset| {
                let bits = if info.is_pointer(constant) {
                    self.pointer_bits(constant)?
                } else {
                    self.scalar_bits(constant, scalar)?
                };
                let at = at as u64 + offset;
                initial_values::write_scalar(info, constant, bits, scalar, at, out)
            },
        )
    }

    fn scalar_bits(&mut self, constant: Id, scalar: MemoryScalar) -> Result<u64, SourceDiagnostic> {
        if self.info.is_nothing(constant) {
            return Ok(0);
        }
        if let Some(value) = self.info.read_constant(constant) {
            return Ok(value & (u64::MAX >> (64 - scalar.size() * 8)));
        }
        let lowered = self.lower_operand(constant)?;
        let known = self.numbers.get(&lowered).copied();
        known.ok_or_else(|| self.info.diagnose_id(constant, "this initial value"))
    }
}
