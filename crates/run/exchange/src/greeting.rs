//! Greetings: the first bytes of a connection, from both sides. They name the protocol, the session, the process and the version.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The mark of the protocol.
const MAGIC: [u8; 8] = *b"spirula\x01";

/// The version of greetings and frames.
pub const PROTOCOL: u32 = 1;

/// Most bytes of the text of a version.
const MOST_VERSION_BYTES: usize = 256;

/// Bytes of a greeting before the text of the version.
const FIXED_BYTES: usize = 8 + 4 + 4 + 16 + 4;

/// The facts that a process tells about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerGreeting {
    pub protocol: u32,
    pub process: u32,
    /// The secret of the session, which processes have from the store.
    pub token: [u8; 16],
    pub version: String,
}

impl PeerGreeting {
    /// The greeting as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let version = self.version.as_bytes();
        let version = &version[..version.len().min(MOST_VERSION_BYTES)];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.protocol.to_le_bytes());
        bytes.extend(self.process.to_le_bytes());
        bytes.extend(self.token);
        bytes.extend((version.len() as u32).to_le_bytes());
        bytes.extend(version);
        bytes
    }

    /// Reads a greeting.
    ///
    /// # Errors
    /// When the bytes are none; the message says why.
    pub fn read(stream: &mut impl Read) -> Result<PeerGreeting, String> {
        let mut fixed = [0; FIXED_BYTES];
        let read = stream.read_exact(&mut fixed);
        read.map_err(|error| format!("it sent no greeting: {error}"))?;
        let rest = fixed.strip_prefix(&MAGIC);
        let rest = rest.ok_or("its first bytes are of another protocol")?;
        let number = |at: usize| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&rest[at..at + 4]);
            u32::from_le_bytes(bytes)
        };
        let mut token = [0; 16];
        token.copy_from_slice(&rest[8..24]);
        let length = number(24) as usize;
        if length > MOST_VERSION_BYTES {
            return Err(format!("its version has {length} bytes"));
        }
        let mut version = vec![0; length];
        let read = stream.read_exact(&mut version);
        read.map_err(|error| format!("its greeting ends early: {error}"))?;
        Ok(PeerGreeting {
            protocol: number(0),
            process: number(4),
            token,
            version: String::from_utf8_lossy(&version).into_owned(),
        })
    }
}

/// Whether bytes begin with a greeting. It never fails in another way than by an answer.
pub fn check_greeting(mut bytes: &[u8]) -> bool {
    PeerGreeting::read(&mut bytes).is_ok()
}

/// A stream that is read until a point in time.
struct TimedStream<'s> {
    stream: &'s TcpStream,
    end: Instant,
}

impl Read for TimedStream<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        (&mut &*self.stream).read(bytes)
    }
}

/// Greets a process to which this one has connected, and reads its answer within a time.
///
/// # Errors
/// When it does not answer; the message says why.
pub fn greet_listener(
    stream: &TcpStream,
    own: &PeerGreeting,
    timeout: Duration,
) -> Result<PeerGreeting, String> {
    send_greeting(stream, own, timeout)?;
    receive_greeting(stream, timeout)
}

/// Reads the greeting of a process that has connected, and answers it within a time. A stranger gets no answer: it does not learn
/// the secret.
///
/// # Errors
/// When it sends no greeting of this session; the message says why.
pub fn answer_greeting(
    stream: &TcpStream,
    own: &PeerGreeting,
    timeout: Duration,
) -> Result<PeerGreeting, String> {
    let greeting = receive_greeting(stream, timeout)?;
    if greeting.token != own.token {
        return Err(format!(
            "its greeting, of process {}, belongs to another session",
            greeting.process
        ));
    }
    send_greeting(stream, own, timeout)?;
    Ok(greeting)
}

fn send_greeting(stream: &TcpStream, own: &PeerGreeting, timeout: Duration) -> Result<(), String> {
    let send = || {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(timeout))?;
        (&mut &*stream).write_all(&own.to_bytes())
    };
    send().map_err(|error: io::Error| error.to_string())
}

fn receive_greeting(stream: &TcpStream, timeout: Duration) -> Result<PeerGreeting, String> {
    let end = Instant::now() + timeout;
    let greeting = PeerGreeting::read(&mut TimedStream { stream, end })?;
    let reset = stream.set_read_timeout(None);
    reset.map_err(|error| error.to_string())?;
    Ok(greeting)
}
