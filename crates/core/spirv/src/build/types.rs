//! Uniqued types of the module builder.

use super::SpirvBuilder;
use crate::Id;
use crate::grammar::Op;
use crate::grammar::enumerants::StorageClass;
use crate::ir::ModuleSection;

impl SpirvBuilder {
    /// A type by its opcode and operands, once for equal operands.
    pub fn declare_type(&mut self, op: Op, operands: &[u32]) -> Id {
        self.intern_untyped(ModuleSection::Globals, op, operands)
    }

    /// A distinct type even if an equal one exists: structures and arrays with decorations.
    pub fn distinct_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let id = self.fresh_id();
        self.define_type(id, op, operands);
        id
    }

    /// A distinct type under an id that was used before: structures that contain pointers to themselves.
    pub fn define_type(&mut self, id: Id, op: Op, operands: &[u32]) {
        let mut words = vec![id.word()];
        words.extend_from_slice(operands);
        self.push_inst(ModuleSection::Globals, op, &words);
    }

    /// `OpTypeVoid`.
    pub fn void_type(&mut self) -> Id {
        self.declare_type(Op::TypeVoid, &[])
    }

    /// `OpTypeBool`.
    pub fn bool_type(&mut self) -> Id {
        self.declare_type(Op::TypeBool, &[])
    }

    /// `OpTypeInt` of a width in bits.
    pub fn int_type(&mut self, width: u32, signed: bool) -> Id {
        self.declare_type(Op::TypeInt, &[width, u32::from(signed)])
    }

    /// `OpTypeFloat` of a width in bits, IEEE 754 encoded.
    pub fn float_type(&mut self, width: u32) -> Id {
        self.declare_type(Op::TypeFloat, &[width])
    }

    /// `OpTypeVector`.
    pub fn vector_type(&mut self, component: Id, count: u32) -> Id {
        self.declare_type(Op::TypeVector, &[component.word(), count])
    }

    /// `OpTypeArray`; `length` is a constant.
    pub fn array_type(&mut self, element: Id, length: Id) -> Id {
        self.declare_type(Op::TypeArray, &[element.word(), length.word()])
    }

    /// `OpTypeStruct` without decorations.
    pub fn struct_type(&mut self, members: &[Id]) -> Id {
        let words: Vec<u32> = members.iter().map(|m| m.word()).collect();
        self.declare_type(Op::TypeStruct, &words)
    }

    /// `OpTypePointer`.
    pub fn pointer_type(&mut self, class: StorageClass, pointee: Id) -> Id {
        self.declare_type(Op::TypePointer, &[class.0, pointee.word()])
    }

    /// `OpTypeFunction`.
    pub fn function_type(&mut self, result: Id, params: &[Id]) -> Id {
        let mut words = vec![result.word()];
        words.extend(params.iter().map(|p| p.word()));
        self.declare_type(Op::TypeFunction, &words)
    }
}
