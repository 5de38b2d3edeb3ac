//! Vote weights: the weight of each kind of evidence, and the types that can be voted for.

use crate::ir::{LlvmFunction, LlvmInst, LlvmModule, LlvmType, LlvmTypeKind, LlvmValue};

/// Weight of the type of an allocation.
pub(super) const ALLOCATION: u32 = 1 << 20;
/// Weight of an attribute such as `byval(T)`.
pub(super) const ATTRIBUTE: u32 = 1 << 16;
/// Weight of the type of a global that flows into a class.
pub(super) const GLOBAL: u32 = 1 << 10;
/// Weight of the pointee of a typed pointer.
pub(super) const DECLARED: u32 = 1 << 6;
/// Weight of a type that an address computation steps through.
pub(super) const WALKED: u32 = 8;
/// Weight of a callee's parameter type.
pub(super) const CALLEE: u32 = 6;
/// Weight of the type of an access.
pub(super) const ACCESS: u32 = 4;
/// Weight of the type that an address computation ends at.
pub(super) const REACHED: u32 = 3;
/// Weight of bytes. They are weak evidence, as offsets and copies are written in bytes.
pub(super) const BYTES: u32 = 1;

/// Cache of the types that can be voted for.
pub(super) struct PointeeCandidates {
    storable: Vec<Option<bool>>,
}

impl PointeeCandidates {
    pub(super) fn new(module: &LlvmModule) -> Self {
        PointeeCandidates {
            storable: vec![None; module.types.len()],
        }
    }

    /// The type that a vote for `ty` counts for, or `None` if no pointer can point to it.
    pub(super) fn find_candidate(&mut self, module: &LlvmModule, ty: LlvmType) -> Option<LlvmType> {
        if ty == LlvmType::I1 {
            Some(LlvmType::I8)
        } else {
            self.is_storable(module, ty).then_some(ty)
        }
    }

    /// Whether values of a type can be in memory. Recursion is bounded, as the verifier limits the
    /// nesting of types.
    fn is_storable(&mut self, module: &LlvmModule, ty: LlvmType) -> bool {
        if let Some(known) = self.storable[ty.index()] {
            return known;
        }
        let storable = match module.types.kind(ty) {
            LlvmTypeKind::Int(_) => true,
            LlvmTypeKind::Half
            | LlvmTypeKind::BFloat
            | LlvmTypeKind::Float
            | LlvmTypeKind::Double => true,
            LlvmTypeKind::Pointer { .. } | LlvmTypeKind::Target { .. } => true,
            LlvmTypeKind::Vector {
                element,
                scalable: false,
                ..
            } => self.is_storable(module, *element),
            LlvmTypeKind::Array { element, .. } => self.is_storable(module, *element),
            LlvmTypeKind::Struct {
                fields: Some(fields),
                ..
            } => fields.iter().all(|f| self.is_storable(module, *f)),
            _ => false,
        };
        self.storable[ty.index()] = Some(storable);
        storable
    }
}

/// The type that is reached from `source` through `indices`. The first index steps over whole
/// values of `source`.
pub(crate) fn element_type(
    module: &LlvmModule,
    source: LlvmType,
    indices: impl IntoIterator<Item = LlvmValue>,
) -> Option<LlvmType> {
    let mut ty = source;
    for index in indices.into_iter().skip(1) {
        ty = match module.types.kind(ty) {
            LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. } => *element,
            LlvmTypeKind::Struct { .. } => module.types.element_type(ty, module.as_u64(index)?)?,
            _ => return None,
        };
    }
    Some(ty)
}

/// The type at which a `getelementptr` ends.
pub(crate) fn gep_element(
    module: &LlvmModule,
    function: &LlvmFunction,
    inst: LlvmInst,
) -> Option<LlvmType> {
    let crate::ir::InstructionExtra::SourceType(source) = function.inst(inst).extra else {
        return None;
    };
    element_type(
        module,
        source,
        function.operands(inst).iter().skip(1).copied(),
    )
}
