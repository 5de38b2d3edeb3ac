//! The text form: functions are printed and read back.

mod sources;

use proptest::collection;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, TestRunner};
use sources::{PROGRAMS, read_text};
use spirula_entity::DenseId as _;
use spirula_futhark::compile::internalise_source;
use spirula_segment::ir::SegmentFunction;
use spirula_segment::parse::parse_functions;
use spirula_segment::profile::SegmentProfile;
use spirula_segment::translate::translate_function;
use spirula_segment::verify::verify_function;
use spirula_soac::ir::SoacVariableId;
use spirula_testing::{find_corpus, list_files};
use std::collections::HashMap;
use std::path::Path;

/// Profiles whose functions differ.
const PROFILES: [SegmentProfile; 2] = [SegmentProfile::PROCESSOR, SegmentProfile::GRAPHICS];

/// Everything that a function consists of, with its variables numbered in the order in which they occur.
fn describe(function: &SegmentFunction) -> String {
    let signature = &function.signature;
    let mut numbers = HashMap::new();
    let mut order = Vec::new();
    let code = format!("{:?} {:?}", signature.parameters, function.body);
    let mut described = format!("{} ", signature.name);
    described += &renumber(&code, &mut numbers, &mut order);
    let mut next = 0;
    while let Some(&variable) = order.get(next) {
        let variable = SoacVariableId::from_index(variable);
        let variable = format!("{:?}", signature.variables[variable]);
        described += &renumber(&variable, &mut numbers, &mut order);
        next += 1;
    }
    for (_, callee) in function.callees.iter() {
        described += &describe(callee);
    }
    described
}

/// A debug text with other numbers of variables, which are extended for those that are new. Texts in quotation marks stay.
fn renumber(text: &str, numbers: &mut HashMap<usize, usize>, order: &mut Vec<usize>) -> String {
    let mut out = String::new();
    let mut is_quoted = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_inside = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let digits = rest[first.len_utf8()..]
            .bytes()
            .take_while(u8::is_ascii_digit);
        let digits = digits.count();
        let mut length = first.len_utf8();
        match first {
            'v' if !is_quoted && !is_inside && digits > 0 => {
                length += digits;
                let number: usize = rest[1..length].parse().expect("a number");
                let new = *numbers.entry(number).or_insert_with(|| {
                    order.push(number);
                    order.len() - 1
                });
                out += &format!("v{new}");
            }
            '\\' if is_quoted => {
                let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
                length += escaped;
                out += &rest[..length];
            }
            _ => {
                is_quoted ^= first == '"';
                out.push(first);
            }
        }
        rest = &rest[length..];
    }
    out
}

/// Checks that a function is read back from its text, and keeps the rules.
fn check_round_trip(function: &SegmentFunction, name: &str) {
    let text = function.to_string();
    let read = read_function(&text, name);
    let verdict = verify_function(&read);
    assert!(verdict.is_ok(), "{name}: {verdict:?}\n{text}");
    assert_eq!(describe(&read), describe(function), "{name}\n{text}");
    let canonical = read.to_string();
    let again = read_function(&canonical, name).to_string();
    assert_eq!(again, canonical, "{name}");
}

fn read_function(text: &str, name: &str) -> SegmentFunction {
    let mut read = parse_functions(text).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    assert_eq!(read.len(), 1, "{name}");
    read.remove(0)
}

/// Checks the functions of a program for both kinds of devices. Returns their number, and zero if the program does not check.
fn check_program(
    main: &str,
    read: &mut (dyn FnMut(&str) -> Result<String, String> + Send),
) -> usize {
    let Ok(entries) = internalise_source(main, read) else {
        return 0;
    };
    for profile in PROFILES {
        for (function, _) in &entries {
            check_round_trip(&translate_function(function.clone(), profile), main);
        }
    }
    2 * entries.len()
}

fn check_file(path: &Path) -> usize {
    let mut read = |path: &str| std::fs::read_to_string(path).map_err(|fault| fault.to_string());
    check_program(&path.to_string_lossy(), &mut read)
}

#[test]
fn programs_are_read_back() {
    for text in PROGRAMS {
        assert!(
            check_program("main.fut", &mut read_text(text)) > 0,
            "{text}"
        );
    }
}

#[test]
fn programs_of_other_tests_are_read_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folders = [
        "crates/app/cli/tests",
        "crates/bindings",
        "benches",
        "tests",
    ];
    let files = folders.map(|folder| list_files(&root.join(folder), ".fut"));
    let count: usize = files.iter().flatten().map(|path| check_file(path)).sum();
    assert!(count > 20, "{count} functions");
}

/// Every thirtieth program of the corpus. `SPIRULA_CORPUS_STEP=1` takes each.
#[test]
fn programs_of_the_corpus_are_read_back() {
    let Some(corpus) = find_corpus("futhark/tests") else {
        return;
    };
    let step = std::env::var("SPIRULA_CORPUS_STEP").ok();
    let step = step.and_then(|step| step.parse().ok()).unwrap_or(30);
    let files = list_files(&corpus, ".fut");
    let counts = files.iter().step_by(step).map(|path| check_file(path));
    let counts: Vec<_> = counts.filter(|&count| count > 0).collect();
    println!(
        "{} functions of {} programs",
        counts.iter().sum::<usize>(),
        counts.len()
    );
    assert!(!counts.is_empty());
}

