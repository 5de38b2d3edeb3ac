//! Whether a launch fits its kernel and its device, before a driver sees it.

mod size;

use crate::type_names::{TypeNames, ValueElements};
use crate::{
    DeviceBuffer, DeviceError, DeviceInfo, KernelArgument, KernelLaunch, LaunchBinding,
    LaunchInputs, TexelFormat,
};
use smallvec::SmallVec;
use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{
    BindingKind, EntryInterface, InterfaceBinding, InterfaceParam, ParamKind, spec_constants,
};
use std::fmt;

/// Whether `length` bytes at `offset` are within a buffer.
pub fn check_range(offset: u64, length: usize, size: u64) -> Result<(), DeviceError> {
    let end = offset.saturating_add(length as u64);
    match end <= size {
        true => Ok(()),
        false => Err(DeviceError::Range { offset, end, size }),
    }
}

/// Whether each value has its constant, and the constant room for it.
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
            return bad(match ids.is_empty() {
                true => "the module has no specialisation constants".to_owned(),
                false => format!(
                    "the module has no such constant; it has: {}",
                    ids.join(", ")
                ),
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

/// Whether a launch fits. `opaque` tells of the interface's types that are opaque, `buffers` has what the device has.
pub fn check_launch(
    interface: &EntryInterface,
    opaque: &[(Id, AcceptedResource)],
    launch: &KernelLaunch,
    device: &DeviceInfo,
    buffers: &[Option<DeviceResource>],
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
            check_arguments(interface, opaque, given, device, buffers)
        }
        LaunchInputs::Resources { .. } if interface.takes_arguments() => {
            let text = format!(
                "{} is a kernel: it takes arguments in order",
                interface.name
            );
            Err(DeviceError::Launch(text))
        }
        LaunchInputs::Resources { bindings, push } => {
            check_resources(interface, opaque, bindings, push, buffers)
        }
    }
}

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceResourceKind {
    /// A buffer.
    Buffer,
    /// An image of texels of a format.
    Image(TexelFormat),
    /// A sampler.
    Sampler,
    /// A pipe.
    Pipe,
}

/// What a parameter or a binding takes.
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
    /// Something that is no buffer.
    Opaque,
}

impl AcceptedResource {
    /// What the opaque types of an interface take.
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
            _ => AcceptedResource::Opaque,
        };
        params.chain(bindings).map(|ty| (ty, takes(ty))).collect()
    }

    /// That of a type.
    fn find_for_type(all: &[(Id, AcceptedResource)], ty: Id) -> AcceptedResource {
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
            AcceptedResource::Opaque => "an image, a sampler or a pipe",
        })
    }
}

/// Something of a device that launches are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceResource {
    /// Bytes.
    pub size: u64,
    /// What it is.
    pub what: DeviceResourceKind,
}

