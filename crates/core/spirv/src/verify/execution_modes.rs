//! Rule 17 for execution modes: which may be combined, and for which execution models.

use super::context::{VerifyContext, VerifyResult, ensure};
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::grammar::enumerants::{
    BuiltIn, Decoration, ExecutionMode as Mode, ExecutionModel as Model,
};
use crate::ir::{InstRef, ModuleSection};
use crate::target::TargetEnvironment;

/// The modes of the entry points of a function.
pub(super) struct DeclaredModes<'m> {
    pub rows: Vec<(u32, Mode, InstRef<'m>)>,
    /// Functions with their modes, to look them up.
    sorted: Vec<(u32, u32)>,
}

impl<'m> DeclaredModes<'m> {
    /// The modes that a module has.
    pub fn from_module(cx: &VerifyContext<'m>) -> Self {
        let all = cx.module.section_insts(ModuleSection::ExecutionModes);
        let rows: Vec<_> = all
            .map(|i| (i.operand_word(0), Mode(i.operand_word(1)), i))
            .collect();
        let mut sorted: Vec<_> = rows.iter().map(|r| (r.0, r.1.0)).collect();
        sorted.sort_unstable();
        DeclaredModes { rows, sorted }
    }

    pub fn has_mode(&self, function: u32, mode: Mode) -> bool {
        self.sorted.binary_search(&(function, mode.0)).is_ok()
    }

    fn count_modes(&self, function: u32, modes: &[Mode]) -> usize {
        modes
            .iter()
            .filter(|m| self.has_mode(function, **m))
            .count()
    }
}

/// Whether a mode may be repeated.
pub(super) fn can_repeat_mode(mode: Mode) -> bool {
    matches!(
        mode,
        Mode::DenormPreserve
            | Mode::DenormFlushToZero
            | Mode::SignedZeroInfNanPreserve
            | Mode::RoundingModeRTE
            | Mode::RoundingModeRTZ
            | Mode::FPFastMathDefault
            | Mode::RoundingModeRTPINTEL
            | Mode::RoundingModeRTNINTEL
            | Mode::FloatingPointModeALTINTEL
            | Mode::FloatingPointModeIEEEINTEL
    )
}

/// How many modes of a list an entry point has.
#[derive(Clone, Copy)]
enum ModeCount {
    Exactly(usize),
    AtMostOne,
}

/// Modes of which entry points of shaders have a certain number.
const NUMBERS: &[(&[Model], ModeCount, &[Mode])] = &[
    (
        &[Model::Fragment],
        ModeCount::Exactly(1),
        &[Mode::OriginUpperLeft, Mode::OriginLowerLeft],
    ),
    (
        &[Model::Fragment],
        ModeCount::AtMostOne,
        &[Mode::DepthGreater, Mode::DepthLess, Mode::DepthUnchanged],
    ),
    (
        &[Model::Fragment],
        ModeCount::AtMostOne,
        &[
            Mode::PixelInterlockOrderedEXT,
            Mode::PixelInterlockUnorderedEXT,
            Mode::SampleInterlockOrderedEXT,
            Mode::SampleInterlockUnorderedEXT,
            Mode::ShadingRateInterlockOrderedEXT,
            Mode::ShadingRateInterlockUnorderedEXT,
        ],
    ),
    (
        TESSELLATION,
        ModeCount::AtMostOne,
        &[
            Mode::SpacingEqual,
            Mode::SpacingFractionalEven,
            Mode::SpacingFractionalOdd,
        ],
    ),
    (
        TESSELLATION,
        ModeCount::AtMostOne,
        &[Mode::Triangles, Mode::Quads, Mode::Isolines],
    ),
    (
        TESSELLATION,
        ModeCount::AtMostOne,
        &[Mode::VertexOrderCw, Mode::VertexOrderCcw],
    ),
    (
        &[Model::Geometry],
        ModeCount::Exactly(1),
        &[
            Mode::InputPoints,
            Mode::InputLines,
            Mode::InputLinesAdjacency,
            Mode::Triangles,
            Mode::InputTrianglesAdjacency,
        ],
    ),
    (
        &[Model::Geometry],
        ModeCount::Exactly(1),
        &[
            Mode::OutputPoints,
            Mode::OutputLineStrip,
            Mode::OutputTriangleStrip,
        ],
    ),
    (
        &[Model::MeshEXT],
        ModeCount::Exactly(1),
        &[
            Mode::OutputPoints,
            Mode::OutputLinesEXT,
            Mode::OutputTrianglesEXT,
        ],
    ),
    (
        &[Model::MeshEXT],
        ModeCount::Exactly(2),
        &[Mode::OutputPrimitivesEXT, Mode::OutputVertices],
    ),
];

