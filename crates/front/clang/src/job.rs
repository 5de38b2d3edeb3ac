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
        let extensions = self.list_extension_options();
        extensions.iter().for_each(|option| add(option));
        format_digest(&hash.finalize())
    }

    /// The options that take the missing extensions and features from Clang.
    pub(crate) fn list_extension_options(&self) -> Vec<String> {
        let missing = &self.missing_extensions;
        if missing.is_empty() {
            return Vec::new();
        }
        let names: Vec<String> = missing.iter().map(|name| format!("-{name}")).collect();
        // Clang's driver does not pass the option on by itself.
        let mut options = vec!["-Xclang".to_owned(), format!("-cl-ext={}", names.join(","))];
        // Clang's header defines some features for all devices, unless another macro forbids it.
        let features = missing
            .iter()
            .filter(|name| name.starts_with("__opencl_c_"));
        options.extend(features.map(|name| format!("-D__undef_{name}")));
        options
    }
}

/// The hexadecimal digits of a digest.
pub(crate) fn format_digest(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
