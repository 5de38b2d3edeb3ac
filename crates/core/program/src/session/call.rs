//! Calls of entry points: binding of arguments, and results.

use super::{CallProgress, HostFrame, ProgramSession};
use crate::heap::MachineResult;
use crate::program::{
    EntrySize, EntryValueType, GLOBAL, HostRegister, HostSlot, ProgramEntry, SourceTensorType,
};
use crate::program_value::element_type_name;
use crate::{KernelMachine, ProgramError, ProgramValue, ScalarType};

/// The form of a type in messages, `[][]u8`.
fn value_type(element: ScalarType, unsigned: bool, rank: usize) -> String {
    "[]".repeat(rank) + &element_type_name(element, unsigned)
}

/// Checks the range of integers of fewer than 8 bits, which are stored in 8 bits.
fn check_range(tensor: &SourceTensorType, given: &ProgramValue) -> Result<(), String> {
    let unsigned = tensor.element.strip_prefix("ui");
    let digits = unsigned.or_else(|| tensor.element.strip_prefix('i'));
    let width: u32 = match digits.and_then(|digits| digits.parse().ok()) {
        Some(width @ 2..8) => width,
        _ => return Ok(()),
    };
    let range = match unsigned {
        Some(_) => 0..1 << width,
        None => -(1 << (width - 1))..1 << (width - 1),
    };
    let number = |byte: u8| match unsigned {
        Some(_) => i32::from(byte),
        None => i32::from(byte as i8),
    };
    let mut numbers = given.bytes.iter().map(|byte| number(*byte));
    match numbers.find(|number| !range.contains(number)) {
        None => Ok(()),
        Some(outside) => Err(format!(
            "takes {}, numbers from {} to {}, not {outside}",
            tensor.element,
            range.start,
            range.end - 1
        )),
    }
}

/// An argument or result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallValue {
    /// A value with an external form.
    Plain(ProgramValue),
    /// A value that only entry points of the same program exchange: the name of its type, and its parts.
    Opaque(String, Vec<ProgramValue>),
}

/// An argument of a call.
#[derive(Clone, Copy)]
enum CallArgument<'a> {
    Plain(&'a ProgramValue),
    Opaque(&'a str, &'a [ProgramValue]),
}

/// A call whose arguments are bound.
pub struct PreparedCall<'p> {
    pub(super) entry: &'p ProgramEntry,
    pub(super) frame: HostFrame,
}

/// A call that has ended.
pub struct CompletedCall<'p> {
    pub(super) entry: &'p ProgramEntry,
    pub(super) frame: HostFrame,
}

impl<'p, M: KernelMachine> ProgramSession<'p, M> {
    /// Calls an entry point. Results without an external form are `None`.
    ///
    /// # Errors
    /// When there is no such entry point, the values do not fit it, or it fails.
    pub fn call_entry(
        &mut self,
        entry: &str,
        values: &[ProgramValue],
    ) -> MachineResult<Vec<Option<ProgramValue>>, M> {
        let prepared = self.prepare_call(entry, values)?;
        let ended = self.execute_call(prepared)?;
        self.fetch_results(ended)
    }

    /// The same with values without an external form among arguments and results.
    ///
    /// # Errors
    /// As [`ProgramSession::call_entry`].
    pub fn call_items(
        &mut self,
        entry: &str,
        items: &[CallValue],
    ) -> MachineResult<Vec<CallValue>, M> {
        let prepared = self.prepare_items(entry, items)?;
        let ended = self.execute_call(prepared)?;
        self.fetch_items(ended)
    }

