//! Integers of 8 and 64 bits have the same bits in gangs as in single invocations, in random kernels.

mod common;

use common::{compile_with, run_kernel};
use spirula_cpu::{CpuMode, JitArgument, JitKernel, JitOptions};
use std::fmt::Write;

/// Invocations of a run. Those from [`COUNT`] on do nothing, so that the last gang is not whole.
const ITEMS: u64 = 64;
const COUNT: u64 = 61;

const ROUNDS: u64 = 200;

const DECLARATIONS: &str = r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int8
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%i8 = OpTypeInt 8 0
%i32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%vec = OpTypeVector %i64 3
%true = OpConstantTrue %bool
%false = OpConstantFalse %bool
%c8_0 = OpConstant %i8 0
%c8_1 = OpConstant %i8 1
%c8_2 = OpConstant %i8 200
%c8_7 = OpConstant %i8 7
%c32_0 = OpConstant %i32 77
%c32_1 = OpConstant %i32 1
%c64_0 = OpConstant %i64 0
%c64_1 = OpConstant %i64 1
%c64_2 = OpConstant %i64 0xfffffffffffffff0
%c64_5 = OpConstant %i64 5
%mask = OpConstant %i64 63
%seven = OpConstant %i64 7
%count = OpConstant %i64 61
%p8 = OpTypePointer CrossWorkgroup %i8
%p64 = OpTypePointer CrossWorkgroup %i64
%pvec = OpTypePointer Input %vec
%gid = OpVariable %pvec Input
%fn = OpTypeFunction %void %p8 %p64 %p8 %p64 %i64
%main = OpFunction %void None %fn
%in8 = OpFunctionParameter %p8
%in64 = OpFunctionParameter %p64
%out8 = OpFunctionParameter %p8
%out64 = OpFunctionParameter %p64
%given = OpFunctionParameter %i64
%entry = OpLabel
%g = OpLoad %vec %gid Aligned 32
%i = OpCompositeExtract %i64 %g 0
"#;

/// A kernel that is written, with the names of its values by type.
struct RandomKernel {
    state: u64,
    text: String,
    made: usize,
    bytes: Vec<String>,
    words: Vec<String>,
    longs: Vec<String>,
    bools: Vec<String>,
}

impl RandomKernel {
    fn below(&mut self, count: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % count
    }

    fn pick(&mut self, ty: &str) -> String {
        let count = self.pool(ty).len();
        let n = self.below(count);
        self.pool(ty)[n].clone()
    }

    fn pool(&mut self, ty: &str) -> &mut Vec<String> {
        match ty {
            "i8" => &mut self.bytes,
            "i32" => &mut self.words,
            "i64" => &mut self.longs,
            _ => &mut self.bools,
        }
    }

    /// Defines a value, and returns its name.
    fn define(&mut self, ty: &str, instruction: &str) -> String {
        self.made += 1;
        let name = format!("%v{}", self.made);
        writeln!(self.text, "{name} = {instruction}").unwrap();
        self.pool(ty).push(name.clone());
        name
    }

    fn load(&mut self, ty: &str, index: &str) {
        let bits = &ty[1..];
        self.made += 1;
        let at = format!("%a{}", self.made);
        writeln!(
            self.text,
            "{at} = OpInBoundsPtrAccessChain %p{bits} %in{bits} {index}"
        )
        .unwrap();
        let bytes = if ty == "i8" { 1 } else { 8 };
        self.define(ty, &format!("OpLoad %{ty} {at} Aligned {bytes}"));
    }

    fn store(&mut self, ty: &str, value: &str, index: &str) {
        let bits = &ty[1..];
        self.made += 1;
        let at = format!("%a{}", self.made);
        let bytes = if ty == "i8" { 1 } else { 8 };
        write!(
            self.text,
            "{at} = OpInBoundsPtrAccessChain %p{bits} %out{bits} {index}\nOpStore {at} {value} Aligned {bytes}\n"
        )
        .unwrap();
    }

