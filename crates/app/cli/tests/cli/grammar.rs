//! `--grammar`.

use crate::harness::{ScratchFolder, spirula};

const GRAMMAR: &str = r#"{ "magic_number": "0x07230203", "instructions": [
    { "opname": "OpPingTEST", "class": "Reserved", "opcode": 30300, "operands": [
        { "kind": "LiteralString" } ], "extensions": [ "SPV_TEST_ping" ], "version": "None" } ] }"#;

const SET: &str = r#"{ "instructions": [ { "opname": "Ping", "opcode": 7 } ] }"#;

const SOURCE: &str = "OpCapability Shader\nOpExtension \"SPV_TEST_ping\"\n\
    %set = OpExtInstImport \"Test.set\"\nOpMemoryModel Logical GLSL450\n\
    OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
    %void = OpTypeVoid\n%type = OpTypeFunction %void\n%main = OpFunction %void None %type\n\
    %entry = OpLabel\nOpPingTEST \"hello\"\n%x = OpExtInst %void %set Ping\nOpReturn\n\
    OpFunctionEnd\n";

#[test]
fn instructions_of_the_users_own() {
    let folder = ScratchFolder::new();
    let grammar = folder.file("ping.json", GRAMMAR);
    let set = format!("Test.set={}", folder.file("set.json", SET));
    let source = folder.file("source.spvasm", SOURCE);
    let module = folder.file("module.spv", "");
    let with = ["--grammar", &grammar, "--grammar", &set];
    let run = |args: &[&str]| spirula(&[args, &with].concat());
    run(&["as", &source, "-o", &module]).ok();
    let text = run(&["dis", &module]).ok().text();
    assert!(text.contains("OpPingTEST \"hello\""), "{text}");
    assert!(text.contains(" Ping"), "{text}");
    run(&["val", &module]).ok();
    spirula(&["as", &source]).fails(1, "there is no instruction OpPingTEST");
    spirula(&["val", &module]).fails(1, "the tables do not know the opcode");
    let kept = spirula(&["dis", &module]).ok().text();
    assert!(kept.contains("OpUnknown(30300, "), "{kept}");
}

#[test]
fn grammars_that_are_wrong_are_refused() {
    let folder = ScratchFolder::new();
    let broken = folder.file("broken.json", "{ \"instructions\": [ }");
    spirula(&["dis", "-", "--grammar", &broken]).fails(1, "no JSON");
    let set = folder.file("set.json", SET);
    spirula(&["dis", "-", "--grammar", &set]).fails(1, "the grammar does not name its set");
    let taken = folder.file("taken.json", GRAMMAR.replace("OpPingTEST", "Ping"));
    spirula(&["dis", "-", "--grammar", &taken]).fails(1, "'Ping' cannot be the name");
    spirula(&["dis", "-", "--grammar", "nowhere.json"]).fails(1, "nowhere.json");
}
