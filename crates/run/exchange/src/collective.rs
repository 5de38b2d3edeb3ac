//! Collectives among some processes of a mesh.
//!
//! Few bytes take the fewest steps, many bytes the least traffic of each process:
//!
//! - gathers: Bruck's algorithm with log n steps (J. Bruck et al., 1997), or a ring (R. Thakur, R. Rabenseifner, W. Gropp, 2005);
//! - broadcasts: a binomial tree, or a chain of segments;
//! - exchanges and permutations: one message for each pair.
//!
//! Members of one process have the memory of a block in common, so that each block goes to all at once.

use crate::error::{ExchangeError, ExchangeResult};
use crate::frame::{ByteBlock, MessageTag};
use crate::mesh::ProcessMesh;

/// Bytes from which on traffic counts more than steps.
const MANY_BYTES: usize = 64 << 10;

/// Bytes of a segment of a broadcast.
const SEGMENT_BYTES: usize = 256 << 10;

/// A block for the process at a position. Both sides know its step.
#[derive(Clone, Copy, Debug)]
pub struct SentBlock<'b> {
    /// The position.
    pub target: usize,
    /// The step.
    pub step: usize,
    /// The block.
    pub content: &'b ByteBlock,
}

/// A block of the process at a position.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedBlock {
    /// The position.
    pub source: usize,
    /// The step.
    pub step: usize,
    /// Bytes of the block.
    pub length: usize,
}

/// The processes that take part in a collective.
#[derive(Clone, Copy)]
pub struct CollectiveLink<'m> {
    mesh: &'m ProcessMesh,
    /// The place of the collective, without a step.
    tag: MessageTag,
    processes: &'m [usize],
    /// The position of this process.
    own: usize,
}

