//! `printf`: expected texts are those of C's library, for vectors those of the OpenCL specification.

use proptest::prelude::*;
use spirula_scalar::printf::{PrintfTemplate, PrintfValue};

fn int(value: i64) -> PrintfValue {
    let values = vec![value as u64];
    PrintfValue::Ints { bits: 32, values }
}

fn long(value: i64) -> PrintfValue {
    let values = vec![value as u64];
    PrintfValue::Ints { bits: 64, values }
}

fn float(value: f64) -> PrintfValue {
    PrintfValue::Floats(vec![value])
}

fn text(text: &str) -> PrintfValue {
    PrintfValue::Text(text.as_bytes().to_vec())
}

fn printed(format: &str, arguments: &[PrintfValue]) -> String {
    let mut out = Vec::new();
    PrintfTemplate::new(format.as_bytes()).print_arguments(arguments, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn integers() {
    let rows = [
        ("%d %i", vec![int(-5), int(7)], "-5 7"),
        (
            "%5d|%-5d|%05d|%+d|% d",
            vec![int(42), int(42), int(-42), int(42), int(42)],
            "   42|42   |-0042|+42| 42",
        ),
        (
            "%.3d|%8.3d|%.0d|%-8.3x|",
            vec![int(7), int(-7), int(0), int(10)],
            "007|    -007||00a     |",
        ),
        (
            "%u %x %X %o",
            vec![int(-1), int(255), int(255), int(8)],
            "4294967295 ff FF 10",
        ),
        (
            "%#x %#X %#o %#x %#010x",
            vec![int(255), int(255), int(8), int(0), int(255)],
            "0xff 0XFF 010 0 0x000000ff",
        ),
        (
            "%hhd %hd %hhu",
            vec![int(257), int(-65537), int(-1)],
            "1 -1 255",
        ),
        (
            "%ld %lx",
            vec![long(i64::MIN), long(-1)],
            "-9223372036854775808 ffffffffffffffff",
        ),
        ("%c%c %5c|", vec![int(79), int(107), int(33)], "Ok     !|"),
        ("%p", vec![long(0x1234)], "0x1234"),
    ];
    for (format, arguments, expected) in rows {
        assert_eq!(printed(format, &arguments), expected, "{format}");
    }
}

#[test]
fn floats() {
    let rows = [
        ("%f %.2f %.0f %#.0f", 2.5, "2.500000 2.50 2 2."),
        ("%e %.0e %E", 12345.678, "1.234568e+04 1e+04 1.234568E+04"),
        ("%g %g %G", 0.0001, "0.0001 0.0001 0.0001"),
        ("%g", 0.00001234, "1.234e-05"),
        ("%g", 1e10, "1e+10"),
        ("%g", 100_000.0, "100000"),
        (
            "%.3g|%#g|%10.3g|%-10g|",
            3.0,
            "3|3.00000|         3|3         |",
        ),
        ("%a %A %.2a %.0a", 1.0, "0x1p+0 0X1P+0 0x1.00p+0 0x1p+0"),
        ("%a %.1a", 0.1, "0x1.999999999999ap-4 0x1.ap-4"),
        ("%+f % f %010.2f", 1.5, "+1.500000  1.500000 0000001.50"),
        ("%f %5.1F %05f", f64::INFINITY, "inf   INF   inf"),
        ("%f", f64::NEG_INFINITY, "-inf"),
        ("%e", 0.0, "0.000000e+00"),
        ("%a", 0.0, "0x0p+0"),
    ];
    for (format, value, expected) in rows {
        let arguments = vec![
            float(value);
            PrintfTemplate::new(format.as_bytes())
                .list_arguments()
                .count()
        ];
        assert_eq!(printed(format, &arguments), expected, "{format}");
    }
}

#[test]
fn vectors_and_texts() {
    let vector = PrintfValue::Floats(vec![1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        printed("f4 = %2.2v4hlf\n", &[vector]),
        "f4 = 1.00,2.00,3.00,4.00\n"
    );
    let values = vec![0xfa, 0xfb, 0xfc, 0xfd];
    let bytes = PrintfValue::Ints { bits: 8, values };
    assert_eq!(
        printed("uc4 = %#v4hhx", &[bytes]),
        "uc4 = 0xfa,0xfb,0xfc,0xfd"
    );
    let values = vec![0xffff, 2];
    let shorts = PrintfValue::Ints { bits: 16, values };
    assert_eq!(printed("%v2hd", &[shorts]), "-1,2");
    assert_eq!(
        printed("[%s|%5s|%-5s|%.1s]", &vec![text("ab"); 4]),
        "[ab|   ab|ab   |a]"
    );
    let template = PrintfTemplate::new(b"%d %s %% %f %s");
    let texts: Vec<bool> = template.list_arguments().map(|w| w.is_text()).collect();
    assert_eq!(texts, [false, true, false, true]);
}

#[test]
fn arguments_from_bytes() {
    let decoded = |format: &[u8], bytes: &[u8]| {
        let template = PrintfTemplate::new(format);
        let arguments: Vec<_> = template
            .list_arguments()
            .map(|w| w.decode_argument(bytes))
            .collect();
        let mut out = Vec::new();
        template.print_arguments(&arguments, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(decoded(b"%d", &(-3_i32).to_le_bytes()), "-3");
    assert_eq!(
        decoded(b"%lu", &u64::MAX.to_le_bytes()),
        "18446744073709551615"
    );
    assert_eq!(decoded(b"%.1f", &1.5_f32.to_le_bytes()), "1.5");
    assert_eq!(decoded(b"%.1f", &1.5_f64.to_le_bytes()), "1.5");
    assert_eq!(decoded(b"%v2hhd", &[255, 2]), "-1,2");
    assert_eq!(decoded(b"%.1v2hf", &[0, 0x3c, 0, 0xc0]), "1.0,-2.0");
    assert_eq!(decoded(b"%v16d", &[]), "");
}

#[test]
fn what_is_not_defined() {
    assert_eq!(printed("100% %d %", &[]), "100% %d %");
    assert_eq!(printed("%y %d", &[int(1)]), "%y 1");
    assert_eq!(printed("%d %f", &[float(-2.75), int(-3)]), "-2 -3.000000");
    assert_eq!(printed("%99999999999999999999d", &[int(1)]).len(), 4095);
}

proptest! {
    /// No format makes it fail, and what it prints ends soon.
    #[test]
    fn any_format(format in "[%a-z0-9.#+ -]{0,40}", bits in any::<u64>()) {
        let arguments = [long(bits as i64), float(f64::from_bits(bits)), text("text")];
        let mut out = Vec::new();
        PrintfTemplate::new(format.as_bytes()).print_arguments(&arguments, &mut out);
        prop_assert!(out.len() < 3 * 10_000 + format.len());
    }
}
