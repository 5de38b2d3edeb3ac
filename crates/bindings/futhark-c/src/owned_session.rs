//! Owned sessions: a session together with the program and the device that it refers to.

use crate::failure::CallFailure;
use spirula_program::{CompiledProgram, ProgramSession};
use spirula_runtime::{ComputeDevice, DeviceMachine};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// A session that owns its program and its device.
pub(crate) struct OwnedSession {
    /// It refers to what the parts own, so it is dropped before them.
    session: ManuallyDrop<ProgramSession<'static, DeviceMachine<'static>>>,
    _owned: OwnedParts,
}

/// A program and a device at fixed addresses.
struct OwnedParts {
    program: *mut CompiledProgram,
    device: *mut ComputeDevice,
}

impl Drop for OwnedParts {
    fn drop(&mut self) {
        // SAFETY: both come from boxes, and no session refers to them any more.
        unsafe {
            drop(Box::from_raw(self.device));
            drop(Box::from_raw(self.program));
        }
    }
}

/// Threads take turns with a session, so it may move between them.
const fn require_send<T: Send>() {}
const _: () = require_send::<ProgramSession<'static, DeviceMachine<'static>>>();

impl OwnedSession {
    /// Begins a session with a program on a device, with tuning parameters.
    pub fn new(
        program: CompiledProgram,
        device: ComputeDevice,
        parameters: &[(String, u64)],
    ) -> Result<OwnedSession, CallFailure> {
        let owned = OwnedParts {
            program: Box::into_raw(Box::new(program)),
            device: Box::into_raw(Box::new(device)),
        };
        // SAFETY: the boxes are freed by `OwnedParts` only, which outlives the session. The device is used by the session alone.
        let (program, device) = unsafe { (&*owned.program, &mut *owned.device) };
        let mut machine = DeviceMachine::new(device);
        for (name, value) in parameters {
            machine.set_parameter(name, *value);
        }
        let session = ProgramSession::new(program, machine)?;
        Ok(OwnedSession {
            session: ManuallyDrop::new(session),
            _owned: owned,
        })
    }
}

impl Drop for OwnedSession {
    fn drop(&mut self) {
        // SAFETY: it is dropped once, here, before the program and the device.
        unsafe { ManuallyDrop::drop(&mut self.session) };
    }
}

impl Deref for OwnedSession {
    type Target = ProgramSession<'static, DeviceMachine<'static>>;

    fn deref(&self) -> &Self::Target {
        &self.session
    }
}

impl DerefMut for OwnedSession {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.session
    }
}