impl<'m> CollectiveLink<'m> {
    /// The link of processes, in an order that all of them know.
    ///
    /// # Errors
    /// When this process is none of them.
    pub fn new(
        mesh: &'m ProcessMesh,
        tag: MessageTag,
        processes: &'m [usize],
    ) -> ExchangeResult<CollectiveLink<'m>> {
        let own = processes.iter().position(|peer| *peer == mesh.process());
        let own = own.ok_or_else(|| ExchangeError::Program {
            process: mesh.process(),
            address: "this process".to_owned(),
        })?;
        Ok(CollectiveLink {
            mesh,
            tag,
            processes,
            own,
        })
    }

    /// The position of this process.
    pub fn position(&self) -> usize {
        self.own
    }

    /// Number of processes.
    pub fn count(&self) -> usize {
        self.processes.len()
    }

    fn send(&self, to: usize, step: usize, content: &[u8]) -> ExchangeResult<()> {
        let tag = MessageTag {
            step: step as u32,
            ..self.tag
        };
        self.mesh.send(self.processes[to], &tag, content)
    }

    fn send_block(&self, to: usize, step: usize, content: &ByteBlock) -> ExchangeResult<()> {
        let tag = MessageTag {
            step: step as u32,
            ..self.tag
        };
        self.mesh.send_block(self.processes[to], &tag, content)
    }

    fn receive(&self, from: usize, step: usize, length: usize) -> ExchangeResult<ByteBlock> {
        let tag = MessageTag {
            step: step as u32,
            ..self.tag
        };
        self.mesh.receive(self.processes[from], &tag, length)
    }

    /// The blocks of all processes, of which each knows the lengths.
    ///
    /// # Errors
    /// When a process fails.
    pub fn gather(&self, block: ByteBlock, lengths: &[usize]) -> ExchangeResult<Vec<ByteBlock>> {
        let total: usize = lengths.iter().sum();
        if self.mesh.is_of_threads() {
            self.exchange(vec![block; self.count()], lengths)
        } else if total < MANY_BYTES {
            self.gather_by_doubling(block, lengths)
        } else {
            self.gather_in_ring(block, lengths)
        }
    }

    /// In each step a process has twice as many blocks: its own, and those of the processes after it.
    fn gather_by_doubling(
        &self,
        block: ByteBlock,
        lengths: &[usize],
    ) -> ExchangeResult<Vec<ByteBlock>> {
        let count = self.count();
        let mut blocks: Vec<ByteBlock> = vec![block];
        let mut step = 0;
        while blocks.len() < count {
            let distance = blocks.len();
            let more = distance.min(count - distance);
            let target = (self.own + count - distance) % count;
            let source = (self.own + distance) % count;
            let sent: Vec<&[u8]> = blocks[..more].iter().map(|own| &own[..]).collect();
            self.send(target, step, &sent.concat())?;
            let theirs = |at: usize| lengths[(source + at) % count];
            let length = (0..more).map(theirs).sum();
            let content = self.receive(source, step, length)?;
            let mut rest = content;
            for at in 0..more {
                blocks.push(rest.split_to(theirs(at)));
            }
            step += 1;
        }
        blocks.rotate_right(self.own);
        Ok(blocks)
    }

    /// In each step a process sends the block that it received last to the next one.
    fn gather_in_ring(
        &self,
        block: ByteBlock,
        lengths: &[usize],
    ) -> ExchangeResult<Vec<ByteBlock>> {
        let count = self.count();
        let (next, before) = ((self.own + 1) % count, (self.own + count - 1) % count);
        let mut blocks = vec![ByteBlock::default(); count];
        blocks[self.own] = block;
        for step in 0..count - 1 {
            let sent = (self.own + count - step) % count;
            let received = (self.own + 2 * count - step - 1) % count;
            self.send_block(next, step, &blocks[sent])?;
            blocks[received] = self.receive(before, step, lengths[received])?;
        }
        Ok(blocks)
    }

    /// The block of the process at a position, which alone gives one.
    ///
    /// # Errors
    /// When a process fails.
    pub fn broadcast(
        &self,
        root: usize,
        block: Option<ByteBlock>,
        length: usize,
    ) -> ExchangeResult<ByteBlock> {
        if self.mesh.is_of_threads() {
            self.broadcast_to_all(root, block, length)
        } else if length < MANY_BYTES {
            self.broadcast_in_tree(root, block, length)
        } else {
            self.broadcast_in_chain(root, block, length)
        }
    }

    /// The process that has the block sends it to all others.
    fn broadcast_to_all(
        &self,
        root: usize,
        block: Option<ByteBlock>,
        length: usize,
    ) -> ExchangeResult<ByteBlock> {
        let Some(block) = block else {
            return self.receive(root, 0, length);
        };
        let others = (0..self.count()).filter(|other| *other != root);
        for other in others {
            self.send_block(other, 0, &block)?;
        }
        Ok(block)
    }

    /// A process that has the block sends it to the one at half the remaining distance.
    fn broadcast_in_tree(
        &self,
        root: usize,
        block: Option<ByteBlock>,
        length: usize,
    ) -> ExchangeResult<ByteBlock> {
        let count = self.count();
        let relative = (self.own + count - root) % count;
        let at = |relative: usize| (relative + root) % count;
        let below = |distance: usize| relative & (distance - 1) == 0;
        let mut distance = count.next_power_of_two();
        let mut block = block;
        while distance > 1 {
            let half = distance / 2;
            match &block {
                Some(block) if below(distance) && relative + half < count => {
                    self.send(at(relative + half), 0, block)?;
                }
                None if below(half) && relative & half != 0 => {
                    let content = self.receive(at(relative - half), 0, length)?;
                    block = Some(content);
                }
                _ => {}
            }
            distance = half;
        }
        Ok(block.unwrap_or_default())
    }

    /// Each process sends a segment to the next one while it receives the one after it.
    fn broadcast_in_chain(
        &self,
        root: usize,
        block: Option<ByteBlock>,
        length: usize,
    ) -> ExchangeResult<ByteBlock> {
        let count = self.count();
        let relative = (self.own + count - root) % count;
        let has_next = relative + 1 < count;
        let (next, before) = ((self.own + 1) % count, (self.own + count - 1) % count);
        let mut whole = Vec::new();
        for (step, start) in (0..length).step_by(SEGMENT_BYTES).enumerate() {
            let end = length.min(start + SEGMENT_BYTES);
            let segment = match &block {
                Some(block) => block.slice(start..end),
                None => self.receive(before, step, end - start)?,
            };
            if has_next {
                self.send_block(next, step, &segment)?;
            }
            if block.is_none() {
                whole.extend_from_slice(&segment);
            }
        }
        Ok(block.unwrap_or_else(|| whole.into()))
    }

    /// Sends a part to each process, and receives one of each. The part for this process itself is returned as it is.
    ///
    /// # Errors
    /// When a process fails.
    pub fn exchange(
        &self,
        mut parts: Vec<ByteBlock>,
        lengths: &[usize],
    ) -> ExchangeResult<Vec<ByteBlock>> {
        let count = self.count();
        let mut received = vec![ByteBlock::default(); count];
        received[self.own] = std::mem::take(&mut parts[self.own]);
        for step in 1..count {
            let (target, source) = ((self.own + step) % count, (self.own + count - step) % count);
            self.send_block(target, step, &parts[target])?;
            received[source] = self.receive(source, step, lengths[source])?;
        }
        Ok(received)
    }

    /// Sends blocks to processes, and receives blocks of processes.
    ///
    /// # Errors
    /// When a process fails.
    pub fn permute(
        &self,
        sent: &[SentBlock<'_>],
        awaited: &[AwaitedBlock],
    ) -> ExchangeResult<Vec<ByteBlock>> {
        for block in sent {
            self.send_block(block.target, block.step, block.content)?;
        }
        let awaited = awaited.iter();
        awaited
            .map(|block| self.receive(block.source, block.step, block.length))
            .collect()
    }
}
