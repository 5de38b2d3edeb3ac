//! Which commands of a batch may run side by side.
//!
//! A command has to see what commands before it wrote, and may overwrite nothing that they still use. It is put into
//! the first wave after all those that it has to wait for, whatever was asked for in between: the earliest levels
//! of the graph of what depends on what (Hu, Parallel Sequencing and Assembly Line Problems, 1961). Within a wave the
//! device runs commands as it likes; between two stands a barrier, which takes longer than many a command does.
//!
//! What is known of a command are the buffers that it uses, or parts of them; one of which nothing is known has a wave
//! of its own, which all others wait for. Cost: for each use of a buffer the uses of its parts since
//! it was last written as a whole.

use crate::ByteRegion;
use ash::vk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Buffers of a command that are told of without an allocation.
pub const FEW: usize = 8;

/// How a command sees memory.
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

/// A buffer that a command uses.
#[derive(Clone, Copy, Debug)]
pub struct BufferAccess {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Whether it may be written.
    pub is_written: bool,
    /// What of it is touched, where that is known.
    pub region: Option<ByteRegion>,
}

/// All that a command uses.
#[derive(Clone, Debug)]
pub struct CommandAccesses {
    /// How it does.
    pub kind: CommandKind,
    /// The buffers.
    pub buffers: SmallVec<[BufferAccess; FEW]>,
}

/// What has to stand between waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelBarrier {
    /// The stages that are waited for.
    pub from: vk::PipelineStageFlags,
    /// What is made available of what they did.
    pub written: vk::AccessFlags,
    /// The stages that wait.
    pub to: vk::PipelineStageFlags,
    /// What sees it there.
    pub seen: vk::AccessFlags,
}

impl LevelBarrier {
    /// Between all that was recorded and what the host reads.
    pub const HOST: LevelBarrier = LevelBarrier {
        from: STAGES,
        written: to_write_access(STAGES),
        to: vk::PipelineStageFlags::HOST,
        seen: vk::AccessFlags::HOST_READ,
    };
}

const LAUNCH: vk::PipelineStageFlags = vk::PipelineStageFlags::COMPUTE_SHADER;
const COPY: vk::PipelineStageFlags = vk::PipelineStageFlags::TRANSFER;

/// The stages of all commands. To wait for all that there are, or for all kinds of access, would take twice as
/// long: NVIDIA's driver then waits for what graphics has besides.
const STAGES: vk::PipelineStageFlags =
    vk::PipelineStageFlags::from_raw(LAUNCH.as_raw() | COPY.as_raw());

/// How commands of these stages write.
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

/// How they read.
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

/// The waves of a batch. The first stands for all that was recorded before.
#[derive(Default)]
pub struct DependencyLevels {
    /// Of each buffer the uses that later ones may have to wait for, with their waves.
    buffers: FxHashMap<vk::Buffer, SmallVec<[(usize, BufferAccess); 2]>>,
    /// The stages of each wave's commands.
    stages: Vec<vk::PipelineStageFlags>,
    /// The first wave that commands may join.
    first: usize,
    /// The last wave that was recorded, whose barrier was for the stages that it has.
    recorded: usize,
}

impl DependencyLevels {
    /// Forgets all but that anything may be in use.
    pub fn reset_levels(&mut self) {
        self.buffers.clear();
        self.stages.clear();
        self.stages.push(STAGES);
        (self.first, self.recorded) = (1, 0);
    }

    /// Whether a command would begin a wave, behind all others.
    pub fn is_new(&self, uses: Option<&CommandAccesses>) -> bool {
        uses.is_none_or(|uses| self.find_level(uses) == self.stages.len())
    }

    /// The wave of a command. Nothing is known of one without uses.
    pub fn place_command(&mut self, uses: Option<&CommandAccesses>) -> usize {
        let Some(uses) = uses else {
            let wave = self.stages.len();
            self.stages.push(STAGES);
            self.buffers.clear();
            self.first = wave + 1;
            return wave;
        };
        let wave = self.find_level(uses);
        if wave == self.stages.len() {
            self.stages.push(uses.kind.stage());
        }
        self.stages[wave] |= uses.kind.stage();
        for used in &uses.buffers {
            self.note_access(wave, used);
        }
        wave
    }

    /// The first wave that a command can join, or the next.
    fn find_level(&self, uses: &CommandAccesses) -> usize {
        let waits = uses.buffers.iter().map(|used| self.find_level_after(used));
        let wave = waits.fold(self.first, usize::max);
        let is_closed = wave == self.recorded && !self.stages[wave].contains(uses.kind.stage());
        wave + usize::from(is_closed)
    }

