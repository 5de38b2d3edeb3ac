//! Matrix shapes: the matrix products that subgroups of a device compute.

use super::instance::{VulkanInstance, open_loader};
use crate::{MatrixElement, MatrixShape};
use ash::{khr, vk};

/// `VK_COMPONENT_TYPE_BFLOAT16_KHR`, newer than the bindings.
const BFLOAT16: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_141_000);

/// Types of elements.
const ELEMENTS: &[(vk::ComponentTypeKHR, MatrixElement)] = &[
    (vk::ComponentTypeKHR::FLOAT16, MatrixElement::F16),
    (BFLOAT16, MatrixElement::Bf16),
    (vk::ComponentTypeKHR::FLOAT32, MatrixElement::F32),
    (vk::ComponentTypeKHR::FLOAT64, MatrixElement::F64),
    (vk::ComponentTypeKHR::SINT8, MatrixElement::I8),
    (vk::ComponentTypeKHR::UINT8, MatrixElement::U8),
    (vk::ComponentTypeKHR::SINT16, MatrixElement::I16),
    (vk::ComponentTypeKHR::UINT16, MatrixElement::U16),
    (vk::ComponentTypeKHR::SINT32, MatrixElement::I32),
    (vk::ComponentTypeKHR::UINT32, MatrixElement::U32),
    (vk::ComponentTypeKHR::SINT64, MatrixElement::I64),
    (vk::ComponentTypeKHR::UINT64, MatrixElement::U64),
];

/// The products of a device that has the extension: those of subgroups, without saturation, whose operand and result sums have one
/// type. A device whose query fails has none.
pub fn query_matrix_shapes(
    instance: &VulkanInstance,
    device: vk::PhysicalDevice,
) -> Vec<MatrixShape> {
    let Ok(entry) = open_loader() else {
        return Vec::new();
    };
    let functions = khr::cooperative_matrix::Instance::new(entry, instance.raw());
    // SAFETY: the device is of this instance and has the extension.
    let properties = unsafe { functions.get_physical_device_cooperative_matrix_properties(device) };
    let properties = properties.unwrap_or_default();
    properties.iter().filter_map(to_matrix_shape).collect()
}

fn to_matrix_shape(of: &vk::CooperativeMatrixPropertiesKHR<'_>) -> Option<MatrixShape> {
    let is_plain = of.scope == vk::ScopeKHR::SUBGROUP
        && of.saturating_accumulation == vk::FALSE
        && of.c_type == of.result_type;
    Some(MatrixShape {
        size: [of.m_size, of.n_size, of.k_size],
        factors: [to_matrix_element(of.a_type)?, to_matrix_element(of.b_type)?],
        sum: to_matrix_element(of.c_type)?,
    })
    .filter(|_| is_plain)
}

fn to_matrix_element(ty: vk::ComponentTypeKHR) -> Option<MatrixElement> {
    let row = ELEMENTS.iter().find(|(component, _)| *component == ty);
    row.map(|(_, element)| *element)
}
