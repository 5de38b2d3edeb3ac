//! Types: the register and memory forms of LLVM's types.
//!
//! A value has one of two forms. In *register form* an `i1` is a Boolean, and a pointer has its
//! inferred pointee. In *memory form* an `i1` is a byte, a vector of `i1` is the integer of its
//! bits, and a pointer is a pointer to bytes. Members of aggregates have memory form too. So types
//! in memory are finite.
//!
//! An integer has the next width that SPIR-V has, and is zero-extended. A vector has the next
//! length that SPIR-V has, and its additional lanes are undefined. A vector of one lane is a
//! scalar.

use super::shapes::{NumericElement, NumericShape, padded_lanes};
use super::storage_classes::shader_storage_class;
use super::translator::LlvmTranslator;
use super::type_table::COMMON_SHAPES;
use super::words::push_string;
use crate::ir::{LlvmType, LlvmTypeKind};
use crate::{LlvmError, LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::build::shorten_name;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPEncoding, StorageClass};

/// Nesting of aggregates that SPIR-V guarantees (specification, section 2.17).
const MAX_DEPTH: u32 = 255;

/// Number of structure members that SPIR-V guarantees (specification, section 2.17).
const MAX_MEMBERS: usize = 16_383;

/// Bits of an integer beyond which it is refused.
const MAX_BITS: u32 = 4096;

/// Extensions that have integers of any width.
const ANY_WIDTH: [&str; 2] = [
    "SPV_ALTERA_arbitrary_precision_integers",
    "SPV_INTEL_arbitrary_precision_integers",
];

/// The extension that has integers of four bits.
pub(super) const FOUR_BITS: &str = "SPV_INTEL_int4";

