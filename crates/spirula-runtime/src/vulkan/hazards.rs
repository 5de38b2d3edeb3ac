//! Which commands have to wait for those before them.
//!
//! A command has to see what commands before it wrote, and may overwrite nothing that they still use; others
//! run side by side, as far as the device likes. What is known of a command are the buffers that it uses; one
//! of which nothing is known waits for all and is waited for. Launches and copies see memory in different
//! stages, hence what is open is kept for each. Cost: one entry of a map for each use of a buffer.

use ash::vk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Buffers of a command that are told of without an allocation.
pub const FEW: usize = 8;

/// How a command sees memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A launch of a kernel.
    Launch,
    /// A copy from buffer to buffer, or of a value into one.
    Copy,
}

/// All that a command uses.
#[derive(Clone, Debug)]
pub struct Uses {
    /// How it does.
    pub kind: Kind,
    /// The buffers, and whether each may be written.
    pub buffers: SmallVec<[(vk::Buffer, bool); FEW]>,
}

/// What has to stand before a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// The stages that are waited for.
    pub from: vk::PipelineStageFlags,
    /// What is made available of what they did.
    pub written: vk::AccessFlags,
    /// The stages that wait.
    pub to: vk::PipelineStageFlags,
    /// What sees it there.
    pub seen: vk::AccessFlags,
}

impl Barrier {
    /// Between all that was recorded and all that follows. All stages, or all kinds of access, would take
    /// twice as long: NVIDIA's driver then waits for what graphics has besides.
    pub const FULL: Barrier = Barrier {
        from: STAGES,
        written: WRITTEN,
        to: STAGES,
        seen: vk::AccessFlags::from_raw(READ.as_raw() | WRITTEN.as_raw()),
    };

    /// Between all that was recorded and what the host reads.
    pub const HOST: Barrier = Barrier {
        from: STAGES,
        written: WRITTEN,
        to: vk::PipelineStageFlags::HOST,
        seen: vk::AccessFlags::HOST_READ,
    };
}

/// The stages of all commands that are recorded.
const STAGES: vk::PipelineStageFlags = vk::PipelineStageFlags::from_raw(
    vk::PipelineStageFlags::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags::TRANSFER.as_raw(),
);

/// What they read.
const READ: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_READ.as_raw()
        | vk::AccessFlags::UNIFORM_READ.as_raw()
        | vk::AccessFlags::TRANSFER_READ.as_raw(),
);

/// What they write.
const WRITTEN: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
);

/// What commands of one kind have to wait for.
#[derive(Default)]
struct Open {
    /// The buffers in use since their last barrier, and whether they are written.
    buffers: FxHashMap<vk::Buffer, bool>,
    /// The stages that use them.
    stages: vk::PipelineStageFlags,
    /// Whether a command of which nothing is known is among them.
    unknown: bool,
}

/// The commands of a batch, as far as later ones have to wait for them.
#[derive(Default)]
pub struct Hazards {
    launches: Open,
    copies: Open,
}

impl Hazards {
    /// Forgets all but that anything may be in use.
    pub fn begin(&mut self) {
        for open in [&mut self.launches, &mut self.copies] {
            open.clear();
            open.unknown = true;
        }
    }

    /// Takes note of a command; what has to stand before it. Nothing is known of one without uses.
    pub fn meets(&mut self, uses: Option<&Uses>) -> Option<Barrier> {
        let Some(uses) = uses else {
            self.begin();
            return Some(Barrier::FULL);
        };
        let open = match uses.kind {
            Kind::Launch => &mut self.launches,
            Kind::Copy => &mut self.copies,
        };
        let barrier = open.barrier(uses);
        if barrier == Some(Barrier::FULL) {
            self.launches.clear();
            self.copies.clear();
        } else if barrier.is_some() {
            open.clear();
        }
        for open in [&mut self.launches, &mut self.copies] {
            open.stages |= stage(uses.kind);
            for (buffer, is_written) in &uses.buffers {
                *open.buffers.entry(*buffer).or_default() |= is_written;
            }
        }
        barrier
    }
}

impl Open {
    fn clear(&mut self) {
        self.buffers.clear();
        self.stages = vk::PipelineStageFlags::empty();
        self.unknown = false;
    }

