//! Parser of manifests.
//!
//! ```text
//! manifest    = comment* ["package" path] comment* ["require" "{" (comment | requirement)* "}"] comment*
//! requirement = path version ["#" hash]
//! comment     = "--" … end of line
//! ```

use crate::{ManifestEntry, PackageManifest, PackagePath, PackageRequirement, PackageVersion};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Parses a manifest.
///
/// # Errors
/// The first fault with its place.
pub fn parse_manifest(text: &str) -> Result<PackageManifest, SourceDiagnostic> {
    let mut cursor = ManifestCursor { text, offset: 0 };
    let mut manifest = PackageManifest {
        head_comments: cursor.parse_comments(),
        ..PackageManifest::default()
    };
    if cursor.skip_word("package") {
        cursor.skip_space();
        manifest.path = Some(cursor.parse_path()?);
    }
    manifest.require_comments = cursor.parse_comments();
    if cursor.skip_word("require") {
        cursor.skip_space();
        cursor.expect_word("{")?;
        manifest.entries = cursor.parse_entries()?;
        cursor.expect_word("}")?;
    }
    manifest.end_comments = cursor.parse_comments();
    if cursor.rest().is_empty() {
        Ok(manifest)
    } else {
        Err(cursor.fault("the end of the manifest is expected"))
    }
}

/// The unread part of a manifest.
struct ManifestCursor<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> ManifestCursor<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// Takes the characters that satisfy a condition.
    fn take_while(&mut self, accepts: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !accepts(c)).unwrap_or(rest.len());
        self.offset += end;
        &rest[..end]
    }

    fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Skips space within a line.
    fn skip_blanks(&mut self) {
        self.take_while(|c| c == ' ' || c == '\t');
    }

    /// Skips a word if it comes next.
    fn skip_word(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.offset += word.len();
        }
        is_next
    }

    fn expect_word(&mut self, word: &str) -> Result<(), SourceDiagnostic> {
        if self.skip_word(word) {
            Ok(())
        } else {
            Err(self.fault(format!("{word} is expected")))
        }
    }

    /// An error at the next word, or at the end of the text.
    fn fault(&self, message: impl Into<String>) -> SourceDiagnostic {
        let rest = self.rest();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.fault_between(self.offset, self.offset + end, message)
    }

    fn fault_between(
        &self,
        start: usize,
        end: usize,
        message: impl Into<String>,
    ) -> SourceDiagnostic {
        let limit = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        let place = SourceLocation::Text {
            start: limit(start),
            end: limit(end),
        };
        SourceDiagnostic::error(place, message)
    }

    /// Parses a comment if it comes next.
    fn parse_comment(&mut self) -> Option<String> {
        self.skip_word("--").then(|| {
            let comment = self.take_while(|c| c != '\n');
            comment.strip_suffix('\r').unwrap_or(comment).to_owned()
        })
    }

    fn parse_comments(&mut self) -> Vec<String> {
        let mut comments = Vec::new();
        self.skip_space();
        while let Some(comment) = self.parse_comment() {
            comments.push(comment);
            self.skip_space();
        }
        comments
    }

    fn parse_entries(&mut self) -> Result<Vec<ManifestEntry>, SourceDiagnostic> {
        let mut entries = Vec::new();
        loop {
            self.skip_space();
            if let Some(comment) = self.parse_comment() {
                entries.push(ManifestEntry::Comment(comment));
            } else if self.rest().starts_with(PackagePath::accepts) {
                entries.push(ManifestEntry::Requirement(self.parse_requirement()?));
            } else {
                return Ok(entries);
            }
        }
    }

    fn parse_requirement(&mut self) -> Result<PackageRequirement, SourceDiagnostic> {
        let path = self.parse_path()?;
        self.skip_blanks();
        let Some((version, rest)) = PackageVersion::parse_prefix(self.rest()) else {
            return Err(self.fault("a version X.Y.Z is expected"));
        };
        self.offset = self.text.len() - rest.len();
        self.skip_blanks();
        let hash = self
            .skip_word("#")
            .then(|| self.take_while(char::is_alphanumeric));
        if hash == Some("") {
            let place = (self.offset - 1, self.offset);
            return Err(self.fault_between(place.0, place.1, "a hash is expected after #"));
        }
        Ok(PackageRequirement {
            path,
            version,
            hash: hash.map(str::to_owned),
        })
    }

    fn parse_path(&mut self) -> Result<PackagePath, SourceDiagnostic> {
        let start = self.offset;
        let text = self.take_while(PackagePath::accepts);
        if text.is_empty() {
            return Err(self.fault("a package path is expected"));
        }
        text.parse().map_err(|error: crate::PackageError| {
            self.fault_between(start, self.offset, error.to_string())
        })
    }
}
