//! Guarded calls on Linux.
//!
//! # Unsafe code
//! - Signal handlers are installed once, and call nothing that is unsafe in a handler. They read and write a cell of
//!   the thread and the interrupted registers.
//! - A guarded call saves the registers that a function must preserve on its stack before it records its stack
//!   pointer. Resuming after the call with that stack pointer restores them all.
//! - A call is only left from within: the cell is set for its duration.
//! - Threads are only sent signals while they are watched, when they exist.
#![allow(unsafe_code)]

use super::TrapReason;
use crate::layout::launch_context::{EntryFn, LaunchContext};
use std::arch::naked_asm;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Condvar, Mutex, Once, OnceLock};
use std::time::Duration;

/// The signal that asks a thread to leave generated code. Others hardly use it, and its default is to be ignored.
const LATE: i32 = libc::SIGURG;
/// Signals of invalid accesses and operations.
const FAULTS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
/// Time between requests to leave.
const AGAIN: Duration = Duration::from_millis(5);
/// An access so near to the stack pointer is one to the stack.
const STACK_PROBE: usize = 1 << 16;
/// Bytes of the stack for handlers, where a thread has none.
const HANDLER_STACK: usize = 1 << 16;

/// The place where a guarded call resumes.
#[repr(C)]
struct TrapLanding {
    /// Stack pointer, and the address after the call.
    stack: usize,
    after: usize,
    trap: Option<TrapReason>,
    /// Address ranges of the generated code.
    code: *const (usize, usize),
    pieces: usize,
}

thread_local! {
    /// The landing of the call in which the thread is.
    static LANDING: Cell<*mut TrapLanding> = const { Cell::new(null_mut()) };
}

/// Calls a function so that it comes back.
///
/// # Safety
/// As the function demands; `code` is where the code lies that may be left at any instruction.
pub(crate) unsafe fn call_guarded(
    entry: EntryFn,
    context: *const LaunchContext,
    [lo, hi, resume]: [u32; 3],
    code: &[(usize, usize)],
) -> Result<u64, TrapReason> {
    install_handlers();
    let mut landing = TrapLanding {
        stack: 0,
        after: 0,
        trap: None,
        code: code.as_ptr(),
        pieces: code.len(),
    };
    let place: *mut TrapLanding = &mut landing;
    let outer = LANDING.replace(place);
    // SAFETY: the caller's promise for the function; the landing lives until `call` returns.
    let result = unsafe { call_with_landing(entry, context, lo, hi, resume, place) };
    LANDING.set(outer);
    // SAFETY: as above; the handler may have written to it.
    match unsafe { std::ptr::read_volatile(&raw const (*place).trap) } {
        None => Ok(result),
        Some(trap) => Err(trap),
    }
}

/// Notes stack pointer and continuation in the landing, and calls the function.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn call_with_landing(
    entry: EntryFn,
    context: *const LaunchContext,
    lo: u32,
    hi: u32,
    resume: u32,
    landing: *mut TrapLanding,
) -> u64 {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov [r9], rsp",
        "lea rax, [rip + 2f]",
        "mov [r9 + 8], rax",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov esi, edx",
        "mov edx, ecx",
        "mov ecx, r8d",
        "call rax",
        "2:",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Notes stack pointer and continuation in the landing, and calls the function.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn call_with_landing(
    entry: EntryFn,
    context: *const LaunchContext,
    lo: u32,
    hi: u32,
    resume: u32,
    landing: *mut TrapLanding,
) -> u64 {
    naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "adr x10, 2f",
        "stp x9, x10, [x5]",
        "mov x9, x0",
        "mov x0, x1",
        "mov w1, w2",
        "mov w2, w3",
        "mov w3, w4",
        "blr x9",
        "2:",
        "ldp d14, d15, [sp, #144]",
        "ldp d12, d13, [sp, #128]",
        "ldp d10, d11, [sp, #112]",
        "ldp d8, d9, [sp, #96]",
        "ldp x27, x28, [sp, #80]",
        "ldp x25, x26, [sp, #64]",
        "ldp x23, x24, [sp, #48]",
        "ldp x21, x22, [sp, #32]",
        "ldp x19, x20, [sp, #16]",
        "ldp x29, x30, [sp], #160",
        "ret",
    )
}

