//! Instructions, values and sets added to the grammar at run time: every part of the library knows
//! them. The grammar is the process': each test has opcodes and names of its own.

use spirula_spirv::Id;
use spirula_spirv::analysis::{DefUse, ModuleRequirements};
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::grammar::{
    AdditionError, ExtInstSet, GrammarAdditions, InstructionEffects, Kind, NewInstruction,
    NewValue, Op, OperandQuantifier,
};
use spirula_spirv::ir::{ErasedIds, IdWords, SpirvModule};
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use spirula_spirv::verify;

fn assemble(source: &str) -> Vec<u32> {
    parse_assembly(source, &ParseOptions::default())
        .unwrap_or_else(|faults| panic!("{}", faults[0]))
}

/// A shader around the given declarations and instructions.
fn shader(declarations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\n{declarations}\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         %void = OpTypeVoid\n%type = OpTypeFunction %void\n%float = OpTypeFloat 32\n\
         %one = OpConstant %float 1\n%main = OpFunction %void None %type\n%entry = OpLabel\n\
         {body}\nOpReturn\nOpFunctionEnd\n"
    )
}

fn faults(source: &str) -> String {
    match verify::verify_words(assemble(source), &verify::VerifyOptions::default()) {
        Ok(_) => String::new(),
        Err(faults) => faults.iter().map(|f| format!("{f}\n")).collect(),
    }
}

const CORE: &str = r#"{
  "magic_number": "0x07230203",
  "instructions": [
    { "opname": "OpNop", "class": "Miscellaneous", "opcode": 0, "version": "1.0" },
    { "opname": "OpBlendTEST", "class": "Arithmetic", "opcode": 30001, "operands": [
        { "kind": "IdResultType" }, { "kind": "IdResult" },
        { "kind": "IdRef", "name": "Left" }, { "kind": "IdRef", "name": "Right" },
        { "kind": "BlendMode", "name": "Mode" },
        { "kind": "IdRef", "quantifier": "*", "name": "More" } ],
      "capabilities": [ "BlendTEST" ], "extensions": [ "SPV_TEST_blend" ], "version": "None" },
    { "opname": "OpPingTEST", "class": "Reserved", "opcode": 30002, "operands": [
        { "kind": "LiteralString", "name": "What" }, { "kind": "IdRef", "quantifier": "?" } ] }
  ],
  "operand_kinds": [
    { "category": "ValueEnum", "kind": "BlendMode", "enumerants": [] },
    { "category": "ValueEnum", "kind": "Capability", "enumerants": [
        { "enumerant": "Matrix", "value": 0 },
        { "enumerant": "BlendTEST", "value": 30003, "capabilities": [ "Shader" ] } ] },
    { "category": "ValueEnum", "kind": "Decoration", "enumerants": [
        { "enumerant": "WeightTEST", "value": 30004, "parameters": [
            { "kind": "LiteralInteger", "name": "Weight" } ], "capabilities": [ "BlendTEST" ] } ] }
  ]
}"#;

const BLEND: &str = "OpCapability BlendTEST\nOpExtension \"SPV_TEST_blend\"";
const BODY: &str = "%x = OpFAdd %float %one %one\n%y = OpBlendTEST %float %x %one 7 %x %x\n\
    OpPingTEST \"a b\" %y\nOpPingTEST \"c\"";

