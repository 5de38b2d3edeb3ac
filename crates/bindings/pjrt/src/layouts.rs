//! Extension for layouts: the order of dimensions in memory, as XLA writes it.

use crate::boundary::{PluginCall, declare_arguments, enter_call};
use crate::buffer::DeviceBuffer;
use crate::client::Client;
use crate::element::{ArrayType, ElementFormat};
use crate::error::PluginResult;
use crate::executable::ExecutableHandle;
use crate::generated::{
    PjrtBuffer, PjrtBufferType, PjrtClient, PjrtError, PjrtExecutable, PjrtExtensionBase,
    PjrtExtensionType, PjrtTopologyDescription,
};
use crate::handle::{ApiObject, PointerList, allocate, free, get_ref, get_sizes};
use crate::serialized::SerializedBytes;
use crate::topology::Topology;
use std::ffi::c_char;
use std::ptr::null_mut;

/// A layout of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLayout {
    /// The text of XLA: `{1,0}`.
    text: String,
}

/// The opaque type of a layout.
#[repr(C)]
pub struct OpaqueLayout {
    _private: [u8; 0],
}

impl ApiObject for MemoryLayout {
    type Opaque = OpaqueLayout;
    const NAME: &'static str = "layout";
}

impl MemoryLayout {
    /// The layout of arrays of a type.
    pub fn of_array(array: &ArrayType) -> MemoryLayout {
        let order = array.minor_to_major();
        let order: Vec<String> = order.iter().map(ToString::to_string).collect();
        MemoryLayout {
            text: format!("{{{}}}", order.join(",")),
        }
    }
}

type LayoutDeleter = unsafe extern "C" fn(*mut crate::generated::PjrtSerializedTopology);

declare_arguments! {
    LayoutDestroyArgs, "PJRT_Layouts_MemoryLayout_Destroy", layout: *mut OpaqueLayout {
        extension_start: *mut PjrtExtensionBase,
    }
    LayoutSerializeArgs, "PJRT_Layouts_MemoryLayout_Serialize", deleter: Option<LayoutDeleter> {
        extension_start: *mut PjrtExtensionBase,
        layout: *const OpaqueLayout,
        bytes: *const c_char,
        size: usize,
        serialized: *mut crate::generated::PjrtSerializedTopology,
    }
    ClientLayoutArgs, "PJRT_Layouts_PJRT_Client_GetDefaultLayout", layout: *mut OpaqueLayout {
        extension_start: *mut PjrtExtensionBase,
        client: *const PjrtClient,
        ty: PjrtBufferType,
        dims: *const i64,
        num_dims: usize,
    }
    BufferLayoutArgs, "PJRT_Layouts_PJRT_Buffer_MemoryLayout", layout: *mut OpaqueLayout {
        extension_start: *mut PjrtExtensionBase,
        buffer: *const PjrtBuffer,
    }
    TopologyLayoutArgs, "PJRT_Layouts_PJRT_Topology_GetDefaultLayout", layout: *mut OpaqueLayout {
        extension_start: *mut PjrtExtensionBase,
        topology: *const PjrtTopologyDescription,
        ty: PjrtBufferType,
        dims: *const i64,
        num_dims: usize,
    }
    ResultLayoutsArgs, "PJRT_Layouts_PJRT_Executable_GetOutputLayouts",
    layouts: *const *mut OpaqueLayout {
        extension_start: *mut PjrtExtensionBase,
        executable: *const PjrtExecutable,
        count: usize,
    }
    ParameterLayoutsArgs, "PJRT_Layouts_PJRT_Executable_GetParameterLayouts",
    layouts: *const *mut OpaqueLayout {
        extension_start: *mut PjrtExtensionBase,
        executable: *const PjrtExecutable,
        count: usize,
    }
}

type LayoutCall<A> = unsafe extern "C" fn(*mut A) -> *mut PjrtError;

