//! Operation codes: one number for each operation that the dialects know.
//!
//! The reader looks up the name of an operation once. Everything after it compares numbers, and
//! tables over operations are indexed by them.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

macro_rules! define_opcodes {
    ($($name:ident = $text:literal,)*) => {
        /// An operation of a known dialect. Variants without the name of a dialect are StableHLO's,
        /// but for `Module` and `Func`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum MlirOpcode {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        /// All operations in the order of their numbers.
        const OPCODES: &[MlirOpcode] = &[$(MlirOpcode::$name),*];
        /// Their names with dialect.
        const NAMES: &[&str] = &[$($text),*];
    };
}

define_opcodes! {
    Module = "builtin.module",
    UnrealizedConversionCast = "builtin.unrealized_conversion_cast",
    FuncCall = "func.call",
    Func = "func.func",
    FuncReturn = "func.return",
    Abs = "stablehlo.abs",
    Add = "stablehlo.add",
    AfterAll = "stablehlo.after_all",
    AllGather = "stablehlo.all_gather",
    AllReduce = "stablehlo.all_reduce",
    AllToAll = "stablehlo.all_to_all",
    And = "stablehlo.and",
    AsyncDone = "stablehlo.async_done",
    AsyncStart = "stablehlo.async_start",
    Atan2 = "stablehlo.atan2",
    BatchNormGrad = "stablehlo.batch_norm_grad",
    BatchNormInference = "stablehlo.batch_norm_inference",
    BatchNormTraining = "stablehlo.batch_norm_training",
    BitcastConvert = "stablehlo.bitcast_convert",
    Broadcast = "stablehlo.broadcast",
    BroadcastInDim = "stablehlo.broadcast_in_dim",
    Case = "stablehlo.case",
    Cbrt = "stablehlo.cbrt",
    Ceil = "stablehlo.ceil",
    Cholesky = "stablehlo.cholesky",
    Clamp = "stablehlo.clamp",
    CollectiveBroadcast = "stablehlo.collective_broadcast",
    CollectivePermute = "stablehlo.collective_permute",
    Compare = "stablehlo.compare",
    Complex = "stablehlo.complex",
    Composite = "stablehlo.composite",
    Concatenate = "stablehlo.concatenate",
    Constant = "stablehlo.constant",
    Convert = "stablehlo.convert",
    Convolution = "stablehlo.convolution",
    Cosine = "stablehlo.cosine",
    CountLeadingZeros = "stablehlo.count_leading_zeros",
    CreateToken = "stablehlo.create_token",
    CrossReplicaSum = "stablehlo.cross-replica-sum",
    CustomCall = "stablehlo.custom_call",
    Divide = "stablehlo.divide",
    Dot = "stablehlo.dot",
    DotGeneral = "stablehlo.dot_general",
    DynamicBroadcastInDim = "stablehlo.dynamic_broadcast_in_dim",
    DynamicConv = "stablehlo.dynamic_conv",
    DynamicGather = "stablehlo.dynamic_gather",
    DynamicIota = "stablehlo.dynamic_iota",
    DynamicPad = "stablehlo.dynamic_pad",
    DynamicReshape = "stablehlo.dynamic_reshape",
    DynamicSlice = "stablehlo.dynamic_slice",
    DynamicUpdateSlice = "stablehlo.dynamic_update_slice",
    Einsum = "stablehlo.einsum",
    Exponential = "stablehlo.exponential",
    ExponentialMinusOne = "stablehlo.exponential_minus_one",
    Fft = "stablehlo.fft",
    Floor = "stablehlo.floor",
    Gather = "stablehlo.gather",
    GetDimensionSize = "stablehlo.get_dimension_size",
    GetTupleElement = "stablehlo.get_tuple_element",
    If = "stablehlo.if",
    Imag = "stablehlo.imag",
    Infeed = "stablehlo.infeed",
    Iota = "stablehlo.iota",
    IsFinite = "stablehlo.is_finite",
    Log = "stablehlo.log",
    LogPlusOne = "stablehlo.log_plus_one",
    Logistic = "stablehlo.logistic",
    Map = "stablehlo.map",
    Maximum = "stablehlo.maximum",
    Minimum = "stablehlo.minimum",
    Multiply = "stablehlo.multiply",
    Negate = "stablehlo.negate",
    Not = "stablehlo.not",
    OptimizationBarrier = "stablehlo.optimization_barrier",
    Or = "stablehlo.or",
    Outfeed = "stablehlo.outfeed",
    Pad = "stablehlo.pad",
    PartitionId = "stablehlo.partition_id",
    Popcnt = "stablehlo.popcnt",
    Power = "stablehlo.power",
    Real = "stablehlo.real",
    RealDynamicSlice = "stablehlo.real_dynamic_slice",
    Recv = "stablehlo.recv",
    Reduce = "stablehlo.reduce",
    ReducePrecision = "stablehlo.reduce_precision",
    ReduceScatter = "stablehlo.reduce_scatter",
    ReduceWindow = "stablehlo.reduce_window",
    Remainder = "stablehlo.remainder",
    ReplicaId = "stablehlo.replica_id",
    Reshape = "stablehlo.reshape",
    Return = "stablehlo.return",
    Reverse = "stablehlo.reverse",
    Rng = "stablehlo.rng",
    RngBitGenerator = "stablehlo.rng_bit_generator",
    RoundNearestAfz = "stablehlo.round_nearest_afz",
    RoundNearestEven = "stablehlo.round_nearest_even",
    Rsqrt = "stablehlo.rsqrt",
    Scatter = "stablehlo.scatter",
    Select = "stablehlo.select",
    SelectAndScatter = "stablehlo.select_and_scatter",
    Send = "stablehlo.send",
    SetDimensionSize = "stablehlo.set_dimension_size",
    ShiftLeft = "stablehlo.shift_left",
    ShiftRightArithmetic = "stablehlo.shift_right_arithmetic",
    ShiftRightLogical = "stablehlo.shift_right_logical",
    Sign = "stablehlo.sign",
    Sine = "stablehlo.sine",
    Slice = "stablehlo.slice",
    Sort = "stablehlo.sort",
    Sqrt = "stablehlo.sqrt",
    Subtract = "stablehlo.subtract",
    Tan = "stablehlo.tan",
    Tanh = "stablehlo.tanh",
    TorchIndexSelect = "stablehlo.torch_index_select",
    Transpose = "stablehlo.transpose",
    TriangularSolve = "stablehlo.triangular_solve",
    Tuple = "stablehlo.tuple",
    UnaryEinsum = "stablehlo.unary_einsum",
    UniformDequantize = "stablehlo.uniform_dequantize",
    UniformQuantize = "stablehlo.uniform_quantize",
    While = "stablehlo.while",
    Xor = "stablehlo.xor",
    ChloAcos = "chlo.acos",
    ChloAcosh = "chlo.acosh",
    ChloAsin = "chlo.asin",
    ChloAsinh = "chlo.asinh",
    ChloAtan = "chlo.atan",
    ChloAtanh = "chlo.atanh",
    ChloBesselI1e = "chlo.bessel_i1e",
    ChloBroadcastAdd = "chlo.broadcast_add",
    ChloBroadcastAnd = "chlo.broadcast_and",
    ChloBroadcastAtan2 = "chlo.broadcast_atan2",
    ChloBroadcastCompare = "chlo.broadcast_compare",
    ChloBroadcastComplex = "chlo.broadcast_complex",
    ChloBroadcastDivide = "chlo.broadcast_divide",
    ChloBroadcastMaximum = "chlo.broadcast_maximum",
    ChloBroadcastMinimum = "chlo.broadcast_minimum",
    ChloBroadcastMultiply = "chlo.broadcast_multiply",
    ChloBroadcastNextAfter = "chlo.broadcast_next_after",
    ChloBroadcastOr = "chlo.broadcast_or",
    ChloBroadcastPolygamma = "chlo.broadcast_polygamma",
    ChloBroadcastPower = "chlo.broadcast_power",
    ChloBroadcastRemainder = "chlo.broadcast_remainder",
    ChloBroadcastSelect = "chlo.broadcast_select",
    ChloBroadcastShiftLeft = "chlo.broadcast_shift_left",
    ChloBroadcastShiftRightArithmetic = "chlo.broadcast_shift_right_arithmetic",
    ChloBroadcastShiftRightLogical = "chlo.broadcast_shift_right_logical",
    ChloBroadcastSubtract = "chlo.broadcast_subtract",
    ChloBroadcastXor = "chlo.broadcast_xor",
    ChloBroadcastZeta = "chlo.broadcast_zeta",
    ChloConj = "chlo.conj",
    ChloConstant = "chlo.constant",
    ChloConstantLike = "chlo.constant_like",
    ChloCosh = "chlo.cosh",
    ChloDigamma = "chlo.digamma",
    ChloDynamicReshape = "chlo.dynamic_reshape",
    ChloErf = "chlo.erf",
    ChloErfInv = "chlo.erf_inv",
    ChloErfc = "chlo.erfc",
    ChloIsInf = "chlo.is_inf",
    ChloIsNegInf = "chlo.is_neg_inf",
    ChloIsPosInf = "chlo.is_pos_inf",
    ChloLgamma = "chlo.lgamma",
    ChloMulhi = "chlo.mulhi",
    ChloNextAfter = "chlo.next_after",
    ChloPolygamma = "chlo.polygamma",
    ChloRaggedDot = "chlo.ragged_dot",
    ChloScan = "chlo.scan",
    ChloSinh = "chlo.sinh",
    ChloSquare = "chlo.square",
    ChloTan = "chlo.tan",
    ChloTopK = "chlo.top_k",
    ChloZeta = "chlo.zeta",
    CheckExpectAlmostEq = "check.expect_almost_eq",
    CheckExpectAlmostEqConst = "check.expect_almost_eq_const",
    CheckExpectClose = "check.expect_close",
    CheckExpectEq = "check.expect_eq",
    CheckExpectEqConst = "check.expect_eq_const",
    CheckExpectSerializedEq = "check.expect_serialized_eq",
    SdyManualComputation = "sdy.manual_computation",
    SdyMesh = "sdy.mesh",
    SdyReturn = "sdy.return",
    SdyShardingGroup = "sdy.sharding_group",
    SdyShardingConstraint = "sdy.sharding_constraint",
    InterpreterPrint = "interpreter.print",
    InterpreterProbe = "interpreter.probe",
    InterpreterRunParallel = "interpreter.run_parallel",
}