/// Forms that the translation seldom makes.
const FUNCTION: &str = r#"fun main (n_0: i64, xs_1: [n_0]i32, b_2: bool) =
  let (c_3: cert) = check(b_2, "a \"quoted\" text ", n_0, " and\nanother" at "a.fut:1:1")
  let (t_4: i64) = parameter("main.threshold", 32i64)
  let (ys_5: [n_0]i32) = #{c_3} by workgroups segmap [i_6 < n_0] {
    let (x_7: i32) = xs_1[i_6]
    in (x_7)
  } else {
    let (zs_8: [n_0]i32) = manifest(xs_1)
    in (zs_8)
  }
  let (hs_9: [5i64]i32) = replicate([5i64], 0i32)
  let (hs_10: [5i64]i32, ws_11: [n_0]i32) = seghist [i_12 < n_0] into (hs_9) comm (0i32) \(a_13: i32, b_14: i32) -> {
    let (s_15: i32) = add.i32(a_13, b_14)
    in (s_15)
  } {
    let (y_16: i32) = ys_5[i_12]
    let (p_17: i64) = sext.i32.i64(y_16)
    in (p_17, y_16, y_16)
  }
  let (r_18: [5i64]i32) = with_accumulators (acc_19 = (hs_10) \(a_20: i32, b_21: i32) -> {
    let (s_22: i32) = add.i32(a_20, b_21)
    in (s_22)
  }) {
    let () = segmap [i_23 < 5i64] {
      let () = accumulate acc_19[i_23] (1i32)
      in ()
    }
    in ()
  }
  in (r_18, ws_11)
"#;

#[test]
fn text_is_read_and_printed_again() {
    let function = read_function(FUNCTION, "main");
    assert_eq!(function.to_string(), FUNCTION);
    verify_function(&function).unwrap();
    let commented = format!("// After segment\n{FUNCTION}-- the end");
    assert_eq!(read_function(&commented, "main").to_string(), FUNCTION);
}

#[test]
fn faults_have_places() {
    let faults = [
        ("fun f (", "a name is expected", "fun f ("),
        (
            "fun f () =\n  in (x)",
            "there is no variable `x`",
            "fun f () =\n  in (",
        ),
        (
            "fun f () = let () = segmap [i 1i64] { in () } in ()",
            "`<` is expected",
            "fun f () = let () = segmap [i ",
        ),
        (
            "fun f () = let () = seghist [i < 1i64] { in () } in ()",
            "`into` is expected",
            "fun f () = let () = seghist [i < 1i64] ",
        ),
        (
            "fun f () = let () = call f4294967295 () in ()",
            "the number of a function is expected",
            "fun f () = let () = call ",
        ),
        (
            "fun f () = let () = by workgroups loop in ()",
            "an operation over a space is expected",
            "fun f () = let () = by workgroups ",
        ),
    ];
    for (text, message, before) in faults {
        let fault = parse_functions(text).unwrap_err();
        assert_eq!(fault.message, message, "{text}");
        let wanted =
            spirula_diagnostics::SourceLocation::from_text_range(before.len(), before.len() + 1);
        assert_eq!(fault.place, wanted, "{text}");
    }
}

#[test]
fn deep_nests_are_refused() {
    let text = format!(
        "fun f (b: bool) = {}",
        "let () = if b then {".repeat(100_000)
    );
    let fault = parse_functions(&text).unwrap_err();
    assert_eq!(fault.message, "more than 256 bodies are nested");
}

/// A change of a text: a part is removed, repeated elsewhere, or replaced by other characters.
#[derive(Clone, Debug)]
struct TextChange {
    start: usize,
    length: usize,
    target: usize,
    inserted: String,
}

fn changes() -> impl Strategy<Value = Vec<TextChange>> {
    let number = 0usize..10_000;
    let change = (number.clone(), 0usize..40, number, "[ -~\n]{0,3}|[^a]");
    let change = change.prop_map(|(start, length, target, inserted)| TextChange {
        start,
        length,
        target,
        inserted,
    });
    collection::vec(change, 1..4)
}

fn apply(text: &str, change: &TextChange) -> String {
    let characters: Vec<char> = text.chars().collect();
    let start = change.start % (characters.len() + 1);
    let end = (start + change.length).min(characters.len());
    let (removed, mut kept) = (&characters[start..end], characters[..start].to_vec());
    kept.extend(change.inserted.chars());
    kept.extend(&characters[end..]);
    let target = change.target % (kept.len() + 1);
    if change.target.is_multiple_of(2) {
        kept.splice(target..target, removed.iter().copied());
    }
    kept.into_iter().collect()
}

/// Whatever is read can be checked and printed.
#[test]
fn changed_texts_are_read_or_refused() {
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    });
    let strategy = (changes(), any::<bool>());
    let outcome = runner.run(&strategy, |(changes, is_cut)| {
        let mut text = FUNCTION.to_owned();
        for change in &changes {
            text = apply(&text, change);
        }
        if is_cut {
            let count = changes[0].target % (text.chars().count() + 1);
            text = text.chars().take(count).collect();
        }
        if let Ok(functions) = parse_functions(&text) {
            for function in functions {
                let _ = verify_function(&function);
                assert!(!function.to_string().is_empty());
            }
        }
        Ok(())
    });
    outcome.unwrap();
}
