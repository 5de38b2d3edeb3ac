//! Facts of devices that queries tell.

use crate::api::pipe::MOST_PACKET_BYTES;
use crate::api::queue::{MOST_QUEUE_BYTES, USUAL_QUEUE_BYTES};
use crate::build::is_compiler_available;
use crate::device::ClDevice;
use crate::device_version::{VERSION_3_0, build_name_versions, name_version, pack_version};
use crate::handle::count_references;
use crate::platform::{PLATFORM_VERSION, platform_handle};
use opencl_sys::*;
use spirula_runtime::DeviceKind;

/// The answer to a query.
pub enum DeviceFact {
    /// `cl_uint`, `cl_bool` and the like.
    Uint(cl_uint),
    /// `cl_ulong` and bit fields.
    Ulong(cl_ulong),
    /// `size_t`.
    Size(usize),
    /// A list of `cl_uint`.
    Uints(Vec<cl_uint>),
    /// A list of `size_t`.
    Sizes(Vec<usize>),
    /// An address or a handle.
    Handle(usize),
    /// A text.
    Text(String),
    /// Names with versions.
    Versions(Vec<cl_name_version>),
}

use DeviceFact::{Handle, Size, Sizes, Text, Uint, Uints, Ulong, Versions};

/// The kinds of vectors of bytes that have dot products.
const INTEGER_DOT_PRODUCTS: cl_ulong = CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR
    | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR;

/// The query for dot products of packed bytes that are fast.
const PACKED_ACCELERATION: cl_device_info =
    CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR;

/// The ways in which the processor can be divided. Its threads are not bound to parts of the machine.
const PARTITIONS: [cl_device_partition_property; 2] =
    [CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_BY_COUNTS];

/// Bytes of parameters: a function of SPIR-V has 255 at most, and a program may use a byte for each.
const MAX_PARAMETER_BYTES: usize = 1024;
/// Most bytes of variables at program scope.
const MAX_VARIABLE_BYTES: usize = 1 << 26;
/// Side of the largest image.
const MAX_IMAGE_SIDE: usize = 16384;
/// Side of the largest image of three dimensions, and most layers.
const MAX_IMAGE_DEPTH: usize = 2048;
/// Most texels of an image over a buffer.
const MAX_IMAGE_BUFFER: usize = 1 << 24;

/// The identity of this library for queries by number, as no vendor number is registered: the bytes `SPRL`.
const VENDOR: cl_uint = 0x5350_524C;

impl ClDevice {
    /// The type of the device. `SPIRULA_OPENCL_TYPE=gpu` makes all devices graphics processors for programs that take no others.
    pub fn device_type(&self) -> cl_device_type {
        if std::env::var("SPIRULA_OPENCL_TYPE").is_ok_and(|wanted| wanted == "gpu") {
            return CL_DEVICE_TYPE_GPU;
        }
        match self.info.kind {
            DeviceKind::Cpu => CL_DEVICE_TYPE_CPU,
            DeviceKind::Gpu => CL_DEVICE_TYPE_GPU,
            DeviceKind::Other => CL_DEVICE_TYPE_ACCELERATOR,
        }
    }

    /// The answer to a query; `None` where there is no such query.
    pub fn find_fact(&self, name: cl_device_info) -> Option<DeviceFact> {
        let found = self.find_limit(name);
        let found = found.or_else(|| self.find_image_fact(name));
        let found = found.or_else(|| self.find_arithmetic_fact(name));
        let found = found.or_else(|| self.find_identity(name));
        let found = found.or_else(|| self.find_queue_fact(name));
        found.or_else(|| self.find_capability(name))
    }

