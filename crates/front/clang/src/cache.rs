//! Cache: outputs of Clang, in memory and on disk.
//!
//! An output on disk is a file whose name is the key of its job. Its first lines name the files that the source includes, with
//! their digests: the output counts only while these are unchanged.

use crate::compiler::{ClangCompiler, ClangOutput};
use crate::error::ClangError;
use crate::job::ClangJob;
use sha2::{Digest, Sha256};
use spirula_text::hex::write_hex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The first line of a file: format and version.
const HEADER: &str = "spirula-clang 1";

/// Most bytes of outputs in memory.
const MOST_BYTES: usize = 64 << 20;

/// Outputs by the keys of their jobs.
#[derive(Default)]
pub struct ClangCache {
    /// Where outputs are kept between runs, if they are.
    folder: Option<PathBuf>,
    outputs: Mutex<KeptOutputs>,
}

/// Outputs in memory.
#[derive(Default)]
struct KeptOutputs {
    by_key: HashMap<String, Arc<CachedOutput>>,
    bytes: usize,
}

impl KeptOutputs {
    /// Adds an output. Those before are forgotten where they all would be too large.
    fn insert(&mut self, key: &str, output: Arc<CachedOutput>) {
        let size = output.output.bitcode.len() + output.output.log.len();
        if self.bytes + size > MOST_BYTES {
            *self = KeptOutputs::default();
        }
        if size <= MOST_BYTES && self.by_key.insert(key.to_owned(), output).is_none() {
            self.bytes += size;
        }
    }
}

struct CachedOutput {
    output: ClangOutput,
    /// Digests of the included files.
    digests: Vec<String>,
}

impl ClangCache {
    /// A cache that keeps outputs in a folder, too.
    pub fn new(folder: Option<PathBuf>) -> ClangCache {
        ClangCache {
            folder,
            outputs: Mutex::default(),
        }
    }

    /// Finds Clang, as [`ClangCompiler::find`] does. It is asked for its version only if the cache does not know it.
    ///
    /// # Errors
    /// When there is none that is new enough.
    pub fn find_compiler(&self) -> Result<ClangCompiler, ClangError> {
        ClangCompiler::find_with_records(self.folder.as_deref())
    }

    /// Compiles a job, unless its output is known.
    ///
    /// # Errors
    /// As [`ClangCompiler::compile`].
    pub fn compile(
        &self,
        compiler: &ClangCompiler,
        job: &ClangJob,
    ) -> Result<ClangOutput, ClangError> {
        let key = job.compute_key(&compiler.identity());
        if let Some(known) = self.find_output(&key) {
            return Ok(known.output.clone());
        }
        let output = compiler.compile(job)?;
        let digests = output.included.iter().map(|path| compute_digest(path));
        if let Some(digests) = digests.collect::<Option<Vec<String>>>() {
            let cached = Arc::new(CachedOutput { output, digests });
            self.keep_output(&key, &cached);
            return Ok(cached.output.clone());
        }
        Ok(output)
    }

    fn find_output(&self, key: &str) -> Option<Arc<CachedOutput>> {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = outputs.by_key.get(key).filter(|known| known.is_current()) {
            return Some(known.clone());
        }
        let bytes = std::fs::read(self.folder.as_ref()?.join(key)).ok()?;
        let read = Arc::new(CachedOutput::from_bytes(&bytes)?);
        if !read.is_current() {
            return None;
        }
        outputs.insert(key, read.clone());
        Some(read)
    }

    fn keep_output(&self, key: &str, cached: &Arc<CachedOutput>) {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        outputs.insert(key, cached.clone());
        drop(outputs);
        if let Some(folder) = &self.folder {
            // A cache that cannot be written costs time only.
            let _ = write_file(folder, key, &cached.to_bytes());
        }
    }
}

/// Writes a file in one step, as others may read it meanwhile.
pub fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let file = tempfile::NamedTempFile::new_in(folder)?;
    std::fs::write(file.path(), bytes)?;
    file.persist(folder.join(name))?;
    Ok(())
}

fn compute_digest(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(write_hex(&Sha256::digest(bytes)))
}

impl CachedOutput {
    /// Whether the included files are as they were.
    fn is_current(&self) -> bool {
        let included = self.output.included.iter().zip(&self.digests);
        let mut included = included.map(|(path, digest)| (compute_digest(path), digest));
        included.all(|(found, digest)| found.as_ref() == Some(digest))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut lines = vec![HEADER.to_owned(), self.output.included.len().to_string()];
        for (path, digest) in self.output.included.iter().zip(&self.digests) {
            lines.push(format!("{digest} {}", path.display()));
        }
        lines.push(self.output.log.len().to_string());
        let mut bytes = lines.join("\n").into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(self.output.log.as_bytes());
        bytes.extend_from_slice(&self.output.bitcode);
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<CachedOutput> {
        let mut take_line = || {
            let end = bytes.iter().position(|byte| *byte == b'\n')?;
            let line = std::str::from_utf8(&bytes[..end]).ok()?;
            bytes = &bytes[end + 1..];
            Some(line)
        };
        if take_line()? != HEADER {
            return None;
        }
        let count: usize = take_line()?.parse().ok()?;
        let (mut included, mut digests) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (digest, path) = take_line()?.split_once(' ')?;
            digests.push(digest.to_owned());
            included.push(PathBuf::from(path));
        }
        let log_size: usize = take_line()?.parse().ok()?;
        let (log, bitcode) = bytes.split_at_checked(log_size)?;
        let output = ClangOutput {
            bitcode: bitcode.to_vec(),
            log: String::from_utf8(log.to_vec()).ok()?,
            included,
        };
        Some(CachedOutput { output, digests })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_survive_on_disk() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let header = folder.path().join("a header.h");
        std::fs::write(&header, "#define N 1").expect("it can be written");
        let cached = CachedOutput {
            output: ClangOutput {
                bitcode: vec![b'B', b'C', b'\n', 7],
                log: "a warning\nof two lines".to_owned(),
                included: vec![header.clone()],
            },
            digests: vec![compute_digest(&header).expect("it is there")],
        };
        let cache = ClangCache::new(Some(folder.path().to_owned()));
        cache.keep_output("key", &Arc::new(cached));
        let again = ClangCache::new(Some(folder.path().to_owned()));
        let found = again.find_output("key").expect("it was kept");
        assert_eq!(found.output.bitcode, [b'B', b'C', b'\n', 7]);
        assert_eq!(found.output.log, "a warning\nof two lines");
        std::fs::write(&header, "#define N 2").expect("it can be written");
        assert!(again.find_output("key").is_none());
    }
}
