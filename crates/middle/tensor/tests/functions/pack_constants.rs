//! Constants of small numbers.

use crate::common::{arguments, meaning, parameter, product, run, stage};
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::TensorBuilder;
use spirula_tensor::ir::{DenseTensorType, TensorConstant, TensorFunction};
use spirula_tensor::schedule::ScheduleProfile;

/// The operand that is multiplied by a constant, and the way.
struct PackedWeights {
    /// Least and greatest number.
    numbers: [i8; 2],
    is_signed: bool,
    is_turned: bool,
    rows: u64,
}

const DEPTH: u64 = 131;
const COLUMNS: u64 = 40;

fn weights(b: &mut TensorBuilder, weights: &PackedWeights) -> spirula_tensor::ir::TensorValue {
    let shape = if weights.is_turned {
        [COLUMNS, DEPTH]
    } else {
        [DEPTH, COLUMNS]
    };
    let [low, high] = weights.numbers.map(i64::from);
    let number = |at: u64| (low + (at * 37 / 5) as i64 % (high - low + 1)) as u8;
    b.add_constant(TensorConstant {
        ty: DenseTensorType::new(ScalarType::I8, &shape),
        bytes: (0..DEPTH * COLUMNS).map(number).collect(),
    })
}

fn multiplied(given: &PackedWeights) -> TensorFunction {
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &[given.rows, DEPTH]);
    let packed = weights(&mut b, given);
    let widen = if given.is_signed {
        ScalarOp::SExt
    } else {
        ScalarOp::ZExt
    };
    let wide = b.add_elementwise(&[packed], |body, e| {
        body.apply_conversion(widen, ScalarType::I32, e[0])
    });
    let result = product(&mut b, x, wide, given.is_turned);
    b.add_result(result, false);
    b.finish_function()
}

/// Numbers lie along the dimension that is folded, the last words are not full; nothing is narrowed to be
/// widened again.
#[test]
fn weights_of_few_bits_are_packed() {
    let cases = [
        ([-8, 7], true, [17, 24]),
        ([0, 15], false, [17, 24]),
        ([-3, 8], true, [17, 24]),
        ([112, 127], true, [17, 24]),
        ([-1, 0], true, [5, 8]),
        ([-2, 1], true, [9, 16]),
        ([0, 3], false, [9, 16]),
    ];
    for (numbers, is_signed, words) in cases {
        for (is_turned, rows) in [(false, 1), (true, 1), (false, 24), (true, 24)] {
            let function = multiplied(&PackedWeights {
                numbers,
                is_signed,
                is_turned,
                rows,
            });
            let arguments = arguments(&[vec![rows, DEPTH]]);
            let expected = meaning(&function, &arguments);
            for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
                let text = stage(&function, profile, Some("pack"));
                let ty = if is_turned {
                    format!("i32[{COLUMNS},{}]", words[1])
                } else {
                    format!("i32[{},{COLUMNS}]", words[0])
                };
                assert!(text.contains(&ty), "no {ty}:\n{text}");
                assert!(!text.contains("i8"), "{text}");
                let found = run(function.clone(), profile, &arguments);
                assert!(found == expected, "other results:\n{text}");
            }
        }
    }
}

/// Results have a byte for each number, and so do constants of other numbers.
#[test]
fn others_are_not_packed() {
    let wide = multiplied(&PackedWeights {
        numbers: [-8, 16],
        is_signed: true,
        is_turned: false,
        rows: 1,
    });
    let mut b = TensorBuilder::new("main");
    let result = weights(
        &mut b,
        &PackedWeights {
            numbers: [-8, 7],
            is_signed: true,
            is_turned: false,
            rows: 1,
        },
    );
    b.add_result(result, false);
    for function in [wide, b.finish_function()] {
        let text = stage(&function, ScheduleProfile::CPU, Some("pack"));
        assert!(text.contains("i8[131,40]"), "{text}");
    }
}
