//! Key-value stores that the processes share.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A store of texts by keys, which all processes share.
pub trait KeyValueStore {
    /// Stores a value under a new key.
    ///
    /// # Errors
    /// When the store fails, or has the key.
    fn put(&self, key: &str, value: &str) -> Result<(), String>;

    /// The value of a key, once some process has stored it.
    ///
    /// # Errors
    /// When the store fails, or the time is over.
    fn get(&self, key: &str, timeout: Duration) -> Result<String, String>;
}

/// A store of one process, for threads that stand for processes.
#[derive(Clone, Debug, Default)]
pub struct LocalStore {
    shared: Arc<(Mutex<HashMap<String, String>>, Condvar)>,
}

impl KeyValueStore for LocalStore {
    fn put(&self, key: &str, value: &str) -> Result<(), String> {
        let (values, changed) = &*self.shared;
        let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.contains_key(key) {
            return Err(format!("the key {key:?} exists"));
        }
        values.insert(key.to_owned(), value.to_owned());
        changed.notify_all();
        Ok(())
    }

    fn get(&self, key: &str, timeout: Duration) -> Result<String, String> {
        let end = Instant::now() + timeout;
        let (values, changed) = &*self.shared;
        let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = values.get(key) {
                return Ok(value.clone());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("nobody has stored {key:?}"));
            }
            let waited = changed.wait_timeout(values, left);
            values = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
