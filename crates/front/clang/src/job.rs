//! Jobs of Clang: a source with its headers and options.

use sha2::{Digest, Sha256};

/// A source to compile.
#[derive(Clone, Debug, Default)]
pub struct ClangJob {
    /// The source.
    pub source: String,
    /// Headers that the source includes, by the names in its `#include` lines.
    pub headers: Vec<(String, String)>,
    /// Options of Clang, after those that the compiler sets.
    pub options: Vec<String>,
    /// Extensions and features that the device lacks, by their names.
    pub missing_extensions: Vec<&'static str>,
}

impl ClangJob {
    /// A name that no other source, option or compiler has, in hexadecimal digits.
    pub(crate) fn compute_key(&self, compiler: &str) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(compiler);
        add(&self.source);
        self.headers.iter().for_each(|(name, text)| {
            add(name);
            add(text);
        });
        self.options.iter().for_each(|option| add(option));
        self.missing_extensions.iter().for_each(|name| add(name));
        format_digest(&hash.finalize())
    }
}

/// The hexadecimal digits of a digest.
pub(crate) fn format_digest(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
