//! Templates of scripts: arguments that fit an entry point.

use super::kernel::name_descriptor;
use spirula_program::element_type_name;
use spirula_program::program::{CompiledProgram, EntrySize, EntryValueType};
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{BindingKind, EntryDetails, EntryInterface, ParamKind, entry_points};

/// Elements of arrays whose size nothing says.
const USUAL_COUNT: u64 = 64;

/// Most descriptors of an array that have lines.
const MOST_LISTED: u32 = 16;

/// Deepest nesting of types that is followed.
const DEEPEST: usize = 32;

/// A script for the first entry point of a module; none where it has no interface.
pub(crate) fn describe_kernels(module: &SpirvModule) -> Option<String> {
    let (entry, _) = entry_points(module).into_iter().next()?;
    let interface = EntryInterface::from_module(module, &entry).ok()?;
    let definitions = IdDefinitions::from_module(module);
    let name_type = |ty: Id| name_scalar(module, &definitions, ty);
    let mut lines = vec![format!("entry {entry}"), "groups 1".to_owned()];
    if interface.workgroup_size.is_none() && interface.takes_arguments() {
        lines.push(format!("size {USUAL_COUNT}"));
    }
    if interface.takes_arguments() {
        for (number, param) in interface.params.iter().enumerate() {
            let name = param.name.clone().unwrap_or_else(|| number.to_string());
            let value = match param.kind {
                ParamKind::Buffer { pointee, .. } => {
                    format!("{}[{USUAL_COUNT}] = iota", name_type(pointee))
                }
                ParamKind::Workgroup { .. } => "local 1024".to_owned(),
                ParamKind::Value { ty, size, .. } => {
                    let scalar = name_type(ty);
                    let count = size / scalar_bytes(&scalar).max(1);
                    let sizes = if count > 1 {
                        format!("[{count}]")
                    } else {
                        String::new()
                    };
                    format!("{scalar}{sizes} = {USUAL_COUNT}")
                }
                ParamKind::Opaque { .. } => continue,
            };
            lines.push(format!("{name}: {value}"));
        }
    } else {
        describe_resources(&interface, &name_type, &mut lines);
        let details = EntryDetails::from_module(module, &entry).ok()?;
        let mut addressed = 0;
        for member in &details.push_constants {
            let scalar = name_type(member.ty);
            if is_pointer(module, &definitions, member.ty) {
                let name = format!("memory{addressed}");
                lines.push(format!("{name}: {scalar}[{USUAL_COUNT}] = iota"));
                lines.push(format!("push: address = {name}"));
                addressed += 1;
            } else {
                lines.push(format!("push: {scalar} = {USUAL_COUNT}"));
            }
        }
    }
    Some(lines.join("\n") + "\n")
}

/// Appends a line for each descriptor of a shader.
fn describe_resources(
    interface: &EntryInterface,
    name_type: &dyn Fn(Id) -> String,
    lines: &mut Vec<String>,
) {
    for binding in &interface.bindings {
        let (BindingKind::Storage(ty) | BindingKind::Uniform(ty)) = binding.kind else {
            continue;
        };
        for index in 0..binding.count.min(MOST_LISTED) {
            let [name, _] = name_descriptor(binding, index);
            lines.push(format!("{name}: {}[{USUAL_COUNT}] = iota", name_type(ty)));
        }
    }
}

/// Whether a type is a pointer, which a push constant passes as an address.
fn is_pointer(module: &SpirvModule, definitions: &IdDefinitions, ty: Id) -> bool {
    let inst = definitions.get(module, ty);
    inst.is_some_and(|inst| inst.op() == Op::TypePointer)
}

/// A script for the first entry point of a program.
pub(crate) fn describe_program(program: &CompiledProgram) -> Option<String> {
    let entry = program.entries.first()?;
    let mut lines = vec![format!("entry {}", entry.name)];
    for (number, parameter) in entry.parameters.iter().enumerate() {
        let value = parameter.value.as_ref()?;
        let name = if parameter.name.is_empty() {
            number.to_string()
        } else {
            parameter.name.clone()
        };
        lines.push(format!("{name}: {}", describe_value(value)));
    }
    Some(lines.join("\n") + "\n")
}

fn describe_value(value: &EntryValueType) -> String {
    let element = element_type_name(value.element, value.unsigned);
    let Some(shape) = &value.shape else {
        return format!(
            "{element} = {}",
            if element == "bool" { "true" } else { "4" }
        );
    };
    let size = |size: &EntrySize| match size {
        EntrySize::Known(size) => format!("[{size}]"),
        EntrySize::Scalar(_) => "[16]".to_owned(),
    };
    let sizes: String = shape.iter().map(size).collect();
    format!("{element}{sizes} = iota")
}

/// The name of the first scalar of a type.
fn name_scalar(module: &SpirvModule, definitions: &IdDefinitions, mut ty: Id) -> String {
    for _ in 0..DEEPEST {
        let Some(inst) = definitions.get(module, ty) else {
            break;
        };
        match inst.op() {
            Op::TypeInt if inst.operands().get(1) == Some(&0) && !is_kernel(module) => {
                return format!("u{}", inst.operand_word(0));
            }
            Op::TypeInt => return format!("i{}", inst.operand_word(0)),
            Op::TypeFloat => return format!("f{}", inst.operand_word(0)),
            Op::TypeBool => return "bool".to_owned(),
            _ => {}
        }
        // A block may begin with a size, and end with the array.
        let parts: Vec<Id> = match inst.op() {
            Op::TypeStruct => inst.id_operands(0).collect(),
            Op::TypePointer => inst.get_id(1).into_iter().collect(),
            _ => inst.get_id(0).into_iter().collect(),
        };
        match parts.last() {
            Some(part) => ty = *part,
            None => break,
        }
    }
    "u8".to_owned()
}

/// Whether integers of a module have no sign of their own.
fn is_kernel(module: &SpirvModule) -> bool {
    let mut points = entry_points(module).into_iter();
    points.any(|(_, model)| model == spirula_spirv::grammar::enumerants::ExecutionModel::Kernel)
}

/// Bytes of a scalar, by the digits of its name.
fn scalar_bytes(name: &str) -> u64 {
    let bits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    bits.parse::<u64>().map_or(1, |bits| bits / 8)
}
