//! The reader of Futhark's printed form, on difficult and on damaged input.

mod printed_corpus;

use spirula_futhark::{looks_like_futhark, read_futhark};
use spirula_kernel::{print_program, verify_program};
use spirula_testing::GoldenFiles;
use std::fs;
use std::path::Path;

#[test]
fn programs_read_as_expected() {
    let mut expected = GoldenFiles::new();
    for file in spirula_testing::list_files(Path::new("tests/printed"), ".imp") {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let program = read_futhark(&text).expect("the program reads");
        verify_program(&program).expect("the program checks");
        expected.compare_file(&file.with_extension("expected"), &print_program(&program));
    }
    expected.finish_comparison();
}

/// A program that is cut or has a byte changed is read or refused, without a panic.
#[test]
fn damaged_programs_do_no_harm() {
    let text = fs::read_to_string("tests/printed/names.imp").expect("the file can be read");
    let mut refused = 0;
    for (at, _) in text.char_indices() {
        refused += usize::from(read_futhark(&text[..at]).is_err());
        for other in ["(", "}", "\n", "9", "_", "\u{3b1}"] {
            let damaged = format!(
                "{}{other}{}",
                &text[..at],
                &text[at + 1..].trim_start_matches(|c: char| !c.is_ascii())
            );
            refused += usize::from(
                read_futhark(&damaged)
                    .and_then(|p| verify_program(&p))
                    .is_err(),
            );
        }
    }
    assert!(refused > text.len());
}

/// Converts a program with headings to one with braces, as printed since 0.25.35, and with attributes, as printed
/// since 0.25.36.
fn in_braces(text: &str) -> String {
    const HEADINGS: [(&str, &str); 10] = [
        ("Constants:", "constants {"),
        ("Initialisation:", "}\n\ninitialisation {"),
        ("  Inputs:", "  inputs {"),
        ("  Outputs:", "  }\n  outputs {"),
        ("  Entry:", "  }\n  entry {"),
        ("    Name:", "    name {"),
        ("    Arguments:", "    }\n    arguments {"),
        ("    Results:", "    }\n    results {"),
        (
            "  Body:",
            "  }\n  attributes {\n    #[noinline]\n  }\n  body {",
        ),
        ("}", "}"),
    ];
    let mut out =
        "tuning params {\n  thread_block_size main.tblock_size_1 (entry_main)\n".to_owned();
    out += "  user width ()\n}\n";
    let (mut has_function, mut is_entry) = (false, false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Function ") {
            out += if has_function { "  }\n}\n" } else { "}\n" };
            out += &format!("function {} {{\n", name.trim_end_matches(':'));
            has_function = true;
            continue;
        }
        if line == "  Body:" && std::mem::take(&mut is_entry) {
            out += "    }\n";
        }
        is_entry |= line == "    Name:";
        let heading = HEADINGS.iter().find(|(heading, _)| *heading == line);
        out += heading.map_or(line, |(_, part)| part);
        out.push('\n');
    }
    out + if has_function { "  }\n}\n" } else { "}\n" }
}

/// Both ways to print a program are read as the same program.
#[test]
fn parts_in_braces_are_those_under_headings() {
    let own = spirula_testing::list_files(Path::new("tests/printed"), ".imp");
    for file in own.into_iter().chain(printed_corpus::files()) {
        let old = printed_corpus::text(&file);
        let new = in_braces(&old);
        assert!(looks_like_futhark(&old) && looks_like_futhark(&new));
        let [old, new] = [&old, &new].map(|text| match read_futhark(text) {
            Ok(program) => print_program(&program),
            Err(fault) => panic!("{}: {fault:?}", file.display()),
        });
        assert!(old == new, "{}", file.display());
    }
}

/// A branch of the host is not taken if the copies of its kernel lack a dimension; elsewhere such copies are
/// refused.
#[test]
fn kernels_with_broken_copies_are_avoided() {
    let text = fs::read_to_string("tests/printed/scan_barriers.imp").expect("the file can be read");
    let first = text.find("(tid_4) [1i64])").expect("a copy");
    for strides in ["[5i64][7i64]", ""] {
        let mut text = text.clone();
        text.replace_range(first..first + 15, &format!("(tid_4) {strides})"));
        let fault = read_futhark(&text).expect_err("a broken copy");
        assert!(
            fault.message.starts_with("expected 1 strides, not "),
            "{}",
            fault.message
        );
        let text = text.replace(
            "    kernel  {",
            "    if slt64 (1i64) (2i64) then {\n    kernel  {",
        );
        let text = text.replace(
            "    out_mem_2 <-",
            "    } else {\n      skip\n    }\n    out_mem_2 <-",
        );
        let program = read_futhark(&text).expect("the program reads");
        verify_program(&program).expect("the program checks");
        assert!(
            print_program(&program).contains("  if false {\n    launch"),
            "{}",
            print_program(&program)
        );
    }
}

/// User parameters have defaults, which may be any expression.
#[test]
fn parameters_of_users_have_their_defaults() {
    let text = fs::read_to_string("tests/printed/scan_barriers.imp").expect("the file can be read");
    let text = text.replacen(
        "    kernel  {\n",
        "    var width_20: i64\n    get_user_param width_20 <- width(add_nw64 (1i64) (2i64))\n    kernel  {\n",
        1,
    );
    let size = "const get_size(main.tblock_size_11, thread_block_size)";
    let text = text.replace(size, "const get_user_param(block size, 64i64)");
    let program = read_futhark(&text).expect("the program reads");
    verify_program(&program).expect("the program checks");
    let text = print_program(&program);
    for part in [
        "%width_20 = cond.i64(eq.i64(parameter(\"width\", bespoke(\"width\", 0)), 0i64), add.i64(1i64, 2i64), ",
        "size [constant cond.i64(eq.i64(parameter(\"block size\", bespoke(\"block size\", 0)), 0i64), 64i64, ",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// A kernel captures the globals that its functions need.
#[test]
fn kernels_use_what_their_functions_see() {
    let text = fs::read_to_string("tests/printed/scan_barriers.imp").expect("the file can be read");
    let text = text.replacen(
        "Constants:\n",
        "Constants:\n  i32 scale_30\n  mem@device table_31\n",
        1,
    );
    let text = text.replacen(
        "        global_barrier()\n",
        "        call tid_4 <- own_40(tid_4)\n        global_barrier()\n",
        1,
    );
    let function = |name: &str, body: &str| {
        format!(
            "Function {name}:\n  Inputs:\n    i32 x_41\n  Outputs:\n    i32 y_42\n  Entry:\n\n  Body:\n{body}\n"
        )
    };
    let text = text
        + "\n"
        + &function("own_40", "    call y_42 <- inner_50(x_41)\n")
        + &function(
            "inner_50",
            "    var z_43: i32\n    z_43 <- table_31<i32@device>[0i64]\n    y_42 <- add32 (z_43) (scale_30)\n",
        );
    let program = read_futhark(&text).expect("the program reads");
    verify_program(&program).expect("the program checks");
    let text = print_program(&program);
    assert!(
        text.contains("uses (%xs_mem_1, %scale_30, %table_31)"),
        "{text}"
    );
    let mut program = program;
    for kernel in &mut program.kernels {
        kernel.captures.truncate(2);
    }
    let fault = verify_program(&program).expect_err("a use is missing");
    assert!(
        fault.message.contains("sees %table_31"),
        "{}",
        fault.message
    );
}
