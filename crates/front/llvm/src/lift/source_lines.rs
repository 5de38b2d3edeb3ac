//! Lifting of source locations: `OpLine` becomes `!dbg`, with the compile unit that LLVM requires.
//!
//! An `OpLine` applies to the instructions after it, up to the next `OpLine`, an `OpNoLine`, or the
//! end of the block. LLVM requires every location to be within a function of a compile unit. So
//! each file gets a node, the module one unit, and each function with locations a subprogram. Calls
//! in such a function must have a location; it has line 0 if SPIR-V states none. Cost: linear in
//! the instructions.

use super::body::{FunctionLifter, LiftSource};
use super::lifted_entities::LiftedSourceLine;
use super::lifter::SpirvLifter;
use crate::LlvmResult;
use crate::ir::{LlvmInst, LlvmMetadata, LlvmOpcode, LlvmValue, MetadataField, MetadataKind};
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, literal_string};

/// Metadata kind of source locations.
const DEBUG: &str = "dbg";

/// The last column that LLVM has.
const LAST_COLUMN: u32 = 0xffff;

impl SpirvLifter<'_> {
    /// A node of a class of its own.
    fn md_specialised(
        &mut self,
        class: &str,
        distinct: bool,
        fields: &[(&str, MetadataField)],
    ) -> LlvmMetadata {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, field)| (self.out.strings.intern_text(name), *field))
            .collect();
        let fields = self.out.metadata.push_fields(&fields);
        let class = self.out.strings.intern_text(class);
        self.out.metadata.push(MetadataKind::Specialised {
            distinct,
            class,
            fields,
        })
    }

    fn md_word(&mut self, word: &str) -> MetadataField {
        MetadataField::Word(self.out.strings.intern_text(word))
    }

    /// The file whose name an id is.
    fn find_debug_file(&mut self, id: Id) -> Option<LlvmMetadata> {
        if let Some(file) = self.unit.files[id] {
            return Some(file);
        }
        let inst = self.definitions.get(self.source, id)?;
        if inst.op() != Op::String {
            return None;
        }
        let path = literal_string(inst.operands());
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let fields = [("filename", name), ("directory", directory)]
            .map(|(field, text)| (field, MetadataField::Node(Some(self.md_text(text)))));
        let file = self.md_specialised("DIFile", false, &fields);
        self.unit.files.set(id, Some(file));
        Some(file)
    }

    /// The unit that all functions are of.
    fn make_compile_unit(&mut self, file: LlvmMetadata) -> LlvmMetadata {
        if let Some(unit) = self.unit.unit {
            return unit;
        }
        let fields = [
            ("language", self.md_word("DW_LANG_OpenCL")),
            ("file", MetadataField::Node(Some(file))),
            ("isOptimized", MetadataField::Int(0)),
            ("runtimeVersion", MetadataField::Int(0)),
            ("emissionKind", self.md_word("LineTablesOnly")),
        ];
        let unit = self.md_specialised("DICompileUnit", true, &fields);
        self.unit.unit = Some(unit);
        self.md_named("llvm.dbg.cu", vec![unit]);
        let name = self.md_text("Debug Info Version");
        let [behaviour, version] = [2, 3].map(|number| self.md_number(number));
        let flag = self.md_node(&[behaviour, name, version]);
        self.md_named("llvm.module.flags", vec![flag]);
        unit
    }
}

