//! Destructors: functions of the caller that are called when an object ends.

use crate::callback::UserCallback;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// A function that is called with the handle of the object that ends.
pub type DestructorFunction = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// The destructors of an object.
#[derive(Default)]
pub struct DestructorList {
    callbacks: Mutex<Vec<UserCallback<DestructorFunction>>>,
}

impl DestructorList {
    /// Adds a function, which is called before those that are in the list already.
    pub fn add(&self, callback: UserCallback<DestructorFunction>) {
        let mut callbacks = self
            .callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        callbacks.push(callback);
    }

    /// Calls all functions, the last one first.
    pub fn call_all(&mut self, handle: *mut c_void) {
        let callbacks = self
            .callbacks
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for callback in callbacks.drain(..).rev() {
            // SAFETY: the caller gave the function for this call.
            unsafe { (callback.function)(handle, callback.data) };
        }
    }
}
