//! In-memory matrices: functions that generated code calls for large cooperative matrices.
//!
//! A matrix lies in the workgroup's memory as a whole, row by row, if an invocation would hold more of its components
//! than a value has scalars. Products are computed in blocks of a few rows by two vectors. The sums of a block begin
//! with the summand and stay in vector registers over the reduction.
//!
//! # Unsafe code
//! Only generated code calls these functions. It passes addresses of matrices that it has allocated, or addresses of
//! the program. As for its own loads and stores, the caller of the kernel promises that there is memory. Vector
//! instructions are used only if the processor has them.
#![allow(unsafe_code)]

/// Two sizes in one argument.
pub(crate) const fn pack_sizes(first: u32, second: u32) -> i64 {
    (((first as u64) << 32) | second as u64) as i64
}

fn unpack_sizes(pair: u64) -> [usize; 2] {
    [(pair >> 32) as usize, pair as u32 as usize]
}

/// Reads a matrix whose rows, or columns, lie `stride` bytes apart.
///
/// # Safety
/// Both addresses have memory for such a matrix.
pub(crate) unsafe extern "C" fn load_matrix<T: WidenedElement>(
    to: *mut f32,
    from: *const T,
    stride: u64,
    size: u64,
    by_rows: u64,
) {
    let [rows, columns] = unpack_sizes(size);
    let stride = stride as usize;
    // SAFETY: the caller's promise for each element.
    unsafe {
        if by_rows == 0 {
            return load_transposed(to, from, stride, [rows, columns]);
        }
        for row in 0..rows {
            T::widen_to_f32(to.add(row * columns), from.byte_add(row * stride), columns);
        }
    }
}

/// Rows and columns of blocks that are turned at once, in vector registers.
const BLOCK: usize = 4;

/// Rows of blocks that are turned one after the other: a line of the cache has this number of elements of a column.
const LINE: usize = 16;

/// Reads a matrix that lies column by column.
unsafe fn load_transposed<T: WidenedElement>(
    to: *mut f32,
    from: *const T,
    stride: usize,
    [rows, columns]: [usize; 2],
) {
    for line in (0..rows).step_by(LINE) {
        for column in (0..columns).step_by(BLOCK) {
            for row in (line..rows.min(line + LINE)).step_by(BLOCK) {
                let size = [BLOCK.min(rows - row), BLOCK.min(columns - column)];
                // SAFETY: the caller's promise for each element.
                unsafe {
                    let from = from.byte_add(column * stride).add(row);
                    let to = to.add(row * columns + column);
                    match size {
                        // The compiler knows the sizes of whole blocks.
                        [BLOCK, BLOCK] => turn_block(to, columns, from, stride, [BLOCK; 2]),
                        _ => turn_block(to, columns, from, stride, size),
                    }
                }
            }
        }
    }
}

/// Turns a block of some rows and columns.
#[inline(always)]
unsafe fn turn_block<T: WidenedElement>(
    to: *mut f32,
    columns: usize,
    from: *const T,
    stride: usize,
    [down, across]: [usize; 2],
) {
    let mut block = [[0.0; BLOCK]; BLOCK];
    // SAFETY: the caller's promise for each element.
    unsafe {
        for (at, numbers) in block.iter_mut().enumerate().take(across) {
            T::widen_to_f32(numbers.as_mut_ptr(), from.byte_add(at * stride), down);
        }
        for below in 0..down {
            let row = block.map(|column| column[below]);
            std::ptr::copy_nonoverlapping(row.as_ptr(), to.add(below * columns), across);
        }
    }
}

/// The element type of a matrix in memory.
pub(crate) trait WidenedElement: Copy {
    /// Reads `count` numbers.
    ///
    /// # Safety
    /// Both addresses have memory for them.
    unsafe fn widen_to_f32(to: *mut f32, from: *const Self, count: usize);
}

impl WidenedElement for f32 {
    #[inline(always)]
    unsafe fn widen_to_f32(to: *mut f32, from: *const f32, count: usize) {
        // SAFETY: the caller's promise; bytes, as nothing is said of their alignment.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), count * 4) };
    }
}

