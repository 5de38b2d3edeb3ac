//! Loops that wait for the workgroup and read ahead.

use crate::{assert_valid, parse_module, run_shader};
use spirula_legalize::device::read_ahead;
use spirula_spirv::grammar::Op;

#[test]
fn loops_that_read_ahead_compute_the_same() {
    let module = parse_module(include_str!("rounds.spvasm"));
    let changed = read_ahead(&module).expect("there is such a loop");
    assert_valid(&changed);
    let barriers = changed.all_insts().filter(|i| i.op() == Op::ControlBarrier);
    // Two of an iteration: of four iterations at once, and of two and one that may be left; and one before.
    assert_eq!(barriers.count(), 2 * (4 + 2 + 1) + 1);
    for rounds in [0, 1, 3, 4, 5, 11, 64] {
        let given: Vec<u32> = (0..1024).map(|i| i * i).collect();
        assert_eq!(
            run_shader(&module, rounds, &given),
            run_shader(&changed, rounds, &given)
        );
    }
}

#[test]
fn shaders_without_such_loops_stay() {
    let text = include_str!("transpose.spvasm");
    let module = parse_module(&text.replace("@row", "OpIMul %uint %x %tile"));
    assert!(read_ahead(&module).is_none());
}
