//! Grammar additions: instructions, values and extended instruction sets that are registered at run time.
//!
//! Additions hold for the whole process and permanently, because a number of the format has one meaning,
//! and all modules share the rows of the grammar. Assembler, disassembler, reader, uses, verifier and passes
//! then treat them like the rows of the tables. Other unknown instructions are kept verbatim, and are assumed
//! to have every effect.
//!
//! ```
//! use spirula_spirv::grammar::{GrammarAdditions, InstructionEffects, Kind, NewInstruction, OperandQuantifier};
//! use spirula_spirv::text;
//!
//! let mut additions = GrammarAdditions::default();
//! additions.instructions.push(
//!     NewInstruction::new(4000, "OpFusedDotMINE")
//!         .with_operand(Kind::IdResultType, OperandQuantifier::One, "")
//!         .with_operand(Kind::IdResult, OperandQuantifier::One, "")
//!         .with_operand(Kind::IdRef, OperandQuantifier::One, "Left")
//!         .with_operand(Kind::IdRef, OperandQuantifier::One, "Right")
//!         .with_extension("SPV_MINE_fused_dot")
//!         .with_effects(InstructionEffects::PURE),
//! );
//! additions.register_all().unwrap();
//!
//! let source = "%1 = OpTypeFloat 32\n%4 = OpFusedDotMINE %1 %2 %3\n";
//! let words = text::parse_assembly(source, &text::ParseOptions::default()).unwrap();
//! assert_eq!(words[8..], [5 << 16 | 4000, 1, 4, 2, 3]);
//! ```

use super::effects::InstructionEffects;
use super::enumerants::Capability;
use super::generated::kinds::Kind;
use super::registry::{self, AddedInstruction, AddedSet, GrammarRegistry};
use super::types::{
    EnumerantInfo, ExtInst, ExtInstSet, InstructionClass, InstructionInfo, Op, OperandCategory,
    OperandInfo, OperandQuantifier, ResultForm, SpirvVersion,
};
use std::fmt;

/// Additions to the grammar; see the module of this type's documentation for an example.
///
/// ```
/// # use spirula_spirv::grammar::GrammarAdditions;
/// let json = r#"{ "name": "Mine.numbers", "instructions": [
///     { "opname": "Gcd", "opcode": 1, "effects": [], "operands": [
///         { "kind": "IdRef", "name": "x" }, { "kind": "IdRef", "name": "y" } ] } ] }"#;
/// let additions = GrammarAdditions::from_json(json, None).unwrap();
/// assert_eq!(additions.sets[0].instructions[0].name, "Gcd");
/// additions.register_all().unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct GrammarAdditions {
    /// Instructions.
    pub instructions: Vec<NewInstruction>,
    /// Values of kinds of operands that the grammar has, such as capabilities and decorations.
    pub values: Vec<NewValue>,
    /// Sets of extended instructions.
    pub sets: Vec<NewSet>,
}

/// An operand of something new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOperand {
    /// The kind of the operand.
    pub kind: Kind,
    /// Its number of occurrences.
    pub quantifier: OperandQuantifier,
    /// Name; may be empty.
    pub name: String,
}

/// The availability of an addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdditionAvailability {
    /// Any of these; empty: always.
    pub capabilities: Vec<Capability>,
    /// Any of these, besides the version.
    pub extensions: Vec<String>,
    /// First version that has it.
    pub version: SpirvVersion,
    /// Last version that has it, or [`SpirvVersion::NEVER`].
    pub last_version: SpirvVersion,
}

impl Default for AdditionAvailability {
    /// Always.
    fn default() -> Self {
        AdditionAvailability {
            capabilities: Vec::new(),
            extensions: Vec::new(),
            version: SpirvVersion::V1_0,
            last_version: SpirvVersion::NEVER,
        }
    }
}

/// An instruction to be added.
#[derive(Clone, Debug)]
pub struct NewInstruction {
    /// Opcode, which nothing has yet.
    pub opcode: u16,
    /// Name: `Op`, an upper-case letter, letters and digits.
    pub name: String,
    /// Chapter of the specification, which determines the sections of a module where it is allowed.
    pub class: InstructionClass,
    /// All operands, result type and result id included, which come first.
    pub operands: Vec<NewOperand>,
    /// Its availability.
    pub availability: AdditionAvailability,
    /// Its effects.
    pub effects: InstructionEffects,
}

