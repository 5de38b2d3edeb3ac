//! A mesh: one process with a connection to each of the others, or one of several devices of a process.

use crate::connect::MeshConnector;
use crate::error::{ExchangeError, ExchangeResult};
use crate::frame::{
    ByteBlock, FrameKind, MOST_BYTES, MOST_REASON_BYTES, MessageTag, RunKey, read_frame,
    write_header,
};
use crate::inbox::MessageInbox;
use crate::record::{PeerRecord, share_records};
use crate::store::KeyValueStore;
use std::io::{self, BufReader, IoSlice, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Options of a mesh.
#[derive(Clone, Debug)]
pub struct MeshOptions {
    /// The number of this process.
    pub process: usize,
    /// Number of processes.
    pub count: usize,
    /// The address at which this process listens until all have connected.
    pub listen: IpAddr,
    /// The longest wait for another process.
    pub timeout: Duration,
    /// The version, which all processes must have.
    pub version: String,
    /// The beginning of keys in the store.
    pub space: String,
}

/// A process with its connections.
pub struct ProcessMesh {
    process: usize,
    timeout: Duration,
    peers: Vec<Option<PeerLink>>,
    inbox: Arc<MessageInbox>,
}

/// The way to another member of a mesh.
enum PeerLink {
    /// To another process.
    Stream(PeerConnection),
    /// To another thread of this process.
    Inbox(Arc<MessageInbox>),
}

/// The address of a member that belongs to this process.
const OWN_ADDRESS: &str = "this process";

/// The connection with a process.
struct PeerConnection {
    address: SocketAddr,
    /// The stream on which messages are written, one at a time.
    writer: Mutex<TcpStream>,
    /// The stream that both sides end.
    stream: TcpStream,
    reader: Option<JoinHandle<()>>,
}

impl ProcessMesh {
    /// Publishes this process, and connects it with all others. Returns the profiles of all processes.
    ///
    /// # Errors
    /// When a process is missing after the time-out, or is of another version.
    pub fn establish(
        options: &MeshOptions,
        store: &dyn KeyValueStore,
        profile: &str,
    ) -> ExchangeResult<(ProcessMesh, Vec<String>)> {
        let failed = |error: io::Error| ExchangeError::Listen {
            address: options.listen.to_string(),
            reason: error.to_string(),
        };
        let begin = Instant::now();
        let listener = TcpListener::bind((options.listen, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let own = PeerRecord::new(&options.version, address, profile);
        let (process, count) = (options.process, options.count);
        let space = &options.space;
        let records = share_records(store, space, process, count, &own, options.timeout)?;
        let connector = MeshConnector {
            process,
            records: &records,
            end: begin + options.timeout,
            begin,
        };
        let streams = connector.connect_all(&listener)?;
        drop(listener);
        let mesh = ProcessMesh::from_streams(options, streams).map_err(failed)?;
        Ok((mesh, records.into_iter().map(|own| own.profile).collect()))
    }

    /// Meshes for a given number of devices of one process, each of which runs on a thread of its own. They stand in
    /// the place of processes.
    pub fn link_threads(count: usize, timeout: Duration) -> Vec<ProcessMesh> {
        let addresses = vec![OWN_ADDRESS.to_owned(); count];
        let inboxes = (0..count).map(|_| Arc::new(MessageInbox::new(addresses.clone())));
        let inboxes: Vec<_> = inboxes.collect();
        let meshes = inboxes.iter().enumerate().map(|(own, inbox)| {
            let others = inboxes.iter().enumerate();
            let peers = others.map(|(peer, other)| {
                let is_other = peer != own;
                is_other.then(|| PeerLink::Inbox(other.clone()))
            });
            ProcessMesh {
                process: own,
                timeout,
                peers: peers.collect(),
                inbox: inbox.clone(),
            }
        });
        meshes.collect()
    }

    /// The mesh of streams whose greetings are over.
    fn from_streams(
        options: &MeshOptions,
        streams: Vec<Option<TcpStream>>,
    ) -> io::Result<ProcessMesh> {
        let addresses = streams.iter().map(|stream| match stream {
            Some(stream) => Ok(stream.peer_addr()?.to_string()),
            None => Ok(String::new()),
        });
        let inbox = MessageInbox::new(addresses.collect::<io::Result<_>>()?);
        let inbox = Arc::new(inbox);
        let mut peers = Vec::new();
        for (peer, stream) in streams.into_iter().enumerate() {
            peers.push(match stream {
                Some(stream) => Some(PeerLink::Stream(PeerConnection::open(
                    peer, stream, options, &inbox,
                )?)),
                None => None,
            });
        }
        Ok(ProcessMesh {
            process: options.process,
            timeout: options.timeout,
            peers,
            inbox,
        })
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.process
    }

    /// Whether its members are threads of one process.
    pub fn is_of_threads(&self) -> bool {
        let mut links = self.peers.iter().flatten();
        links.any(|link| matches!(link, PeerLink::Inbox(_)))
    }

    fn link(&self, peer: usize) -> ExchangeResult<&PeerLink> {
        let link = self.peers.get(peer).and_then(Option::as_ref);
        link.ok_or_else(|| ExchangeError::Lost {
            process: peer,
            address: "no address".to_owned(),
            reason: "there never was one".to_owned(),
        })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// When the connection has ended, or takes no bytes within the time-out.
    pub fn send(&self, to: usize, tag: &MessageTag, content: &[u8]) -> ExchangeResult<()> {
        let link = self.link(to)?;
        self.check_length(content)?;
        let sent = link.send(self.process, FrameKind::Data, tag, content);
        self.end_send(to, link, tag, sent)
    }

    /// Sends a message. A member of this process gets the block itself.
    ///
    /// # Errors
    /// As [`ProcessMesh::send`].
    pub fn send_block(
        &self,
        to: usize,
        tag: &MessageTag,
        content: &ByteBlock,
    ) -> ExchangeResult<()> {
        let link = self.link(to)?;
        if let PeerLink::Inbox(inbox) = link {
            inbox.insert(self.process, FrameKind::Data, tag, content.clone());
            return Ok(());
        }
        self.check_length(content)?;
        let sent = link.send(self.process, FrameKind::Data, tag, content);
        self.end_send(to, link, tag, sent)
    }

    fn check_length(&self, content: &[u8]) -> ExchangeResult<()> {
        if content.len() as u64 > MOST_BYTES {
            return Err(ExchangeError::Length {
                process: self.process,
                wanted: MOST_BYTES as usize,
                found: content.len(),
            });
        }
        Ok(())
    }

    /// The error of a message that was not sent.
    fn end_send(
        &self,
        to: usize,
        link: &PeerLink,
        tag: &MessageTag,
        sent: io::Result<()>,
    ) -> ExchangeResult<()> {
        sent.map_err(|error| {
            // Half a message may have been sent, so that nothing can follow.
            link.shut_down();
            let lost = link.describe_loss(to, error.to_string());
            self.inbox.find_abort(tag.run).unwrap_or(lost)
        })
    }

    /// Waits for a message of a length that both sides know.
    ///
    /// # Errors
    /// When it cannot come, does not come within the time-out, or has another length.
    pub fn receive(
        &self,
        from: usize,
        tag: &MessageTag,
        length: usize,
    ) -> ExchangeResult<ByteBlock> {
        self.link(from)?;
        let content = self.inbox.receive(from, tag, self.timeout)?;
        if content.len() != length {
            return Err(ExchangeError::Length {
                process: from,
                wanted: length,
                found: content.len(),
            });
        }
        Ok(content)
    }

    /// Tells processes why this one gives a run up. Those that cannot be reached know it by their connection.
    pub fn abort_run(&self, run: RunKey, processes: &[usize], reason: &str) {
        let tag = MessageTag {
            run,
            program: 0,
            site: 0,
            group: 0,
            turn: 0,
            step: 0,
        };
        let most = reason.len().min(MOST_REASON_BYTES as usize);
        for peer in processes {
            if let Ok(link) = self.link(*peer) {
                let content = &reason.as_bytes()[..most];
                let _ = link.send(self.process, FrameKind::Abort, &tag, content);
            }
        }
    }

    /// Ends the messages of a process that others know to have failed. Waits for it end, too.
    pub fn lose_process(&self, process: usize, reason: &str) {
        if let Ok(link) = self.link(process) {
            let lost = link.describe_loss(process, reason.to_owned());
            self.inbox.end_peer(process, lost);
        }
    }

    /// Ends a run here. Messages of it that arrive later are dropped.
    pub fn end_run(&self, run: RunKey) {
        self.inbox.end_run(run);
    }
}

impl Drop for ProcessMesh {
    /// Tells all processes that this one ends, and ends its threads.
    fn drop(&mut self) {
        let run = RunKey {
            devices: 0,
            number: 0,
        };
        let tag = MessageTag {
            run,
            program: 0,
            site: 0,
            group: 0,
            turn: 0,
            step: 0,
        };
        for (peer, slot) in self.peers.iter_mut().enumerate() {
            let Some(link) = slot else { continue };
            let _ = link.send(self.process, FrameKind::Farewell, &tag, &[]);
            let reason = link.describe_loss(peer, "this process ends".to_owned());
            self.inbox.end_peer(peer, reason);
            link.end(self.process);
        }
    }
}

impl PeerLink {
    /// Sends a message of a member.
    fn send(
        &self,
        from: usize,
        kind: FrameKind,
        tag: &MessageTag,
        content: &[u8],
    ) -> io::Result<()> {
        match self {
            PeerLink::Stream(connection) => connection.write_frame(kind, tag, content),
            PeerLink::Inbox(inbox) => {
                inbox.insert(from, kind, tag, content.to_vec().into());
                Ok(())
            }
        }
    }

    /// The error of a member that cannot be reached any more.
    fn describe_loss(&self, process: usize, reason: String) -> ExchangeError {
        let address = match self {
            PeerLink::Stream(connection) => connection.address.to_string(),
            PeerLink::Inbox(_) => OWN_ADDRESS.to_owned(),
        };
        ExchangeError::Lost {
            process,
            address,
            reason,
        }
    }

    fn shut_down(&self) {
        if let PeerLink::Stream(connection) = self {
            // The connection may have ended already.
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends the way from a member.
    fn end(&mut self, from: usize) {
        self.shut_down();
        match self {
            PeerLink::Stream(connection) => {
                if let Some(reader) = connection.reader.take() {
                    let _ = reader.join();
                }
            }
            PeerLink::Inbox(inbox) => {
                let lost = ExchangeError::Lost {
                    process: from,
                    address: OWN_ADDRESS.to_owned(),
                    reason: "it has ended".to_owned(),
                };
                inbox.end_peer(from, lost);
            }
        }
    }
}

impl PeerConnection {
    fn open(
        peer: usize,
        stream: TcpStream,
        options: &MeshOptions,
        inbox: &Arc<MessageInbox>,
    ) -> io::Result<PeerConnection> {
        stream.set_write_timeout(Some(options.timeout))?;
        let address = stream.peer_addr()?;
        let reading = stream.try_clone()?;
        let inbox = inbox.clone();
        let builder = thread::Builder::new().name(format!("spirula-peer-{peer}"));
        let reader = builder.spawn(move || read_messages(peer, address, reading, &inbox))?;
        Ok(PeerConnection {
            address,
            writer: Mutex::new(stream.try_clone()?),
            stream,
            reader: Some(reader),
        })
    }

    fn write_frame(&self, kind: FrameKind, tag: &MessageTag, content: &[u8]) -> io::Result<()> {
        let header = write_header(kind, tag, content.len() as u64);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // A short message is one packet.
        let slices = [IoSlice::new(&header), IoSlice::new(content)];
        let mut written = writer.write_vectored(&slices)?;
        if written < header.len() {
            writer.write_all(&header[written..])?;
            written = header.len();
        }
        writer.write_all(&content[written - header.len()..])
    }
}

/// Reads the messages of a process until its connection ends.
fn read_messages(peer: usize, address: SocketAddr, stream: TcpStream, inbox: &MessageInbox) {
    let mut stream = BufReader::new(stream);
    let address = address.to_string();
    let lost = |reason: String| ExchangeError::Lost {
        process: peer,
        address: address.clone(),
        reason,
    };
    let end = loop {
        match read_frame(&mut stream) {
            Ok(Some(frame)) if frame.kind == FrameKind::Farewell => {
                break lost("the process has ended".to_owned());
            }
            Ok(Some(frame)) => inbox.deliver(peer, frame),
            Ok(None) => break lost("the process died, or the network failed".to_owned()),
            Err(crate::frame::FrameFault::Stream(error)) => break lost(error.to_string()),
            Err(fault) => {
                break ExchangeError::Malformed {
                    process: peer,
                    address: address.clone(),
                    reason: fault.to_string(),
                };
            }
        }
    };
    // Nothing that follows can be understood.
    let _ = stream.get_ref().shutdown(Shutdown::Both);
    inbox.end_peer(peer, end);
}
