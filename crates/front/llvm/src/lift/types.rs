//! Lifting of types.

use super::lifted_entities::{LiftedType, LiftedTypeShape};
use super::lifter::SpirvLifter;
use crate::ir::{LlvmType, LlvmTypeKind};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Decoration, FPEncoding, StorageClass};
use spirula_spirv::grammar::{Op, OperandCategory};
use spirula_spirv::ir::InstRef;

/// Greatest length of an array. LLVM allows more, but no meaningful module has it.
const MAX_LENGTH: u64 = 1 << 60;

/// The address space of a storage class, as in LLVM's SPIR-V backend.
pub(super) fn address_space(class: StorageClass) -> Option<u32> {
    Some(match class {
        StorageClass::Function => 0,
        StorageClass::CrossWorkgroup => 1,
        StorageClass::UniformConstant => 2,
        StorageClass::Workgroup => 3,
        StorageClass::Generic => 4,
        StorageClass::DeviceOnlyINTEL => 5,
        StorageClass::HostOnlyINTEL => 6,
        StorageClass::Input => 7,
        StorageClass::Output => 8,
        StorageClass::CodeSectionINTEL => 9,
        StorageClass::Private => 10,
        StorageClass::StorageBuffer => 11,
        StorageClass::Uniform => 12,
        StorageClass::PushConstant => 13,
        StorageClass::PhysicalStorageBuffer => 14,
        _ => return None,
    })
}

