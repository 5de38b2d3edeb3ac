//! Tests of `spirula pkg` with local repositories: git's own `url.BASE.insteadOf` leads to them.

use crate::harness::{CliOutput, ScratchFolder};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Repositories of packages, and a project that requires them.
struct PackageWorld {
    scratch: ScratchFolder,
}

/// Requirements of a package, each on a line.
type RequirementLines<'a> = &'a [&'a str];

impl PackageWorld {
    fn new() -> PackageWorld {
        let scratch = ScratchFolder::new();
        let repositories = scratch.text("repositories/");
        let config = format!(
            "[url \"{repositories}\"]\n\tinsteadOf = https://\n[user]\n\tname = A\n\temail = a@example.org\n\
             [safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n"
        );
        scratch.file("gitconfig", config);
        fs::create_dir_all(scratch.path("project")).expect("a folder");
        PackageWorld { scratch }
    }

    fn prepare(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", self.scratch.path("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "2020-02-03T04:05:06+0100")
            .env("GIT_COMMITTER_DATE", "2020-02-03T04:05:06+0100");
        command
    }

    fn git(&self, repository: &Path, arguments: &[&str]) -> String {
        let output = self
            .prepare("git", repository)
            .args(arguments)
            .output()
            .expect("git starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {told}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Commits a version of a package, and tags it unless the version is empty. Returns the hash of the commit.
    fn release(&self, path: &str, version: &str, requires: RequirementLines<'_>) -> String {
        let repository = path.split('@').next().unwrap_or(path);
        let folder = self.scratch.path(&format!("repositories/{repository}"));
        if !folder.exists() {
            fs::create_dir_all(&folder).expect("a folder");
            self.git(&folder, &["init", "-q"]);
        }
        let requires: String = requires.iter().map(|line| format!("  {line}\n")).collect();
        let base = format!("repositories/{repository}");
        let manifest = format!("package {path}\n\nrequire {{\n{requires}}}\n");
        self.scratch.file(&format!("{base}/futhark.pkg"), manifest);
        self.scratch.file(
            &format!("{base}/lib/{path}/part/file.fut"),
            format!("def version = \"{path} {version}\"\n"),
        );
        self.scratch
            .file(&format!("{base}/tests/ignored.fut"), "def x = 1\n");
        self.git(&folder, &["add", "-A"]);
        self.git(&folder, &["commit", "-q", "-m", "release"]);
        if !version.is_empty() {
            self.git(&folder, &["tag", &format!("v{version}")]);
        }
        self.git(&folder, &["rev-parse", "HEAD"])
    }

    fn pkg(&self, arguments: &[&str]) -> CliOutput {
        let folder = self.scratch.path("project");
        let mut command = self.prepare(env!("CARGO_BIN_EXE_spirula"), &folder);
        let output = command.arg("pkg").args(arguments).output();
        output.expect("the command starts").into()
    }

    fn manifest(&self) -> String {
        fs::read_to_string(self.scratch.path("project/futhark.pkg")).expect("a manifest")
    }

    /// The installed version of a package.
    fn installed(&self, path: &str) -> Option<String> {
        let file = self
            .scratch
            .path(&format!("project/lib/{path}/part/file.fut"));
        let text = fs::read_to_string(file).ok()?;
        Some(text.split('"').nth(1)?.to_owned())
    }
}

#[test]
fn packages_are_added_installed_upgraded_and_removed() {
    let world = PackageWorld::new();
    let old = world.release("a.org/x/foo", "0.1.0", &[]);
    world.release("a.org/x/bar", "1.0.0", &[]);
    world.release("a.org/x/bar", "1.1.0", &[]);
    let new = world.release("a.org/x/foo", "0.2.0", &["a.org/x/bar 1.0.0"]);
    let next = world.release("a.org/x/foo@2", "2.0.0", &[]);

    let told = world.pkg(&["init", "b.org/own"]).ok();
    assert!(told.text().contains("futhark.pkg"), "{}", told.text());
    assert_eq!(world.manifest(), "package b.org/own\n\nrequire {\n}\n");
    world
        .scratch
        .file("project/lib/b.org/own/own.fut", "def own = 1\n");
    world
        .scratch
        .file("project/lib/stray.fut", "def stray = 1\n");

    world.pkg(&["add", "a.org/x/foo", "0.1.0"]).ok();
    world.pkg(&["add", "a.org/x/foo@2"]).ok();
    world.pkg(&["sync"]).ok();
    assert_eq!(
        world.manifest(),
        format!(
            "package b.org/own\n\nrequire {{\n  a.org/x/foo 0.1.0 #{old}\n  a.org/x/foo@2 2.0.0 #{next}\n}}\n"
        )
    );
    assert_eq!(
        world.installed("a.org/x/foo").as_deref(),
        Some("a.org/x/foo 0.1.0")
    );
    assert_eq!(
        world.installed("a.org/x/foo@2").as_deref(),
        Some("a.org/x/foo@2 2.0.0")
    );
    assert!(world.scratch.path("project/lib/b.org/own/own.fut").exists());
    assert!(!world.scratch.path("project/lib/stray.fut").exists());
    assert!(!world.scratch.path("project/lib~old").exists());

    let told = world.pkg(&["upgrade"]).ok().text();
    assert!(
        told.contains("upgraded a.org/x/foo 0.1.0 to 0.2.0"),
        "{told}"
    );
    assert!(
        world
            .manifest()
            .contains(&format!("a.org/x/foo 0.2.0 #{new}\n"))
    );
    world.pkg(&["sync"]).ok();
    // The oldest version that all requirements allow, and not the newest one.
    assert_eq!(
        world.installed("a.org/x/bar").as_deref(),
        Some("a.org/x/bar 1.0.0")
    );
    let told = world.pkg(&["check"]).ok().text();
    assert_eq!(
        told,
        "a.org/x/bar 1.0.0\na.org/x/foo 0.2.0\na.org/x/foo@2 2.0.0\n"
    );

    world.pkg(&["remove", "a.org/x/foo"]).ok();
    world.pkg(&["sync"]).ok();
    assert_eq!(world.installed("a.org/x/foo"), None);
    assert_eq!(world.installed("a.org/x/bar"), None);
    let told = world.pkg(&["versions", "a.org/x/foo"]).ok().text();
    assert_eq!(told, "0.1.0\n0.2.0\n");
}

#[test]
fn packages_without_releases_have_commits_as_versions() {
    let world = PackageWorld::new();
    let commit = world.release("a.org/x/foo", "", &[]);
    world.pkg(&["add", "a.org/x/foo"]).ok();
    let version = format!("0.0.0-20200203030506+{commit}");
    assert_eq!(
        world.manifest(),
        format!("require {{\n  a.org/x/foo {version}\n}}\n")
    );
    world.pkg(&["sync"]).ok();
    assert_eq!(
        world.installed("a.org/x/foo").as_deref(),
        Some("a.org/x/foo ")
    );
}

#[test]
fn comments_stay_in_the_manifest() {
    let world = PackageWorld::new();
    world.release("a.org/x/foo", "0.1.0", &[]);
    let manifest = "-- Ours.\nrequire  {\n-- Theirs.\n  a.org/x/foo 0.1.0\n}\n";
    world.scratch.file("project/futhark.pkg", manifest);
    world.pkg(&["fmt"]).ok();
    assert_eq!(
        world.manifest(),
        "-- Ours.\nrequire {\n  -- Theirs.\n  a.org/x/foo 0.1.0\n}\n"
    );
    world.pkg(&["remove", "a.org/x/foo"]).ok();
    assert_eq!(world.manifest(), "-- Ours.\nrequire {\n  -- Theirs.\n}\n");
}

#[test]
fn wrong_versions_are_refused() {
    let world = PackageWorld::new();
    let actual = world.release("a.org/x/foo", "0.1.0", &[]);
    world
        .pkg(&["add", "a.org/x/foo", "0.3.0"])
        .fails(1, "does not have a version 0.3.0")
        .fails(1, "known versions: 0.1.0");
    world
        .pkg(&["add", "a.org/x/foo", "2.0.0"])
        .fails(1, "a.org/x/foo@2");
    world.pkg(&["add", "a.org/x/none"]).fails(1, "git clone");
    world.pkg(&["add", "a.org/x/foo", "1.0"]).fails(2, "1.0");
    world
        .pkg(&["add", "../x"])
        .fails(2, "../x is not a package path");
    world
        .pkg(&["remove", "a.org/x/foo"])
        .fails(1, "does not require a.org/x/foo");
    assert!(!world.scratch.path("project/futhark.pkg").exists());

    let manifest = "require {\n  a.org/x/foo 0.1.0 #abcdef\n}\n";
    world.scratch.file("project/futhark.pkg", manifest);
    let told = world.pkg(&["sync"]).fails(1, "states abcdef");
    assert!(told.err.contains(&actual), "{}", told.err);
    assert!(!world.scratch.path("project/lib").exists());
}

#[test]
fn malformed_manifests_are_shown() {
    let world = PackageWorld::new();
    world
        .scratch
        .file("project/futhark.pkg", "require {\n  a.org/x/foo 1\n}\n");
    world
        .pkg(&["check"])
        .fails(1, "a version X.Y.Z is expected")
        .fails(1, "futhark.pkg:2:15");
    world.pkg(&["init", "a.org/x"]).fails(1, "already exists");
}

#[test]
fn own_packages_need_source() {
    let world = PackageWorld::new();
    world.pkg(&["create", "b.org/own"]).ok();
    world.pkg(&["check"]).fails(1, "has no .fut file");
    world
        .scratch
        .file("project/lib/b.org/own/deep/own.fut", "def own = 1\n");
    world.pkg(&["check"]).ok();
}

#[cfg(unix)]
#[test]
fn links_that_leave_a_package_are_refused() {
    let world = PackageWorld::new();
    world.release("a.org/x/foo", "0.1.0", &[]);
    let folder = world.scratch.path("repositories/a.org/x/foo");
    let link = folder.join("lib/a.org/x/foo/link.fut");
    std::os::unix::fs::symlink("part/file.fut", &link).expect("a link");
    world.git(&folder, &["add", "-A"]);
    world.git(&folder, &["commit", "-q", "-m", "link inside"]);
    world.git(&folder, &["tag", "v0.2.0"]);
    fs::remove_file(&link).expect("it is there");
    std::os::unix::fs::symlink("../../../../../../secret", &link).expect("a link");
    world.git(&folder, &["add", "-A"]);
    world.git(&folder, &["commit", "-q", "-m", "link outside"]);
    world.git(&folder, &["tag", "v0.3.0"]);
    world.pkg(&["add", "a.org/x/foo", "0.2.0"]).ok();
    world.pkg(&["sync"]).ok();
    let copied = fs::read_to_string(world.scratch.path("project/lib/a.org/x/foo/link.fut"));
    assert_eq!(
        copied.expect("a file"),
        "def version = \"a.org/x/foo 0.1.0\"\n"
    );
    world.pkg(&["add", "a.org/x/foo", "0.3.0"]).ok();
    world
        .pkg(&["sync"])
        .fails(1, "link.fut, which is not a file");
}

#[test]
fn an_absent_git_is_reported() {
    let world = PackageWorld::new();
    let mut command = world.prepare(
        env!("CARGO_BIN_EXE_spirula"),
        &world.scratch.path("project"),
    );
    let output = command
        .args(["pkg", "versions", "a.org/x"])
        .env("PATH", world.scratch.path("project"))
        .output();
    let told: CliOutput = output.expect("the command starts").into();
    told.fails(1, "the program git was not found")
        .fails(1, "install git");
}