#[test]
fn a_newer_core_grammar_is_known_everywhere() {
    let additions = GrammarAdditions::from_json(CORE, None).expect("it is well-formed");
    // OpNop and Matrix are in the tables already.
    assert_eq!(
        (additions.instructions.len(), additions.values.len()),
        (2, 2)
    );
    additions.register_all().expect("nothing is in conflict");
    additions.register_all().expect("it may be added again");

    let words = assemble(&shader(BLEND, BODY));
    let text = print_assembly(&words, &PrintOptions::default()).expect("it has a header");
    assert!(text.contains("OpCapability BlendTEST"), "{text}");
    assert!(text.contains("OpPingTEST \"a b\" %"), "{text}");
    assert_eq!(assemble(&text), words, "{text}");
    let friendly = PrintOptions {
        friendly_names: true,
        ..PrintOptions::default()
    };
    let named = print_assembly(&words, &friendly).expect("it has a header");
    assert_eq!(assemble(&named).len(), words.len(), "{named}");

    let mut module = SpirvModule::from_words(words.clone()).expect("it is well-formed");
    assert_eq!(module.to_words(), words);
    assert!(module.is_known());
    let op = Op::by_name("OpBlendTEST").expect("it was added");
    let inst = module
        .all_insts()
        .find(|i| i.op() == op)
        .expect("it is there");
    let (result, ty) = (
        inst.result().expect("a result"),
        inst.result_type().expect("a type"),
    );
    assert_eq!(inst.named_operand("Left").map(|o| o.words.len()), Some(1));
    let chains = DefUse::from_module(&module);
    assert_eq!(chains.definition(result), Some(inst.handle()));
    assert_eq!(chains.use_count(result), 1);
    let left = Id::new(inst.operand_word(0)).expect("an id");
    assert_eq!(
        chains.use_count(left),
        3,
        "the number between them is no id"
    );
    let mut used = Vec::new();
    IdWords::new(&module).visit_uses(inst, |at, _| used.push(at));
    assert_eq!(used, [0, 2, 3, 5, 6]);
    assert!(op.effects().is_pure(), "its chapter is arithmetic");
    assert_eq!(
        Op::by_name("PingTEST").map(Op::effects),
        Some(InstructionEffects::ANY)
    );
    let needed = ModuleRequirements::from_module(&module).minimal_capabilities();
    assert!(needed.contains(&Capability(30003)), "{needed:?}");

    let bound = module.bound();
    assert!(
        module
            .try_create(op, &[ty.word(), result.word(), left.word()])
            .is_err()
    );
    assert!(
        module
            .try_create(op, &[ty.word(), result.word(), bound, bound, 0])
            .is_err()
    );
    let handle = chains.definition(result).expect("it is defined");
    let mut erased = ErasedIds::new();
    module.erase_inst(handle, &mut erased);
    assert!(erased.contains(result));
}

#[test]
fn the_verifier_asks_what_was_added_for_its_needs() {
    let additions = GrammarAdditions::from_json(CORE, None).expect("it is well-formed");
    additions.register_all().expect("nothing is in conflict");
    assert_eq!(faults(&shader(BLEND, BODY)), "");
    let missing = faults(&shader("", BODY));
    assert!(
        missing.contains("OpBlendTEST needs the capability BlendTEST"),
        "{missing}"
    );
    let missing = faults(&shader("OpCapability BlendTEST", BODY));
    assert!(missing.contains("SPV_TEST_blend"), "{missing}");
    let undefined = BODY.replace("%x %x", "%x %nowhere");
    let missing = faults(&shader(BLEND, &undefined));
    assert!(missing.contains("is not defined"), "{missing}");
    // BlendTEST implies Shader.
    let source = shader(BLEND, BODY).replace("OpCapability Shader\n", "");
    assert_eq!(faults(&source), "");
}

#[test]
fn sets_of_extended_instructions() {
    let json = r#"{ "instructions": [
        { "opname": "Mix", "opcode": 2, "effects": [], "operands": [
            { "kind": "IdRef", "name": "x" }, { "kind": "LiteralInteger", "name": "n" } ] },
        { "opname": "Log", "opcode": 1, "operands": [ { "kind": "IdRef", "name": "x" } ] } ] }"#;
    assert!(
        GrammarAdditions::from_json(json, None).is_err(),
        "it does not say its name"
    );
    let additions = GrammarAdditions::from_json(json, Some("Test.set")).expect("it is well-formed");
    additions.register_all().expect("nothing is in conflict");
    let set = ExtInstSet::by_name("Test.set").expect("it was added");
    assert!(
        set.instruction_effects(2).is_pure()
            && set.instruction_effects(1) == InstructionEffects::ANY
    );
    let body = "%x = OpExtInst %float %set Mix %one 1\n%y = OpExtInst %void %set Log %x";
    let source = shader("%set = OpExtInstImport \"Test.set\"", body);
    let words = assemble(&source);
    let text = print_assembly(&words, &PrintOptions::default()).expect("it has a header");
    assert!(text.contains(" Mix %") && text.contains(" Log %"), "{text}");
    assert_eq!(assemble(&text), words);
    assert_eq!(faults(&source), "");
    let module = SpirvModule::from_words(words).expect("it is well-formed");
    let mix = module
        .all_insts()
        .find(|i| i.op() == Op::ExtInst)
        .expect("it is there");
    let mut used = Vec::new();
    IdWords::new(&module).visit_uses(mix, |at, _| used.push(at));
    assert_eq!(used, [0, 2, 4], "the literal is no id");
    let unknown = body.replace("Mix %one 1", "7 %one");
    let found = faults(&shader("%set = OpExtInstImport \"Test.set\"", &unknown));
    assert!(found.contains("no instruction 7"), "{found}");
}

