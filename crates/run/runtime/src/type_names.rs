//! Type names: element types and layouts of the types of a module.

use crate::data::ElementType;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{InterfaceParam, ParamKind};

/// Deepest nesting of types that is examined.
const DEPTH: u32 = 16;
/// Deepest nesting of types that is printed.
const NAME_DEPTH: u32 = 3;

/// Scalar types of OpenCL C, by which shaders describe the parameters of the kernels that they were compiled from.
const OPENCL: &[(&str, ElementType)] = &[
    ("bool", ElementType::Bool),
    ("char", ElementType::I8),
    ("uchar", ElementType::U8),
    ("short", ElementType::I16),
    ("ushort", ElementType::U16),
    ("int", ElementType::I32),
    ("uint", ElementType::U32),
    ("long", ElementType::I64),
    ("ulong", ElementType::U64),
    ("bfloat16", ElementType::BF16),
    ("half", ElementType::F16),
    ("float", ElementType::F32),
    ("double", ElementType::F64),
];

/// The elements of a value, all of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueElements {
    /// Type of the elements. Integers without signedness in the module are unsigned.
    pub element: ElementType,
    /// Elements; 1 for a scalar.
    pub count: u32,
}

/// The types of a module.
pub struct TypeNames<'a> {
    module: &'a SpirvModule,
    definitions: IdDefinitions,
}

impl<'a> TypeNames<'a> {
    /// One pass over a module.
    pub fn from_module(module: &'a SpirvModule) -> Self {
        let definitions = IdDefinitions::from_module(module);
        TypeNames {
            module,
            definitions,
        }
    }

    /// A scalar or vector type.
    pub fn parse_value_type(&self, ty: Id) -> Option<ValueElements> {
        let inst = self.definitions.get(self.module, ty)?;
        let scalar = |element| Some(ValueElements { element, count: 1 });
        match inst.op() {
            Op::TypeBool => scalar(ElementType::Bool),
            Op::TypeInt => scalar(match (inst.operand_word(0), inst.operand_word(1)) {
                (8, 0) => ElementType::U8,
                (16, 0) => ElementType::U16,
                (32, 0) => ElementType::U32,
                (64, 0) => ElementType::U64,
                (8, _) => ElementType::I8,
                (16, _) => ElementType::I16,
                (32, _) => ElementType::I32,
                (64, _) => ElementType::I64,
                _ => return None,
            }),
            Op::TypeFloat => scalar(match (inst.operand_word(0), inst.operands().get(1)) {
                (16, None) => ElementType::F16,
                (16, Some(0)) => ElementType::BF16,
                (32, None) => ElementType::F32,
                (64, None) => ElementType::F64,
                _ => return None,
            }),
            Op::TypeVector => {
                let of = self.definitions.get(self.module, inst.id_operand(0))?;
                let is_scalar = matches!(of.op(), Op::TypeBool | Op::TypeInt | Op::TypeFloat);
                let element = is_scalar
                    .then(|| self.parse_value_type(inst.id_operand(0)))??
                    .element;
                let count = inst.operand_word(1);
                Some(ValueElements { element, count })
            }
            _ => None,
        }
    }

    /// The scalar or vector that a parameter takes by value.
    pub fn param_value(&self, param: &InterfaceParam) -> Option<ValueElements> {
        let ParamKind::Value { ty, .. } = param.kind else {
            return None;
        };
        let named = || opencl_value(param.type_name.as_deref()?);
        self.parse_value_type(ty).or_else(named)
    }

    /// The printed type of a parameter's value, or of the elements that it points to.
    pub fn param_name(&self, param: &InterfaceParam) -> String {
        let (ParamKind::Value { ty, .. }
        | ParamKind::Buffer { pointee: ty, .. }
        | ParamKind::Workgroup { pointee: ty }
        | ParamKind::Opaque { ty }) = param.kind;
        match &param.type_name {
            Some(name) if self.defining_op(ty) == Some(Op::TypeVoid) => opencl_name(name),
            _ => self.format_type(ty),
        }
    }

    /// Whether all scalars of a parameter's value have an element type. Integers match regardless of sign, and pointers
    /// match 64-bit integers.
    pub fn takes_elements(&self, param: &InterfaceParam, element: ElementType) -> bool {
        self.param_consists_of(param, |own| match own {
            Some(own) if own.is_float() || element.is_float() => own == element,
            Some(own) => own.size() == element.size(),
            None => matches!(element, ElementType::I64 | ElementType::U64),
        })
    }

    /// Whether all scalars of a parameter's value are integers.
    pub fn takes_integers(&self, param: &InterfaceParam) -> bool {
        self.param_consists_of(param, |own| {
            own.is_some_and(|own| !own.is_float() && own != ElementType::Bool)
        })
    }

    /// Whether a predicate holds for all scalars of a parameter's value. A shader that was compiled from a kernel only knows the
    /// size of a structure, for which every predicate holds.
    fn param_consists_of(
        &self,
        param: &InterfaceParam,
        holds: impl Fn(Option<ElementType>) -> bool + Copy,
    ) -> bool {
        let ParamKind::Value { ty, .. } = param.kind else {
            return false;
        };
        match self.param_value(param) {
            Some(value) => holds(Some(value.element)),
            None if self.defining_op(ty) == Some(Op::TypeVoid) => true,
            None => self.consists_of(ty, DEPTH, holds),
        }
    }

