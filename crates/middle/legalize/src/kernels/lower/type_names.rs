//! Type names in OpenCL C, by which the reflection of a shader describes the parameters of its kernel.
//!
//! SPIR-V for kernels has no signs of integers, so all integers are unsigned. Structures are lists of their members.

use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Deepest nesting of types that is printed.
const DEEPEST: u32 = 3;

/// Most members of a structure that are printed.
const MOST_MEMBERS: usize = 8;

/// Names of scalars.
const SCALARS: &[(MemoryScalar, &str)] = &[
    (MemoryScalar::Bool, "bool"),
    (MemoryScalar::Int(8), "uchar"),
    (MemoryScalar::Int(16), "ushort"),
    (MemoryScalar::Int(32), "uint"),
    (MemoryScalar::Int(64), "ulong"),
    (MemoryScalar::Bfloat16, "bfloat16"),
    (MemoryScalar::Float(16), "half"),
    (MemoryScalar::Float(32), "float"),
    (MemoryScalar::Float(64), "double"),
];

/// Names of signed integers.
const SIGNED: &[(u32, &str)] = &[(8, "char"), (16, "short"), (32, "int"), (64, "long")];

/// The name of the type of a kernel's parameter; `None` where it has no name.
pub fn type_name(info: &KernelModuleInfo<'_>, param: Id) -> String {
    let Some(ty) = info.type_of(param) else {
        return String::new();
    };
    match info.parse_pointer_type(ty) {
        // A by-value copy has the name of the value.
        Some((_, Some(pointee))) if crate::kernels::points_to::is_by_value(info, param) => {
            name_within(info, pointee, DEEPEST)
        }
        Some((_, Some(pointee))) => name_within(info, pointee, DEEPEST) + "*",
        Some((_, None)) => "void*".to_owned(),
        None => name_within(info, ty, DEEPEST),
    }
}

fn name_within(info: &KernelModuleInfo<'_>, ty: Id, depth: u32) -> String {
    let (Ok(def), Some(depth)) = (info.find_definition(ty), depth.checked_sub(1)) else {
        return "...".to_owned();
    };
    let part = |ty| name_within(info, ty, depth);
    match def.op() {
        Op::TypeVector => format!("{}{}", part(def.id_operand(0)), def.operand_word(1)),
        Op::TypeArray => {
            let count = info.read_constant(def.id_operand(1)).unwrap_or(0);
            format!("{}[{count}]", part(def.id_operand(0)))
        }
        Op::TypeStruct if def.operands().len() <= MOST_MEMBERS => {
            let members: Vec<String> = def.id_operands(0).map(part).collect();
            format!("{{{}}}", members.join(", "))
        }
        Op::TypeStruct => "{...}".to_owned(),
        Op::TypePointer | Op::TypeUntypedPointerKHR => "void*".to_owned(),
        _ => scalar_name(info, def, ty),
    }
}

fn scalar_name(info: &KernelModuleInfo<'_>, def: InstRef<'_>, ty: Id) -> String {
    let signed = SIGNED.iter().find(|row| def.operands() == [row.0, 1]);
    if let Some((_, name)) = signed.filter(|_| def.op() == Op::TypeInt) {
        return (*name).to_owned();
    }
    let scalar = info.classify_scalar(ty);
    let found = SCALARS.iter().find(|row| Some(row.0) == scalar);
    found.map_or(String::new(), |row| row.1.to_owned())
}
