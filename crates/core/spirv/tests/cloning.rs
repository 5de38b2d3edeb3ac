//! Cloning and importing.

use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, EditError, IdWords, InstRef, SpirvModule};
use spirula_spirv::link::{GlobalValueTable, ImportError, SpirvImporter};
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::verify;
use spirula_testing::{find_corpus, list_files};

fn module(source: &str) -> SpirvModule {
    let words =
        parse_assembly(source, &ParseOptions::default()).unwrap_or_else(|e| panic!("{}", e[0]));
    SpirvModule::from_words(words).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn is_valid(module: &SpirvModule) {
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    if let Err(faults) = verify::verify_module(module, &options) {
        panic!("{}", faults[0]);
    }
}

const DIAMOND: &str = "
    OpCapability Kernel
    OpCapability Addresses
    OpCapability Linkage
    OpMemoryModel Physical64 OpenCL
    OpName %f \"f\"
    OpName %sum \"sum\"
    OpDecorate %f LinkageAttributes \"f\" Export
    OpDecorate %sum NoSignedWrap
    %uint = OpTypeInt 32 0
    %bool = OpTypeBool
    %one = OpConstant %uint 1
    %type = OpTypeFunction %uint %bool
    %f = OpFunction %uint None %type
    %c = OpFunctionParameter %bool
    %entry = OpLabel
    OpBranchConditional %c %then %else
    %then = OpLabel
    %sum = OpIAdd %uint %one %one
    OpBranch %end
    %else = OpLabel
    OpBranch %end
    %end = OpLabel
    %phi = OpPhi %uint %sum %then %one %else
    OpReturnValue %phi
    OpFunctionEnd";

#[test]
fn a_function_is_cloned_with_names_and_decorations_but_no_symbol() {
    let mut module = module(DIAMOND);
    let before = module.all_insts().count();
    let func = module.functions()[0];
    let length = module.function_insts(func).count();
    let ids = IdWords::new(&module);
    let (clone, clones) = module.clone_function(&ids, func);
    assert_eq!(module.function_insts(clone).count(), length);
    assert_eq!(clones.blocks.len(), 4);
    assert_eq!(
        clones.get(module.function_id(func)),
        Some(module.function_id(clone))
    );
    // Two names and a decoration.
    assert_eq!(module.all_insts().count(), before + length + 3);
    is_valid(&module);
}

#[test]
fn a_cloned_block_leads_where_the_original_does() {
    let mut module = module(DIAMOND);
    let func = module.functions()[0];
    let blocks = module.function(func).blocks.clone();
    let ids = IdWords::new(&module);
    let clones = module
        .clone_blocks(&ids, &[blocks[1]])
        .expect("it can be cloned");
    assert_eq!(module.function(func).blocks[2], clones.blocks[0]);
    let label = module.label(clones.blocks[0]);
    let phi = module.phis(blocks[3]).next().expect("it has a phi");
    let value = module
        .phi_value(phi.handle(), label)
        .expect("it takes from the clone");
    assert_eq!(
        module.inst(clones.blocks[0].body_first(&module)).result(),
        Some(value)
    );
    is_valid(&module);
    module
        .redirect_edge(&ids, blocks[0], blocks[1], clones.blocks[0], |_| value)
        .expect("the clone has no phis");
    is_valid(&module);
}

trait BodyFirst {
    fn body_first(self, module: &SpirvModule) -> spirula_spirv::ir::Inst;
}

impl BodyFirst for Block {
    fn body_first(self, module: &SpirvModule) -> spirula_spirv::ir::Inst {
        module
            .body(self)
            .next()
            .expect("it has instructions")
            .handle()
    }
}

#[test]
fn a_header_is_not_cloned_without_its_merge_block() {
    let mut module = module(
        "OpCapability Shader
        OpCapability Linkage
        OpMemoryModel Logical GLSL450
        %void = OpTypeVoid
        %bool = OpTypeBool
        %type = OpTypeFunction %void %bool
        %f = OpFunction %void None %type
        %c = OpFunctionParameter %bool
        %entry = OpLabel
        OpBranch %header
        %header = OpLabel
        OpSelectionMerge %end None
        OpBranchConditional %c %then %end
        %then = OpLabel
        OpBranch %end
        %end = OpLabel
        OpReturn
        OpFunctionEnd",
    );
    let func = module.functions()[0];
    let blocks = module.function(func).blocks.clone();
    let ids = IdWords::new(&module);
    let words = module.to_words();
    let header = module.label(blocks[1]);
    let refused = module.clone_blocks(&ids, &blocks[1..3]).map(|_| ());
    assert_eq!(refused, Err(EditError::Unstructured(header)));
    assert_eq!(module.to_words(), words);
    assert!(module.clone_blocks(&ids, &blocks[1..]).is_ok());
    is_valid(&module);
}

#[test]
fn a_function_is_imported_with_what_it_needs() {
    let source = module(
        "OpCapability Kernel
        OpCapability Addresses
        OpCapability Linkage
        %std = OpExtInstImport \"OpenCL.std\"
        OpMemoryModel Physical64 OpenCL
        OpName %f \"f\"
        OpName %table \"table\"
        OpName %unused \"unused\"
        OpDecorate %table Constant
        %float = OpTypeFloat 32
        %uint = OpTypeInt 32 0
        %unused = OpTypeInt 8 0
        %two = OpConstant %float 2
        %pointer = OpTypePointer UniformConstant %float
        %table = OpVariable %pointer UniformConstant %two
        %type = OpTypeFunction %float %float
        %g = OpFunction %float None %type
        %y = OpFunctionParameter %float
        %b = OpLabel
        %root = OpExtInst %float %std sqrt %y
        OpReturnValue %root
        OpFunctionEnd
        %f = OpFunction %float None %type
        %x = OpFunctionParameter %float
        %a = OpLabel
        %scale = OpLoad %float %table Aligned 4
        %product = OpFMul %float %x %scale
        %called = OpFunctionCall %float %g %product
        OpReturnValue %called
        OpFunctionEnd",
    );
    let mut destination = module(DIAMOND);
    let wanted = source.function_id(source.functions()[1]);
    let mut values = GlobalValueTable::from_module(&destination);
    let mut importer = SpirvImporter::new(&source);
    let ids = importer
        .import_ids(&mut destination, &mut values, &[wanted])
        .expect("it can be imported");
    assert_eq!(destination.functions().len(), 3);
    assert_eq!(destination.function_id(destination.functions()[2]), ids[0]);
    let count = |op| destination.all_insts().filter(|i| i.op() == op).count();
    // The type of integers was there, the one of 8 bits is not needed.
    assert_eq!(count(Op::TypeInt), 1);
    assert_eq!(count(Op::Variable), 1);
    assert_eq!(count(Op::Name), 4);
    assert_eq!(count(Op::ExtInstImport), 1);
    is_valid(&destination);

    // Once more, nothing is to be done.
    let words = destination.to_words();
    let again = importer.import_ids(&mut destination, &mut values, &[wanted]);
    assert_eq!(again, Ok(ids));
    assert_eq!(destination.to_words(), words);

    let label = source
        .all_insts()
        .find(|i| i.op() == Op::Label)
        .and_then(InstRef::result);
    let label = label.expect("the source has blocks");
    let refused = importer.import_ids(&mut destination, &mut values, &[label]);
    assert_eq!(refused, Err(ImportError::NotGlobal(label)));
}

/// Every function of a sample of the corpus, cloned, and imported into an empty module.
#[test]
fn functions_of_the_corpus() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let mut cloned = 0;
    for file in list_files(&folder.join("modules"), ".spv")
        .iter()
        .step_by(23)
    {
        let bytes = std::fs::read(file).expect("the corpus can be read");
        let mut module = SpirvModule::from_bytes(&bytes).expect("the corpus is well-formed");
        let options = verify::VerifyOptions {
            scalar_block_layout: true,
            ..verify::VerifyOptions::default()
        };
        if verify::verify_module(&module, &options).is_err() {
            continue;
        }
        let mut copy = SpirvModule::new(module.version);
        for inst in module
            .all_insts()
            .filter(|i| matches!(i.op(), Op::Capability | Op::Extension | Op::MemoryModel))
        {
            let new = copy.create_inst(inst.op(), inst.words());
            copy.append_inst(
                spirula_spirv::ir::ModuleSection::from_op(inst.op()).list(),
                new,
            );
        }
        let linkage = copy.create_inst(Op::Capability, &[5]);
        copy.append_inst(
            spirula_spirv::ir::ModuleSection::Capabilities.list(),
            linkage,
        );
        let mut values = GlobalValueTable::from_module(&copy);
        let wanted: Vec<Id> = module
            .functions()
            .iter()
            .map(|f| module.function_id(*f))
            .collect();
        let mut importer = SpirvImporter::new(&module);
        importer
            .import_ids(&mut copy, &mut values, &wanted)
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        if let Err(faults) = verify::verify_module(&copy, &options) {
            panic!("{}: {}", file.display(), faults[0]);
        }
        let ids = IdWords::new(&module);
        for func in module.functions().to_vec() {
            module.clone_function(&ids, func);
            cloned += 1;
        }
        if let Err(faults) = verify::verify_module(&module, &options) {
            panic!("{}: {}", file.display(), faults[0]);
        }
    }
    assert!(cloned > 20, "only {cloned} functions");
}
