//! Link options of the command.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    state_origin();
    let of = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // The tables of the grammar hold 30,000 addresses. In a position-independent program they are relocated at each
    // start, which takes longer than compiling a small module.
    if of("OS") == "linux" && of("ENV") == "gnu" {
        if std::env::var_os("CARGO_FEATURE_FIXED_ADDRESS").is_some() {
            println!("cargo::rustc-link-arg-bin=spirula=-no-pie");
        }
        link_unwinder();
        if std::env::var("DEBUG").is_ok_and(|debug| debug == "false") {
            strip_names();
            fold_functions();
        }
    }
}

/// Leaves the names of functions out of the command. Cargo forgets the profile's `strip` for a package that has settings of
/// its own.
fn strip_names() {
    println!("cargo::rustc-link-arg-bin=spirula=-Wl,--strip-all");
}

/// Links functions of equal machine code once, which makes the command a fiftieth smaller. Such functions are instances of
/// one generic function for types of one shape. The language promises no function an address of its own
/// (`std::ptr::fn_addr_eq`), so that no program may depend on it.
///
/// The linkers lld, mold and gold have the option, and GNU's has not. A program without content shows which one is used.
fn fold_functions() {
    const OPTION: &str = "-Wl,--icf=all";
    let variable = |name: &str| std::env::var_os(name);
    let (Some(compiler), Some(target), Some(folder)) =
        (variable("RUSTC"), variable("TARGET"), variable("OUT_DIR"))
    else {
        return;
    };
    let source = Path::new(&folder).join("empty.rs");
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return;
    }
    let mut probe = Command::new(compiler);
    probe.arg(&source).arg("--target").arg(target);
    probe.arg("--out-dir").arg(&folder);
    if let Ok(linker) = std::env::var("RUSTC_LINKER") {
        probe.arg(format!("-Clinker={linker}"));
    }
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    probe.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    probe.arg(format!("-Clink-arg={OPTION}"));
    if probe.output().is_ok_and(|output| output.status.success()) {
        println!("cargo::rustc-link-arg-bin=spirula={OPTION}");
    }
}

/// States the target, and the commit of a release build. Debug builds state no commit, so that commits do not rebuild
/// them.
fn state_origin() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo::rustc-env=SPIRULA_TARGET={}", variable("TARGET"));
    if variable("PROFILE") != "release" {
        return;
    }
    let package = variable("CARGO_MANIFEST_DIR");
    let run_git = |args: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(&package)
            .args(args)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout)
            .ok()
            .map(|text| text.trim().to_owned())
    };
    // The log of the head changes with each commit and checkout.
    if let Some(log) = run_git(&[
        "rev-parse",
        "--path-format=absolute",
        "--git-path",
        "logs/HEAD",
    ]) && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    let packaged = || {
        let record = std::fs::read_to_string(Path::new(&package).join(".cargo_vcs_info.json"));
        let record = record.ok()?;
        let (_, rest) = record.split_once("\"sha1\": \"")?;
        rest.get(..12).map(str::to_owned)
    };
    let commit = packaged().or_else(|| run_git(&["rev-parse", "--short=12", "HEAD"]));
    if let Some(commit) = commit {
        println!("cargo::rustc-env=SPIRULA_COMMIT={commit}");
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