    /// The first wave after those that a use has to wait for.
    fn find_level_after(&self, used: &BufferAccess) -> usize {
        let before = self.buffers.get(&used.buffer).into_iter().flatten();
        let waited = before.filter(|(_, other)| used.waits_for(other));
        waited.fold(0, |after, (wave, _)| after.max(wave + 1))
    }

    fn note_access(&mut self, wave: usize, used: &BufferAccess) {
        let known = self.buffers.entry(used.buffer).or_default();
        if used.region.is_none() {
            // A write of all stands for what it waits for, a read of all for those before it.
            known.retain(|(at, other)| {
                let is_covered = used.is_written || !other.is_written;
                !(is_covered && *at <= wave)
            });
        }
        known.push((wave, *used));
    }

    /// What has to stand before a wave.
    pub fn barrier_before(&self, wave: usize) -> LevelBarrier {
        let [from, to] = [wave - 1, wave].map(|wave| self.stages[wave]);
        LevelBarrier {
            from,
            written: to_write_access(from),
            to,
            seen: to_read_access(to) | to_write_access(to),
        }
    }

    /// Takes note that all commands up to a wave are recorded: later ones join it at the earliest.
    pub fn mark_recorded(&mut self, wave: usize) {
        self.recorded = wave;
        self.first = self.first.max(wave);
    }

    /// The last wave that was recorded.
    pub fn recorded_level(&self) -> usize {
        self.recorded
    }
}

impl BufferAccess {
    /// Whether it has to wait for one before it of the same buffer.
    fn waits_for(&self, before: &BufferAccess) -> bool {
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
        let mut waves = DependencyLevels::default();
        waves.reset_levels();
        waves
    }

    fn place_commands(commands: &[Option<CommandAccesses>]) -> Vec<usize> {
        let mut waves = begin_levels();
        let all = commands.iter().map(|c| waves.place_command(c.as_ref()));
        all.collect()
    }

    #[test]
    fn launches_wait_for_what_they_read_and_overwrite() {
        let commands = [
            build_launch_accesses(&[1], &[2]),
            // Reads what was written.
            build_launch_accesses(&[2], &[4]),
            // Has to do with nothing before it.
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
    fn readers_of_different_waves_are_all_waited_for() {
        let commands = [
            build_launch_accesses(&[], &[1]),
            build_launch_accesses(&[1], &[2]),
            build_launch_accesses(&[2, 9], &[3]),
            build_launch_accesses(&[9], &[4]),
            // The reader of the later wave, though the other was told of last.
            build_launch_accesses(&[], &[9]),
        ];
        assert_eq!(place_commands(&commands), [1, 2, 3, 1, 4]);
    }

    #[test]
    fn what_is_not_known_waits_for_all_and_is_waited_for() {
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
    fn parts_that_are_apart_are_written_side_by_side() {
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
    fn barriers_are_for_the_stages_of_their_waves() {
        let mut waves = begin_levels();
        let commands = [
            build_launch_accesses(&[], &[1]),
            build_copy_accesses(&[], &[2]),
            build_launch_accesses(&[1], &[3]),
            build_copy_accesses(&[3], &[4]),
        ];
        for command in &commands {
            waves.place_command(command.as_ref());
        }
        let stages = [1, 2, 3].map(|wave| {
            let barrier = waves.barrier_before(wave);
            (barrier.from, barrier.to)
        });
        assert_eq!(stages, [(STAGES, STAGES), (STAGES, LAUNCH), (LAUNCH, COPY)]);
    }

    #[test]
    fn a_recorded_wave_takes_what_its_barrier_was_for() {
        let mut waves = begin_levels();
        let place = |waves: &mut DependencyLevels, command: Option<CommandAccesses>| {
            waves.place_command(command.as_ref())
        };
        assert_eq!(place(&mut waves, build_launch_accesses(&[], &[1])), 1);
        assert_eq!(place(&mut waves, build_launch_accesses(&[1], &[2])), 2);
        waves.mark_recorded(2);
        assert_eq!(place(&mut waves, build_launch_accesses(&[8], &[9])), 2);
        assert_eq!(place(&mut waves, build_copy_accesses(&[8], &[7])), 3);
        assert_eq!(place(&mut waves, None), 4);
        waves.mark_recorded(4);
        assert_eq!(place(&mut waves, build_launch_accesses(&[], &[6])), 5);
    }
}