impl NewInstruction {
    /// An instruction without operands that has any effect and is always available.
    pub fn new(opcode: u16, name: impl Into<String>) -> Self {
        NewInstruction {
            opcode,
            name: name.into(),
            class: InstructionClass::Reserved,
            operands: Vec::new(),
            availability: AdditionAvailability::default(),
            effects: InstructionEffects::ANY,
        }
    }

    /// Adds an operand.
    #[must_use]
    pub fn with_operand(mut self, kind: Kind, quantifier: OperandQuantifier, name: &str) -> Self {
        let name = name.to_owned();
        self.operands.push(NewOperand {
            kind,
            quantifier,
            name,
        });
        self
    }

    /// Makes it available with this capability, as an alternative to others.
    #[must_use]
    pub fn with_capability(mut self, capability: Capability) -> Self {
        self.availability.capabilities.push(capability);
        self
    }

    /// Makes it available with this extension, as an alternative to others, and in no version without.
    #[must_use]
    pub fn with_extension(mut self, name: &str) -> Self {
        self.availability.extensions.push(name.to_owned());
        self.availability.version = SpirvVersion::NEVER;
        self
    }

    /// Sets its effects.
    #[must_use]
    pub fn with_effects(mut self, effects: InstructionEffects) -> Self {
        self.effects = effects;
        self
    }
}

/// A named value of a kind of operands, to be added.
#[derive(Clone, Debug)]
pub struct NewValue {
    /// The kind.
    pub kind: Kind,
    /// Name, which the kind does not have yet.
    pub name: String,
    /// Number, which the kind does not have yet; one bit for masks.
    pub value: u32,
    /// Operands that follow it: only where others of the kind have such.
    pub parameters: Vec<NewOperand>,
    /// Its availability; for a capability the capabilities that it implies.
    pub availability: AdditionAvailability,
}

/// An extended instruction of a set to be added.
#[derive(Clone, Debug)]
pub struct NewExtInst {
    /// Number within its set.
    pub number: u32,
    /// Name.
    pub name: String,
    /// Operands after the number.
    pub operands: Vec<NewOperand>,
    /// Its availability.
    pub availability: AdditionAvailability,
    /// Its effects.
    pub effects: InstructionEffects,
}

/// A set of extended instructions to be added.
#[derive(Clone, Debug)]
pub struct NewSet {
    /// Name in `OpExtInstImport`.
    pub name: String,
    /// Its instructions, in any order.
    pub instructions: Vec<NewExtInst>,
}

/// Why something cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdditionError {
    /// The opcode means another instruction, or the same name has another opcode or other operands.
    Instruction(u16, String),
    /// The name cannot be one in a text.
    Name(String),
    /// The kind has the value or the name already, or it cannot have it.
    Value(Kind, u32, String),
    /// A set of this name is known.
    Set(String),
    /// The operands of an instruction are in an invalid order; the reason.
    Operands(String, &'static str),
}

impl fmt::Display for AdditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdditionError::Instruction(op, name) => {
                write!(
                    f,
                    "{name} with the opcode {op} is in conflict with another instruction"
                )
            }
            AdditionError::Name(name) => {
                write!(f, "'{name}' cannot be the name of an instruction or value")
            }
            AdditionError::Value(kind, value, name) => {
                let kind = kind.info().name;
                write!(f, "{kind} cannot have {name} with the value {value}")
            }
            AdditionError::Set(name) => write!(f, "another set is called {name}"),
            AdditionError::Operands(name, why) => write!(f, "{name}: {why}"),
        }
    }
}

impl std::error::Error for AdditionError {}

impl GrammarAdditions {
    /// Registers everything, or nothing if something cannot be added. Repeating an earlier addition is allowed.
    ///
    /// # Errors
    /// The first item that cannot be added.
    pub fn register_all(&self) -> Result<(), AdditionError> {
        registry::change_registry(|registry| {
            let mut new = GrammarRegistry::default();
            for value in &self.values {
                value.add_to_registry(registry, &mut new)?;
            }
            for instruction in &self.instructions {
                instruction.add_to_registry(registry, &mut new)?;
            }
            for set in &self.sets {
                set.add_to_registry(registry, &mut new)?;
            }
            registry.instructions.extend(new.instructions);
            registry.names.extend(new.names);
            registry.values.extend(new.values);
            registry.value_names.extend(new.value_names);
            registry.sets.extend(new.sets);
            Ok(())
        })
    }
}

