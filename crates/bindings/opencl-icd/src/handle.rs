//! Handles: the objects that callers hold, and the table in which they are looked up.
//!
//! A handle is the address of a [`HandleHead`], which the loader of OpenCL reads. The object itself is in a table, so that a
//! handle of another kind, or of an object that is gone, is found out instead of followed. Heads are never freed, but used
//! again.

use crate::error::{CallError, CallResult};
use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{cl_int, cl_uint};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

/// The words that a handle points to.
#[repr(C)]
pub struct HandleHead {
    dispatch: *const cl_icd_dispatch,
}

// SAFETY: the table that it points to never changes.
unsafe impl Send for HandleHead {}
// SAFETY: as above.
unsafe impl Sync for HandleHead {}

/// The table that all handles point to.
static DISPATCH: OnceLock<&'static cl_icd_dispatch> = OnceLock::new();

/// Sets the table that handles point to. Callers enter the library by functions that set it, so every handle has it.
pub fn set_dispatch_table(table: &'static cl_icd_dispatch) {
    DISPATCH.get_or_init(|| table);
}

impl HandleHead {
    /// A head with the table, or with null before that is set.
    pub fn with_table() -> HandleHead {
        let table = DISPATCH.get().copied();
        HandleHead {
            dispatch: table.map_or(std::ptr::null(), std::ptr::from_ref),
        }
    }
}

/// A kind of object that callers hold.
pub trait HandleObject: Send + Sync + Sized + 'static {
    /// The error of a handle that is none of this kind.
    const INVALID: cl_int;
    /// The name in messages.
    const NAME: &'static str;

    /// The table of the objects of this kind.
    fn table() -> &'static HandleTable<Self>;

    /// The handle of the object.
    fn handle(&self) -> &ObjectHandle<Self>;
}

/// Declares the table of a kind of object, which has its handle in a field `handle`.
macro_rules! declare_object {
    ($object:ty, $name:literal, $invalid:ident) => {
        impl $crate::handle::HandleObject for $object {
            const INVALID: opencl_sys::cl_int = opencl_sys::$invalid;
            const NAME: &'static str = $name;

            fn table() -> &'static $crate::handle::HandleTable<Self> {
                static TABLE: std::sync::LazyLock<$crate::handle::HandleTable<$object>> =
                    std::sync::LazyLock::new(Default::default);
                &TABLE
            }

            fn handle(&self) -> &$crate::handle::ObjectHandle<Self> {
                &self.handle
            }
        }
    };
}
pub(crate) use declare_object;

/// The objects of a kind, by their handles.
pub struct HandleTable<T> {
    entries: RwLock<FxHashMap<usize, HandleEntry<T>>>,
}

impl<T> Default for HandleTable<T> {
    fn default() -> Self {
        HandleTable {
            entries: RwLock::default(),
        }
    }
}

struct HandleEntry<T> {
    object: Weak<T>,
    /// The object, while callers hold references.
    owned: Option<Arc<T>>,
    references: cl_uint,
}

/// The handle of an object. It ends with the object.
pub struct ObjectHandle<T: HandleObject> {
    address: usize,
    kind: PhantomData<fn() -> T>,
}

/// Heads that no object has, in the order in which their objects ended.
static FREE_HEADS: Mutex<VecDeque<usize>> = Mutex::new(VecDeque::new());

fn lock_free_heads() -> MutexGuard<'static, VecDeque<usize>> {
    FREE_HEADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of heads that are allocated at once, and that are kept free. An ended handle is recognised until this number of other objects has ended.
const BLOCK: usize = 4096;

/// Takes a free head, or makes a block of them.
fn take_head() -> usize {
    let mut free = lock_free_heads();
    if free.len() < BLOCK {
        let block: Vec<HandleHead> = (0..BLOCK).map(|_| HandleHead::with_table()).collect();
        let block: &'static [HandleHead] = block.leak();
        free.extend(block.iter().map(|head| std::ptr::from_ref(head) as usize));
    }
    free.pop_front().unwrap_or_default()
}