/// Numbers of 16 bits.
impl WidenedElement for u16 {
    unsafe fn widen_to_f32(to: *mut f32, from: *const u16, count: usize) {
        // SAFETY: the caller's promise, and the processor has the instructions.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("f16c") {
                return halves::widen_f16_vector(to, from, count);
            }
            widen_each(to, from, count);
        }
    }
}

/// Widens numbers of 16 bits one by one.
unsafe fn widen_each(to: *mut f32, from: *const u16, count: usize) {
    for at in 0..count {
        // SAFETY: the caller's promise.
        unsafe {
            to.add(at)
                .write(f32_from_f16(from.add(at).read_unaligned()))
        };
    }
}

fn f32_from_f16(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let rest = u32::from(bits & 0x7fff);
    match rest {
        // Subnormal ones are multiples of 2^-24.
        0..0x400 => f32::from_bits(sign | (rest as f32 / 16_777_216.0).to_bits()),
        0x400..0x7c00 => f32::from_bits(sign | ((rest << 13) + (112 << 23))),
        _ => f32::from_bits(sign | (255 << 23) | ((rest & 0x3ff) << 13)),
    }
}

#[cfg(target_arch = "x86_64")]
mod halves {
    use std::arch::x86_64::{_mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};

    /// Widens eight numbers at once.
    #[target_feature(enable = "avx,f16c")]
    pub unsafe fn widen_f16_vector(to: *mut f32, from: *const u16, count: usize) {
        let whole = count / 8 * 8;
        // SAFETY: the caller's promise for each number.
        unsafe {
            for at in (0..whole).step_by(8) {
                let eight = _mm_loadu_si128(from.add(at).cast());
                _mm256_storeu_ps(to.add(at), _mm256_cvtph_ps(eight));
            }
            super::widen_each(to.add(whole), from.add(whole), count - whole);
        }
    }
}

/// Writes a matrix likewise.
///
/// # Safety
/// As for [`load_matrix`].
pub(crate) unsafe extern "C" fn store_matrix(
    to: *mut f32,
    from: *const f32,
    stride: u64,
    size: u64,
    by_rows: u64,
) {
    let [rows, columns] = unpack_sizes(size);
    let stride = stride as usize;
    // SAFETY: the caller's promise for each element.
    unsafe {
        for row in 0..rows {
            let from = from.add(row * columns);
            if by_rows != 0 {
                let to = to.byte_add(row * stride).cast::<u8>();
                std::ptr::copy_nonoverlapping(from.cast::<u8>(), to, columns * 4);
                continue;
            }
            for column in 0..columns {
                let to = to.byte_add(column * stride).add(row);
                to.write_unaligned(from.add(column).read());
            }
        }
    }
}

/// Sets all elements to one number.
///
/// # Safety
/// There is memory for them.
pub(crate) unsafe extern "C" fn fill_matrix(to: *mut f32, bits: u64, count: u64) {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(to, count as usize) }.fill(f32::from_bits(bits as u32));
}

/// Copies elements.
///
/// # Safety
/// Both addresses have memory for them, and the two do not overlap.
pub(crate) unsafe extern "C" fn copy_matrix(to: *mut f32, from: *const f32, count: u64) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, count as usize) };
}

/// The product of two matrices and a summand; the result may be the summand's memory.
///
/// # Safety
/// There are matrices of `size`, rows and columns of the result, with `depth` columns of the first
/// factor.
pub(crate) unsafe extern "C" fn multiply_matrices(
    to: *mut f32,
    first: *const f32,
    second: *const f32,
    summand: *const f32,
    size: u64,
    depth: u64,
) {
    let [rows, columns] = unpack_sizes(size);
    let product = InMemoryProduct {
        to,
        factors: [first, second],
        summand,
        size: [rows, columns, depth as usize],
    };
    // SAFETY: the caller's promise; the processor has the instructions.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return wide::multiply(&product);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return narrow::multiply(&product);
            }
        }
        product.multiply_portably();
    }
}

/// A product, row by row each.
struct InMemoryProduct {
    to: *mut f32,
    factors: [*const f32; 2],
    summand: *const f32,
    /// Rows, columns, and points of the reduction.
    size: [usize; 3],
}

