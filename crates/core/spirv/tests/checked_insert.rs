//! Edits of single instructions that cannot be made say why, and change nothing.

use spirula_spirv::analysis::DefUse;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{
    Block, ErasedIds, IdWords, InsertPosition, Inst, InstRef, ModuleSection, SpirvModule,
};
use spirula_spirv::{Id, text, verify};

/// `%1` to `%22`: a loop with a phi, after a variable.
const LOOP: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %1 "main"
               OpExecutionMode %1 LocalSize 1 1 1
               OpName %1 "main"
               OpDecorate %14 RelaxedPrecision
          %2 = OpTypeVoid
          %3 = OpTypeFunction %2
          %4 = OpTypeInt 32 0
          %5 = OpTypeBool
          %6 = OpTypePointer Function %4
          %7 = OpConstant %4 0
          %8 = OpConstant %4 1
          %1 = OpFunction %2 None %3
          %9 = OpLabel
         %10 = OpVariable %6 Function
               OpStore %10 %7
               OpBranch %11
         %11 = OpLabel
         %12 = OpPhi %4 %7 %9 %14 %13
         %15 = OpULessThan %5 %12 %8
               OpLoopMerge %16 %13 None
               OpBranchConditional %15 %13 %16
         %13 = OpLabel
         %14 = OpIAdd %4 %12 %8
               OpBranch %11
         %16 = OpLabel
               OpReturn
               OpFunctionEnd
"#;

fn module() -> SpirvModule {
    let words = text::parse_assembly(LOOP, &text::ParseOptions::default()).expect("it is assembly");
    SpirvModule::from_words(words).expect("it is a module")
}

fn block(module: &SpirvModule, at: usize) -> Block {
    module.function(module.functions()[0]).blocks[at]
}

fn find(module: &SpirvModule, op: Op) -> Inst {
    let mut all = module.all_insts();
    let inst = all.find(|i| i.op() == op).map(InstRef::handle);
    inst.expect("the module has one")
}

fn is_valid(module: &SpirvModule) -> bool {
    verify::verify_words(module.to_words(), &verify::VerifyOptions::default()).is_ok()
}

/// The error's text for an instruction that is put somewhere in a fresh module.
fn refusal(place: impl Fn(&SpirvModule) -> InsertPosition, op: Op, words: &[u32]) -> String {
    let mut module = module();
    let before = module.to_words();
    // An id for the result.
    assert_eq!(module.fresh_id().word(), 17);
    let at = place(&module);
    let found = module.try_insert(at, op, words);
    let error = found.expect_err("it is refused");
    let words = module.to_words();
    assert_eq!(words[4..], before[4..], "{op} changed the module");
    error.message
}

#[test]
fn instructions_are_put_where_they_may_stand() {
    let mut module = module();
    let id = module.fresh_id().word();
    let body = InsertPosition::Begin(block(&module, 2));
    let sum = module.try_insert(body, Op::IAdd, &[4, id, 12, 8]);
    let sum = sum.expect("it is in a block");
    let id = module.fresh_id().word();
    let after = module.try_insert(InsertPosition::After(sum), Op::IMul, &[4, id, 17, 8]);
    assert_eq!(module.next(sum), after.ok());
    let id = module.fresh_id().word();
    let phi = [4, id, 7, 9, 14, 13];
    let phi = module.try_insert(InsertPosition::Begin(block(&module, 1)), Op::Phi, &phi);
    let phi = phi.expect("phis come first");
    assert_eq!(module.previous(phi), Some(find(&module, Op::Phi)));
    let id = module.fresh_id().word();
    let entry = InsertPosition::Begin(block(&module, 0));
    let variable = module.try_insert(entry, Op::Variable, &[6, id, 7]);
    let variable = variable.expect("variables come first");
    assert_eq!(module.previous(variable), Some(find(&module, Op::Variable)));
    let load = [4, module.fresh_id().word(), id];
    let load = module.try_insert(InsertPosition::Begin(block(&module, 0)), Op::Load, &load);
    assert_eq!(module.previous(load.expect("it is put")), Some(variable));
    let end = InsertPosition::End(block(&module, 1));
    let id = module.fresh_id().word();
    let not = module.try_insert(end, Op::LogicalNot, &[5, id, 15]);
    let after = module.next(not.expect("it is put")).expect("a branch");
    assert_eq!(module.inst(after).op(), Op::LoopMerge);
    let id = module.fresh_id().word();
    let float = module.try_insert(InsertPosition::Section, Op::TypeFloat, &[id, 32]);
    let float = float.expect("types have their section");
    assert_eq!(module.list_of(float), Some(ModuleSection::Globals.list()));
    let capability = module.try_insert(InsertPosition::Section, Op::Capability, &[0]);
    let capability = capability.expect("capabilities have theirs");
    assert_eq!(
        module.list_of(capability),
        Some(ModuleSection::Capabilities.list())
    );
    assert!(is_valid(&module));
}

