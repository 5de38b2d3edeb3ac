//! Buffer properties: calls that ask what a buffer is and where it is.

use crate::boundary::{PluginCall, SizedStruct};
use crate::buffer::DeviceBuffer;
use crate::error::PluginResult;
use crate::generated::*;
use crate::handle::{as_pointer, get_ref};
use std::ptr::null_mut;

impl PluginCall for PjrtBufferElementTypeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.ty = get_ref::<DeviceBuffer>(self.buffer)?.array.format.code;
        Ok(())
    }
}

impl PluginCall for PjrtBufferDimensionsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.dims = buffer.array.sizes.as_ptr();
        self.num_dims = buffer.array.sizes.len();
        Ok(())
    }
}

impl PluginCall for PjrtBufferUnpaddedDimensionsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.unpadded_dims = buffer.array.sizes.as_ptr();
        self.num_dims = buffer.array.sizes.len();
        Ok(())
    }
}

impl PluginCall for PjrtBufferDynamicDimensionIndicesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<DeviceBuffer>(self.buffer)?;
        self.num_dynamic_dims = 0;
        Ok(())
    }
}

impl PluginCall for PjrtBufferGetMemoryLayoutArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.layout.variant.tiled = PjrtBufferMemoryLayoutTiled {
            struct_size: <PjrtBufferMemoryLayoutTiled as SizedStruct>::SIZE,
            extension_start: null_mut(),
            minor_to_major: buffer.minor_to_major().as_ptr(),
            minor_to_major_size: buffer.minor_to_major().len(),
            tile_dims: null_mut(),
            tile_dim_sizes: null_mut(),
            num_tiles: 0,
        };
        self.layout.ty = PjrtBufferMemoryLayoutType::TILED;
        Ok(())
    }
}

impl PluginCall for PjrtBufferOnDeviceSizeInBytesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.on_device_size_in_bytes = buffer.array.byte_count() as usize;
        Ok(())
    }
}

impl PluginCall for PjrtBufferDeviceArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.device = as_pointer(&*get_ref::<DeviceBuffer>(self.buffer)?.device);
        Ok(())
    }
}

impl PluginCall for PjrtBufferMemoryArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.memory = as_pointer(buffer.device.memory(buffer.id.memory()));
        Ok(())
    }
}
