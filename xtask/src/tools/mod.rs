//! External tools of the tests. They are fetched into `target/tools` from Debian's archive, or from Python's package
//! index where that has none.
//!
//! The system is not changed: packages are downloaded with a separate package state, and unpacked beside each other.

mod apt;
mod clang;
mod cross_rust;
mod jax;
mod launcher;
mod lavapipe;
mod maturin;
mod mdbook;
mod opencl;
mod playwright;
mod python;
mod torch;
mod validator;
mod zig;

pub use clang::find_or_fetch_clang;
pub use cross_rust::{
    CrossToolchain, WEB_TARGET, find_or_fetch_cross_rust, find_or_fetch_web_rust, locate_sysroot,
};
pub use jax::{find_or_fetch_jax, has_packages};
pub use lavapipe::find_or_fetch_lavapipe;
pub use maturin::{find_or_fetch_maturin, install_wheel};
pub use mdbook::find_or_fetch_mdbook;
pub use opencl::find_or_fetch_opencl;
pub use playwright::{find_chromium, find_or_fetch_playwright};
pub use torch::find_or_fetch_torch;
pub use validator::find_or_fetch_validator;
pub use zig::find_or_fetch_zig;