impl InMemoryProduct {
    unsafe fn multiply_portably(&self) {
        let [rows, columns, depth] = self.size;
        // SAFETY: the caller's promise.
        unsafe {
            std::ptr::copy(self.summand, self.to, rows * columns);
            for row in 0..rows {
                let sums = std::slice::from_raw_parts_mut(self.to.add(row * columns), columns);
                for k in 0..depth {
                    let a = *self.factors[0].add(row * depth + k);
                    let b = std::slice::from_raw_parts(self.factors[1].add(k * columns), columns);
                    for (sum, b) in sums.iter_mut().zip(b) {
                        *sum += a * b;
                    }
                }
            }
        }
    }
}

/// Defines products by vectors of one width, in blocks of at most `ROWS` rows by two vectors.
#[cfg(target_arch = "x86_64")]
macro_rules! vectors {
    ($name:ident, $features:literal, $vector:ident, $mask:ident, $width:literal, [$($rows:literal)*],
     |$count:ident| $mask_of:expr, |$at:ident, $m:ident| $load:expr, |$to:ident, $n:ident, $v:ident| $store:expr,
     $splat:path, $fma:path) => {
        mod $name {
            use super::InMemoryProduct;
            use std::arch::x86_64::*;

            /// Most rows of a block.
            const ROWS: usize = [$($rows),*].len();

            #[target_feature(enable = $features)]
            unsafe fn load($at: *const f32, $m: $mask) -> $vector {
                // SAFETY: the caller's promise for the elements of the mask.
                unsafe { $load }
            }

            #[target_feature(enable = $features)]
            unsafe fn store($to: *mut f32, $n: $mask, $v: $vector) {
                // SAFETY: the caller's promise for the elements of the mask.
                unsafe { $store }
            }

            #[target_feature(enable = $features)]
            fn mask($count: usize) -> $mask {
                $mask_of
            }

            #[target_feature(enable = $features)]
            pub(super) unsafe fn multiply(product: &InMemoryProduct) {
                let [rows, columns, _] = product.size;
                let blocks = rows.div_ceil(ROWS).max(1);
                for column in (0..columns).step_by(2 * $width) {
                    let left = columns - column;
                    let masks = [mask(left), mask(left.saturating_sub($width))];
                    // Blocks of rows are as equal as can be: few rows do not keep the units busy.
                    for block in 0..blocks {
                        let row = rows * block / blocks;
                        let count = rows * (block + 1) / blocks - row;
                        // SAFETY: the caller's promise.
                        unsafe {
                            match count {
                                $($rows => add::<$rows>(product, row, column, masks),)*
                                _ => {}
                            }
                        }
                    }
                }
            }

            #[target_feature(enable = $features)]
            unsafe fn add<const R: usize>(
                product: &InMemoryProduct,
                row: usize,
                column: usize,
                masks: [$mask; 2],
            ) {
                let [_, columns, depth] = product.size;
                // SAFETY: the caller's promise.
                unsafe {
                    let first = product.factors[0].add(row * depth);
                    let second = product.factors[1].add(column);
                    let from = row * columns + column;
                    let mut sums = [[$splat(0.0); 2]; R];
                    for (at, sums) in sums.iter_mut().enumerate() {
                        let from = product.summand.add(from + at * columns);
                        *sums = [load(from, masks[0]), load(from.wrapping_add($width), masks[1])];
                    }
                    for k in 0..depth {
                        let b = second.add(k * columns);
                        let b = [load(b, masks[0]), load(b.wrapping_add($width), masks[1])];
                        for (at, sums) in sums.iter_mut().enumerate() {
                            let a = $splat(*first.add(at * depth + k));
                            *sums = [$fma(a, b[0], sums[0]), $fma(a, b[1], sums[1])];
                        }
                    }
                    for (at, sums) in sums.into_iter().enumerate() {
                        let to = product.to.add(from + at * columns);
                        store(to, masks[0], sums[0]);
                        store(to.wrapping_add($width), masks[1], sums[1]);
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
vectors!(wide, "avx512f", __m512, __mmask16, 16, [1 2 3 4 5 6 7 8 9 10 11 12],
    |count| if count >= 16 { !0 } else { (1 << count) - 1 },
    |at, m| _mm512_maskz_loadu_ps(m, at),
    |to, n, v| _mm512_mask_storeu_ps(to, n, v),
    _mm512_set1_ps, _mm512_fmadd_ps);

#[cfg(target_arch = "x86_64")]
vectors!(narrow, "avx2,fma", __m256, __m256i, 8, [1 2 3 4 5 6],
    |count| {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(count.min(8) as i32), lanes)
    },
    |at, m| _mm256_maskload_ps(at, m),
    |to, n, v| _mm256_maskstore_ps(to, n, v),
    _mm256_set1_ps, _mm256_fmadd_ps);

#[cfg(test)]
mod tests {
    use super::*;

    /// A way to multiply.
    type Way = unsafe fn(&InMemoryProduct);

    fn list_implementations() -> Vec<Way> {
        let mut ways: Vec<Way> = vec![|product| {
            // SAFETY: as asked.
            unsafe { product.multiply_portably() }
        }];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                ways.push(|product| {
                    // SAFETY: the processor has them.
                    unsafe { wide::multiply(product) }
                });
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                ways.push(|product| {
                    // SAFETY: the processor has them.
                    unsafe { narrow::multiply(product) }
                });
            }
        }
        ways
    }

    #[test]
    fn products_of_any_size() {
        let number = |n: usize| (n * 7 % 11) as f32 - 5.0;
        for [rows, columns, depth] in [[1, 1, 1], [13, 40, 5], [49, 24, 9], [7, 33, 64]] {
            let matrix = |count: usize| -> Vec<f32> { (0..count).map(number).collect() };
            let (a, b, c) = (
                matrix(rows * depth),
                matrix(depth * columns),
                matrix(rows * columns),
            );
            for way in list_implementations() {
                // Memory after the result must not change.
                let mut to = vec![0.5; rows * columns + 1];
                let product = InMemoryProduct {
                    to: to.as_mut_ptr(),
                    factors: [a.as_ptr(), b.as_ptr()],
                    summand: c.as_ptr(),
                    size: [rows, columns, depth],
                };
                // SAFETY: the matrices are as large.
                unsafe { way(&product) };
                for (at, got) in to[..rows * columns].iter().enumerate() {
                    let (row, column) = (at / columns, at % columns);
                    let terms = (0..depth).map(|k| a[row * depth + k] * b[k * columns + column]);
                    assert_eq!(
                        *got,
                        c[at] + terms.sum::<f32>(),
                        "{at} of {rows} {columns} {depth}"
                    );
                }
                assert_eq!(to[rows * columns], 0.5);
            }
        }
    }

    #[test]
    fn numbers_of_16_bits_are_widened() {
        let some = [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x0001, 2f32.powi(-24)),
            (0x83ff, -1023.0 * 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
            (0x3c00, 1.0),
            (0xc248, -3.140625),
            (0x7bff, 65504.0),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in some {
            assert_eq!(
                f32_from_f16(bits).to_bits(),
                f32::to_bits(value),
                "{bits:#x}"
            );
        }
        let all: Vec<u16> = (0..=u16::MAX).filter(|b| b & 0x7fff <= 0x7c00).collect();
        let mut found = vec![0.0f32; all.len()];
        // SAFETY: both have this number of elements.
        unsafe { u16::widen_to_f32(found.as_mut_ptr(), all.as_ptr(), all.len()) };
        for (bits, found) in all.iter().zip(found) {
            assert_eq!(found.to_bits(), f32_from_f16(*bits).to_bits(), "{bits:#x}");
        }
        // Three columns that lie eight numbers apart.
        let mut turned = [0.0f32; 9];
        let size = pack_sizes(3, 3) as u64;
        // SAFETY: there are such columns, and room for nine numbers.
        unsafe { load_matrix(turned.as_mut_ptr(), all.as_ptr().add(0x3c02), 16, size, 0) };
        let each = (0..9).map(|n| f32_from_f16(all[0x3c02 + n % 3 * 8 + n / 3]));
        assert!(each.eq(turned));
    }
}
