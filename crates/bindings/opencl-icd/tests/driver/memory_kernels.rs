//! Kernels with generic pointers, variables at program scope and 64-bit atomics on each device.

use crate::group_kernels::open_with;
use crate::program_sources::{load, open_all};
use crate::session::{build, create_kernel, launch, set_object, set_value};
use opencl_sys::*;
use std::ptr::null;

const GENERIC: &str = "
void add(int *p, int v) { *p += v; }
int sum(const int *p, int count) {
    int all = 0;
    for (int n = 0; n < count; n++) all += p[n];
    return all;
}
int kind(const void *p) { return to_global(p) ? 1 : to_local(p) ? 2 : 4; }
global int shared_count = 7;
kernel void generic_pointers(global int *out, local int *scratch) {
    size_t n = get_local_id(0);
    int own[4] = {1, 2, 3, (int)n};
    add(&own[1], 10);
    scratch[n] = own[1];
    add(scratch + n, n);
    barrier(CLK_LOCAL_MEM_FENCE);
    int *from = out + 1000;
    if (n % 3 == 0) from = own;
    if (n % 3 == 1) from = scratch;
    out[n] = sum(from, 4) + 1000 * kind(from);
    if (n == 0) add(&shared_count, 5);
    int *none = NULL;
    global int *nowhere = NULL;
    out[32] = (none == nowhere) + 2 * (from == NULL) + 4 * (out == none);
}
kernel void read_count(global int *out) { out[0] = shared_count; }";

#[test]
fn generic_pointers_find_their_memory() {
    for session in open_all() {
        let program = load(&session, &[GENERIC]);
        assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
        let kernel = create_kernel(&program, "generic_pointers").expect("it is there");
        let content: Vec<i32> = (0..1100).map(|n| 3 * n).collect();
        let out = session.filled(&content);
        set_object(&kernel, 0, &out);
        let size = 4 * 32;
        let set = cl!(clSetKernelArg(kernel.raw, 1, size, null()));
        assert_eq!(set, CL_SUCCESS);
        for _ in 0..2 {
            let launched = launch(session.queue.raw, kernel.raw, None, &[32], Some(&[32]), &[]);
            assert_eq!(launched, Ok(()));
        }
        let found = session.read::<i32>(&out, 33);
        assert_eq!(found[32], 1, "only null is null");
        for (n, found) in found[..32].iter().enumerate() {
            let expected = match n % 3 {
                0 => 4000 + 1 + 12 + 3 + n as i32,
                1 => 2000 + (12 + 13 + 14 + 15),
                _ => 1000 + 3 * (1000 + 1001 + 1002 + 1003),
            };
            assert_eq!(*found, expected, "invocation {n}");
        }
        let reader = create_kernel(&program, "read_count").expect("it is there");
        set_object(&reader, 0, &out);
        assert_eq!(session.launch(&reader, &[1]), Ok(()));
        assert_eq!(session.read::<i32>(&out, 1), [17], "of both launches");
    }
}

const VARIABLES: &str = "
typedef struct { int number; global int *to; constant char *text; } entry;
constant char words[] = \"spirula\";
global int numbers[3] = {10, 20, 30};
global int *middle = &numbers[1];
global entry table[2] = {{1, numbers + 2, words}, {2, numbers, words + 3}};
global int zeros[5000];
kernel void change(int by) {
    static global int calls = 100;
    calls++;
    *middle += by;
    numbers[0] = calls;
    zeros[4999] += by;
}
kernel void show(global int *out) {
    out[0] = numbers[0];
    out[1] = numbers[1];
    out[2] = *table[0].to + table[0].number;
    out[3] = *table[1].to + table[1].number;
    out[4] = table[1].text[1];
    out[5] = zeros[4999] + zeros[0];
}";

#[test]
fn variables_of_programs_last_between_kernels() {
    for session in open_all() {
        let program = load(&session, &[VARIABLES]);
        assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
        let change = create_kernel(&program, "change").expect("it is there");
        let show = create_kernel(&program, "show").expect("it is there");
        let out = session.buffer(24);
        set_object(&show, 0, &out);
        for by in [5_i32, 6] {
            assert_eq!(set_value(&change, 0, &by), Ok(()));
            assert_eq!(session.launch(&change, &[1]), Ok(()));
        }
        assert_eq!(session.launch(&show, &[1]), Ok(()));
        let letter = i32::from(b"spirula"[4]);
        let found = session.read::<i32>(&out, 6);
        assert_eq!(found, [102, 31, 31, 104, letter, 11]);
    }
}

const ATOMICS: &str = "
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void atomics(volatile global ulong *all, volatile local ulong *own) {
    size_t n = get_global_id(0);
    ulong step = 0x100000001ul;
    if (get_local_id(0) == 0) own[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atom_add(all, step);
    atom_max(all + 1, step * n);
    atom_xor(all + 2, 1ul << (n & 63));
    ulong old = all[3], seen;
    while ((seen = atom_cmpxchg(all + 3, old, old + step)) != old) old = seen;
    atom_add(own, step * n);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atom_add(all + 4, atom_xchg(own, 0ul));
}";

#[test]
fn atomics_of_64_bits_lose_nothing() {
    for session in open_with("cl_khr_int64_base_atomics") {
        let program = load(&session, &[ATOMICS]);
        for options in ["-cl-std=CL1.2", "-cl-std=CL3.0"] {
            assert_eq!(build(&program, options), Ok(()), "{options}");
        }
        let kernel = create_kernel(&program, "atomics").expect("it is there");
        let all = session.filled(&[0_u64; 5]);
        set_object(&kernel, 0, &all);
        let set = cl!(clSetKernelArg(kernel.raw, 1, 8, null()));
        assert_eq!(set, CL_SUCCESS);
        let launched = launch(
            session.queue.raw,
            kernel.raw,
            None,
            &[512],
            Some(&[64]),
            &[],
        );
        assert_eq!(launched, Ok(()));
        let step = 0x1_0000_0001_u64;
        let sum = 511 * 512 / 2;
        let found = session.read::<u64>(&all, 5);
        assert_eq!(found, [512 * step, 511 * step, 0, 512 * step, sum * step]);
    }
}
