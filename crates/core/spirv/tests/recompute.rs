//! Capabilities and extensions computed from what modules use.

use spirula_spirv::analysis::{AllowedExtensions, ModuleRequirements, RequirementCeiling};
use spirula_spirv::binary;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::recompute::recompute_capabilities;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::verify;
use spirula_testing::{SpirvValTool, find_corpus};

fn module(source: &str) -> SpirvModule {
    let words =
        parse_assembly(source, &ParseOptions::default()).unwrap_or_else(|e| panic!("{}", e[0]));
    SpirvModule::from_words(words).unwrap_or_else(|e| panic!("{e}"))
}

fn declared(module: &SpirvModule) -> Vec<Capability> {
    let section = module.section_insts(ModuleSection::Capabilities);
    section.map(|c| Capability(c.operand_word(0))).collect()
}

fn extensions(module: &SpirvModule) -> Vec<String> {
    module
        .section_insts(ModuleSection::Extensions)
        .map(|e| e.string_operand(0))
        .collect()
}

const HALF: &str = "
    OpCapability Shader
    OpCapability Linkage
    OpCapability Float16
    OpCapability StorageBuffer16BitAccess
    OpExtension \"SPV_KHR_16bit_storage\"
    OpExtension \"SPV_KHR_storage_buffer_storage_class\"
    OpExtension \"SPV_VENDOR_something\"
    OpMemoryModel Logical GLSL450
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %buffer DescriptorSet 0
    OpDecorate %buffer Binding 0
    %half = OpTypeFloat 16
    %float = OpTypeFloat 32
    %uint = OpTypeInt 32 0
    %zero = OpConstant %uint 0
    %block = OpTypeStruct %half
    %pb = OpTypePointer StorageBuffer %block
    %ph = OpTypePointer StorageBuffer %half
    %buffer = OpVariable %pb StorageBuffer
    %void = OpTypeVoid
    %type = OpTypeFunction %void
    %f = OpFunction %void None %type
    %entry = OpLabel
    %at = OpAccessChain %ph %buffer %zero
    %loaded = OpLoad %half %at
    %wide = OpFConvert %float %loaded
    OpReturn
    OpFunctionEnd";

#[test]
fn numbers_that_are_only_stored_need_no_arithmetic() {
    let mut stores = module(HALF);
    stores.version = SpirvVersion::V1_0;
    assert_eq!(
        recompute_capabilities(&mut stores, &RequirementCeiling::default()),
        Ok(true)
    );
    let storage = Capability::StorageBuffer16BitAccess;
    assert_eq!(
        declared(&stores),
        [Capability::Shader, Capability::Linkage, storage]
    );
    assert_eq!(extensions(&stores).len(), 3);
    verify::verify_module(&stores, &verify::VerifyOptions::default()).expect("it is valid");

    // In 1.3 the extensions are part of the language; what nobody knows stays.
    let mut stores = module(HALF);
    stores.version = SpirvVersion::new(1, 3);
    assert_eq!(
        recompute_capabilities(&mut stores, &RequirementCeiling::default()),
        Ok(true)
    );
    assert_eq!(extensions(&stores), ["SPV_VENDOR_something"]);

    let sum = HALF.replace("%wide =", "%sum = OpFAdd %half %loaded %loaded\n%wide =");
    let mut adds = module(&sum);
    recompute_capabilities(&mut adds, &RequirementCeiling::default()).expect("there is no ceiling");
    assert!(declared(&adds).contains(&Capability::Float16));
    assert!(declared(&adds).contains(&storage));
}

#[test]
fn what_is_missing_is_added() {
    let bare = HALF
        .lines()
        .filter(|l| !l.contains("16") || l.contains("OpType"));
    let mut bare = module(&bare.collect::<Vec<_>>().join("\n"));
    bare.version = SpirvVersion::new(1, 3);
    assert!(verify::verify_module(&bare, &verify::VerifyOptions::default()).is_err());
    assert_eq!(
        recompute_capabilities(&mut bare, &RequirementCeiling::default()),
        Ok(true)
    );
    verify::verify_module(&bare, &verify::VerifyOptions::default()).expect("it is valid");
    assert_eq!(
        recompute_capabilities(&mut bare, &RequirementCeiling::default()),
        Ok(false)
    );
}

