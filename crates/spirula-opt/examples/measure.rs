//! Size and time of a pipeline over modules: `measure PIPELINE FILE...` prints for each the words
//! before and after and the milliseconds of reading, optimising and writing, then the sums.

use spirula_opt::{Options, Pipeline, optimise};
use spirula_spirv::ir::Module;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let text = args.next().ok_or("usage: measure PIPELINE FILE...")?;
    let pipeline: Pipeline = text.parse()?;
    let (mut before, mut after, mut seconds, mut ratio, mut files) = (0, 0, 0.0, 0.0, 0);
    for path in args {
        let bytes = std::fs::read(&path)?;
        let began = Instant::now();
        let mut module = Module::from_bytes(&bytes)?;
        optimise(&mut module, &pipeline, &mut Options::default())?;
        let out = module.to_bytes();
        let time = began.elapsed().as_secs_f64();
        println!(
            "{path}\t{}\t{}\t{:.3}",
            bytes.len() / 4,
            out.len() / 4,
            time * 1e3
        );
        before += bytes.len();
        after += out.len();
        seconds += time;
        ratio += (out.len() as f64 / bytes.len() as f64).ln();
        files += 1;
    }
    println!(
        "{files} modules, {before} bytes: {:.3} of the size in sum, {:.3} in the geometric mean, {:.1} MB/s",
        after as f64 / before as f64,
        (ratio / f64::from(files)).exp(),
        before as f64 / seconds / 1e6
    );
    Ok(())
}
