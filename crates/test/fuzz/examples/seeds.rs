//! Writes the seeds of every target into folders, as an initial corpus for fuzzers: `seeds FOLDER`.

use spirula_fuzz::{TARGETS, load_seeds};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: seeds FOLDER");
        return Ok(());
    };
    for target in TARGETS {
        let folder = Path::new(&folder).join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (at, seed) in load_seeds(target).iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{at}")), seed)?;
        }
    }
    Ok(())
}
