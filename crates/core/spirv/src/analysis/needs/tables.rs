//! What the grammar does not say of the needs for capabilities, as far as it has the form of lists.

use crate::grammar::enumerants::{Capability, StorageClass};

/// Something in a module that capabilities are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trait {
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

impl Trait {
    pub fn describe(self) -> &'static str {
        match self {
            Trait::RuntimeArray => "an array whose length is not known",
            Trait::DescriptorArray => "an array of resources",
            Trait::NonUniform => "the decoration NonUniform",
            Trait::Images => "an image",
            Trait::ImageRead => "reading an image",
            Trait::ImageWrite => "writing an image",
            Trait::Dot => "a dot product of integers",
            Trait::WorkgroupBlock => "a structure in the class Workgroup",
            Trait::DeviceScope => "the scope Device",
        }
    }
}

/// Capabilities that are kept where they are declared and the module has what they are about: when
/// they are needed depends on values or on the environment.
pub(super) const KEPT_WITH: &[(Capability, Trait)] = &[
    (Capability::RuntimeDescriptorArray, Trait::RuntimeArray),
    (
        Capability::UniformBufferArrayDynamicIndexing,
        Trait::DescriptorArray,
    ),
    (
        Capability::SampledImageArrayDynamicIndexing,
        Trait::DescriptorArray,
    ),
    (
        Capability::StorageBufferArrayDynamicIndexing,
        Trait::DescriptorArray,
    ),
    (
        Capability::StorageImageArrayDynamicIndexing,
        Trait::DescriptorArray,
    ),
    (
        Capability::InputAttachmentArrayDynamicIndexing,
        Trait::DescriptorArray,
    ),
    (
        Capability::UniformTexelBufferArrayDynamicIndexing,
        Trait::DescriptorArray,
    ),
    (
        Capability::StorageTexelBufferArrayDynamicIndexing,
        Trait::DescriptorArray,
    ),
    (
        Capability::UniformBufferArrayNonUniformIndexing,
        Trait::NonUniform,
    ),
    (
        Capability::SampledImageArrayNonUniformIndexing,
        Trait::NonUniform,
    ),
    (
        Capability::StorageBufferArrayNonUniformIndexing,
        Trait::NonUniform,
    ),
    (
        Capability::StorageImageArrayNonUniformIndexing,
        Trait::NonUniform,
    ),
    (
        Capability::InputAttachmentArrayNonUniformIndexing,
        Trait::NonUniform,
    ),
    (
        Capability::UniformTexelBufferArrayNonUniformIndexing,
        Trait::NonUniform,
    ),
    (
        Capability::StorageTexelBufferArrayNonUniformIndexing,
        Trait::NonUniform,
    ),
    (Capability::ImageBasic, Trait::Images),
    (Capability::ImageReadWrite, Trait::Images),
    (Capability::ImageMipmap, Trait::Images),
    (Capability::StorageImageReadWithoutFormat, Trait::ImageRead),
    (
        Capability::StorageImageWriteWithoutFormat,
        Trait::ImageWrite,
    ),
    (Capability::DotProductInputAll, Trait::Dot),
    (Capability::DotProductInput4x8Bit, Trait::Dot),
    (
        Capability::WorkgroupMemoryExplicitLayoutKHR,
        Trait::WorkgroupBlock,
    ),
    (Capability::VulkanMemoryModelDeviceScope, Trait::DeviceScope),
];

/// Capabilities that stay where they are declared, although others that are needed imply them: they
/// tell readers what kind of module this is.
pub(super) const KINDS: &[Capability] = &[
    Capability::Shader,
    Capability::Kernel,
    Capability::Addresses,
];

/// Capabilities that the functions below find, besides those of [`KEPT_WITH`] and [`STORED`].
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
];

/// Whether a capability is known to be needed or not by this module.
pub(super) fn derives(capability: Capability) -> bool {
    FOUND.contains(&capability)
        || KEPT_WITH.iter().any(|row| row.0 == capability)
        || STORED.iter().any(|row| row.2.contains(&capability))
}

pub(super) const NON_SEMANTIC: &str = "SPV_KHR_non_semantic_info";

/// The same for an extension.
pub(super) fn derives_extension(name: &str) -> bool {
    name == NON_SEMANTIC
}

/// Numbers that a type contains.
pub(super) const INT8: u8 = 1;
pub(super) const INT16: u8 = 2;
pub(super) const FLOAT16: u8 = 4;
pub(super) const NARROW: u8 = INT8 | INT16 | FLOAT16;
/// The type has rules of its own for them.
pub(super) const OPAQUE: u8 = 8;

/// What allows to have narrow numbers in variables of a class.
pub(super) type Stored = (u8, &'static [StorageClass], &'static [Capability]);

/// By width and class (specification, section 3.2.30 "Capability").
pub(super) const STORED: &[Stored] = &[
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

/// What each kind of narrow numbers is called, the capability for all uses of it, and the extension
/// that allows it too.
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
