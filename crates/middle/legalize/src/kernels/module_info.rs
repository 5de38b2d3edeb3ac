//! Module info: a kernel module with the analyses that its lowering needs.

use crate::MOST_VALUE_SCALARS;
use crate::error::{diagnose_instruction, diagnose_unsupported};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions, IdNames, TypeLayouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{FPEncoding, StorageClass};
use spirula_spirv::ir::{IdWords, InstRef, ModuleSection, SpirvModule};

/// Most casts of a constant expression.
const MOST_CASTS: u32 = 64;

/// A module with its analyses.
pub struct KernelModuleInfo<'a> {
    /// The module.
    pub module: &'a SpirvModule,
    /// The words that are ids.
    pub ids: IdWords,
    /// Definitions.
    pub definitions: IdDefinitions,
    /// Decorations.
    pub decorations: IdDecorations,
    /// Sizes and offsets, by the rules of OpenCL C.
    pub layouts: TypeLayouts,
    /// Names.
    pub names: IdNames,
    /// Whether the module uses bfloat16.
    pub has_bfloat16: bool,
}

/// A scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryScalar {
    /// An integer of this many bits, or a pointer.
    Int(u32),
    /// A float of this many bits.
    Float(u32),
    /// A 16-bit float with the exponent of a 32-bit float.
    Bfloat16,
    /// A boolean: a byte.
    Bool,
}

impl MemoryScalar {
    /// The scalar that it is stored as: bfloat16 becomes an integer.
    pub fn to_stored_scalar(self) -> MemoryScalar {
        match self {
            MemoryScalar::Bfloat16 => MemoryScalar::Int(16),
            other => other,
        }
    }

    /// Bytes in memory.
    pub fn size(self) -> u32 {
        match self {
            MemoryScalar::Int(width) | MemoryScalar::Float(width) => width / 8,
            MemoryScalar::Bfloat16 => 2,
            MemoryScalar::Bool => 1,
        }
    }
}

impl<'a> KernelModuleInfo<'a> {
    /// Computes all analyses.
    ///
    /// # Errors
    /// When a type has no layout.
    pub fn new(module: &'a SpirvModule) -> Result<Self, SourceDiagnostic> {
        let definitions = IdDefinitions::from_module(module);
        let decorations = IdDecorations::from_module(module);
        let layouts = TypeLayouts::from_module(module, &definitions, &decorations, |id| {
            Some(definitions.default_value(module, id).unwrap_or(0))
        })?;
        Ok(KernelModuleInfo {
            module,
            ids: IdWords::new(module),
            names: IdNames::from_module(module),
            has_bfloat16: module.section_insts(ModuleSection::Globals).any(|i| {
                i.op() == Op::TypeFloat && i.operands().get(1) == Some(&FPEncoding::BFloat16KHR.0)
            }),
            definitions,
            decorations,
            layouts,
        })
    }

