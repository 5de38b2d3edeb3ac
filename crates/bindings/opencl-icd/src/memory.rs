//! Memory objects: buffers, parts of buffers, images and pipes.

use crate::context::ClContext;
use crate::destructors::DestructorList;
use crate::handle::{ObjectHandle, declare_object};
use crate::memory_store::MemoryStore;
use opencl_sys::{
    CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D, cl_image_desc, cl_image_format, cl_mem_flags, cl_mem_object_type,
};
use spirula_runtime::{PipeShape, TexelFormat};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A memory object.
pub struct ClMemory {
    pub(crate) handle: ObjectHandle<ClMemory>,
    /// Its context.
    pub context: Arc<ClContext>,
    /// The kind of object.
    pub kind: cl_mem_object_type,
    /// The flags that it was created with, completed by those of its parent.
    pub flags: cl_mem_flags,
    /// Bytes.
    pub size: usize,
    /// The memory that the caller gave for it, as an address; 0 without any.
    pub host_pointer: usize,
    /// The properties that it was created with, as words.
    pub property_words: Vec<u64>,
    /// Its bytes, within those of its parent for a part of a buffer.
    pub store: Arc<MemoryStore>,
    /// The first byte of a part of a buffer.
    pub offset: u64,
    /// The buffer that it is part of, or that an image is over.
    pub parent: Option<Arc<ClMemory>>,
    /// Facts of an image.
    pub image: Option<ImageFacts>,
    /// The packets of a pipe.
    pub pipe: Option<PipeShape>,
    mappings: Mutex<Vec<MemoryMapping>>,
    /// Functions that are called when it ends.
    pub destructors: DestructorList,
}

declare_object!(ClMemory, "memory object", CL_INVALID_MEM_OBJECT);

/// Facts of an image.
#[derive(Clone, Copy)]
pub struct ImageFacts {
    /// The format as callers name it.
    pub format: cl_image_format,
    /// The format of the texels.
    pub texels: TexelFormat,
    /// The description that it was created with.
    pub description: cl_image_desc,
    /// Width, height and depth in texels. The number of layers stands for the direction after the last.
    pub extent: [usize; 3],
}

// SAFETY: the handle in the description is only given back to callers.
unsafe impl Send for ImageFacts {}
// SAFETY: as above.
unsafe impl Sync for ImageFacts {}

impl ImageFacts {
    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> usize {
        self.texels.texel_bytes() as usize
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.extent[0] * self.texel_bytes()
    }

    /// Bytes from a row to the next in the store. Rows of an image over a buffer may have gaps.
    pub fn row_pitch(&self) -> usize {
        let description = &self.description;
        let is_over = !description.buffer.is_null();
        let is_pitched = is_over && description.image_type == CL_MEM_OBJECT_IMAGE2D;
        match description.image_row_pitch {
            pitch if is_pitched && pitch != 0 => pitch,
            _ => self.row_bytes(),
        }
    }

    /// Bytes of a slice, which is a row in an array of rows.
    pub fn slice_bytes(&self) -> usize {
        if self.is_row_array() {
            self.row_bytes()
        } else {
            self.row_bytes() * self.extent[1]
        }
    }

    /// Whether it is an array of rows.
    pub fn is_row_array(&self) -> bool {
        self.description.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY
    }

    /// Whether it has slices or layers.
    pub fn has_slices(&self) -> bool {
        let kinds = [
            CL_MEM_OBJECT_IMAGE1D_ARRAY,
            CL_MEM_OBJECT_IMAGE2D_ARRAY,
            CL_MEM_OBJECT_IMAGE3D,
        ];
        kinds.contains(&self.description.image_type)
    }
}

/// A part of a memory object that is mapped.
#[derive(Clone, Copy, Debug)]
pub struct MemoryMapping {
    /// The address that the caller has.
    pub address: usize,
    /// Whether the caller may write.
    pub is_written: bool,
    /// The first byte in the store, and one past the last.
    pub bytes: (u64, u64),
}

/// The parts of a memory object that kinds have in common when it is created.
pub struct MemoryBase {
    /// Its context.
    pub context: Arc<ClContext>,
    /// The kind of object.
    pub kind: cl_mem_object_type,
    /// The flags.
    pub flags: cl_mem_flags,
    /// The memory that the caller gave for it.
    pub host_pointer: *mut c_void,
    /// The properties, as words.
    pub property_words: Vec<u64>,
}

impl ClMemory {
    /// An object with bytes of its own.
    pub fn new(
        handle: ObjectHandle<ClMemory>,
        base: MemoryBase,
        size: usize,
        store: MemoryStore,
    ) -> ClMemory {
        ClMemory {
            handle,
            context: base.context,
            kind: base.kind,
            flags: base.flags,
            size,
            host_pointer: base.host_pointer as usize,
            property_words: base.property_words,
            store: Arc::new(store),
            offset: 0,
            parent: None,
            image: None,
            pipe: None,
            mappings: Mutex::default(),
            destructors: DestructorList::default(),
        }
    }

    /// A part of a buffer.
    pub fn part_of(
        handle: ObjectHandle<ClMemory>,
        parent: &Arc<ClMemory>,
        flags: cl_mem_flags,
        offset: usize,
        size: usize,
    ) -> ClMemory {
        let host_pointer = match parent.host_pointer {
            0 => 0,
            first => first + offset,
        };
        ClMemory {
            handle,
            context: parent.context.clone(),
            kind: parent.kind,
            flags,
            size,
            host_pointer,
            property_words: Vec::new(),
            store: parent.store.clone(),
            offset: offset as u64,
            parent: Some(parent.clone()),
            image: None,
            pipe: None,
            mappings: Mutex::default(),
            destructors: DestructorList::default(),
        }
    }

    /// Whether it is a part of another buffer.
    pub fn is_part(&self) -> bool {
        self.parent.is_some() && self.image.is_none()
    }

    fn lock_mappings(&self) -> MutexGuard<'_, Vec<MemoryMapping>> {
        self.mappings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a part is mapped.
    pub fn add_mapping(&self, mapping: MemoryMapping) {
        self.lock_mappings().push(mapping);
    }

    /// Takes back a mapping by its address.
    pub fn remove_mapping(&self, address: usize) -> Option<MemoryMapping> {
        let mut mappings = self.lock_mappings();
        let found = mappings
            .iter()
            .rposition(|mapping| mapping.address == address);
        found.map(|at| mappings.remove(at))
    }

    /// Number of mappings.
    pub fn count_mappings(&self) -> u32 {
        self.lock_mappings().len() as u32
    }
}

impl Drop for ClMemory {
    fn drop(&mut self) {
        let handle = self.handle.as_raw();
        self.destructors.call_all(handle);
    }
}
