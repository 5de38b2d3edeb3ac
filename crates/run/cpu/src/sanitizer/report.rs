//! What is told of a fault.

use spirula_diagnostics::SourceLocation;
use std::fmt;

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// An access outside of what the pointer points to.
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
    /// Its name.
    pub instruction: String,
    /// The function that has it: its name, or its id.
    pub function: String,
    /// The id of its block's label.
    pub block: u32,
    /// Its number in the block, from 0.
    pub index: u32,
    /// Where it stands in the module.
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
    /// Its workgroup's id.
    pub group: [u64; 3],
    /// Its id in the workgroup.
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

/// One fault, however often it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// What kind of fault.
    pub kind: FaultKind,
    /// What happened, one sentence without a full stop.
    pub message: String,
    /// The kernel.
    pub kernel: String,
    /// The instruction at fault.
    pub site: InstructionSite,
    /// Who ran it first.
    pub invocation: InvocationId,
    /// Of races: the earlier access, and who made it if that is known.
    pub other: Option<(InstructionSite, Option<InvocationId>)>,
    /// How often it happened.
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