    fn find_identity(&self, name: cl_device_info) -> Option<DeviceFact> {
        Some(match name {
            CL_DEVICE_TYPE => Ulong(self.device_type()),
            CL_DEVICE_VENDOR_ID => Uint(VENDOR),
            CL_DEVICE_NAME => Text(self.info.name.clone()),
            CL_DEVICE_VENDOR => Text("The Spirula project".to_owned()),
            CL_DRIVER_VERSION => Text(env!("CARGO_PKG_VERSION").to_owned()),
            CL_DEVICE_PROFILE => Text("FULL_PROFILE".to_owned()),
            CL_DEVICE_VERSION => Text(format!("{PLATFORM_VERSION} {}", self.info.driver)),
            CL_DEVICE_NUMERIC_VERSION => Uint(VERSION_3_0),
            CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => Uint(pack_version(1, 2, 0)),
            CL_DEVICE_OPENCL_C_VERSION => Text("OpenCL C 1.2 Spirula".to_owned()),
            CL_DEVICE_OPENCL_C_ALL_VERSIONS => {
                let versions = [(1, 0), (1, 1), (1, 2), (3, 0)];
                let pack = |(major, minor)| name_version("OpenCL C", pack_version(major, minor, 0));
                Versions(versions.map(pack).to_vec())
            }
            CL_DEVICE_OPENCL_C_FEATURES => Versions(
                (self.features().iter())
                    .map(|name| name_version(name, VERSION_3_0))
                    .collect(),
            ),
            CL_DEVICE_EXTENSIONS => Text(self.extensions().join(" ")),
            CL_DEVICE_EXTENSIONS_WITH_VERSION => Versions(build_name_versions(&self.extensions())),
            CL_DEVICE_PLATFORM => Handle(platform_handle() as usize),
            CL_DEVICE_PARENT_DEVICE => {
                let share = self.share.as_ref();
                Handle(share.map_or(0, |share| share.parent.handle.as_raw() as usize))
            }
            // A device of the platform has one reference.
            CL_DEVICE_REFERENCE_COUNT if self.share.is_none() => Uint(1),
            CL_DEVICE_REFERENCE_COUNT => Uint(count_references(self)),
            CL_DEVICE_BUILT_IN_KERNELS => Text(String::new()),
            CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => Versions(Vec::new()),
            CL_DEVICE_IL_VERSION => Text(self.intermediate_languages().join(" ")),
            CL_DEVICE_ILS_WITH_VERSION => {
                let versions = self.intermediate_language_versions();
                let row = |minor: &u32| name_version("SPIR-V", pack_version(1, *minor, 0));
                Versions(versions.iter().map(row).collect())
            }
            CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => Text("v0000-00-00-00".to_owned()),
            _ => return None,
        })
    }

    /// Minor versions of SPIR-V 1 that the device takes, the newest first.
    fn intermediate_language_versions(&self) -> Vec<u32> {
        (0..=6).rev().collect()
    }

    fn intermediate_languages(&self) -> Vec<String> {
        let versions = self.intermediate_language_versions().into_iter();
        versions.map(|minor| format!("SPIR-V_1.{minor}")).collect()
    }