#[cfg(target_arch = "x86_64")]
fn instruction_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(target_arch = "x86_64")]
fn resume_at(context: &mut libc::ucontext_t, landing: &TrapLanding) {
    let registers = &mut context.uc_mcontext.gregs;
    registers[libc::REG_RIP as usize] = landing.after as i64;
    registers[libc::REG_RSP as usize] = landing.stack as i64;
    // Functions are called with the direction flag clear.
    registers[libc::REG_EFL as usize] &= !(1 << 10);
}

#[cfg(target_arch = "aarch64")]
fn instruction_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}

#[cfg(target_arch = "aarch64")]
fn stack_pointer(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}

#[cfg(target_arch = "aarch64")]
fn resume_at(context: &mut libc::ucontext_t, landing: &TrapLanding) {
    context.uc_mcontext.pc = landing.after as u64;
    context.uc_mcontext.sp = landing.stack as u64;
}

/// Handlers that there were before ours, by the order of [`FAULTS`], then of [`LATE`].
static BEFORE: OnceLock<[libc::sigaction; 5]> = OnceLock::new();

/// Installs the handlers once, and a stack for them once a thread.
fn install_handlers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let handler = on_signal as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
        let all = FAULTS.into_iter().chain([LATE]);
        let mut before = [const { MaybeUninit::<libc::sigaction>::zeroed() }; 5];
        // SAFETY: zeros are a valid handler; the calls read and write the given structures.
        let known = before.each_mut().map(|b| unsafe { b.assume_init_mut() });
        for (signal, before) in all.clone().zip(known) {
            // SAFETY: as above.
            unsafe { libc::sigaction(signal, null(), before) };
        }
        // SAFETY: zeros are a handler.
        let before = before.map(|b| unsafe { b.assume_init() });
        let _ = BEFORE.set(before);
        for signal in all {
            // SAFETY: the handler has the signature that the flags promise.
            unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(signal, &action, null_mut());
            }
        }
    });
    thread_local! {
        static STACK: Cell<bool> = const { Cell::new(false) };
    }
    if !STACK.replace(true) {
        install_signal_stack();
    }
}

/// Installs a signal stack for the thread, unless it has one: that of Rust's own handler serves as well. It is never
/// freed, as the end of the thread is not known.
fn install_signal_stack() {
    // SAFETY: the stack that is given lives for ever.
    unsafe {
        let mut stack: libc::stack_t = MaybeUninit::zeroed().assume_init();
        libc::sigaltstack(null(), &mut stack);
        if stack.ss_flags & libc::SS_DISABLE != 0 {
            let room = Box::leak(vec![0u8; HANDLER_STACK].into_boxed_slice());
            stack.ss_sp = room.as_mut_ptr().cast();
            stack.ss_size = HANDLER_STACK;
            stack.ss_flags = 0;
            libc::sigaltstack(&stack, null_mut());
        }
    }
}

extern "C" fn on_signal(signal: i32, details: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let place = LANDING.get();
    // SAFETY: the landing lives as long as the cell names it; the system passes valid pointers.
    unsafe {
        if let Some(landing) = place.as_mut() {
            let context = &mut *context.cast::<libc::ucontext_t>();
            let trap = match signal {
                LATE => is_code(landing, instruction_pointer(context)).then_some(TrapReason::Late),
                libc::SIGSEGV | libc::SIGBUS => {
                    let address = (*details).si_addr() as usize;
                    Some(if address.abs_diff(stack_pointer(context)) < STACK_PROBE {
                        TrapReason::Stack
                    } else {
                        TrapReason::Access(address as u64)
                    })
                }
                other => Some(TrapReason::Signal(other)),
            };
            if trap.is_some() {
                std::ptr::write_volatile(&raw mut landing.trap, trap);
                resume_at(context, landing);
            }
            return;
        }
        pass_on(signal, details, context);
    }
}

