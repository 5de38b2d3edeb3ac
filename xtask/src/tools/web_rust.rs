//! A Rust compiler for WebAssembly: rustup's target, or Debian's compiler with the sources of the standard library.

use super::apt::{Archive, library_folders};
use super::launcher::write_launcher;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target.
pub const WEB_TARGET: &str = "wasm32-unknown-unknown";

/// Debian's packages: the compiler, its sources, and a linker.
const PACKAGES: &[&str] = &["rustc-web", "rust-web-src", "lld-19", "libc6"];
const SUITE: &str = "bookworm-security";

/// A compiler that makes WebAssembly.
#[derive(Debug, Default)]
pub struct WebToolchain {
    /// The compiler; the usual one by default.
    pub rustc: Option<PathBuf>,
    /// The linker; the compiler's own by default.
    pub linker: Option<PathBuf>,
    /// Whether the standard library is built from its sources.
    pub builds_library: bool,
}

/// Finds a compiler: the one that `SPIRULA_WEB_RUSTC` names with the linker `SPIRULA_WEB_LINKER`, the usual one where rustup has
/// the target, or Debian's. That one is fetched into `target/tools`, and is no other build's compiler.
///
/// # Errors
/// When none is there, and Debian's cannot be fetched.
pub fn find_or_fetch_web_rust(target: &Path) -> Result<WebToolchain> {
    if let Some(rustc) = std::env::var_os("SPIRULA_WEB_RUSTC") {
        let linker = std::env::var_os("SPIRULA_WEB_LINKER").map(PathBuf::from);
        let rustc = PathBuf::from(rustc);
        let builds_library = !has_library(&rustc);
        return Ok(WebToolchain {
            rustc: Some(rustc),
            linker,
            builds_library,
        });
    }
    if has_library(Path::new("rustc")) {
        return Ok(WebToolchain::default());
    }
    let tools = target.join("tools");
    let (rustc, linker) = (tools.join("bin/web-rustc"), tools.join("bin/web-linker"));
    if find_sysroot(&rustc).is_none() {
        eprintln!("fetching a Rust compiler for WebAssembly (Debian's rustc-web)");
        fetch_compiler(&tools, &rustc, &linker).context(
            "the playground needs `rustup target add wasm32-unknown-unknown`, or Debian's packages rustc-web, \
             rust-web-src and lld-19",
        )?;
        ensure!(
            find_sysroot(&rustc).is_some(),
            "the fetched compiler does not start"
        );
    }
    Ok(WebToolchain {
        rustc: Some(rustc),
        linker: Some(linker),
        builds_library: true,
    })
}

fn fetch_compiler(tools: &Path, rustc: &Path, linker: &Path) -> Result<()> {
    let root = tools.join("web-rust");
    let archive = Archive::open_archive(&tools.join("apt-web-rust"), &["bookworm", SUITE])?;
    archive.unpack_packages(SUITE, PACKAGES, &root)?;
    let root = root.canonicalize()?;
    let folders = library_folders(&root)?;
    let sysroot = format!("--sysroot '{}'", root.join("usr").display());
    write_launcher(rustc, &root.join("usr/bin/rustc"), &sysroot, &folders)?;
    // The program has several linkers, and its name is lost. The compiler passes the option that chooses one.
    let program = root.join("usr/lib/llvm-19/bin/lld");
    write_launcher(linker, &program, "", &folders)
}

/// The folder of a compiler's libraries; none where it does not start.
fn find_sysroot(rustc: &Path) -> Option<PathBuf> {
    let output = Command::new(rustc)
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(text.trim()))
}

/// Whether a compiler has the standard library of the target.
fn has_library(rustc: &Path) -> bool {
    let folder = format!("lib/rustlib/{WEB_TARGET}/lib");
    find_sysroot(rustc).is_some_and(|sysroot| sysroot.join(folder).is_dir())
}