static BY_NAME: LazyLock<FxHashMap<&'static str, MlirOpcode>> =
    LazyLock::new(|| NAMES.iter().copied().zip(OPCODES.iter().copied()).collect());

impl MlirOpcode {
    /// Number of operations.
    pub const COUNT: usize = OPCODES.len();

    /// The operation of a name with dialect, such as `stablehlo.add`.
    pub fn find(name: &str) -> Option<MlirOpcode> {
        BY_NAME.get(name).copied()
    }

    /// Its name with dialect.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Its name without dialect.
    pub fn mnemonic(self) -> &'static str {
        let name = self.name();
        name.split_once('.').map_or(name, |(_, mnemonic)| mnemonic)
    }
}

/// A table with at most one entry for each operation, indexed by its number.
#[derive(Debug)]
pub(crate) struct OpcodeTable<T>([Option<T>; MlirOpcode::COUNT]);

impl<T: Copy> OpcodeTable<T> {
    /// The table of rows. An operation with two rows is an error of compilation, as tables are
    /// constants.
    pub const fn from_rows(rows: &[(MlirOpcode, T)]) -> Self {
        let mut entries = [None; MlirOpcode::COUNT];
        let mut at = 0;
        while at < rows.len() {
            let (opcode, row) = rows[at];
            assert!(
                entries[opcode as usize].is_none(),
                "an operation has two rows"
            );
            entries[opcode as usize] = Some(row);
            at += 1;
        }
        OpcodeTable(entries)
    }

    /// The entry of an operation.
    pub fn get(&self, opcode: MlirOpcode) -> Option<T> {
        self.0[opcode as usize]
    }
}
