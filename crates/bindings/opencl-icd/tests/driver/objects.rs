//! All kinds of objects: references, queries, and objects that are released.

use crate::caller::{OBJECT_KINDS, ObjectKind, OwnedHandle};
use crate::session::{BASIC, TestSession, create_kernel, hold_handles};
use opencl_sys::*;
use std::ptr::null_mut;

/// An object of each kind.
pub struct SampleObjects {
    pub kernel: OwnedHandle,
    pub program: OwnedHandle,
    pub event: OwnedHandle,
    pub sampler: OwnedHandle,
    pub memory: OwnedHandle,
    pub session: TestSession,
}

impl SampleObjects {
    pub fn new() -> SampleObjects {
        let session = TestSession::new();
        let program = session.program(BASIC);
        SampleObjects {
            kernel: create_kernel(&program, "add_value").expect("it is there"),
            program,
            event: session.user_event(),
            sampler: create_sampler(&session),
            memory: session.buffer(64),
            session,
        }
    }

    pub fn find(&self, kind: ObjectKind) -> &OwnedHandle {
        match kind {
            ObjectKind::Context => &self.session.context,
            ObjectKind::Queue => &self.session.queue,
            ObjectKind::Memory => &self.memory,
            ObjectKind::Sampler => &self.sampler,
            ObjectKind::Program => &self.program,
            ObjectKind::Kernel => &self.kernel,
            ObjectKind::Event => &self.event,
        }
    }
}

fn create_sampler(session: &TestSession) -> OwnedHandle {
    let mut code = 1;
    let raw = cl!(clCreateSampler(
        session.context.raw,
        CL_FALSE,
        CL_ADDRESS_CLAMP,
        CL_FILTER_NEAREST,
        &raw mut code
    ));
    OwnedHandle::new(ObjectKind::Sampler, raw, code).expect("contexts have samplers")
}

#[test]
fn references_are_counted() {
    let samples = SampleObjects::new();
    for kind in OBJECT_KINDS {
        let object = samples.find(kind).raw;
        assert_eq!(kind.count(object), Ok(1), "{kind:?}");
        for _ in 0..3 {
            assert_eq!(kind.retain(object), CL_SUCCESS);
        }
        assert_eq!(kind.count(object), Ok(4), "{kind:?}");
        for left in (1..4).rev() {
            assert_eq!(kind.release(object), CL_SUCCESS);
            assert_eq!(kind.count(object), Ok(left), "{kind:?}");
        }
    }
}

#[test]
fn objects_end_with_the_last_reference() {
    let _guard = hold_handles();
    let samples = SampleObjects::new();
    let SampleObjects {
        kernel,
        program,
        event,
        sampler,
        memory,
        session,
    } = samples;
    let TestSession { queue, context, .. } = session;
    // Objects come before those that they need.
    for object in [kernel, program, event, sampler, memory, queue, context] {
        let (kind, raw) = (object.kind, object.raw);
        drop(object);
        assert_eq!(kind.count(raw), Err(kind.invalid_code()), "{kind:?}");
        assert_eq!(kind.release(raw), kind.invalid_code(), "{kind:?}");
        assert_eq!(kind.retain(raw), kind.invalid_code(), "{kind:?}");
    }
}

#[test]
fn objects_that_others_need_stay_without_references() {
    let _guard = hold_handles();
    let session = TestSession::new();
    let program = session.program(BASIC);
    let kernel = create_kernel(&program, "add_value").expect("it is there");
    let (context_raw, program_raw) = (session.context.raw, program.raw);
    let TestSession { queue, context, .. } = session;
    drop(program);
    drop(context);
    drop(queue);
    assert_eq!(ObjectKind::Program.count(program_raw), Ok(0));
    assert_eq!(ObjectKind::Context.count(context_raw), Ok(0));
    let again = ObjectKind::Program.release(program_raw);
    assert_eq!(again, CL_INVALID_PROGRAM, "no reference is left");
    drop(kernel);
    let code = ObjectKind::Program.count(program_raw);
    assert_eq!(code, Err(CL_INVALID_PROGRAM));
    let code = ObjectKind::Context.count(context_raw);
    assert_eq!(code, Err(CL_INVALID_CONTEXT));
}

#[test]
fn queries_need_room_for_the_answer() {
    let samples = SampleObjects::new();
    for kind in OBJECT_KINDS {
        let object = samples.find(kind).raw;
        for name in kind.queries() {
            let mut size = 0;
            let code = kind.ask(object, *name, 0, null_mut(), &raw mut size);
            assert_eq!(code, CL_SUCCESS, "{kind:?} {name:#x}");
            assert!(size > 0, "{kind:?} {name:#x}");
            let mut room = vec![0xa5_u8; size + 8];
            let to = room.as_mut_ptr().cast();
            let code = kind.ask(object, *name, size - 1, to, null_mut());
            assert_eq!(code, CL_INVALID_VALUE, "{kind:?} {name:#x}");
            assert!(room.iter().all(|byte| *byte == 0xa5), "{kind:?} {name:#x}");
            let code = kind.ask(object, *name, size + 8, to, null_mut());
            assert_eq!(code, CL_SUCCESS, "{kind:?} {name:#x}");
            assert_eq!(room[size..], [0xa5; 8], "{kind:?} {name:#x}");
            let code = kind.ask(object, *name, 0, null_mut(), null_mut());
            assert_eq!(code, CL_SUCCESS, "{kind:?} {name:#x}");
        }
    }
}

#[test]
fn unknown_queries_are_errors() {
    let samples = SampleObjects::new();
    for kind in OBJECT_KINDS {
        let object = samples.find(kind).raw;
        for name in [0, 1, 0xffff, 0x7fff_ffff, u32::MAX] {
            let mut room = [0_u64; 8];
            let to = room.as_mut_ptr().cast();
            let code = kind.ask(object, name, 64, to, null_mut());
            assert_eq!(code, CL_INVALID_VALUE, "{kind:?} {name:#x}");
        }
    }
}
