//! Values of specialisation constants.

use crate::cli::CommandFailure;
use crate::cli::failure::report_line;
use spirula_runtime::type_names::TypeNames;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{SpecConstant, spec_constants};

/// Parses each `ID=VALUE` to bits, by the types of the module's constants. Values for missing constants are left out,
/// as in Vulkan: optimisation may have removed the constant.
pub fn parse_specialisations(
    given: &[String],
    module: &SpirvModule,
    types: &TypeNames<'_>,
) -> Result<Vec<(u32, u64)>, CommandFailure> {
    let definitions = IdDefinitions::from_module(module);
    let constants = spec_constants(module, &definitions, &IdDecorations::from_module(module));
    given
        .iter()
        .filter_map(|text| parse_specialisation(text, &constants, types).transpose())
        .collect()
}

fn parse_specialisation(
    text: &str,
    constants: &[SpecConstant],
    types: &TypeNames<'_>,
) -> Result<Option<(u32, u64)>, CommandFailure> {
    let split = text.split_once('=');
    let split = split.and_then(|(id, value)| Some((id.trim().parse::<u32>().ok()?, value.trim())));
    let (id, value) = split.ok_or_else(|| {
        CommandFailure::Usage(format!(
            "{text:?} is not an ID=VALUE of a specialisation constant"
        ))
    })?;
    let Some(constant) = constants.iter().find(|c| c.spec_id == id) else {
        let ids: Vec<_> = constants.iter().map(|c| c.spec_id.to_string()).collect();
        let text = format!("the module has no specialisation constant {id}: its value is left out");
        let has = (!ids.is_empty()).then(|| format!("it has: {}", ids.join(" ")));
        report_line("note", &text, has.as_deref());
        return Ok(None);
    };
    let element = types.parse_value_type(constant.ty).map(|v| v.element);
    let element = element.ok_or_else(|| {
        CommandFailure::from_message(format!("specialisation constant {id} is not a number"))
    })?;
    let number = element.parse_number(value);
    let number = number
        .map_err(|e| CommandFailure::from_message(format!("specialisation constant {id}: {e}")))?;
    let mut bytes = Vec::new();
    element.encode_number(number, &mut bytes);
    bytes.resize(8, 0);
    let bits = bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    Ok(Some((id, bits)))
}