#[test]
fn a_ceiling_names_what_needs_more() {
    let ceiling = RequirementCeiling {
        capabilities: Some(vec![Capability::Shader, Capability::Linkage]),
        extensions: AllowedExtensions::Only(vec![]),
    };
    let source = HALF.replace("OpExtension \"SPV_VENDOR_something\"", "");
    let mut over = module(&source);
    let before = over.to_words();
    let error = recompute_capabilities(&mut over, &ceiling).expect_err("halves are not allowed");
    assert!(error.message.contains("float of 16 bits"), "{error}");
    assert!(
        error.message.contains("StorageBuffer16BitAccess"),
        "{error}"
    );
    assert_ne!(error.place, spirula_diagnostics::SourceLocation::Unknown);
    assert_eq!(over.to_words(), before);

    let mut over = module(HALF);
    let ceiling = RequirementCeiling {
        extensions: AllowedExtensions::Only(vec![]),
        ..RequirementCeiling::default()
    };
    let error =
        recompute_capabilities(&mut over, &ceiling).expect_err("an extension is not allowed");
    assert!(error.message.contains("SPV_VENDOR_something"), "{error}");
}

/// Operations on narrow numbers besides moves need them whole, be it declared or not.
#[test]
fn numbers_that_are_computed_with_need_their_capability() {
    let uses = [
        "%x = OpPhi %half %loaded %entry",
        "%x = OpSelect %half %true %loaded %loaded",
        "%x = OpCompositeConstruct %pair %loaded %loaded",
        "%x = OpCompositeExtract %half %whole 0",
        "%x = OpCompositeExtract %float %whole 1",
        "%x = OpExtInst %half %std FAbs %loaded",
        "%x = OpConvertFToU %uint %loaded",
        "%x = OpIsNan %bool %loaded",
        "%x = OpFunctionCall %void %g %loaded",
    ];
    for with in [true, false] {
        for text in uses {
            let source = HALF
                .replace("%block = OpTypeStruct %half", "%block = OpTypeStruct %half %float")
                .replace("OpDecorate %block Block", "OpDecorate %block Block\nOpMemberDecorate %block 1 Offset 4")
                .replace("%void = OpTypeVoid", "%void = OpTypeVoid\n%bool = OpTypeBool\n%true = OpConstantTrue %bool\n%pair = OpTypeVector %half 2\n%takes = OpTypeFunction %void %half")
                .replace("OpMemoryModel", "%std = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel")
                .replace("%wide =", "%whole = OpLoad %block %buffer\nOpBranch %next\n%next = OpLabel\n%wide =");
            let source = if text.contains("OpPhi") {
                source.replace("%wide =", &format!("{text}\n%wide ="))
            } else {
                source.replace("OpReturn\n", &format!("{text}\nOpReturn\n"))
            };
            let source = source
                + "
    %g = OpFunction %void None %takes
    %given = OpFunctionParameter %half
    %body = OpLabel
    OpReturn
    OpFunctionEnd";
            let source = if with {
                source
            } else {
                source.replace("OpCapability Float16", "")
            };
            let mut module = module(&source);
            recompute_capabilities(&mut module, &RequirementCeiling::default())
                .expect("there is no ceiling");
            let found = declared(&module);
            assert!(found.contains(&Capability::Float16), "{text}: {found:?}");
            verify::verify_module(&module, &verify::VerifyOptions::default())
                .unwrap_or_else(|faults| panic!("{text}: {}", faults[0]));
        }
    }
}

/// Pointers that are values of their own need a capability, which goes where none is left.
#[test]
fn pointers_that_are_chosen_need_variable_pointers() {
    const POINTERS: &str = "
    OpCapability Shader
    OpCapability Linkage
    OpCapability VariablePointers
    OpMemoryModel Logical GLSL450
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %buffer DescriptorSet 0
    OpDecorate %buffer Binding 0
    %uint = OpTypeInt 32 0
    %zero = OpConstant %uint 0
    %bool = OpTypeBool
    %true = OpConstantTrue %bool
    %block = OpTypeStruct %uint
    %pb = OpTypePointer StorageBuffer %block
    %pu = OpTypePointer StorageBuffer %uint
    %buffer = OpVariable %pb StorageBuffer
    %type = OpTypeFunction %pu
    %f = OpFunction %pu None %type
    %entry = OpLabel
    %at = OpAccessChain %pu %buffer %zero
    USE
    OpReturnValue %RESULT
    OpFunctionEnd";
    let uses = [
        ("", "at"),
        ("%x = OpSelect %pu %true %at %at", "x"),
        ("%x = OpPtrEqual %bool %at %at", "at"),
    ];
    for capability in ["OpCapability VariablePointersStorageBuffer", ""] {
        for (text, result) in uses {
            let source = POINTERS
                .replace("USE", text)
                .replace("RESULT", result)
                .replace(
                    "OpCapability VariablePointers\n",
                    &format!("{capability}\n"),
                );
            let mut module = module(&source);
            module.version = SpirvVersion::new(1, 4);
            recompute_capabilities(&mut module, &RequirementCeiling::default())
                .expect("there is no ceiling");
            let wanted = Capability::VariablePointersStorageBuffer;
            assert!(declared(&module).contains(&wanted), "{text}");
            verify::verify_module(&module, &verify::VerifyOptions::default())
                .unwrap_or_else(|faults| panic!("{text}: {}", faults[0]));
        }
    }
    let source = POINTERS
        .replace("%type = OpTypeFunction %pu", "%type = OpTypeFunction %uint")
        .replace("%f = OpFunction %pu", "%f = OpFunction %uint")
        .replace("USE", "%x = OpLoad %uint %at")
        .replace("RESULT", "x");
    let mut plain = module(&source);
    assert_eq!(
        recompute_capabilities(&mut plain, &RequirementCeiling::default()),
        Ok(true)
    );
    assert_eq!(declared(&plain), [Capability::Shader, Capability::Linkage]);
}

