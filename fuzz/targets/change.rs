//! The target `change` of `spirula-fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spirula_fuzz::{Target, run};

fuzz_target!(|input: &[u8]| {
    let target = Target::by_name("change").expect("the table has it");
    run(target, input);
});