    /// Copies the arguments of a call to the machine: the first part of [`ProgramSession::call_entry`].
    ///
    /// # Errors
    /// When there is no such entry point, or the values do not fit it.
    pub fn prepare_call(
        &mut self,
        entry: &str,
        values: &[ProgramValue],
    ) -> MachineResult<PreparedCall<'p>, M> {
        self.bind_call(entry, values.iter().map(CallArgument::Plain).collect())
    }

    /// The same for [`ProgramSession::call_items`].
    ///
    /// # Errors
    /// As [`ProgramSession::prepare_call`].
    pub fn prepare_items(
        &mut self,
        entry: &str,
        items: &[CallValue],
    ) -> MachineResult<PreparedCall<'p>, M> {
        let given = items.iter().map(|item| match item {
            CallValue::Plain(value) => CallArgument::Plain(value),
            CallValue::Opaque(name, parts) => CallArgument::Opaque(name, parts),
        });
        self.bind_call(entry, given.collect())
    }

    fn bind_call(
        &mut self,
        entry: &str,
        given: Vec<CallArgument<'_>>,
    ) -> MachineResult<PreparedCall<'p>, M> {
        let entry = self.begin_entry(entry)?;
        let mut frame = self.begin_frame(entry.function);
        match self.bind_parameters(entry, &given, &mut frame) {
            Ok(()) => Ok(PreparedCall { entry, frame }),
            Err(error) => {
                self.drop_frame(frame);
                Err(error)
            }
        }
    }

    /// The entry point of a name, with the session prepared for a call.
    pub(super) fn begin_entry(&mut self, entry: &str) -> MachineResult<&'p ProgramEntry, M> {
        let program = self.program;
        let Some(entry) = program.entries.iter().find(|e| e.name == entry) else {
            let names: Vec<&str> = program.entries.iter().map(|e| e.name.as_str()).collect();
            let message = format!("no entry point {entry}; there are: {}", names.join(", "));
            return Err(ProgramError::Invalid(message));
        };
        self.blocks.begin_call();
        if self.is_unfinished {
            self.run_initialisation()?;
        }
        Ok(entry)
    }

    /// Runs a call until the machine has completed it: the second part of [`ProgramSession::call_entry`]. Foreign calls
    /// call the session's functions.
    ///
    /// # Errors
    /// When it fails.
    pub fn execute_call(
        &mut self,
        prepared: PreparedCall<'p>,
    ) -> MachineResult<CompletedCall<'p>, M> {
        let mut progress = self.start_call(prepared)?;
        loop {
            match progress {
                CallProgress::Completed(completed) => return Ok(completed),
                CallProgress::Paused(paused) => progress = self.serve_foreign_call(paused)?,
            }
        }
    }

    /// Fetches the results of a call: the last part of [`ProgramSession::call_entry`].
    ///
    /// # Errors
    /// When the machine fails, or a result has no memory.
    pub fn fetch_results(
        &mut self,
        ended: CompletedCall<'p>,
    ) -> MachineResult<Vec<Option<ProgramValue>>, M> {
        let CompletedCall { entry, frame } = ended;
        let mut results = Vec::new();
        for result in &entry.results {
            results.push(match &result.value {
                Some(value) => Some(self.fetch_result(value, &frame)?),
                None => None,
            });
        }
        self.drop_frame(frame);
        Ok(results)
    }

    /// Drops the results of a call, instead of [`ProgramSession::fetch_results`].
    pub fn drop_results(&mut self, ended: CompletedCall<'p>) {
        self.drop_frame(ended.frame);
    }

    /// The same as [`ProgramSession::fetch_results`], with values without an external form.
    ///
    /// # Errors
    /// As [`ProgramSession::fetch_results`].
    pub fn fetch_items(&mut self, ended: CompletedCall<'p>) -> MachineResult<Vec<CallValue>, M> {
        let CompletedCall { entry, frame } = ended;
        let mut results = Vec::new();
        for result in &entry.results {
            results.push(match (&result.value, &result.opaque) {
                (Some(value), _) => CallValue::Plain(self.fetch_result(value, &frame)?),
                (None, Some(opaque)) => {
                    let parts = opaque
                        .parts
                        .iter()
                        .map(|part| self.fetch_result(part, &frame));
                    CallValue::Opaque(opaque.name.clone(), parts.collect::<MachineResult<_, M>>()?)
                }
                (None, None) => CallValue::Opaque(String::new(), Vec::new()),
            });
        }
        self.drop_frame(frame);
        Ok(results)
    }

    /// Binds values to the parameters of an entry point.
    fn bind_parameters(
        &mut self,
        entry: &ProgramEntry,
        given: &[CallArgument<'_>],
        frame: &mut HostFrame,
    ) -> MachineResult<(), M> {
        if entry.parameters.len() != given.len() {
            let (wanted, given) = (entry.parameters.len(), given.len());
            let message = format!("{} takes {wanted} values, not {given}", entry.name);
            return Err(ProgramError::Invalid(message));
        }
        let mut known: Vec<HostRegister> = Vec::new();
        for (parameter, given) in entry.parameters.iter().zip(given) {
            let name = &parameter.name;
            match (&parameter.value, &parameter.opaque, *given) {
                (Some(value), _, CallArgument::Plain(given)) => {
                    if let Some(tensor) = &parameter.tensor {
                        check_range(tensor, given)
                            .map_err(|fault| ProgramError::Invalid(format!("{name} {fault}")))?;
                    }
                    self.bind_value(name, value, given, frame, &mut known)?;
                }
                (_, Some(opaque), CallArgument::Opaque(ty, parts))
                    if opaque.name == ty && opaque.parts.len() == parts.len() =>
                {
                    for (value, given) in opaque.parts.iter().zip(parts) {
                        self.bind_value(name, value, given, frame, &mut known)?;
                    }
                }
                (None, _, CallArgument::Plain(_)) => {
                    let message = format!("{name} has no external form");
                    return Err(ProgramError::Unsupported(message));
                }
                (.., CallArgument::Opaque(ty, _)) => {
                    let message = format!("{name} is of another type than {ty}");
                    return Err(ProgramError::Invalid(message));
                }
            }
        }
        Ok(())
    }

    /// Binds a value to its slot. `known` are the scalars that have values already.
    fn bind_value(
        &mut self,
        name: &str,
        value: &EntryValueType,
        given: &ProgramValue,
        frame: &mut HostFrame,
        known: &mut Vec<HostRegister>,
    ) -> MachineResult<(), M> {
        let found = (given.element, given.unsigned);
        self.bind_shape(name, value, found, &given.shape, frame, known)?;
        match value.slot {
            HostSlot::Scalar(reg) => {
                let bits = given.elements().next().unwrap_or(0);
                self.set_scalar(frame, reg, bits);
                known.push(reg);
            }
            HostSlot::Memory(mem) => {
                let block = self.blocks.allocate_device(given.bytes.len() as u64)?;
                self.blocks.write_bytes(block, 0, &given.bytes)?;
                self.set_reference(frame, mem, Some(block));
                self.blocks.release_block(block);
            }
        }
        Ok(())
    }

    /// Checks the type of a value, and binds its sizes or compares them with those that are known. `found` are the type of its
    /// elements, and whether they have no sign.
    pub(super) fn bind_shape(
        &mut self,
        name: &str,
        value: &EntryValueType,
        found: (ScalarType, bool),
        found_shape: &[u64],
        frame: &mut HostFrame,
        known: &mut Vec<HostRegister>,
    ) -> MachineResult<(), M> {
        let rank = value.shape.as_ref().map_or(0, Vec::len);
        if (value.element, value.unsigned) != found || rank != found_shape.len() {
            let wanted = value_type(value.element, value.unsigned, rank);
            let found = value_type(found.0, found.1, found_shape.len());
            let message = format!("{name} takes {wanted}, not {found}");
            return Err(ProgramError::Invalid(message));
        }
        for (size, found) in value.shape.iter().flatten().zip(found_shape) {
            let wanted = match *size {
                EntrySize::Known(size) => Some(size),
                // Values of the program's initialisation are known before all calls.
                EntrySize::Scalar(reg) if reg.0 & GLOBAL != 0 || known.contains(&reg) => {
                    Some(self.get_scalar(frame, reg))
                }
                EntrySize::Scalar(reg) => {
                    self.set_scalar(frame, reg, *found);
                    known.push(reg);
                    None
                }
            };
            if let Some(wanted) = wanted.filter(|wanted| wanted != found) {
                // Tests of programs compare with the message of Futhark's own back ends.
                let message = format!(
                    "entry point arguments have invalid sizes: a dimension of {name} is {found}, \
                     expected {wanted}"
                );
                return Err(ProgramError::Invalid(message));
            }
        }
        Ok(())
    }

    /// The shape of a result.
    pub(super) fn find_shape(&self, value: &EntryValueType, frame: &HostFrame) -> Vec<u64> {
        let sizes = value.shape.iter().flatten();
        let sizes = sizes.map(|size| match *size {
            EntrySize::Known(size) => size,
            EntrySize::Scalar(reg) => self.get_scalar(frame, reg),
        });
        sizes.collect()
    }

    fn fetch_result(
        &mut self,
        value: &EntryValueType,
        frame: &HostFrame,
    ) -> MachineResult<ProgramValue, M> {
        let shape = self.find_shape(value, frame);
        let size = value.element.size();
        let bytes = match value.slot {
            HostSlot::Scalar(reg) => {
                self.get_scalar(frame, reg).to_le_bytes()[..size as usize].to_vec()
            }
            HostSlot::Memory(mem) => {
                let length = shape.iter().try_fold(size, |n, s| n.checked_mul(*s));
                let length = length.unwrap_or(u64::MAX);
                match length {
                    0 => Vec::new(),
                    _ => {
                        let block = self.require_block(frame, mem)?;
                        self.blocks.read_bytes(block, 0, length)?
                    }
                }
            }
        };
        Ok(ProgramValue {
            element: value.element,
            unsigned: value.unsigned,
            shape,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte, for each type of integers that are held in bytes.
    #[test]
    fn narrow_integers_have_a_range() {
        for (element, low, high) in [
            ("i2", -2, 1),
            ("ui2", 0, 3),
            ("i4", -8, 7),
            ("ui4", 0, 15),
            ("i8", -128, 127),
            ("ui8", 0, 255),
        ] {
            let tensor = SourceTensorType {
                element: element.to_owned(),
                shape: vec![Some(2)],
            };
            let unsigned = element.starts_with('u');
            for byte in 0..=255u8 {
                let number = if unsigned {
                    byte.into()
                } else {
                    i32::from(byte as i8)
                };
                let given = ProgramValue {
                    element: ScalarType::I8,
                    unsigned,
                    shape: vec![2],
                    bytes: vec![1, byte],
                };
                let fits = check_range(&tensor, &given).is_ok();
                assert_eq!(fits, (low..=high).contains(&number), "{element} {number}");
            }
        }
    }
}
