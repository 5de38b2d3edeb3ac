//! Programs as the runtime takes them: kernels, the steps of the host, entry points.

use crate::{ProgramParameter, ScalarLiteral, ScalarOperator, ScalarType, SizeClass};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CompiledProgram {
    /// Kernels.
    pub kernels: Vec<ProgramKernel>,
    /// Functions of the host.
    pub functions: Vec<HostFunction>,
    /// Runs once, before any other function.
    pub initialise: usize,
    /// Entry points.
    pub entries: Vec<ProgramEntry>,
    /// Tuning parameters.
    pub parameters: Vec<ProgramParameter>,
    /// Limits that are asked for.
    pub limits: Vec<SizeClass>,
    /// Messages of assertions.
    pub messages: Vec<ProgramMessage>,
    /// Functions that copy within device memory, for each size of elements that there are any for.
    pub copiers: Vec<CopyKernels>,
    /// Constant data, by number.
    #[serde(skip)]
    pub data: Vec<Arc<[u8]>>,
    /// Number of scalars that all functions share.
    pub global_scalars: u32,
    /// Number of references to memory that all functions share.
    pub global_memories: u32,
}

/// Functions that copy elements of a size on the device. Their inputs are scalars, given below, and
/// then references to the target and the source; scalars are `i32`s but for the first, the number of
/// workgroups, an `i64`. First elements and strides are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyKernels {
    /// Bytes of an element.
    pub size: u64,
    /// Copies in four dimensions: number of elements, sizes of the inner three dimensions, then of
    /// the target and the source the first element and four strides. 256 elements a workgroup.
    pub strided: usize,
    /// Transposes matrices by tiles of 32 by 32, one a workgroup: rows, columns, tiles in a column
    /// and in a row; first element of the target, strides from matrix to matrix and row to row; first
    /// element of the source, strides from matrix to matrix and column to column.
    pub tiled: usize,
}

impl CopyKernels {
    /// Number of scalars of the functions.
    pub const STRIDED: usize = 15;
    /// The same of the other one.
    pub const TILED: usize = 11;
}

/// A kernel: a module for Vulkan with the entry point `main`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramKernel {
    /// Words of the module; empty for a kernel that could not be compiled.
    #[serde(skip)]
    pub words: Vec<u32>,
    /// Words of the same module with workgroup memory that is laid out explicitly, for devices that
    /// have it; none where that gains nothing.
    #[serde(default, with = "presence")]
    pub laid_out: Option<Vec<u32>>,
    /// Why it could not be compiled.
    pub refusal: Option<String>,
    /// Bytes of each scalar's place: offset and type, in the order of a launch's scalars. The
    /// number of workgroups stands at offset 0, 32 bits.
    pub scalars: Vec<(u32, ScalarType)>,
    /// Bytes of scalars and number of workgroups.
    pub scalar_bytes: u32,
    /// Whether scalars are bound as a buffer, after the block for failures; else they are pushed.
    pub scalars_in_buffer: bool,
    /// Whether the block for failures is bound, after the blocks of the launch.
    pub uses_failures: bool,
    /// Whether it may fail.
    pub can_fail: bool,
    /// The blocks that it accesses, by their binding; others need not be bound.
    pub bound: Vec<bool>,
    /// Bytes of each of those blocks that its indices of 32 bits reach: 2^32 of the smallest elements that it
    /// accesses there. Empty in programs of earlier versions.
    #[serde(default)]
    pub reach: Vec<u64>,
}

/// Whether there are words, which stand elsewhere.
mod presence {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(words: &Option<Vec<u32>>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bool(words.is_some())
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Vec<u32>>, D::Error> {
        Ok(bool::deserialize(from)?.then(Vec::new))
    }
}

impl ProgramKernel {
    /// Its modules: the one that runs everywhere, and that for devices that have more.
    pub fn modules(&self) -> impl Iterator<Item = &Vec<u32>> {
        let first = self.refusal.is_none().then_some(&self.words);
        first.into_iter().chain(&self.laid_out)
    }
}

/// A scalar of the host: bit 31 set for one that all functions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostRegister(pub u32);

/// A reference to memory: bit 31 set for one that all functions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostMemoryRef(pub u32);

/// Marks what all functions share.
pub const GLOBAL: u32 = 1 << 31;

/// What a function takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostSlot {
    /// A scalar.
    Scalar(HostRegister),
    /// A reference to memory.
    Memory(HostMemoryRef),
}

/// A function of the host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostFunction {
    /// Number of its scalars.
    pub scalars: u32,
    /// Number of its references to memory.
    pub memories: u32,
    /// Inputs.
    pub inputs: Vec<HostSlot>,
    /// Outputs.
    pub outputs: Vec<HostSlot>,
    /// Scalars of its own that it begins with; others are 0.
    #[serde(default)]
    pub constants: Vec<(HostRegister, u64)>,
    /// Steps; after the last the function ends.
    pub steps: Vec<HostStep>,
}

