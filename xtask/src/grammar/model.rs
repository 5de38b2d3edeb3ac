//! Data model of Khronos' grammar files.

use serde::Deserialize;

/// `spirv.core.grammar.json`.
#[derive(Deserialize)]
pub struct Core {
    pub major_version: u32,
    pub minor_version: u32,
    pub revision: u32,
    pub instructions: Vec<Instruction>,
    pub operand_kinds: Vec<Kind>,
}

/// `extinst.*.grammar.json`.
#[derive(Deserialize)]
pub struct ExtSet {
    pub instructions: Vec<Instruction>,
    #[serde(default)]
    pub operand_kinds: Vec<Kind>,
}

/// A core or extended instruction.
#[derive(Deserialize)]
pub struct Instruction {
    pub opname: String,
    pub opcode: u32,
    #[serde(default)]
    pub class: String,
    #[serde(default)]
    pub operands: Vec<Operand>,
    #[serde(flatten)]
    pub needs: Needs,
}

/// Requirements of an instruction or enumerant.
#[derive(Deserialize)]
pub struct Needs {
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub capabilities: Vec<String>,
    #[serde(default)]
    pub extensions: Vec<String>,
    pub version: Option<String>,
    #[serde(rename = "lastVersion")]
    pub last_version: Option<String>,
}

/// An operand of an instruction or a parameter of an enumerant.
#[derive(Deserialize)]
pub struct Operand {
    pub kind: String,
    pub name: Option<String>,
    pub quantifier: Option<String>,
}

/// A kind of operand.
#[derive(Deserialize)]
pub struct Kind {
    pub category: String,
    pub kind: String,
    #[serde(default)]
    pub enumerants: Vec<Enumerant>,
    #[serde(default)]
    pub bases: Vec<String>,
}

/// A named value of a value or bit enumeration.
#[derive(Deserialize)]
pub struct Enumerant {
    pub enumerant: String,
    pub value: Value,
    #[serde(default)]
    pub parameters: Vec<Operand>,
    #[serde(flatten)]
    pub needs: Needs,
}

/// A value of the grammar: a number, or a bit mask as a hexadecimal string.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Value {
    Number(u32),
    Hex(String),
}

impl Value {
    /// The value as a number.
    pub fn get(&self) -> u32 {
        match self {
            Value::Number(n) => *n,
            Value::Hex(text) => {
                let digits = text.trim_start_matches("0x");
                u32::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("bad value {text}"))
            }
        }
    }
}
