//! Messages that have arrived and that nobody has received yet.

use crate::error::{ExchangeError, ExchangeResult};
use crate::frame::{ByteBlock, FrameKind, MessageFrame, MessageTag, RunKey};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of messages of a process that may wait while nobody waits for that process.
const MOST_WAITING_BYTES: usize = 1 << 30;

/// The messages of all processes.
pub struct MessageInbox {
    state: Mutex<InboxState>,
    changed: Condvar,
    addresses: Vec<String>,
}

#[derive(Default)]
struct InboxState {
    messages: HashMap<(usize, MessageTag), ByteBlock>,
    peers: Vec<PeerState>,
    /// The reasons of runs that were given up, with the process that did.
    aborted: HashMap<RunKey, (usize, String)>,
    /// The runs that have ended here, by their devices.
    ended: HashMap<u64, EndedRuns>,
}

#[derive(Default)]
struct PeerState {
    /// The reason why no further message arrives.
    end: Option<ExchangeError>,
    waiting_bytes: usize,
    receivers: usize,
}

/// Numbers of ended runs: all up to one, and some after it.
#[derive(Default)]
struct EndedRuns {
    all_up_to: u64,
    others: BTreeSet<u64>,
}

impl EndedRuns {
    fn contains(&self, number: u64) -> bool {
        number <= self.all_up_to || self.others.contains(&number)
    }

    fn insert(&mut self, number: u64) {
        self.others.insert(number);
        while self.others.remove(&(self.all_up_to + 1)) {
            self.all_up_to += 1;
        }
    }
}

impl InboxState {
    fn has_ended(&self, run: RunKey) -> bool {
        let ended = self.ended.get(&run.devices);
        ended.is_some_and(|ended| ended.contains(run.number))
    }

    /// A message of a process, or the reason why it cannot come.
    fn take(&mut self, from: usize, tag: &MessageTag) -> Option<ExchangeResult<ByteBlock>> {
        if let Some(content) = self.messages.remove(&(from, *tag)) {
            self.peers[from].waiting_bytes -= content.len();
            return Some(Ok(content));
        }
        if let Some((process, reason)) = self.aborted.get(&tag.run) {
            return Some(Err(ExchangeError::Aborted {
                process: *process,
                reason: reason.clone(),
            }));
        }
        let end = self.peers[from].end.as_ref();
        end.map(|end| Err(end.clone()))
    }

    /// Whether a process sent a message of another program for the same run.
    fn has_other_program(&self, from: usize, tag: &MessageTag) -> bool {
        let mut keys = self.messages.keys();
        keys.any(|(sender, other)| {
            *sender == from && other.run == tag.run && other.program != tag.program
        })
    }
}

impl MessageInbox {
    /// An empty inbox for processes of these addresses.
    pub fn new(addresses: Vec<String>) -> MessageInbox {
        let state = InboxState {
            peers: addresses.iter().map(|_| PeerState::default()).collect(),
            ..InboxState::default()
        };
        MessageInbox {
            state: Mutex::new(state),
            changed: Condvar::new(),
            addresses,
        }
    }

    fn lock(&self) -> MutexGuard<'_, InboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message. Waits while the process is far ahead and nobody waits for it.
    pub fn deliver(&self, from: usize, frame: MessageFrame) {
        let mut state = self.insert_locked(from, frame.kind, &frame.tag, frame.content.into());
        let is_ahead = |peer: &PeerState| {
            peer.waiting_bytes > MOST_WAITING_BYTES && peer.receivers == 0 && peer.end.is_none()
        };
        while is_ahead(&state.peers[from]) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds a message.
    pub fn insert(&self, from: usize, kind: FrameKind, tag: &MessageTag, content: ByteBlock) {
        drop(self.insert_locked(from, kind, tag, content));
    }

    fn insert_locked(
        &self,
        from: usize,
        kind: FrameKind,
        tag: &MessageTag,
        content: ByteBlock,
    ) -> MutexGuard<'_, InboxState> {
        let mut state = self.lock();
        if state.has_ended(tag.run) {
            return state;
        }
        match kind {
            FrameKind::Data => {
                state.peers[from].waiting_bytes += content.len();
                let replaced = state.messages.insert((from, *tag), content);
                let replaced = replaced.map_or(0, |content| content.len());
                state.peers[from].waiting_bytes -= replaced;
            }
            FrameKind::Abort => {
                let reason = String::from_utf8_lossy(&content).into_owned();
                let aborted = &mut state.aborted;
                aborted.entry(tag.run).or_insert((from, reason));
            }
            FrameKind::Farewell => {}
        }
        self.changed.notify_all();
        state
    }

    /// Ends the messages of a process. The first reason counts.
    pub fn end_peer(&self, from: usize, reason: ExchangeError) {
        self.lock().peers[from].end.get_or_insert(reason);
        self.changed.notify_all();
    }

    /// Ends a run here: its messages are of no use any more.
    pub fn end_run(&self, run: RunKey) {
        let mut state = self.lock();
        state
            .ended
            .entry(run.devices)
            .or_default()
            .insert(run.number);
        state.aborted.remove(&run);
        let InboxState {
            messages, peers, ..
        } = &mut *state;
        messages.retain(|(from, tag), content| {
            let is_kept = tag.run != run;
            if !is_kept {
                peers[*from].waiting_bytes -= content.len();
            }
            is_kept
        });
        self.changed.notify_all();
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// When it cannot come, or the time is over.
    pub fn receive(
        &self,
        from: usize,
        tag: &MessageTag,
        timeout: Duration,
    ) -> ExchangeResult<ByteBlock> {
        let end = Instant::now() + timeout;
        let mut state = self.lock();
        state.peers[from].receivers += 1;
        self.changed.notify_all();
        let received = loop {
            if let Some(taken) = state.take(from, tag) {
                break taken;
            }
            if state.has_other_program(from, tag) {
                let address = self.addresses[from].clone();
                break Err(ExchangeError::Program {
                    process: from,
                    address,
                });
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break Err(ExchangeError::Silent {
                    process: from,
                    address: self.addresses[from].clone(),
                    waited: timeout,
                });
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        state.peers[from].receivers -= 1;
        self.changed.notify_all();
        received
    }

    /// The reason why a run was given up by another process, if one did.
    pub fn find_abort(&self, run: RunKey) -> Option<ExchangeError> {
        let state = self.lock();
        let (process, reason) = state.aborted.get(&run)?;
        Some(ExchangeError::Aborted {
            process: *process,
            reason: reason.clone(),
        })
    }
}
