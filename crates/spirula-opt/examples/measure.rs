//! Size and time of a pipeline over modules: `measure PIPELINE FILE...` prints for each the words
//! before and after and the milliseconds of reading, optimising and writing, then the sums.

use spirula_opt::{Options, Pipeline, optimise};
use spirula_spirv::ir::Module;
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let text = args.next().ok_or("usage: measure PIPELINE FILE...")?;
    let pipeline: Pipeline = text.parse()?;
    let mut out = std::io::stdout().lock();
    let (mut before, mut after, mut seconds, mut ratio, mut files) = (0, 0, 0.0, 0.0, 0);
    for path in args {
        let bytes = std::fs::read(&path)?;
        let began = Instant::now();
        let mut module = Module::from_bytes(&bytes)?;
        optimise(&mut module, &pipeline, &mut Options::default())?;
        let written = module.to_bytes().len();
        let time = began.elapsed().as_secs_f64();
        let (old, new) = (bytes.len() / 4, written / 4);
        writeln!(out, "{path}\t{old}\t{new}\t{:.3}", time * 1e3)?;
        before += bytes.len();
        after += written;
        seconds += time;
        ratio += (written as f64 / bytes.len() as f64).ln();
        files += 1;
    }
    let sum = after as f64 / before as f64;
    let mean = (ratio / f64::from(files)).exp();
    let speed = before as f64 / seconds / 1e6;
    writeln!(out, "{files} modules, {before} bytes: {speed:.1} MB/s")?;
    writeln!(
        out,
        "size after/before: {sum:.3} in sum, {mean:.3} in the geometric mean"
    )?;
    Ok(())
}
