//! Checks of bindings and push constants against the interface of a shader.

use super::accepted_resource::{AcceptedResource, find_mismatch};
use crate::device::resources::{DeviceResource, DeviceResourceKind};
use crate::numbered_objects::NumberedObjects;
use crate::{DeviceError, LaunchBinding};
use smallvec::SmallVec;
use spirula_spirv::Id;
use spirula_spirv::reflect::{BindingKind, EntryInterface, InterfaceBinding};

/// Checks the bindings and push constants of a shader.
pub fn check_bindings(
    interface: &EntryInterface,
    opaque: &[(Id, AcceptedResource)],
    given: &[LaunchBinding],
    push: &[u8],
    resources: &NumberedObjects<DeviceResource>,
) -> Result<(), DeviceError> {
    if fits_in_order(interface, given, push, resources) {
        return Ok(());
    }
    for bound in given {
        let Some(declared) = find_declared_binding(interface, bound)? else {
            continue;
        };
        if let Some(problem) = find_bound_problem(declared, opaque, bound, resources) {
            return Err(binding_error(declared, problem));
        }
    }
    let places = given.iter().map(|b| (b.set, b.binding, b.index));
    let mut places: SmallVec<[_; 16]> = places.collect();
    places.sort_unstable();
    for declared in &interface.bindings {
        if let Some(problem) = find_element_problem(declared, &places) {
            return Err(binding_error(declared, problem));
        }
    }
    let (wanted, given) = (interface.push_constant_bytes, push.len() as u64);
    if given != u64::from(wanted) {
        let name = &interface.name;
        let text = format!("{name} takes {wanted} bytes of push constants, {given} are given");
        return Err(DeviceError::Launch(text));
    }
    Ok(())
}

/// Whether a launch fits in the simplest way: each binding is one buffer, and they come in the order of their declarations.
/// Most launches do, so that no search is necessary.
fn fits_in_order(
    interface: &EntryInterface,
    given: &[LaunchBinding],
    push: &[u8],
    resources: &NumberedObjects<DeviceResource>,
) -> bool {
    let mut rest = given.iter();
    let mut last = None;
    for declared in &interface.bindings {
        let place = (declared.set, declared.binding);
        if declared.count > 1 || matches!(declared.kind, BindingKind::Opaque(_)) {
            return false;
        }
        // Several variables may have the same descriptor.
        if last == Some(place) {
            continue;
        }
        last = Some(place);
        let is_it = |b: &&LaunchBinding| (b.set, b.binding, b.index) == (place.0, place.1, 0);
        let Some(bound) = rest.next().filter(is_it) else {
            return false;
        };
        match resources.get(bound.resource.index()) {
            Some(found) if found.what == DeviceResourceKind::Buffer => {}
            _ => return false,
        }
    }
    rest.next().is_none() && push.len() == interface.push_constant_bytes as usize
}

/// The declaration that a resource is bound to; `None` where only another entry point declares it, since such a binding is
/// harmless.
fn find_declared_binding<'i>(
    interface: &'i EntryInterface,
    bound: &LaunchBinding,
) -> Result<Option<&'i InterfaceBinding>, DeviceError> {
    let (set, binding) = (bound.set, bound.binding);
    let is_it = |b: &&InterfaceBinding| (b.set, b.binding) == (set, binding);
    let found = interface.bindings.iter().find(is_it);
    if found.is_some() || interface.unused.iter().any(|b| is_it(&b)) {
        return Ok(found);
    }
    let problem = format!(
        "the shader has no such binding; it has: {}",
        format_bindings(&interface.bindings)
    );
    Err(DeviceError::Binding {
        set,
        binding,
        name: None,
        problem,
    })
}

fn binding_error(declared: &InterfaceBinding, problem: String) -> DeviceError {
    DeviceError::Binding {
        set: declared.set,
        binding: declared.binding,
        name: declared.name.clone(),
        problem,
    }
}

/// The mismatch between a resource and the binding that it is for, if there is one.
fn find_bound_problem(
    declared: &InterfaceBinding,
    opaque: &[(Id, AcceptedResource)],
    bound: &LaunchBinding,
    resources: &NumberedObjects<DeviceResource>,
) -> Option<String> {
    let (index, count) = (u64::from(bound.index), u64::from(declared.count));
    if count != 0 && index >= count {
        return Some(format!("it has {count} elements, not {}", index + 1));
    }
    let takes = match declared.kind {
        BindingKind::Opaque(ty) => AcceptedResource::find_for_type(opaque, ty),
        BindingKind::Storage(_) | BindingKind::Uniform(_) => AcceptedResource::Buffer,
    };
    find_mismatch(bound.resource, takes, resources)
}

/// Whether each element of a binding has one buffer. `places` are sorted: set, binding and element of each buffer.
fn find_element_problem(declared: &InterfaceBinding, places: &[(u32, u32, u32)]) -> Option<String> {
    let place = (declared.set, declared.binding);
    let start = places.partition_point(|p| (p.0, p.1) < place);
    let end = places.partition_point(|p| (p.0, p.1) <= place);
    let elements = &places[start..end];
    if let Some(twice) = elements.windows(2).find(|w| w[0] == w[1]) {
        return Some(format!("element {} is bound twice", twice[0].2));
    }
    // An array without a size is as long as what is bound.
    let count = declared.count.max(1);
    let in_order = (0..count).zip(elements).take_while(|(n, p)| *n == p.2);
    match (in_order.count() as u32, count) {
        (bound, _) if bound == count => None,
        (_, 1) => Some("no buffer is bound".to_owned()),
        (bound, _) => Some(format!("no buffer is bound for element {bound}")),
    }
}

fn format_bindings(bindings: &[InterfaceBinding]) -> String {
    let all: Vec<_> = bindings
        .iter()
        .map(|b| format!("{},{}", b.set, b.binding))
        .collect();
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(" ")
    }
}
