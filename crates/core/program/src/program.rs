//! Compiled programs: kernels, steps of the host, entry points.

use crate::{
    ForeignSignature, ProgramParameter, ScalarLiteral, ScalarOperator, ScalarType, SizeClass,
};
use serde::{Deserialize, Serialize};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use std::sync::Arc;

/// A program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CompiledProgram {
    /// Kernels.
    pub kernels: Vec<ProgramKernel>,
    /// Functions of the host.
    pub functions: Vec<HostFunction>,
    /// The function that runs once, before any other.
    pub initialise: usize,
    /// Entry points.
    pub entries: Vec<ProgramEntry>,
    /// Tuning parameters.
    pub parameters: Vec<ProgramParameter>,
    /// Limits that steps read.
    pub limits: Vec<SizeClass>,
    /// Messages of assertions.
    pub messages: Vec<ProgramMessage>,
    /// Functions that copy within device memory, by the size of elements.
    pub copiers: Vec<CopyKernels>,
    /// Constant data, by number.
    #[serde(skip)]
    pub data: Vec<Arc<[u8]>>,
    /// Number of scalars that all functions share.
    pub global_scalars: u32,
    /// Number of references to memory that all functions share.
    pub global_memories: u32,
}

/// Functions that copy elements of a size on the device. Their inputs are the scalars listed below, then references to the
/// target and the source. The first scalar is the number of workgroups, an `i64`; the others are `i32`s. First elements and
/// strides are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyKernels {
    /// Size of an element in bytes.
    pub size: u64,
    /// Copies in four dimensions, 256 elements a workgroup. Scalars: number of elements, sizes of the inner three
    /// dimensions; first element and four strides of the target; the same of the source.
    pub strided: usize,
    /// Transposes matrices in tiles of 32 by 32, one a workgroup. The first scalars are rows, columns, tiles in a
    /// column and in a row. For the target follow the first element, and the strides from matrix to matrix and from row
    /// to row. For the source follow the first element, and the strides from matrix to matrix and from column to
    /// column.
    pub tiled: usize,
}

impl CopyKernels {
    /// Number of scalars of [`CopyKernels::strided`].
    pub const STRIDED: usize = 15;
    /// Number of scalars of [`CopyKernels::tiled`].
    pub const TILED: usize = 11;
}

/// A kernel: a module for Vulkan with the entry point `main`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramKernel {
    /// [`ProgramKernel::module`] with workgroup memory in an explicit layout, for devices that support it; none where that
    /// gains nothing.
    #[serde(default, with = "presence")]
    pub laid_out: Option<SpirvModule>,
    /// The module, or the reason why it could not be compiled.
    #[serde(rename = "refusal", with = "refusal")]
    pub module: Result<SpirvModule, String>,
    /// Offset in bytes and type of each scalar, in the order of a launch's scalars. The number of workgroups is at offset 0,
    /// in 32 bits.
    pub scalars: Vec<(u32, ScalarType)>,
    /// Size in bytes of the number of workgroups and all scalars.
    pub scalar_bytes: u32,
    /// Whether scalars are in a buffer, bound after the block for failures; otherwise they are push constants.
    pub scalars_in_buffer: bool,
    /// Whether the block for failures is bound, after the blocks of the launch.
    pub uses_failures: bool,
    /// Whether an assertion of the kernel may fail.
    pub can_fail: bool,
    /// Bytes of each block, by its binding, that indices of 32 bits reach: 2^32 of the smallest elements that the
    /// kernel accesses there. It is 0 for blocks that the kernel does not access; they need not be bound.
    #[serde(flatten, with = "binding_reach")]
    pub reach: Vec<u64>,
}

/// The stored form of [`ProgramKernel::reach`]: which blocks are bound, and their reach. Archives of earlier versions
/// have no reach; nothing is known to be out of reach then.
mod binding_reach {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct StoredReach {
        bound: Vec<bool>,
        #[serde(default)]
        reach: Vec<u64>,
    }