    /// What has to stand before a command of this kind.
    fn barrier(&self, uses: &Uses) -> Option<Barrier> {
        if self.unknown {
            return Some(Barrier::FULL);
        }
        let mut buffers = uses.buffers.iter();
        let meets = buffers.any(|(buffer, is_written)| {
            let before = self.buffers.get(buffer);
            before.is_some_and(|was_written| *is_written || *was_written)
        });
        let mut written = vk::AccessFlags::empty();
        for kind in [Kind::Launch, Kind::Copy] {
            if self.stages.contains(stage(kind)) {
                written |= write(kind);
            }
        }
        let read = match uses.kind {
            Kind::Launch => vk::AccessFlags::SHADER_READ | vk::AccessFlags::UNIFORM_READ,
            Kind::Copy => vk::AccessFlags::TRANSFER_READ,
        };
        meets.then_some(Barrier {
            from: self.stages,
            written,
            to: stage(uses.kind),
            seen: read | write(uses.kind),
        })
    }
}

fn stage(kind: Kind) -> vk::PipelineStageFlags {
    match kind {
        Kind::Launch => vk::PipelineStageFlags::COMPUTE_SHADER,
        Kind::Copy => vk::PipelineStageFlags::TRANSFER,
    }
}

fn write(kind: Kind) -> vk::AccessFlags {
    match kind {
        Kind::Launch => vk::AccessFlags::SHADER_WRITE,
        Kind::Copy => vk::AccessFlags::TRANSFER_WRITE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    fn uses(kind: Kind, read: &[u64], written: &[u64]) -> Uses {
        let row = |is_written| move |n: &u64| (vk::Buffer::from_raw(*n), is_written);
        let read = read.iter().map(row(false));
        Uses {
            kind,
            buffers: read.chain(written.iter().map(row(true))).collect(),
        }
    }

    /// The stages between which barriers stand before commands, by the stage's name; "-" where there is none.
    fn barriers(commands: &[Option<Uses>]) -> Vec<String> {
        let mut hazards = Hazards::default();
        let name = |stages: vk::PipelineStageFlags| {
            let all = [
                (vk::PipelineStageFlags::COMPUTE_SHADER, "launch"),
                (vk::PipelineStageFlags::TRANSFER, "copy"),
            ];
            let named = all.iter().filter(|(stage, _)| stages.contains(*stage));
            named.map(|(_, name)| *name).collect::<Vec<_>>().join("+")
        };
        let row = |barrier: Option<Barrier>| match barrier {
            Some(barrier) => format!("{} > {}", name(barrier.from), name(barrier.to)),
            None => "-".to_owned(),
        };
        let met = commands.iter().map(|c| row(hazards.meets(c.as_ref())));
        met.collect()
    }

    #[test]
    fn launches_wait_for_what_they_read_and_overwrite() {
        let launch = |read: &[u64], written: &[u64]| Some(uses(Kind::Launch, read, written));
        let commands = [
            launch(&[1], &[2]),
            launch(&[1], &[3]),
            // Reads what was written.
            launch(&[2], &[4]),
            // The barrier before stands for both.
            launch(&[3], &[5]),
            // Overwrites what is read.
            launch(&[], &[3]),
            // Overwrites what is written.
            launch(&[], &[3]),
            launch(&[6], &[6]),
        ];
        let wait = "launch > launch";
        let wanted = ["-", "-", wait, "-", wait, wait, "-"];
        assert_eq!(barriers(&commands), wanted);
    }

    #[test]
    fn copies_wait_on_their_own() {
        let commands = [
            Some(uses(Kind::Launch, &[], &[1])),
            Some(uses(Kind::Launch, &[1], &[2])),
            // The barrier before was for launches alone.
            Some(uses(Kind::Copy, &[1], &[9])),
            Some(uses(Kind::Copy, &[2], &[8])),
            // Two that write, of both kinds.
            Some(uses(Kind::Launch, &[9], &[3])),
            Some(uses(Kind::Copy, &[3], &[9])),
        ];
        let both = "launch+copy > launch";
        let wanted = [
            "-",
            "launch > launch",
            "launch > copy",
            "-",
            both,
            "launch+copy > copy",
        ];
        assert_eq!(barriers(&commands), wanted);
    }

    #[test]
    fn what_is_not_known_waits_for_all_and_is_waited_for() {
        let launch = |n| Some(uses(Kind::Launch, &[], &[n]));
        let copy = Some(uses(Kind::Copy, &[7], &[8]));
        let commands = [
            launch(1),
            None,
            None,
            launch(2),
            launch(3),
            copy.clone(),
            None,
            copy,
        ];
        let all = "launch+copy > launch+copy";
        assert_eq!(
            barriers(&commands),
            ["-", all, all, all, "-", "-", all, all]
        );
    }
}
