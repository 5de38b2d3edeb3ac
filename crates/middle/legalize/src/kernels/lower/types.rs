//! Types of values in the shader.

use super::ShaderLowering;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::PointsToSetId;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Most components of a vector.
pub const WIDEST: u32 = 4;

impl ShaderLowering<'_> {
    /// Lowers a source type. Pointers in composites have the form of memory.
    pub fn lower_type(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        if let Some(known) = self.types[source] {
            return Ok(known);
        }
        let def = self.info.find_definition(source)?;
        let made = match def.op() {
            Op::TypeVoid => self.b.void_type(),
            Op::TypeVector => {
                let part = self.lower_type(def.id_operand(0))?;
                self.make_vector_type(part, def.operand_word(1))
            }
            Op::TypeArray => {
                let part = self.lower_type(def.id_operand(0))?;
                let count = self.info.read_constant(def.id_operand(1));
                let count =
                    count.ok_or_else(|| self.info.diagnose_id(source, "this array type"))?;
                let count = self.b.constant_u32(count as u32);
                self.b.array_type(part, count)
            }
            Op::TypeStruct => {
                let parts: Result<Vec<Id>, _> =
                    def.id_operands(0).map(|m| self.lower_type(m)).collect();
                self.b.struct_type(&parts?)
            }
            op => match self.info.classify_scalar(source) {
                Some(scalar) => self.make_scalar_type(scalar),
                None if op == Op::TypeInt => {
                    let text = format!("an integer of {} bits", def.operand_word(0));
                    return Err(self.info.diagnose_id(source, &text));
                }
                None if op == Op::TypeFloat => {
                    return Err(self.info.diagnose_id(source, "this kind of float"));
                }
                None => return Err(self.info.diagnose_id(source, &op.to_string())),
            },
        };
        self.types.set(source, Some(made));
        Ok(made)
    }

    /// The type of a scalar's values.
    pub fn make_scalar_type(&mut self, scalar: MemoryScalar) -> Id {
        match scalar.to_stored_scalar() {
            MemoryScalar::Float(width) => self.make_float_type(width),
            MemoryScalar::Bool => self.b.bool_type(),
            other => self.make_int_type(other.size() * 8),
        }
    }

    /// An unsigned integer type.
    pub fn make_int_type(&mut self, width: u32) -> Id {
        self.b.int_type(width, false)
    }

    /// A float type.
    pub fn make_float_type(&mut self, width: u32) -> Id {
        self.kernel.floats |= width;
        self.b.float_type(width)
    }

    /// A vector type, an array type where the vector would be too wide, or the component type itself.
    pub fn make_vector_type(&mut self, part: Id, count: u32) -> Id {
        match count {
            1 => part,
            2..=WIDEST => self.b.vector_type(part, count),
            _ => {
                let count = self.b.constant_u32(count);
                self.b.array_type(part, count)
            }
        }
    }

    /// The type of a set's pointers.
    pub fn pointer_type(&mut self, set: PointsToSetId) -> Id {
        let width = self.points_to.memory(set).pointer_width();
        self.make_int_type(width)
    }

    /// The type of a value.
    pub fn result_type(&mut self, value: Id) -> Result<Id, SourceDiagnostic> {
        let ty = self.info.type_of(value);
        let ty = ty.ok_or_else(|| self.info.diagnose_id(value, "a value without a type"))?;
        if self.info.parse_pointer_type(ty).is_some()
            && let Some(set) = self.points_to.find_set(value)
        {
            return Ok(self.pointer_type(set));
        }
        self.lower_type(ty)
    }

    /// Component type and number of components of a value of the source.
    pub fn find_component_type(&mut self, value: Id) -> Result<(Id, u32), SourceDiagnostic> {
        let ty = self.info.type_of(value);
        let ty = ty.ok_or_else(|| self.info.diagnose_id(value, "a value without a type"))?;
        let (part, count) = self.info.split_vector_type(ty);
        Ok((self.lower_type(part)?, count))
    }

    /// Scalar and number of components of a value of the source that is a scalar or vector.
    pub fn find_component_scalar(
        &self,
        value: Id,
    ) -> Result<(MemoryScalar, u32), SourceDiagnostic> {
        let ty = self.info.type_of(value);
        let parts = ty.map(|ty| self.info.split_vector_type(ty));
        let found = parts.and_then(|(part, count)| Some((self.info.classify_scalar(part)?, count)));
        found.ok_or_else(|| {
            self.info
                .diagnose_id(value, "an operand that is no scalar or vector")
        })
    }
}
