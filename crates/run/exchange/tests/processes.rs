//! Threads that stand for processes exchange messages on the loopback, and without streams as devices of one process do.

use spirula_exchange::frame::{ByteBlock, MessageTag, RunKey};
use spirula_exchange::{
    AwaitedBlock, CollectiveLink, ExchangeError, KeyValueStore, LocalStore, MeshOptions,
    ProcessMesh, SentBlock,
};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const TAG: MessageTag = MessageTag {
    run: RunKey {
        devices: 1,
        number: 1,
    },
    program: 1,
    site: 0,
    group: 0,
    turn: 0,
    step: 0,
};

fn make_options(process: usize, count: usize, seconds: u64) -> MeshOptions {
    MeshOptions {
        process,
        count,
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        timeout: Duration::from_secs(seconds),
        version: "test 1".to_owned(),
        space: "test".to_owned(),
    }
}

/// Runs a function on `count` devices of one process, and returns their results.
fn run_devices<R: Send>(count: usize, run: impl Fn(&ProcessMesh) -> R + Sync) -> Vec<R> {
    let meshes = ProcessMesh::link_threads(count, Duration::from_secs(20));
    thread::scope(|scope| {
        let threads = meshes.iter().map(|mesh| scope.spawn(|| run(mesh)));
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Runs a function in several processes, and on as many devices of one process. Returns the results, which are equal.
fn run_members<R: Send + PartialEq + std::fmt::Debug>(
    count: usize,
    run: impl Fn(&ProcessMesh) -> R + Sync,
) -> Vec<R> {
    let found = run_processes(count, &run);
    assert_eq!(run_devices(count, &run), found);
    found
}

/// Runs a function in several processes, and returns their results.
fn run_processes<R: Send>(count: usize, run: impl Fn(&ProcessMesh) -> R + Sync) -> Vec<R> {
    let store = LocalStore::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|process| {
                let (store, run) = (store.clone(), &run);
                scope.spawn(move || {
                    let options = make_options(process, count, 20);
                    let profile = format!("profile {process}");
                    let (mesh, profiles) =
                        ProcessMesh::establish(&options, &store, &profile).unwrap();
                    assert_eq!(profiles[count - 1], format!("profile {}", count - 1));
                    run(&mesh)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

fn make_block(process: usize, length: usize) -> ByteBlock {
    let bytes = (0..length).map(|at| (at * 7 + process * 31) as u8);
    bytes.collect::<Vec<u8>>().into()
}

#[test]
fn gathers_have_the_blocks_of_all() {
    for count in 2..6 {
        for length in [0, 5, 100_000] {
            let lengths: Vec<usize> = (0..count).map(|process| length + process).collect();
            let processes: Vec<usize> = (0..count).collect();
            let found = run_members(count, |mesh| {
                let link = CollectiveLink::new(mesh, TAG, &processes).unwrap();
                let own = mesh.process();
                link.gather(make_block(own, lengths[own]), &lengths)
                    .unwrap()
            });
            let wanted: Vec<ByteBlock> = (0..count)
                .map(|own| make_block(own, lengths[own]))
                .collect();
            assert!(
                found.iter().all(|blocks| *blocks == wanted),
                "{count}, {length}"
            );
        }
    }
}

#[test]
fn broadcasts_have_the_block_of_the_root() {
    for count in 2..7 {
        for length in [3, 1_000_000] {
            for root in [0, count - 1] {
                let processes: Vec<usize> = (0..count).rev().collect();
                let found = run_members(count, |mesh| {
                    let link = CollectiveLink::new(mesh, TAG, &processes).unwrap();
                    let block = (link.position() == root).then(|| make_block(root, length));
                    link.broadcast(root, block, length).unwrap()
                });
                let wanted = make_block(root, length);
                assert!(
                    found.iter().all(|block| *block == *wanted),
                    "{count}, {root}"
                );
            }
        }
    }
}

#[test]
fn exchanges_transpose_blocks() {
    let processes = [0, 1, 2];
    let found = run_members(3, |mesh| {
        let link = CollectiveLink::new(mesh, TAG, &processes).unwrap();
        let own = mesh.process();
        let parts = (0..3)
            .map(|to| make_block(own * 3 + to, 10 + own))
            .collect();
        link.exchange(parts, &[10, 11, 12]).unwrap()
    });
    for (own, blocks) in found.iter().enumerate() {
        for (from, block) in blocks.iter().enumerate() {
            assert_eq!(*block, make_block(from * 3 + own, 10 + from));
        }
    }
}

#[test]
fn permutations_move_blocks() {
    let processes = [0, 1];
    let found = run_members(2, |mesh| {
        let link = CollectiveLink::new(mesh, TAG, &processes).unwrap();
        let own = mesh.process();
        let content = make_block(own, 9);
        let sent = SentBlock {
            target: 1 - own,
            step: own,
            content: &content,
        };
        let awaited = AwaitedBlock {
            source: 1 - own,
            step: 1 - own,
            length: 9,
        };
        link.permute(&[sent], &[awaited]).unwrap()
    });
    assert_eq!(found[0], [make_block(1, 9)]);
    assert_eq!(found[1], [make_block(0, 9)]);
}

#[test]
fn a_process_that_ends_is_named() {
    let begin = Instant::now();
    let found = run_processes(3, |mesh| {
        if mesh.process() == 2 {
            return None;
        }
        Some(mesh.receive(2, &TAG, 4))
    });
    assert!(begin.elapsed() < Duration::from_secs(10));
    for result in &found[..2] {
        let error = result.clone().unwrap().unwrap_err();
        assert!(
            matches!(error, ExchangeError::Lost { process: 2, .. }),
            "{error}"
        );
        assert!(
            error.to_string().contains("the process has ended"),
            "{error}"
        );
    }
}

#[test]
fn a_reason_reaches_all_processes() {
    let found = run_members(3, |mesh| {
        if mesh.process() == 1 {
            mesh.abort_run(TAG.run, &[0, 2], "no memory");
            // It stays until the others have read the reason.
            return mesh.receive(0, &TAG, 1).map(|_| ByteBlock::default());
        }
        let received = mesh.receive(1, &TAG, 4);
        if mesh.process() == 0 {
            mesh.send(1, &TAG, &[1]).unwrap();
        }
        received
    });
    for process in [0, 2] {
        let error = found[process].clone().unwrap_err();
        assert_eq!(error.to_string(), "process 1 gave up: no memory");
    }
}

#[test]
fn another_program_is_no_silence() {
    let found = run_processes(2, |mesh| {
        let own = mesh.process();
        let program = own as u64;
        mesh.send(1 - own, &MessageTag { program, ..TAG }, &[1])
            .unwrap();
        let received = mesh.receive(1 - own, &MessageTag { program, ..TAG }, 1);
        // Both have received before one ends.
        let run = RunKey {
            number: 2,
            ..TAG.run
        };
        mesh.send(1 - own, &MessageTag { run, ..TAG }, &[]).unwrap();
        mesh.receive(1 - own, &MessageTag { run, ..TAG }, 0)
            .unwrap();
        received
    });
    for result in found {
        assert!(matches!(result, Err(ExchangeError::Program { .. })));
    }
}

#[test]
fn lengths_are_checked() {
    let found = run_processes(2, |mesh| {
        let own = mesh.process();
        mesh.send(1 - own, &TAG, &[1, 2]).unwrap();
        mesh.receive(1 - own, &TAG, 3)
    });
    for result in found {
        let error = result.unwrap_err();
        assert!(
            matches!(
                error,
                ExchangeError::Length {
                    wanted: 3,
                    found: 2,
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn a_silent_process_is_named_within_the_time() {
    let store = LocalStore::default();
    thread::scope(|scope| {
        let of_other = store.clone();
        let other = scope
            .spawn(move || ProcessMesh::establish(&make_options(1, 2, 20), &of_other, "").unwrap());
        let (mesh, _) = ProcessMesh::establish(&make_options(0, 2, 1), &store, "").unwrap();
        let _other = other.join().unwrap();
        let begin = Instant::now();
        let error = mesh.receive(1, &TAG, 1).unwrap_err();
        assert!(
            matches!(error, ExchangeError::Silent { process: 1, .. }),
            "{error}"
        );
        assert!(begin.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn a_process_that_never_comes_is_named() {
    let store = LocalStore::default();
    let error = ProcessMesh::establish(&make_options(0, 2, 1), &store, "")
        .err()
        .unwrap();
    assert!(
        matches!(error, ExchangeError::Missing { process: 1, .. }),
        "{error}"
    );
}

#[test]
fn another_version_is_named_on_both_sides() {
    let store = LocalStore::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|process| {
                let store = store.clone();
                scope.spawn(move || {
                    let mut options = make_options(process, 2, 5);
                    options.version = format!("test {process}");
                    ProcessMesh::establish(&options, &store, "").err().unwrap()
                })
            })
            .collect();
        for (process, thread) in threads.into_iter().enumerate() {
            let error = thread.join().unwrap();
            let other = 1 - process;
            assert!(matches!(error, ExchangeError::Version { process, .. } if process == other));
        }
    });
}

/// The address that a process has published.
fn find_address(store: &LocalStore, process: usize) -> SocketAddr {
    let record = store
        .get(&format!("test/{process}"), Duration::from_secs(5))
        .unwrap();
    let at = record.find("\"address\":\"").unwrap() + 11;
    let end = at + record[at..].find('"').unwrap();
    record[at..end].parse().unwrap()
}

/// Connections with rubbish, or with nothing, do not keep processes from each other. After that, nothing listens.
#[test]
fn rubbish_does_not_disturb_the_start() {
    let store = LocalStore::default();
    thread::scope(|scope| {
        let of_first = store.clone();
        let first = scope
            .spawn(move || ProcessMesh::establish(&make_options(0, 2, 20), &of_first, "").unwrap());
        let address = find_address(&store, 0);
        assert!(address.ip().is_loopback());
        let _silent = TcpStream::connect(address).unwrap();
        let mut rubbish = TcpStream::connect(address).unwrap();
        rubbish.write_all(&[0xaa; 4096]).unwrap();
        let (second, _) = ProcessMesh::establish(&make_options(1, 2, 20), &store, "").unwrap();
        let (first, _) = first.join().unwrap();
        first.send(1, &TAG, &[42]).unwrap();
        assert_eq!(*second.receive(0, &TAG, 1).unwrap(), [42]);
        assert!(TcpStream::connect(address).is_err());
    });
}

/// The greeting of a process, with the secret that the first one has published.
fn make_greeting(record: &str, process: u32) -> Vec<u8> {
    let at = record.find("\"token\":[").unwrap() + 9;
    let end = at + record[at..].find(']').unwrap();
    let token = record[at..end]
        .split(',')
        .map(|byte| byte.parse::<u8>().unwrap());
    let mut greeting = b"spirula\x01\x01\0\0\0".to_vec();
    greeting.extend(process.to_le_bytes());
    greeting.extend(token);
    greeting.extend(6u32.to_le_bytes());
    greeting.extend(b"test 1");
    greeting
}

/// A process with a right greeting whose messages are rubbish. Before, a stranger with another secret gets no answer.
#[test]
fn rubbish_of_a_process_names_it() {
    let store = LocalStore::default();
    let of_first = store.clone();
    let first = thread::spawn(move || {
        let options = make_options(0, 2, 20);
        ProcessMesh::establish(&options, &of_first, "").unwrap().0
    });
    let address = find_address(&store, 0);
    let record = store.get("test/0", Duration::from_secs(5)).unwrap();
    // The record of the second process is that of the first one.
    store.put("test/1", &record).unwrap();
    let greeting = make_greeting(&record, 1);
    let mut stranger = TcpStream::connect(address).unwrap();
    let mut wrong = greeting.clone();
    wrong[20] ^= 1;
    stranger.write_all(&wrong).unwrap();
    assert_eq!(stranger.read(&mut [0; 64]).unwrap_or(0), 0);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&greeting).unwrap();
    stream.read_exact(&mut vec![0; greeting.len()]).unwrap();
    let first = first.join().unwrap();
    stream.write_all(&[0xff; 500]).unwrap();
    let error = first.receive(1, &TAG, 1).unwrap_err();
    assert!(
        matches!(error, ExchangeError::Malformed { process: 1, .. }),
        "{error}"
    );
}