/// The capability that states the kind of module stays, although another implies it.
#[test]
fn the_kind_of_a_module_stays_declared() {
    let source = "OpCapability Shader\nOpCapability Matrix\nOpCapability Geometry\n\
        OpMemoryModel Logical GLSL450\nOpEntryPoint Geometry %f \"main\"\n\
        OpExecutionMode %f InputPoints\nOpExecutionMode %f OutputPoints\n\
        OpExecutionMode %f OutputVertices 1\n%void = OpTypeVoid\n%type = OpTypeFunction %void\n\
        %f = OpFunction %void None %type\n%entry = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let mut geometry = module(source);
    assert_eq!(
        recompute_capabilities(&mut geometry, &RequirementCeiling::default()),
        Ok(true)
    );
    let kept = [Capability::Shader, Capability::Geometry];
    assert_eq!(declared(&geometry), kept);
}

/// Every module of a sample of the corpus: what it declares meets its needs, and what is computed is
/// no more and keeps it valid.
#[test]
fn the_corpus_stays_valid_with_less() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let validator = SpirvValTool::find_program();
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("it has a manifest");
    let step = std::env::var("EVERY").map_or(11, |n| n.parse().expect("EVERY is a number"));
    let (mut count, mut fewer) = (0, 0);
    let mut faults = Vec::new();
    for line in manifest.lines().skip(1).step_by(step) {
        let columns: Vec<&str> = line.split('\t').collect();
        let bytes = std::fs::read(folder.join(columns[0])).expect("the corpus can be read");
        let words = if binary::is_spirv(&bytes) {
            binary::words_from_bytes(&bytes).expect("it is a module")
        } else {
            let source = String::from_utf8(bytes).expect("it is a text");
            let mut words =
                parse_assembly(&source, &ParseOptions::default()).expect("it is a module");
            let minor = columns[19].strip_prefix("1.").and_then(|m| m.parse().ok());
            words[1] = SpirvVersion::new(1, minor.expect("it has a version")).word();
            words
        };
        let environment = columns[5].trim_end_matches("+scalar");
        let options = verify::VerifyOptions {
            target: environment.parse().expect("the environment has a name"),
            scalar_block_layout: columns[5].ends_with("+scalar"),
        };
        let Ok(mut module) = verify::verify_words(words, &options) else {
            continue;
        };
        count += 1;
        let before = declared(&module);
        let unmet = ModuleRequirements::from_module(&module).find_unmet(&before);
        if !unmet.is_empty() {
            faults.push(format!("{}: unmet {unmet:?}", columns[0]));
        }
        let had = extensions(&module);
        if let Err(error) = recompute_capabilities(&mut module, &RequirementCeiling::default()) {
            faults.push(format!("{}: {error}", columns[0]));
            continue;
        }
        let after = declared(&module);
        fewer += usize::from(after.len() < before.len());
        if after.iter().any(|c| !before.contains(c)) && unmet.is_empty() {
            faults.push(format!("{}: {before:?} to {after:?}", columns[0]));
        }
        let new: Vec<_> = extensions(&module);
        if new.iter().any(|e| !had.contains(e)) {
            faults.push(format!("{}: {had:?} to {new:?}", columns[0]));
        }
        if let Err(found) = verify::verify_module(&module, &options) {
            faults.push(format!(
                "{}: {} ({before:?} to {after:?})",
                columns[0], found[0]
            ));
        }
        let validator = validator.as_ref().filter(|_| !options.scalar_block_layout);
        let verdict = validator.map_or(Ok(()), |v| {
            v.validate_module(&module.to_bytes(), environment)
        });
        if let Err(said) = verdict {
            let said = said.lines().next().unwrap_or("");
            faults.push(format!("{}: {said} ({before:?} to {after:?})", columns[0]));
        }
    }
    eprintln!("{fewer} of {count} modules declare fewer capabilities");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 100, "only {count} modules");
    assert!(
        fewer * 20 > count,
        "only {fewer} of {count} modules declare fewer"
    );
}