impl SpirvLifter<'_> {
    /// Makes the counterpart of a type.
    pub(super) fn define_type(&mut self, inst: InstRef<'_>) -> LlvmResult<()> {
        let Some(id) = inst.result() else {
            // OpTypeForwardPointer: LLVM's pointers are opaque, so this one can be created now.
            let ty = self.pointer_type(inst.operand_word(1))?;
            let shape = LiftedTypeShape::Pointer(None);
            self.types
                .set(inst.id_operand(0), Some(LiftedType { ty, shape }));
            return Ok(());
        };
        let (ty, shape) = match inst.op() {
            Op::TypePointer => {
                let ty = self.pointer_type(inst.operand_word(0))?;
                (ty, LiftedTypeShape::Pointer(Some(inst.id_operand(1))))
            }
            Op::TypeUntypedPointerKHR => (
                self.pointer_type(inst.operand_word(0))?,
                LiftedTypeShape::Pointer(None),
            ),
            Op::TypeVector => {
                let part = inst.id_operand(0);
                let element = self.find_type(part)?;
                let ty = self
                    .out
                    .types
                    .make_vector(element, inst.operand_word(1), false);
                (ty, LiftedTypeShape::Elements(part))
            }
            // Of a length that is fixed, as vectors are.
            Op::TypeVectorIdEXT if let Some(len) = self.plain_length(inst.id_operand(1)) => {
                let part = inst.id_operand(0);
                let element = self.find_type(part)?;
                let ty = self.out.types.make_vector(element, len, false);
                (ty, LiftedTypeShape::Elements(part))
            }
            Op::TypeArray if let Some(made) = self.lift_specialised_array(inst)? => made,
            Op::TypeMatrix | Op::TypeArray => {
                let part = inst.id_operand(0);
                let element = self.find_type(part)?;
                let len = match inst.op() {
                    Op::TypeMatrix => u64::from(inst.operand_word(1)),
                    _ => self.array_length(inst.id_operand(1))?,
                };
                (
                    self.out.types.make_array(element, len),
                    LiftedTypeShape::Elements(part),
                )
            }
            Op::TypeRuntimeArray => {
                let part = inst.id_operand(0);
                let element = self.find_type(part)?;
                (
                    self.out.types.make_array(element, 0),
                    LiftedTypeShape::Elements(part),
                )
            }
            Op::TypeStruct => (self.lift_struct_type(id, inst)?, LiftedTypeShape::Struct),
            Op::TypeFunction => (self.function_type(inst)?, LiftedTypeShape::Plain),
            Op::TypeOpaque => {
                let name = self.out.strings.intern_text(&inst.string_operand(0));
                (self.out.types.named_struct(name), LiftedTypeShape::Plain)
            }
            Op::TypeVoid => (LlvmType::VOID, LiftedTypeShape::Plain),
            Op::TypeBool => (LlvmType::I1, LiftedTypeShape::Plain),
            Op::TypeInt => (
                self.out.types.make_int(inst.operand_word(0)),
                LiftedTypeShape::Plain,
            ),
            Op::TypeFloat => (lift_float_type(inst)?, LiftedTypeShape::Plain),
            _ => (self.lift_target_type(inst)?, LiftedTypeShape::Plain),
        };
        self.types.set(id, Some(LiftedType { ty, shape }));
        Ok(())
    }

    fn pointer_type(&mut self, class: u32) -> LlvmResult<LlvmType> {
        let class = StorageClass(class);
        match address_space(class) {
            Some(space) => Ok(self.out.types.make_pointer(space)),
            None => Err(make_refusal(format!(
                "there is no address space for {class}"
            ))),
        }
    }

    /// The number of components of a long vector, unless it can be specialised.
    fn plain_length(&self, id: Id) -> Option<u32> {
        u32::try_from(self.read_constant_number(id).ok()?).ok()
    }

    fn array_length(&self, id: Id) -> LlvmResult<u64> {
        self.length_within(self.read_constant_number(id)?)
    }

    /// A length, unless it is too large.
    pub(super) fn length_within(&self, len: u64) -> LlvmResult<u64> {
        match len {
            len if len <= MAX_LENGTH => Ok(len),
            len => Err(make_refusal(format!(
                "an array of {len} elements is too large"
            ))),
        }
    }

    fn lift_struct_type(&mut self, id: Id, inst: InstRef<'_>) -> LlvmResult<LlvmType> {
        let mut fields = Vec::new();
        for member in inst.id_operands(0) {
            fields.push(self.find_type(member)?);
        }
        let packed = self.find_decoration(id, Decoration::CPacked).is_some();
        let members = inst.operands().len() as u32;
        let laid_out = self.is_laid_out(id, members);
        let name = match self.names.get(self.source, id) {
            Some(name) => name,
            // Literal structures with equal members are one type; structures with a layout are
            // distinct.
            None if laid_out => format!("struct.{}", id.word()),
            None => return Ok(self.out.types.literal_struct(fields.into(), packed)),
        };
        let name = self.type_name(&name);
        let ty = self.out.types.named_struct(name);
        self.out.types.set_body(ty, fields.into(), packed);
        if laid_out {
            self.record_struct_layout(ty, id, inst)?;
        }
        Ok(ty)
    }

    /// A name for a type that no other has.
    pub(super) fn type_name(&mut self, asked: &str) -> crate::ir::LlvmSymbol {
        let mut name = self.out.strings.intern_text(asked);
        let mut number = 0_u32;
        while !self.taken_types.insert(name) {
            number += 1;
            name = self.out.strings.intern_text(&format!("{asked}.{number}"));
        }
        name
    }

    fn function_type(&mut self, inst: InstRef<'_>) -> LlvmResult<LlvmType> {
        let result = self.find_type(inst.id_operand(0))?;
        let mut params = Vec::new();
        for param in inst.id_operands(1) {
            params.push(self.find_type(param)?);
        }
        Ok(self.out.types.intern_type(LlvmTypeKind::Function {
            result,
            params: params.into(),
            variadic: false,
        }))
    }

    /// A type that only SPIR-V has: `target("spirv.NAME", TYPES…, INTS…)` with the operands of its
    /// instruction. The operands of an image take the place of the image.
    fn lift_target_type(&mut self, inst: InstRef<'_>) -> LlvmResult<LlvmType> {
        let name = inst.op().info().map_or("", |row| row.name);
        let Some(name) = name.strip_prefix("OpType") else {
            return Err(make_refusal("it declares no type"));
        };
        if let Some(image) = inst.get_id(0)
            && matches!(inst.op(), Op::TypeSampledImage | Op::TypeVmeImageINTEL)
        {
            let LlvmTypeKind::Target { types, ints, .. } =
                self.out.types.kind(self.find_type(image)?)
            else {
                return Err(make_refusal(format!("{image} is not an image")));
            };
            let (types, ints) = (types.clone(), ints.clone());
            return Ok(self.make_target_type(name, types, ints));
        }
        let (mut types, mut ints) = (Vec::new(), Vec::new());
        let mut numbers = Vec::new();
        let mut special = None;
        for operand in inst.parse_operands().skip(1) {
            let operand = operand.map_err(|error| error.to_string())?;
            match (operand.kind.info().category, Id::new(operand.words[0])) {
                (OperandCategory::Id, Some(id)) => match self.types[id] {
                    Some(lowered) => types.push(lowered.ty),
                    None => {
                        let default = self.find_spec_default(id);
                        special = special.or(default.and(inst.result()));
                        numbers.push(id);
                        ints.push(default.map_or_else(|| self.read_constant_number(id), Ok)? as u32);
                    }
                },
                (OperandCategory::Literal, _) if operand.words.len() > 1 => {
                    return Err(make_refusal(
                        "a type with a string has no counterpart in LLVM IR",
                    ));
                }
                _ => ints.push(operand.words[0]),
            }
        }
        let Some(distinct) = special else {
            return Ok(self.make_target_type(name, types.into(), ints.into()));
        };
        ints.push(distinct.word());
        let ty = self.make_target_type(name, types.into(), ints.into());
        self.note_numbers(ty, &numbers)?;
        Ok(ty)
    }

    fn make_target_type(
        &mut self,
        name: &str,
        types: Box<[LlvmType]>,
        ints: Box<[u32]>,
    ) -> LlvmType {
        let name = self.out.strings.intern_text(&format!("spirv.{name}"));
        self.out
            .types
            .intern_type(LlvmTypeKind::Target { name, types, ints })
    }

    /// The type of member `n` of a type.
    pub(super) fn type_of_member(&self, id: Id, n: u64) -> LlvmResult<Id> {
        match self.find_lowered_type(id)?.shape {
            LiftedTypeShape::Elements(part) | LiftedTypeShape::SpecialisedArray(part) => Ok(part),
            LiftedTypeShape::Struct => {
                let inst = self.definitions.get(self.source, id);
                let at = usize::try_from(n).unwrap_or(usize::MAX);
                inst.and_then(|inst| inst.id_operands(0).nth(at))
                    .ok_or_else(|| make_refusal(format!("{id} has no member {n}")))
            }
            _ => Err(make_refusal(format!("{id} has no members"))),
        }
    }

    /// The pointee of a pointer type.
    pub(super) fn find_pointee(&self, pointer_type: Id) -> LlvmResult<Id> {
        let inst = self.definitions.get(self.source, pointer_type);
        match inst {
            Some(inst) if inst.op() == Op::TypePointer => Ok(inst.id_operand(1)),
            _ => Err(make_refusal(format!(
                "{pointer_type} is not a typed pointer"
            ))),
        }
    }
}

fn lift_float_type(inst: InstRef<'_>) -> LlvmResult<LlvmType> {
    let encoding = inst.operands().get(1).copied().map(FPEncoding);
    match (inst.operand_word(0), encoding) {
        (16, None) => Ok(LlvmType::HALF),
        (32, None) => Ok(LlvmType::FLOAT),
        (64, None) => Ok(LlvmType::DOUBLE),
        (16, Some(FPEncoding::BFloat16KHR)) => Ok(LlvmType::BFLOAT),
        (width, None) => Err(make_refusal(format!(
            "LLVM IR has no floats of {width} bits in this format"
        ))),
        (_, Some(encoding)) => Err(make_refusal(format!(
            "LLVM IR has no floats encoded as {encoding}"
        ))),
    }
}
