//! Operands: values of the function, constants, and addresses of variables.

use super::ShaderLowering;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::pointer_delta;
use crate::kernels::points_to::{PointsToObject, PointsToSetId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

impl ShaderLowering<'_> {
    /// An unsigned constant.
    pub fn make_uint_constant(&mut self, width: u32, value: u64) -> Id {
        let value = value & (u64::MAX >> (64 - width));
        let ty = self.make_int_type(width);
        let id = self.b.constant_bits(ty, width, value);
        self.numbers.insert(id, value);
        id
    }

    /// A float constant from its value.
    pub fn make_float_constant(&mut self, width: u32, value: f64) -> Id {
        let ty = self.make_float_type(width);
        let bits = match width {
            16 => u64::from(half_bits(value)),
            32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        self.b.constant_bits(ty, width, bits)
    }

    /// A constant in all components of a scalar, or of a vector of up to four.
    pub fn splat_constant(&mut self, constant: Id, count: u32) -> Id {
        if count == 1 {
            return constant;
        }
        let part = self.b.type_of(constant).unwrap_or(constant);
        let ty = self.make_vector_type(part, count);
        self.b
            .constant_composite(ty, &vec![constant; count as usize])
    }

    /// A value of the source.
    pub fn lower_operand(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        if let Some(known) = self.values[source] {
            return Ok(known);
        }
        let def = self.info.find_definition(source)?;
        let made = match def.op() {
            Op::Variable | Op::FunctionParameter => self.compute_object_address(source)?,
            Op::SpecConstantOp if self.info.is_pointer(source) => {
                let set = self.find_points_to_set(source)?;
                let (object, offset) = pointer_delta::trace_pointer_origin(self.info, source)?;
                let base = self.lower_operand(object)?;
                let width = self.points_to.memory(set).pointer_width();
                let made = self.add_byte_offset(width, base, offset);
                if !self.numbers.contains_key(&made) && offset != 0 {
                    // It is computed in this block, which need not dominate others.
                    return Ok(made);
                }
                made
            }
            _ => self.lower_constant(source)?,
        };
        self.values.set(source, Some(made));
        Ok(made)
    }

    /// A pointer of the source as a pointer of a set; null is possible.
    pub fn lower_pointer(
        &mut self,
        source: Id,
        set: PointsToSetId,
    ) -> Result<Id, SourceDiagnostic> {
        if self.info.is_nothing(source) {
            let width = self.points_to.memory(set).pointer_width();
            return Ok(self.make_uint_constant(width, 0));
        }
        self.lower_operand(source)
    }

    /// The points-to set of a pointer.
    pub fn find_points_to_set(&self, source: Id) -> Result<PointsToSetId, SourceDiagnostic> {
        let set = self.points_to.find_set(source);
        set.ok_or_else(|| self.info.diagnose_id(source, "an access by a null pointer"))
    }

    fn lower_constant(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        let def = self.info.find_definition(source)?;
        let ty = def.result_type();
        let ty = ty.ok_or_else(|| self.info.diagnose_id(source, &def.op().to_string()))?;
        let made = match def.op() {
            Op::Constant | Op::SpecConstant => {
                let value = self
                    .info
                    .definitions
                    .default_value(self.info.module, source);
                let value = value.unwrap_or(0);
                if def.op() == Op::SpecConstant {
                    return self.spec_constant(source, ty, value);
                }
                match self
                    .info
                    .classify_scalar(ty)
                    .map(MemoryScalar::to_stored_scalar)
                {
                    Some(MemoryScalar::Int(width)) => self.make_uint_constant(width, value),
                    Some(MemoryScalar::Float(width)) => {
                        let ty = self.lower_type(ty)?;
                        let value = value & (u64::MAX >> (64 - width));
                        self.b.constant_bits(ty, width, value)
                    }
                    _ => return Err(self.info.diagnose_id(source, "this constant")),
                }
            }
            Op::ConstantTrue | Op::SpecConstantTrue => self.b.constant_bool(true),
            Op::ConstantFalse | Op::SpecConstantFalse => self.b.constant_bool(false),
            Op::ConstantNull => match self
                .info
                .classify_scalar(ty)
                .map(MemoryScalar::to_stored_scalar)
            {
                Some(MemoryScalar::Int(width)) => self.make_uint_constant(width, 0),
                _ => {
                    let ty = self.lower_type(ty)?;
                    self.b.constant_null(ty)
                }
            },
            Op::Undef => {
                let ty = self.lower_type(ty)?;
                self.b.declare_undef(ty)
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let ty = self.lower_type(ty)?;
                let parts: Result<Vec<Id>, _> = def
                    .id_operands(0)
                    .map(|p| self.make_memory_constant(p))
                    .collect();
                self.b.constant_composite(ty, &parts?)
            }
            Op::SpecConstantOp => self.constant_operation(source, ty)?,
            op => return Err(self.info.diagnose_id(source, &format!("{op} as a value"))),
        };
        Ok(made)
    }

    /// A constant in the form that composites have.
    fn make_memory_constant(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        if !self.info.is_pointer(source) {
            return self.lower_operand(source);
        }
        let bits = self.pointer_bits(source)?;
        Ok(self.make_uint_constant(64, bits))
    }

    /// The bits of a constant pointer in memory.
    pub fn pointer_bits(&mut self, source: Id) -> Result<u64, SourceDiagnostic> {
        if self.info.is_nothing(source) {
            return Ok(0);
        }
        let (object, offset) = pointer_delta::trace_pointer_origin(self.info, source)?;
        let is_generic = self
            .points_to
            .memory(self.find_points_to_set(object)?)
            .is_generic();
        let object = self.find_object(object)?;
        let tag = if is_generic { object.region().tag() } else { 0 };
        Ok(tag | u64::from((object.offset as i64 + offset) as u32))
    }

    /// An operation on constants other than pointers.
    fn constant_operation(&mut self, source: Id, ty: Id) -> Result<Id, SourceDiagnostic> {
        let def = self.info.find_definition(source)?;
        let op = Op(def.operand_word(0) as u16);
        if op == Op::ConvertPtrToU || op == Op::Bitcast && self.info.is_pointer(def.id_operand(1)) {
            let bits = self.pointer_bits(def.id_operand(1))?;
            let width = self.info.classify_scalar(ty).map_or(64, |s| s.size() * 8);
            return Ok(self.make_uint_constant(width, bits));
        }
        let ty = self.lower_type(ty)?;
        let mut words = vec![def.operand_word(0)];
        for operand in def.id_operands(1) {
            words.push(self.lower_operand(operand)?.word());
        }
        Ok(self.b.declare_constant(Op::SpecConstantOp, ty, &words))
    }

    /// The object of a variable or parameter.
    fn find_object(&self, source: Id) -> Result<PointsToObject, SourceDiagnostic> {
        let set = self.find_points_to_set(source)?;
        let objects = &self.points_to.memory(set).objects;
        let found = objects.iter().find(|o| o.id == source).copied();
        found.ok_or_else(|| self.info.diagnose_id(source, "an object without memory"))
    }

    /// The address of a variable or of a parameter's memory.
    fn compute_object_address(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        if matches!(self.info.pointer_of(source), Some(StorageClass::Input)) {
            return Err(self
                .info
                .diagnose_id(source, "the address of a built-in value"));
        }
        let is_generic = self
            .points_to
            .memory(self.find_points_to_set(source)?)
            .is_generic();
        let object = self.find_object(source)?;
        let tag = object.region().tag();
        match (object.size, is_generic) {
            (Some(_), false) => Ok(self.make_uint_constant(32, object.offset)),
            (Some(_), true) => Ok(self.make_uint_constant(64, tag | object.offset)),
            (None, false) => self.workgroup_argument(source),
            (None, true) => {
                let offset = self.workgroup_argument(source)?;
                let (wide, tag) = (self.make_int_type(64), self.make_uint_constant(64, tag));
                let words = [u32::from(Op::UConvert.0), offset.word()];
                let offset = self.b.declare_constant(Op::SpecConstantOp, wide, &words);
                let words = [u32::from(Op::IAdd.0), offset.word(), tag.word()];
                Ok(self.b.declare_constant(Op::SpecConstantOp, wide, &words))
            }
        }
    }
}

/// The bits of the half of a value.
fn half_bits(value: f64) -> u16 {
    let bits = (value as f32).to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
    let mantissa = (bits >> 13 & 0x3ff) as u16;
    match exponent {
        ..=0 => sign,
        31.. => sign | 0x7c00,
        e => sign | (e as u16) << 10 | mantissa,
    }
}
