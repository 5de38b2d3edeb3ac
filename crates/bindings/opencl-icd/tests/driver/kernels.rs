//! Kernels: their arguments, copies and queries.

use crate::caller::{ObjectKind, OwnedHandle, ask_text, ask_value, check};
use crate::session::{
    BASIC, IMAGES, TestSession, build, create_kernel, hold_handles, launch, set_object, set_value,
};
use opencl_sys::*;
use std::ptr::{null, null_mut};

#[test]
fn arguments_of_all_kinds_are_passed() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "mix_values");
    let numbers: Vec<u32> = (0..64).collect();
    let output = session.filled(&[0_u32; 64]);
    set_object(&kernel, 0, &output);
    let first = session.filled(&numbers);
    set_object(&kernel, 1, &first);
    let table = session.filled(&numbers);
    set_object(&kernel, 2, &table);
    assert_eq!(set_value(&kernel, 3, &200_u8), Ok(()));
    assert_eq!(set_value(&kernel, 4, &[1000_f32, 0.0, 0.0, 5000.0]), Ok(()));
    assert_eq!(set_value(&kernel, 5, &100_000_u64), Ok(()));
    assert_eq!(session.launch(&kernel, &[64]), Ok(()));
    let expected: Vec<u32> = (0..64).map(|n| 2 * n + 106_200).collect();
    assert_eq!(session.read::<u32>(&output, 64), expected);
}

#[test]
fn wrong_arguments_are_refused() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "mix_values");
    let buffer = session.buffer(64);
    assert_eq!(set_value(&kernel, 6, &0_u32), Err(CL_INVALID_ARG_INDEX));
    assert_eq!(
        set_value(&kernel, u32::MAX, &0_u32),
        Err(CL_INVALID_ARG_INDEX)
    );
    assert_eq!(set_value(&kernel, 0, &0_u32), Err(CL_INVALID_ARG_SIZE));
    assert_eq!(set_value(&kernel, 0, &7_usize), Err(CL_INVALID_MEM_OBJECT));
    assert_eq!(
        set_value(&kernel, 0, &session.queue.raw),
        Err(CL_INVALID_MEM_OBJECT)
    );
    assert_eq!(set_value(&kernel, 3, &0_u32), Err(CL_INVALID_ARG_SIZE));
    assert_eq!(set_value(&kernel, 3, &buffer.raw), Err(CL_INVALID_ARG_SIZE));
    assert_eq!(set_value(&kernel, 4, &[0_f32; 3]), Err(CL_INVALID_ARG_SIZE));
    let null_value = cl!(clSetKernelArg(kernel.raw, 3, 1, null()));
    assert_eq!(null_value, CL_INVALID_ARG_VALUE);
    let sums = session.kernel(BASIC, "sum_groups");
    assert_eq!(
        cl!(clSetKernelArg(sums.raw, 2, 0, null())),
        CL_INVALID_ARG_SIZE
    );
    assert_eq!(set_value(&sums, 2, &0_u32), Err(CL_INVALID_ARG_VALUE));
    let samples = session.kernel(IMAGES, "sample_plane");
    assert_eq!(
        set_value(&samples, 0, &buffer.raw),
        Err(CL_INVALID_MEM_OBJECT)
    );
    assert_eq!(set_value(&samples, 0, &0_usize), Err(CL_INVALID_MEM_OBJECT));
    assert_eq!(set_value(&samples, 1, &buffer.raw), Err(CL_INVALID_SAMPLER));
    assert_eq!(
        cl!(clSetKernelArg(samples.raw, 1, 8, null())),
        CL_INVALID_SAMPLER
    );
}

#[test]
fn launches_need_all_arguments() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "add_value");
    assert_eq!(session.launch(&kernel, &[4]), Err(CL_INVALID_KERNEL_ARGS));
    assert_eq!(set_value(&kernel, 1, &3_u32), Ok(()));
    assert_eq!(session.launch(&kernel, &[4]), Err(CL_INVALID_KERNEL_ARGS));
    let buffer = session.filled(&[1_u32; 4]);
    set_object(&kernel, 0, &buffer);
    assert_eq!(set_value(&kernel, 1, &[0_u8; 3]), Err(CL_INVALID_ARG_SIZE));
    assert_eq!(
        session.launch(&kernel, &[4]),
        Ok(()),
        "the value before stays"
    );
    assert_eq!(session.read::<u32>(&buffer, 4), [4; 4]);
}

