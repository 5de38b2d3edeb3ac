//! Process groups: a worker ends together with the processes that it has started.

use std::process::{Child, Command};

/// Makes a command begin a group.
#[cfg(unix)]
pub fn begin_process_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

/// Ends a child and the group that it begins.
#[cfg(unix)]
pub fn terminate_process_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // The child may have ended by itself.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// Ends the group that this process begins. A group of another process is not ended.
#[cfg(unix)]
pub fn end_own() {
    use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};
    if getpgrp() == getpid() {
        // The call does not return where it succeeds.
        let _ = kill_current_process_group(Signal::KILL);
    }
}

#[cfg(not(unix))]
pub fn begin_process_group(_command: &mut Command) {}

#[cfg(not(unix))]
pub fn terminate_process_group(child: &mut Child) {
    // The child may have ended by itself.
    let _ = child.kill();
}

#[cfg(not(unix))]
pub fn end_own() {}
