//! Descriptions of modules and programs in JSON.

use super::describe_param;
use crate::values::program::type_text;
use crate::values::tensor;
use serde_json::{Value, json};
use spirula::TensorSignature;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::CompiledProgram;
use spirula_program::program::EntryValueType;
use spirula_runtime::type_names::TypeNames;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions, IdNames, ModuleRequirements};
use spirula_spirv::grammar::enumerants::{AddressingModel, MemoryModel};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::{
    BindingKind, EntryDetails, EntryInterface, InterfaceBinding, InterfaceVariable, entry_points,
    spec_constants,
};
use spirula_stablehlo::translate::InterfaceTensor;

/// A module in JSON.
///
/// # Errors
/// When an entry point is malformed.
pub fn record_module(module: &SpirvModule) -> Result<Value, SourceDiagnostic> {
    let types = TypeNames::from_module(module);
    let mut entries = Vec::new();
    for (name, _) in entry_points(module) {
        let interface = EntryInterface::from_module(module, &name)?;
        let details = EntryDetails::from_module(module, &name)?;
        entries.push(record_entry(&interface, &details, &types));
    }
    let names = IdNames::from_module(module);
    let definitions = IdDefinitions::from_module(module);
    let constants = spec_constants(module, &definitions, &IdDecorations::from_module(module));
    let constants = constants.iter().map(|constant| {
        json!({
            "id": constant.spec_id,
            "name": names.get(module, constant.id),
            "type": types.format_type(constant.ty).to_string(),
            "default_bits": constant.default,
        })
    });
    let constants: Vec<_> = constants.collect();
    let needs = ModuleRequirements::from_module(module);
    let capabilities = needs.declared_capabilities().map(|c| c.to_string());
    let model = module.section_insts(ModuleSection::MemoryModel).next();
    Ok(json!({
        "version": module.version.to_string(),
        "memory_model": model.map(|m| MemoryModel(m.operand_word(1)).to_string()),
        "addressing_model": model.map(|m| AddressingModel(m.operand_word(0)).to_string()),
        "capabilities": capabilities.collect::<Vec<_>>(),
        "extensions": needs.declared_extensions().to_vec(),
        "entry_points": entries,
        "specialisation_constants": constants,
    }))
}

fn record_entry(
    interface: &EntryInterface,
    details: &EntryDetails,
    types: &TypeNames<'_>,
) -> Value {
    let arguments = interface
        .params
        .iter()
        .map(|param| json!({ "name": param.name, "type": describe_param(param, types) }));
    let modes = details
        .modes
        .iter()
        .map(|mode| json!({ "mode": mode.mode.to_string(), "operands": mode.operands }));
    let members = details.push_constants.iter().map(|member| {
        json!({
            "name": member.name,
            "type": types.format_type(member.ty).to_string(),
            "offset": member.offset,
            "size": member.size,
        })
    });
    let variables = |all: &[InterfaceVariable]| -> Vec<Value> {
        let records = all.iter().map(|variable| record_variable(variable, types));
        records.collect()
    };
    let bindings = interface.bindings.iter().map(|b| record_binding(b, types));
    json!({
        "name": interface.name,
        "model": interface.model.to_string(),
        "workgroup_size": interface.workgroup_size,
        "execution_modes": modes.collect::<Vec<_>>(),
        "arguments": arguments.collect::<Vec<_>>(),
        "bindings": bindings.collect::<Vec<_>>(),
        "push_constant_bytes": interface.push_constant_bytes,
        "push_constants": members.collect::<Vec<_>>(),
        "inputs": variables(&details.inputs),
        "outputs": variables(&details.outputs),
    })
}

fn record_binding(binding: &InterfaceBinding, types: &TypeNames<'_>) -> Value {
    let (kind, ty) = match binding.kind {
        BindingKind::Storage(ty) => ("storage buffer", ty),
        BindingKind::Uniform(ty) => ("uniform buffer", ty),
        BindingKind::Opaque(ty) => ("object", ty),
    };
    json!({
        "set": binding.set,
        "binding": binding.binding,
        "name": binding.name,
        "kind": kind,
        "type": types.format_type(ty).to_string(),
        "count": binding.count,
        "read_only": binding.read_only,
    })
}

fn record_variable(variable: &InterfaceVariable, types: &TypeNames<'_>) -> Value {
    json!({
        "name": variable.name,
        "type": types.format_type(variable.ty).to_string(),
        "built_in": variable.builtin.map(|b| b.to_string()),
        "location": variable.location.map(|(location, _)| location),
        "component": variable.location.map(|(_, component)| component),
    })
}

/// A program in JSON.
pub fn record_program(program: &CompiledProgram, tensors: Option<&TensorSignature>) -> Value {
    let ty = |value: Option<&EntryValueType>, tensor: Option<&InterfaceTensor>| match tensor {
        Some(tensor) => tensor::format_tensor_type(tensor),
        None => type_text(value),
    };
    let entries = program.entries.iter().map(|entry| {
        let parameters = entry
            .parameters
            .iter()
            .enumerate()
            .map(|(number, parameter)| {
                let tensor = tensors.and_then(|t| t.parameters.get(number));
                json!({ "name": parameter.name, "type": ty(parameter.value.as_ref(), tensor) })
            });
        let results = entry.results.iter().enumerate().map(|(number, result)| {
            let tensor = tensors.and_then(|t| t.results.get(number));
            json!({ "type": ty(result.value.as_ref(), tensor) })
        });
        json!({
            "name": entry.name,
            "arguments": parameters.collect::<Vec<_>>(),
            "results": results.collect::<Vec<_>>(),
        })
    });
    let kernels = program.kernels.iter().enumerate().map(|(number, kernel)| {
        json!({
            "number": number,
            "refusal": kernel.module.as_ref().err(),
            "words": kernel.module.as_ref().map_or(0, SpirvModule::word_count),
            "buffers": kernel.bound_count(),
            "scalars": kernel.scalars.len(),
            "can_fail": kernel.can_fail,
        })
    });
    let parameters = program
        .parameters
        .iter()
        .map(|parameter| json!({ "name": parameter.name, "class": parameter.class.to_string() }));
    json!({
        "entry_points": entries.collect::<Vec<_>>(),
        "kernels": kernels.collect::<Vec<_>>(),
        "tuning_parameters": parameters.collect::<Vec<_>>(),
    })
}