#[test]
fn launches_take_the_arguments_of_their_call() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "add_value");
    let (first, second) = (session.filled(&[0_u32; 4]), session.filled(&[0_u32; 4]));
    let gate = session.user_event();
    set_object(&kernel, 0, &first);
    assert_eq!(set_value(&kernel, 1, &5_u32), Ok(()));
    let queue = session.queue.raw;
    assert_eq!(
        launch(queue, kernel.raw, None, &[4], None, &[gate.raw]),
        Ok(())
    );
    set_object(&kernel, 0, &second);
    assert_eq!(set_value(&kernel, 1, &9_u32), Ok(()));
    assert_eq!(session.launch(&kernel, &[4]), Ok(()));
    crate::events::end_event(&gate, CL_COMPLETE);
    assert_eq!(session.read::<u32>(&first, 4), [5; 4]);
    assert_eq!(session.read::<u32>(&second, 4), [9; 4]);
}

#[test]
fn arguments_do_not_keep_their_objects() {
    let _guard = hold_handles();
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "count_up");
    let buffer = session.buffer(4);
    let raw = buffer.raw;
    set_object(&kernel, 0, &buffer);
    drop(buffer);
    assert_eq!(ObjectKind::Memory.count(raw), Err(CL_INVALID_MEM_OBJECT));
    assert_eq!(session.launch(&kernel, &[1]), Err(CL_INVALID_KERNEL_ARGS));
    let other = session.filled(&[0_u32]);
    set_object(&kernel, 0, &other);
    assert_eq!(session.launch(&kernel, &[1]), Ok(()));
    assert_eq!(session.read::<u32>(&other, 1), [1]);
}

#[test]
fn kernels_of_other_contexts_are_refused() {
    let (session, other) = (TestSession::new(), TestSession::new());
    let kernel = session.kernel(BASIC, "count_up");
    let buffer = session.buffer(4);
    set_object(&kernel, 0, &buffer);
    let done = launch(other.queue.raw, kernel.raw, None, &[1], None, &[]);
    assert_eq!(done, Err(CL_INVALID_CONTEXT));
}

#[test]
fn clones_have_arguments_of_their_own() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "add_value");
    let buffer = session.filled(&[0_u32; 4]);
    set_object(&kernel, 0, &buffer);
    assert_eq!(set_value(&kernel, 1, &1_u32), Ok(()));
    let mut code = 1;
    let raw = cl!(clCloneKernel(kernel.raw, &raw mut code));
    let clone = OwnedHandle::new(ObjectKind::Kernel, raw, code).expect("it is copied");
    assert_eq!(set_value(&kernel, 1, &10_u32), Ok(()));
    assert_eq!(session.launch(&clone, &[4]), Ok(()));
    assert_eq!(session.launch(&kernel, &[4]), Ok(()));
    drop(kernel);
    assert_eq!(session.launch(&clone, &[4]), Ok(()));
    assert_eq!(session.read::<u32>(&buffer, 4), [12; 4]);
}

