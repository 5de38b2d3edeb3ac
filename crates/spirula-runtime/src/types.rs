//! The types of a module in the words of buffers: what its elements are called and how a value is
//! laid out.

use crate::data::Element;
use spirula_spirv::Id;
use spirula_spirv::analysis::Definitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::Module;

/// Deepest nesting of types that is looked through.
const DEPTH: u32 = 16;
/// Deepest nesting of types that is written out.
const NAME_DEPTH: u32 = 3;

/// A value of one element or several of the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Type of the elements. Integers without a sign in the module are unsigned.
    pub element: Element,
    /// Elements; 1 for a scalar.
    pub count: u32,
}

/// The types of a module.
pub struct TypeNames<'a> {
    module: &'a Module,
    definitions: Definitions,
}

impl<'a> TypeNames<'a> {
    /// One pass over a module.
    pub fn compute(module: &'a Module) -> Self {
        let definitions = Definitions::compute(module);
        TypeNames {
            module,
            definitions,
        }
    }

    /// A scalar or vector type.
    pub fn value(&self, ty: Id) -> Option<Value> {
        let inst = self.definitions.get(self.module, ty)?;
        let scalar = |element| Some(Value { element, count: 1 });
        match inst.op() {
            Op::TypeBool => scalar(Element::Bool),
            Op::TypeInt => scalar(match (inst.word(0), inst.word(1)) {
                (8, 0) => Element::U8,
                (16, 0) => Element::U16,
                (32, 0) => Element::U32,
                (64, 0) => Element::U64,
                (8, _) => Element::I8,
                (16, _) => Element::I16,
                (32, _) => Element::I32,
                (64, _) => Element::I64,
                _ => return None,
            }),
            Op::TypeFloat => scalar(match (inst.word(0), inst.operands().get(1)) {
                (16, None) => Element::F16,
                (16, Some(0)) => Element::BF16,
                (32, None) => Element::F32,
                (64, None) => Element::F64,
                _ => return None,
            }),
            Op::TypeVector => {
                let of = self.definitions.get(self.module, inst.id(0))?;
                let is_scalar = matches!(of.op(), Op::TypeBool | Op::TypeInt | Op::TypeFloat);
                let element = is_scalar.then(|| self.value(inst.id(0)))??.element;
                let count = inst.word(1);
                Some(Value { element, count })
            }
            _ => None,
        }
    }

    /// The instruction that declares a type.
    pub(crate) fn op(&self, ty: Id) -> Option<Op> {
        self.definitions.op(self.module, ty)
    }

    /// The type of a value, by its id.
    pub fn type_of(&self, id: u32) -> Option<Id> {
        let inst = self.definitions.get(self.module, Id::new(id)?)?;
        inst.result_type()
    }

    /// The type of the elements of a buffer: what lies at the bottom of its arrays, vectors and
    /// structures of one member.
    pub fn element(&self, mut ty: Id) -> Option<Element> {
        for _ in 0..DEPTH {
            if let Some(value) = self.value(ty) {
                return Some(value.element);
            }
            let inst = self.definitions.get(self.module, ty)?;
            ty = match (inst.op(), inst.operands().len()) {
                (Op::TypeArray | Op::TypeRuntimeArray, _) | (Op::TypeStruct, 1) => inst.id(0),
                _ => return None,
            };
        }
        None
    }

    /// A type as people write it: `f32`, `4xf32`, `?x4xf32`, `{i32, f32}`.
    pub fn name(&self, ty: Id) -> String {
        self.name_within(ty, NAME_DEPTH)
    }

    fn name_within(&self, ty: Id, depth: u32) -> String {
        if let Some(Value { element, count }) = self.value(ty) {
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
                let length = self.definitions.default_value(self.module, inst.id(1));
                let length = length.map_or("?".to_owned(), |n| n.to_string());
                format!("{length}x{}", self.name_within(inst.id(0), depth))
            }
            Op::TypeRuntimeArray => format!("?x{}", self.name_within(inst.id(0), depth)),
            Op::TypeStruct if inst.operands().len() == 1 => self.name_within(inst.id(0), depth),
            Op::TypeStruct if inst.operands().len() <= 8 => {
                let members: Vec<_> = inst.ids(0).map(|m| self.name_within(m, depth)).collect();
                format!("{{{}}}", members.join(", "))
            }
            Op::TypeStruct => "{...}".to_owned(),
            Op::TypePointer => "pointer".to_owned(),
            Op::TypeUntypedPointerKHR => "anything".to_owned(),
            op => op.to_string(),
        }
    }
}
