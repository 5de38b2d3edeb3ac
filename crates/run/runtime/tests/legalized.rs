//! Reads of loops that wait for the workgroup, asked for some rounds ahead.

pub use spirula_legalize::with_reads_ahead;

#[cfg(test)]
mod tests {
    use super::super::testing::{parse_module, run_shader};
    use super::with_reads_ahead;
    use spirula_spirv::grammar::Op;
    use spirula_spirv::verify;

    #[test]
    fn rounds_that_read_ahead_give_the_same() {
        let module = parse_module(include_str!("../../tests/rewrite/rounds.spvasm"));
        let changed = with_reads_ahead(&module).expect("there is such a loop");
        let faults = verify::verify_module(&changed, &verify::VerifyOptions::default());
        assert!(faults.is_ok(), "{faults:?}");
        let barriers = changed.all_insts().filter(|i| i.op() == Op::ControlBarrier);
        // Two of a round, of four rounds at once and of two and one that may be left; and one before.
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
    fn others_stay() {
        let text = include_str!("../../tests/rewrite/turned.spvasm");
        let module = parse_module(&text.replace("@row", "OpIMul %uint %x %tile"));
        assert!(with_reads_ahead(&module).is_none());
    }
}
