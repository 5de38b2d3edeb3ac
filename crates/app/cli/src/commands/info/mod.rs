//! `spirula info`: shows the entry points of a module or program.

mod program;
mod record;

pub use program::describe_program_entry;

use crate::cli::args::InfoArgs;
use crate::cli::finding::print_json;
use crate::cli::input_file::InputFile;
use crate::cli::shader_source::read_compilable_file;
use crate::cli::{CommandFailure, CommandResult, files};
use crate::commands::compile::compile_options;
use program::describe_program;
use record::{record_module, record_program};
use spirula::{CompileOutput, CompiledInput};
use spirula_diagnostics::SourceDiagnostic;
use spirula_runtime::type_names::TypeNames;
use spirula_spirv::analysis::{
    IdDecorations, IdDefinitions, IdNames, ModuleRequirements, RequirementCeiling,
};
use spirula_spirv::grammar::enumerants::{AddressingModel, ExecutionMode, MemoryModel};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::{
    BindingKind, ClspvArgument, EntryDetails, EntryExecutionMode, EntryInterface, InterfaceBinding,
    InterfaceParam, ParamKind, entry_points, spec_constants,
};
use std::fmt::Write;
use std::path::Path;

/// Runs `spirula info`.
pub fn run_info(args: &InfoArgs) -> CommandResult {
    let input = read_compilable_file(&args.from.path)?;
    let options = compile_options(&args.how, args.entry.as_deref());
    let read = spirula::read_located_input(&input.bytes, &input.name);
    let compiled = match read.and_then(|read| read.compile_with(&options)) {
        Ok(compiled) => compiled,
        Err(error) => return Err(CommandFailure::from_compile_error(input, error)),
    };
    if args.json {
        return print_record(input, &compiled);
    }
    let head = format!("{}: {}", input.name, compiled.format.name);
    let text = match compiled.output {
        CompileOutput::Program(program) => format!(
            "{head}\n{}",
            describe_program(&program, compiled.tensors.as_ref())
        ),
        CompileOutput::Module(module) => match describe_module(&module) {
            Ok(text) => format!("{head}, version {}\n{text}", module.version),
            Err(error) => return Err(CommandFailure::from_diagnostics(input, vec![error])),
        },
    };
    files::write_text(Path::new("-"), &text)
}

/// Prints the description of an input as JSON.
fn print_record(input: InputFile, compiled: &CompiledInput) -> CommandResult {
    let described = match &compiled.output {
        CompileOutput::Program(program) => Ok(record_program(program, compiled.tensors.as_ref())),
        CompileOutput::Module(module) => record_module(module),
    };
    match described {
        Ok(mut record) => {
            record["input"] = input.name.into();
            record["format"] = compiled.format.name.into();
            print_json(Path::new("-"), &record)
        }
        Err(error) => Err(CommandFailure::from_diagnostics(input, vec![error])),
    }
}

fn describe_module(module: &SpirvModule) -> Result<String, SourceDiagnostic> {
    let types = TypeNames::from_module(module);
    let mut out = String::new();
    for (name, _) in entry_points(module) {
        out += &describe_entry(&EntryInterface::from_module(module, &name)?, &types);
        out += &describe_details(&EntryDetails::from_module(module, &name)?, &types);
    }
    let names = IdNames::from_module(module);
    let definitions = IdDefinitions::from_module(module);
    for constant in spec_constants(module, &definitions, &IdDecorations::from_module(module)) {
        let _ = writeln!(
            out,
            "specialisation constant {}{}: {}, by default {:#x}",
            constant.spec_id,
            format_optional_name(names.get(module, constant.id).as_deref()),
            types.format_type(constant.ty),
            constant.default
        );
    }
    for model in module.section_insts(ModuleSection::MemoryModel) {
        let (addressing, memory) = (
            AddressingModel(model.operand_word(0)),
            MemoryModel(model.operand_word(1)),
        );
        let _ = writeln!(out, "memory model: {memory}, addressing: {addressing}");
    }
    out += &describe_needs(&ModuleRequirements::from_module(module));
    Ok(out)
}

/// Describes modes, members of push constants, inputs and outputs of an entry point.
fn describe_details(details: &EntryDetails, types: &TypeNames<'_>) -> String {
    let mut out = String::new();
    for member in &details.push_constants {
        let _ = writeln!(
            out,
            "    bytes {}..{}{}: {}",
            member.offset,
            member.offset.saturating_add(member.size),
            format_optional_name(member.name.as_deref()),
            types.format_type(member.ty)
        );
    }
    // The size of workgroups is described elsewhere.
    let is_size = |m: &&EntryExecutionMode| {
        matches!(
            m.mode,
            ExecutionMode::LocalSize | ExecutionMode::LocalSizeId
        )
    };
    for EntryExecutionMode { mode, operands } in details.modes.iter().filter(|m| !is_size(m)) {
        let operands: String = operands.iter().map(|o| format!(" {o}")).collect();
        let _ = writeln!(out, "  execution mode {mode}{operands}");
    }
    for (what, ports) in [("input", &details.inputs), ("output", &details.outputs)] {
        for port in ports {
            let place = match (port.builtin, port.location) {
                (Some(builtin), _) => format!(" {builtin}"),
                (None, Some((location, 0))) => format!(" {location}"),
                (None, Some((location, component))) => format!(" {location}.{component}"),
                (None, None) => String::new(),
            };
            let name = format_optional_name(port.name.as_deref());
            let _ = writeln!(out, "  {what}{place}{name}: {}", types.format_type(port.ty));
        }
    }
    out
}

