//! Functions of workgroups and sub-groups on each device, compared with their definitions.

use crate::buffer_boxes::random_bytes;
use crate::caller::{OwnedHandle, ask_text};
use crate::program_sources::{load, open_all};
use crate::session::{TestSession, build, create_kernel, launch, set_object};
use opencl_sys::*;

/// Sizes of workgroups, some of which no size of sub-groups divides.
const GROUPS: &[[usize; 3]] = &[[64, 1, 1], [20, 1, 1], [7, 3, 2], [1, 1, 1]];

/// Workgroups of a launch.
const COUNT: usize = 3;

/// The results of an invocation: its place, and what its kernel computes.
type Row = Vec<i32>;

/// Runs a kernel of workgroups of a size on random numbers below 1000; returns the rows of each workgroup with their numbers.
fn run_groups(
    session: &TestSession,
    program: &OwnedHandle,
    name: &str,
    local: [usize; 3],
    width: usize,
) -> Vec<Vec<(i32, Row)>> {
    let kernel = create_kernel(program, name).expect("it is there");
    let size: usize = local.iter().product();
    let values: Vec<i32> = random_bytes(17, 2 * COUNT * size)
        .chunks(2)
        .map(|pair| i32::from(u16::from_le_bytes([pair[0], pair[1]])) % 1000)
        .collect();
    let input = session.filled(&values);
    let output = session.buffer(4 * width * values.len());
    set_object(&kernel, 0, &input);
    set_object(&kernel, 1, &output);
    let global = [local[0] * COUNT, local[1], local[2]];
    let queue = session.queue.raw;
    let launched = launch(queue, kernel.raw, None, &global, Some(&local), &[]);
    assert_eq!(launched, Ok(()), "{name}");
    let rows = session.read::<i32>(&output, width * values.len());
    let pairs = values.iter().copied();
    let pairs: Vec<(i32, Row)> = pairs.zip(rows.chunks(width).map(<[i32]>::to_vec)).collect();
    pairs.chunks(size).map(<[(i32, Row)]>::to_vec).collect()
}

/// The place of an invocation in the buffers: workgroup by workgroup, as the linear id orders them.
const PLACE: &str = "
size_t place(void) {
    return get_group_id(0) * get_local_size(0) * get_local_size(1) * get_local_size(2) + get_local_linear_id();
}";

const WORKGROUPS: &str = "
kernel void reduce(global const int *in, global int *out) {
    int own = in[place()];
    global int *row = out + 10 * place();
    row[0] = work_group_reduce_add(own);
    row[1] = work_group_reduce_min(own);
    row[2] = work_group_reduce_max(own);
    row[3] = work_group_scan_inclusive_add(own);
    row[4] = work_group_scan_exclusive_add(own);
    row[5] = work_group_scan_exclusive_max(own);
    row[6] = work_group_all(own > 20);
    row[7] = work_group_any(own > 990);
    row[8] = work_group_broadcast(own, get_local_size(0) - 1, get_local_size(1) / 2, 0);
    row[9] = (int)work_group_scan_inclusive_add((float)own);
}";

#[test]
fn functions_of_workgroups_have_their_results() {
    for session in open_all() {
        let program = load(&session, &[PLACE, WORKGROUPS]);
        assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
        for local in GROUPS {
            for group in run_groups(&session, &program, "reduce", *local, 10) {
                let values: Vec<i32> = group.iter().map(|(value, _)| *value).collect();
                let chosen = (local[1] / 2) * local[0] + local[0] - 1;
                for (at, (_, row)) in group.iter().enumerate() {
                    let before = &values[..at];
                    let through = &values[..=at];
                    let expected = [
                        values.iter().sum(),
                        *values.iter().min().expect("groups are not empty"),
                        *values.iter().max().expect("groups are not empty"),
                        through.iter().sum(),
                        before.iter().sum(),
                        before.iter().copied().max().unwrap_or(i32::MIN),
                        i32::from(values.iter().all(|value| *value > 20)),
                        i32::from(values.iter().any(|value| *value > 990)),
                        values[chosen],
                        through.iter().sum(),
                    ];
                    assert_eq!(row[..], expected, "{local:?}, invocation {at}");
                }
            }
        }
    }
}

