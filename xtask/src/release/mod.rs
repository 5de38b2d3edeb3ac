//! Releases: archives of the command and the C libraries, packages, wheels, and what belongs to them.
//!
//! `cargo xtask release` makes `target/release-files` for all targets that are built on this system ([`targets`]). Programs for Linux
//! are linked by Zig, so that they run with glibc 2.28 ([`compile`]). An archive has the layout of a prefix ([`content`]), and is
//! run apart from the checkout ([`check`]). The same commit has the same names, times and order of files ([`file_tree`]).

mod bill;
mod check;
mod compile;
mod content;
mod debian;
mod dependencies;
mod file_tree;
mod licences;
mod recipes;
mod targets;

use anyhow::{Context, Result, ensure};
use clap::Args as ClapArgs;
use compile::ReleaseBuilder;
use debian::DebianPackage;
use file_tree::FileTree;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use targets::ReleaseTarget;

/// The folder of the files, in the target folder.
const FOLDER: &str = "release-files";

/// The list of checksums.
const CHECKSUMS: &str = "SHA256SUMS";

/// Arguments of the task.
#[derive(ClapArgs)]
pub struct ReleaseOptions {
    /// Make the files of this target alone; may be repeated. By default all targets that are built on this system
    #[arg(long, value_name = "TRIPLE")]
    target: Vec<String>,
    /// Make no wheels
    #[arg(long)]
    no_wheel: bool,
    /// Make files of a checkout with changes
    #[arg(long)]
    allow_dirty: bool,
}

/// A release that is being made.
struct ReleaseRun {
    root: PathBuf,
    /// The folder of its files.
    folder: PathBuf,
    /// The version of the workspace.
    version: &'static str,
    /// The time of the commit, which all files have.
    seconds: u64,
}

/// A target whose programs are built.
struct BuiltTarget<'a> {
    target: &'static ReleaseTarget,
    builder: ReleaseBuilder<'a>,
    programs: PathBuf,
}

/// Makes the files of a release.
///
/// # Errors
/// When the checkout has changes, a tool is missing, a build fails, or a file does not work.
pub fn make_release(root: &Path, options: &ReleaseOptions) -> Result<()> {
    let targets = targets::choose_targets(&options.target)?;
    if !options.allow_dirty {
        let changes = ask_git(root, &["status", "--porcelain"])?;
        ensure!(
            changes.is_empty(),
            "the checkout has changes (see --allow-dirty):\n{changes}"
        );
    }
    let seconds = ask_git(root, &["log", "-1", "--format=%ct"])?;
    let run = ReleaseRun {
        root: root.to_owned(),
        folder: root.join("target").join(FOLDER),
        version: env!("CARGO_PKG_VERSION"),
        seconds: seconds.parse().context("git states no time")?,
    };
    // All compilers are found before the first build, which takes minutes.
    let mut builders = Vec::new();
    for target in &targets {
        builders.push(ReleaseBuilder::find_builder(root, target)?);
    }
    if run.folder.exists() {
        fs::remove_dir_all(&run.folder)?;
    }
    fs::create_dir_all(&run.folder)?;
    let mut built = Vec::new();
    for (target, builder) in targets.into_iter().zip(builders) {
        let programs = builder.build_programs()?;
        built.push(BuiltTarget {
            target,
            builder,
            programs,
        });
    }
    let shared = content::gather_shared_files(root, &run.find_command(&built)?)?;
    for one in &built {
        run.write_archive(one, shared.clone())?;
    }
    if !options.no_wheel {
        // A wheel contains a library, which a program with the C library inside does not load.
        for one in built.iter().filter(|one| one.target.has_libraries()) {
            one.builder.build_wheel(&run.folder)?;
        }
    }
    run.write_source()?;
    run.write_checksums()
}

