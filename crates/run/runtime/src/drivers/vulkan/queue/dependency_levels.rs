//! Dependency levels: which commands of a batch may run concurrently.
//!
//! A command has to see what earlier commands wrote, and must not overwrite what they still use. It gets the first level after
//! all commands that it has to wait for, whatever was added in between: the earliest levels of the dependency graph (Hu, Parallel
//! Sequencing and Assembly Line Problems, 1961). The device runs the commands of a level concurrently. A barrier separates two
//! levels; it takes longer than many commands do.
//!
//! The accesses of a command are buffers, or regions of them. A command whose accesses are unknown has a level of its own, which
//! all others wait for. Cost: for each access to a buffer, the accesses to its regions since it was last written as a whole.

use crate::ByteRegion;
use ash::vk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Number of buffers of a command that need no allocation.
pub const FEW_BUFFERS: usize = 8;

/// Kinds of commands, by the pipeline stage that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// A launch of a kernel.
    Launch,
    /// A copy from buffer to buffer, or of a value into one.
    Copy,
}

impl CommandKind {
    fn stage(self) -> vk::PipelineStageFlags {
        match self {
            CommandKind::Launch => LAUNCH,
            CommandKind::Copy => COPY,
        }
    }
}

/// An access of a command to a buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferAccess {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Whether it may be written.
    pub is_written: bool,
    /// The region that is accessed, where it is known.
    pub region: Option<ByteRegion>,
}

/// All accesses of a command.
#[derive(Clone, Debug)]
pub struct CommandAccesses {
    /// Kind of the command.
    pub kind: CommandKind,
    /// The buffers.
    pub buffers: SmallVec<[BufferAccess; FEW_BUFFERS]>,
}

/// The barrier between two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelBarrier {
    /// Stages that are waited for.
    pub from: vk::PipelineStageFlags,
    /// Writes of theirs that are made available.
    pub written: vk::AccessFlags,
    /// Stages that wait.
    pub to: vk::PipelineStageFlags,
    /// Accesses there that see the writes.
    pub seen: vk::AccessFlags,
}

impl LevelBarrier {
    /// The barrier between all commands and reads by the host.
    pub const HOST: LevelBarrier = LevelBarrier {
        from: STAGES,
        written: to_write_access(STAGES),
        to: vk::PipelineStageFlags::HOST,
        seen: vk::AccessFlags::HOST_READ,
    };
}

const LAUNCH: vk::PipelineStageFlags = vk::PipelineStageFlags::COMPUTE_SHADER;
const COPY: vk::PipelineStageFlags = vk::PipelineStageFlags::TRANSFER;

/// The stages of all commands. Waiting for all stages of Vulkan, or for all kinds of access, would take twice as long:
/// NVIDIA's driver then waits for graphics as well.
const STAGES: vk::PipelineStageFlags =
    vk::PipelineStageFlags::from_raw(LAUNCH.as_raw() | COPY.as_raw());

/// Kinds of writes by commands of some stages.
const fn to_write_access(stages: vk::PipelineStageFlags) -> vk::AccessFlags {
    let mut flags = 0;
    if stages.as_raw() & LAUNCH.as_raw() != 0 {
        flags |= vk::AccessFlags::SHADER_WRITE.as_raw();
    }
    if stages.as_raw() & COPY.as_raw() != 0 {
        flags |= vk::AccessFlags::TRANSFER_WRITE.as_raw();
    }
    vk::AccessFlags::from_raw(flags)
}

/// Kinds of reads by commands of some stages.
const fn to_read_access(stages: vk::PipelineStageFlags) -> vk::AccessFlags {
    let mut flags = 0;
    if stages.as_raw() & LAUNCH.as_raw() != 0 {
        flags |= vk::AccessFlags::SHADER_READ.as_raw() | vk::AccessFlags::UNIFORM_READ.as_raw();
    }
    if stages.as_raw() & COPY.as_raw() != 0 {
        flags |= vk::AccessFlags::TRANSFER_READ.as_raw();
    }
    vk::AccessFlags::from_raw(flags)
}

