//! The instructions that checks may have something to say about, by number.

use super::load_purpose::LoadPurpose;
use crate::analysis::analysed_module::AnalysedModule;
use crate::module::typed_module::ExtSet;
use rustc_hash::FxHashMap;
use spirula_resource::InstructionSite;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, Inst, InstRef, ModuleSection};

/// Sites of a kernel. Number 0 represents all sites beyond the greatest number.
pub(crate) struct SiteTable {
    numbers: FxHashMap<Inst, u16>,
    sites: Vec<InstructionSite>,
    /// A description of the object that each site's pointer points into.
    objects: Vec<String>,
    /// The use of each site's result.
    purposes: Vec<LoadPurpose>,
}

impl SiteTable {
    /// An empty table.
    pub fn new() -> SiteTable {
        let unknown = InstructionSite {
            instruction: "an instruction".to_owned(),
            function: "the kernel".to_owned(),
            block: 0,
            index: 0,
            place: spirula_diagnostics::SourceLocation::Unknown,
            source: None,
        };
        SiteTable {
            numbers: FxHashMap::default(),
            sites: vec![unknown],
            objects: vec![String::new()],
            purposes: vec![LoadPurpose::Any],
        }
    }

    /// The number of an instruction within a block of a function.
    pub fn assign_number(
        &mut self,
        program: &AnalysedModule<'_>,
        func: Func,
        block: Id,
        inst: InstRef<'_>,
        purpose: LoadPurpose,
    ) -> u16 {
        if let Some(number) = self.numbers.get(&inst.handle()) {
            return *number;
        }
        let Ok(number) = u16::try_from(self.sites.len()) else {
            return 0;
        };
        self.numbers.insert(inst.handle(), number);
        self.sites.push(describe_site(program, func, block, inst));
        self.objects.push(String::new());
        self.purposes.push(purpose);
        number
    }

    /// Sets the description of the object that a site's pointer points into.
    pub fn name_object(&mut self, number: u16, describe: impl FnOnce() -> String) {
        let object = &mut self.objects[usize::from(number)];
        if number != 0 && object.is_empty() {
            *object = describe();
        }
    }

    /// The site of a number.
    pub fn get(&self, number: u16) -> &InstructionSite {
        self.sites
            .get(usize::from(number))
            .unwrap_or(&self.sites[0])
    }

    /// Whether a site looks something up in a structure that may change.
    pub fn is_search(&self, number: u16) -> bool {
        self.purpose(number) == LoadPurpose::Search
    }

    /// Whether the result of a site is compared.
    pub fn is_compared(&self, number: u16) -> bool {
        self.purpose(number) != LoadPurpose::Any
    }

    fn purpose(&self, number: u16) -> LoadPurpose {
        let known = self.purposes.get(usize::from(number));
        known.copied().unwrap_or_default()
    }

    /// The description of the object that a site's pointer points into.
    pub fn describe_object(&self, number: u16) -> &str {
        match self.objects.get(usize::from(number)).map(String::as_str) {
            None | Some("") => "the memory it points to",
            Some(known) => known,
        }
    }
}

/// The name of an id in the module.
pub(crate) fn name_of(program: &AnalysedModule<'_>, id: Id) -> String {
    let mut names = program.module.section_insts(ModuleSection::Names);
    let named = names.find(|n| n.op() == Op::Name && n.id_operand(0) == id);
    named
        .map(|n| n.string_operand(1))
        .filter(|n| !n.is_empty())
        .unwrap_or_else(|| id.to_string())
}

fn describe_site(
    program: &AnalysedModule<'_>,
    func: Func,
    block: Id,
    inst: InstRef<'_>,
) -> InstructionSite {
    let module = program.module;
    let info = program.functions.get(func);
    let mut source = None;
    let mut index = 0;
    let mut at = (0..info.cfg.len() as u32).map(|n| info.cfg.block(n));
    if let Some(found) = at.find(|b| module.label(*b) == block) {
        for (n, other) in module.body(found).enumerate() {
            if other.op().is_line() {
                source = read_source_line(program, other);
            } else if other.op() == Op::ExtInst
                && program.sets[other.id_operand(0)] == Some(ExtSet::NonSemantic)
            {
                source = debug_line(program, other).or(source);
            }
            if other.handle() == inst.handle() {
                index = n as u32;
                break;
            }
        }
    }
    InstructionSite {
        instruction: inst.op().to_string(),
        function: name_of(program, module.function_id(func)),
        block: block.index() as u32,
        index,
        place: inst.place(),
        source,
    }
}

/// `OpLine`; `OpNoLine` ends it.
fn read_source_line(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> Option<(String, u32, u32)> {
    if inst.op() != Op::Line {
        return None;
    }
    let file = read_string(program, inst.id_operand(0));
    Some((file, inst.operand_word(1), inst.operand_word(2)))
}

/// `DebugLine` of `NonSemantic.Shader.DebugInfo.100`: source, first and last line, first column.
fn debug_line(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> Option<(String, u32, u32)> {
    const DEBUG_LINE: u32 = 103;
    if inst.operand_word(1) != DEBUG_LINE {
        return None;
    }
    let source = program.definitions.get(program.module, inst.get_id(2)?)?;
    let file = read_string(program, source.get_id(2)?);
    let number = |n: usize| program.constants.get_u64(inst.get_id(n)?).map(|v| v as u32);
    Some((file, number(3)?, number(5).unwrap_or(0)))
}

fn read_string(program: &AnalysedModule<'_>, id: Id) -> String {
    let definition = program.definitions.get(program.module, id);
    let text = definition.filter(|d| d.op() == Op::String);
    text.map_or_else(|| id.to_string(), |d| d.string_operand(0))
}
