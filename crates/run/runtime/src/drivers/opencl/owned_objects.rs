//! Owned objects: objects of OpenCL that are released with the value that holds them.

use cl3::types::cl_int;
use std::ffi::c_void;

/// The call that releases an object.
type OpenClReleaseFn = unsafe fn(*mut c_void) -> Result<(), cl_int>;

/// An object of OpenCL. OpenCL itself counts the references that objects have to each other, so the
/// order of release does not matter.
pub struct OpenClObject {
    raw: *mut c_void,
    release: OpenClReleaseFn,
}

// SAFETY: OpenCL's calls may be made from any thread, but for those that set a kernel's arguments; they
// are made by the driver alone, which its caller holds exclusively.
unsafe impl Send for OpenClObject {}

// SAFETY: what is shared is the handle alone.
unsafe impl Sync for OpenClObject {}

impl OpenClObject {
    /// Takes an object, and the call that releases it.
    pub fn new(raw: *mut c_void, release: OpenClReleaseFn) -> OpenClObject {
        OpenClObject { raw, release }
    }

    /// The object.
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }
}

impl Drop for OpenClObject {
    fn drop(&mut self) {
        // SAFETY: the object is alive, as it is released here alone, and of the kind that the call
        // takes. Nothing can be done about a failure.
        let _ = unsafe { (self.release)(self.raw) };
    }
}
