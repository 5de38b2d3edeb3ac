//! From the IR to words.

use super::module::Module;
use crate::binary::{self, Header};

impl Module {
    /// The module's words, header included.
    pub fn to_words(&self) -> Vec<u32> {
        let header = Header {
            version: self.version,
            generator: self.generator,
            bound: self.bound,
            schema: self.schema,
        };
        let mut out = Vec::with_capacity(Header::WORDS + self.words.len() + self.nodes.len());
        out.extend_from_slice(&header.words());
        for inst in self.all_insts() {
            let length = inst.words().len() as u32 + 1;
            out.push(length << 16 | u32::from(inst.op().0));
            out.extend_from_slice(inst.words());
        }
        out
    }

    /// The module as little-endian bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        binary::to_bytes(&self.to_words())
    }
}
