//! Checks of launches: whether a launch fits its kernel and its device, before a driver sees it.

mod accepted_resource;
mod arguments;
mod bindings;
mod size;
#[cfg(test)]
mod tests;

pub use accepted_resource::AcceptedResource;

use super::resources::DeviceResource;
use crate::numbered_objects::NumberedObjects;
use crate::type_names::{TypeNames, ValueElements};
use crate::{DeviceError, DeviceInfo, KernelLaunch, LaunchInputs};
use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, spec_constants};

/// Checks that `length` bytes at `offset` are within a resource of `size` bytes.
pub fn check_range(offset: u64, length: u64, size: u64) -> Result<(), DeviceError> {
    let end = offset.saturating_add(length);
    if end <= size {
        Ok(())
    } else {
        Err(DeviceError::Range { offset, end, size })
    }
}

/// Checks that each value has a specialisation constant, whose type has room for it.
pub fn check_specialisation(module: &SpirvModule, spec: &[(u32, u64)]) -> Result<(), DeviceError> {
    if spec.is_empty() {
        return Ok(());
    }
    let definitions = IdDefinitions::from_module(module);
    let constants = spec_constants(module, &definitions, &IdDecorations::from_module(module));
    let types = TypeNames::from_module(module);
    for (number, &(id, value)) in spec.iter().enumerate() {
        let bad = |problem: String| Err(DeviceError::Spec { id, problem });
        if spec[..number].iter().any(|(other, _)| *other == id) {
            return bad("it is given twice".to_owned());
        }
        let Some(constant) = constants.iter().find(|c| c.spec_id == id) else {
            let ids: Vec<_> = constants.iter().map(|c| c.spec_id.to_string()).collect();
            return bad(if ids.is_empty() {
                "the module has no specialisation constants".to_owned()
            } else {
                format!(
                    "the module has no such constant; it has: {}",
                    ids.join(", ")
                )
            });
        };
        let bits = match types.parse_value_type(constant.ty) {
            Some(ValueElements { element, .. }) => element.size() as u32 * 8,
            None => 64,
        };
        if bits < 64 && value >> bits != 0 {
            return bad(format!("{value:#x} has more than {bits} bits"));
        }
    }
    Ok(())
}

/// Checks a launch. `opaque` has the resources that the opaque types of the interface accept, `resources` those of the device.
pub fn check_launch(
    interface: &EntryInterface,
    opaque: &[(Id, AcceptedResource)],
    launch: &KernelLaunch,
    device: &DeviceInfo,
    resources: &NumberedObjects<DeviceResource>,
) -> Result<(), DeviceError> {
    size::check_size(interface, &launch.size, device)?;
    match &launch.inputs {
        LaunchInputs::Arguments(_) if !interface.takes_arguments() => {
            let text = format!(
                "{} is a shader: it takes buffers by set and binding",
                interface.name
            );
            Err(DeviceError::Launch(text))
        }
        LaunchInputs::Arguments(given) => {
            arguments::check_arguments(interface, opaque, given, device, resources)
        }
        LaunchInputs::Resources { .. } if interface.takes_arguments() => {
            let text = format!(
                "{} is a kernel: it takes arguments in order",
                interface.name
            );
            Err(DeviceError::Launch(text))
        }
        LaunchInputs::Resources { bindings, push } => {
            bindings::check_bindings(interface, opaque, bindings, push, resources)
        }
    }
}