#[test]
fn instructions_are_not_put_where_they_may_not_stand() {
    let sum: &[u32] = &[4, 17, 12, 8];
    let before = |op: Op| move |m: &SpirvModule| InsertPosition::Before(find(m, op));
    let after = |op: Op| move |m: &SpirvModule| InsertPosition::After(find(m, op));
    let begin = |at: usize| move |m: &SpirvModule| InsertPosition::Begin(block(m, at));
    let table: &[(&str, String)] = &[
        (
            "functions only",
            refusal(|_| InsertPosition::Section, Op::IAdd, sum),
        ),
        (
            "the section Capabilities",
            refusal(before(Op::Capability), Op::IAdd, sum),
        ),
        (
            "the section Globals",
            refusal(after(Op::TypeVoid), Op::IAdd, sum),
        ),
        (
            "the section Names",
            refusal(before(Op::Name), Op::Decorate, &[8, 0]),
        ),
        (
            "outside of functions",
            refusal(begin(2), Op::TypeFloat, &[17, 32]),
        ),
        (
            "outside of functions",
            refusal(begin(2), Op::Capability, &[0]),
        ),
        (
            "outside of functions",
            refusal(begin(2), Op::Constant, &[4, 17, 9]),
        ),
        ("as a whole", refusal(begin(2), Op::Return, &[])),
        ("as a whole", refusal(begin(2), Op::Label, &[17])),
        (
            "as a whole",
            refusal(|_| InsertPosition::Section, Op::Function, &[2, 17, 0, 3]),
        ),
        ("in no list", refusal(before(Op::Label), Op::IAdd, sum)),
        ("in no list", refusal(after(Op::FunctionEnd), Op::IAdd, sum)),
        ("follow OpReturn", refusal(after(Op::Return), Op::IAdd, sum)),
        (
            "and its branch",
            refusal(after(Op::LoopMerge), Op::IAdd, sum),
        ),
        (
            "and its branch",
            refusal(before(Op::BranchConditional), Op::IAdd, sum),
        ),
        ("come first", refusal(before(Op::Phi), Op::IAdd, sum)),
        (
            "come first",
            refusal(after(Op::ULessThan), Op::Phi, &[4, 17, 7, 9, 7, 13]),
        ),
        (
            "come first",
            refusal(after(Op::Store), Op::Variable, &[6, 17, 7]),
        ),
        (
            "branch of its block",
            refusal(before(Op::ULessThan), Op::SelectionMerge, &[16, 0]),
        ),
        (
            "not below the bound",
            refusal(begin(2), Op::IAdd, &[4, 17, 12, 99]),
        ),
        ("OpIAdd", refusal(begin(2), Op::IAdd, &[4, 17, 12])),
    ];
    for (wanted, message) in table {
        assert!(
            message.contains(wanted),
            "{message:?} says nothing of {wanted:?}"
        );
    }
}

#[test]
fn instructions_are_erased_that_nothing_needs() {
    let mut module = module();
    let before = module.to_words();
    let mut uses = DefUse::from_module(&module);
    let mut erased = ErasedIds::new();
    let mut erase = |module: &mut SpirvModule, inst| {
        let result = module.try_erase(&mut uses, inst, &mut erased);
        result.map_err(|error| error.message)
    };
    let refused = [
        (Op::IAdd, "%14 is used"),
        (Op::TypeInt, "%4 is used"),
        (Op::Return, "by itself"),
        (Op::Label, "by itself"),
        (Op::FunctionEnd, "by itself"),
        (Op::MemoryModel, "by itself"),
        (Op::LoopMerge, "structured control flow needs it"),
    ];
    for (op, wanted) in refused {
        let inst = find(&module, op);
        let message = erase(&mut module, inst).expect_err("it is refused");
        assert!(message.contains(wanted), "{message}");
    }
    assert_eq!(module.to_words(), before);
    for op in [Op::Store, Op::Variable, Op::TypePointer] {
        let inst = find(&module, op);
        assert_eq!(erase(&mut module, inst), Ok(()), "{op}");
        let again = erase(&mut module, inst).expect_err("it is gone");
        assert!(again.contains("by itself"), "{again}");
    }
    module.sweep_annotations(&erased);
    assert!(is_valid(&module));
}

#[test]
fn terminators_lead_to_blocks_of_the_function() {
    let mut module = module();
    let before = module.to_words();
    let ids = IdWords::new(&module);
    let [entry, head] = [0, 1].map(|at| block(&module, at));
    let refused: &[(Block, Op, &[u32], &str)] = &[
        (entry, Op::IAdd, &[4, 14, 12, 8], "it ends no block"),
        (entry, Op::Branch, &[9], "the entry block %9"),
        (entry, Op::Branch, &[12], "%12 is no block of the function"),
        (entry, Op::Branch, &[4711], "not below the bound"),
        (entry, Op::Branch, &[], "OpBranch"),
        (head, Op::Return, &[], "cannot follow OpLoopMerge"),
        (
            entry,
            Op::Switch,
            &[7, 16, 0, 8],
            "%8 is no block of the function",
        ),
    ];
    for (block, op, words, wanted) in refused {
        let error = module.try_set_terminator(&ids, *block, *op, words);
        let message = error.expect_err("it is refused").message;
        assert!(
            message.contains(wanted),
            "{message:?} says nothing of {wanted:?}"
        );
    }
    assert_eq!(module.to_words(), before);
    let new = module.try_set_terminator(&ids, entry, Op::Branch, &[11]);
    assert_eq!(new.ok(), Some(module.terminator(entry).handle()));
    assert_eq!(module.label(head), Id::new(11).expect("an id"));
    assert!(is_valid(&module));
}