const SUB_GROUPS: &str = "
void tell(global int *row) {
    row[0] = get_sub_group_id();
    row[1] = get_sub_group_local_id();
    row[2] = get_sub_group_size();
    row[3] = get_max_sub_group_size();
    row[4] = get_num_sub_groups();
}
kernel void basic(global const int *in, global int *out) {
    int own = in[place()];
    global int *row = out + 16 * place();
    tell(row);
    row[5] = sub_group_reduce_add(own);
    row[6] = sub_group_reduce_min(own);
    row[7] = sub_group_scan_inclusive_max(own);
    row[8] = sub_group_scan_exclusive_add(own);
    row[9] = sub_group_all(own > 20);
    row[10] = sub_group_any(own > 990);
    row[11] = sub_group_broadcast(own, 0);
    row[12] = (int)sub_group_reduce_max((long)own << 33 >> 31);
    row[13] = (int)sub_group_scan_inclusive_add((float)own);
    row[14] = sub_group_non_uniform_all_equal(own / 1000);
    row[15] = (int)sub_group_reduce_add((long)own);
}
kernel void shuffles(global const int *in, global int *out) {
    int own = in[place()];
    global int *row = out + 16 * place();
    tell(row);
    uint4 odd = sub_group_ballot(own & 1);
    row[5] = sub_group_ballot_bit_count(odd);
    row[6] = sub_group_inverse_ballot(odd);
    row[7] = sub_group_ballot_exclusive_scan(odd);
    row[8] = sub_group_shuffle(own, get_sub_group_size() - 1 - get_sub_group_local_id());
    row[9] = sub_group_shuffle_xor(own, 0);
    row[10] = sub_group_rotate(own, 0);
    row[11] = -1;
    if (own & 1) row[11] = sub_group_non_uniform_reduce_add(own);
    row[12] = sub_group_elect();
    row[13] = sub_group_non_uniform_reduce_logical_or(own > 990);
    row[14] = sub_group_non_uniform_reduce_mul(own & 1 ? 3 : 1);
    row[15] = sub_group_non_uniform_reduce_xor(own);
}";

/// The sub-groups of a workgroup, by lanes.
fn split_group(group: &[(i32, Row)]) -> Vec<Vec<&(i32, Row)>> {
    let count = group[0].1[4] as usize;
    let mut parts = vec![Vec::new(); count];
    for member in group {
        parts[member.1[0] as usize].push(member);
    }
    let most = group[0].1[3] as usize;
    assert_eq!(
        count,
        group.len().div_ceil(most),
        "the number of sub-groups"
    );
    for part in &mut parts {
        part.sort_by_key(|(_, row)| row[1]);
        for (lane, (_, row)) in part.iter().enumerate() {
            assert_eq!(row[1] as usize, lane);
            assert_eq!(row[2] as usize, part.len(), "the size of the sub-group");
            assert_eq!(row[3] as usize, most);
        }
    }
    parts
}

fn has_extension(session: &TestSession, wanted: &str) -> bool {
    let names = ask_text(|size, value, out| {
        let name = CL_DEVICE_EXTENSIONS;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    });
    let names = names.expect("devices tell it");
    names.split(' ').any(|name| name == wanted)
}

/// Sessions of the devices with an extension.
pub fn open_with(extension: &str) -> Vec<TestSession> {
    let mut all = open_all();
    all.retain(|session| {
        let has_it = has_extension(session, extension);
        if !has_it {
            eprintln!("NOT TESTED: a device without {extension}");
        }
        has_it
    });
    all
}

#[test]
fn functions_of_sub_groups_have_their_results() {
    for session in open_with("cl_khr_subgroup_ballot") {
        let program = load(&session, &[PLACE, SUB_GROUPS]);
        assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
        for local in GROUPS {
            for group in run_groups(&session, &program, "basic", *local, 16) {
                split_group(&group)
                    .iter()
                    .for_each(|part| check_basic(part));
            }
            for group in run_groups(&session, &program, "shuffles", *local, 16) {
                split_group(&group)
                    .iter()
                    .for_each(|part| check_shuffles(part));
            }
        }
    }
}