    fn state_instruction(&mut self) {
        let ty = ["i8", "i64", "i64", "i32"][self.below(4)];
        let (a, b) = (self.pick(ty), self.pick(ty));
        match self.below(8) {
            0 | 1 => {
                let op = [
                    "IAdd",
                    "ISub",
                    "BitwiseAnd",
                    "BitwiseOr",
                    "BitwiseXor",
                    "IMul",
                ][self.below(6)];
                self.define(ty, &format!("Op{op} %{ty} {a} {b}"));
            }
            2 => {
                let op = [
                    "IEqual",
                    "INotEqual",
                    "SLessThan",
                    "ULessThan",
                    "SGreaterThanEqual",
                    "UGreaterThanEqual",
                    "ULessThanEqual",
                    "SGreaterThan",
                ][self.below(8)];
                self.define("bool", &format!("Op{op} %bool {a} {b}"));
            }
            3 => {
                let condition = self.pick("bool");
                self.define(ty, &format!("OpSelect %{ty} {condition} {a} {b}"));
            }
            4 => {
                let from = ["i8", "i32", "i64"][self.below(3)];
                if from != ty {
                    let op = ["UConvert", "SConvert"][self.below(2)];
                    let number = self.pick(from);
                    self.define(ty, &format!("Op{op} %{ty} {number}"));
                }
            }
            5 => {
                let op = [
                    "ShiftLeftLogical",
                    "ShiftRightLogical",
                    "ShiftRightArithmetic",
                ][self.below(3)];
                let amount = ["%c64_1", "%c64_5"][self.below(2)];
                let number = self.pick("i64");
                self.define("i64", &format!("Op{op} %i64 {number} {amount}"));
            }
            6 => {
                let number = self.pick("i64");
                let index = self.define("i64", &format!("OpBitwiseAnd %i64 {number} %mask"));
                let ty = ["i8", "i64"][self.below(2)];
                self.load(ty, &index);
            }
            _ => {
                let op = ["LogicalAnd", "LogicalOr", "LogicalNotEqual"][self.below(3)];
                let (a, b, c) = (self.pick("bool"), self.pick("bool"), self.pick("bool"));
                self.define("bool", &format!("Op{op} %bool {a} {b}"));
                self.define("bool", &format!("OpSelect %bool {c} {a} %false"));
                self.define("bool", &format!("OpSelect %bool {c} %true {b}"));
            }
        }
    }

    /// A branch with a store and values that are joined after it.
    fn state_branch(&mut self, number: usize) {
        let condition = self.pick("bool");
        let before = [self.pick("i8"), self.pick("i64")];
        let known = [&self.bytes, &self.words, &self.longs, &self.bools].map(Vec::len);
        let (from, then, join) = (
            format!("%from{number}"),
            format!("%then{number}"),
            format!("%join{number}"),
        );
        write!(
            self.text,
            "OpBranch {from}\n{from} = OpLabel\nOpSelectionMerge {join} None\nOpBranchConditional {condition} {then} {join}\n{then} = OpLabel\n"
        )
        .unwrap();
        for _ in 0..4 {
            self.state_instruction();
        }
        if self.below(2) == 0 {
            let value = self.pick("i64");
            self.store("i64", &value, &format!("%part{}", 1 + number));
        }
        let after = [self.pick("i8"), self.pick("i64")];
        writeln!(self.text, "OpBranch {join}\n{join} = OpLabel").unwrap();
        for (pool, length) in [
            &mut self.bytes,
            &mut self.words,
            &mut self.longs,
            &mut self.bools,
        ]
        .into_iter()
        .zip(known)
        {
            pool.truncate(length);
        }
        for (n, ty) in ["i8", "i64"].into_iter().enumerate() {
            let (a, b) = (&after[n], &before[n]);
            self.define(ty, &format!("OpPhi %{ty} {a} {then} {b} {from}"));
        }
    }

    /// A loop whose invocations leave it at different times.
    fn state_loop(&mut self) {
        let (byte, long) = (self.pick("i8"), self.pick("i64"));
        let last = self.define("i8", &format!("OpBitwiseAnd %i8 {byte} %c8_7"));
        write!(
            self.text,
            "OpBranch %before\n%before = OpLabel\nOpBranch %loop\n%loop = OpLabel\n\
             %k = OpPhi %i8 %c8_0 %before %k2 %more\n%s8 = OpPhi %i8 {byte} %before %t8 %more\n\
             %s64 = OpPhi %i64 {long} %before %t64 %more\nOpLoopMerge %end %more None\nOpBranch %test\n\
             %test = OpLabel\n%go = OpULessThan %bool %k {last}\nOpBranchConditional %go %more %end\n\
             %more = OpLabel\n%k2 = OpIAdd %i8 %k %c8_1\n%t8 = OpBitwiseXor %i8 %s8 %k2\n\
             %t64 = OpISub %i64 %s64 {long}\nOpBranch %loop\n%end = OpLabel\n"
        )
        .unwrap();
        self.bytes.push("%s8".to_owned());
        self.longs.push("%s64".to_owned());
    }

