//! Arrays in workgroup memory that are padded against bank conflicts.

use crate::{assert_valid, parse_module, run_shader};
use spirula_legalize::device::spread_banks;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;

/// Transposes a tile of 32 x 32 words; `row` computes the index of the row that an invocation reads.
fn build_transpose(row: &str) -> SpirvModule {
    let text = include_str!("transpose.spvasm").replace("@row", row);
    parse_module(&text)
}

#[test]
fn columns_are_spread_over_banks() {
    for row in [
        "OpIMul %uint %x %tile",
        "OpIMul %uint %x %pushed",
        "OpShiftLeftLogical %uint %x %five",
    ] {
        let module = build_transpose(row);
        let changed = spread_banks(&module, 1024).expect("columns are read");
        assert_valid(&changed);
        let shifts = changed
            .all_insts()
            .filter(|i| i.op() == Op::ShiftRightArithmetic);
        assert_eq!(shifts.count(), 2, "{row}");
        let turned: Vec<u32> = (0..1024).map(|i| i % 32 * 32 + i / 32).collect();
        let given: Vec<u32> = (0..1024).collect();
        assert_eq!(run_shader(&module, 32, &given), turned);
        assert_eq!(run_shader(&changed, 32, &given), turned, "{row}");
    }
}

#[test]
fn rows_and_what_has_no_room_stay() {
    assert!(spread_banks(&build_transpose("OpIMul %uint %x %one"), 1024).is_none());
    assert!(spread_banks(&build_transpose("OpIMul %uint %pushed %tile"), 1024).is_none());
    assert!(spread_banks(&build_transpose("OpIMul %uint %x %tile"), 131).is_none());
}
