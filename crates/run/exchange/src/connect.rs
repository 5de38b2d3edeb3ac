//! Connections of all pairs of processes: each process connects to those before it, and those after it connect to it.

use crate::error::{ExchangeError, ExchangeResult};
use crate::greeting::{PROTOCOL, PeerGreeting, answer_greeting, greet_listener};
use crate::record::PeerRecord;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time that a connection has for its greeting.
const GREETING_TIME: Duration = Duration::from_secs(5);

/// The time between looks for new connections.
const ACCEPT_POLL: Duration = Duration::from_millis(2);

/// Most connections whose greetings are awaited at once, besides one for each process.
const MOST_STRANGERS: usize = 64;

/// A connection with a process, or the reason why it is none.
type GreetingResult = Result<(TcpStream, PeerGreeting), String>;

/// The connections of a process that is about to have one with each of the others.
pub struct MeshConnector<'r> {
    pub process: usize,
    pub records: &'r [PeerRecord],
    pub end: Instant,
    pub begin: Instant,
}

impl MeshConnector<'_> {
    /// Connects to all other processes. There is no stream for the process itself.
    pub fn connect_all(&self, listener: &TcpListener) -> ExchangeResult<Vec<Option<TcpStream>>> {
        let mut streams: Vec<Option<TcpStream>> = self.records.iter().map(|_| None).collect();
        for (peer, stream) in streams[..self.process].iter_mut().enumerate() {
            *stream = Some(self.connect_to(peer)?);
        }
        self.accept_later(listener, &mut streams)?;
        Ok(streams)
    }

    fn own_greeting(&self) -> PeerGreeting {
        PeerGreeting {
            protocol: PROTOCOL,
            process: self.process as u32,
            token: self.records[0].token,
            version: self.records[self.process].version.clone(),
        }
    }

    fn time_left(&self) -> Duration {
        let left = self.end.saturating_duration_since(Instant::now());
        left.max(Duration::from_millis(1))
    }

    fn missing_error(&self, process: usize, reason: String) -> ExchangeError {
        ExchangeError::Missing {
            process,
            waited: self.begin.elapsed(),
            reason,
        }
    }

    fn connect_to(&self, peer: usize) -> ExchangeResult<TcpStream> {
        let address = self.records[peer].address;
        let stream = TcpStream::connect_timeout(&address, self.time_left());
        let stream =
            stream.map_err(|error| self.missing_error(peer, format!("{address}: {error}")))?;
        let greeting = greet_listener(&stream, &self.own_greeting(), self.time_left());
        let greeting =
            greeting.map_err(|reason| self.missing_error(peer, format!("{address}: {reason}")))?;
        self.check_greeting(&greeting)?;
        if greeting.process as usize != peer {
            let reason = format!("process {} answers at {address}", greeting.process);
            return Err(self.missing_error(peer, reason));
        }
        Ok(stream)
    }

    /// Refuses greetings of other versions and sessions.
    fn check_greeting(&self, greeting: &PeerGreeting) -> ExchangeResult<()> {
        let own = self.own_greeting();
        let process = greeting.process as usize;
        if (greeting.protocol, &greeting.version) != (own.protocol, &own.version) {
            return Err(ExchangeError::Version {
                process,
                theirs: greeting.version.clone(),
                ours: own.version,
            });
        }
        if greeting.token != own.token {
            let reason = "it belongs to another session".to_owned();
            return Err(self.missing_error(process, reason));
        }
        Ok(())
    }

    /// Waits for the connections of the processes after this one. Other connections are closed; the last one is named if the
    /// time ends.
    fn accept_later(
        &self,
        listener: &TcpListener,
        streams: &mut [Option<TcpStream>],
    ) -> ExchangeResult<()> {
        let failed = |error: io::Error| ExchangeError::Listen {
            address: self.records[self.process].address.to_string(),
            reason: error.to_string(),
        };
        listener.set_nonblocking(true).map_err(failed)?;
        let (sender, receiver) = channel::<(SocketAddr, GreetingResult)>();
        let mut open = 0;
        let mut stranger = "it did not connect".to_owned();
        while let Some(missing) = self.find_missing(streams) {
            while let Ok((address, greeted)) = receiver.try_recv() {
                open -= 1;
                if let Err(reason) = self.admit_stream(greeted, streams) {
                    stranger = format!("it did not connect; a connection from {address}: {reason}");
                }
            }
            match listener.accept() {
                Ok((stream, address)) if open < MOST_STRANGERS + self.records.len() => {
                    open += 1;
                    self.greet_stream(stream, address, sender.clone())
                        .map_err(failed)?;
                }
                // A connection beyond the limit is closed.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() >= self.end {
                        return Err(self.missing_error(missing, stranger));
                    }
                    thread::sleep(ACCEPT_POLL);
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    /// The first process after this one that has no connection.
    fn find_missing(&self, streams: &[Option<TcpStream>]) -> Option<usize> {
        let mut later = self.process + 1..streams.len();
        later.find(|peer| streams[*peer].is_none())
    }

    /// Greets a new connection on a thread of its own: one that is silent delays no other.
    fn greet_stream(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        sender: Sender<(SocketAddr, GreetingResult)>,
    ) -> io::Result<()> {
        let own = self.own_greeting();
        let timeout = GREETING_TIME.min(self.time_left());
        let builder = thread::Builder::new().name("spirula-greeting".to_owned());
        builder.spawn(move || {
            let blocking = stream.set_nonblocking(false);
            let greeted = blocking
                .map_err(|error| error.to_string())
                .and_then(|()| answer_greeting(&stream, &own, timeout))
                .map(|greeting| (stream, greeting));
            // Nobody waits for a greeting after the mesh is complete.
            let _ = sender.send((address, greeted));
        })?;
        Ok(())
    }

    /// Keeps the connection of a process after this one that has none yet.
    fn admit_stream(
        &self,
        greeted: GreetingResult,
        streams: &mut [Option<TcpStream>],
    ) -> Result<(), String> {
        let (stream, greeting) = greeted?;
        self.check_greeting(&greeting)
            .map_err(|error| error.to_string())?;
        let peer = greeting.process as usize;
        let slot = streams.get_mut(peer).filter(|_| peer > self.process);
        match slot {
            Some(slot @ None) => {
                *slot = Some(stream);
                Ok(())
            }
            _ => Err(format!("process {peer} must not connect here, or again")),
        }
    }
}
