//! The files of an archive: a tree that a user unpacks anywhere, or that a package puts under `/usr`.

use super::file_tree::{FileTree, read_file};
use super::targets::ReleaseTarget;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// The C libraries: the stem of the library, and its folder of sources.
const LIBRARIES: &[CLibrary] = &[
    CLibrary {
        stem: "spirula_c",
        folder: "crates/bindings/c",
        is_linked: true,
    },
    CLibrary {
        stem: "spirula_futhark_c",
        folder: "crates/bindings/futhark-c",
        is_linked: true,
    },
    CLibrary {
        stem: "spirula_opencl",
        folder: "crates/bindings/opencl-icd",
        is_linked: false,
    },
];

/// A library with an interface of C.
struct CLibrary {
    stem: &'static str,
    folder: &'static str,
    /// Whether programs link with it. Such libraries have a header, a file for pkg-config, and a static form.
    is_linked: bool,
}

/// A shell, and the place of its completions.
struct ShellCompletions {
    shell: &'static str,
    path: &'static str,
}

/// The shells with completions.
const SHELLS: &[ShellCompletions] = &[
    ShellCompletions {
        shell: "bash",
        path: "share/bash-completion/completions/spirula",
    },
    ShellCompletions {
        shell: "zsh",
        path: "share/zsh/site-functions/_spirula",
    },
    ShellCompletions {
        shell: "fish",
        path: "share/fish/vendor_completions.d/spirula.fish",
    },
    ShellCompletions {
        shell: "powershell",
        path: "share/spirula/completions/spirula.ps1",
    },
];

/// The programs of SPIRV-Tools under whose names the command takes their options.
const SPIRV_TOOLS: &[&str] = &[
    "spirv-as",
    "spirv-cfg",
    "spirv-dis",
    "spirv-link",
    "spirv-opt",
    "spirv-reduce",
    "spirv-val",
];

/// The folder of links by the names of SPIRV-Tools. It is no folder of programs, as installed programs may have these names.
pub const LINK_FOLDER: &str = "lib/spirula/spirv-tools";

/// The folder of documents.
pub const DOCUMENTS: &str = "share/doc/spirula";

/// Documents, and their sources in the repository.
const TEXTS: &[[&str; 2]] = &[
    ["README.md", "packaging/archive/README.md"],
    ["CHANGELOG.md", "CHANGELOG.md"],
    ["LICENSE-APACHE", "LICENSE-APACHE"],
    ["LICENSE-MIT", "LICENSE-MIT"],
];

/// Adds the command and the libraries that a build made.
///
/// # Errors
/// When one of them cannot be read.
pub fn add_programs(
    tree: &mut FileTree,
    root: &Path,
    built: &Path,
    target: &ReleaseTarget,
) -> Result<()> {
    let command = format!("spirula{}", target.program_suffix);
    tree.add_program(format!("bin/{command}"), read_file(&built.join(&command))?);
    if target.has_links() {
        for name in SPIRV_TOOLS {
            tree.add_link(format!("{LINK_FOLDER}/{name}"), "../../../bin/spirula");
        }
    }
    if !target.has_libraries() {
        return Ok(());
    }
    for library in LIBRARIES {
        let name = |[start, end]: [&str; 2]| format!("{start}{}{end}", library.stem);
        let shared = name(target.shared_library);
        tree.copy_file(format!("lib/{shared}"), &built.join(&shared))?;
        if !library.is_linked {
            continue;
        }
        let others = [Some(target.static_library), target.import_library];
        for file in others.into_iter().flatten().map(name) {
            tree.copy_file(format!("lib/{file}"), &built.join(&file))?;
        }
        let folder = root.join(library.folder);
        tree.copy_folder("include", &folder.join("include"))?;
        let file = format!("{}.pc", library.stem);
        tree.copy_file(format!("lib/pkgconfig/{file}"), &folder.join(&file))?;
    }
    Ok(())
}

/// Makes the files that are the same on all systems. `command` is a command that runs here, from which completions and manual
/// pages come.
///
/// # Errors
/// When a file cannot be read, or the command fails.
pub fn gather_shared_files(root: &Path, command: &Path) -> Result<FileTree> {
    let mut tree = FileTree::default();
    for completions in SHELLS {
        let script = run_command(Command::new(command).args(["completions", completions.shell]))?;
        tree.add_data(completions.path, script);
    }
    let pages = tempfile::tempdir()?;
    run_command(Command::new(command).arg("man").arg(pages.path()))?;
    tree.copy_folder("share/man/man1", pages.path())?;
    tree.copy_folder("share/spirula/examples", &root.join("examples"))?;
    for [name, source] in TEXTS {
        tree.copy_file(format!("{DOCUMENTS}/{name}"), &root.join(source))?;
    }
    Ok(tree)
}

/// Runs a command, and returns its output.
///
/// # Errors
/// When it does not start, or fails.
pub fn run_command(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_owned();
    let output = command.output();
    let output = output.with_context(|| format!("{} does not start", name.display()))?;
    ensure!(
        output.status.success(),
        "{} fails: {}",
        name.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_the_names_that_the_command_knows() {
        let source = include_str!("../../../crates/app/cli/src/spirv_tools/mod.rs");
        let names: Vec<_> = source
            .lines()
            .filter_map(|line| line.trim().strip_prefix("name: \"")?.strip_suffix("\","))
            .collect();
        assert_eq!(names, SPIRV_TOOLS);
    }
}
