//! Node as the engine of generated modules: a process that `node_engine.mjs` runs.
//!
//! Requests and replies are a byte that tells their kind, numbers of 32 bits, and bytes. While a module runs, the process asks
//! for operations of the host.

use spirula_interpreter::{HostFunctions, HostRow, WasmEngine};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

/// A process of Node with its instances.
pub struct NodeEngine {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    functions: Vec<Arc<HostFunctions>>,
    row: HostRow,
}

impl NodeEngine {
    /// Starts Node.
    pub fn start() -> NodeEngine {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines/node_engine.mjs");
        let started = Command::new("node")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = started.expect("the test needs the program node");
        let input = process.stdin.take().expect("the input is a pipe");
        let output = process.stdout.take().expect("the output is a pipe");
        NodeEngine {
            process,
            input,
            output: BufReader::new(output),
            functions: Vec::new(),
            row: HostRow::default(),
        }
    }

    fn send(&mut self, kind: u8, numbers: [u32; 3], bytes: &[u8]) -> Result<(), String> {
        let mut message = vec![kind];
        message.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        message.extend(bytes);
        let sent = self.input.write_all(&message);
        sent.map_err(|error| error.to_string())
    }

    fn receive<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        let received = self.output.read_exact(&mut bytes);
        received.map_err(|error| format!("Node has stopped: {error}"))?;
        Ok(bytes)
    }

    fn receive_number(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.receive()?))
    }

    fn receive_long(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.receive()?))
    }

    /// The result of a request. Requests of the module for the host are answered before.
    fn receive_result(&mut self, instance: u32) -> Result<u32, String> {
        loop {
            let [kind] = self.receive()?;
            match kind {
                b'r' => return self.receive_number(),
                b'e' => {
                    let length = self.receive_number()? as usize;
                    let mut message = vec![0; length];
                    let read = self.output.read_exact(&mut message);
                    read.map_err(|error| error.to_string())?;
                    return Err(String::from_utf8_lossy(&message).into_owned());
                }
                _ => {
                    let number = self.receive_number()?;
                    let mut operands = [0; 4];
                    for operand in &mut operands {
                        *operand = self.receive_long()?;
                    }
                    let result = self.answer_host(kind, instance, number, operands);
                    let sent = self.input.write_all(&result.to_le_bytes());
                    sent.map_err(|error| error.to_string())?;
                }
            }
        }
    }

    fn answer_host(&mut self, kind: u8, instance: u32, number: u32, operands: [u64; 4]) -> u64 {
        let functions = &self.functions[instance as usize];
        match kind {
            b'a' => return functions.apply(number, operands),
            b'p' => self.row.put(number, operands[0]),
            b'c' => self.row.compute(functions, number),
            _ => return self.row.take(number),
        }
        0
    }
}

impl Drop for NodeEngine {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl WasmEngine for NodeEngine {
    fn load_module(&mut self, code: &[u8], functions: &Arc<HostFunctions>) -> Result<u32, String> {
        self.functions.push(functions.clone());
        let instance = self.functions.len() as u32 - 1;
        self.send(b'L', [instance, 0, code.len() as u32], code)?;
        self.receive_result(instance)
    }

    fn reserve_memory(&mut self, instance: u32, bytes: u64) -> Result<(), String> {
        let pages = bytes.div_ceil(1 << 16) as u32;
        self.send(b'M', [instance, pages, 0], &[])?;
        self.receive_result(instance).map(|_| ())
    }

    fn write_memory(&mut self, instance: u32, at: u32, bytes: &[u8]) -> Result<(), String> {
        self.send(b'W', [instance, at, bytes.len() as u32], bytes)?;
        self.receive_result(instance).map(|_| ())
    }

    fn read_memory(&mut self, instance: u32, at: u32, out: &mut [u8]) -> Result<(), String> {
        self.send(b'R', [instance, at, out.len() as u32], &[])?;
        self.receive_result(instance)?;
        let read = self.output.read_exact(out);
        read.map_err(|error| error.to_string())
    }

    fn run_group(&mut self, instance: u32, is_new: bool) -> Result<u32, String> {
        self.send(b'G', [instance, is_new.into(), 0], &[])?;
        self.receive_result(instance)
    }

    fn drop_instance(&mut self, instance: u32) {
        // A process that has ended has no instances.
        let _ = self.send(b'D', [instance, 0, 0], &[]);
    }
}
