//! Grammar additions from JSON files in the form of Khronos' machine-readable grammar.
//!
//! A file with `operand_kinds` or `magic_number` is a core grammar: what the tables have by the same
//! number and name is passed over, so that a newer file as a whole adds what is new in it. Any other
//! file is a set of extended instructions. Besides Khronos' keys an instruction may have `effects`, a
//! list of `reads`, `writes`, `convergent` and `traps`; an empty one says that it only computes.

use super::additions::{
    AdditionAvailability, GrammarAdditions, NewExtInst, NewInstruction, NewOperand, NewSet,
    NewValue,
};
use super::effects::InstructionEffects;
use super::enumerants::Capability;
use super::generated::kinds::{KINDS, Kind};
use super::types::{InstructionClass, Op, OperandCategory, OperandQuantifier, SpirvVersion};
use serde_json::Value;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// An error in the file, which names its subject instead of a location.
type GrammarJsonResult<T> = Result<T, String>;

impl GrammarAdditions {
    /// The additions of a grammar file. `set_name` is the name of the set in `OpExtInstImport`, for files
    /// without a `name`; it makes any file one of a set.
    ///
    /// # Errors
    /// If the text is not JSON or lacks something. Nothing is registered yet; conflicts are reported when the
    /// result is registered.
    pub fn from_json(
        text: &str,
        set_name: Option<&str>,
    ) -> Result<GrammarAdditions, SourceDiagnostic> {
        let file: Value = serde_json::from_str(text).map_err(|e| {
            let start = to_byte_offset(text, e.line(), e.column());
            SourceDiagnostic::error(
                SourceLocation::from_text_range(start, start),
                format!("the grammar is no JSON: {e}"),
            )
        })?;
        let is_core = file.get("operand_kinds").is_some() || file.get("magic_number").is_some();
        let read = match set_name {
            None if is_core => read_core_grammar(&file),
            _ => read_ext_inst_set(&file, set_name),
        };
        read.map_err(|what| SourceDiagnostic::error(SourceLocation::Unknown, what))
    }
}

fn to_byte_offset(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = before.map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

fn read_core_grammar(file: &Value) -> GrammarJsonResult<GrammarAdditions> {
    let mut additions = GrammarAdditions::default();
    let kinds = read_list(file, "operand_kinds");
    let own = OwnKinds(kinds);
    // Capabilities first: everything else names them.
    let mut names: Vec<(&str, Capability)> = Vec::new();
    for row in own.kind_values("Capability") {
        names.push((
            read_text(row, "enumerant")?,
            Capability(read_number(row, "value")?),
        ));
    }
    let context = GrammarJsonContext { own, names };
    for kind in KINDS.iter().filter(|k| k.category != OperandCategory::Id) {
        for row in context.own.kind_values(kind.name) {
            let (name, value) = (read_text(row, "enumerant")?, read_number(row, "value")?);
            let is_bit = kind.category == OperandCategory::ValueEnum || value.is_power_of_two();
            if kind.in_tables(value).is_some() || kind.by_name_in_tables(name).is_some() || !is_bit
            {
                continue;
            }
            additions.values.push(NewValue {
                kind: kind.kind,
                name: name.to_owned(),
                value,
                parameters: context.read_operands(row, "parameters")?,
                availability: context.read_availability(row)?,
            });
        }
    }
    for row in read_list(file, "instructions") {
        let (name, opcode) = (read_text(row, "opname")?, read_number(row, "opcode")?);
        let opcode = u16::try_from(opcode).map_err(|_| format!("{name}: {opcode} is no opcode"))?;
        if Op(opcode).in_tables().is_some()
            || Op::by_name_in_tables(&name[2.min(name.len())..]).is_some()
        {
            continue;
        }
        additions.instructions.push(NewInstruction {
            opcode,
            name: name.to_owned(),
            class: read_class(row),
            operands: context.read_operands(row, "operands")?,
            availability: context.read_availability(row)?,
            effects: read_effects(row)?.unwrap_or(InstructionEffects::of_class(read_class(row))),
        });
    }
    Ok(additions)
}

fn read_ext_inst_set(file: &Value, name: Option<&str>) -> GrammarJsonResult<GrammarAdditions> {
    let named = file.get("name").and_then(Value::as_str);
    let name = name.or(named).ok_or("the grammar does not name its set")?;
    let context = GrammarJsonContext {
        own: OwnKinds(read_list(file, "operand_kinds")),
        names: Vec::new(),
    };
    let mut instructions = Vec::new();
    for row in read_list(file, "instructions") {
        instructions.push(NewExtInst {
            number: read_number(row, "opcode")?,
            name: read_text(row, "opname")?.to_owned(),
            operands: context.read_operands(row, "operands")?,
            availability: context.read_availability(row)?,
            effects: read_effects(row)?.unwrap_or(InstructionEffects::ANY),
        });
    }
    let name = name.to_owned();
    let sets = vec![NewSet { name, instructions }];
    Ok(GrammarAdditions {
        sets,
        ..GrammarAdditions::default()
    })
}

/// The kinds of operands that a file describes.
struct OwnKinds<'a>(&'a [Value]);