impl NewInstruction {
    fn add_to_registry(
        &self,
        old: &GrammarRegistry,
        new: &mut GrammarRegistry,
    ) -> Result<(), AdditionError> {
        let conflict = || AdditionError::Instruction(self.opcode, self.name.clone());
        let short = self.name.strip_prefix("Op").unwrap_or("");
        if !is_name(short) || !short.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Err(AdditionError::Name(self.name.clone()));
        }
        let op = Op(self.opcode);
        let result = result_form(&self.operands).map_err(|why| self.invalid_addition(why))?;
        check_operands(&self.operands).map_err(|why| self.invalid_addition(why))?;
        let in_tables = op.in_tables();
        let added = [old, &*new].map(|r| r.instructions.get(&self.opcode).map(|i| i.row));
        if let Some(row) = in_tables.or(added[0]).or(added[1]) {
            let same = row.name == self.name && same_operands(row.operands, &self.operands);
            return same.then_some(()).ok_or_else(conflict);
        }
        let is_named = |r: &GrammarRegistry| r.names.contains_key(short);
        if Op::by_name_in_tables(short).is_some() || is_named(old) || is_named(new) {
            return Err(conflict());
        }
        let name = leak_text(&self.name);
        let row = Box::leak(Box::new(InstructionInfo {
            op,
            name,
            aliases: &[],
            class: self.class,
            result,
            operands: leak_operands(&self.operands),
            capabilities: self.availability.capabilities.clone().leak(),
            extensions: leak_names(&self.availability.extensions),
            version: self.availability.version,
            last_version: self.availability.last_version,
        }));
        let effects = self.effects;
        new.instructions
            .insert(self.opcode, AddedInstruction { row, effects });
        new.names.insert(&name[2..], op);
        Ok(())
    }

    fn invalid_addition(&self, why: &'static str) -> AdditionError {
        AdditionError::Operands(self.name.clone(), why)
    }
}

impl NewValue {
    fn add_to_registry(
        &self,
        old: &GrammarRegistry,
        new: &mut GrammarRegistry,
    ) -> Result<(), AdditionError> {
        let conflict = || AdditionError::Value(self.kind, self.value, self.name.clone());
        let info = self.kind.info();
        let fits = match info.category {
            OperandCategory::ValueEnum => true,
            OperandCategory::BitEnum => self.value.is_power_of_two(),
            _ => false,
        };
        // Rows of instructions refer to the values of operand kinds.
        let may_have = info.enumerants.iter().any(|e| !e.parameters.is_empty());
        if !fits || !self.parameters.is_empty() && !may_have {
            return Err(conflict());
        }
        if !is_name(&self.name) {
            return Err(AdditionError::Name(self.name.clone()));
        }
        check_operands(&self.parameters)
            .map_err(|why| AdditionError::Operands(self.name.clone(), why))?;
        let by_value = |r: &GrammarRegistry| r.values.get(&(self.kind, self.value)).copied();
        let known = info
            .in_tables(self.value)
            .or(by_value(old))
            .or(by_value(new));
        if let Some(row) = known {
            let same = row.name == self.name && same_operands(row.parameters, &self.parameters);
            return same.then_some(()).ok_or_else(conflict);
        }
        let is_named =
            |r: &GrammarRegistry| r.value_names.contains_key(&(self.kind, self.name.as_str()));
        if info.by_name_in_tables(&self.name).is_some() || is_named(old) || is_named(new) {
            return Err(conflict());
        }
        let name = leak_text(&self.name);
        let row = Box::leak(Box::new(EnumerantInfo {
            name,
            aliases: &[],
            value: self.value,
            parameters: leak_operands(&self.parameters),
            capabilities: self.availability.capabilities.clone().leak(),
            extensions: leak_names(&self.availability.extensions),
            version: self.availability.version,
            last_version: self.availability.last_version,
        }));
        new.values.insert((self.kind, self.value), row);
        new.value_names.insert((self.kind, name), row);
        Ok(())
    }
}