    pub fn serialize<S: Serializer>(reach: &[u64], to: S) -> Result<S::Ok, S::Error> {
        let is_unknown = reach.contains(&u64::MAX);
        let stored = StoredReach {
            bound: reach.iter().map(|reach| *reach > 0).collect(),
            reach: if is_unknown {
                Vec::new()
            } else {
                reach.to_vec()
            },
        };
        stored.serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<u64>, D::Error> {
        let stored = StoredReach::deserialize(from)?;
        let known = stored
            .reach
            .into_iter()
            .map(Some)
            .chain(std::iter::repeat(None));
        let reach = stored.bound.into_iter().zip(known);
        let reach = reach.map(|(is_bound, reach)| match reach {
            _ if !is_bound => 0,
            Some(reach) => reach,
            None => u64::MAX,
        });
        Ok(reach.collect())
    }
}

/// An empty module. The reader of an archive replaces it by the member that has the module.
fn stand_in_module() -> SpirvModule {
    SpirvModule::new(SpirvVersion::V1_0)
}

/// The stored form of [`ProgramKernel::module`]: the reason. The module is a member of the archive.
mod refusal {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use spirula_spirv::ir::SpirvModule;

    pub fn serialize<S: Serializer>(
        module: &Result<SpirvModule, String>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        module.as_ref().err().serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Result<SpirvModule, String>, D::Error> {
        let reason = Option::<String>::deserialize(from)?;
        Ok(reason.map_or_else(|| Ok(super::stand_in_module()), Err))
    }
}

/// The stored form of an optional module: whether there is one. The module is a member of the archive.
mod presence {
    use serde::{Deserialize, Deserializer, Serializer};
    use spirula_spirv::ir::SpirvModule;

    pub fn serialize<S: Serializer>(
        module: &Option<SpirvModule>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_bool(module.is_some())
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<SpirvModule>, D::Error> {
        let is_present = bool::deserialize(from)?;
        Ok(is_present.then(super::stand_in_module))
    }
}

impl ProgramKernel {
    /// Number of blocks that the kernel accesses.
    pub fn bound_count(&self) -> usize {
        self.reach.iter().filter(|reach| **reach > 0).count()
    }

    /// The modules: the one that runs everywhere, and the one with an explicit layout.
    pub fn modules(&self) -> impl Iterator<Item = &SpirvModule> {
        self.module.iter().chain(&self.laid_out)
    }

    /// The modules, to change them.
    pub fn modules_mut(&mut self) -> impl Iterator<Item = &mut SpirvModule> {
        self.module.iter_mut().chain(&mut self.laid_out)
    }
}

/// A scalar of the host: bit 31 set for one that all functions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostRegister(pub u32);

/// A reference to memory: bit 31 set for one that all functions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostMemoryRef(pub u32);

/// Marks scalars and references that all functions share.
pub const GLOBAL: u32 = 1 << 31;

/// An input or output of a function.
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
    /// Initial values of its own scalars; others are 0.
    #[serde(default)]
    pub constants: Vec<(HostRegister, u64)>,
    /// The steps. The function ends after the last.
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
    /// Reads a tuning parameter.
    Parameter(HostRegister, usize),
    /// Reads a limit.
    Limit(HostRegister, usize),
    /// Allocates a block whose size in bytes is a scalar.
    Allocate(HostMemoryRef, HostRegister),
    /// Allocates host memory with the constant data of this number.
    Data(HostMemoryRef, usize),
    /// Makes a reference refer to the memory of another.
    Refer(HostMemoryRef, HostMemoryRef),
    /// Makes a reference refer to nothing.
    Forget(HostMemoryRef),
    /// Sets a truth value: whether no other reference refers to the memory of this one.
    IsUnique(HostRegister, HostMemoryRef),
    /// Reads an element: destination, memory, type, index.
    Read(HostRegister, HostMemoryRef, ScalarType, HostRegister),
    /// Writes an element: memory, type, index, value.
    Write(HostMemoryRef, ScalarType, HostRegister, HostRegister),
    /// Copies a strided array.
    Copy(Box<StridedCopy>),
    /// Launches a kernel.
    Launch(Box<LaunchStep>),
    /// Continues at a step.
    Jump(usize),
    /// Continues at a step if a truth value is false.
    Unless(HostRegister, usize),
    /// Calls a function: its number, inputs, outputs.
    Call(usize, Vec<HostSlot>, Vec<HostSlot>),
    /// Calls a function that does not belong to the program.
    Foreign(Box<ForeignStep>),
    /// Fails with a message and its values if a truth value is false.
    Assert(HostRegister, usize, Vec<HostRegister>),
    /// Traces a message with its values.
    Trace(usize, Vec<HostRegister>),
}

/// A call of a function that does not belong to the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ForeignStep {
    /// Name and types.
    pub signature: ForeignSignature,
    /// The operands.
    pub inputs: Vec<HostSlot>,
    /// The results. Memory is allocated for them.
    pub outputs: Vec<HostSlot>,
}

/// A strided copy; all numbers are `i64`s.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StridedCopy {
    /// Size of an element in bytes.
    pub size: u64,
    /// Number of elements in each dimension.
    pub shape: Vec<HostRegister>,
    /// The target: memory, first element, strides.
    pub to: (HostMemoryRef, HostRegister, Vec<HostRegister>),
    /// The source: memory, first element, strides.
    pub from: (HostMemoryRef, HostRegister, Vec<HostRegister>),
}

