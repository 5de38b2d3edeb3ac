//! Fault report: the kind, sites and invocations of a fault.

use spirula_diagnostics::SourceLocation;
use std::fmt;

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside of the object that the pointer points into.
    OutOfBounds,
    /// Two accesses that nothing orders.
    Race,
    /// Memory is read that nothing was written to.
    Uninitialised,
    /// Invocations of one group do not all arrive at an instruction that waits for all of them.
    Divergence,
    /// A division by zero.
    Division,
    /// A shift by as many bits as there are, or more.
    Shift,
    /// A loop that does not end.
    EndlessLoop,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 7] = [
        FaultKind::OutOfBounds,
        FaultKind::Race,
        FaultKind::Uninitialised,
        FaultKind::Divergence,
        FaultKind::Division,
        FaultKind::Shift,
        FaultKind::EndlessLoop,
    ];

    /// The name by which it can be left out.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::OutOfBounds => "out-of-bounds",
            FaultKind::Race => "race",
            FaultKind::Uninitialised => "uninitialised",
            FaultKind::Divergence => "divergence",
            FaultKind::Division => "division",
            FaultKind::Shift => "shift",
            FaultKind::EndlessLoop => "endless-loop",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An instruction that did something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstructionSite {
    /// The name of the instruction.
    pub instruction: String,
    /// The name or id of the function that contains it.
    pub function: String,
    /// The id of its block's label.
    pub block: u32,
    /// The number of the instruction in its block, from 0.
    pub index: u32,
    /// The place of the instruction in the module.
    pub place: SourceLocation,
    /// File, line and column of the source, where debug information says so.
    pub source: Option<(String, u32, u32)>,
}

impl fmt::Display for InstructionSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, index) = (self.block, self.index);
        match &self.source {
            Some((file, line, column)) => {
                write!(f, "{} at {file}:{line}:{column}", self.instruction)
            }
            None => write!(
                f,
                "{} (instruction {index} of block %{block} in {})",
                self.instruction, self.function
            ),
        }
    }
}

/// An invocation of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvocationId {
    /// The id of the workgroup.
    pub group: [u64; 3],
    /// The id of the invocation in its workgroup.
    pub local: [u64; 3],
}

impl fmt::Display for InvocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let triple = |n: [u64; 3]| format!("({}, {}, {})", n[0], n[1], n[2]);
        write!(
            f,
            "{} of workgroup {}",
            triple(self.local),
            triple(self.group)
        )
    }
}

/// A fault. It may have happened several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// A description in one sentence without a full stop.
    pub message: String,
    /// The kernel.
    pub kernel: String,
    /// The instruction at fault.
    pub site: InstructionSite,
    /// The first invocation that had it.
    pub invocation: InvocationId,
    /// The earlier access of a race, and its invocation if it is known.
    pub other: Option<(InstructionSite, Option<InvocationId>)>,
    /// Number of times that it happened.
    pub times: u64,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.kind, self.message)?;
        write!(f, "  {} by invocation {}", self.site, self.invocation)?;
        if let Some((site, invocation)) = &self.other {
            write!(f, "\n  {site}")?;
            match invocation {
                Some(invocation) => write!(f, " by invocation {invocation}")?,
                None => f.write_str(" by another invocation")?,
            }
        }
        if self.times > 1 {
            write!(f, "\n  {} times in {}", self.times, self.kernel)?;
        } else {
            write!(f, "\n  in {}", self.kernel)?;
        }
        Ok(())
    }
}
