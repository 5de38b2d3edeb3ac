//! A Rust compiler for another target: rustup's, or Debian's compiler with the sources of the standard library.

use super::apt::{Archive, library_folders};
use super::launcher::write_launcher;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target of the playground.
pub const WEB_TARGET: &str = "wasm32-unknown-unknown";

/// Debian's packages: the compiler, its sources, and a linker for WebAssembly.
const PACKAGES: &[&str] = &["rustc-web", "rust-web-src", "lld-19", "libc6"];
const SUITE: &str = "bookworm-security";

/// A compiler that makes programs of another target.
#[derive(Debug, Default)]
pub struct CrossToolchain {
    /// The compiler; the usual one by default.
    pub rustc: Option<PathBuf>,
    /// The linker for WebAssembly; the compiler's own by default.
    pub web_linker: Option<PathBuf>,
    /// Whether the standard library is built from its sources.
    pub builds_library: bool,
}

/// Finds a compiler for WebAssembly: the one that `SPIRULA_WEB_RUSTC` names with the linker `SPIRULA_WEB_LINKER`, or that of
/// [`find_or_fetch_cross_rust`].
///
/// # Errors
/// When none is there, and Debian's cannot be fetched.
pub fn find_or_fetch_web_rust(target: &Path) -> Result<CrossToolchain> {
    if let Some(rustc) = std::env::var_os("SPIRULA_WEB_RUSTC") {
        let linker = std::env::var_os("SPIRULA_WEB_LINKER").map(PathBuf::from);
        let rustc = PathBuf::from(rustc);
        let builds_library = !has_library(&rustc, WEB_TARGET);
        return Ok(CrossToolchain {
            rustc: Some(rustc),
            web_linker: linker,
            builds_library,
        });
    }
    find_or_fetch_cross_rust(target, WEB_TARGET)
}

/// Finds a compiler for a target: the usual one where rustup has the target's library, or Debian's. That one is fetched into
/// `target/tools`, and is no other build's compiler.
///
/// # Errors
/// When none is there, and Debian's cannot be fetched.
pub fn find_or_fetch_cross_rust(target: &Path, triple: &str) -> Result<CrossToolchain> {
    if has_library(Path::new("rustc"), triple) {
        return Ok(CrossToolchain::default());
    }
    let tools = target.join("tools");
    let (rustc, linker) = (tools.join("bin/web-rustc"), tools.join("bin/web-linker"));
    if find_sysroot(&rustc).is_none() {
        eprintln!("fetching a Rust compiler for other targets (Debian's rustc-web)");
        fetch_compiler(&tools, &rustc, &linker).with_context(|| {
            format!(
                "{triple} needs `rustup target add {triple}`, or Debian's packages rustc-web, rust-web-src and lld-19"
            )
        })?;
        ensure!(
            find_sysroot(&rustc).is_some(),
            "the fetched compiler does not start"
        );
    }
    Ok(CrossToolchain {
        rustc: Some(rustc),
        web_linker: Some(linker),
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

/// The folder of a compiler's libraries.
///
/// # Errors
/// When the compiler does not start.
pub fn locate_sysroot(rustc: &Path) -> Result<PathBuf> {
    find_sysroot(rustc).with_context(|| format!("{} does not start", rustc.display()))
}

fn find_sysroot(rustc: &Path) -> Option<PathBuf> {
    let output = Command::new(rustc)
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(text.trim()))
}

/// Whether a compiler has the standard library of a target.
fn has_library(rustc: &Path, triple: &str) -> bool {
    let folder = format!("lib/rustlib/{triple}/lib");
    find_sysroot(rustc).is_some_and(|sysroot| sysroot.join(folder).is_dir())
}
