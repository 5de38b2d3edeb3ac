//! Link options of the command.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // The tables of the grammar hold 30,000 addresses. In a position-independent program they are relocated at each
    // start, which takes longer than compiling a small module.
    if of("OS") == "linux" && of("ENV") == "gnu" {
        if std::env::var_os("CARGO_FEATURE_FIXED_ADDRESS").is_some() {
            println!("cargo::rustc-link-arg-bin=spirula=-no-pie");
        }
        link_unwinder();
    }
}

/// Links the unwinder statically, where the C compiler has it as an archive. Loading a library for it takes a twentieth
/// of the time for a small module.
///
/// The standard library asks for `-lgcc_s` wherever it is linked, so a linker script of that name
/// stands in for it. Without the archive the shared library is used, as ever.
fn link_unwinder() {
    let archives = ["libgcc_eh.a", "libgcc.a"].map(find_static_archive);
    let (Some(out), [Some(unwinder), Some(arithmetic)]) = (std::env::var_os("OUT_DIR"), archives)
    else {
        return;
    };
    let script = Path::new(&out).join("libgcc_s.so");
    if std::fs::write(script, format!("GROUP ( {unwinder} {arithmetic} )\n")).is_ok() {
        // Only the command is linked so, and no library that contains it.
        println!(
            "cargo::rustc-link-arg-bin=spirula=-L{}",
            Path::new(&out).display()
        );
    }
}

/// Path of an archive of the C compiler, if it has the archive and builds for this machine.
fn find_static_archive(name: &str) -> Option<String> {
    if std::env::var("HOST").ok()? != std::env::var("TARGET").ok()? {
        return None;
    }
    let found = Command::new("cc")
        .arg(format!("-print-file-name={name}"))
        .output()
        .ok()?;
    let path = String::from_utf8(found.stdout).ok()?.trim().to_owned();
    (Path::new(&path).is_absolute() && !path.contains(char::is_whitespace)).then_some(path)
}
