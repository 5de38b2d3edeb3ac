//! Reducing: predicates over modules, on a text and on the corpus.

use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reduce::{ReduceOptions, ReduceProgress, reduce_module};
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use spirula_spirv::verify;
use spirula_testing::{GoldenFiles, SpirvValTool, find_corpus, list_files};
use std::path::Path;

fn has(words: &[u32], op: Op) -> bool {
    let module = SpirvModule::from_words(words.to_vec()).expect("candidates are well-formed");
    module.all_insts().any(|i| i.op() == op)
}

/// The first line of each file: `; keeps OpFMul`.
#[test]
fn modules_are_reduced_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reduce");
    let mut expected = GoldenFiles::new();
    for file in list_files(&folder, ".spvasm") {
        let source = std::fs::read_to_string(&file).expect("the test can be read");
        let first = source.lines().next().unwrap_or("");
        let op = first.strip_prefix("; keeps ").and_then(Op::by_name);
        let op = op.expect("the first line names an instruction");
        let words = parse_assembly(&source, &ParseOptions::default()).expect("it is a module");
        let module = SpirvModule::from_words(words).expect("it is a module");
        let options = ReduceOptions::default();
        if let Err(faults) = verify::verify_module(&module, &options.verify) {
            panic!("{}: {}", file.display(), faults[0]);
        }
        let mut sizes: Vec<ReduceProgress> = Vec::new();
        let small = reduce_module(&module, &options, |words| has(words, op), |p| sizes.push(p));
        let small = small.expect("it has the instruction");
        verify::verify_module(&small, &options.verify).expect("it stays valid");
        assert!(!sizes.is_empty());
        // The same again, step by step.
        let mut again = Vec::new();
        let twice = reduce_module(&module, &options, |words| has(words, op), |p| again.push(p));
        assert_eq!(twice.map(|m| m.to_words()), Some(small.to_words()));
        assert_eq!(again, sizes);
        let text =
            print_assembly(&small.to_words(), &PrintOptions::default()).expect("it can be printed");
        expected.compare_file(&file.with_extension("txt"), &text);
    }
    expected.finish_comparison();
}

#[test]
fn what_does_not_hold_is_not_reduced() {
    let module = SpirvModule::from_words(
        parse_assembly("%1 = OpTypeVoid", &ParseOptions::default()).expect("it is a module"),
    );
    let module = module.expect("it is a module");
    let never = reduce_module(&module, &ReduceOptions::default(), |_| false, |_| {});
    assert!(never.is_none());
}

/// Descriptions by extended instructions go with what they describe, be it in functions or outside.
#[test]
fn descriptions_go() {
    let source = "OpCapability Shader
        OpExtension \"SPV_KHR_non_semantic_info\"
        %set = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\"
        OpExecutionMode %main LocalSize 1 1 1
        %name = OpString \"a\"
        %void = OpTypeVoid
        %uint = OpTypeInt 32 0
        %zero = OpConstant %uint 0
        %one = OpConstant %uint 1
        %type = OpTypeFunction %void
        %source = OpExtInst %void %set DebugSource %name %name
        %unit = OpExtInst %void %set DebugCompilationUnit %one %one %source %one
        %basic = OpExtInst %void %set DebugTypeBasic %name %one %one %zero
        %signature = OpExtInst %void %set DebugTypeFunction %zero %void
        %described = OpExtInst %void %set DebugFunction %name %signature %source %one %one %unit %name %zero %one
        %main = OpFunction %void None %type
        %entry = OpLabel
        %scope = OpExtInst %void %set DebugScope %described
        OpReturn
        OpFunctionEnd";
    let words = parse_assembly(source, &ParseOptions::default()).expect("it is a module");
    let module = SpirvModule::from_words(words).expect("it is a module");
    let options = ReduceOptions::default();
    verify::verify_module(&module, &options.verify).expect("it is valid");
    let small = reduce_module(&module, &options, |_| true, |_| {}).expect("anything will do");
    assert!(
        !small
            .all_insts()
            .any(|i| i.op() == Op::ExtInst || i.op() == Op::String)
    );
}

#[test]
fn attempts_are_limited() {
    let source = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reduce/loop.spvasm"),
    );
    let words = parse_assembly(
        &source.expect("the test is there"),
        &ParseOptions::default(),
    );
    let module = SpirvModule::from_words(words.expect("it is a module")).expect("it is a module");
    let mut count = 0;
    let options = ReduceOptions {
        attempts: 5,
        ..ReduceOptions::default()
    };
    let counted = |_: &[u32]| {
        count += 1;
        true
    };
    assert!(reduce_module(&module, &options, counted, |_| {}).is_some());
    // The last one is the module with dense ids.
    assert!(count <= 6, "{count} attempts");
}

/// Modules of the corpus that have an instruction shrink to a handful around it.
#[test]
fn the_corpus_is_reduced() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let validator = SpirvValTool::find_program();
    let options = ReduceOptions::default();
    let wanted = [
        Op::FMul,
        Op::Phi,
        Op::ExtInst,
        Op::FunctionCall,
        Op::AtomicIAdd,
        Op::Select,
    ];
    let mut reduced = 0;
    let step = std::env::var("EVERY").map_or(97, |n| n.parse().expect("EVERY is a number"));
    for (number, file) in list_files(&folder.join("modules"), ".spv")
        .iter()
        .step_by(step)
        .enumerate()
    {
        let bytes = std::fs::read(file).expect("the corpus can be read");
        let module = SpirvModule::from_bytes(&bytes).expect("the corpus is well-formed");
        let op = wanted[number % wanted.len()];
        let is_small = bytes.len() < 20_000;
        if !is_small
            || !has(&module.to_words(), op)
            || verify::verify_module(&module, &options.verify).is_err()
        {
            continue;
        }
        let small = reduce_module(&module, &options, |words| has(words, op), |_| {});
        let small = small.expect("it has the instruction");
        let count = small.all_insts().count();
        assert!(
            count < 60,
            "{}: {op}: {count} instructions are left",
            file.display()
        );
        verify::verify_module(&small, &options.verify).expect("it stays valid");
        if let Some(validator) = &validator {
            let environment = format!("spv{}", small.version);
            let verdict = validator.validate_module(&small.to_bytes(), &environment);
            assert_eq!(verdict, Ok(()), "{}", file.display());
        }
        reduced += 1;
    }
    assert!(reduced > 2, "only {reduced} modules");
}