/// Whether an address is one of generated code, which can be left at any time.
unsafe fn is_code(landing: &TrapLanding, at: usize) -> bool {
    // SAFETY: the pieces outlive the call.
    let pieces = unsafe { std::slice::from_raw_parts(landing.code, landing.pieces) };
    pieces
        .iter()
        .any(|(start, end)| (*start..*end).contains(&at))
}

/// Calls the handler that was installed before.
unsafe fn pass_on(signal: i32, details: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let at = FAULTS.iter().position(|s| *s == signal).unwrap_or(4);
    let Some(before) = BEFORE.get().map(|b| b[at]) else {
        return;
    };
    match before.sa_sigaction {
        libc::SIG_IGN => {}
        libc::SIG_DFL if signal == LATE => {}
        libc::SIG_DFL => {
            // Happens again, and then ends the process as it would have.
            // SAFETY: this is how it was.
            unsafe { libc::sigaction(signal, &before, null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: the flags say that it is such a handler.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, details, context);
        }
        handler => {
            // SAFETY: the flags say that it is such a handler.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(i32)>(handler) };
            handler(signal);
        }
    }
}

/// The state that a watchdog shares with its thread.
#[derive(Default)]
struct WatchdogState {
    threads: Vec<libc::pthread_t>,
    late: bool,
    over: bool,
}

/// Ends the calls of some threads when their time is up. Without a limit it costs nothing: small launches are many.
pub(crate) struct CallWatchdog(Option<WatchdogThread>);

/// The thread of a watchdog.
struct WatchdogThread {
    state: Arc<(Mutex<WatchdogState>, Condvar)>,
    handle: Option<std::thread::JoinHandle<()>>,
}

impl CallWatchdog {
    /// Begins to count the time, if there is a limit.
    pub fn start_with_limit(limit: Option<Duration>) -> CallWatchdog {
        CallWatchdog(limit.map(WatchdogThread::start))
    }

    /// The calling thread is watched from now on.
    pub fn watch_current_thread(&self) {
        if let Some(watch) = &self.0
            && let Ok(mut state) = watch.state.0.lock()
        {
            // SAFETY: it has no preconditions.
            state.threads.push(unsafe { libc::pthread_self() });
        }
    }

    /// Stops watching the current thread.
    pub fn unwatch_current_thread(&self) {
        if let Some(watch) = &self.0
            && let Ok(mut state) = watch.state.0.lock()
        {
            // SAFETY: it has no preconditions.
            let own = unsafe { libc::pthread_self() };
            state.threads.retain(|t| *t != own);
        }
    }

    /// Whether the time is up.
    pub fn is_late(&self) -> bool {
        let state = self.0.as_ref().map(|watch| watch.state.0.lock());
        state.is_some_and(|state| state.is_ok_and(|s| s.late))
    }
}

impl WatchdogThread {
    fn start(limit: Duration) -> WatchdogThread {
        let state = Arc::new((Mutex::new(WatchdogState::default()), Condvar::new()));
        let shared = Arc::clone(&state);
        let watch = move || watch_threads(&shared.0, &shared.1, limit);
        let handle = Some(std::thread::spawn(watch));
        WatchdogThread { state, handle }
    }
}

impl Drop for WatchdogThread {
    fn drop(&mut self) {
        if let Ok(mut state) = self.state.0.lock() {
            state.over = true;
        }
        self.state.1.notify_all();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

/// Waits until the time is up or the watch is over. Then signals the threads until all have left.
fn watch_threads(state: &Mutex<WatchdogState>, changed: &Condvar, limit: Duration) {
    let Ok(state) = state.lock() else { return };
    let waited = changed.wait_timeout_while(state, limit, |s| !s.over);
    let Ok((mut state, _)) = waited else { return };
    state.late = !state.over;
    while !state.over {
        for thread in &state.threads {
            // SAFETY: threads that have joined exist until they leave, which takes the lock.
            unsafe { libc::pthread_kill(*thread, LATE) };
        }
        let Ok((next, _)) = changed.wait_timeout_while(state, AGAIN, |s| !s.over) else {
            return;
        };
        state = next;
    }
}