#[test]
fn what_is_in_conflict_is_refused_whole() {
    let one = |instruction: NewInstruction| GrammarAdditions {
        instructions: vec![NewInstruction::new(30_100, "OpFineTEST"), instruction],
        ..GrammarAdditions::default()
    };
    let refused = |instruction: NewInstruction| {
        let found = one(instruction)
            .register_all()
            .expect_err("it is in conflict");
        assert!(Op(30_100).info().is_none(), "nothing was added");
        found
    };
    let taken = refused(NewInstruction::new(Op::IAdd.0, "OpIAddTEST"));
    assert!(
        matches!(taken, AdditionError::Instruction(128, _)),
        "{taken}"
    );
    let taken = refused(NewInstruction::new(30_101, "OpIAdd"));
    assert!(matches!(taken, AdditionError::Instruction(..)), "{taken}");
    for name in ["Fine", "Opfine", "Op", "OpA B", "OpÄ"] {
        let found = refused(NewInstruction::new(30_101, name));
        assert!(matches!(found, AdditionError::Name(_)), "{found}");
    }
    let base = || NewInstruction::new(30_101, "OpBadTEST");
    let wrong = [
        base()
            .with_operand(Kind::IdRef, OperandQuantifier::Many, "")
            .with_operand(Kind::IdRef, OperandQuantifier::One, ""),
        base()
            .with_operand(Kind::IdRef, OperandQuantifier::Optional, "")
            .with_operand(Kind::IdRef, OperandQuantifier::One, ""),
        base()
            .with_operand(Kind::IdRef, OperandQuantifier::One, "")
            .with_operand(Kind::IdResult, OperandQuantifier::One, ""),
        base().with_operand(Kind::IdResult, OperandQuantifier::Optional, ""),
        base().with_operand(
            Kind::LiteralContextDependentNumber,
            OperandQuantifier::One,
            "",
        ),
    ];
    for instruction in wrong {
        let found = refused(instruction);
        assert!(matches!(found, AdditionError::Operands(..)), "{found}");
    }
    let value = |kind, value, name: &str, parameters| GrammarAdditions {
        values: vec![NewValue {
            kind,
            name: name.to_owned(),
            value,
            parameters,
            availability: Default::default(),
        }],
        ..GrammarAdditions::default()
    };
    let number = spirula_spirv::grammar::NewOperand {
        kind: Kind::LiteralInteger,
        quantifier: OperandQuantifier::One,
        name: String::new(),
    };
    for additions in [
        value(Kind::StorageClass, 0, "OtherTEST", vec![]),
        value(Kind::StorageClass, 30_000, "Uniform", vec![]),
        value(Kind::StorageClass, 30_000, "WideTEST", vec![number]),
        value(Kind::FunctionControl, 3 << 20, "TwoBitsTEST", vec![]),
        value(Kind::IdRef, 1, "NoneTEST", vec![]),
    ] {
        assert!(additions.register_all().is_err(), "{additions:?}");
    }
}

#[test]
fn what_nobody_added_is_kept() {
    let source = shader("", "OpUnknown(30200, 3) 1 2");
    let words = assemble(&source);
    let module = SpirvModule::from_words(words.clone()).expect("it is well-formed");
    assert_eq!(module.to_words(), words);
    assert!(!module.is_known());
    assert_eq!(Op(30_200).effects(), InstructionEffects::ANY);
    let extension = "OpExtension \"SPV_KHR_non_semantic_info\"\n";
    for (set, number, known) in [
        ("NonSemantic.NobodysTEST", 1, true),
        ("Vendor.set", 7, false),
        ("NonSemantic.DebugBreak", 1, true),
    ] {
        let import = format!("{extension}%set = OpExtInstImport \"{set}\"");
        let words = assemble(&shader(
            &import,
            &format!("%x = OpExtInst %void %set {number}"),
        ));
        let module = SpirvModule::from_words(words).expect("it is well-formed");
        assert_eq!(module.is_known(), known, "{set}");
    }
    for broken in [
        "",
        "[",
        "{}",
        r#"{"magic_number":1,"instructions":[{"opcode":1}]}"#,
    ] {
        assert!(
            GrammarAdditions::from_json(broken, None).is_err(),
            "{broken}"
        );
    }
}
