//! Writer of the body of a kernel: instructions, labels, variables of the function, and globals.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Header of a module for OpenCL environments of 64 bits.
const HEADER: &str = "target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024\"\n\
    target triple = \"spir64-unknown-unknown\"\n\n";

/// A kernel as text, while it is written.
#[derive(Debug, Default)]
pub(crate) struct LlvmText {
    globals: String,
    variables: String,
    body: String,
    declarations: BTreeSet<String>,
    temporaries: u32,
    labels: u32,
}

impl LlvmText {
    /// A kernel without instructions.
    pub fn new() -> LlvmText {
        LlvmText::default()
    }

    /// Number of bytes that were written.
    pub fn length(&self) -> usize {
        self.body.len()
    }

    /// Appends an instruction with a result, and returns the name of the result.
    pub fn compute(&mut self, instruction: impl AsRef<str>) -> String {
        let name = format!("%t{}", self.temporaries);
        self.temporaries += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "  {name} = {}", instruction.as_ref());
        name
    }

    /// Appends an instruction without a result.
    pub fn act(&mut self, instruction: impl AsRef<str>) {
        let _ = writeln!(self.body, "  {}", instruction.as_ref());
    }

    /// A new label.
    pub fn make_label(&mut self) -> String {
        self.labels += 1;
        format!("b{}", self.labels)
    }

    /// Begins the block of a label.
    pub fn begin_block(&mut self, label: &str) {
        let _ = writeln!(self.body, "{label}:");
    }

    /// Ends the block with a branch.
    pub fn branch(&mut self, label: &str) {
        self.act(format!("br label %{label}"));
    }

    /// Ends the block with a branch that depends on a condition.
    pub fn branch_if(&mut self, condition: &str, holds: &str, fails: &str) {
        self.act(format!("br i1 {condition}, label %{holds}, label %{fails}"));
    }

    /// A variable of the function.
    pub fn make_variable(&mut self, ty: &str) -> String {
        let name = format!("%v{}", self.temporaries);
        self.temporaries += 1;
        let _ = writeln!(self.variables, "  {name} = alloca {ty}");
        name
    }

    /// An array in the memory of the workgroup.
    pub fn make_array(&mut self, count: u64, ty: &str) -> String {
        let name = format!("@m{}", self.temporaries);
        self.temporaries += 1;
        let _ = writeln!(
            self.globals,
            "{name} = internal addrspace(3) global [{count} x {ty}] undef, align 16"
        );
        name
    }

    /// A string that is constant, with its end.
    pub fn make_string(&mut self, text: &str) -> String {
        let name = format!("@s{}", self.temporaries);
        self.temporaries += 1;
        let mut escaped = String::new();
        for byte in text.bytes().chain([0]) {
            match byte {
                b' '..=b'~' if byte != b'"' && byte != b'\\' => escaped.push(char::from(byte)),
                _ => {
                    let _ = write!(escaped, "\\{byte:02X}");
                }
            }
        }
        let length = text.len() + 1;
        let _ = writeln!(
            self.globals,
            "{name} = internal unnamed_addr addrspace(2) constant [{length} x i8] c\"{escaped}\", align 1"
        );
        name
    }

    /// Calls a function, which is declared. The arguments have their types in front.
    pub fn call(&mut self, result: &str, name: &str, arguments: &[(&str, &str)]) -> String {
        let types: Vec<&str> = arguments.iter().map(|argument| argument.0).collect();
        let declaration = format!("declare spir_func {result} @{name}({})", types.join(", "));
        self.declarations.insert(declaration);
        let values: Vec<String> = arguments
            .iter()
            .map(|(ty, value)| format!("{ty} {value}"))
            .collect();
        let call = format!("call spir_func {result} @{name}({})", values.join(", "));
        if result == "void" {
            self.act(call);
            return String::new();
        }
        self.compute(call)
    }

    /// Declares a function that is called by an instruction of its own.
    pub fn declare(&mut self, declaration: &str) {
        self.declarations.insert(declaration.to_owned());
    }

    /// The module with one kernel, whose workgroups have `width` invocations.
    pub fn finish(self, name: &str, parameters: &str, width: u32) -> String {
        let mut module = HEADER.to_owned();
        module += &self.globals;
        module += "\n";
        for declaration in &self.declarations {
            module += declaration;
            module += "\n";
        }
        let _ = writeln!(
            module,
            "\ndefine spir_kernel void @\"{name}\"({parameters}) !reqd_work_group_size !0 {{\nentry:"
        );
        module += &self.variables;
        module += "  br label %start\nstart:\n";
        module += &self.body;
        let _ = writeln!(module, "}}\n\n!0 = !{{i32 {width}, i32 1, i32 1}}");
        module
    }
}