/// A step of the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum HostStep {
    /// Sets a scalar.
    Set(HostRegister, u64),
    /// Copies a scalar.
    Move(HostRegister, HostRegister),
    /// Applies an operator to as many operands as it has.
    Apply(ScalarOperator, HostRegister, [HostRegister; 3]),
    /// Asks for a tuning parameter.
    Parameter(HostRegister, usize),
    /// Asks for a limit.
    Limit(HostRegister, usize),
    /// Makes a block of so many bytes.
    Allocate(HostMemoryRef, HostRegister),
    /// Makes host memory of the constant data with this number.
    Data(HostMemoryRef, usize),
    /// Lets a reference refer to what another refers to.
    Refer(HostMemoryRef, HostMemoryRef),
    /// Lets a reference refer to nothing.
    Forget(HostMemoryRef),
    /// Reads an element: to, memory, type, index.
    Read(HostRegister, HostMemoryRef, ScalarType, HostRegister),
    /// Writes an element: memory, type, index, value.
    Write(HostMemoryRef, ScalarType, HostRegister, HostRegister),
    /// Copies a strided array.
    Copy(Box<StridedCopy>),
    /// Launches a kernel.
    Launch(Box<LaunchStep>),
    /// Goes on at a step.
    Jump(usize),
    /// Goes on at a step where a truth value is false.
    Unless(HostRegister, usize),
    /// Calls a function: which, what it takes, what gets what it gives.
    Call(usize, Vec<HostSlot>, Vec<HostSlot>),
    /// Fails with a message, whose values are given, where a truth value is false.
    Assert(HostRegister, usize, Vec<HostRegister>),
    /// Says a message.
    Trace(usize, Vec<HostRegister>),
}

/// A strided copy; all numbers are `i64`s.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StridedCopy {
    /// Bytes of an element.
    pub size: u64,
    /// Elements in each dimension.
    pub shape: Vec<HostRegister>,
    /// Where to: memory, first element, strides.
    pub to: (HostMemoryRef, HostRegister, Vec<HostRegister>),
    /// Where from.
    pub from: (HostMemoryRef, HostRegister, Vec<HostRegister>),
}

/// A launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaunchStep {
    /// Which kernel.
    pub kernel: usize,
    /// Workgroups in each dimension, `i64`s.
    pub groups: Vec<HostRegister>,
    /// Values of the specialisation constants, by their numbers.
    pub constants: Vec<HostRegister>,
    /// Values of the scalars.
    pub scalars: Vec<HostRegister>,
    /// Blocks, by their bindings.
    pub memories: Vec<HostMemoryRef>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramMessage {
    /// Texts and the types of values between them.
    pub parts: Vec<MessagePart>,
    /// Places in the source of the program; may be empty.
    pub backtrace: String,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MessagePart {
    /// Text.
    Text(String),
    /// A value of a type.
    Value(ScalarType),
}

impl ProgramMessage {
    /// The message with its values, given by their bits.
    pub fn format_values(&self, values: &[u64]) -> String {
        let mut values = values.iter();
        let mut out = String::new();
        for part in &self.parts {
            match part {
                MessagePart::Text(text) => out.push_str(text),
                MessagePart::Value(ty) => {
                    let literal = ScalarLiteral::new(*ty, values.next().copied().unwrap_or(0));
                    let text = literal.to_string();
                    out.push_str(text.strip_suffix(ty.name()).unwrap_or(&text));
                }
            }
        }
        out
    }
}

/// An entry point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramEntry {
    /// Its name.
    pub name: String,
    /// The function that is called.
    pub function: usize,
    /// Parameters in the order of the values that users give.
    pub parameters: Vec<ProgramEntryParameter>,
    /// Results.
    pub results: Vec<EntryResult>,
}

/// A parameter of an entry point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramEntryParameter {
    /// Name.
    pub name: String,
    /// What it is; `None` for a value without an external form.
    pub value: Option<EntryValueType>,
    /// What it is, for a value without an external form.
    pub opaque: Option<EntryOpaque>,
    /// Its type in the source language, where that says more.
    pub tensor: Option<SourceTensorType>,
}

/// A result of an entry point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryResult {
    /// What it is; `None` for a value without an external form.
    pub value: Option<EntryValueType>,
    /// What it is, for a value without an external form.
    pub opaque: Option<EntryOpaque>,
    /// Its type in the source language, where that says more.
    pub tensor: Option<SourceTensorType>,
}

/// A value without an external form: only entry points of the same program make and take it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryOpaque {
    /// The name of its type.
    pub name: String,
    /// What it consists of.
    pub parts: Vec<EntryValueType>,
}

/// A scalar or an array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryValueType {
    /// Type of the scalar or of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// The scalar, or the block that holds the array.
    pub slot: HostSlot,
    /// Sizes of an array.
    pub shape: Option<Vec<EntrySize>>,
}

/// The size of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntrySize {
    /// Held by a scalar.
    Scalar(HostRegister),
    /// Known.
    Known(u64),
}

/// The type of a tensor in the language that a program comes from. The program holds elements that
/// it has no type for as their bits, and complex numbers as pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTensorType {
    /// Type of the elements, by its name there: `bf16`, `complex<f32>`.
    pub element: String,
    /// Sizes; none is a dynamic one.
    pub shape: Vec<Option<u64>>,
}
