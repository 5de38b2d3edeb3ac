//! The baseline: the benchmark's kernels as plain Rust loops, on one thread and on all threads.
//!
//! The loops are written without a thought for vectors. They stand for what a user would have without Spirula.

use rayon::prelude::*;

/// `y = a * x + y`.
pub fn saxpy(x: &[f32], y: &mut [f32], a: f32, parallel: bool) {
    let rows = |(y, x): (&mut [f32], &[f32])| {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    };
    if parallel {
        y.par_chunks_mut(1 << 14)
            .zip(x.par_chunks(1 << 14))
            .for_each(rows);
    } else {
        rows((y, x));
    }
}

/// `c = a * b` for square matrices of size `n`; rows of `b` are streamed for each row of `a`.
pub fn matmul(a: &[f32], b: &[f32], c: &mut [f32], n: usize, parallel: bool) {
    let row = |(y, c): (usize, &mut [f32])| {
        c.fill(0.0);
        for k in 0..n {
            let factor = a[y * n + k];
            for (c, b) in c.iter_mut().zip(&b[k * n..][..n]) {
                *c += factor * b;
            }
        }
    };
    if parallel {
        c.par_chunks_mut(n).enumerate().for_each(row);
    } else {
        c.chunks_mut(n).enumerate().for_each(row);
    }
}

/// A sum of each 256 elements, in the order of the kernel's reduction tree.
pub fn reduce(input: &[f32], partial: &mut [f32], parallel: bool) {
    let group = |(sum, input): (&mut f32, &[f32])| {
        let mut scratch = [0.0; 256];
        scratch.copy_from_slice(input);
        let mut stride = 128;
        while stride > 0 {
            for l in 0..stride {
                scratch[l] += scratch[l + stride];
            }
            stride /= 2;
        }
        *sum = scratch[0];
    };
    if parallel {
        partial
            .par_iter_mut()
            .zip(input.par_chunks(256))
            .for_each(group);
    } else {
        partial.iter_mut().zip(input.chunks(256)).for_each(group);
    }
}

/// Accelerations of bodies (x, y, z, mass) by direct summation.
pub fn nbody(bodies: &[[f32; 4]], acceleration: &mut [[f32; 4]], parallel: bool) {
    let body = |(me, out): (&[f32; 4], &mut [f32; 4])| {
        let mut sum = [0.0f32; 3];
        for other in bodies {
            let d = [other[0] - me[0], other[1] - me[1], other[2] - me[2]];
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1.0e-3;
            let inverse = 1.0 / r2.sqrt();
            let f = other[3] * inverse * inverse * inverse;
            for (sum, d) in sum.iter_mut().zip(d) {
                *sum += f * d;
            }
        }
        *out = [sum[0], sum[1], sum[2], 0.0];
    };
    if parallel {
        bodies
            .par_iter()
            .zip(acceleration.par_iter_mut())
            .for_each(body);
    } else {
        bodies.iter().zip(acceleration.iter_mut()).for_each(body);
    }
}

/// Iterations until |z| > 2 for each pixel of [-2, 1] x [-1.5, 1.5].
pub fn mandelbrot(rounds: &mut [i32], width: usize, height: usize, most: i32, parallel: bool) {
    let row = |(py, row): (usize, &mut [i32])| {
        let cy = -1.5 + 3.0 * py as f32 / height as f32;
        for (px, out) in row.iter_mut().enumerate() {
            let cx = -2.0 + 3.0 * px as f32 / width as f32;
            let (mut x, mut y, mut i) = (0.0f32, 0.0f32, 0);
            while i < most && x * x + y * y <= 4.0 {
                (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                i += 1;
            }
            *out = i;
        }
    };
    if parallel {
        rounds.par_chunks_mut(width).enumerate().for_each(row);
    } else {
        rounds.chunks_mut(width).enumerate().for_each(row);
    }
}

/// A histogram of the lowest bytes of the values.
pub fn histogram(values: &[u32], counts: &mut [u32], parallel: bool) {
    let count = |values: &[u32]| {
        let mut own = [0; 256];
        for value in values {
            own[(*value & 255) as usize] += 1;
        }
        own
    };
    let add = |mut a: [u32; 256], b: [u32; 256]| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let all = if parallel {
        let parts = values.par_chunks(1 << 16).map(count);
        parts.reduce(|| [0; 256], add)
    } else {
        count(values)
    };
    for (total, own) in counts.iter_mut().zip(all) {
        *total = total.wrapping_add(own);
    }
}

/// A transposed square matrix of size `n`, in blocks that fit a cache.
pub fn transpose(from: &[f32], to: &mut [f32], n: usize, parallel: bool) {
    const SIDE: usize = 16;
    let rows = |(block, rows): (usize, &mut [f32])| {
        for first in (0..n).step_by(SIDE) {
            for (y, row) in rows.chunks_mut(n).enumerate() {
                for (x, out) in row[first..first + SIDE].iter_mut().enumerate() {
                    *out = from[(first + x) * n + block * SIDE + y];
                }
            }
        }
    };
    if parallel {
        to.par_chunks_mut(SIDE * n).enumerate().for_each(rows)
    } else {
        to.chunks_mut(SIDE * n).enumerate().for_each(rows)
    }
}
