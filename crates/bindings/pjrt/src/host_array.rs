//! Arrays of the host: elements at strides, copied to and from dense rows.

use crate::element::ArrayType;
use crate::error::{PluginError, PluginResult};
use crate::generated::PjrtErrorCode;

/// Zeros in the memory of the host.
///
/// # Errors
/// When there is no memory for them.
pub fn make_zeros(count: u64) -> PluginResult<Vec<u8>> {
    let mut zeros = Vec::new();
    let reserved = usize::try_from(count).ok().and_then(|count| {
        zeros.try_reserve_exact(count).ok()?;
        zeros.resize(count, 0);
        Some(zeros)
    });
    reserved.ok_or_else(|| missing_memory(count))
}

/// The error that the host has no memory for a number of bytes.
pub fn missing_memory(count: u64) -> PluginError {
    let message = format!("the host has no memory for {count} bytes");
    PluginError::new(PjrtErrorCode::RESOURCE_EXHAUSTED, message)
}

/// Whether elements at these strides follow each other as in the memory of the device.
pub fn is_dense(array: &ArrayType, strides: &[i64]) -> bool {
    let dense = array.byte_strides(&array.minor_to_major());
    let mut dimensions = array.sizes.iter().zip(strides.iter().zip(&dense));
    array.sizes.contains(&0)
        || dimensions.all(|(size, (given, dense))| *size == 1 || given == dense)
}

/// Whether elements at these strides are within a given number of bytes.
pub fn is_within(array: &ArrayType, strides: &[i64], bytes: usize) -> bool {
    if array.sizes.contains(&0) {
        return true;
    }
    let dimensions = array.sizes.iter().zip(strides);
    let mut end = Some(array.format.size() as i64);
    for (size, stride) in dimensions.filter(|(size, _)| **size > 1) {
        let reach = stride.checked_mul(*size - 1).filter(|reach| *reach >= 0);
        end = end
            .zip(reach)
            .and_then(|(end, reach)| end.checked_add(reach));
    }
    end.is_some_and(|end| end as u64 <= bytes as u64)
}

/// Calls a function with the offsets in bytes of each run of elements that follow each other in both forms: in the memory of
/// the device, and at the strides.
fn walk_runs(array: &ArrayType, strides: &[i64], mut visit: impl FnMut(usize, isize, usize)) {
    if array.sizes.contains(&0) {
        return;
    }
    let (array, strides) = (array.to_rows(), array.permute(strides));
    let size = array.format.size() as i64;
    let rank = array.sizes.len();
    let is_row_dense = rank > 0 && strides[rank - 1] == size;
    let outer = if is_row_dense { rank - 1 } else { rank };
    let run: i64 = array.sizes[outer..].iter().product::<i64>() * size;
    let mut index = vec![0; outer];
    let (mut dense, mut at) = (0, 0);
    loop {
        visit(dense, at as isize, run as usize);
        dense += run as usize;
        let mut dimension = outer;
        loop {
            if dimension == 0 {
                return;
            }
            dimension -= 1;
            index[dimension] += 1;
            at += strides[dimension];
            if index[dimension] < array.sizes[dimension] {
                break;
            }
            at -= strides[dimension] * array.sizes[dimension];
            index[dimension] = 0;
        }
    }
}

/// Copies elements at strides to the form that they have in the memory of the device.
///
/// # Errors
/// When there is no memory for them.
///
/// # Safety
/// The elements are readable.
pub unsafe fn gather_dense(
    data: *const u8,
    array: &ArrayType,
    strides: &[i64],
) -> PluginResult<Vec<u8>> {
    let mut out = make_zeros(array.byte_count())?;
    walk_runs(array, strides, |dense, at, length| {
        let from = std::slice::from_raw_parts(data.wrapping_offset(at), length);
        out[dense..dense + length].copy_from_slice(from);
    });
    Ok(out)
}

/// Copies elements in the form that they have in the memory of the device to strides.
///
/// # Safety
/// The elements are writable.
pub unsafe fn scatter_dense(rows: &[u8], array: &ArrayType, strides: &[i64], data: *mut u8) {
    walk_runs(array, strides, |dense, at, length| {
        let to = std::slice::from_raw_parts_mut(data.wrapping_offset(at), length);
        to.copy_from_slice(&rows[dense..dense + length]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementFormat;

    #[test]
    fn transposed_arrays_are_copied_both_ways() {
        let format = ElementFormat::from_name("i16").unwrap();
        let array = ArrayType::new(format, vec![2, 3]).unwrap();
        let strides = array.byte_strides(&[0, 1]);
        assert_eq!(strides, [2, 4]);
        assert!(!is_dense(&array, &strides));
        let columns: Vec<u8> = [1i16, 4, 2, 5, 3, 6]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        // SAFETY: the array has as many elements as its type says.
        let rows = unsafe { gather_dense(columns.as_ptr(), &array, &strides) }.unwrap();
        let numbers: Vec<u8> = rows.chunks_exact(2).map(|pair| pair[0]).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
        let mut back = vec![0; columns.len()];
        // SAFETY: as above.
        unsafe { scatter_dense(&rows, &array, &strides, back.as_mut_ptr()) };
        assert_eq!(back, columns);
    }

    #[test]
    fn a_dimension_of_one_element_has_any_stride() {
        let format = ElementFormat::from_name("f32").unwrap();
        let array = ArrayType::new(format, vec![1, 3]).unwrap();
        assert!(is_dense(&array, &[999, 4]));
        assert!(is_within(&array, &[999, 4], 12) && is_within(&array, &[999, 8], 20));
        assert!(!is_within(&array, &[999, 8], 19) && !is_within(&array, &[4, -4], 12));
        assert!(!is_within(&array, &[4, i64::MAX], 12));
        let empty = ArrayType::new(format, vec![0, 3]).unwrap();
        assert!(is_dense(&empty, &[1, 1]));
        // SAFETY: no element is read.
        let rows = unsafe { gather_dense(std::ptr::null(), &empty, &[1, 1]) };
        assert!(rows.unwrap().is_empty());
    }
}