#[test]
fn kernels_are_found_by_their_names() {
    let session = TestSession::new();
    let program = session.program(BASIC);
    assert_eq!(
        create_kernel(&program, "no_such").err(),
        Some(CL_INVALID_KERNEL_NAME)
    );
    assert_eq!(
        create_kernel(&program, "").err(),
        Some(CL_INVALID_KERNEL_NAME)
    );
    let mut code = 1;
    let made = cl!(clCreateKernel(program.raw, null(), &raw mut code));
    assert_eq!((made.is_null(), code), (true, CL_INVALID_VALUE));
    let mut count = 0;
    let raw = program.raw;
    let asked = cl!(clCreateKernelsInProgram(raw, 0, null_mut(), &raw mut count));
    assert_eq!((asked, count), (CL_SUCCESS, 7));
    let mut all = [null_mut(); 8];
    let list = all.as_mut_ptr();
    let code = cl!(clCreateKernelsInProgram(raw, 6, list, null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
    assert_eq!(all, [null_mut(); 8]);
    let code = cl!(clCreateKernelsInProgram(raw, 8, list, &raw mut count));
    assert_eq!((code, count, all[7]), (CL_SUCCESS, 7, null_mut()));
    let names = all[..7].iter().map(|raw| {
        ask_text(|size, value, out| {
            cl!(clGetKernelInfo(
                *raw,
                CL_KERNEL_FUNCTION_NAME,
                size,
                value,
                out
            ))
        })
    });
    let names: Result<Vec<String>, _> = names.collect();
    let listed = ask_text(|size, value, out| {
        cl!(clGetProgramInfo(
            program.raw,
            CL_PROGRAM_KERNEL_NAMES,
            size,
            value,
            out
        ))
    });
    assert_eq!(names.map(|names| names.join(";")), listed);
    for kernel in &all[..7] {
        assert_eq!(ObjectKind::Kernel.release(*kernel), CL_SUCCESS);
    }
}

#[test]
fn kernels_tell_about_their_arguments() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "mix_values");
    let ask = |index: u32, name: u32| {
        ask_value::<u32>(|size, value, out| {
            cl!(clGetKernelArgInfo(
                kernel.raw, index, name, size, value, out
            ))
        })
    };
    let spaces = [0, 1, 2, 3].map(|index| ask(index, CL_KERNEL_ARG_ADDRESS_QUALIFIER));
    let (global, constant) = (CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_CONSTANT);
    let private = CL_KERNEL_ARG_ADDRESS_PRIVATE;
    assert_eq!(spaces, [global, global, constant, private].map(Ok));
    assert_eq!(
        ask(0, CL_KERNEL_ARG_ACCESS_QUALIFIER),
        Ok(CL_KERNEL_ARG_ACCESS_NONE)
    );
    assert_eq!(
        ask(6, CL_KERNEL_ARG_ACCESS_QUALIFIER),
        Err(CL_INVALID_ARG_INDEX)
    );
    assert_eq!(ask(0, 0x77), Err(CL_INVALID_VALUE));
    let text = |index: u32, name: u32| {
        ask_text(|size, value, out| {
            cl!(clGetKernelArgInfo(
                kernel.raw, index, name, size, value, out
            ))
        })
    };
    let names = [0, 1, 2, 3, 4, 5].map(|index| text(index, CL_KERNEL_ARG_NAME));
    let expected = ["out", "first", "second", "a", "b", "c"];
    assert_eq!(names, expected.map(|name| Ok(name.to_owned())));
    let types = [0, 3, 4].map(|index| text(index, CL_KERNEL_ARG_TYPE_NAME));
    assert_eq!(
        types,
        ["uint*", "uchar", "float4"].map(|name| Ok(name.to_owned()))
    );
    let qualifiers: Result<u64, _> = ask_value(|size, value, out| {
        let name = CL_KERNEL_ARG_TYPE_QUALIFIER;
        cl!(clGetKernelArgInfo(kernel.raw, 1, name, size, value, out))
    });
    assert_eq!(qualifiers, Ok(u64::from(CL_KERNEL_ARG_TYPE_CONST)));
    let samples = session.kernel(IMAGES, "invert_plane");
    let access = [0, 1].map(|index| {
        ask_value::<u32>(|size, value, out| {
            let name = CL_KERNEL_ARG_ACCESS_QUALIFIER;
            cl!(clGetKernelArgInfo(
                samples.raw,
                index,
                name,
                size,
                value,
                out
            ))
        })
    });
    let wanted = [
        CL_KERNEL_ARG_ACCESS_READ_ONLY,
        CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
    ];
    assert_eq!(access, wanted.map(Ok));
}

#[test]
fn kernels_tell_about_workgroups() {
    let session = TestSession::new();
    let kernel = session.kernel(BASIC, "sum_groups");
    let ask = |name: u32| {
        ask_value::<usize>(|size, value, out| {
            let device = session.device;
            cl!(clGetKernelWorkGroupInfo(
                kernel.raw, device, name, size, value, out
            ))
        })
    };
    assert!(ask(CL_KERNEL_WORK_GROUP_SIZE).is_ok_and(|size| size >= 256));
    assert!(ask(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE).is_ok_and(|size| size > 0));
    let before = ask(CL_KERNEL_LOCAL_MEM_SIZE).expect("it is told");
    assert_eq!(cl!(clSetKernelArg(kernel.raw, 2, 4096, null())), CL_SUCCESS);
    assert_eq!(ask(CL_KERNEL_LOCAL_MEM_SIZE), Ok(before + 4096));
    assert_eq!(ask(CL_KERNEL_GLOBAL_WORK_SIZE), Err(CL_INVALID_VALUE));
    assert_eq!(ask(0x9999), Err(CL_INVALID_VALUE));
    let name = CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE;
    let huge = [usize::MAX; 3];
    let input = huge.as_ptr().cast();
    let mut answer = 0_usize;
    let to = (&raw mut answer).cast();
    let device = session.device;
    let code = cl!(clGetKernelSubGroupInfo(
        kernel.raw,
        device,
        name,
        24,
        input,
        8,
        to,
        null_mut()
    ));
    assert_ne!(
        code, CL_OUT_OF_RESOURCES,
        "the product of the sizes overflows"
    );
}

#[test]
fn programs_with_kernels_are_not_built_again() {
    let session = TestSession::new();
    let program = session.program(BASIC);
    let kernel = create_kernel(&program, "count_up").expect("it is there");
    assert_eq!(build(&program, ""), Err(CL_INVALID_OPERATION));
    assert_eq!(check(cl!(clRetainKernel(kernel.raw))), Ok(()));
    let raw = kernel.raw;
    drop(kernel);
    assert_eq!(build(&program, ""), Err(CL_INVALID_OPERATION));
    assert_eq!(ObjectKind::Kernel.release(raw), CL_SUCCESS);
    assert_eq!(build(&program, ""), Ok(()));
}