    /// Whether a predicate holds for all scalars of a type; pointers have no element type.
    fn consists_of(
        &self,
        ty: Id,
        depth: u32,
        holds: impl Fn(Option<ElementType>) -> bool + Copy,
    ) -> bool {
        if let Some(value) = self.parse_value_type(ty) {
            return holds(Some(value.element));
        }
        let (Some(inst), Some(depth)) =
            (self.definitions.get(self.module, ty), depth.checked_sub(1))
        else {
            return false;
        };
        match inst.op() {
            Op::TypeStruct => inst
                .id_operands(0)
                .all(|member| self.consists_of(member, depth, holds)),
            Op::TypeArray | Op::TypeRuntimeArray | Op::TypeMatrix => {
                self.consists_of(inst.id_operand(0), depth, holds)
            }
            Op::TypePointer | Op::TypeUntypedPointerKHR => holds(None),
            // Scalars without an element type are given by their bytes.
            Op::TypeInt | Op::TypeFloat => true,
            _ => false,
        }
    }

    /// The instruction that declares a type.
    pub(crate) fn defining_op(&self, ty: Id) -> Option<Op> {
        self.definitions.defining_op(self.module, ty)
    }

    /// The type of a value, by its id.
    pub fn type_of(&self, id: u32) -> Option<Id> {
        let inst = self.definitions.get(self.module, Id::new(id)?)?;
        inst.result_type()
    }

    /// The element type of a buffer: the innermost type of its arrays, vectors and structures of one member.
    pub fn find_buffer_element(&self, mut ty: Id) -> Option<ElementType> {
        for _ in 0..DEPTH {
            if let Some(value) = self.parse_value_type(ty) {
                return Some(value.element);
            }
            let inst = self.definitions.get(self.module, ty)?;
            ty = match (inst.op(), inst.operands().len()) {
                (Op::TypeArray | Op::TypeRuntimeArray, _) | (Op::TypeStruct, 1) => {
                    inst.id_operand(0)
                }
                _ => return None,
            };
        }
        None
    }

    /// The printed form of a type: `f32`, `4xf32`, `?x4xf32`, `{i32, f32}`.
    pub fn format_type(&self, ty: Id) -> String {
        self.name_within(ty, NAME_DEPTH)
    }

    fn name_within(&self, ty: Id, depth: u32) -> String {
        if let Some(ValueElements { element, count }) = self.parse_value_type(ty) {
            return match count {
                1 => element.to_string(),
                _ => format!("{count}x{element}"),
            };
        }
        let (Some(inst), Some(depth)) =
            (self.definitions.get(self.module, ty), depth.checked_sub(1))
        else {
            return "?".to_owned();
        };
        match inst.op() {
            Op::TypeArray => {
                let length = self
                    .definitions
                    .default_value(self.module, inst.id_operand(1));
                let length = length.map_or("?".to_owned(), |n| n.to_string());
                format!("{length}x{}", self.name_within(inst.id_operand(0), depth))
            }
            Op::TypeRuntimeArray => format!("?x{}", self.name_within(inst.id_operand(0), depth)),
            Op::TypeStruct if inst.operands().len() == 1 => {
                self.name_within(inst.id_operand(0), depth)
            }
            Op::TypeStruct if inst.operands().len() <= 8 => {
                let members: Vec<_> = inst
                    .id_operands(0)
                    .map(|m| self.name_within(m, depth))
                    .collect();
                format!("{{{}}}", members.join(", "))
            }
            Op::TypeStruct => "{...}".to_owned(),
            Op::TypePointer => "pointer".to_owned(),
            Op::TypeUntypedPointerKHR => "anything".to_owned(),
            op => op.to_string(),
        }
    }
}

/// The scalar or vector type of a name in OpenCL C.
fn opencl_value(name: &str) -> Option<ValueElements> {
    let digits = name
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(name.len());
    let (scalar, lanes) = name.split_at(digits);
    let (_, element) = *OPENCL.iter().find(|row| row.0 == scalar)?;
    let count = match lanes {
        "" => 1,
        lanes => lanes.parse().ok()?,
    };
    Some(ValueElements { element, count })
}

/// A type in OpenCL C, or the pointee of a pointer, with our names of scalars and vectors: `{u32, 4xf32}` for
/// `{uint, float4}*`.
fn opencl_name(name: &str) -> String {
    let name = name.trim_end_matches('*').trim_end();
    if let Some(ValueElements { element, count }) = opencl_value(name) {
        return match count {
            1 => element.to_string(),
            _ => format!("{count}x{element}"),
        };
    }
    match name.strip_prefix('{').and_then(|n| n.strip_suffix('}')) {
        Some(members) if !members.contains('{') => {
            let members: Vec<_> = members.split(", ").map(opencl_name).collect();
            format!("{{{}}}", members.join(", "))
        }
        _ if name == "void" => "anything".to_owned(),
        _ => name.to_owned(),
    }
}
