//! Arguments of a launch: where they lie in memory, and the parameters of the entry point.

use crate::decode::{CodeParameter, DecodedKernel, KernelResource};
use crate::launch::{InterpretedArgument, InterpretedLaunch};
use crate::memory::MemoryRegion;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Most bytes of the variables of a workgroup.
const MOST_WORKGROUP: u64 = 64 << 20;

/// The arguments of a launch in memory.
#[derive(Debug, Default)]
pub(crate) struct PlacedArguments {
    /// Parameters of the entry point, scalar by scalar.
    pub parameters: Vec<u64>,
    /// Push constants, and copies of arguments.
    pub memory: Vec<u8>,
    /// Bytes of the variables of a workgroup, with those of arguments.
    pub workgroup_bytes: u64,
    /// The buffer of each resource of the kernel.
    pub bound: Vec<Option<usize>>,
}

impl PlacedArguments {
    /// Places the arguments of a launch.
    ///
    /// # Errors
    /// When they do not fit the parameters of the kernel.
    pub(crate) fn from_launch(
        kernel: &DecodedKernel,
        launch: &InterpretedLaunch<'_>,
    ) -> Result<PlacedArguments, SourceDiagnostic> {
        let find_bound = |resource: &KernelResource| {
            let mut bound = launch.resources.iter();
            let wanted = (resource.set, resource.binding, resource.index);
            let bound = bound.find(|b| (b.set, b.binding, b.index) == wanted)?;
            Some(bound.buffer)
        };
        let mut placed = PlacedArguments {
            memory: launch.push.to_vec(),
            workgroup_bytes: kernel.workgroup_bytes,
            bound: kernel.resources.iter().map(find_bound).collect(),
            ..PlacedArguments::default()
        };
        let pushed = launch.push.len().next_multiple_of(16);
        placed.memory.resize(pushed, 0);
        if launch.arguments.len() != kernel.parameters.len() {
            let (wanted, given) = (kernel.parameters.len(), launch.arguments.len());
            return Err(refuse(format!(
                "the kernel takes {wanted} arguments, not {given}"
            )));
        }
        let pairs = launch.arguments.iter().zip(&kernel.parameters);
        for (number, (argument, parameter)) in pairs.enumerate() {
            placed.place_argument(number, argument, parameter)?;
        }
        Ok(placed)
    }

    fn place_argument(
        &mut self,
        number: usize,
        argument: &InterpretedArgument,
        parameter: &CodeParameter,
    ) -> Result<(), SourceDiagnostic> {
        match argument {
            InterpretedArgument::Buffer(buffer) if parameter.is_pointer => {
                let address = MemoryRegion::from_buffer(*buffer).address(0);
                self.parameters.push(address);
            }
            InterpretedArgument::Workgroup(bytes) if parameter.is_pointer => {
                let start = self.workgroup_bytes.next_multiple_of(128);
                let end = start.saturating_add(*bytes);
                if end > MOST_WORKGROUP {
                    return Err(refuse(format!(
                        "{bytes} bytes of workgroup memory are too many"
                    )));
                }
                self.workgroup_bytes = end;
                self.parameters.push(MemoryRegion::WORKGROUP.address(start));
            }
            InterpretedArgument::Value(bytes) if parameter.is_pointer && parameter.is_by_value => {
                let start = self.memory.len();
                self.memory.extend_from_slice(bytes);
                let end = self.memory.len().next_multiple_of(128);
                self.memory.resize(end, 0);
                let address = MemoryRegion::ARGUMENTS.address(start as u64);
                self.parameters.push(address);
            }
            InterpretedArgument::Value(bytes) if !parameter.is_pointer => {
                for cell in &parameter.cells {
                    let start = cell.offset as usize;
                    let part = bytes.get(start..start + usize::from(cell.bytes));
                    let part = part.ok_or_else(|| {
                        refuse(format!("argument {number} has only {} bytes", bytes.len()))
                    })?;
                    let mut word = [0; 8];
                    word[..part.len()].copy_from_slice(part);
                    self.parameters.push(u64::from_le_bytes(word));
                }
            }
            _ => {
                let message = format!("argument {number} does not fit its parameter");
                return Err(refuse(message));
            }
        }
        Ok(())
    }
}

fn refuse(message: String) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::Unknown, message)
}