impl ReleaseRun {
    /// A command that runs here: one of those that were built, or that of a build in the dev profile.
    fn find_command(&self, built: &[BuiltTarget]) -> Result<PathBuf> {
        if let Some(one) = built.iter().find(|one| one.target.runs_here()) {
            let name = format!("spirula{}", one.target.program_suffix);
            return Ok(one.programs.join(name));
        }
        let mut build = Command::new("cargo");
        build
            .args(["build", "--locked", "-p", "spirula-cli"])
            .current_dir(&self.root);
        content::run_command(&mut build)?;
        let name = format!("spirula{}", std::env::consts::EXE_SUFFIX);
        Ok(self.root.join("target/debug").join(name))
    }

    /// Writes the archive of a target with its bill, and its package for Debian, and runs the programs.
    fn write_archive(&self, built: &BuiltTarget, mut tree: FileTree) -> Result<()> {
        let target = built.target;
        let selection = compile::select_packages(target);
        let graph = dependencies::read_dependencies(&self.root, target.triple, &selection)?;
        let bill = bill::write_bill(&self.root, &graph, self.version, target.triple)?;
        let stem = format!("spirula-{}-{}", self.version, target.triple);
        fs::write(self.folder.join(format!("{stem}.cdx.json")), &bill)?;
        tree.add_data(format!("{}/bill.cdx.json", content::DOCUMENTS), bill);
        let licences = licences::write_licences(&graph)?;
        tree.add_data(format!("{}/THIRD-PARTY.txt", content::DOCUMENTS), licences);
        content::add_programs(&mut tree, &self.root, &built.programs, target)?;
        check::check_glibc(&tree, target)?;
        let archive = self.folder.join(format!("{stem}.tar.gz"));
        fs::write(&archive, tree.pack_archive(Some(&stem), self.seconds)?)?;
        if !check::check_archive(&archive, target, &self.root)? {
            eprintln!(
                "NOT RUN: the programs of {}, which are for another processor",
                target.triple
            );
        }
        if let Some(architecture) = target.debian {
            let package = DebianPackage {
                version: self.version,
                architecture,
                seconds: self.seconds,
            };
            let name = format!("spirula_{}_{architecture}.deb", self.version);
            fs::write(
                self.folder.join(name),
                package.pack_package(&self.root, &tree)?,
            )?;
        }
        Ok(())
    }

    /// Writes the source as an archive, and the recipes that build from it.
    fn write_source(&self) -> Result<()> {
        let name = format!("spirula-{}-source.tar.gz", self.version);
        let prefix = format!("--prefix=spirula-{}/", self.version);
        let mut pack = Command::new("git");
        pack.args(["archive", "--format=tar", &prefix, "HEAD"])
            .current_dir(&self.root);
        let bytes = file_tree::compress_bytes(&content::run_command(&mut pack)?)?;
        let sum = write_digest(&bytes)?;
        fs::write(self.folder.join(name), bytes)?;
        recipes::write_recipes(&self.root, &self.folder, self.version, &sum)
    }

    /// Writes the checksums of all files, and prints their sizes.
    fn write_checksums(&self) -> Result<()> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            paths.push(entry?.path());
        }
        paths.sort();
        let mut list = String::new();
        for path in paths {
            let bytes = file_tree::read_file(&path)?;
            let name = path.file_name().unwrap_or_default().display().to_string();
            println!("{:8.2} MB  {name}", bytes.len() as f64 / 1e6);
            writeln!(list, "{}  {name}", write_digest(&bytes)?)?;
        }
        fs::write(self.folder.join(CHECKSUMS), list)?;
        println!("the files are in {}", self.folder.display());
        Ok(())
    }
}

/// The SHA-256 of bytes in hexadecimal digits.
fn write_digest(bytes: &[u8]) -> Result<String> {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

/// Runs Git, and returns what it prints without the end of the line.
fn ask_git(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = content::run_command(Command::new("git").args(arguments).current_dir(root))?;
    Ok(String::from_utf8(output)?.trim_end().to_owned())
}