/// The extension: its head and its functions.
#[repr(C)]
pub struct LayoutsExtension {
    pub base: PjrtExtensionBase,
    destroy: LayoutCall<LayoutDestroyArgs>,
    serialize: LayoutCall<LayoutSerializeArgs>,
    client_default: LayoutCall<ClientLayoutArgs>,
    buffer: LayoutCall<BufferLayoutArgs>,
    topology_default: LayoutCall<TopologyLayoutArgs>,
    results: LayoutCall<ResultLayoutsArgs>,
    parameters: LayoutCall<ParameterLayoutsArgs>,
}

impl LayoutsExtension {
    /// The extension, the last of a list.
    pub const fn new() -> LayoutsExtension {
        LayoutsExtension {
            base: PjrtExtensionBase {
                struct_size: size_of::<LayoutsExtension>(),
                ty: PjrtExtensionType::LAYOUTS,
                next: null_mut(),
            },
            destroy: enter_call,
            serialize: enter_call,
            client_default: enter_call,
            buffer: enter_call,
            topology_default: enter_call,
            results: enter_call,
            parameters: enter_call,
        }
    }
}

impl PluginCall for LayoutDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<MemoryLayout>(self.layout);
        Ok(())
    }
}

impl PluginCall for LayoutSerializeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let layout = get_ref::<MemoryLayout>(self.layout)?;
        let serialized = Box::new(SerializedBytes(layout.text.clone().into_bytes()));
        self.bytes = serialized.0.as_ptr().cast();
        self.size = serialized.0.len();
        self.serialized = Box::into_raw(serialized).cast();
        self.deleter = Some(delete_serialized_layout);
        Ok(())
    }
}

unsafe extern "C" fn delete_serialized_layout(
    layout: *mut crate::generated::PjrtSerializedTopology,
) {
    free::<SerializedBytes>(layout);
}

/// The default layout of an array type of a caller.
unsafe fn make_default_layout(
    ty: PjrtBufferType,
    dims: *const i64,
    num_dims: usize,
) -> PluginResult<*mut OpaqueLayout> {
    let sizes = get_sizes(dims, num_dims)?;
    let array = ArrayType::new(ElementFormat::from_code(ty)?, sizes)?;
    Ok(allocate(MemoryLayout::of_array(&array)))
}

impl PluginCall for ClientLayoutArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Client>(self.client)?;
        self.layout = make_default_layout(self.ty, self.dims, self.num_dims)?;
        Ok(())
    }
}

impl PluginCall for TopologyLayoutArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<Topology>(self.topology)?;
        self.layout = make_default_layout(self.ty, self.dims, self.num_dims)?;
        Ok(())
    }
}

impl PluginCall for BufferLayoutArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.layout = allocate(MemoryLayout::of_array(&buffer.array));
        Ok(())
    }
}

impl PluginCall for ResultLayoutsArgs {
    /// The layouts belong to the executable.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let layouts = &get_ref::<ExecutableHandle>(self.executable)?
            .0
            .result_layouts;
        self.layouts = layouts.pointers.as_ptr();
        self.count = layouts.pointers.len();
        Ok(())
    }
}

impl PluginCall for ParameterLayoutsArgs {
    /// The layouts belong to the executable.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let layouts = &get_ref::<ExecutableHandle>(self.executable)?
            .0
            .parameter_layouts;
        self.layouts = layouts.pointers.as_ptr();
        self.count = layouts.pointers.len();
        Ok(())
    }
}

/// The layouts of the arguments or results of an executable.
pub struct LayoutList {
    /// The layouts, where they stay.
    _layouts: Box<[MemoryLayout]>,
    pointers: PointerList<OpaqueLayout>,
}

impl LayoutList {
    /// The layouts of arrays.
    pub fn of_arrays(arrays: &[ArrayType]) -> LayoutList {
        let layouts: Box<[MemoryLayout]> = arrays.iter().map(MemoryLayout::of_array).collect();
        LayoutList {
            pointers: PointerList::from_objects(layouts.iter()),
            _layouts: layouts,
        }
    }
}