impl<'s> FunctionLifter<'_, 's> {
    /// `OpLine`
    pub(super) fn lift_line(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        self.lines.line = Some((
            source.read_id(0)?,
            source.read_word(1)?,
            source.read_word(2)?,
        ));
        Ok(None)
    }

    /// `OpNoLine`, and the end of a block.
    pub(super) fn no_line(&mut self) {
        self.lines.line = None;
    }

    /// Attaches the current location to the instructions from `first` on.
    pub(super) fn attach_location_since(&mut self, first: usize) {
        let Some(line) = self.lines.line else { return };
        if first == self.function.insts.len() {
            return;
        }
        let Some(node) = self.find_line_location(line) else {
            return;
        };
        for inst in first..self.function.insts.len() {
            self.attach_to_instruction(LlvmInst::new(inst), DEBUG, node);
        }
    }

    /// The node of a location.
    fn find_line_location(&mut self, line: LiftedSourceLine) -> Option<LlvmMetadata> {
        if let Some((last, node)) = self.lines.last
            && last == line
        {
            return Some(node);
        }
        let (id, number, column) = line;
        let file = self.l.find_debug_file(id)?;
        let (subprogram, own) = match self.lines.subprogram {
            Some(known) => known,
            None => {
                let made = (self.make_subprogram(file, number), id);
                self.lines.subprogram = Some(made);
                made
            }
        };
        let scope = if own == id {
            subprogram
        } else {
            let fields = [
                ("scope", MetadataField::Node(Some(subprogram))),
                ("file", MetadataField::Node(Some(file))),
                ("discriminator", MetadataField::Int(0)),
            ];
            self.l.md_specialised("DILexicalBlockFile", false, &fields)
        };
        let column = if column > LAST_COLUMN { 0 } else { column };
        let node = self.make_location(number, column, scope);
        self.lines.last = Some((line, node));
        Some(node)
    }

    fn make_location(&mut self, line: u32, column: u32, scope: LlvmMetadata) -> LlvmMetadata {
        let fields = [
            ("line", MetadataField::Int(line.into())),
            ("column", MetadataField::Int(column.into())),
            ("scope", MetadataField::Node(Some(scope))),
        ];
        self.l.md_specialised("DILocation", false, &fields)
    }

    /// The subprogram of the function, which starts at the function's first location.
    fn make_subprogram(&mut self, file: LlvmMetadata, line: u32) -> LlvmMetadata {
        let unit = self.l.make_compile_unit(file);
        let l = &mut *self.l;
        let operands = l.out.metadata.push_operands(&[None]);
        let types = l.out.metadata.push(MetadataKind::Node {
            distinct: false,
            operands,
        });
        let ty = l.md_specialised(
            "DISubroutineType",
            false,
            &[("types", MetadataField::Node(Some(types)))],
        );
        let name = l.out.global(self.function.global).name;
        let name = l.out.metadata.push(MetadataKind::String(name));
        let fields = [
            ("name", MetadataField::Node(Some(name))),
            ("scope", MetadataField::Node(Some(file))),
            ("file", MetadataField::Node(Some(file))),
            ("line", MetadataField::Int(line.into())),
            ("type", MetadataField::Node(Some(ty))),
            ("scopeLine", MetadataField::Int(line.into())),
            ("spFlags", l.md_word("DISPFlagDefinition")),
            ("unit", MetadataField::Node(Some(unit))),
        ];
        l.md_specialised("DISubprogram", true, &fields)
    }

    /// Attaches the subprogram to the function, and line 0 to calls without a location.
    pub(super) fn finish_lines(&mut self) {
        let Some((subprogram, _)) = self.lines.subprogram else {
            return;
        };
        let kind = self.l.out.strings.intern_text(DEBUG);
        let global = self.function.global;
        let attached = &mut self.l.out.globals[global.index()].metadata;
        attached.push((kind, subprogram));
        let mut located = vec![false; self.function.insts.len()];
        for attachment in self.function.attachments.iter().filter(|a| a.kind == kind) {
            located[attachment.inst.index()] = true;
        }
        let calls = |n: &usize| self.function.insts[*n].opcode == LlvmOpcode::Call && !located[*n];
        let calls: Vec<usize> = (0..located.len()).filter(calls).collect();
        if calls.is_empty() {
            return;
        }
        let nowhere = self.make_location(0, 0, subprogram);
        for call in calls {
            self.attach_to_instruction(LlvmInst::new(call), DEBUG, nowhere);
        }
    }
}
