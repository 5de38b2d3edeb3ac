//! Inputs of commands.

/// An input that was read.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Name of the input in messages.
    pub name: String,
    /// Contents of the input.
    pub bytes: Vec<u8>,
}
