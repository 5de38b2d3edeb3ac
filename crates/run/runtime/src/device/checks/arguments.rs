//! Checks of arguments against the parameters of a kernel.

use super::accepted_resource::{AcceptedResource, find_mismatch};
use crate::device::resources::DeviceResource;
use crate::numbered_objects::NumberedObjects;
use crate::{DeviceError, DeviceInfo, KernelArgument, ResourceHandle};
use spirula_spirv::Id;
use spirula_spirv::reflect::{EntryInterface, InterfaceParam, ParamKind};

/// Checks the arguments of a kernel.
pub fn check_arguments(
    interface: &EntryInterface,
    opaque: &[(Id, AcceptedResource)],
    given: &[KernelArgument],
    device: &DeviceInfo,
    resources: &NumberedObjects<DeviceResource>,
) -> Result<(), DeviceError> {
    if given.len() != interface.params.len() {
        return Err(DeviceError::ArgumentCount {
            kernel: interface.name.clone(),
            expected: interface.params.len(),
            given: given.len(),
        });
    }
    let mut local = 0_u64;
    for (number, (param, argument)) in interface.params.iter().zip(given).enumerate() {
        if let Some(problem) = find_argument_problem(param, opaque, argument, resources) {
            return Err(DeviceError::Argument {
                number,
                name: param.name.clone(),
                problem,
            });
        }
        if let KernelArgument::Local(bytes) = argument {
            local = local.saturating_add(*bytes);
        }
    }
    let most = device.limits.workgroup_memory;
    if local > most {
        let text = format!(
            "{local} bytes of workgroup memory: {} has {most}",
            device.id
        );
        return Err(DeviceError::Launch(text));
    }
    Ok(())
}

/// The mismatch between an argument and its parameter, if there is one.
fn find_argument_problem(
    param: &InterfaceParam,
    opaque: &[(Id, AcceptedResource)],
    argument: &KernelArgument,
    resources: &NumberedObjects<DeviceResource>,
) -> Option<String> {
    match (&param.kind, argument) {
        (ParamKind::Value { size, .. }, KernelArgument::Bytes(bytes))
            if bytes.len() as u64 == *size =>
        {
            None
        }
        (ParamKind::Value { size, .. }, KernelArgument::Bytes(bytes)) => Some(format!(
            "it takes a value of {size} bytes, {} are given",
            bytes.len()
        )),
        (ParamKind::Buffer { .. }, KernelArgument::Resource(resource)) => {
            find_mismatch(*resource, AcceptedResource::Buffer, resources)
        }
        (ParamKind::Buffer { .. }, KernelArgument::Part { buffer, offset }) => {
            let resource = ResourceHandle::from(*buffer);
            find_mismatch(resource, AcceptedResource::Buffer, resources).or_else(|| {
                let size = resources
                    .get(resource.index())
                    .map_or(0, |found| found.size);
                (*offset > size)
                    .then(|| format!("byte {offset} is not within its buffer of {size} bytes"))
            })
        }
        (ParamKind::Buffer { .. }, KernelArgument::Null | KernelArgument::Address(_)) => None,
        (ParamKind::Opaque { ty }, KernelArgument::Resource(resource)) => find_mismatch(
            *resource,
            AcceptedResource::find_for_type(opaque, *ty),
            resources,
        ),
        (ParamKind::Opaque { ty }, KernelArgument::Bytes(bytes))
            if bytes.len() == 8
                && AcceptedResource::find_for_type(opaque, *ty) == AcceptedResource::Queue =>
        {
            None
        }
        (ParamKind::Workgroup { .. }, KernelArgument::Local(0)) => {
            Some("it takes workgroup memory, of 1 byte at least".to_owned())
        }
        (ParamKind::Workgroup { .. }, KernelArgument::Local(_)) => None,
        (wanted, given) => Some(format!(
            "it takes {}, {} is given",
            describe_parameter(wanted, opaque),
            describe_argument(given)
        )),
    }
}

fn describe_parameter(kind: &ParamKind, opaque: &[(Id, AcceptedResource)]) -> String {
    match kind {
        ParamKind::Value { size, .. } => format!("a value of {size} bytes"),
        ParamKind::Buffer { .. } => "a buffer".to_owned(),
        ParamKind::Workgroup { .. } => "workgroup memory".to_owned(),
        ParamKind::Opaque { ty } => AcceptedResource::find_for_type(opaque, *ty).to_string(),
    }
}

fn describe_argument(argument: &KernelArgument) -> String {
    match argument {
        KernelArgument::Resource(_) => "a buffer".to_owned(),
        KernelArgument::Bytes(bytes) => format!("a value of {} bytes", bytes.len()),
        KernelArgument::Local(_) => "workgroup memory".to_owned(),
        KernelArgument::Part { .. } => "a part of a buffer".to_owned(),
        KernelArgument::Null => "a null pointer".to_owned(),
        KernelArgument::Address(_) => "an address".to_owned(),
    }
}