impl LlvmTranslator<'_> {
    /// The shape of a number, Boolean or vector of these; `None` for other types.
    pub(super) fn find_shape(&self, ty: LlvmType) -> Option<NumericShape> {
        self.types.shapes[ty.index()]
    }

    /// Computes the shapes of all types, before any of them is needed.
    pub(super) fn compute_shapes(&mut self) {
        let types = self.module.types.iter();
        self.types.shapes = types.map(|(ty, _)| self.shape_of_type(ty)).collect();
    }

    fn shape_of_type(&self, ty: LlvmType) -> Option<NumericShape> {
        let (element, lanes) = match *self.module.types.kind(ty) {
            LlvmTypeKind::Vector {
                element,
                len,
                scalable: false,
            } => (element, len),
            _ => (ty, 1),
        };
        let (elem, bits, width) = match *self.module.types.kind(element) {
            LlvmTypeKind::Int(1) => (NumericElement::Bool, 1, 0),
            LlvmTypeKind::Int(bits) if bits <= 64 => {
                (NumericElement::Int, bits, self.integer_width(bits))
            }
            LlvmTypeKind::Int(bits) if bits <= MAX_BITS && self.may_be_of_any_width() => {
                (NumericElement::Int, bits, bits)
            }
            LlvmTypeKind::Half => (NumericElement::Float, 16, 16),
            LlvmTypeKind::BFloat => (NumericElement::Brain, 16, 16),
            LlvmTypeKind::Float => (NumericElement::Float, 32, 32),
            LlvmTypeKind::Double => (NumericElement::Float, 64, 64),
            LlvmTypeKind::Pointer { .. } if self.is_address(element) => {
                (NumericElement::Int, 64, 64)
            }
            _ => return None,
        };
        Some(NumericShape {
            elem,
            bits,
            width,
            lanes,
            padded: padded_lanes(lanes).filter(|lanes| self.may_have_lanes(*lanes))?,
        })
    }

    /// The width of the integers that represent integers of `bits` bits. It is the next width that
    /// every device has, or the exact one if the extension for it was requested by name.
    fn integer_width(&self, bits: u32) -> u32 {
        let common = bits.next_power_of_two().max(8);
        let own = bits != common
            && (ANY_WIDTH.iter().any(|name| self.is_requested(name))
                || (bits == 4 && self.is_requested(FOUR_BITS)));
        if own { bits } else { common }
    }

    fn may_be_of_any_width(&self) -> bool {
        ANY_WIDTH.iter().any(|name| self.may_use(name))
    }

    fn may_have_lanes(&self, lanes: u32) -> bool {
        lanes <= 16 || self.may_use("SPV_EXT_long_vector")
    }

    /// The shape of a type, or a refusal if it has none.
    pub(super) fn require_shape(&self, ty: LlvmType) -> LlvmResult<NumericShape> {
        match self.find_shape(ty) {
            Some(shape) => Ok(shape),
            None => Err(self.no_type(ty)),
        }
    }

    /// The type of a shape in register form.
    pub(super) fn shape_type(&mut self, shape: NumericShape) -> Id {
        let mut common_shapes = self.types.common_shapes.iter();
        if let Some((_, id)) = common_shapes.find(|known| known.0 == shape) {
            return *id;
        }
        let id = self.new_shape_type(shape);
        if self.types.common_shapes.len() < COMMON_SHAPES {
            self.types.common_shapes.push((shape, id));
        }
        id
    }

    fn new_shape_type(&mut self, shape: NumericShape) -> Id {
        let scalar = match shape.elem {
            NumericElement::Bool => self.b.bool_type(),
            NumericElement::Int => self.b.int_type(shape.width, false),
            NumericElement::Float => self.b.float_type(shape.width),
            NumericElement::Brain => {
                let encoding = FPEncoding::BFloat16KHR.0;
                self.b.declare_type(Op::TypeFloat, &[shape.width, encoding])
            }
        };
        if shape.padded == 1 {
            return scalar;
        }
        let id = match shape.padded {
            0..=16 => self.b.vector_type(scalar, shape.padded),
            lanes => {
                let lanes = self.make_u32(lanes);
                let words = [scalar.word(), lanes.word()];
                self.b.declare_type(Op::TypeVectorIdEXT, &words)
            }
        };
        self.set_first_member(id, scalar);
        id
    }

    /// `uchar`: bytes, and `i1` in memory.
    pub(super) fn make_byte_type(&mut self) -> Id {
        self.b.int_type(8, false)
    }

    /// A pointer type.
    pub(super) fn pointer_type(&mut self, class: StorageClass, pointee: Id) -> Id {
        let row = self.types.find_row(pointee);
        let known = row.and_then(|row| *row.pointers.get(class.0 as usize)?);
        if let Some(id) = known {
            return id;
        }
        let id = self.b.pointer_type(class, pointee);
        let row = self.types.row_mut(pointee);
        if let Some(slot) = row.pointers.get_mut(class.0 as usize) {
            *slot = Some(id);
        }
        self.types.row_mut(id).pointee = Some((class, pointee));
        id
    }

    /// Storage class and pointee of a pointer type.
    pub(super) fn pointee_of(&self, pointer: Id) -> Option<(StorageClass, Id)> {
        self.types.find_row(pointer)?.pointee
    }

    /// The type of the first member of an aggregate or vector type.
    pub(super) fn first_member(&self, aggregate: Id) -> Option<Id> {
        self.types.find_row(aggregate)?.first_member
    }

    /// The storage class of an address space.
    pub(super) fn storage_class(&self, space: u32) -> LlvmResult<StorageClass> {
        Ok(match space {
            0 => StorageClass::Function,
            1 => StorageClass::CrossWorkgroup,
            2 => StorageClass::UniformConstant,
            3 => StorageClass::Workgroup,
            4 => StorageClass::Generic,
            5 => StorageClass::DeviceOnlyINTEL,
            6 => StorageClass::HostOnlyINTEL,
            7 => StorageClass::Input,
            8 => StorageClass::Output,
            9 => StorageClass::CodeSectionINTEL,
            _ => {
                let class = shader_storage_class(space).filter(|_| self.is_shader());
                return class.ok_or_else(|| {
                    make_refusal(format!("address space {space} has no storage class"))
                });
            }
        })
    }

    /// The type of a pointer to `pointee`, or to bytes if the pointee is unknown.
    pub(super) fn pointer_to(&mut self, space: u32, pointee: Option<LlvmType>) -> LlvmResult<Id> {
        let class = self.storage_class(space)?;
        let pointee = self.pointee_type(pointee)?;
        Ok(self.pointer_type(class, pointee))
    }

    /// A pointee in memory form; bytes, if unknown.
    pub(super) fn pointee_type(&mut self, pointee: Option<LlvmType>) -> LlvmResult<Id> {
        match pointee {
            Some(ty) => self.memory_type(ty),
            None => Ok(self.make_byte_type()),
        }
    }

    /// A type in register form; pointers point to bytes.
    pub(super) fn register_type(&mut self, ty: LlvmType) -> LlvmResult<Id> {
        if let Some(id) = self.types.register[ty.index()] {
            return Ok(id);
        }
        let id = match self.find_shape(ty) {
            Some(shape) => self.shape_type(shape),
            None if ty == LlvmType::VOID => self.b.void_type(),
            None => self.memory_type(ty)?,
        };
        self.types.register[ty.index()] = Some(id);
        Ok(id)
    }

    /// A type in memory form.
    pub(super) fn memory_type(&mut self, ty: LlvmType) -> LlvmResult<Id> {
        self.memory_type_within(ty, 0)
    }

    /// Records the type of the first member of an aggregate type.
    pub(super) fn set_first_member(&mut self, aggregate: Id, first: Id) {
        self.types.row_mut(aggregate).first_member = Some(first);
    }

    pub(super) fn memory_type_within(&mut self, ty: LlvmType, depth: u32) -> LlvmResult<Id> {
        if let Some(id) = self.types.memory[ty.index()] {
            return Ok(id);
        }
        if depth > MAX_DEPTH {
            return Err(make_refusal("types are nested too deeply"));
        }
        let id = match self.find_shape(ty) {
            Some(shape) if self.is_shader() => self.shape_type(shape),
            None if self.is_shader() => self.shader_type(ty, depth)?,
            Some(NumericShape {
                elem: NumericElement::Bool,
                padded: 1,
                ..
            }) => self.make_byte_type(),
            Some(shape) if shape.elem == NumericElement::Bool && shape.to_packed().is_none() => {
                return Err(make_refusal("vectors of more than 64 Booleans in memory"));
            }
            Some(shape) => self.shape_type(shape.to_packed().unwrap_or(shape)),
            None => self.aggregate_type(ty, depth)?,
        };
        self.types.memory[ty.index()] = Some(id);
        Ok(id)
    }

    fn aggregate_type(&mut self, ty: LlvmType, depth: u32) -> LlvmResult<Id> {
        let module = self.module;
        match module.types.kind(ty) {
            LlvmTypeKind::Pointer { space, .. } => {
                let class = self.storage_class(*space)?;
                let byte = self.make_byte_type();
                Ok(self.pointer_type(class, byte))
            }
            LlvmTypeKind::Array { element, len } => {
                let element = self.memory_type_within(*element, depth + 1)?;
                self.array_type(element, *len)
            }
            LlvmTypeKind::Struct {
                name,
                fields,
                packed,
            } => {
                let Some(fields) = fields else {
                    let mut words = Vec::new();
                    push_string(&mut words, shorten_name(module.symbol_text(*name)));
                    return Ok(self.b.declare_type(Op::TypeOpaque, &words));
                };
                if fields.len() > MAX_MEMBERS {
                    let count = fields.len();
                    return Err(make_refusal(format!(
                        "a structure of {count} members is too large"
                    )));
                }
                let mut members = Vec::with_capacity(fields.len());
                for field in fields {
                    members.push(self.memory_type_within(*field, depth + 1)?);
                }
                Ok(self.struct_type(module.symbol_text(*name), &members, *packed))
            }
            LlvmTypeKind::Int(_) if let Some(wide) = self.find_wide_type(ty) => {
                self.wide_type(ty, wide)
            }
            LlvmTypeKind::Vector { .. }
                if let Some((element, lanes)) = self.find_scalarised_vector(ty) =>
            {
                let element = self.memory_type_within(element, depth + 1)?;
                self.scalarised_vector_type(ty, element, lanes)
            }
            LlvmTypeKind::Target { name, types, ints } => {
                self.target_type(module.symbol_text(*name), types, ints)
            }
            _ => Err(self.no_type(ty)),
        }
    }

    /// An array type. SPIR-V has no empty arrays, so it has at least one element.
    pub(super) fn array_type(&mut self, element: Id, len: u64) -> LlvmResult<Id> {
        let Ok(len) = u32::try_from(len.max(1)) else {
            return Err(make_refusal(format!(
                "an array of {len} elements is too large"
            )));
        };
        let length = self.b.constant_u32(len);
        let id = self.b.array_type(element, length);
        self.set_first_member(id, element);
        Ok(id)
    }

    pub(super) fn struct_type(&mut self, name: &str, members: &[Id], packed: bool) -> Id {
        let words: Vec<u32> = members.iter().map(|m| m.word()).collect();
        let id = if name.is_empty() && !packed {
            self.b.struct_type(members)
        } else {
            self.b.distinct_type(Op::TypeStruct, &words)
        };
        if !name.is_empty() {
            self.name_id(id, name);
        }
        if packed {
            self.b.decorate_id(id, Decoration::CPacked, &[]);
        }
        if let Some(first) = members.first() {
            self.set_first_member(id, *first);
        }
        id
    }

    /// The refusal of a type, with the reason.
    pub(super) fn no_type(&self, ty: LlvmType) -> Box<LlvmError> {
        let types = &self.module.types;
        make_refusal(match types.kind(ty) {
            LlvmTypeKind::Int(width) => {
                format!("integers of {width} bits have no counterpart in SPIR-V")
            }
            LlvmTypeKind::Vector { scalable: true, .. } => {
                "vectors of unknown length have no counterpart in SPIR-V".to_owned()
            }
            LlvmTypeKind::Vector { element, .. } if types.is_pointer_like(*element) => {
                "vectors of pointers have no counterpart in SPIR-V".to_owned()
            }
            LlvmTypeKind::Vector { element, len, .. } => {
                match padded_lanes(*len).filter(|lanes| self.may_have_lanes(*lanes)) {
                    None => format!("vectors of {len} lanes are longer than SPIR-V allows"),
                    Some(_) => return self.no_type(*element),
                }
            }
            LlvmTypeKind::Pointer { .. } if self.is_shader() => {
                "pointers in memory have no counterpart in shaders".to_owned()
            }
            LlvmTypeKind::Pointer { .. } => "a pointer is used where a number is needed".to_owned(),
            kind => format!("the type {} has no counterpart in SPIR-V", kind_name(kind)),
        })
    }
}

fn kind_name(kind: &LlvmTypeKind) -> &'static str {
    match kind {
        LlvmTypeKind::BFloat => "bfloat",
        LlvmTypeKind::X86Fp80 => "x86_fp80",
        LlvmTypeKind::Fp128 => "fp128",
        LlvmTypeKind::PpcFp128 => "ppc_fp128",
        LlvmTypeKind::X86Mmx => "x86_mmx",
        LlvmTypeKind::X86Amx => "x86_amx",
        LlvmTypeKind::Label => "label",
        LlvmTypeKind::Metadata => "metadata",
        LlvmTypeKind::Token => "token",
        LlvmTypeKind::Void => "void",
        LlvmTypeKind::Function { .. } => "of functions",
        LlvmTypeKind::Array { .. } => "of arrays",
        _ => "used here",
    }
}
