//! The server protocol: `spirula server`.

use crate::harness::{ScratchFolder, spirula, spirula_with};

const SOURCE: &str = "type~ t = {a: i32, b: []f32}\n\
     entry make (n: i64) : t = {a = i32.i64 n, b = replicate n 1f32}\n\
     #[prop(gen(make), size(3))] entry total (x: t) = f32.i32 x.a + f32.sum x.b\n\
     entry both (x: *[]i32) (y: i32) : ([]i32, i32) = (map (+ y) x, y)\n\
     entry pairs (n: i64) : [](i32, i64) = map (\\i -> (i32.i64 i, i)) (iota n)\n\
     entry get (x: #left i32 | #none) : i32 = match x case #left v -> v case #none -> -1\n\
     entry divide (x: i32) (y: i32) : i32 = x / y\n";

/// Sends commands to a server, and returns the answers without the times of calls.
fn answers(commands: &[&str]) -> Vec<String> {
    let scratch = ScratchFolder::new();
    let path = scratch.file("program.fut", SOURCE);
    scratch.file("values", "3i64 [1, 2] 40");
    let folder = scratch.text("");
    let lines: String = commands
        .iter()
        .map(|line| line.replace("FOLDER/", &folder) + "\n")
        .collect();
    let told = spirula_with(&["server", &path], lines.as_bytes()).ok();
    assert!(!told.err.contains("panicked"), "{}", told.err);
    let text = told.text();
    let answers = text.split("%%% OK\n").skip(1);
    let answers = answers.map(|answer| {
        let lines = answer.lines().filter(|line| !line.starts_with("runtime: "));
        lines.collect::<Vec<_>>().join("; ")
    });
    let mut answers: Vec<String> = answers.collect();
    assert_eq!(answers.pop().as_deref(), Some(""), "{text}");
    assert_eq!(answers.len(), commands.len(), "{text}");
    answers
}

#[track_caller]
fn answer(pairs: &[(&str, &str)]) {
    let commands: Vec<&str> = pairs.iter().map(|(command, _)| *command).collect();
    for ((command, wanted), found) in pairs.iter().zip(answers(&commands)) {
        // The message of the system follows some failures.
        let is_cut = wanted.ends_with("Failed to open");
        let is_right = found == *wanted || (is_cut && found.starts_with(wanted));
        assert!(is_right, "{command}: {found:?}, expected {wanted:?}");
    }
}

#[test]
fn entry_points_and_types() {
    answer(&[
        ("entry_points", "make; total; both; pairs; get; divide"),
        ("inputs both", "*[]i32; i32"),
        ("outputs both", "[]i32; i32"),
        ("output both", "([]i32, i32)"),
        ("inputs total", "t"),
        ("output make", "t"),
        ("kind t", "record"),
        ("fields t", "a i32; b []f32"),
        ("attributes total", "prop(gen(make), size(3))"),
        ("attributes make", ""),
        ("kind i32", "primitive"),
        ("kind []i32", "array"),
        ("kind \"left:i32 | none:\"", "sum"),
        ("variants \"left:i32 | none:\"", "left; - i32; none"),
        ("rank [](i32,i64)", "%%% FAILURE; Unknown type: [](i32,i64)"),
        ("rank \"[](i32, i64)\"", "1"),
        ("elemtype \"[](i32, i64)\"", "(i32, i64)"),
    ]);
}

/// A compiled program has no source: types have names by their structure.
#[test]
fn compiled_programs_are_served() {
    let scratch = ScratchFolder::new();
    let path = scratch.file("program.fut", SOURCE);
    let archive = scratch.text("program.spb");
    spirula(&["compile", &path, "-o", &archive]).ok();
    let commands = "inputs total\noutputs both\noutput both\nkind i32\n";
    let told = spirula_with(&["server", &archive], commands.as_bytes()).ok();
    let text = told.text();
    let answers: Vec<&str> = text.split("%%% OK\n").skip(1).collect();
    assert_eq!(
        answers,
        [
            "{a: i32, b: []f32}\n",
            "[]i32\ni32\n",
            "([]i32, i32)\n",
            "primitive\n",
            ""
        ]
    );
}

