//! Module writer: IR to words.

use super::module::SpirvModule;
use super::walk::SpirvWalk;
use crate::binary::{self, SpirvHeader, split_first_word};
use std::hash::{Hash, Hasher};
use std::io::{self, Write};

/// Bytes that are handed to a writer at once.
const PIECE: usize = 1 << 18;

impl SpirvModule {
    /// The module's words, header included.
    pub fn to_words(&self) -> Vec<u32> {
        let mut out = Vec::with_capacity(self.words.len().max(SpirvHeader::WORDS));
        self.write_words(|words| out.extend_from_slice(words));
        out
    }

    /// Number of the module's words, header included.
    pub fn word_count(&self) -> usize {
        let mut count = 0;
        self.write_words(|words| count += words.len());
        count
    }

    /// The module as little-endian bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 * self.words.len().max(SpirvHeader::WORDS));
        self.write_words(|words| binary::put_bytes(words, &mut out));
        out
    }

    /// Writes the module as little-endian bytes, piece by piece.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(PIECE.min(4 * self.words.len()));
        let mut result = Ok(());
        self.write_words(|words| {
            for words in words.chunks(PIECE / 4) {
                if bytes.len() + 4 * words.len() > PIECE && result.is_ok() {
                    result = out.write_all(&bytes);
                    bytes.clear();
                }
                if result.is_ok() {
                    binary::put_bytes(words, &mut bytes);
                }
            }
        });
        result?;
        out.write_all(&bytes)
    }

    /// Passes the words of the module to a function piece by piece: the header, and then runs of instructions
    /// that are consecutive in the pool.
    pub fn write_words(&self, mut put: impl FnMut(&[u32])) {
        let header = SpirvHeader {
            version: self.version,
            generator: self.generator,
            bound: self.bound,
            schema: self.schema,
        };
        put(&header.to_words());
        if self.as_read {
            put(self
                .words
                .original_words()
                .get(SpirvHeader::WORDS..)
                .unwrap_or(&[]));
            return;
        }
        let mut run = 0..0;
        let mut walk = SpirvWalk::of_module(self);
        while let Some(inst) = walk.next_handle() {
            let start = self.nodes.start(inst) as usize;
            if start != run.end || start == self.words.original_words().len() {
                put(self.words.words_in(run));
                run = start..start;
            }
            run.end += split_first_word(self.words.words_from(start as u32)[0]).0;
        }
        put(self.words.words_in(run));
    }
}

/// Modules are equal whose words are, in whatever order their parts were built.
impl PartialEq for SpirvModule {
    fn eq(&self, other: &SpirvModule) -> bool {
        self.to_words() == other.to_words()
    }
}

impl Eq for SpirvModule {}

impl Hash for SpirvModule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.write_words(|words| words.iter().for_each(|word| state.write_u32(*word)));
    }
}
