//! Workgroups that do not divide the size of a launch: only some programs may have them.

use crate::caller::OwnedHandle;
use crate::program_sources::{load, open};
use crate::programs::{compile, link};
use crate::session::{TestSession, build, create_kernel, launch, set_object};
use opencl_sys::*;

const SOURCE: &str = "kernel void write(global uint *out) { out[get_global_id(0)] = 7; }";

/// Launches five invocations in workgroups of four.
fn launch_partial(session: &TestSession, program: &OwnedHandle) -> Result<(), cl_int> {
    let output = session.filled(&[0_u32; 5]);
    let kernel = create_kernel(program, "write").expect("it is there");
    set_object(&kernel, 0, &output);
    let queue = session.queue.raw;
    let launched = launch(queue, kernel.raw, None, &[5], Some(&[4]), &[]);
    // The launch holds the kernel until it has ended.
    let expected = if launched.is_ok() { [7; 5] } else { [0; 5] };
    assert_eq!(session.read::<u32>(&output, 5), expected);
    let whole = launch(queue, kernel.raw, None, &[4], Some(&[4]), &[]);
    let chosen = launch(queue, kernel.raw, None, &[5], None, &[]);
    assert_eq!((whole, chosen), (Ok(()), Ok(())));
    session.read::<u32>(&output, 5);
    launched
}

const REFUSED: Result<(), cl_int> = Err(CL_INVALID_WORK_GROUP_SIZE);

#[test]
fn sources_of_the_first_version_have_uniform_groups() {
    let Some(session) = open() else { return };
    let program = load(&session, &[SOURCE]);
    for (options, expected) in [
        ("", REFUSED),
        ("-cl-std=CL1.1", REFUSED),
        ("-cl-std=CL1.2", REFUSED),
        ("-cl-std=CL2.0", Ok(())),
        ("-cl-std=CL3.0", Ok(())),
        ("-cl-std=CL3.0 -cl-uniform-work-group-size", REFUSED),
    ] {
        assert_eq!(build(&program, options), Ok(()), "{options}");
        assert_eq!(launch_partial(&session, &program), expected, "{options}");
    }
}

#[test]
fn linked_programs_have_the_groups_of_all_parts() {
    let Some(session) = open() else { return };
    let main = load(&session, &[SOURCE]);
    let other = load(&session, &["uint twice(uint n) { return 2 * n; }"]);
    for (first, second, expected) in [
        ("-cl-std=CL3.0", "-cl-std=CL3.0", Ok(())),
        ("-cl-std=CL3.0", "-cl-std=CL1.2", REFUSED),
        ("", "-cl-std=CL3.0", REFUSED),
    ] {
        assert_eq!(compile(&main, first), Ok(()));
        assert_eq!(compile(&other, second), Ok(()));
        let (linked, code) = link(session.context.raw, "", &[&main, &other]);
        assert_eq!(code, CL_SUCCESS);
        let linked = linked.expect("it is linked");
        assert_eq!(
            launch_partial(&session, &linked),
            expected,
            "{first} {second}"
        );
    }
}
