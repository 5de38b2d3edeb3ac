//! The header is current, and a program in C works with the static and the shared library.
#![cfg(unix)]

use spirula_testing::GoldenFiles;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

const SOURCES: [&str; 9] = [
    "lib.rs",
    "handle.rs",
    "error.rs",
    "text.rs",
    "module.rs",
    "inspect.rs",
    "flow.rs",
    "reflect.rs",
    "edit.rs",
];

/// Held while the header is written or read, so that `BLESS=1` does not change it under a compiler.
static HEADER: Mutex<()> = Mutex::new(());

#[test]
fn the_header_is_current() {
    let _held = HEADER.lock();
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        include_guard: Some("SPIRULA_H".to_owned()),
        header: Some(HEAD.to_owned()),
        cpp_compat: true,
        usize_is_size_t: true,
        documentation_style: cbindgen::DocumentationStyle::C99,
        ..cbindgen::Config::default()
    };
    config.enumeration.rename_variants = cbindgen::RenameRule::QualifiedScreamingSnakeCase;
    // Values are passed as numbers, so that invalid ones are errors.
    config.export.include.push("SpirulaWhere".to_owned());
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(here().join("src").join(source));
    }
    let mut header = Vec::new();
    let bindings = builder.generate().expect("the sources can be read");
    bindings.write(&mut header);
    let header = String::from_utf8(header).expect("it is text");
    let mut expected = GoldenFiles::new();
    expected.compare_file(&here().join("include/spirula.h"), &header);
    expected.finish_comparison();
}

const HEAD: &str = "\
/* C interface of Spirula's SPIR-V library. Generated from crates/bindings/c/src by its test with
 * BLESS=1; do not edit.
 *
 * A function that can fail returns SpirulaStatus and has a last parameter `error`, which may be
 * NULL. If it is not NULL, a failure stores a SpirulaError there, which the caller frees. Results
 * are written through pointers, and only on success. Functions, blocks and instructions are numbers
 * that stay valid while the module changes; SPIRULA_NONE stands for none, and numbers that refer to
 * nothing are errors. Functions that fill a buffer write as much as it holds, and return the full
 * length. A module may be used by one thread at a time. */";

/// The folder in which this test's library is built.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    test.parent().expect("it is in a folder").to_owned()
}

#[test]
fn a_program_in_c_works_with_both_libraries() {
    let _held = HEADER.lock();
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let libraries = libraries();
    let shared = ["-L", path(&libraries), "-lspirula_c"].map(str::to_owned);
    let archive = libraries.join("libspirula_c.a");
    let system = ["-lpthread", "-ldl", "-lm"];
    let parts = [path(&archive)].into_iter().chain(system);
    let fixed: Vec<String> = parts.map(str::to_owned).collect();
    let mut expected = GoldenFiles::new();
    for (name, link) in [("shared", &shared[..]), ("static", &fixed[..])] {
        let program = folder.path().join(name);
        let built = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
            .arg(here().join("include"))
            .arg(here().join("examples/loop.c"))
            .args(link)
            .arg("-o")
            .arg(&program)
            .output()
            .expect("the compiler starts");
        assert!(built.status.success(), "{}", said(&built.stderr));
        let run = run_program(&program, &[&here().join("examples/loop.spvasm")]);
        assert!(run.status.success(), "{name}: {}", said(&run.stderr));
        expected.compare_file(&here().join("examples/loop.expected"), &said(&run.stdout));
        let missing = folder.path().join("broken.spvasm");
        std::fs::write(&missing, "OpCapability Nothing\n").expect("a file can be written");
        let run = run_program(&program, &[&missing]);
        assert_eq!(run.status.code(), Some(1));
        assert!(
            said(&run.stderr).contains("Nothing"),
            "{}",
            said(&run.stderr)
        );
        assert!(
            said(&run.stderr).contains("(1: 13 to 20)"),
            "{}",
            said(&run.stderr)
        );
    }
    expected.finish_comparison();
}

#[test]
fn the_program_of_the_book_prints_a_module() {
    let _held = HEADER.lock();
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let program = folder.path().join("modules");
    let built = Command::new("cc")
        .arg(here().join("examples/modules.c"))
        .arg("-I")
        .arg(here().join("include"))
        .args(["-L", path(&libraries()), "-lspirula_c", "-o"])
        .arg(&program)
        .output()
        .expect("the compiler starts");
    assert!(built.status.success(), "{}", said(&built.stderr));
    let run = run_program(&program, &[]);
    assert!(run.status.success(), "{}", said(&run.stderr));
    assert!(said(&run.stdout).contains("OpTypeInt 32 0"));
}

#[test]
fn pkg_config_finds_the_library() {
    let text = include_str!("../spirula_c.pc");
    let version = concat!("\nVersion: ", env!("CARGO_PKG_VERSION"), "\n");
    assert!(text.contains(version), "{text}");
    let asked = Command::new("pkg-config")
        .args([
            "--define-variable=prefix=/opt/spirula",
            "--cflags",
            "--libs",
        ])
        .arg("spirula_c")
        .env("PKG_CONFIG_PATH", here())
        .output();
    let Ok(asked) = asked else {
        eprintln!("NOT TESTED: no pkg-config");
        return;
    };
    let flags = said(&asked.stdout);
    assert!(asked.status.success(), "{}", said(&asked.stderr));
    for flag in [
        "-I/opt/spirula/include",
        "-L/opt/spirula/lib",
        "-lspirula_c",
    ] {
        assert!(flags.contains(flag), "{flags}");
    }
}

/// Whether there is a C compiler. Where tests run unattended there must be one.
fn has_compiler() -> bool {
    let is_there = Command::new("cc").arg("--version").output().is_ok();
    if !is_there {
        assert!(std::env::var_os("CI").is_none(), "there is no C compiler");
        eprintln!("NOT TESTED: no cc");
    }
    is_there
}

/// Runs a program that is linked with the shared library.
fn run_program(program: &Path, arguments: &[&Path]) -> Output {
    Command::new(program)
        .args(arguments)
        .env("LD_LIBRARY_PATH", libraries())
        .env("DYLD_LIBRARY_PATH", libraries())
        .output()
        .expect("the program starts")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
