//! The header is current, and programs in C work with a generated interface and both libraries.
#![cfg(unix)]

use spirula::{
    CLibraryFiles, CLibraryParts, CompileOptions, CompileOutput, ScheduleProfile,
    generate_c_library, read_located_input,
};
use spirula_futhark::compile::check_files;
use spirula_futhark::export::describe_exports;
use spirula_program::archive;
use spirula_testing::GoldenFiles;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

const SOURCES: [&str; 8] = [
    "lib.rs",
    "handle.rs",
    "failure.rs",
    "config.rs",
    "context.rs",
    "call.rs",
    "array.rs",
    "opaque.rs",
];

/// Held while the header is written or read, so that `BLESS=1` does not change it under a compiler.
static HEADER: Mutex<()> = Mutex::new(());

#[test]
fn the_header_is_current() {
    let _held = HEADER.lock();
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        include_guard: Some("SPIRULA_FUTHARK_H".to_owned()),
        header: Some(HEAD.to_owned()),
        cpp_compat: true,
        usize_is_size_t: true,
        documentation_style: cbindgen::DocumentationStyle::C99,
        ..cbindgen::Config::default()
    };
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES.iter().chain(&["storage.rs", "value.rs"]) {
        builder = builder.with_src(here().join("src").join(source));
    }
    let mut header = Vec::new();
    let bindings = builder.generate().expect("the sources can be read");
    bindings.write(&mut header);
    let header = String::from_utf8(header).expect("it is text");
    let mut expected = GoldenFiles::new();
    expected.compare_file(&here().join("include/spirula_futhark.h"), &header);
    expected.finish_comparison();
}

const HEAD: &str = "\
/* Library that C interfaces of compiled Futhark programs call. Generated from crates/bindings/futhark-c/src by
 * its test with BLESS=1; do not edit.
 *
 * A function that can fail returns SPIRULA_FUTHARK_SUCCESS or another code, or NULL. The context has the message. A type word
 * is the type of a scalar or of an array of scalars as Futhark writes it: i32, [][]f32. A value consists of scalars and
 * arrays, its parts. A context may be used by several threads. */";

/// Compiles the program of the tests for a kind of device, and returns its archive.
fn compile_archive(path: &str, bytes: &[u8], profile: ScheduleProfile) -> Vec<u8> {
    let options = CompileOptions {
        profile,
        ..CompileOptions::default()
    };
    let read = read_located_input(bytes, path).expect("the program is right");
    let compiled = read.compile_with(&options).expect("it can be compiled");
    let CompileOutput::Program(program) = compiled.output else {
        panic!("Futhark source is no module");
    };
    archive::write_archive(&program).expect("it is small")
}

/// The interface of the program of the tests.
fn generate_interface() -> CLibraryFiles {
    let path = here().join("tests/programs/shapes.fut");
    let path = path.to_str().expect("the path is UTF-8");
    let bytes = std::fs::read(path).expect("the program is here");
    let mut read = |file: &str| std::fs::read_to_string(file).map_err(|error| error.to_string());
    let checked = check_files(path, &mut read).expect("the program is right");
    let exports = describe_exports(&checked).expect("names of types are distinct");
    let processor = compile_archive("shapes.fut", &bytes, ScheduleProfile::CPU);
    let graphics = compile_archive("shapes.fut", &bytes, ScheduleProfile::GPU);
    generate_c_library(&CLibraryParts {
        name: "shapes",
        exports: &exports,
        processor: Some(&processor),
        graphics: Some(&graphics),
        parameters: &[],
    })
}

/// Whether there is a C compiler. Its absence is reported, and is a fault where tests run without a person.
fn has_compiler() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "there is no C compiler");
        eprintln!("NOT TESTED: no cc");
    }
    found
}

/// The folder in which this test's library is built.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    test.parent().expect("it is in a folder").to_owned()
}

/// A folder with the files of an interface.
fn write_interface(files: &CLibraryFiles) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in [
        ("shapes.h", &files.header),
        ("shapes.c", &files.source),
        ("shapes.json", &files.manifest),
    ] {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

#[test]
fn programs_in_c_work_with_both_libraries() {
    let _held = HEADER.lock();
    if !has_compiler() {
        return;
    }
    let folder = write_interface(&generate_interface());
    let libraries = libraries();
    let archive = libraries.join("libspirula_futhark_c.a");
    let shared = ["-L", path(&libraries), "-lspirula_futhark_c", "-lpthread"];
    let fixed = [path(&archive), "-lpthread", "-ldl", "-lm"];
    for (kind, link) in [("shared", &shared), ("static", &fixed)] {
        for name in ["values", "misuse", "threads"] {
            let program = folder.path().join(format!("{name}-{kind}"));
            // The header is included as well, so that its declarations have to agree with those of the interface.
            let mut compiler = Command::new("cc");
            compiler.args([
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pedantic",
                "-include",
            ]);
            compiler.arg(here().join("include/spirula_futhark.h"));
            compiler.arg("-I").arg(folder.path());
            compiler.arg(here().join(format!("tests/programs/{name}.c")));
            compiler.arg(folder.path().join("shapes.c"));
            run(compiler.args(link).arg("-o").arg(&program));
            run(Command::new(&program)
                .env("LD_LIBRARY_PATH", &libraries)
                .env("DYLD_LIBRARY_PATH", &libraries)
                .env_remove("SPIRULA_DEVICE"));
        }
    }
}

/// Runs a command, which has to succeed.
#[track_caller]
fn run(command: &mut Command) {
    let ran = command.output().expect("it starts");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}: {told}", ran.status);
}

fn path(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}
