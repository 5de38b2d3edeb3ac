//! Every target in one program, so that one file can be taken elsewhere: `SPIRULA_FUZZ_TARGET` names it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spirula_fuzz::{FuzzTarget, run_target};
use std::sync::LazyLock;

static TARGET: LazyLock<&FuzzTarget> = LazyLock::new(|| {
    let name = std::env::var("SPIRULA_FUZZ_TARGET");
    let name = name.expect("SPIRULA_FUZZ_TARGET names a target");
    FuzzTarget::by_name(&name).expect("the table has the target")
});

fuzz_target!(|input: &[u8]| {
    run_target(&TARGET, input);
});
