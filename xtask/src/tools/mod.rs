//! External tools that the tests need, fetched from Debian's archive into `target/tools`.
//!
//! Nothing of the system changes: packages are downloaded with a package state of our own and
//! unpacked beside each other.

mod apt;
mod lavapipe;
mod validator;

pub use lavapipe::lavapipe;
pub use validator::validator;