impl NewSet {
    fn add_to_registry(
        &self,
        old: &GrammarRegistry,
        new: &mut GrammarRegistry,
    ) -> Result<(), AdditionError> {
        let conflict = || AdditionError::Set(self.name.clone());
        let mut rows: Vec<&NewExtInst> = self.instructions.iter().collect();
        rows.sort_by_key(|i| i.number);
        if self.name.is_empty() || rows.windows(2).any(|w| w[0].number == w[1].number) {
            return Err(conflict());
        }
        for row in &rows {
            let wrong = |why| AdditionError::Operands(row.name.clone(), why);
            check_operands(&row.operands).map_err(wrong)?;
            if result_form(&row.operands).map_err(wrong)? != ResultForm::None {
                return Err(wrong("extended instructions have no result of their own"));
            }
            if !is_name(&row.name) {
                return Err(AdditionError::Name(row.name.clone()));
            }
        }
        let added = [old, &*new].map(|r| r.sets.get(self.name.as_str()).map(|s| s.set));
        let in_tables = ExtInstSet::in_tables(&self.name);
        if let Some(set) = in_tables.or(added[0]).or(added[1]) {
            let same = |(a, b): (&ExtInst, &&NewExtInst)| {
                a.number == b.number && a.name == b.name && same_operands(a.operands, &b.operands)
            };
            let equal = set.instructions.len() == rows.len()
                && set.instructions.iter().zip(&rows).all(same);
            return equal.then_some(()).ok_or_else(conflict);
        }
        let leaked = rows.iter().map(|row| ExtInst {
            number: row.number,
            name: leak_text(&row.name),
            operands: leak_operands(&row.operands),
            capabilities: row.availability.capabilities.clone().leak(),
            extensions: leak_names(&row.availability.extensions),
            version: row.availability.version,
            last_version: row.availability.last_version,
        });
        let name = leak_text(&self.name);
        let instructions = leaked.collect::<Vec<_>>().leak();
        let set = Box::leak(Box::new(ExtInstSet { name, instructions }));
        let effects = rows
            .iter()
            .map(|row| row.effects)
            .collect::<Vec<_>>()
            .leak();
        new.sets.insert(name, AddedSet { set, effects });
        Ok(())
    }
}

/// Whether the assembler reads a name as one word.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(fits)
}

fn result_form(operands: &[NewOperand]) -> Result<ResultForm, &'static str> {
    let kinds: Vec<Kind> = operands.iter().map(|o| o.kind).collect();
    let (form, rest) = match kinds[..] {
        [Kind::IdResultType, Kind::IdResult, ref rest @ ..] => (ResultForm::Typed, rest),
        [Kind::IdResult, ref rest @ ..] => (ResultForm::Untyped, rest),
        ref rest => (ResultForm::None, rest),
    };
    let is_result = |k: &Kind| matches!(k, Kind::IdResult | Kind::IdResultType);
    if rest.iter().any(is_result) {
        return Err("result type and result come first, in this order");
    }
    let first = &operands[..operands.len() - rest.len()];
    if first.iter().all(|o| o.quantifier == OperandQuantifier::One) {
        Ok(form)
    } else {
        Err("result type and result occur exactly once")
    }
}

fn check_operands(operands: &[NewOperand]) -> Result<(), &'static str> {
    for pair in operands.windows(2) {
        match (pair[0].quantifier, pair[1].quantifier) {
            (OperandQuantifier::Many, _) => {
                return Err("an operand follows any number of others");
            }
            (OperandQuantifier::Optional, OperandQuantifier::One) => {
                return Err("an operand follows an optional one");
            }
            _ => {}
        }
    }
    let depends = |k: Kind| {
        matches!(
            k,
            Kind::LiteralContextDependentNumber
                | Kind::LiteralExtInstInteger
                | Kind::LiteralSpecConstantOpInteger
                | Kind::PairLiteralIntegerIdRef
        )
    };
    if operands.iter().any(|o| depends(o.kind)) {
        Err("an operand's form depends on more than its kind")
    } else {
        Ok(())
    }
}

fn same_operands(rows: &[OperandInfo], new: &[NewOperand]) -> bool {
    let same =
        |(a, b): (&OperandInfo, &NewOperand)| a.kind == b.kind && a.quantifier == b.quantifier;
    rows.len() == new.len() && rows.iter().zip(new).all(same)
}

fn leak_text(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn leak_names(names: &[String]) -> &'static [&'static str] {
    names
        .iter()
        .map(|n| leak_text(n))
        .collect::<Vec<_>>()
        .leak()
}

fn leak_operands(operands: &[NewOperand]) -> &'static [OperandInfo] {
    let rows = operands.iter().map(|o| OperandInfo {
        kind: o.kind,
        quantifier: o.quantifier,
        name: leak_text(&o.name),
    });
    rows.collect::<Vec<_>>().leak()
}
