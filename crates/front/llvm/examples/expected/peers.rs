//! Peer tools: the tools that Spirula is compared with.

use spirula_spirv::binary::words_from_bytes;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerTool {
    /// Khronos' translator.
    Translator,
    /// LLVM's backend.
    Backend,
}

/// The folder of the tools, and the cache of their modules.
#[derive(Debug)]
pub struct PeerTools {
    programs: PathBuf,
    cache: PathBuf,
}

impl PeerTools {
    pub fn new(programs: &Path, cache: &Path) -> io::Result<PeerTools> {
        fs::create_dir_all(cache)?;
        Ok(PeerTools {
            programs: programs.to_owned(),
            cache: cache.to_owned(),
        })
    }

    /// The output of a peer for a file, with options that may be those of the other peer.
    pub fn run_peer(
        &self,
        peer: PeerTool,
        file: &Path,
        triple: &str,
        flags: &[String],
    ) -> Result<Vec<u32>, String> {
        let mut command = match peer {
            PeerTool::Translator => make_translator_command(&self.programs, flags),
            PeerTool::Backend => make_backend_command(&self.programs, triple, flags),
        };
        command.arg(
            self.with_triple(peer, file, triple)
                .map_err(|e| e.to_string())?,
        );
        let mut hasher = DefaultHasher::new();
        format!("{command:?}").hash(&mut hasher);
        let output = self.cache.join(format!("{:016x}.spv", hasher.finish()));
        if !output.exists() {
            command.arg("-o").arg(&output).stdin(Stdio::null());
            let done = command.output().map_err(|e| e.to_string())?;
            if !done.status.success() || !output.exists() {
                fs::write(&output, []).map_err(|e| e.to_string())?;
            }
        }
        let bytes = fs::read(&output).map_err(|e| e.to_string())?;
        match words_from_bytes(&bytes) {
            Ok(words) if !words.is_empty() => Ok(words),
            _ => Err("refused".to_owned()),
        }
    }

    /// The file, or a copy with a triple if the translator requires one.
    fn with_triple(&self, peer: PeerTool, file: &Path, triple: &str) -> io::Result<PathBuf> {
        let text = fs::read_to_string(file)?;
        let has = text
            .lines()
            .any(|line| line.trim_start().starts_with("target triple"));
        if has || peer == PeerTool::Backend {
            return Ok(file.to_owned());
        }
        let arch = if triple.contains("64") {
            "spir64"
        } else {
            "spir"
        };
        let mut hasher = DefaultHasher::new();
        file.hash(&mut hasher);
        let copy = self.cache.join(format!("{:016x}.ll", hasher.finish()));
        if !copy.exists() {
            fs::write(
                &copy,
                format!("target triple = \"{arch}-unknown-unknown\"\n{text}"),
            )?;
        }
        Ok(copy)
    }
}

/// The extensions that the options allow.
fn find_extensions_flag(flags: &[String]) -> Option<&str> {
    flags
        .iter()
        .find_map(|f| f.trim_start_matches('-').strip_prefix("spirv-ext="))
}

fn make_translator_command(programs: &Path, flags: &[String]) -> Command {
    let mut command = Command::new(programs.join("llvm-spirv-22"));
    for flag in flags {
        let name = flag.trim_start_matches('-');
        let own = name.starts_with("spirv-") && !matches!(name, "spirv-text");
        if own && !name.starts_with("spirv-ext=") {
            command.arg(flag);
        }
    }
    match find_extensions_flag(flags) {
        Some("all" | "khr") => command.arg("--spirv-ext=+all"),
        Some(list) => command.arg(format!("--spirv-ext={list}")),
        None => &mut command,
    };
    command
}

fn make_backend_command(programs: &Path, triple: &str, flags: &[String]) -> Command {
    let mut command = Command::new(programs.join("llc-22"));
    command.args(["-O0", "-filetype=obj"]);
    let asked = flags.iter().find(|f| f.contains("mtriple="));
    match asked {
        Some(flag) => command.arg(flag),
        None => {
            let family = if triple.contains("64") {
                "spirv64"
            } else {
                "spirv32"
            };
            command.arg(format!("-mtriple={family}-unknown-unknown"))
        }
    };
    for flag in flags {
        if flag.contains("emit-nonsemantic")
            || flag.contains("avoid-spirv")
            || flag.contains("spv-allow")
        {
            command.arg(flag);
        }
    }
    match find_extensions_flag(flags) {
        Some("+all" | "all") => command.arg("--spirv-ext=all"),
        Some(list) => command.arg(format!("--spirv-ext={list}")),
        None => &mut command,
    };
    command
}