/// The levels of a batch. Level 0 stands for everything before the batch.
#[derive(Default)]
pub struct DependencyLevels {
    /// For each buffer, the accesses that later ones may have to wait for, with their levels.
    buffers: FxHashMap<vk::Buffer, SmallVec<[(usize, BufferAccess); 2]>>,
    /// The stages of each level's commands.
    stages: Vec<vk::PipelineStageFlags>,
    /// The first level that commands may join.
    first: usize,
    /// The last level that was recorded. Its barrier covers the stages that it has.
    recorded: usize,
}

impl DependencyLevels {
    /// Forgets all accesses; everything before may still be in use.
    pub fn reset_levels(&mut self) {
        self.buffers.clear();
        self.stages.clear();
        self.stages.push(STAGES);
        (self.first, self.recorded) = (1, 0);
    }

    /// Whether a command would begin a new level after all others.
    pub fn begins_level(&self, uses: Option<&CommandAccesses>) -> bool {
        uses.is_none_or(|uses| self.find_level(uses) == self.stages.len())
    }

    /// Places a command in a level, which is returned. The accesses of a command without `uses` are unknown.
    pub fn place_command(&mut self, uses: Option<&CommandAccesses>) -> usize {
        let Some(uses) = uses else {
            let level = self.stages.len();
            self.stages.push(STAGES);
            self.buffers.clear();
            self.first = level + 1;
            return level;
        };
        let level = self.find_level(uses);
        if level == self.stages.len() {
            self.stages.push(uses.kind.stage());
        }
        self.stages[level] |= uses.kind.stage();
        for used in &uses.buffers {
            self.note_access(level, used);
        }
        level
    }

    /// The first level that a command can join, or the next new one.
    fn find_level(&self, uses: &CommandAccesses) -> usize {
        let waits = uses.buffers.iter().map(|used| self.find_level_after(used));
        let level = waits.fold(self.first, usize::max);
        let is_closed = level == self.recorded && !self.stages[level].contains(uses.kind.stage());
        level + usize::from(is_closed)
    }

    /// The first level after those that an access has to wait for.
    fn find_level_after(&self, used: &BufferAccess) -> usize {
        let before = self.buffers.get(&used.buffer).into_iter().flatten();
        let waited = before.filter(|(_, other)| used.must_wait_for(other));
        waited.fold(0, |after, (level, _)| after.max(level + 1))
    }

    fn note_access(&mut self, level: usize, used: &BufferAccess) {
        let known = self.buffers.entry(used.buffer).or_default();
        if used.region.is_none() {
            // A write of all stands for what it waits for, a read of all for those before it.
            known.retain(|(at, other)| {
                let is_covered = used.is_written || !other.is_written;
                !(is_covered && *at <= level)
            });
        }
        known.push((level, *used));
    }

    /// The barrier before a level.
    pub fn barrier_before(&self, level: usize) -> LevelBarrier {
        let [from, to] = [level - 1, level].map(|level| self.stages[level]);
        LevelBarrier {
            from,
            written: to_write_access(from),
            to,
            seen: to_read_access(to) | to_write_access(to),
        }
    }

    /// Notes that all commands up to a level are recorded: later ones join that level at the earliest.
    pub fn mark_recorded(&mut self, level: usize) {
        self.recorded = level;
        self.first = self.first.max(level);
    }

    /// The last level that was recorded.
    pub fn recorded_level(&self) -> usize {
        self.recorded
    }
}

