//! The target `exchange` of `spirula-fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spirula_fuzz::{FuzzTarget, run_target};

fuzz_target!(|input: &[u8]| {
    let target = FuzzTarget::by_name("exchange").expect("the table has it");
    run_target(target, input);
});
