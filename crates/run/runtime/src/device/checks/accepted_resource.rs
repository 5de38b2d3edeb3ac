//! The resources that parameters and bindings accept.

use crate::ResourceHandle;
use crate::device::resources::{DeviceResource, DeviceResourceKind};
use crate::numbered_objects::NumberedObjects;
use crate::type_names::TypeNames;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::reflect::{BindingKind, EntryInterface, ParamKind};
use std::fmt;

/// The kind of resource that a parameter or a binding accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedResource {
    /// A buffer.
    Buffer,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
    /// A pipe.
    Pipe,
    /// A queue of the device, which is a number of 64 bits.
    Queue,
    /// Anything but a buffer.
    Opaque,
}

impl AcceptedResource {
    /// The resources that the opaque types of an interface accept.
    pub fn list_opaque_types(
        interface: &EntryInterface,
        types: &TypeNames<'_>,
    ) -> Vec<(Id, AcceptedResource)> {
        let params = interface.params.iter().filter_map(|p| match p.kind {
            ParamKind::Opaque { ty } => Some(ty),
            _ => None,
        });
        let bindings = interface.bindings.iter().filter_map(|b| match b.kind {
            BindingKind::Opaque(ty) => Some(ty),
            _ => None,
        });
        let takes = |ty: Id| match types.defining_op(ty) {
            Some(Op::TypeImage | Op::TypeSampledImage) => AcceptedResource::Image,
            Some(Op::TypeSampler) => AcceptedResource::Sampler,
            Some(Op::TypePipe) => AcceptedResource::Pipe,
            Some(Op::TypeQueue) => AcceptedResource::Queue,
            _ => AcceptedResource::Opaque,
        };
        params.chain(bindings).map(|ty| (ty, takes(ty))).collect()
    }

    /// The resource that an opaque type accepts.
    pub fn find_for_type(all: &[(Id, AcceptedResource)], ty: Id) -> AcceptedResource {
        let found = all.iter().find(|row| row.0 == ty);
        found.map_or(AcceptedResource::Opaque, |row| row.1)
    }
}

impl fmt::Display for AcceptedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AcceptedResource::Buffer => "a buffer",
            AcceptedResource::Image => "an image",
            AcceptedResource::Sampler => "a sampler",
            AcceptedResource::Pipe => "a pipe",
            AcceptedResource::Queue => "a queue of the device",
            AcceptedResource::Opaque => "an image, a sampler or a pipe",
        })
    }
}

/// The mismatch between a resource and the kind that is accepted, if there is one.
pub fn find_mismatch(
    resource: ResourceHandle,
    takes: AcceptedResource,
    resources: &NumberedObjects<DeviceResource>,
) -> Option<String> {
    let Some(found) = resources.get(resource.index()) else {
        return Some("its buffer was destroyed".to_owned());
    };
    let is = match found.what {
        DeviceResourceKind::Buffer => AcceptedResource::Buffer,
        DeviceResourceKind::Image(_) => AcceptedResource::Image,
        DeviceResourceKind::Sampler => AcceptedResource::Sampler,
        DeviceResourceKind::Pipe => AcceptedResource::Pipe,
    };
    let fits = takes == is || (takes == AcceptedResource::Opaque && is != AcceptedResource::Buffer);
    (!fits).then(|| format!("it takes {takes}, {is} is given"))
}