const TESSELLATION: &[Model] = &[Model::TessellationControl, Model::TessellationEvaluation];

/// Checks which modes an entry point has beside each other.
pub(super) fn verify_mode_combination(
    cx: &VerifyContext<'_>,
    point: InstRef<'_>,
    modes: &DeclaredModes<'_>,
) -> VerifyResult {
    let (model, id) = (Model(point.operand_word(0)), point.operand_word(1));
    let rows = NUMBERS.iter().filter(|_| cx.is_shader);
    for (_, number, list) in rows.filter(|(models, ..)| models.contains(&model)) {
        let has = modes.count_modes(id, list);
        let names = || {
            let names: Vec<_> = list.iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        match number {
            ModeCount::Exactly(wanted) => ensure(VerifyRule::EntryPoints, has == *wanted, || {
                format!("it does not have {wanted} of the modes {}", names())
            })?,
            ModeCount::AtMostOne => ensure(VerifyRule::EntryPoints, has <= 1, || {
                format!("it has more than one of the modes {}", names())
            })?,
        }
    }
    workgroup_size(cx, id, modes)?;
    if cx.is_vulkan() && model == Model::GLCompute {
        let sized = modes.has_mode(id, Mode::LocalSize)
            || modes.has_mode(id, Mode::LocalSizeId)
            || has_workgroup_size(cx);
        ensure(VerifyRule::EntryPoints, sized, || {
            "it does not say how large a workgroup is: LocalSize, LocalSizeId or WorkgroupSize"
                .to_owned()
        })?;
    }
    Ok(())
}

/// Workgroups have at least one invocation, and derivatives require groups of them. `WorkgroupSize` applies to
/// all entry points.
fn workgroup_size(
    cx: &VerifyContext<'_>,
    function: u32,
    modes: &DeclaredModes<'_>,
) -> VerifyResult {
    let sizes = [Mode::LocalSize, Mode::LocalSizeId];
    let mut rows = modes.rows.iter().filter(|row| row.0 == function);
    let Some((_, mode, inst)) = rows.find(|row| sizes.contains(&row.1)) else {
        return Ok(());
    };
    let words = inst.operands().get(2..).unwrap_or(&[]);
    let size: Option<Vec<u64>> = match mode {
        &Mode::LocalSize => Some(words.iter().map(|word| u64::from(*word)).collect()),
        _ => words.iter().map(|id| cx.constant_value(*id)).collect(),
    };
    let Some([x, y, z]) = size.as_deref().filter(|_| !has_workgroup_size(cx)) else {
        return Ok(());
    };
    ensure(VerifyRule::EntryPoints, x * y * z != 0, || {
        format!("its workgroups of {x} by {y} by {z} have no invocations")
    })?;
    let quads = modes.has_mode(function, Mode::DerivativeGroupQuadsKHR);
    ensure(
        VerifyRule::EntryPoints,
        !quads || x % 2 == 0 && y % 2 == 0,
        || format!("its workgroups of {x} by {y} are not made of quads"),
    )?;
    let lines = modes.has_mode(function, Mode::DerivativeGroupLinearKHR);
    ensure(
        VerifyRule::EntryPoints,
        !lines || x * y * z % 4 == 0,
        || {
            format!(
                "its workgroups of {} invocations are not made of fours",
                x * y * z
            )
        },
    )
}

fn has_workgroup_size(cx: &VerifyContext<'_>) -> bool {
    cx.module
        .section_insts(ModuleSection::Annotations)
        .any(|i| {
            i.op() == Op::Decorate
                && Decoration(i.operand_word(1)) == Decoration::BuiltIn
                && i.operands().get(2) == Some(&BuiltIn::WorkgroupSize.0)
        })
}

/// Modes and the models that take them; others are for all.
const MODES: &[(&[Mode], &[Model])] = &[
    (
        &[
            Mode::Invocations,
            Mode::InputPoints,
            Mode::InputLines,
            Mode::InputLinesAdjacency,
            Mode::InputTrianglesAdjacency,
            Mode::OutputLineStrip,
            Mode::OutputTriangleStrip,
        ],
        &[Model::Geometry],
    ),
    (
        &[Mode::OutputPoints],
        &[Model::Geometry, Model::MeshNV, Model::MeshEXT],
    ),
    (
        &[
            Mode::SpacingEqual,
            Mode::SpacingFractionalEven,
            Mode::SpacingFractionalOdd,
            Mode::VertexOrderCw,
            Mode::VertexOrderCcw,
            Mode::PointMode,
            Mode::Quads,
            Mode::Isolines,
        ],
        &[Model::TessellationControl, Model::TessellationEvaluation],
    ),
    (
        &[Mode::Triangles],
        &[
            Model::Geometry,
            Model::TessellationControl,
            Model::TessellationEvaluation,
        ],
    ),
    (
        &[Mode::OutputVertices],
        &[
            Model::Geometry,
            Model::TessellationControl,
            Model::TessellationEvaluation,
            Model::MeshNV,
            Model::MeshEXT,
        ],
    ),
    (
        &[
            Mode::OutputLinesEXT,
            Mode::OutputTrianglesEXT,
            Mode::OutputPrimitivesEXT,
        ],
        &[Model::MeshEXT, Model::MeshNV],
    ),
    (
        &[Mode::QuadDerivativesKHR],
        &[Model::Fragment, Model::GLCompute],
    ),
    (
        &[
            Mode::PixelCenterInteger,
            Mode::OriginUpperLeft,
            Mode::OriginLowerLeft,
            Mode::EarlyFragmentTests,
            Mode::DepthReplacing,
            Mode::DepthGreater,
            Mode::DepthLess,
            Mode::DepthUnchanged,
            Mode::PixelInterlockOrderedEXT,
            Mode::PixelInterlockUnorderedEXT,
            Mode::SampleInterlockOrderedEXT,
            Mode::SampleInterlockUnorderedEXT,
            Mode::ShadingRateInterlockOrderedEXT,
            Mode::ShadingRateInterlockUnorderedEXT,
            Mode::EarlyAndLateFragmentTestsAMD,
            Mode::RequireFullQuadsKHR,
        ],
        &[Model::Fragment],
    ),
    (
        &[
            Mode::LocalSizeHint,
            Mode::VecTypeHint,
            Mode::ContractionOff,
            Mode::LocalSizeHintId,
        ],
        &[Model::Kernel],
    ),
    (
        &[Mode::LocalSize, Mode::LocalSizeId],
        &[
            Model::Kernel,
            Model::GLCompute,
            Model::TaskNV,
            Model::MeshNV,
            Model::TaskEXT,
            Model::MeshEXT,
        ],
    ),
];

/// Checks a mode against the models of its function's entry points.
pub(super) fn verify_mode_models(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    mode: Mode,
    models: &[Model],
) -> VerifyResult {
    ensure(VerifyRule::EntryPoints, !models.is_empty(), || {
        format!(
            "%{} is the function of no entry point",
            inst.operand_word(0)
        )
    })?;
    let of_ids = matches!(
        mode,
        Mode::SubgroupsPerWorkgroupId
            | Mode::LocalSizeHintId
            | Mode::LocalSizeId
            | Mode::FPFastMathDefault
            | Mode::MaximumRegistersIdINTEL
            | Mode::IsApiEntryAMDX
            | Mode::MaxNodeRecursionAMDX
            | Mode::StaticNumWorkgroupsAMDX
            | Mode::MaxNumWorkgroupsAMDX
            | Mode::ShaderIndexAMDX
            | Mode::SharesInputWithAMDX
    );
    ensure(
        VerifyRule::EntryPoints,
        of_ids == (inst.op() == Op::ExecutionModeId),
        || format!("the mode {mode} cannot be combined with {}", inst.op()),
    )?;
    if of_ids && mode != Mode::FPFastMathDefault {
        for id in &inst.operands()[2..] {
            ensure(VerifyRule::EntryPoints, cx.is_constant(*id), || {
                format!("%{id} is no constant")
            })?;
        }
    }
    let row = MODES.iter().find(|(modes, _)| modes.contains(&mode));
    if let Some((_, allowed)) = row {
        ensure(
            VerifyRule::EntryPoints,
            models.iter().all(|m| allowed.contains(m)),
            || format!("the mode {mode} is not for its execution model"),
        )?;
    }
    if let TargetEnvironment::Vulkan(..) = cx.options.target.environment {
        ensure(
            VerifyRule::Environment,
            !matches!(mode, Mode::OriginLowerLeft | Mode::PixelCenterInteger),
            || format!("Vulkan has no mode {mode}"),
        )?;
    }
    if mode == Mode::LocalSizeId
        && let TargetEnvironment::Vulkan(major, minor) = cx.options.target.environment
    {
        ensure(VerifyRule::Environment, (major, minor) >= (1, 3), || {
            "LocalSizeId needs Vulkan 1.3".to_owned()
        })?;
    }
    Ok(())
}