    /// The definition of an id.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_definition(&self, id: Id) -> Result<InstRef<'a>, SourceDiagnostic> {
        let found = self.definitions.get(self.module, id);
        found.ok_or_else(|| {
            let text = format!("{id} is not defined");
            SourceDiagnostic::error(spirula_diagnostics::SourceLocation::Unknown, text)
        })
    }

    /// The type of a value.
    pub fn type_of(&self, value: Id) -> Option<Id> {
        self.definitions.get(self.module, value)?.result_type()
    }

    /// Storage class and pointee of a pointer type.
    pub fn parse_pointer_type(&self, ty: Id) -> Option<(StorageClass, Option<Id>)> {
        let ty = self.definitions.get(self.module, ty)?;
        match ty.op() {
            Op::TypePointer => Some((StorageClass(ty.operand_word(0)), Some(ty.id_operand(1)))),
            Op::TypeUntypedPointerKHR => Some((StorageClass(ty.operand_word(0)), None)),
            _ => None,
        }
    }

    /// Storage class of a pointer value.
    pub fn pointer_of(&self, value: Id) -> Option<StorageClass> {
        Some(self.parse_pointer_type(self.type_of(value)?)?.0)
    }

    /// Type pointed to by a pointer value.
    ///
    /// # Errors
    /// When it is no pointer, or an untyped one.
    pub fn find_pointee(&self, value: Id) -> Result<Id, SourceDiagnostic> {
        let pointer = self
            .type_of(value)
            .and_then(|ty| self.parse_pointer_type(ty));
        let pointee = pointer.and_then(|(_, pointee)| pointee);
        pointee.ok_or_else(|| self.diagnose_id(value, "an untyped pointer"))
    }

    /// Whether a value is a pointer.
    pub fn is_pointer(&self, value: Id) -> bool {
        self.type_of(value)
            .is_some_and(|ty| self.parse_pointer_type(ty).is_some())
    }

    /// Whether values of a type contain pointers.
    pub fn has_pointers(&self, ty: Id) -> bool {
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            let Some(def) = self.definitions.get(self.module, ty) else {
                continue;
            };
            match def.op() {
                Op::TypePointer | Op::TypeUntypedPointerKHR => return true,
                Op::TypeStruct => work.extend(def.id_operands(0)),
                Op::TypeArray | Op::TypeVector => work.push(def.id_operand(0)),
                _ => {}
            }
        }
        false
    }

    /// Whether a value is null or undefined, whatever its type.
    pub fn is_nothing(&self, value: Id) -> bool {
        matches!(
            self.find_op_behind_casts(value),
            Some(Op::ConstantNull | Op::Undef)
        )
    }

    /// The opcode of a value; that of the constant which a constant expression casts.
    fn find_op_behind_casts(&self, value: Id) -> Option<Op> {
        let mut at = value;
        for _ in 0..MOST_CASTS {
            let def = self.definitions.get(self.module, at)?;
            let is_cast = def.op() == Op::SpecConstantOp
                && matches!(
                    Op(def.operand_word(0) as u16),
                    Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::Bitcast
                );
            if !is_cast {
                return Some(def.op());
            }
            at = def.get_id(1)?;
        }
        None
    }

    /// Whether a value is null, whatever its type.
    pub fn is_null(&self, value: Id) -> bool {
        self.find_op_behind_casts(value) == Some(Op::ConstantNull)
    }

    /// A constant of up to 64 bits.
    pub fn read_constant(&self, id: Id) -> Option<u64> {
        self.definitions.constant_value(self.module, id)
    }

    /// The scalar of a type, if shaders have it or a replacement for it.
    pub fn classify_scalar(&self, ty: Id) -> Option<MemoryScalar> {
        let def = self.definitions.get(self.module, ty)?;
        match def.op() {
            Op::TypeBool => Some(MemoryScalar::Bool),
            Op::TypeInt => match def.operand_word(0) {
                width @ (8 | 16 | 32 | 64) => Some(MemoryScalar::Int(width)),
                _ => None,
            },
            Op::TypeFloat => match *def.operands() {
                [width] => Some(MemoryScalar::Float(width)),
                [16, encoding] if encoding == FPEncoding::BFloat16KHR.0 => {
                    Some(MemoryScalar::Bfloat16)
                }
                _ => None,
            },
            // Waiting for an event is a barrier; the event does not matter.
            Op::TypeEvent => Some(MemoryScalar::Int(64)),
            Op::TypePointer | Op::TypeUntypedPointerKHR => {
                Some(MemoryScalar::Int(self.layouts.pointer_size() * 8))
            }
            _ => None,
        }
    }

    /// Component type and number of components of a vector type. Any other type is its own only component.
    pub fn split_vector_type(&self, ty: Id) -> (Id, u32) {
        match self.definitions.get(self.module, ty) {
            Some(def) if def.op() == Op::TypeVector => (def.id_operand(0), def.operand_word(1)),
            _ => (ty, 1),
        }
    }

    /// The members of a composite type with their offsets in bytes.
    ///
    /// # Errors
    /// When it is no composite, or has more members than are loaded and stored as a whole.
    pub fn list_members(&self, ty: Id) -> Result<Vec<(Id, u64)>, SourceDiagnostic> {
        let def = self.find_definition(ty)?;
        let (part, count) = match def.op() {
            Op::TypeVector => (def.id_operand(0), u64::from(def.operand_word(1))),
            Op::TypeArray => (
                def.id_operand(0),
                self.read_constant(def.id_operand(1)).unwrap_or(u64::MAX),
            ),
            Op::TypeStruct => {
                let offset = |n| self.layouts.member_layout(ty, n as u32).offset;
                return Ok(def
                    .id_operands(0)
                    .enumerate()
                    .map(|(n, m)| (m, offset(n)))
                    .collect());
            }
            op => return Err(self.diagnose_id(ty, &format!("{op} in memory"))),
        };
        if count > MOST_VALUE_SCALARS as u64 {
            return Err(self.diagnose_id(ty, "a value of so many parts"));
        }
        let stride = self.layouts.get(ty).stride;
        Ok((0..count).map(|n| (part, n * stride)).collect())
    }

    /// Visits the scalars of a type with their offsets in bytes, at most `room` of them.
    ///
    /// # Errors
    /// When a type cannot be in memory, or has more scalars than `room`.
    pub fn visit_scalars(
        &self,
        ty: Id,
        room: usize,
        visit: &mut dyn FnMut(Id, u64),
    ) -> Result<(), SourceDiagnostic> {
        let mut left = room;
        let mut work = vec![(ty, 0_u64)];
        while let Some((ty, at)) = work.pop() {
            if self.classify_scalar(ty).is_none() {
                let parts = self.list_members(ty)?.into_iter().rev();
                work.extend(parts.map(|(part, offset)| (part, at + offset)));
                continue;
            }
            let Some(less) = left.checked_sub(1) else {
                return Err(self.diagnose_id(ty, "a value of so many parts"));
            };
            left = less;
            visit(ty, at);
        }
        Ok(())
    }

    /// The diagnostic that a construct at an id is not supported.
    pub fn diagnose_id(&self, at: Id, construct: &str) -> SourceDiagnostic {
        match self.definitions.get(self.module, at) {
            Some(inst) => diagnose_instruction(inst, construct),
            None => diagnose_unsupported(construct),
        }
    }
}