fn check_basic(part: &[&(i32, Row)]) {
    let values: Vec<i32> = part.iter().map(|(value, _)| *value).collect();
    let most = values.iter().max().expect("sub-groups are not empty");
    for (at, (_, row)) in part.iter().enumerate() {
        let sum: i32 = values.iter().sum();
        let through: i32 = values[..=at].iter().sum();
        let expected = [
            sum,
            *values.iter().min().expect("sub-groups are not empty"),
            *values[..=at].iter().max().expect("the own value is there"),
            through - values[at],
            i32::from(values.iter().all(|value| *value > 20)),
            i32::from(values.iter().any(|value| *value > 990)),
            values[0],
            most << 2,
            through,
            1,
            sum,
        ];
        assert_eq!(row[5..], expected, "lane {at} of {}", part.len());
    }
}

fn check_shuffles(part: &[&(i32, Row)]) {
    let values: Vec<i32> = part.iter().map(|(value, _)| *value).collect();
    let odd = |values: &[i32]| values.iter().filter(|value| **value & 1 == 1).count() as i32;
    let odd_sum: i32 = values.iter().filter(|value| **value & 1 == 1).sum();
    for (at, (own, row)) in part.iter().enumerate() {
        let expected = [
            odd(&values),
            own & 1,
            odd(&values[..at]),
            values[values.len() - 1 - at],
            *own,
            *own,
            if own & 1 == 1 { odd_sum } else { -1 },
            i32::from(at == 0),
            i32::from(values.iter().any(|value| *value > 990)),
            3_i32.wrapping_pow(odd(&values) as u32),
            values.iter().fold(0, |all, value| all ^ value),
        ];
        assert_eq!(row[5..], expected, "lane {at} of {}", part.len());
    }
}

const DISTANCES: &str = "
kernel void distances(global const int *in, global int *out) {
    int own = in[place()];
    global int *row = out + 14 * place();
    tell(row);
    row[5] = sub_group_shuffle_up(own, 1);
    row[6] = sub_group_shuffle_down(own, 1);
    row[7] = sub_group_clustered_reduce_add(own, 2);
    row[8] = sub_group_clustered_rotate(own, 1, 2);
    short16 wide = (short16)(own) + (short16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    short16 other = sub_group_broadcast(wide, 1);
    row[9] = other.s0 + 3 * other.sf;
    row[10] = sub_group_scan_inclusive_add((uchar)own);
    row[11] = sub_group_rotate(own, 3);
    uint4 above = get_sub_group_gt_mask();
    row[12] = popcount(above.x) + popcount(above.y);
    row[13] = own;
    uint from = 1 + (in[0] >= 0);
    if (get_sub_group_local_id() >= 2) row[13] = sub_group_non_uniform_broadcast(own, from);
}";

#[test]
fn functions_of_full_sub_groups_have_their_results() {
    for session in open_with("cl_khr_subgroup_clustered_reduce") {
        let program = load(&session, &[PLACE, SUB_GROUPS, DISTANCES]);
        assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
        for group in run_groups(&session, &program, "distances", [128, 1, 1], 14) {
            for part in split_group(&group) {
                let values: Vec<i32> = part.iter().map(|(value, _)| *value).collect();
                let sums = values.iter().scan(0_u8, |sum, value| {
                    *sum = sum.wrapping_add(*value as u8);
                    Some(i32::from(*sum))
                });
                for (at, sum) in sums.enumerate() {
                    let (own, row) = part[at];
                    // Values from beyond the sub-group are undefined.
                    if at > 0 {
                        assert_eq!(row[5], values[at - 1]);
                    }
                    if at + 1 < values.len() {
                        assert_eq!(row[6], values[at + 1]);
                    }
                    let other = values[at ^ 1];
                    let wide = values[1] + 3 * (values[1] + 15);
                    let turned = values[(at + 3) % values.len()];
                    let above = (values.len() - 1 - at) as i32;
                    let spread = if at < 2 { *own } else { values[2] };
                    let expected = [own + other, other, wide, sum, turned, above, spread];
                    assert_eq!(row[7..], expected, "lane {at}");
                }
            }
        }
    }
}
