//! Records: the facts that each process publishes in the store.

use crate::error::{ExchangeError, ExchangeResult};
use crate::greeting::PROTOCOL;
use crate::store::KeyValueStore;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The facts of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeerRecord {
    pub protocol: u32,
    pub version: String,
    /// The address at which it listens.
    pub address: SocketAddr,
    /// A random number. That of the first process is the secret of the session.
    pub token: [u8; 16],
    /// Facts for the users of the mesh.
    pub profile: String,
}

impl PeerRecord {
    /// The record of this process.
    pub fn new(version: &str, address: SocketAddr, profile: &str) -> PeerRecord {
        PeerRecord {
            protocol: PROTOCOL,
            version: version.to_owned(),
            address,
            token: make_token(),
            profile: profile.to_owned(),
        }
    }
}

/// Random bytes from the keys that the standard library gives its hash tables.
fn make_token() -> [u8; 16] {
    let mut token = [0; 16];
    for half in token.chunks_exact_mut(8) {
        half.copy_from_slice(&RandomState::new().hash_one(0).to_le_bytes());
    }
    token
}

/// Publishes the record of this process, and reads those of all.
///
/// # Errors
/// When a process publishes nothing within the time, something else, or another version.
pub fn share_records(
    store: &dyn KeyValueStore,
    space: &str,
    process: usize,
    count: usize,
    own: &PeerRecord,
    timeout: Duration,
) -> ExchangeResult<Vec<PeerRecord>> {
    let begin = Instant::now();
    let text = serde_json::to_string(own);
    let text = text.map_err(|error| ExchangeError::Store(error.to_string()))?;
    let key = |process: usize| format!("{space}/{process}");
    let put = store.put(&key(process), &text);
    put.map_err(ExchangeError::Store)?;
    let mut records = Vec::with_capacity(count);
    for peer in 0..count {
        let left = timeout.saturating_sub(begin.elapsed());
        let value = store.get(&key(peer), left.max(Duration::from_millis(1)));
        let value = value.map_err(|reason| ExchangeError::Missing {
            process: peer,
            waited: begin.elapsed(),
            reason,
        })?;
        let record = serde_json::from_str(&value);
        let record: PeerRecord = record.map_err(|error| ExchangeError::Record {
            process: peer,
            reason: error.to_string(),
        })?;
        if (record.protocol, &record.version) != (own.protocol, &own.version) {
            return Err(ExchangeError::Version {
                process: peer,
                theirs: record.version,
                ours: own.version.clone(),
            });
        }
        records.push(record);
    }
    Ok(records)
}
