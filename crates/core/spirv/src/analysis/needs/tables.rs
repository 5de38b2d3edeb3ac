//! Needs that the grammar lacks, as tables.

use crate::grammar::enumerants::{Capability, StorageClass};

/// A trait of modules that capabilities concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CapabilityTrait {
    RuntimeArray,
    DescriptorArray,
    NonUniform,
    Images,
    ImageRead,
    ImageWrite,
    Dot,
    WorkgroupBlock,
    DeviceScope,
}

impl CapabilityTrait {
    pub fn describe(self) -> &'static str {
        match self {
            CapabilityTrait::RuntimeArray => "an array whose length is not known",
            CapabilityTrait::DescriptorArray => "an array of resources",
            CapabilityTrait::NonUniform => "the decoration NonUniform",
            CapabilityTrait::Images => "an image",
            CapabilityTrait::ImageRead => "reading an image",
            CapabilityTrait::ImageWrite => "writing an image",
            CapabilityTrait::Dot => "a dot product of integers",
            CapabilityTrait::WorkgroupBlock => "a structure in the class Workgroup",
            CapabilityTrait::DeviceScope => "the scope Device",
        }
    }
}

/// Capabilities that are kept if they are declared and the module has the trait. Whether they are required
/// depends on values or on the environment.
pub(super) const KEPT_WITH: &[(Capability, CapabilityTrait)] = &[
    (
        Capability::RuntimeDescriptorArray,
        CapabilityTrait::RuntimeArray,
    ),
    (
        Capability::UniformBufferArrayDynamicIndexing,
        CapabilityTrait::DescriptorArray,
    ),
    (
        Capability::SampledImageArrayDynamicIndexing,
        CapabilityTrait::DescriptorArray,
    ),
    (
        Capability::StorageBufferArrayDynamicIndexing,
        CapabilityTrait::DescriptorArray,
    ),
    (
        Capability::StorageImageArrayDynamicIndexing,
        CapabilityTrait::DescriptorArray,
    ),
    (
        Capability::InputAttachmentArrayDynamicIndexing,
        CapabilityTrait::DescriptorArray,
    ),
    (
        Capability::UniformTexelBufferArrayDynamicIndexing,
        CapabilityTrait::DescriptorArray,
    ),
    (
        Capability::StorageTexelBufferArrayDynamicIndexing,
        CapabilityTrait::DescriptorArray,
    ),
    (
        Capability::UniformBufferArrayNonUniformIndexing,
        CapabilityTrait::NonUniform,
    ),
    (
        Capability::SampledImageArrayNonUniformIndexing,
        CapabilityTrait::NonUniform,
    ),
    (
        Capability::StorageBufferArrayNonUniformIndexing,
        CapabilityTrait::NonUniform,
    ),
    (
        Capability::StorageImageArrayNonUniformIndexing,
        CapabilityTrait::NonUniform,
    ),
    (
        Capability::InputAttachmentArrayNonUniformIndexing,
        CapabilityTrait::NonUniform,
    ),
    (
        Capability::UniformTexelBufferArrayNonUniformIndexing,
        CapabilityTrait::NonUniform,
    ),
    (
        Capability::StorageTexelBufferArrayNonUniformIndexing,
        CapabilityTrait::NonUniform,
    ),
    (Capability::ImageBasic, CapabilityTrait::Images),
    (Capability::ImageReadWrite, CapabilityTrait::Images),
    (Capability::ImageMipmap, CapabilityTrait::Images),
    (
        Capability::StorageImageReadWithoutFormat,
        CapabilityTrait::ImageRead,
    ),
    (
        Capability::StorageImageWriteWithoutFormat,
        CapabilityTrait::ImageWrite,
    ),
    (Capability::DotProductInputAll, CapabilityTrait::Dot),
    (Capability::DotProductInput4x8Bit, CapabilityTrait::Dot),
    (
        Capability::WorkgroupMemoryExplicitLayoutKHR,
        CapabilityTrait::WorkgroupBlock,
    ),
    (
        Capability::VulkanMemoryModelDeviceScope,
        CapabilityTrait::DeviceScope,
    ),
];

/// Declared capabilities that are kept although others imply them, because they state the kind of the module.
pub(super) const KINDS: &[Capability] = &[
    Capability::Shader,
    Capability::Kernel,
    Capability::Addresses,
];

