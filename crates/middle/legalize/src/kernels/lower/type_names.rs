//! Names of types in OpenCL C, by which a shader's reflection says what its kernel takes.
//!
//! SPIR-V for kernels has no signs of integers, so that all are unsigned. Structures are their members.

use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Deepest nesting of types that is written out.
const DEEPEST: u32 = 3;

/// Most members of a structure that are written out.
const MOST_MEMBERS: usize = 8;

/// Names of scalars.
const SCALARS: &[(MemoryScalar, &str)] = &[
    (MemoryScalar::Bool, "bool"),
    (MemoryScalar::Int(8), "uchar"),
    (MemoryScalar::Int(16), "ushort"),
    (MemoryScalar::Int(32), "uint"),
    (MemoryScalar::Int(64), "ulong"),
    (MemoryScalar::Brain, "bfloat16"),
    (MemoryScalar::Float(16), "half"),
    (MemoryScalar::Float(32), "float"),
    (MemoryScalar::Float(64), "double"),
];

/// Names of signed integers.
const SIGNED: &[(u32, &str)] = &[(8, "char"), (16, "short"), (32, "int"), (64, "long")];

/// What the type of a kernel's parameter is called; nothing where it has no name.
pub fn type_name(facts: &KernelModuleInfo<'_>, param: Id) -> String {
    let Some(ty) = facts.type_of(param) else {
        return String::new();
    };
    match facts.parse_pointer_type(ty) {
        // A copy is taken by its value.
        Some((_, Some(pointee))) if crate::kernels::points_to::is_by_value(facts, param) => {
            name_within(facts, pointee, DEEPEST)
        }
        Some((_, Some(pointee))) => name_within(facts, pointee, DEEPEST) + "*",
        Some((_, None)) => "void*".to_owned(),
        None => name_within(facts, ty, DEEPEST),
    }
}

fn name_within(facts: &KernelModuleInfo<'_>, ty: Id, depth: u32) -> String {
    let (Ok(def), Some(depth)) = (facts.find_definition(ty), depth.checked_sub(1)) else {
        return "...".to_owned();
    };
    let part = |ty| name_within(facts, ty, depth);
    match def.op() {
        Op::TypeVector => format!("{}{}", part(def.id_operand(0)), def.operand_word(1)),
        Op::TypeArray => {
            let count = facts.read_constant(def.id_operand(1)).unwrap_or(0);
            format!("{}[{count}]", part(def.id_operand(0)))
        }
        Op::TypeStruct if def.operands().len() <= MOST_MEMBERS => {
            let members: Vec<String> = def.id_operands(0).map(part).collect();
            format!("{{{}}}", members.join(", "))
        }
        Op::TypeStruct => "{...}".to_owned(),
        Op::TypePointer | Op::TypeUntypedPointerKHR => "void*".to_owned(),
        _ => scalar_name(facts, def, ty),
    }
}

fn scalar_name(facts: &KernelModuleInfo<'_>, def: InstRef<'_>, ty: Id) -> String {
    let signed = SIGNED.iter().find(|row| def.operands() == [row.0, 1]);
    if let Some((_, name)) = signed.filter(|_| def.op() == Op::TypeInt) {
        return (*name).to_owned();
    }
    let scalar = facts.classify_scalar(ty);
    let found = SCALARS.iter().find(|row| Some(row.0) == scalar);
    found.map_or(String::new(), |row| row.1.to_owned())
}
