//! Kernel output: OpenCL's `printf` and the debug printf of shaders.
//!
//! Generated code passes the address of the format and its arguments, one word for each component. Text is kept by
//! workgroup, and is put in their order when the launch has ended. Formats and strings are read only within constants
//! of the module. Other addresses are printed as numbers.
//!
//! # Unsafe code
//! [`print_formatted`] takes the launch context that the code was called with, and as many words as its site has
//! components. Only its own thread uses the context's recorder.
#![allow(unsafe_code)]

use crate::layout::launch_context::LaunchContext;
use rustc_hash::FxHashMap;
use spirula_scalar::printf::{PrintfTemplate, PrintfValue};
use std::sync::Mutex;

/// Most bytes that a thread of a launch prints; the rest is left out.
const MOST: usize = 1 << 24;

/// An argument of a site: kind and number of its components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrintfArgument {
    pub kind: PrintedKind,
    pub count: u32,
}

/// The kind of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintedKind {
    /// The bits of an `f64`.
    Float,
    /// An integer of a number of bits.
    Int(u32),
    /// An address: of a string, where the format says so.
    Pointer,
}

/// The instructions of a kernel that print, and the memory that they may read.
pub(crate) struct PrintfSites {
    /// The arguments of each.
    pub sites: Vec<Vec<PrintfArgument>>,
    /// Addresses and lengths of constants.
    pub constants: Vec<(u64, u64)>,
    /// The output of launches that is not taken yet.
    taken: Mutex<Vec<u8>>,
}

/// Records the output of a thread.
pub(crate) struct PrintfRecorder {
    sites: *const PrintfSites,
    templates: FxHashMap<u64, PrintfTemplate>,
    /// Numbers of workgroups, with the output of each.
    groups: Vec<(u64, Vec<u8>)>,
    bytes: usize,
}

impl PrintfRecorder {
    /// A recorder for a thread that runs workgroups of a kernel, whose sites outlive it.
    pub fn new(sites: &PrintfSites) -> PrintfRecorder {
        PrintfRecorder {
            sites,
            templates: FxHashMap::default(),
            groups: Vec::new(),
            bytes: 0,
        }
    }

    /// Begins a workgroup.
    pub fn begin_workgroup(&mut self, number: u64) {
        self.groups.push((number, Vec::new()));
    }

    /// The output of each workgroup.
    pub fn take_output(&mut self) -> Vec<(u64, Vec<u8>)> {
        let mut groups = std::mem::take(&mut self.groups);
        groups.retain(|g| !g.1.is_empty());
        groups
    }

    fn record_print(&mut self, site: usize, format: u64, words: &[u64]) {
        // SAFETY: the kernel outlives its launches.
        let prints = unsafe { &*self.sites };
        let Some(arguments) = prints.sites.get(site) else {
            return;
        };
        let Some(out) = self.groups.last_mut().map(|g| &mut g.1) else {
            return;
        };
        if self.bytes >= MOST {
            return;
        }
        let template = self
            .templates
            .entry(format)
            .or_insert_with(|| PrintfTemplate::new(prints.find_string(format).unwrap_or_default()));
        let texts: Vec<bool> = template.list_arguments().map(|a| a.is_text()).collect();
        let mut words = words.iter().copied();
        let mut take = |(n, argument): (usize, &PrintfArgument)| {
            let values: Vec<u64> = words.by_ref().take(argument.count as usize).collect();
            match argument.kind {
                PrintedKind::Float => {
                    PrintfValue::Floats(values.into_iter().map(f64::from_bits).collect())
                }
                PrintedKind::Int(bits) => PrintfValue::Ints { bits, values },
                PrintedKind::Pointer if texts.get(n) == Some(&true) => {
                    let text = values.first().and_then(|at| prints.find_string(*at));
                    PrintfValue::Text(text.unwrap_or(b"(null)").to_vec())
                }
                PrintedKind::Pointer => PrintfValue::Ints { bits: 64, values },
            }
        };
        let arguments: Vec<PrintfValue> = arguments.iter().enumerate().map(&mut take).collect();
        let before = out.len();
        template.print_arguments(&arguments, out);
        self.bytes += out.len() - before;
    }
}

impl PrintfSites {
    /// The sites of a kernel: the arguments of each instruction, and the constants.
    pub fn new(sites: Vec<Vec<PrintfArgument>>, constants: Vec<(u64, u64)>) -> PrintfSites {
        PrintfSites {
            sites,
            constants,
            taken: Mutex::default(),
        }
    }

    /// The string at an address, up to its zero or the end of its constant; none outside of constants.
    fn find_string(&self, address: u64) -> Option<&[u8]> {
        let inside = |(base, length): &&(u64, u64)| address >= *base && address - base < *length;
        let (base, length) = self.constants.iter().find(inside)?;
        let rest = (length - (address - base)) as usize;
        // SAFETY: the kernel keeps its constants, of that number of bytes.
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, rest) };
        let end = bytes.iter().position(|b| *b == 0);
        Some(&bytes[..end.unwrap_or(rest)])
    }

    /// The output of the launches since the last call.
    pub fn take_output(&self) -> Vec<u8> {
        let taken = self.taken.lock();
        taken
            .map(|mut t| std::mem::take(&mut *t))
            .unwrap_or_default()
    }

    /// Adds the output of the workgroups of a launch, in their order.
    pub fn append_output(&self, mut groups: Vec<(u64, Vec<u8>)>) {
        groups.sort_by_key(|g| g.0);
        if let Ok(mut taken) = self.taken.lock() {
            groups.iter().for_each(|g| taken.extend(&g.1));
        }
    }
}

/// Prints by the site of an instruction.
pub(crate) extern "C" fn print_formatted(
    context: *const LaunchContext,
    site: u64,
    format: u64,
    words: *const u64,
) {
    // SAFETY: generated code passes its context, and as many words as its site has components.
    unsafe {
        let printer = &mut *(*context).printer.cast::<PrintfRecorder>();
        let sites = &(*printer.sites).sites;
        let arguments = sites.get(site as usize).map_or(&[][..], Vec::as_slice);
        let count: u32 = arguments.iter().map(|a| a.count).sum();
        let words = std::slice::from_raw_parts(words, count as usize);
        printer.record_print(site as usize, format, words);
    }
}
