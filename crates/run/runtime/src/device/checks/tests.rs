//! Launches that fit and launches that do not.

use super::*;
use crate::device::resources::DeviceResourceKind;
use crate::{
    BufferHandle, DeviceKind, DeviceLimits, IndexSpace, KernelArgument, KernelHandle, LaunchBinding,
};
use spirula_spirv::grammar::enumerants::{ExecutionModel, StorageClass};
use spirula_spirv::reflect::{BindingKind, InterfaceBinding, InterfaceParam, ParamKind};

const ID: Id = Id::MAX;

fn build_device() -> DeviceInfo {
    DeviceInfo {
        id: "test".to_owned(),
        name: String::new(),
        kind: DeviceKind::Other,
        driver: String::new(),
        newest_module: None,
        subgroup_size: 1,
        subgroup_sizes: Vec::new(),
        has_shuffles: false,
        features: Vec::new(),
        has_forward_progress: false,
        special_values: 0,
        matrices: Vec::new(),
        has_dense_matrices: false,
        compute_units: 1,
        memory_size: 1 << 30,
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

/// The error of a launch with two buffers, of which the second is destroyed.
fn report_launch(interface: &EntryInterface, size: IndexSpace, inputs: LaunchInputs) -> String {
    let all = KernelLaunch {
        kernel: KernelHandle(0),
        size,
        inputs,
    };
    let known = DeviceResource {
        size: 4,
        what: DeviceResourceKind::Buffer,
    };
    let mut resources = NumberedObjects::default();
    resources.insert(known);
    match check_launch(interface, &[], &all, &build_device(), &resources) {
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
    assert!(of(build_index_space([8, 9, 1], [1, 1, 1])).contains("9 workgroups in dimension 1"));
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
        KernelArgument::from(BufferHandle(0)),
        KernelArgument::from(BufferHandle(1)),
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
    let part = |offset| KernelArgument::Part {
        buffer: BufferHandle(0),
        offset,
    };
    for pointer in [part(4), KernelArgument::Null, KernelArgument::Address(1)] {
        assert_eq!(of(bytes(4), pointer, local(8)), "fits");
    }
    assert_eq!(
        of(bytes(4), part(5), local(8)),
        "argument 1 (p): byte 5 is not within its buffer of 4 bytes"
    );
    let dead = KernelArgument::Part {
        buffer: BufferHandle(1),
        offset: 0,
    };
    assert_eq!(
        of(bytes(4), dead, local(8)),
        "argument 1 (p): its buffer was destroyed"
    );
    assert_eq!(
        of(KernelArgument::Null, alive.clone(), local(8)),
        "argument 0 (p): it takes a value of 4 bytes, a null pointer is given"
    );
    assert_eq!(
        of(bytes(4), alive.clone(), KernelArgument::Address(1)),
        "argument 2 (p): it takes workgroup memory, an address is given"
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
            resource: BufferHandle(0).into(),
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
            LaunchBinding::with_whole_buffer(binding, BufferHandle(buffer))
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