/// A launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaunchStep {
    /// The number of the kernel.
    pub kernel: usize,
    /// Numbers of workgroups in each dimension, `i64`s.
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
    /// Texts, and the types of values between them.
    pub parts: Vec<MessagePart>,
    /// Places in the program's source; may be empty.
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
    /// The text of the message with values, by their bits.
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
    /// Parameters, in the order of the users' values.
    pub parameters: Vec<ProgramEntryParameter>,
    /// Results.
    pub results: Vec<EntryResult>,
}

impl ProgramEntry {
    /// The scalars and arrays of all parameters, each with the name of its parameter.
    pub fn parameter_parts(&self) -> impl Iterator<Item = (&str, &EntryValueType)> {
        self.parameters.iter().flat_map(|parameter| {
            let parts = value_parts(parameter.value.as_ref(), parameter.opaque.as_ref());
            parts.map(|part| (parameter.name.as_str(), part))
        })
    }

    /// The scalars and arrays of all results.
    pub fn result_parts(&self) -> impl Iterator<Item = &EntryValueType> {
        let results = self.results.iter();
        results.flat_map(|result| value_parts(result.value.as_ref(), result.opaque.as_ref()))
    }
}

/// The scalars and arrays of a parameter or result.
fn value_parts<'a>(
    value: Option<&'a EntryValueType>,
    opaque: Option<&'a EntryOpaque>,
) -> impl Iterator<Item = &'a EntryValueType> {
    let parts = match (value, opaque) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, opaque) => opaque.map_or(&[][..], |opaque| &opaque.parts),
    };
    parts.iter()
}

/// A parameter of an entry point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramEntryParameter {
    /// Name.
    pub name: String,
    /// The scalar or array; `None` for a value without an external form.
    pub value: Option<EntryValueType>,
    /// The type of a value without an external form.
    pub opaque: Option<EntryOpaque>,
    /// The type in the source language, where that has more information.
    pub tensor: Option<SourceTensorType>,
}

/// A result of an entry point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryResult {
    /// The scalar or array; `None` for a value without an external form.
    pub value: Option<EntryValueType>,
    /// The type of a value without an external form.
    pub opaque: Option<EntryOpaque>,
    /// The type in the source language, where that has more information.
    pub tensor: Option<SourceTensorType>,
}

/// A value without an external form; only entry points of the same program exchange it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryOpaque {
    /// The name of its type.
    pub name: String,
    /// The values that it consists of.
    pub parts: Vec<EntryValueType>,
}

/// A scalar or an array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryValueType {
    /// Type of the scalar or of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// The scalar, or the memory of the array.
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

/// The type of a tensor in the source language. Elements of types that programs do not have are stored as their bits, and
/// complex numbers as pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTensorType {
    /// Name of the elements' type: `bf16`, `complex<f32>`.
    pub element: String,
    /// Sizes; `None` for dynamic ones.
    pub shape: Vec<Option<u64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Archives of earlier versions say only which blocks are bound.
    #[test]
    fn kernels_without_a_reach_are_read() {
        let text = |reach: &str| {
            format!(
                r#"{{"laid_out":false,"refusal":null,"scalars":[],"scalar_bytes":4,"scalars_in_buffer":false,"uses_failures":false,"can_fail":false,"bound":[true,false]{reach}}}"#
            )
        };
        let read = |text: &str| serde_json::from_str::<ProgramKernel>(text).unwrap();
        let earlier = read(&text(""));
        assert_eq!(earlier.reach, [u64::MAX, 0]);
        assert_eq!(
            serde_json::to_string(&earlier).unwrap(),
            text(r#","reach":[]"#)
        );
        let later = read(&text(r#","reach":[17179869184,0]"#));
        assert_eq!(later.reach, [4 << 32, 0]);
        assert_eq!(later.bound_count(), 1);
        let stored = serde_json::to_string(&later).unwrap();
        assert_eq!(stored, text(r#","reach":[17179869184,0]"#));
    }
}
