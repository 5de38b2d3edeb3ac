//! Types of values.

use super::ShaderLowering;
use crate::classes::PointsToSetId;
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;

/// Most components of a vector.
pub const WIDEST: u32 = 4;

impl ShaderLowering<'_> {
    /// What values of a source type have as theirs. Pointers within composites are as in memory.
    pub fn ty(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        if let Some(known) = self.types[source] {
            return Ok(known);
        }
        let def = self.facts.def(source)?;
        let made = match def.op() {
            Op::TypeVoid => self.b.void(),
            Op::TypeVector => {
                let part = self.ty(def.id(0))?;
                self.vector(part, def.word(1))
            }
            Op::TypeArray => {
                let part = self.ty(def.id(0))?;
                let count = self.facts.constant(def.id(1));
                let count = count.ok_or_else(|| self.facts.refuse(source, "this array type"))?;
                let count = self.b.constant_u32(count as u32);
                self.b.array(part, count)
            }
            Op::TypeStruct => {
                let parts: Result<Vec<Id>, _> = def.ids(0).map(|m| self.ty(m)).collect();
                self.b.structure(&parts?)
            }
            op => match self.facts.scalar(source) {
                Some(scalar) => self.scalar(scalar),
                None if op == Op::TypeInt => {
                    let text = format!("an integer of {} bits", def.word(0));
                    return Err(self.facts.refuse(source, &text));
                }
                None if op == Op::TypeFloat => {
                    return Err(self.facts.refuse(source, "this kind of float"));
                }
                None => return Err(self.facts.refuse(source, &op.to_string())),
            },
        };
        self.types.set(source, Some(made));
        Ok(made)
    }

    /// The type of a scalar's values.
    pub fn scalar(&mut self, scalar: MemoryScalar) -> Id {
        match scalar.kept() {
            MemoryScalar::Float(width) => self.float(width),
            MemoryScalar::Bool => self.b.bool(),
            other => self.int(other.size() * 8),
        }
    }

    /// An unsigned integer type.
    pub fn int(&mut self, width: u32) -> Id {
        match width {
            8 => self.b.capability(Capability::Int8),
            16 => self.b.capability(Capability::Int16),
            64 => self.b.capability(Capability::Int64),
            _ => {}
        }
        self.b.int(width, false)
    }

    /// A float type.
    pub fn float(&mut self, width: u32) -> Id {
        match width {
            16 => self.b.capability(Capability::Float16),
            64 => self.b.capability(Capability::Float64),
            _ => {}
        }
        self.kernel.floats |= width;
        self.b.float(width)
    }

    /// A vector, an array where it would be too wide, or the part itself.
    pub fn vector(&mut self, part: Id, count: u32) -> Id {
        match count {
            1 => part,
            2..=WIDEST => self.b.vector(part, count),
            _ => {
                let count = self.b.constant_u32(count);
                self.b.array(part, count)
            }
        }
    }

    /// The type of a class' pointers.
    pub fn pointer_type(&mut self, class: PointsToSetId) -> Id {
        let width = self.classes.memory(class).pointer_width();
        self.int(width)
    }

    /// The type of a value.
    pub fn result_type(&mut self, value: Id) -> Result<Id, SourceDiagnostic> {
        let ty = self.facts.type_of(value);
        let ty = ty.ok_or_else(|| self.facts.refuse(value, "a value without a type"))?;
        if self.facts.pointer(ty).is_some()
            && let Some(class) = self.classes.of(value)
        {
            return Ok(self.pointer_type(class));
        }
        self.ty(ty)
    }

    /// Component type and number of components of a value of the source.
    pub fn shape(&mut self, value: Id) -> Result<(Id, u32), SourceDiagnostic> {
        let ty = self.facts.type_of(value);
        let ty = ty.ok_or_else(|| self.facts.refuse(value, "a value without a type"))?;
        let (part, count) = self.facts.components(ty);
        Ok((self.ty(part)?, count))
    }

    /// Scalar and number of components of a value of the source that is a scalar or vector.
    pub fn scalars(&self, value: Id) -> Result<(MemoryScalar, u32), SourceDiagnostic> {
        let ty = self.facts.type_of(value);
        let parts = ty.map(|ty| self.facts.components(ty));
        let found = parts.and_then(|(part, count)| Some((self.facts.scalar(part)?, count)));
        found.ok_or_else(|| {
            self.facts
                .refuse(value, "an operand that is no scalar or vector")
        })
    }
}
