//! The state of the generator, and the emission of lines.

use super::types::GeneratedType;
use spirula_testing::ChoiceSequence;
use std::collections::BTreeSet;

/// The state of the generator.
pub struct LlvmGenerator<'c, 'b> {
    pub c: &'c mut ChoiceSequence<'b>,
    pub globals: String,
    pub functions: String,
    pub declared: BTreeSet<String>,
    pub callable: Vec<CallableFunction>,
    pub body: GeneratedBody,
    /// Global objects.
    pub shared: Vec<GeneratedPointer>,
    /// Hints for loops, as metadata.
    pub hints: String,
    pub next: u32,
}

/// The function that is being generated.
#[derive(Default)]
pub struct GeneratedBody {
    pub text: String,
    /// Values that dominate the next instruction.
    pub values: Vec<(GeneratedType, String)>,
    /// Addresses that dominate the next instruction.
    pub pointers: Vec<GeneratedPointer>,
    /// The open block.
    pub block: String,
    /// Allocations, which are placed at the beginning.
    pub allocas: String,
    pub is_kernel: bool,
}

/// An address that is available.
#[derive(Clone, Debug)]
pub struct GeneratedPointer {
    /// Its address space.
    pub space: u32,
    /// Its name.
    pub name: String,
    /// The type of the object there.
    pub ty: GeneratedType,
    /// Whether it may be written to.
    pub is_variable: bool,
}

impl GeneratedPointer {
    /// Its type.
    pub fn ty(&self) -> String {
        pointer_type(self.space)
    }
}

/// The type of pointers to an address space.
pub fn pointer_type(space: u32) -> String {
    match space {
        0 => "ptr".to_owned(),
        n => format!("ptr addrspace({n})"),
    }
}

/// A function that can be called.
#[derive(Clone)]
pub struct CallableFunction {
    pub name: String,
    /// Another function of the same type.
    pub other: Option<String>,
    pub params: Vec<GeneratedType>,
    /// The type that a pointer parameter at the end refers to.
    pub pointer: Option<GeneratedType>,
    /// Whether the function may write there.
    pub is_written: bool,
    pub result: GeneratedType,
}

impl LlvmGenerator<'_, '_> {
    pub fn one_in(&mut self, n: usize) -> bool {
        self.c.choose_below(n) == n - 1
    }

    pub fn fresh_name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    pub fn write_line(&mut self, text: &str) {
        self.body.text.push_str("  ");
        self.body.text.push_str(text);
        self.body.text.push('\n');
    }

    /// Emits an instruction whose result later instructions may use.
    pub fn emit_value(&mut self, ty: &GeneratedType, text: &str) -> String {
        let name = self.emit_hidden_value(text);
        self.body.values.push((ty.clone(), name.clone()));
        name
    }

    /// Emits an instruction whose result nothing else uses.
    pub fn emit_hidden_value(&mut self, text: &str) -> String {
        let name = self.fresh_name("%v");
        self.write_line(&format!("{name} = {text}"));
        name
    }

    pub fn open_block(&mut self, block: &str) {
        self.body.text.push_str(block);
        self.body.text.push_str(":\n");
        block.clone_into(&mut self.body.block);
    }
}
