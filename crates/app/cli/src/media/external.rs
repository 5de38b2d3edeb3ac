//! Other programs that media need.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a program with an input, and returns its standard output.
///
/// # Errors
/// The program is absent or fails.
pub fn run_program(name: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let process = Command::new(name)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut process = process.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("the program {name} is needed, and was not found"),
        _ => format!("{name}: {error}"),
    })?;
    let stdin = process.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A program that ends early reports the reason by itself.
                let _ = stdin.write_all(input);
            }
        });
        process.wait_with_output()
    });
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name} failed: {}", told.trim()))
}

/// Draws a PNG by a script of gnuplot. Each series of columns is in a file whose name a variable of the script has.
///
/// # Errors
/// `gnuplot` is absent or fails, or a file cannot be written.
pub fn run_gnuplot(
    script: &str,
    series: &[(String, Vec<Vec<f64>>)],
    target: &Path,
) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut text = format!(
        "set terminal png enhanced\nset output '{}'\n",
        target.display()
    );
    for (name, columns) in series {
        let file = folder.path().join(name);
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let line = |row: usize| {
            let cells = columns.iter().filter_map(|column| column.get(row));
            let cells: Vec<String> = cells.map(ToString::to_string).collect();
            cells.join(" ") + "\n"
        };
        let data: String = (0..rows).map(line).collect();
        std::fs::write(&file, data).map_err(|error| error.to_string())?;
        text.push_str(&format!("{name}='{}'\n", file.display()));
    }
    text.push_str(script);
    run_program("gnuplot", &[], text.as_bytes()).map(|_| ())
}
