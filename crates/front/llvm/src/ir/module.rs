//! Modules: globals, functions, types, constants and metadata of one input.

use super::{
    ComdatGroup, ConstKind, DataLayout, GlobalData, GlobalKind, LlvmAttributes, LlvmConst,
    LlvmConstants, LlvmFunc, LlvmFunction, LlvmGlobal, LlvmMetadata, LlvmStrings, LlvmSymbol,
    LlvmType, LlvmTypeKind, LlvmTypes, LlvmValue, MetadataArena, NamedMetadata,
};
use super::{InlineAsm, ValueKind};

/// Longest vector whose equal elements are written out.
const MAX_SPLAT: u32 = 1 << 16;

/// A module: the contents of one input.
#[derive(Clone, Debug, Default)]
pub struct LlvmModule {
    /// Interned strings.
    pub strings: LlvmStrings,
    /// Interned types.
    pub types: LlvmTypes,
    /// Interned constants.
    pub consts: LlvmConstants,
    /// Attributes.
    pub attributes: LlvmAttributes,
    /// Metadata.
    pub metadata: MetadataArena,
    /// Named lists of metadata, such as `opencl.ocl.version`.
    pub named_metadata: Vec<NamedMetadata>,
    /// Globals in the order of the input.
    pub globals: Vec<GlobalData>,
    /// Functions in the order of the input.
    pub functions: Vec<LlvmFunction>,
    /// Comdats.
    pub comdats: Vec<ComdatGroup>,
    /// Inline assembly used as a callee.
    pub inline_asm: Vec<InlineAsm>,
    /// Assembly of the module as a whole.
    pub module_asm: String,
    /// Target triple; empty if not stated.
    pub triple: String,
    /// Data layout.
    pub layout: DataLayout,
    /// Name of the source file; empty if not stated.
    pub source_filename: String,
}

impl LlvmModule {
    /// The text of a symbol.
    pub fn symbol_text(&self, symbol: LlvmSymbol) -> &str {
        self.strings.get(symbol)
    }

    /// A global.
    pub fn global(&self, global: LlvmGlobal) -> &GlobalData {
        &self.globals[global.index()]
    }

    /// A function.
    pub fn function(&self, func: LlvmFunc) -> &LlvmFunction {
        &self.functions[func.index()]
    }

    /// All globals in order.
    pub fn global_ids(&self) -> impl DoubleEndedIterator<Item = LlvmGlobal> + use<> {
        (0..self.globals.len()).map(LlvmGlobal::new)
    }

    /// All functions in order.
    pub fn function_ids(&self) -> impl DoubleEndedIterator<Item = LlvmFunc> + use<> {
        (0..self.functions.len()).map(LlvmFunc::new)
    }

    /// The name of a function.
    pub fn function_name(&self, func: LlvmFunc) -> &str {
        self.symbol_text(self.global(self.function(func).global).name)
    }

    /// Metadata attached to a function, by the name of its kind.
    pub fn function_metadata(&self, func: LlvmFunc, kind: &str) -> Option<LlvmMetadata> {
        let kind = self.strings.find_symbol(kind)?;
        let attached = &self.global(self.function(func).global).metadata;
        attached
            .iter()
            .find(|(at, _)| *at == kind)
            .map(|&(_, node)| node)
    }

    /// The strings of a metadata node that is attached to a function, for example one string per
    /// kernel argument. Operands that are not strings become empty strings.
    pub fn function_strings(&self, func: LlvmFunc, kind: &str) -> Vec<&str> {
        let Some(node) = self.function_metadata(func, kind) else {
            return Vec::new();
        };
        let text = |operand: &Option<LlvmMetadata>| {
            let symbol = operand.and_then(|operand| self.metadata.as_string(operand));
            symbol.map_or("", |symbol| self.symbol_text(symbol))
        };
        self.metadata.operands(node).iter().map(text).collect()
    }

    /// Operands of the named metadata list; empty if there is none.
    pub fn named_metadata(&self, name: &str) -> &[LlvmMetadata] {
        let Some(name) = self.strings.find_symbol(name) else {
            return &[];
        };
        self.named_metadata
            .iter()
            .find(|list| list.name == name)
            .map_or(&[], |list| &list.operands)
    }

    /// A constant of type `ty` all of whose elements are `element`, or `element` itself if the type
    /// is not a vector.
    pub fn make_splat(&mut self, ty: LlvmType, element: LlvmConst) -> LlvmConst {
        let LlvmModule { types, consts, .. } = self;
        match *types.kind(ty) {
            LlvmTypeKind::Vector {
                len,
                scalable: false,
                ..
            } if len <= MAX_SPLAT => consts.make_aggregate(types, ty, &vec![element; len as usize]),
            LlvmTypeKind::Vector { .. } if consts.is_zero(element) => {
                consts.intern_constant(ty, ConstKind::Zero)
            }
            LlvmTypeKind::Vector { .. } => consts.intern_constant(ty, ConstKind::Splat(element)),
            _ => element,
        }
    }

    /// The global that a constant is the address of.
    pub fn as_global(&self, constant: LlvmConst) -> Option<LlvmGlobal> {
        match *self.consts.kind(constant) {
            ConstKind::Global(global) => Some(global),
            _ => None,
        }
    }

    /// The function that a value is the address of.
    pub fn as_function(&self, value: LlvmValue) -> Option<LlvmFunc> {
        match self.global(self.as_global(value.as_const()?)?).kind {
            GlobalKind::Function(func) => Some(func),
            _ => None,
        }
    }

    /// The value as an integer constant of at most 64 bits, zero-extended.
    pub fn as_u64(&self, value: LlvmValue) -> Option<u64> {
        self.consts.as_u64(value.as_const()?)
    }
}

impl LlvmFunction {
    /// Type of an operand.
    pub fn type_of(&self, module: &LlvmModule, value: LlvmValue) -> LlvmType {
        match value.kind() {
            ValueKind::Local(local) => self.local_type(local),
            ValueKind::Const(constant) => module.consts.ty(constant),
            ValueKind::Metadata(_) => LlvmType::METADATA,
        }
    }
}
