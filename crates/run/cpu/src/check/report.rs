//! What is told of a fault.

use spirula_diagnostics::Place;
use std::fmt;

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
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

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] = [
        Kind::OutOfBounds,
        Kind::Race,
        Kind::Uninitialised,
        Kind::Divergence,
        Kind::Division,
        Kind::Shift,
        Kind::EndlessLoop,
    ];

    /// The name by which it can be left out.
    pub fn name(self) -> &'static str {
        match self {
            Kind::OutOfBounds => "out-of-bounds",
            Kind::Race => "race",
            Kind::Uninitialised => "uninitialised",
            Kind::Divergence => "divergence",
            Kind::Division => "division",
            Kind::Shift => "shift",
            Kind::EndlessLoop => "endless-loop",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An instruction that did something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Its name.
    pub instruction: String,
    /// The function that has it: its name, or its id.
    pub function: String,
    /// The id of its block's label.
    pub block: u32,
    /// Its number in the block, from 0.
    pub index: u32,
    /// Where it stands in the module.
    pub place: Place,
    /// File, line and column of the source, where debug information says so.
    pub source: Option<(String, u32, u32)>,
}

impl fmt::Display for Site {
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
pub struct Invocation {
    /// Its workgroup's id.
    pub group: [u64; 3],
    /// Its id in the workgroup.
    pub local: [u64; 3],
}

impl fmt::Display for Invocation {
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
pub struct Report {
    /// What kind of fault.
    pub kind: Kind,
    /// What happened, one sentence without a full stop.
    pub message: String,
    /// The kernel.
    pub kernel: String,
    /// The instruction at fault.
    pub site: Site,
    /// Who ran it first.
    pub invocation: Invocation,
    /// Of races: the earlier access, and who made it if that is known.
    pub other: Option<(Site, Option<Invocation>)>,
    /// How often it happened.
    pub times: u64,
}

impl fmt::Display for Report {
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