    fn find_limit(&self, name: cl_device_info) -> Option<DeviceFact> {
        let limits = &self.info.limits;
        let memory = limits.buffer_size;
        Some(match name {
            CL_DEVICE_MAX_COMPUTE_UNITS => Uint(self.info.compute_units.max(1)),
            CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => Uint(3),
            CL_DEVICE_MAX_WORK_GROUP_SIZE => Size(limits.workgroup_invocations as usize),
            CL_DEVICE_MAX_WORK_ITEM_SIZES => {
                Sizes(limits.workgroup_size.map(|n| n as usize).to_vec())
            }
            CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
                Size(self.info.subgroup_size.max(1) as usize)
            }
            CL_DEVICE_SUB_GROUP_SIZES_INTEL => {
                let sizes = self.info.subgroup_sizes.iter();
                Sizes(sizes.map(|size| *size as usize).collect())
            }
            CL_DEVICE_MAX_NUM_SUB_GROUPS => Uint(if self.has_subgroups() {
                limits
                    .workgroup_invocations
                    .div_ceil(self.info.subgroup_size.max(1))
            } else {
                0
            }),
            CL_DEVICE_MAX_CLOCK_FREQUENCY => Uint(self.query_clock()),
            CL_DEVICE_ADDRESS_BITS => Uint(64),
            CL_DEVICE_MAX_MEM_ALLOC_SIZE => Ulong(memory),
            CL_DEVICE_GLOBAL_MEM_SIZE => Ulong(self.info.memory_size),
            CL_DEVICE_MAX_PARAMETER_SIZE => Size(MAX_PARAMETER_BYTES),
            CL_DEVICE_MEM_BASE_ADDR_ALIGN => Uint(1024),
            CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => Uint(128),
            CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => Uint(CL_READ_WRITE_CACHE),
            CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => Uint(64),
            CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => Ulong(1 << 20),
            CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => Ulong(memory),
            CL_DEVICE_MAX_CONSTANT_ARGS => Uint(64),
            CL_DEVICE_LOCAL_MEM_TYPE => Uint(if self.is_processor() {
                CL_GLOBAL
            } else {
                CL_LOCAL
            }),
            CL_DEVICE_LOCAL_MEM_SIZE => Ulong(limits.workgroup_memory),
            CL_DEVICE_PRINTF_BUFFER_SIZE => Size(1 << 20),
            CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE | CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
                Size(MAX_VARIABLE_BYTES)
            }
            CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
            | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
            | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => Uint(0),
            CL_DEVICE_PARTITION_MAX_SUB_DEVICES => Uint(self.count_most_parts() as cl_uint),
            CL_DEVICE_PARTITION_PROPERTIES => Sizes(match self.count_most_parts() {
                0 => vec![0],
                _ => PARTITIONS.map(|name| name as usize).to_vec(),
            }),
            CL_DEVICE_PARTITION_TYPE => Sizes(self.share.as_ref().map_or_else(
                || vec![0],
                |share| share.partition.iter().map(|word| *word as usize).collect(),
            )),
            CL_DEVICE_PARTITION_AFFINITY_DOMAIN => Ulong(0),
            _ => return None,
        })
    }

    /// Clock of the processor in MHz, where the system tells it; 0 elsewhere.
    fn query_clock(&self) -> cl_uint {
        if !self.is_processor() {
            return 0;
        }
        let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let mut lines = told.lines().filter(|line| line.starts_with("cpu MHz"));
        let clock = lines.find_map(|line| line.split_once(':')?.1.trim().parse::<f64>().ok());
        clock.map_or(0, |clock| clock as cl_uint)
    }

    /// Most parts that it can be divided into: its threads, if there are several.
    pub fn count_most_parts(&self) -> usize {
        match self.count_threads() {
            0 | 1 => 0,
            threads => threads,
        }
    }

    fn find_image_fact(&self, name: cl_device_info) -> Option<DeviceFact> {
        Some(match name {
            CL_DEVICE_IMAGE_SUPPORT => Uint(CL_TRUE),
            CL_DEVICE_MAX_READ_IMAGE_ARGS => Uint(128),
            CL_DEVICE_MAX_WRITE_IMAGE_ARGS | CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => Uint(64),
            CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => Size(MAX_IMAGE_SIDE),
            CL_DEVICE_IMAGE3D_MAX_WIDTH
            | CL_DEVICE_IMAGE3D_MAX_HEIGHT
            | CL_DEVICE_IMAGE3D_MAX_DEPTH
            | CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => Size(MAX_IMAGE_DEPTH),
            CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => Size(MAX_IMAGE_BUFFER),
            CL_DEVICE_MAX_SAMPLERS => Uint(16),
            CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => {
                Uint(cl_uint::from(self.is_processor()))
            }
            _ => return None,
        })
    }

    fn find_arithmetic_fact(&self, name: cl_device_info) -> Option<DeviceFact> {
        let all = CL_FP_DENORM
            | CL_FP_INF_NAN
            | CL_FP_ROUND_TO_NEAREST
            | CL_FP_ROUND_TO_ZERO
            | CL_FP_ROUND_TO_INF
            | CL_FP_FMA;
        let exact = if self.is_processor() {
            CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
        } else {
            0
        };
        let basic = CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
        let denormals = if self.is_processor() {
            CL_FP_DENORM | CL_FP_FMA
        } else {
            CL_FP_FMA
        };
        Some(match name {
            CL_DEVICE_SINGLE_FP_CONFIG => Ulong(basic | denormals | exact),
            CL_DEVICE_DOUBLE_FP_CONFIG => Ulong(if self.has_doubles() { all } else { 0 }),
            CL_DEVICE_HALF_FP_CONFIG => Ulong(if self.has_halves() {
                basic | CL_FP_DENORM
            } else {
                0
            }),
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => {
                Uint(u32::from(self.has_doubles()))
            }
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => {
                Uint(u32::from(self.has_halves()))
            }
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => Uint(1),
            _ => return None,
        })
    }

    fn find_capability(&self, name: cl_device_info) -> Option<DeviceFact> {
        let is_processor = self.is_processor();
        let flag = |is: bool| Uint(cl_uint::from(is));
        Some(match name {
            CL_DEVICE_ERROR_CORRECTION_SUPPORT => flag(false),
            CL_DEVICE_HOST_UNIFIED_MEMORY => flag(is_processor),
            CL_DEVICE_PROFILING_TIMER_RESOLUTION => Size(1),
            CL_DEVICE_ENDIAN_LITTLE => flag(cfg!(target_endian = "little")),
            CL_DEVICE_AVAILABLE => flag(true),
            CL_DEVICE_COMPILER_AVAILABLE => flag(is_compiler_available()),
            CL_DEVICE_LINKER_AVAILABLE => flag(true),
            CL_DEVICE_EXECUTION_CAPABILITIES => Ulong(if is_processor {
                CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL
            } else {
                CL_EXEC_KERNEL
            }),
            CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
                Ulong(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
            }
            CL_DEVICE_PIPE_SUPPORT => flag(is_processor),
            CL_DEVICE_MAX_PIPE_ARGS => Uint(if is_processor { 16 } else { 0 }),
            CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => flag(is_processor),
            CL_DEVICE_PIPE_MAX_PACKET_SIZE => {
                Uint(if is_processor { MOST_PACKET_BYTES } else { 0 })
            }
            CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => flag(true),
            CL_DEVICE_SVM_CAPABILITIES => Ulong(if is_processor {
                CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
                    | CL_DEVICE_SVM_FINE_GRAIN_BUFFER
                    | CL_DEVICE_SVM_FINE_GRAIN_SYSTEM
                    | CL_DEVICE_SVM_ATOMICS
            } else {
                0
            }),
            CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => flag(false),
            CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => flag(self.info.limits.partial_groups),
            CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT
            | CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => flag(true),
            CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => Ulong(self.atomic_capabilities(true)),
            CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => Ulong(self.atomic_capabilities(false)),
            _ => return self.find_extension_capability(name),
        })
    }

    /// Orders and scopes of atomic operations, or of fences.
    fn atomic_capabilities(&self, is_memory: bool) -> cl_ulong {
        let work_item = if is_memory {
            0
        } else {
            CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM
        };
        let usual = CL_DEVICE_ATOMIC_ORDER_RELAXED
            | CL_DEVICE_ATOMIC_ORDER_ACQ_REL
            | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
            | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
        let strict = if self.is_processor() {
            CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES
        } else {
            0
        };
        usual | strict | work_item
    }

    /// Facts of queues on the device, which the processor has.
    fn find_queue_fact(&self, name: cl_device_info) -> Option<DeviceFact> {
        let has_queues = self.is_processor();
        let if_any = |count| if has_queues { count } else { 0 };
        Some(match name {
            CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => Ulong(if has_queues {
                CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE
            } else {
                0
            }),
            CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE => Uint(if_any(USUAL_QUEUE_BYTES)),
            CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE => Uint(if_any(MOST_QUEUE_BYTES)),
            CL_DEVICE_MAX_ON_DEVICE_QUEUES => Uint(if_any(64)),
            CL_DEVICE_MAX_ON_DEVICE_EVENTS => Uint(if_any(1 << 16)),
            CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => Ulong(if has_queues {
                CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT
            } else {
                0
            }),
            _ => return None,
        })
    }

    /// Facts that extensions define.
    fn find_extension_capability(&self, name: cl_device_info) -> Option<DeviceFact> {
        Some(match name {
            CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR => {
                let enqueues = if self.is_processor() {
                    CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR
                } else {
                    0
                };
                Ulong(CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR | enqueues)
            }
            CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR => {
                Ulong(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
            }
            CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR => Ulong(0),
            CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR => Ulong(INTEGER_DOT_PRODUCTS),
            // None of the six kinds of dot products is known to be faster than products and sums.
            CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR
            | PACKED_ACCELERATION => Uints(vec![CL_FALSE; 6]),
            _ => return self.find_usm_capability(name),
        })
    }

    /// Unified shared memory: all kinds of access on the processor, none elsewhere.
    fn find_usm_capability(&self, name: cl_device_info) -> Option<DeviceFact> {
        let access = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL
            | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
            | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
            | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
        match name {
            CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
            | CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
            | CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
            | CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
            | CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL => {
                Some(Ulong(if self.is_processor() { access } else { 0 }))
            }
            _ => None,
        }
    }
}