/// What is wrong with a handle for what takes the like.
fn handle_problem(
    buffer: DeviceBuffer,
    takes: AcceptedResource,
    buffers: &[Option<DeviceResource>],
) -> Option<String> {
    let Some(found) = buffers.get(buffer.index()).copied().flatten() else {
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

fn check_arguments(
    interface: &EntryInterface,
    opaque: &[(Id, AcceptedResource)],
    given: &[KernelArgument],
    device: &DeviceInfo,
    buffers: &[Option<DeviceResource>],
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
        if let Some(problem) = argument_problem(param, opaque, argument, buffers) {
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

fn argument_problem(
    param: &InterfaceParam,
    opaque: &[(Id, AcceptedResource)],
    argument: &KernelArgument,
    buffers: &[Option<DeviceResource>],
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
        (ParamKind::Buffer { .. }, KernelArgument::Buffer(buffer)) => {
            handle_problem(*buffer, AcceptedResource::Buffer, buffers)
        }
        (ParamKind::Opaque { ty }, KernelArgument::Buffer(buffer)) => handle_problem(
            *buffer,
            AcceptedResource::find_for_type(opaque, *ty),
            buffers,
        ),
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
        KernelArgument::Buffer(_) => "a buffer".to_owned(),
        KernelArgument::Bytes(bytes) => format!("a value of {} bytes", bytes.len()),
        KernelArgument::Local(_) => "workgroup memory".to_owned(),
    }
}

fn check_resources(
    interface: &EntryInterface,
    opaque: &[(Id, AcceptedResource)],
    given: &[LaunchBinding],
    push: &[u8],
    buffers: &[Option<DeviceResource>],
) -> Result<(), DeviceError> {
    if fits_in_order(interface, given, push, buffers) {
        return Ok(());
    }
    for bound in given {
        let Some(declared) = find_declared_binding(interface, bound)? else {
            continue;
        };
        if let Some(problem) = bound_problem(declared, opaque, bound, buffers) {
            return Err(binding_error(declared, problem));
        }
    }
    let places = given.iter().map(|b| (b.set, b.binding, b.index));
    let mut places: SmallVec<[_; 16]> = places.collect();
    places.sort_unstable();
    for declared in &interface.bindings {
        if let Some(problem) = elements_problem(declared, &places) {
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

/// Whether a launch plainly fits: each binding is one buffer, and they are given in the order in which they are declared.
/// Most do, so that nothing needs to be looked for.
fn fits_in_order(
    interface: &EntryInterface,
    given: &[LaunchBinding],
    push: &[u8],
    buffers: &[Option<DeviceResource>],
) -> bool {
    let mut rest = given.iter();
    let mut last = None;
    for declared in &interface.bindings {
        let place = (declared.set, declared.binding);
        if declared.count > 1 || matches!(declared.kind, BindingKind::Opaque(_)) {
            return false;
        }
        // Several variables may be declared at a place.
        if last == Some(place) {
            continue;
        }
        last = Some(place);
        let is_it = |b: &&LaunchBinding| (b.set, b.binding, b.index) == (place.0, place.1, 0);
        let Some(bound) = rest.next().filter(is_it) else {
            return false;
        };
        match buffers.get(bound.buffer.index()) {
            Some(Some(found)) if found.what == DeviceResourceKind::Buffer => {}
            _ => return false,
        }
    }
    rest.next().is_none() && push.len() == interface.push_constant_bytes as usize
}

/// What a shader declares where something is bound; `None` where another entry point does, since what is bound
/// for that harms nobody.
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

fn bound_problem(
    declared: &InterfaceBinding,
    opaque: &[(Id, AcceptedResource)],
    bound: &LaunchBinding,
    buffers: &[Option<DeviceResource>],
) -> Option<String> {
    let (index, count) = (u64::from(bound.index), u64::from(declared.count));
    if count != 0 && index >= count {
        return Some(format!("it has {count} elements, not {}", index + 1));
    }
    let takes = match declared.kind {
        BindingKind::Opaque(ty) => AcceptedResource::find_for_type(opaque, ty),
        BindingKind::Storage(_) | BindingKind::Uniform(_) => AcceptedResource::Buffer,
    };
    handle_problem(bound.buffer, takes, buffers)
}

/// Whether each element of a binding has one buffer. `places` are sorted: set, binding and element of each buffer.
fn elements_problem(declared: &InterfaceBinding, places: &[(u32, u32, u32)]) -> Option<String> {
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
    match all.is_empty() {
        true => "none".to_owned(),
        false => all.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceBuffer, DeviceKernel, DeviceKind, DeviceLimits, IndexSpace};
    use spirula_spirv::grammar::enumerants::{ExecutionModel, StorageClass};

    const ID: Id = Id::MAX;

    fn build_device() -> DeviceInfo {
        DeviceInfo {
            id: "test".to_owned(),
            name: String::new(),
            kind: DeviceKind::Other,
            driver: String::new(),
            newest_module: None,
            subgroup_size: 1,
            has_shuffles: false,
            has_forward_progress: false,
            special_values: 0,
            matrices: Vec::new(),
            has_dense_matrices: false,
            limits: DeviceLimits {
                buffer_size: 1 << 20,
                workgroup_size: [64, 64, 4],
                workgroup_invocations: 128,
                workgroup_memory: 1024,
                groups: [8; 3],
                push_constants: 128,
                folds: false,
                partial_groups: false,
            },
        }
    }

    fn build_kernel(params: Vec<ParamKind>) -> EntryInterface {
        let param = |kind| InterfaceParam {
            name: Some("p".to_owned()),
            kind,
            type_name: None,
        };
        EntryInterface {
            name: "f".to_owned(),
            model: ExecutionModel::Kernel,
            function: ID,
            workgroup_size: None,
            params: params.into_iter().map(param).collect(),
            bindings: Vec::new(),
            unused: Vec::new(),
            push_constant_bytes: 0,
            passing: None,
        }
    }

    fn build_shader(bindings: &[(u32, u32, u32)]) -> EntryInterface {
        let binding = |&(set, binding, count): &(u32, u32, u32)| InterfaceBinding {
            set,
            binding,
            variable: ID,
            name: None,
            kind: BindingKind::Storage(ID),
            count,
            read_only: false,
        };
        EntryInterface {
            model: ExecutionModel::GLCompute,
            bindings: bindings.iter().map(binding).collect(),
            push_constant_bytes: 16,
            passing: None,
            ..build_kernel(Vec::new())
        }
    }

    fn build_index_space(global: [u64; 3], local: [u32; 3]) -> IndexSpace {
        IndexSpace::Items {
            dimensions: 3,
            global,
            local: Some(local),
            offset: [0; 3],
        }
    }

    /// What is said of a launch with two buffers, the second destroyed.
    fn report_launch(interface: &EntryInterface, size: IndexSpace, inputs: LaunchInputs) -> String {
        let all = KernelLaunch {
            kernel: DeviceKernel(0),
            size,
            inputs,
        };
        let known = DeviceResource {
            size: 4,
            what: DeviceResourceKind::Buffer,
        };
        match check_launch(interface, &[], &all, &build_device(), &[Some(known), None]) {
            Ok(()) => "fits".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn sizes() {
        let f = build_kernel(Vec::new());
        let of = |size| report_launch(&f, size, LaunchInputs::Arguments(Vec::new()));
        assert_eq!(of(build_index_space([64, 2, 1], [64, 2, 1])), "fits");
        assert!(of(build_index_space([64, 4, 1], [64, 4, 1])).contains("too large"));
        assert!(of(build_index_space([8, 8, 8], [1, 1, 8])).contains("too large"));
        assert!(of(build_index_space([8, 8, 8], [1, 0, 1])).contains("empty"));
        assert!(of(build_index_space([9, 8, 8], [2, 1, 1])).contains("no multiple"));
        assert!(
            of(build_index_space([8, 9, 1], [1, 1, 1])).contains("9 workgroups in dimension 1")
        );
        let flat = IndexSpace::Items {
            dimensions: 1,
            global: [8, 2, 1],
            local: None,
            offset: [0; 3],
        };
        assert!(of(flat).contains("1 dimensions"));
        let demanding = EntryInterface {
            workgroup_size: Some([4, 1, 1]),
            ..build_kernel(Vec::new())
        };
        let text = report_launch(
            &demanding,
            build_index_space([8, 1, 1], [8, 1, 1]),
            LaunchInputs::Arguments(Vec::new()),
        );
        assert_eq!(text, "f demands workgroups of 4x1x1, not 8x1x1");
    }

    #[test]
    fn arguments_of_each_kind() {
        let value = ParamKind::Value {
            ty: ID,
            size: 4,
            align: 4,
            by_pointer: false,
        };
        let buffer = ParamKind::Buffer {
            class: StorageClass::CrossWorkgroup,
            pointee: ID,
        };
        let local = ParamKind::Workgroup { pointee: ID };
        let f = build_kernel(vec![value, buffer, local]);
        let of = |a: KernelArgument, b: KernelArgument, c: KernelArgument| {
            report_launch(
                &f,
                build_index_space([1; 3], [1; 3]),
                LaunchInputs::Arguments(vec![a, b, c]),
            )
        };
        let bytes = |n| KernelArgument::Bytes(vec![0; n]);
        let (alive, dead) = (
            KernelArgument::Buffer(DeviceBuffer(0)),
            KernelArgument::Buffer(DeviceBuffer(1)),
        );
        let local = KernelArgument::Local;
        assert_eq!(of(bytes(4), alive.clone(), local(8)), "fits");
        let text = of(bytes(8), alive.clone(), local(8));
        assert_eq!(
            text,
            "argument 0 (p): it takes a value of 4 bytes, 8 are given"
        );
        assert_eq!(
            of(bytes(4), dead, local(8)),
            "argument 1 (p): its buffer was destroyed"
        );
        let text = of(bytes(4), local(8), local(8));
        assert_eq!(
            text,
            "argument 1 (p): it takes a buffer, workgroup memory is given"
        );
        assert!(of(bytes(4), alive.clone(), local(0)).contains("of 1 byte at least"));
        assert!(of(bytes(4), alive, local(2000)).contains("test has 1024"));
    }

    #[test]
    fn bindings_and_push_constants() {
        let f = build_shader(&[(0, 1, 2)]);
        let of = |elements: &[(u32, u32, u32)], push| {
            let bound = |&(set, binding, index): &(u32, u32, u32)| LaunchBinding {
                set,
                binding,
                index,
                buffer: DeviceBuffer(0),
                region: None,
            };
            let bindings = elements.iter().map(bound).collect();
            let push = vec![0; push];
            report_launch(
                &f,
                IndexSpace::Groups([1; 3]),
                LaunchInputs::Resources { bindings, push },
            )
        };
        let both = [(0, 1, 0), (0, 1, 1)];
        assert_eq!(of(&both, 16), "fits");
        assert!(of(&both, 20).contains("takes 16 bytes of push constants, 20 are given"));
        assert!(of(&both, 12).contains("takes 16 bytes"));
        assert_eq!(
            of(&both[..1], 16),
            "set 0, binding 1: no buffer is bound for element 1"
        );
        assert!(of(&[both[0], both[0]], 16).contains("bound twice"));
        assert!(of(&[both[0], both[1], (0, 1, 2)], 16).contains("has 2 elements"));
        assert!(of(&[(3, 1, 0)], 16).contains("no such binding; it has: 0,1"));
    }

    #[test]
    fn bindings_of_one_buffer_each() {
        // Two variables see the second buffer.
        let f = build_shader(&[(0, 0, 1), (0, 1, 1), (0, 1, 1)]);
        let of = |elements: &[(u32, u32)], push: usize| {
            let bound = |&(binding, buffer): &(u32, u32)| {
                LaunchBinding::with_whole_buffer(binding, DeviceBuffer(buffer))
            };
            let inputs = LaunchInputs::Resources {
                bindings: elements.iter().map(bound).collect(),
                push: vec![0; push],
            };
            report_launch(&f, IndexSpace::Groups([1; 3]), inputs)
        };
        assert_eq!(of(&[(0, 0), (1, 0)], 16), "fits");
        assert_eq!(of(&[(1, 0), (0, 0)], 16), "fits");
        assert!(of(&[(0, 0), (1, 0)], 12).contains("takes 16 bytes"));
        assert!(of(&[(0, 0), (1, 1)], 16).contains("its buffer was destroyed"));
        assert!(of(&[(0, 0), (1, 2)], 16).contains("its buffer was destroyed"));
        assert!(of(&[(0, 0)], 16).contains("no buffer is bound"));
        assert!(of(&[(0, 0), (1, 0), (1, 0)], 16).contains("bound twice"));
        assert!(of(&[(0, 0), (1, 0), (7, 0)], 16).contains("no such binding"));
    }

    #[test]
    fn ranges() {
        assert_eq!(check_range(4, 4, 8), Ok(()));
        assert!(check_range(5, 4, 8).is_err());
        assert!(check_range(u64::MAX, 4, 8).is_err());
    }
}
