//! Registered functions of the host, and types of their state. They live as long as the process.

use super::interface::{FfiDeleter, FfiHandlerBundle};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A function of the convention before typed calls: results, then arguments.
pub type UntypedFunction = unsafe extern "C" fn(*mut c_void, *const *const c_void);

/// A registered function.
#[derive(Clone, Copy)]
pub enum HostTarget {
    /// Handlers of the typed interface.
    Typed(FfiHandlerBundle),
    /// A function that knows the types of its arguments.
    Untyped(UntypedFunction),
}

/// A registered type.
struct RegisteredType {
    id: i64,
    deleter: Option<FfiDeleter>,
}

#[derive(Default)]
struct HostRegistry {
    targets: BTreeMap<String, HostTarget>,
    types: BTreeMap<String, RegisteredType>,
}

static REGISTRY: Mutex<HostRegistry> = Mutex::new(HostRegistry {
    targets: BTreeMap::new(),
    types: BTreeMap::new(),
});

fn lock_registry() -> MutexGuard<'static, HostRegistry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers handlers. Stages that are given replace those of the same name.
pub fn register_handlers(name: &str, bundle: FfiHandlerBundle) {
    lock_registry()
        .targets
        .insert(name.to_owned(), HostTarget::Typed(bundle));
}

/// Registers an untyped function.
pub fn register_untyped(name: &str, function: UntypedFunction) {
    lock_registry()
        .targets
        .insert(name.to_owned(), HostTarget::Untyped(function));
}

/// The function of a name.
pub fn find_target(name: &str) -> Option<HostTarget> {
    lock_registry().targets.get(name).copied()
}

/// The names of all functions.
pub fn list_targets() -> BTreeSet<String> {
    lock_registry().targets.keys().cloned().collect()
}

/// The first number of types that have none. XLA in the same process numbers its types from 1 on.
const FIRST_TYPE: i64 = 1 << 32;

/// Registers a type. An id of 0 asks for a new one. Returns the id.
///
/// # Errors
/// When the name has another id.
pub fn register_type(name: &str, id: i64, deleter: Option<FfiDeleter>) -> Result<i64, String> {
    let mut registry = lock_registry();
    let next = FIRST_TYPE + registry.types.len() as i64;
    let wanted = match id {
        0 => registry.types.get(name).map_or(next, |known| known.id),
        id => id,
    };
    let known = registry.types.entry(name.to_owned());
    let known = known.or_insert(RegisteredType {
        id: wanted,
        deleter,
    });
    if known.id != wanted {
        return Err(format!("the type {name:?} has the id {}", known.id));
    }
    known.deleter = known.deleter.or(deleter);
    Ok(wanted)
}

/// The function that frees an object of a type.
pub fn find_deleter(id: i64) -> Option<FfiDeleter> {
    let registry = lock_registry();
    let mut types = registry.types.values();
    types.find(|known| known.id == id)?.deleter
}