impl<'a> OwnKinds<'a> {
    fn find_kind(&self, name: &str) -> Option<&'a Value> {
        let mut kinds = self.0.iter();
        kinds.find(|k| k.get("kind").and_then(Value::as_str) == Some(name))
    }

    fn kind_values(&self, name: &str) -> &'a [Value] {
        self.find_kind(name)
            .map_or(&[], |kind| read_list(kind, "enumerants"))
    }
}

struct GrammarJsonContext<'a> {
    own: OwnKinds<'a>,
    /// Capabilities of the file.
    names: Vec<(&'a str, Capability)>,
}

impl GrammarJsonContext<'_> {
    fn read_operands(&self, row: &Value, key: &str) -> GrammarJsonResult<Vec<NewOperand>> {
        let operands = read_list(row, key).iter().map(|o| {
            Ok(NewOperand {
                kind: self.resolve_kind(read_text(o, "kind")?)?,
                quantifier: match o.get("quantifier").and_then(Value::as_str) {
                    Some("?") => OperandQuantifier::Optional,
                    Some("*") => OperandQuantifier::Many,
                    _ => OperandQuantifier::One,
                },
                name: o
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or("")
                    .to_owned(),
            })
        });
        operands.collect()
    }

    /// A kind of the tables. Of other kinds the values have no names: they are ids or numbers.
    fn resolve_kind(&self, name: &str) -> GrammarJsonResult<Kind> {
        if let Some(row) = KINDS.iter().find(|k| k.name == name) {
            return Ok(row.kind);
        }
        let own = self
            .own
            .find_kind(name)
            .and_then(|k| k.get("category")?.as_str());
        match own {
            Some("Id") => Ok(Kind::IdRef),
            Some("ValueEnum" | "BitEnum" | "Literal") => Ok(Kind::LiteralInteger),
            _ => Err(format!("no operands are of the kind {name}")),
        }
    }

    fn read_availability(&self, row: &Value) -> GrammarJsonResult<AdditionAvailability> {
        let names = |key| read_list(row, key).iter().filter_map(Value::as_str);
        let capabilities: GrammarJsonResult<Vec<Capability>> = names("capabilities")
            .map(|n| self.resolve_capability(n))
            .collect();
        let extensions: Vec<String> = names("extensions").map(str::to_owned).collect();
        let first = match row.get("version").and_then(Value::as_str) {
            None if extensions.is_empty() => SpirvVersion::V1_0,
            None | Some("None") => SpirvVersion::NEVER,
            Some(version) => parse_version(version)?,
        };
        let last = row.get("lastVersion").and_then(Value::as_str);
        Ok(AdditionAvailability {
            capabilities: capabilities?,
            extensions,
            version: first,
            last_version: last.map_or(Ok(SpirvVersion::NEVER), parse_version)?,
        })
    }

    fn resolve_capability(&self, name: &str) -> GrammarJsonResult<Capability> {
        let own = self.names.iter().find(|(n, _)| *n == name);
        let known = || {
            Kind::Capability
                .info()
                .by_name(name)
                .map(|e| Capability(e.value))
        };
        own.map(|(_, c)| *c)
            .or_else(known)
            .ok_or_else(|| format!("no capability is called {name}"))
    }
}

fn parse_version(text: &str) -> GrammarJsonResult<SpirvVersion> {
    let parsed = text.split_once('.').and_then(|(major, minor)| {
        let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
        Some(SpirvVersion::new(major, minor))
    });
    parsed.ok_or_else(|| format!("'{text}' is no version"))
}

fn read_class(row: &Value) -> InstructionClass {
    let name = row.get("class").and_then(Value::as_str).unwrap_or("");
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let found = InstructionClass::ALL
        .iter()
        .find(|c| format!("{c:?}").eq_ignore_ascii_case(&plain));
    found.copied().unwrap_or(InstructionClass::Reserved)
}

fn read_effects(row: &Value) -> GrammarJsonResult<Option<InstructionEffects>> {
    let Some(given) = row.get("effects").and_then(Value::as_array) else {
        return Ok(None);
    };
    let mut all = InstructionEffects::PURE;
    for name in given {
        all = all.union(match name.as_str() {
            Some("reads") => InstructionEffects::READS,
            Some("writes") => InstructionEffects::WRITES,
            Some("convergent") => InstructionEffects::CONVERGENT,
            Some("traps") => InstructionEffects::TRAPS,
            _ => return Err(format!("{name} is no effect")),
        });
    }
    Ok(Some(all))
}

fn read_list<'a>(row: &'a Value, key: &str) -> &'a [Value] {
    row.get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn read_text<'a>(row: &'a Value, key: &str) -> GrammarJsonResult<&'a str> {
    let value = row.get(key).and_then(Value::as_str);
    value.ok_or_else(|| {
        format!(
            "a row of the grammar has no text {key}: {}",
            describe_row(row)
        )
    })
}

/// A number, also as a text such as `0x0004`.
fn read_number(row: &Value, key: &str) -> GrammarJsonResult<u32> {
    let value = row.get(key);
    let plain = value.and_then(Value::as_u64);
    let hex = || u64::from_str_radix(value?.as_str()?.strip_prefix("0x")?, 16).ok();
    let found = plain.or_else(hex).and_then(|n| u32::try_from(n).ok());
    found.ok_or_else(|| {
        format!(
            "a row of the grammar has no number {key}: {}",
            describe_row(row)
        )
    })
}

fn describe_row(row: &Value) -> String {
    row.to_string().chars().take(60).collect()
}
