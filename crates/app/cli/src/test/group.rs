//! Groups of processes, which end together: a worker with what it has started.

use std::process::{Child, Command};

/// Has a command begin a group.
#[cfg(unix)]
pub fn begin_process_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

/// Ends a child that begins a group, with all of it.
#[cfg(unix)]
pub fn terminate_process_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // It may have ended by itself.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// Ends the group that this process begins; nothing if another began it.
#[cfg(unix)]
pub fn end_own() {
    use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};
    if getpgrp() == getpid() {
        // It does not return where it succeeds.
        let _ = kill_current_process_group(Signal::KILL);
    }
}

#[cfg(not(unix))]
pub fn begin_process_group(_command: &mut Command) {}

#[cfg(not(unix))]
pub fn terminate_process_group(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
}

#[cfg(not(unix))]
pub fn end_own() {}