#[test]
fn calls_and_variables() {
    answer(&[
        ("restore FOLDER/values n i64 xs []i32 y i32", ""),
        ("call both out0 out1 xs y", ""),
        ("store FOLDER/out out0 out1", ""),
        ("call both all xs y", ""),
        ("type all", "([]i32, i32)"),
        ("project first all 0", ""),
        ("shape first", "2"),
        ("free out0 out1", ""),
        ("restore FOLDER/out a []i32 b i32", ""),
        ("index e a 1", ""),
        ("rename e last", ""),
        ("type last", "i32"),
        ("call make r n", ""),
        ("call total sum r", ""),
        ("type sum", "f32"),
        ("clear", ""),
        ("pause_profiling", ""),
        ("unpause_profiling", ""),
        ("report", r#"{"memory":{},"events":[]}"#),
    ]);
}

#[test]
fn records_arrays_and_sums() {
    answer(&[
        ("restore FOLDER/values n i64 xs []i32 y i32", ""),
        ("call pairs ps n", ""),
        ("shape ps", "3"),
        ("unzip ps is js", ""),
        ("zip again \"[](i32, i64)\" is js", ""),
        ("index p again 2", ""),
        ("project i p 0", ""),
        ("construct s \"left:i32 | none:\" left i", ""),
        ("variant s", "left"),
        ("call get got s", ""),
        ("destruct s v", ""),
        ("new_array two []i32 2 v got", ""),
        ("set two y 0", ""),
        ("shape two", "2"),
        ("construct none \"left:i32 | none:\" none", ""),
        ("call get missing none", ""),
        ("new q \"(i32, i64)\" v n", ""),
        ("type q", "(i32, i64)"),
    ]);
}

/// A failure leaves the server as it was.
#[test]
fn failures() {
    answer(&[
        ("restore FOLDER/values n i64 xs []i32 y i32", ""),
        ("bogus", "%%% FAILURE; Unknown command: bogus"),
        (
            "call total x",
            "%%% FAILURE; total has 1 results and 1 parameters, which are not 1 variables",
        ),
        (
            "call nothing x",
            "%%% FAILURE; Unknown entry point: nothing",
        ),
        ("call total x n", "%%% FAILURE; n has the type i64, not t"),
        ("call total x q", "%%% FAILURE; Unknown variable: q"),
        ("call make n n", "%%% FAILURE; Variable already exists: n"),
        ("free q", "%%% FAILURE; Unknown variable: q"),
        ("restore FOLDER/none a f32", "%%% FAILURE; Failed to open"),
        (
            "index e xs 2",
            "%%% FAILURE; the index 2 is out of bounds for the size 2",
        ),
        ("index e xs", "%%% FAILURE; 1 indices are needed, not 0"),
        ("project e xs a", "%%% FAILURE; []i32 is not a record type"),
        (
            "set_tuning_param nothing 3",
            "%%% FAILURE; Unknown tuning parameter: nothing",
        ),
        ("rename", "%%% FAILURE; rename needs at least 2 words"),
        ("type xs", "[]i32"),
    ]);
}

/// An error of the program is a failure, and the next call works.
#[test]
fn errors_of_the_program() {
    let found = answers(&[
        "restore FOLDER/values n i64 xs []i32 y i32",
        "index one xs 0",
        "new_array zeros []i32 1 one",
        "call divide z one one",
        "call divide w y one",
    ]);
    assert_eq!(found[3], "");
    assert_eq!(found[4], "");
}

#[cfg(unix)]
#[test]
fn executable_files_serve() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let scratch = ScratchFolder::new();
    let path = scratch.file("it's.fut", SOURCE);
    let program = scratch.text("program");
    spirula(&["compile", &path, "--server", "-o", &program]).ok();
    let mut child = Command::new(&program)
        .args(["--param", "x=1", "-L"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"entry_points\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("%%% OK\nmake\ntotal\n"), "{text}");
    scratch.file("bad.fut", "def f = 1 + true");
    let bad = scratch.text("bad.fut");
    spirula(&["compile", &bad, "--server", "-o", &program]).fails(1, "bad.fut");
}