impl BufferAccess {
    /// Whether it has to wait for an earlier access to the same buffer.
    fn must_wait_for(&self, before: &BufferAccess) -> bool {
        let both = self.region.zip(before.region);
        (self.is_written || before.is_written) && both.is_none_or(|(a, b)| a.can_overlap(&b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    fn build_accesses(kind: CommandKind, read: &[u64], written: &[u64]) -> CommandAccesses {
        let row = |is_written| {
            move |n: &u64| BufferAccess {
                buffer: vk::Buffer::from_raw(*n),
                is_written,
                region: None,
            }
        };
        let read = read.iter().map(row(false));
        CommandAccesses {
            kind,
            buffers: read.chain(written.iter().map(row(true))).collect(),
        }
    }

    fn build_launch_accesses(read: &[u64], written: &[u64]) -> Option<CommandAccesses> {
        Some(build_accesses(CommandKind::Launch, read, written))
    }

    fn build_copy_accesses(read: &[u64], written: &[u64]) -> Option<CommandAccesses> {
        Some(build_accesses(CommandKind::Copy, read, written))
    }

    fn begin_levels() -> DependencyLevels {
        let mut levels = DependencyLevels::default();
        levels.reset_levels();
        levels
    }

    fn place_commands(commands: &[Option<CommandAccesses>]) -> Vec<usize> {
        let mut levels = begin_levels();
        let all = commands.iter().map(|c| levels.place_command(c.as_ref()));
        all.collect()
    }

    #[test]
    fn launches_wait_for_what_they_read_and_overwrite() {
        let commands = [
            build_launch_accesses(&[1], &[2]),
            // Reads what was written.
            build_launch_accesses(&[2], &[4]),
            // Independent of everything before it.
            build_launch_accesses(&[1], &[3]),
            build_launch_accesses(&[3], &[5]),
            // Overwrites what is read, and then what is written.
            build_launch_accesses(&[], &[3]),
            build_launch_accesses(&[], &[3]),
            build_launch_accesses(&[6], &[6]),
        ];
        assert_eq!(place_commands(&commands), [1, 2, 1, 2, 3, 4, 1]);
    }

    #[test]
    fn readers_of_different_levels_are_all_waited_for() {
        let commands = [
            build_launch_accesses(&[], &[1]),
            build_launch_accesses(&[1], &[2]),
            build_launch_accesses(&[2, 9], &[3]),
            build_launch_accesses(&[9], &[4]),
            // After the reader of the later level, though the other one was added last.
            build_launch_accesses(&[], &[9]),
        ];
        assert_eq!(place_commands(&commands), [1, 2, 3, 1, 4]);
    }

    #[test]
    fn unknown_accesses_wait_for_all_and_are_waited_for() {
        let commands = [
            build_launch_accesses(&[], &[1]),
            None,
            None,
            build_launch_accesses(&[], &[2]),
            build_copy_accesses(&[7], &[8]),
            None,
            build_launch_accesses(&[], &[3]),
        ];
        assert_eq!(place_commands(&commands), [1, 2, 3, 4, 4, 5, 6]);
    }

    #[test]
    fn disjoint_regions_are_written_concurrently() {
        let part = |first, is_written| {
            let region = ByteRegion {
                first,
                width: 8,
                rows: 4,
                stride: 64,
            };
            let mut uses = build_accesses(CommandKind::Launch, &[], &[1]);
            uses.buffers[0].is_written = is_written;
            uses.buffers[0].region = Some(region);
            Some(uses)
        };
        let commands = [
            build_launch_accesses(&[1], &[2]),
            part(0, true),
            part(8, true),
            part(4, false),
            part(16, false),
            build_launch_accesses(&[1], &[3]),
            part(64, true),
        ];
        assert_eq!(place_commands(&commands), [1, 2, 2, 3, 1, 3, 4]);
    }

    #[test]
    fn barriers_cover_the_stages_of_their_levels() {
        let mut levels = begin_levels();
        let commands = [
            build_launch_accesses(&[], &[1]),
            build_copy_accesses(&[], &[2]),
            build_launch_accesses(&[1], &[3]),
            build_copy_accesses(&[3], &[4]),
        ];
        for command in &commands {
            levels.place_command(command.as_ref());
        }
        let stages = [1, 2, 3].map(|level| {
            let barrier = levels.barrier_before(level);
            (barrier.from, barrier.to)
        });
        assert_eq!(stages, [(STAGES, STAGES), (STAGES, LAUNCH), (LAUNCH, COPY)]);
    }

    #[test]
    fn a_recorded_level_takes_what_its_barrier_covers() {
        let mut levels = begin_levels();
        let place = |levels: &mut DependencyLevels, command: Option<CommandAccesses>| {
            levels.place_command(command.as_ref())
        };
        assert_eq!(place(&mut levels, build_launch_accesses(&[], &[1])), 1);
        assert_eq!(place(&mut levels, build_launch_accesses(&[1], &[2])), 2);
        levels.mark_recorded(2);
        assert_eq!(place(&mut levels, build_launch_accesses(&[8], &[9])), 2);
        assert_eq!(place(&mut levels, build_copy_accesses(&[8], &[7])), 3);
        assert_eq!(place(&mut levels, None), 4);
        levels.mark_recorded(4);
        assert_eq!(place(&mut levels, build_launch_accesses(&[], &[6])), 5);
    }
}
