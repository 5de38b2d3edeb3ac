//! Movement of elements between the devices of a group, of which some belong to other processes.

use crate::error::{PluginError, PluginResult};
use spirula::ElementMovement;
use spirula_exchange::frame::{ByteBlock, MessageTag};
use spirula_exchange::{AwaitedBlock, CollectiveLink, ProcessMesh, SentBlock};

/// A group of devices that exchange elements.
pub struct DeviceExchange<'a> {
    pub kind: ElementMovement,
    /// The devices, by their numbers in the program.
    pub members: &'a [usize],
    /// The process of each device of the program.
    pub owners: &'a [usize],
    /// The pairs of a permutation.
    pub pairs: &'a [Vec<usize>],
    /// The operands of the devices of this process, in the order of the members.
    pub operands: Vec<ByteBlock>,
    /// Bytes of a result.
    pub result_length: usize,
}

/// The elements that a device gets, in parts one after the other. Devices may share parts.
pub type ExchangedParts = Vec<ByteBlock>;

/// The processes of a group.
struct GroupProcesses {
    /// In the order of their first devices.
    processes: Vec<usize>,
    /// The positions in the group of the devices of each process.
    positions: Vec<Vec<usize>>,
}

impl DeviceExchange<'_> {
    /// Exchanges the elements. Returns the results of the devices of this process.
    ///
    /// # Errors
    /// When another process fails, or sizes do not fit.
    pub fn run(mut self, mesh: &ProcessMesh, tag: MessageTag) -> PluginResult<Vec<ExchangedParts>> {
        let group = self.list_processes();
        let link = CollectiveLink::new(mesh, tag, &group.processes)?;
        let length = self.operands.first().map_or(0, |operand| operand.len());
        match self.kind {
            ElementMovement::Gather => self.gather(&link, &group, length),
            ElementMovement::AllToAll => self.exchange_parts(&link, &group, length),
            ElementMovement::Broadcast => {
                let is_root = group.positions[link.position()].contains(&0);
                let block = is_root.then(|| std::mem::take(&mut self.operands[0]));
                let block = link.broadcast(0, block, length)?;
                Ok(vec![vec![block]; self.operands.len()])
            }
            ElementMovement::Permute => self.permute(&link, &group, length),
        }
    }

    fn list_processes(&self) -> GroupProcesses {
        let mut group = GroupProcesses {
            processes: Vec::new(),
            positions: Vec::new(),
        };
        for (position, member) in self.members.iter().enumerate() {
            let owner = self.owners[*member];
            let at = group.processes.iter().position(|own| *own == owner);
            let at = at.unwrap_or_else(|| {
                group.processes.push(owner);
                group.positions.push(Vec::new());
                group.processes.len() - 1
            });
            group.positions[at].push(position);
        }
        group
    }

    /// The operands of all devices one after the other.
    fn gather(
        &mut self,
        link: &CollectiveLink<'_>,
        group: &GroupProcesses,
        length: usize,
    ) -> PluginResult<Vec<ExchangedParts>> {
        let lengths = group.positions.iter().map(|own| own.len() * length);
        let lengths: Vec<usize> = lengths.collect();
        let count = self.operands.len();
        let own = match &mut self.operands[..] {
            [only] => std::mem::take(only),
            several => concat_blocks(several),
        };
        let blocks = link.gather(own, &lengths)?;
        let is_in_order = group.positions.iter().flatten().is_sorted();
        if is_in_order {
            return Ok(vec![blocks; count]);
        }
        let mut whole = vec![0; self.members.len() * length];
        for (block, positions) in blocks.iter().zip(&group.positions) {
            for (at, position) in positions.iter().enumerate() {
                let part = &block[at * length..(at + 1) * length];
                whole[position * length..(position + 1) * length].copy_from_slice(part);
            }
        }
        Ok(vec![vec![whole.into()]; count])
    }

    /// A part of each device for each device.
    fn exchange_parts(
        &self,
        link: &CollectiveLink<'_>,
        group: &GroupProcesses,
        length: usize,
    ) -> PluginResult<Vec<ExchangedParts>> {
        let count = self.members.len();
        if !length.is_multiple_of(count) {
            return Err(PluginError::internal("an exchange has unequal parts"));
        }
        let part = length / count;
        let own = &group.positions[link.position()];
        let is_single = |positions: &Vec<usize>| positions.len() == 1;
        if group.positions.iter().all(is_single) {
            return self.exchange_slices(link, group, part);
        }
        let sent = group.positions.iter().map(|targets| {
            let mut message = Vec::with_capacity(own.len() * targets.len() * part);
            for operand in &self.operands {
                for target in targets {
                    message.extend_from_slice(&operand[target * part..(target + 1) * part]);
                }
            }
            message.into()
        });
        let sent: Vec<ByteBlock> = sent.collect();
        let lengths = group
            .positions
            .iter()
            .map(|own_of| own_of.len() * own.len() * part);
        let received = link.exchange(sent, &lengths.collect::<Vec<usize>>())?;
        let mut results = vec![vec![0; length]; own.len()];
        for (message, sources) in received.iter().zip(&group.positions) {
            let mut parts = message.chunks(part.max(1));
            for source in sources {
                for result in &mut results {
                    let bytes = parts.next().unwrap_or_default();
                    result[source * part..source * part + bytes.len()].copy_from_slice(bytes);
                }
            }
        }
        Ok(list_single_parts(results))
    }

    /// The same where each process has one device: parts of the operand are sent as they are.
    fn exchange_slices(
        &self,
        link: &CollectiveLink<'_>,
        group: &GroupProcesses,
        part: usize,
    ) -> PluginResult<Vec<ExchangedParts>> {
        let operand = &self.operands[0];
        let positions = || group.positions.iter().flatten();
        let sent = positions().map(|target| operand.slice(target * part..(target + 1) * part));
        let received = link.exchange(sent.collect(), &vec![part; group.positions.len()])?;
        let mut result = vec![ByteBlock::default(); received.len()];
        for (block, source) in received.into_iter().zip(positions()) {
            result[*source] = block;
        }
        Ok(vec![result])
    }

    /// The operand of the source of each device. A device that nobody sends to gets zeros.
    fn permute(
        &self,
        link: &CollectiveLink<'_>,
        group: &GroupProcesses,
        length: usize,
    ) -> PluginResult<Vec<ExchangedParts>> {
        let own = &group.positions[link.position()];
        let local = |device: usize| {
            let position = self.members.iter().position(|member| *member == device);
            position.and_then(|position| own.iter().position(|other| *other == position))
        };
        let process_of = |device: usize| {
            let owner = self.owners[device];
            let found = group.processes.iter().position(|other| *other == owner);
            found.unwrap_or(link.position())
        };
        let nothing = ByteBlock::from(vec![0; self.result_length]);
        let mut results = vec![nothing; own.len()];
        let (mut sent, mut awaited, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (step, pair) in self.pairs.iter().enumerate() {
            let [source, target] = pair[..] else { continue };
            match (local(source), local(target)) {
                (Some(source), Some(target)) => results[target].clone_from(&self.operands[source]),
                (Some(source), None) => sent.push(SentBlock {
                    target: process_of(target),
                    step,
                    content: &self.operands[source],
                }),
                (None, Some(target)) => {
                    awaited.push(AwaitedBlock {
                        source: process_of(source),
                        step,
                        length,
                    });
                    places.push(target);
                }
                (None, None) => {}
            }
        }
        for (block, place) in link.permute(&sent, &awaited)?.into_iter().zip(places) {
            results[place] = block;
        }
        Ok(results.into_iter().map(|block| vec![block]).collect())
    }
}

fn concat_blocks(blocks: &[ByteBlock]) -> ByteBlock {
    blocks.concat().into()
}

/// Results of one part each.
fn list_single_parts(results: Vec<Vec<u8>>) -> Vec<ExchangedParts> {
    let results = results.into_iter();
    results.map(|bytes| vec![bytes.into()]).collect()
}