    /// A load beside the invocation's own number, by an index that is cut and extended. The first invocation has none.
    fn load_before(&mut self) {
        self.text += "%cut = OpUConvert %i32 %i\n%less = OpISub %i32 %cut %c32_1\n\
                      %long = OpSConvert %i64 %less\n%same = OpIAdd %i64 %long %c64_0\n\
                      %again = OpUConvert %i32 %same\n%before_own = OpUConvert %i64 %again\n\
                      %is_later = OpSGreaterThanEqual %bool %i %c64_1\nOpSelectionMerge %last None\n\
                      OpBranchConditional %is_later %later %last\n%later = OpLabel\n";
        self.load("i8", "%before_own");
        let byte = self.bytes.pop().unwrap_or_default();
        self.store("i8", &byte, "%part1");
        self.text += "OpBranch %last\n%last = OpLabel\n";
    }

    /// A kernel that follows from a seed.
    fn write(seed: u64) -> String {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let mut kernel = RandomKernel {
            state: seed,
            text: DECLARATIONS.to_owned(),
            made: 0,
            bytes: names(&["%c8_0", "%c8_1", "%c8_2"]),
            words: names(&["%c32_0"]),
            longs: names(&["%c64_0", "%c64_2", "%given", "%i"]),
            bools: Vec::new(),
        };
        for n in 1..4 {
            let part = n * ITEMS;
            let constant = format!("%part_size{n} = OpConstant %i64 {part}\n%p8 = ");
            kernel.text = kernel.text.replacen("%p8 = ", &constant, 1);
            writeln!(kernel.text, "%part{n} = OpIAdd %i64 %i %part_size{n}").unwrap();
        }
        kernel.text += "%within = OpSLessThan %bool %i %count\nOpSelectionMerge %done None\n\
                        OpBranchConditional %within %work %done\n%work = OpLabel\n";
        kernel.bools.push("%within".to_owned());
        for (op, bound) in [
            ("UGreaterThan", "%c64_5"),
            ("SLessThanEqual", "%given"),
            ("IEqual", "%c64_1"),
            ("INotEqual", "%given"),
        ] {
            kernel.define("bool", &format!("Op{op} %bool %i {bound}"));
            kernel.define("bool", &format!("Op{op} %bool {bound} %i"));
        }
        let other = kernel.define("i64", "OpIMul %i64 %i %seven");
        let other = kernel.define("i64", &format!("OpBitwiseAnd %i64 {other} %mask"));
        for index in ["%i", &other] {
            kernel.load("i8", index);
            kernel.load("i64", index);
        }
        let byte = kernel.bytes[kernel.bytes.len() - 1].clone();
        kernel.define("i32", &format!("OpUConvert %i32 {byte}"));
        for number in 0..2 {
            for _ in 0..8 {
                kernel.state_instruction();
            }
            kernel.state_branch(number);
        }
        kernel.state_loop();
        for _ in 0..6 {
            kernel.state_instruction();
        }
        for part in ["%i", "%part3"] {
            for ty in ["i8", "i64"] {
                let value = kernel.pick(ty);
                kernel.store(ty, &value, part);
            }
        }
        kernel.load_before();
        kernel.text + "OpBranch %done\n%done = OpLabel\nOpReturn\nOpFunctionEnd\n"
    }
}

fn run(kernel: &JitKernel, local: u32) -> Vec<Vec<u64>> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Small numbers are equal to others here and there.
        if state & 3 == 0 { state } else { state >> 58 }
    };
    let mut buffers = [
        (0..ITEMS).map(|_| next()).collect(),
        (0..ITEMS).map(|_| next()).collect(),
        vec![0x55; 4 * ITEMS as usize],
        vec![0x55; 4 * ITEMS as usize],
    ];
    let given = COUNT.to_le_bytes();
    let values = [JitArgument::Bytes(&given)];
    let size = [ITEMS, 1, 1];
    run_kernel(kernel, size, Some([local, 1, 1]), &mut buffers, &values).expect("it runs");
    buffers.into()
}

#[test]
fn random_kernels_agree_with_single_invocations() {
    let mut gangs = 0;
    for seed in 1..=ROUNDS {
        let text = RandomKernel::write(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let [vectors, scalars] = [CpuMode::Gangs, CpuMode::Scalar].map(|mode| {
            let options = JitOptions {
                mode,
                ..JitOptions::default()
            };
            compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}\n{text}", f[0]))
        });
        gangs += u64::from(vectors.runs_gangs());
        for local in [4, 8, 16] {
            assert_eq!(run(&vectors, local), run(&scalars, local), "{text}");
        }
    }
    assert!(gangs > ROUNDS / 2, "{gangs} kernels run as gangs");
}
