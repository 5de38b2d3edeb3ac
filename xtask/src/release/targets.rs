//! The systems that releases are made for.

use anyhow::{Result, bail};

/// How the programs of a target are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseLinking {
    /// By the linker of the system, which is the target's.
    System,
    /// By Zig, against a version of glibc.
    Glibc(GlibcVersion),
    /// By Zig, with the C library inside.
    Static,
}

/// A version of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlibcVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

/// The oldest glibc that programs for Linux run with: that of the platform `manylinux_2_28` of Python's packages.
pub const OLDEST_GLIBC: GlibcVersion = GlibcVersion {
    major: 2,
    minor: 28,
};

impl std::fmt::Display for GlibcVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A system that a release has files for.
#[derive(Debug)]
pub struct ReleaseTarget {
    /// Rust's name of the target.
    pub triple: &'static str,
    /// The operating system on which it is built, as [`std::env::consts::OS`] names it.
    pub host: &'static str,
    /// The processor, as [`std::env::consts::ARCH`] names it.
    pub processor: &'static str,
    /// The linker.
    pub linking: ReleaseLinking,
    /// Debian's name of the architecture, if there is a package for Debian.
    pub debian: Option<&'static str>,
    /// File names of shared libraries around their stem.
    pub shared_library: [&'static str; 2],
    /// File names of static libraries around their stem.
    pub static_library: [&'static str; 2],
    /// File names, around their stem, of the libraries by which programs are linked with shared ones, where these are others.
    pub import_library: Option<[&'static str; 2]>,
    /// The extension of programs, with its point.
    pub program_suffix: &'static str,
}

/// A target of Linux.
const LINUX: ReleaseTarget = ReleaseTarget {
    triple: "x86_64-unknown-linux-gnu",
    host: "linux",
    processor: "x86_64",
    linking: ReleaseLinking::Glibc(OLDEST_GLIBC),
    debian: Some("amd64"),
    shared_library: ["lib", ".so"],
    static_library: ["lib", ".a"],
    import_library: None,
    program_suffix: "",
};

/// A target of macOS.
const MAC: ReleaseTarget = ReleaseTarget {
    triple: "aarch64-apple-darwin",
    host: "macos",
    processor: "aarch64",
    linking: ReleaseLinking::System,
    debian: None,
    shared_library: ["lib", ".dylib"],
    ..LINUX
};

/// All targets.
pub const TARGETS: &[ReleaseTarget] = &[
    LINUX,
    ReleaseTarget {
        triple: "aarch64-unknown-linux-gnu",
        processor: "aarch64",
        debian: Some("arm64"),
        ..LINUX
    },
    ReleaseTarget {
        triple: "x86_64-unknown-linux-musl",
        linking: ReleaseLinking::Static,
        debian: None,
        ..LINUX
    },
    ReleaseTarget {
        triple: "aarch64-unknown-linux-musl",
        processor: "aarch64",
        linking: ReleaseLinking::Static,
        debian: None,
        ..LINUX
    },
    MAC,
    ReleaseTarget {
        triple: "x86_64-apple-darwin",
        processor: "x86_64",
        ..MAC
    },
    ReleaseTarget {
        triple: "x86_64-pc-windows-msvc",
        host: "windows",
        processor: "x86_64",
        linking: ReleaseLinking::System,
        debian: None,
        shared_library: ["", ".dll"],
        static_library: ["", ".lib"],
        import_library: Some(["", ".dll.lib"]),
        program_suffix: ".exe",
    },
];

impl ReleaseTarget {
    /// Whether the target's shared libraries can be made. A program with the C library inside loads none.
    pub fn has_libraries(&self) -> bool {
        self.linking != ReleaseLinking::Static
    }

    /// Whether this machine runs the target's programs.
    pub fn runs_here(&self) -> bool {
        self.host == std::env::consts::OS && self.processor == std::env::consts::ARCH
    }

    /// Whether the names of SPIRV-Tools' programs can be links.
    pub fn has_links(&self) -> bool {
        self.host != "windows"
    }
}

/// The targets with these names, or all that are built on this system.
///
/// # Errors
/// When there is no such target, or it is built on another system.
pub fn choose_targets(names: &[String]) -> Result<Vec<&'static ReleaseTarget>> {
    let here: Vec<_> = TARGETS
        .iter()
        .filter(|target| target.host == std::env::consts::OS)
        .collect();
    if names.is_empty() {
        return Ok(here);
    }
    let find = |name: &String| {
        if let Some(target) = here.iter().find(|target| target.triple == name) {
            return Ok(*target);
        }
        match TARGETS.iter().find(|target| target.triple == name) {
            Some(other) => bail!("{name} is built on {} only", other.host),
            None => {
                let known: Vec<_> = here.iter().map(|target| target.triple).collect();
                bail!("there is no target {name}; known: {}", known.join(", "))
            }
        }
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_targets_are_refused() {
        let choose = |name: &str| choose_targets(&[name.to_owned()]);
        let error = choose("x86_64-unknown-linux").expect_err("there is none");
        assert!(error.to_string().contains("there is no target"), "{error}");
        let other = TARGETS
            .iter()
            .find(|target| target.host != std::env::consts::OS)
            .expect("there are several systems");
        let error = choose(other.triple).expect_err("it is built elsewhere");
        assert!(error.to_string().contains("is built on"), "{error}");
        let all = choose_targets(&[]).expect("this system has targets");
        assert!(all.iter().any(|target| target.runs_here()));
    }
}
