//! Golden files: expected output beside the inputs.

use std::fs;
use std::path::Path;

/// Compares results with files. With `BLESS=1` it writes the files instead.
#[derive(Debug, Default)]
pub struct GoldenFiles {
    compared: usize,
    different: Vec<String>,
}

impl GoldenFiles {
    /// Creates a comparison without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Compares a result with a file.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn compare_file(&mut self, file: &Path, found: &str) {
        self.compared += 1;
        if std::env::var_os("BLESS").is_some() {
            fs::write(file, found).expect("the expected file can be written");
            return;
        }
        let expected = fs::read_to_string(file).unwrap_or_default();
        if expected != found {
            let line = expected
                .lines()
                .zip(found.lines())
                .take_while(|(e, f)| e == f)
                .count();
            let (want, got) = (expected.lines().nth(line), found.lines().nth(line));
            self.different.push(format!(
                "{}:{}:\n  expected {}\n  found    {}\n{found}",
                file.display(),
                line + 1,
                want.unwrap_or("the end"),
                got.unwrap_or("the end"),
            ));
        }
    }

    /// Ends the comparison.
    ///
    /// # Panics
    /// If a file differed, or if no file was compared.
    pub fn finish_comparison(self) {
        assert!(self.compared > 0, "nothing was compared");
        let shown = self.different.join("\n");
        assert!(
            self.different.is_empty(),
            "{shown}\nBLESS=1 accepts what is found"
        );
    }
}