impl<T: HandleObject> ObjectHandle<T> {
    /// The handle as callers see it.
    pub fn as_raw(&self) -> *mut c_void {
        self.address as *mut c_void
    }
}

impl<T: HandleObject> Drop for ObjectHandle<T> {
    fn drop(&mut self) {
        T::table().write_entries().remove(&self.address);
        lock_free_heads().push_back(self.address);
    }
}

impl<T: HandleObject> HandleTable<T> {
    fn write_entries(&self) -> std::sync::RwLockWriteGuard<'_, FxHashMap<usize, HandleEntry<T>>> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes an object of its handle. The caller has one reference, which [`release_object`] takes back.
pub fn create_object<T: HandleObject>(make: impl FnOnce(ObjectHandle<T>) -> T) -> Arc<T> {
    let made: Result<Arc<T>, Infallible> = try_create_object(|handle| Ok(make(handle)));
    match made {
        Ok(object) => object,
        Err(never) => match never {},
    }
}

/// The same where the object may not come about.
///
/// # Errors
/// Those of the function that makes it.
pub fn try_create_object<T: HandleObject, E>(
    make: impl FnOnce(ObjectHandle<T>) -> Result<T, E>,
) -> Result<Arc<T>, E> {
    let address = take_head();
    let object = Arc::new(make(ObjectHandle {
        address,
        kind: PhantomData,
    })?);
    let entry = HandleEntry {
        object: Arc::downgrade(&object),
        owned: Some(object.clone()),
        references: 1,
    };
    T::table().write_entries().insert(address, entry);
    Ok(object)
}

/// The object of a handle.
///
/// # Errors
/// When there is no such object.
pub fn find_object<T: HandleObject>(handle: *mut c_void) -> CallResult<Arc<T>> {
    let entries = T::table().entries.read();
    let entries = entries.unwrap_or_else(PoisonError::into_inner);
    let found = entries.get(&(handle as usize));
    let found = found.and_then(|entry| entry.object.upgrade());
    found.ok_or_else(describe_missing::<T>)
}

fn describe_missing<T: HandleObject>() -> CallError {
    CallError::new(T::INVALID, format!("this is no {}", T::NAME))
}

/// Adds a reference to an object that is alive.
///
/// # Errors
/// When there is no such object.
pub fn retain_object<T: HandleObject>(handle: *mut c_void) -> CallResult<()> {
    let mut entries = T::table().write_entries();
    let entry = entries.get_mut(&(handle as usize));
    let entry = entry.ok_or_else(describe_missing::<T>)?;
    let object = entry.object.upgrade();
    let object = object.ok_or_else(describe_missing::<T>)?;
    entry.references += 1;
    entry.owned = Some(object);
    Ok(())
}

/// Takes a reference back. The object ends with the last one, unless others need it.
///
/// # Errors
/// When there is no such object, or no reference.
pub fn release_object<T: HandleObject>(handle: *mut c_void) -> CallResult<()> {
    let mut entries = T::table().write_entries();
    let entry = entries.get_mut(&(handle as usize));
    let entry = entry
        .filter(|entry| entry.references > 0)
        .ok_or_else(describe_missing::<T>)?;
    entry.references -= 1;
    let last = match entry.references {
        0 => entry.owned.take(),
        _ => None,
    };
    drop(entries);
    drop(last);
    Ok(())
}

/// Number of references that callers have to an object.
pub fn count_references<T: HandleObject>(object: &T) -> cl_uint {
    let entries = T::table().entries.read();
    let entries = entries.unwrap_or_else(PoisonError::into_inner);
    let found = entries.get(&object.handle().address);
    found.map_or(0, |entry| entry.references)
}

/// The objects of a list of handles.
///
/// # Errors
/// When one of them is none.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn find_objects<T: HandleObject>(
    handles: *const *mut c_void,
    count: cl_uint,
) -> CallResult<Vec<Arc<T>>> {
    let handles = crate::boundary::get_slice(handles, count as usize)?;
    handles.iter().map(|handle| find_object(*handle)).collect()
}
