//! Entry points and their interfaces.

use crate::body::status;
use crate::error::{SpirulaError, SpirulaStatus};
use crate::handle::{OutPointer, get_ref, text_from_raw};
use crate::module::SpirulaModule;
use crate::text::SpirulaText;
use spirula_spirv::reflect::{BindingKind, EntryInterface, InterfaceBinding, entry_points};

/// An entry point.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaEntryPoint {
    /// Its execution model, with SPIR-V's number.
    pub execution_model: u32,
    /// The id of its function.
    pub function_id: u32,
    /// Whether its workgroup size is known.
    pub has_workgroup_size: bool,
    /// Its workgroup size in x, y and z.
    pub workgroup_size: [u32; 3],
    /// Bytes of push constants that it accesses.
    pub push_constant_bytes: u32,
    /// Number of parameters of a kernel.
    pub parameter_count: usize,
    /// Number of resources with a set and a binding.
    pub binding_count: usize,
}

/// The kind of a resource.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpirulaBindingKind {
    /// A storage buffer.
    Storage = 0,
    /// A uniform buffer.
    Uniform = 1,
    /// An image, a sampler or another object.
    Opaque = 2,
}

/// A resource that an entry point uses.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaBinding {
    /// `DescriptorSet`.
    pub set: u32,
    /// `Binding`.
    pub binding: u32,
    /// The id of the variable.
    pub variable: u32,
    /// Its kind.
    pub kind: SpirulaBindingKind,
    /// The id of the type of the block or object.
    pub type_id: u32,
    /// Descriptors of an array; 1 for a single descriptor, 0 if the number is unknown.
    pub count: u32,
    /// Whether the module only reads it.
    pub read_only: bool,
}

/// The number of entry points and, for `position` below it, the name of one, which the caller frees. `name` may be
/// null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_entry_points(
    module: *const SpirulaModule,
    count: *mut usize,
    position: usize,
    name: *mut SpirulaText,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, count) = unsafe { (&get_ref(module)?.module, OutPointer::new(count)?) };
        let mut points = entry_points(module);
        count.set_value(points.len());
        // SAFETY: the crate's contract.
        if let Ok(out) = unsafe { OutPointer::new(name) } {
            let found = position < points.len();
            out.set_value(if found {
                SpirulaText::new(points.swap_remove(position).0)
            } else {
                SpirulaText::NONE
            });
        }
        Ok(())
    })
}

/// The interface of the entry point with a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_entry_point_get(
    module: *const SpirulaModule,
    name: *const u8,
    length: usize,
    entry_point: *mut SpirulaEntryPoint,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, name) = unsafe { (&get_ref(module)?.module, text_from_raw(name, length)?) };
        // SAFETY: the crate's contract.
        let out = unsafe { OutPointer::new(entry_point) }?;
        let interface = EntryInterface::from_module(module, name)?;
        out.set_value(SpirulaEntryPoint {
            execution_model: interface.model.0,
            function_id: interface.function.word(),
            has_workgroup_size: interface.workgroup_size.is_some(),
            workgroup_size: interface.workgroup_size.unwrap_or_default(),
            push_constant_bytes: interface.push_constant_bytes,
            parameter_count: interface.params.len(),
            binding_count: interface.bindings.len(),
        });
        Ok(())
    })
}

/// The resources that the entry point with a name uses. `count` receives their number; as many as the buffer holds
/// are written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_entry_point_bindings(
    module: *const SpirulaModule,
    name: *const u8,
    length: usize,
    buffer: *mut SpirulaBinding,
    capacity: usize,
    count: *mut usize,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, name) = unsafe { (&get_ref(module)?.module, text_from_raw(name, length)?) };
        // SAFETY: the crate's contract.
        let count = unsafe { OutPointer::new(count) }?;
        let interface = EntryInterface::from_module(module, name)?;
        let bindings: Vec<SpirulaBinding> =
            interface.bindings.iter().map(describe_binding).collect();
        // SAFETY: the crate's contract.
        count.set_value(unsafe { crate::handle::fill_buffer(buffer, capacity, &bindings) });
        Ok(())
    })
}

fn describe_binding(found: &InterfaceBinding) -> SpirulaBinding {
    let (kind, ty) = match found.kind {
        BindingKind::Storage(ty) => (SpirulaBindingKind::Storage, ty),
        BindingKind::Uniform(ty) => (SpirulaBindingKind::Uniform, ty),
        BindingKind::Opaque(ty) => (SpirulaBindingKind::Opaque, ty),
    };
    SpirulaBinding {
        set: found.set,
        binding: found.binding,
        variable: found.variable.word(),
        kind,
        type_id: ty.word(),
        count: found.count,
        read_only: found.read_only,
    }
}
