//! The workloads: eight kernels with their inputs and sizes.

use crate::baseline;

/// Shaders of the workloads, compiled from the sources beside them.
macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(
            "../../../../../benches/kernels/vulkan/",
            $name,
            ".spv"
        ))
    };
}

/// A kernel with its inputs.
pub struct Workload {
    /// Name of the kernel.
    pub name: &'static str,
    /// Description for the report.
    pub size: &'static str,
    /// Contents of the buffers, in the kernel's order.
    pub buffers: Vec<Vec<u8>>,
    /// Scalar arguments after the buffers.
    pub scalars: Vec<[u8; 4]>,
    /// Scalars of the shader's push constants.
    pub push: Vec<[u8; 4]>,
    /// Invocations.
    pub global: [u64; 3],
    /// Workgroup size.
    pub local: [u32; 3],
    /// The same kernel as a Vulkan shader, and its number of workgroups.
    pub shader: (&'static [u8], [u32; 3]),
    /// The buffer with the result, and the tolerance of its floats. Integers may differ in a thousandth of all
    /// elements, where rounding decides.
    pub result: (usize, Option<f32>),
    /// The same loops in Rust: takes buffers, and whether to use all threads.
    pub baseline: fn(&mut [Vec<u8>], bool),
}

/// All workloads.
pub fn all() -> Vec<Workload> {
    vec![
        saxpy(),
        matmul("matmul_naive", "512 x 512 f32", shader!("matmul_naive")),
        matmul(
            "matmul_tiled",
            "512 x 512 f32, tiles of 16 x 16",
            shader!("matmul_tiled"),
        ),
        reduce(),
        nbody(),
        mandelbrot(),
        histogram(),
        transpose(),
    ]
}

fn saxpy() -> Workload {
    let n = 8 << 20;
    Workload {
        name: "saxpy",
        size: "8 Mi f32",
        buffers: vec![noise(n, 1), noise(n, 2)],
        scalars: vec![0.5f32.to_le_bytes()],
        push: vec![0.5f32.to_le_bytes()],
        global: [n as u64, 1, 1],
        local: [256, 1, 1],
        shader: (shader!("saxpy"), [4096, 8, 1]),
        result: (1, Some(1e-5)),
        baseline: |buffers, parallel| {
            let [x, y] = buffers else { unreachable!() };
            baseline::saxpy(floats(x), floats_mut(y), 0.5, parallel);
        },
    }
}

fn matmul(name: &'static str, size: &'static str, shader: &'static [u8]) -> Workload {
    let n = 512;
    Workload {
        name,
        size,
        buffers: vec![noise(n * n, 3), noise(n * n, 4), vec![0; n * n * 4]],
        scalars: vec![(n as i32).to_le_bytes()],
        push: vec![(n as i32).to_le_bytes()],
        global: [n as u64, n as u64, 1],
        local: [16, 16, 1],
        shader: (shader, [32, 32, 1]),
        result: (2, Some(1e-4)),
        baseline: |buffers, parallel| {
            let [a, b, c] = buffers else { unreachable!() };
            baseline::matmul(floats(a), floats(b), floats_mut(c), 512, parallel);
        },
    }
}

fn reduce() -> Workload {
    let n = 8 << 20;
    Workload {
        name: "reduce_tree",
        size: "8 Mi f32, trees of 256",
        buffers: vec![noise(n, 5), vec![0; n / 256 * 4]],
        scalars: vec![],
        push: vec![],
        global: [n as u64, 1, 1],
        local: [256, 1, 1],
        shader: (shader!("reduce_tree"), [4096, 8, 1]),
        result: (1, Some(1e-5)),
        baseline: |buffers, parallel| {
            let [input, partial] = buffers else {
                unreachable!()
            };
            baseline::reduce(floats(input), floats_mut(partial), parallel);
        },
    }
}

fn nbody() -> Workload {
    let n = 4096;
    Workload {
        name: "nbody",
        size: "4096 x 4096",
        buffers: vec![noise(n * 4, 6), vec![0; n * 16]],
        scalars: vec![(n as i32).to_le_bytes()],
        push: vec![(n as i32).to_le_bytes()],
        global: [n as u64, 1, 1],
        local: [64, 1, 1],
        shader: (shader!("nbody"), [64, 1, 1]),
        result: (1, Some(1e-3)),
        baseline: |buffers, parallel| {
            let [bodies, out] = buffers else {
                unreachable!()
            };
            let bodies: &[[f32; 4]] = bytemuck::cast_slice(bodies);
            baseline::nbody(bodies, bytemuck::cast_slice_mut(out), parallel);
        },
    }
}

fn mandelbrot() -> Workload {
    let (side, most) = (1024i32, 256i32);
    let scalars = vec![side.to_le_bytes(), side.to_le_bytes(), most.to_le_bytes()];
    Workload {
        name: "mandelbrot",
        size: "1024 x 1024, 256 rounds",
        buffers: vec![vec![0; (side * side * 4) as usize]],
        push: scalars.clone(),
        scalars,
        global: [1024, 1024, 1],
        local: [16, 16, 1],
        shader: (shader!("mandelbrot"), [64, 64, 1]),
        result: (0, None),
        baseline: |buffers, parallel| {
            let [rounds] = buffers else { unreachable!() };
            baseline::mandelbrot(bytemuck::cast_slice_mut(rounds), 1024, 1024, 256, parallel);
        },
    }
}

fn histogram() -> Workload {
    let n = 8 << 20;
    Workload {
        name: "histogram",
        size: "8 Mi u32, 256 bins",
        // The lowest bits of the mantissa, which are noise.
        buffers: vec![noise(n, 7), vec![0; 256 * 4]],
        scalars: vec![],
        push: vec![],
        global: [n as u64 / 16, 1, 1],
        local: [256, 1, 1],
        shader: (shader!("histogram"), [n as u32 / 4096, 1, 1]),
        result: (1, None),
        baseline: |buffers, parallel| {
            let [values, counts] = buffers else {
                unreachable!()
            };
            let values: &[u32] = bytemuck::cast_slice(values);
            baseline::histogram(values, bytemuck::cast_slice_mut(counts), parallel);
        },
    }
}

fn transpose() -> Workload {
    let n = 2048;
    Workload {
        name: "transpose",
        size: "2048 x 2048 f32, tiles of 16 x 16",
        buffers: vec![noise(n * n, 8), vec![0; n * n * 4]],
        scalars: vec![(n as i32).to_le_bytes()],
        push: vec![(n as i32).to_le_bytes()],
        global: [n as u64, n as u64, 1],
        local: [16, 16, 1],
        shader: (shader!("transpose"), [n as u32 / 16, n as u32 / 16, 1]),
        result: (1, Some(0.0)),
        baseline: |buffers, parallel| {
            let [from, to] = buffers else { unreachable!() };
            baseline::transpose(floats(from), floats_mut(to), 2048, parallel);
        },
    }
}

fn floats(bytes: &[u8]) -> &[f32] {
    bytemuck::cast_slice(bytes)
}

fn floats_mut(bytes: &mut [u8]) -> &mut [f32] {
    bytemuck::cast_slice_mut(bytes)
}

/// Floats in [0, 1) from SplitMix64.
fn noise(n: usize, seed: u64) -> Vec<u8> {
    let value = |i: usize| {
        let mut z = (seed << 32 | i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z >> 40) as f32 / (1 << 24) as f32).to_le_bytes()
    };
    (0..n).flat_map(value).collect()
}

/// Reports where a result differs from the baseline's.
pub fn difference(workload: &Workload, got: &[u8], want: &[u8]) -> Option<String> {
    if let Some(tolerance) = workload.result.1 {
        let pairs = floats(got).iter().zip(floats(want)).enumerate();
        let bad = |(_, (g, w)): &(usize, (&f32, &f32))| {
            (*g - *w).abs() > tolerance * w.abs().max(1.0) || g.is_nan()
        };
        let (at, (g, w)) = pairs.clone().find(bad)?;
        return Some(format!("element {at} is {g}, not {w}"));
    }
    let (got, want): (&[i32], &[i32]) = (bytemuck::cast_slice(got), bytemuck::cast_slice(want));
    let wrong = got.iter().zip(want).filter(|(g, w)| g != w).count();
    (wrong * 1000 > want.len()).then(|| format!("{wrong} of {} elements differ", want.len()))
}