/// Endings of the names of capabilities that one vendor alone has.
pub(super) const VENDORS: &[&str] = &["NV", "AMD", "INTEL", "ALTERA", "QCOM", "ARM", "HUAWEI"];

/// Capabilities that the rules derive, besides those of [`KEPT_WITH`] and [`STORED`].
pub(super) const FOUND: &[Capability] = &[
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Float16,
    Capability::Float64,
    Capability::Vector16,
    Capability::Linkage,
    Capability::Int64Atomics,
    Capability::VariablePointers,
    Capability::VariablePointersStorageBuffer,
    Capability::Image1D,
    Capability::ImageRect,
    Capability::ImageBuffer,
    Capability::ImageCubeArray,
    Capability::StorageImageMultisample,
    Capability::ImageMSArray,
    Capability::BFloat16CooperativeMatrixKHR,
    Capability::Float8CooperativeMatrixEXT,
    Capability::Int4CooperativeMatrixINTEL,
];

/// Whether the analysis can decide if a capability is required.
pub(super) fn is_derived_capability(capability: Capability) -> bool {
    FOUND.contains(&capability)
        || KEPT_WITH.iter().any(|row| row.0 == capability)
        || STORED.iter().any(|row| row.2.contains(&capability))
}

pub(super) const NON_SEMANTIC: &str = "SPV_KHR_non_semantic_info";

/// As [`is_derived_capability`], for an extension.
pub(super) fn derives_extension(name: &str) -> bool {
    name == NON_SEMANTIC
}

/// The narrow numbers of a type.
pub(super) const INT8: u8 = 1;
pub(super) const INT16: u8 = 2;
pub(super) const FLOAT16: u8 = 4;
pub(super) const NARROW: u8 = INT8 | INT16 | FLOAT16;
/// The type has rules of its own for them.
pub(super) const OPAQUE: u8 = 8;

/// The capabilities that allow narrow numbers in variables of a storage class.
pub(super) type NarrowStorageRule = (u8, &'static [StorageClass], &'static [Capability]);

/// By width and class (specification, section 3.2.30 "Capability").
pub(super) const STORED: &[NarrowStorageRule] = &[
    (
        INT16 | FLOAT16,
        &[
            StorageClass::StorageBuffer,
            StorageClass::PhysicalStorageBuffer,
            StorageClass::ShaderRecordBufferKHR,
        ],
        &[
            Capability::StorageBuffer16BitAccess,
            Capability::UniformAndStorageBuffer16BitAccess,
        ],
    ),
    (
        INT16 | FLOAT16,
        &[StorageClass::Uniform],
        &[Capability::UniformAndStorageBuffer16BitAccess],
    ),
    (
        INT16 | FLOAT16,
        &[StorageClass::PushConstant],
        &[Capability::StoragePushConstant16],
    ),
    (
        INT16 | FLOAT16,
        &[StorageClass::Input, StorageClass::Output],
        &[Capability::StorageInputOutput16],
    ),
    (
        INT16 | FLOAT16,
        &[StorageClass::Workgroup],
        &[Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR],
    ),
    (
        INT8,
        &[
            StorageClass::StorageBuffer,
            StorageClass::PhysicalStorageBuffer,
            StorageClass::ShaderRecordBufferKHR,
        ],
        &[
            Capability::StorageBuffer8BitAccess,
            Capability::UniformAndStorageBuffer8BitAccess,
        ],
    ),
    (
        INT8,
        &[StorageClass::Uniform],
        &[Capability::UniformAndStorageBuffer8BitAccess],
    ),
    (
        INT8,
        &[StorageClass::PushConstant],
        &[Capability::StoragePushConstant8],
    ),
    (
        INT8,
        &[StorageClass::Workgroup],
        &[Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR],
    ),
];

/// For each kind of narrow number its name, the capability for all uses, and the extension that allows it as
/// well.
pub(super) const NARROW_ROWS: &[(u8, &str, Capability, &str)] = &[
    (INT8, "an integer of 8 bits", Capability::Int8, ""),
    (
        INT16,
        "an integer of 16 bits",
        Capability::Int16,
        "SPV_AMD_gpu_shader_int16",
    ),
    (
        FLOAT16,
        "a float of 16 bits",
        Capability::Float16,
        "SPV_AMD_gpu_shader_half_float",
    ),
];
