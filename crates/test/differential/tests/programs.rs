//! Random programs compute on the CPU device what the evaluator computes: as translated, as optimised, as shaders
//! for Vulkan, and after lifting to LLVM IR and translating again.

use proptest::prelude::*;
use spirula_differential::{
    DifferentialFault, EXECUTION_VARIANTS, compile_variant, evaluate_module, generate_kernel,
    verify_variant,
};
use spirula_testing::{ChoiceSequence, SpirvValTool};

/// Checks a program in one variant. An undefined program may do anything.
fn check(text: &str, variant: &str) -> Result<(), DifferentialFault> {
    let module = spirula_llvm::read_module(text.as_bytes());
    let module = module.map_err(|fault| DifferentialFault::Program(fault.to_string()))?;
    let Some(expected) = evaluate_module(&module)? else {
        return Ok(());
    };
    let variant = EXECUTION_VARIANTS
        .iter()
        .find(|w| w.name == variant)
        .expect("the variant exists");
    verify_variant(&module, &expected, variant)
}

/// Validates the modules of all variants, if a validator is installed.
fn validate(text: &str) -> Result<(), String> {
    let Some(validator) = SpirvValTool::find_program() else {
        return Ok(());
    };
    let module = spirula_llvm::read_module(text.as_bytes()).map_err(|fault| fault.to_string())?;
    for variant in EXECUTION_VARIANTS
        .iter()
        .filter(|variant| variant.name != "vulkan")
    {
        let made = compile_variant(&module, variant).map_err(|fault| fault.to_string())?;
        let environment = format!("spv{}", made.version);
        let checked = validator.validate_module(&made.to_bytes(), &environment);
        checked.map_err(|fault| format!("{}: {fault}", variant.name))?;
    }
    Ok(())
}

fn program() -> impl Strategy<Value = String> {
    let bytes = proptest::collection::vec(any::<u8>(), 200..900);
    bytes.prop_map(|bytes| generate_kernel(&mut ChoiceSequence::new(&bytes)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn translated(text in program()) {
        check(&text, "cpu").map_err(|fault| TestCaseError::fail(format!("{fault}\n{text}")))?;
    }

    #[test]
    fn optimised(text in program()) {
        check(&text, "optimised").map_err(|fault| TestCaseError::fail(format!("{fault}\n{text}")))?;
    }

    #[test]
    fn as_shader(text in program()) {
        check(&text, "shader").map_err(|fault| TestCaseError::fail(format!("{fault}\n{text}")))?;
    }

    #[test]
    fn valid(text in program()) {
        validate(&text).map_err(|fault| TestCaseError::fail(format!("{fault}\n{text}")))?;
    }

    #[test]
    fn lifted(text in program()) {
        check(&text, "lifted").map_err(|fault| TestCaseError::fail(format!("{fault}\n{text}")))?;
    }
}

/// Checks a defined program from a file in all variants that need no driver.
fn check_file(text: &str) {
    for variant in ["cpu", "optimised", "lifted", "shader"] {
        check(text, variant).unwrap_or_else(|fault| panic!("{variant}: {fault}"));
    }
    let module = spirula_llvm::read_module(text.as_bytes()).expect("it is read");
    let expected = evaluate_module(&module).expect("it is evaluated");
    assert!(expected.is_some(), "it is defined");
}

/// Integers wider than any device supports are computed in limbs.
#[test]
fn wide_integers() {
    check_file(include_str!("wide.ll"));
}

/// Bytes are changed atomically through the words that contain them.
#[test]
fn atomic_bytes() {
    check_file(include_str!("bytes.ll"));
}

/// Predicated operations compute the same as plain instructions.
#[test]
fn predicated_operations() {
    let read = |text: &str| spirula_llvm::read_module(text.as_bytes()).expect("it is read");
    let plain = read(include_str!("plain.ll"));
    let expected = evaluate_module(&plain).expect("it is evaluated");
    let expected = expected.expect("it is defined");
    let predicated = read(include_str!("predicated.ll"));
    for variant in EXECUTION_VARIANTS
        .iter()
        .filter(|variant| variant.name != "vulkan")
    {
        assert_eq!(
            verify_variant(&plain, &expected, variant),
            Ok(()),
            "{}",
            variant.name
        );
        assert_eq!(
            verify_variant(&predicated, &expected, variant),
            Ok(()),
            "{}",
            variant.name
        );
    }
}

/// Most programs are defined, as undefined programs test nothing.
#[test]
fn programs_are_defined() {
    let mut defined = 0;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..40 {
        let mut bytes = Vec::new();
        for _ in 0..100 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes.extend(seed.to_le_bytes());
        }
        let text = generate_kernel(&mut ChoiceSequence::new(&bytes));
        let module = spirula_llvm::read_module(text.as_bytes());
        let module = module.unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        let outcome = evaluate_module(&module).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        defined += usize::from(outcome.is_some());
    }
    assert!(defined >= 35, "{defined} of 40 are defined");
}

const HEAD: &str = "target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024\"\ntarget triple = \"spir64-unknown-unknown\"\n";

/// A wrong result is found: another program is evaluated than the one that runs.
#[test]
fn differences_are_found() {
    let program = |op: &str| {
        format!(
            "{HEAD}define spir_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n, float %x, i64 %m, <4 x i32> %q) {{\n  %v = {op} i32 %n, 3\n  store i32 %v, ptr addrspace(1) %out\n  ret void\n}}\n"
        )
    };
    let read =
        |text: String| spirula_llvm::read_module(text.as_bytes()).expect("it is well-formed");
    let (sum, difference) = (read(program("add")), read(program("sub")));
    let expected = evaluate_module(&sum)
        .expect("it is evaluated")
        .expect("it is defined");
    assert_eq!(
        verify_variant(&sum, &expected, &EXECUTION_VARIANTS[0]),
        Ok(())
    );
    let fault = verify_variant(&difference, &expected, &EXECUTION_VARIANTS[0]);
    assert!(
        matches!(fault, Err(DifferentialFault::Wrong(_))),
        "{fault:?}"
    );
}
