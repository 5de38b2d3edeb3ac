//! Messages and collectives between the processes of a program, over TCP. Threads of one process may stand in their place
//! ([`ProcessMesh::link_threads`]).
//!
//! Processes find each other through a key-value store that they share ([`KeyValueStore`]). Each one publishes the address at
//! which it listens, and every pair has one connection ([`ProcessMesh::establish`]). Nothing listens after that.
//!
//! - [`frame`]: messages as bytes. Lengths are bounded, and memory is taken as bytes arrive.
//! - `greeting`: the first bytes of a connection, which name the program, its version, the session and the process.
//! - `record`: facts that a process publishes in the store.
//! - `connect`: connections of all pairs.
//! - `inbox`: messages that have arrived, by their tags. A reader that is far ahead of its receiver waits.
//! - [`ProcessMesh`]: sending, receiving, and the end of a run for a reason.
//! - [`CollectiveLink`]: gathers, broadcasts, exchanges and permutations among some processes, by algorithms for few and many
//!   bytes.
//!
//! Every wait has a limit. An error names the process that is missing, silent, lost or wrong, with its address.

mod collective;
mod connect;
mod error;
pub mod frame;
mod greeting;
mod inbox;
mod mesh;
mod record;
mod store;

pub use collective::{AwaitedBlock, CollectiveLink, SentBlock};
pub use error::{ExchangeError, ExchangeResult};
pub use greeting::check_greeting;
pub use mesh::{MeshOptions, ProcessMesh};
pub use store::{KeyValueStore, LocalStore};