/// A name with a space before it.
fn format_optional_name(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!(" {name}"))
}

/// Describes the declared capabilities and extensions of a module, and the needed ones where they differ.
fn describe_needs(needs: &ModuleRequirements) -> String {
    let listed = |mut names: Vec<String>| {
        names.sort_unstable();
        names.dedup();
        names
    };
    let mut out = String::new();
    let mut line = |what: &str, names: &[String]| {
        if !names.is_empty() {
            let _ = writeln!(out, "{what}: {}", names.join(", "));
        }
    };
    let capabilities = listed(
        needs
            .declared_capabilities()
            .map(|c| c.to_string())
            .collect(),
    );
    let extensions = listed(needs.declared_extensions().to_vec());
    line("capabilities", &capabilities);
    let choice = needs.choose_within(&RequirementCeiling::default());
    let (wanted, others) = match &choice {
        Ok(choice) => (
            listed(choice.capabilities.iter().map(|c| c.to_string()).collect()),
            listed(choice.extensions.clone()),
        ),
        Err(_) => (capabilities.clone(), extensions.clone()),
    };
    if wanted != capabilities {
        line("capabilities needed", &wanted);
    }
    line("extensions", &extensions);
    if others != extensions {
        let none = ["none".to_owned()];
        line(
            "extensions needed",
            if others.is_empty() { &none } else { &others },
        );
    }
    if let Err(error) = choice {
        let _ = writeln!(out, "not possible: {error}");
    }
    out
}

/// Describes an entry point and its parameters.
pub fn describe_entry(interface: &EntryInterface, types: &TypeNames<'_>) -> String {
    let mut out = format!("entry point {} ({})\n", interface.name, interface.model);
    // Writing to a string does not fail.
    if let Some([x, y, z]) = interface.workgroup_size {
        let _ = writeln!(out, "  workgroup {x}x{y}x{z}");
    }
    let passing = interface.passing.as_ref();
    for (number, param) in interface.params.iter().enumerate() {
        let name = param.name.as_deref().unwrap_or("");
        let passed = passing.and_then(|p| p.arguments.get(number));
        let passed = passed.map_or(String::new(), |p| describe_passed(*p));
        let _ = writeln!(
            out,
            "  argument {number} {name}: {}{passed}",
            describe_param(param, types)
        );
    }
    // Bindings of arguments are described with the arguments.
    let of_argument = |b: &&InterfaceBinding| {
        let mut arguments = passing.iter().flat_map(|p| &p.arguments);
        let InterfaceBinding { set, binding, .. } = **b;
        arguments.any(|passed| *passed == ClspvArgument::Bound { set, binding })
    };
    for binding in interface.bindings.iter().filter(|b| !of_argument(b)) {
        let _ = writeln!(
            out,
            "  set {}, binding {} {}: {}",
            binding.set,
            binding.binding,
            binding.name.as_deref().unwrap_or(""),
            describe_binding(binding, types)
        );
    }
    if interface.push_constant_bytes > 0 {
        let _ = writeln!(
            out,
            "  push constants: {} bytes",
            interface.push_constant_bytes
        );
    }
    out
}

fn describe_param(param: &InterfaceParam, types: &TypeNames<'_>) -> String {
    let name = types.param_name(param);
    match param.kind {
        ParamKind::Value { size, .. } => format!("{name}, {size} bytes"),
        ParamKind::Buffer { .. } => format!("buffer of {name}"),
        ParamKind::Workgroup { .. } => format!("workgroup memory of {name}"),
        ParamKind::Opaque { .. } => name,
    }
}

/// Describes how a shader that was compiled from a kernel takes an argument.
fn describe_passed(passed: ClspvArgument) -> String {
    match passed {
        ClspvArgument::Pushed { offset, size } => {
            let end = offset.saturating_add(size);
            format!(", at bytes {offset}..{end} of the push constants")
        }
        ClspvArgument::Address { offset } => {
            let end = offset.saturating_add(8);
            format!(", its address at bytes {offset}..{end} of the push constants")
        }
        ClspvArgument::Workgroup { spec_id, element } => {
            format!(", specialisation constant {spec_id} says how many elements of {element} bytes")
        }
        ClspvArgument::Bound { set, binding } => format!(", at set {set}, binding {binding}"),
    }
}

fn describe_binding(binding: &InterfaceBinding, types: &TypeNames<'_>) -> String {
    let (what, ty) = match binding.kind {
        BindingKind::Storage(ty) if binding.read_only => ("read-only storage buffer", ty),
        BindingKind::Storage(ty) => ("storage buffer", ty),
        BindingKind::Uniform(ty) => ("uniform buffer", ty),
        BindingKind::Opaque(ty) => ("object", ty),
    };
    let array = match binding.count {
        1 => String::new(),
        0 => "array of any number: ".to_owned(),
        n => format!("array of {n}: "),
    };
    format!("{array}{what} of {}", types.format_type(ty))
}
