//! Launch crew: the threads that help with launches, shared by all devices of the process.
//!
//! A launch offers seats, and threads of the crew take them. The thread that launches works itself, and never waits for a
//! thread to wake up: at the end it withdraws the seats that nobody has taken, and waits for those who work only. A launch
//! that is over before others are awake costs no more than the call that wakes them.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Longest time that a thread polls for something before it sleeps.
const MOST_POLLING: Duration = Duration::from_micros(20);

/// Pauses between two looks at the clock.
const PAUSES: usize = 16;

/// Most threads that one thread wakes. Those wake others, so that many are awake soon.
const MOST_WAKES: usize = 2;

/// The function that all threads of a launch call.
type SharedWork<'a> = dyn Fn() + Sync + 'a;

static CREW: LaunchCrew = LaunchCrew {
    state: Mutex::new(CrewState {
        offers: VecDeque::new(),
        threads: 0,
        busy: 0,
        polling: 0,
        sleeping: 0,
    }),
    changed: Condvar::new(),
    open_offers: AtomicUsize::new(0),
};

/// Number of processors of this process.
pub(super) fn count_processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Calls `lead` on this thread, with a function that invites a number of others. These call `work` once each, if they come
/// before `lead` has ended. Returns when all calls have ended.
///
/// A panic of any call is one of this function.
pub(super) fn share_work(work: &SharedWork<'_>, lead: impl FnOnce(&dyn Fn(usize))) {
    let offer = Arc::new(WorkOffer::new(work));
    let guard = OfferGuard(&offer);
    lead(&|seats| CREW.open_seats(&offer, seats));
    drop(guard);
    if let Some(panic) = lock(&offer.panic).take() {
        resume_unwind(panic);
    }
}

/// The threads, and the offers that have seats.
struct LaunchCrew {
    state: Mutex<CrewState>,
    changed: Condvar,
    /// Number of offers that have seats, for threads that poll.
    open_offers: AtomicUsize,
}

struct CrewState {
    offers: VecDeque<OpenOffer>,
    threads: usize,
    /// Threads that call a function.
    busy: usize,
    /// Threads that look for a seat without being asked.
    polling: usize,
    sleeping: usize,
}

/// An offer with seats that are free.
struct OpenOffer {
    offer: Arc<WorkOffer>,
    seats: usize,
}

/// Work that threads may join.
struct WorkOffer {
    /// It lives until no thread works and the offer has been withdrawn.
    work: *const SharedWork<'static>,
    made: Instant,
    /// Threads that are at work.
    working: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    caller: Thread,
}

// SAFETY: the pointer is used while the function lives, which threads may call at the same time.
#[allow(unsafe_code)]
unsafe impl Send for WorkOffer {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for WorkOffer {}

impl WorkOffer {
    fn new(work: &SharedWork<'_>) -> WorkOffer {
        // SAFETY: the guard in `share_work` lets the function live until the last call of it has ended.
        #[allow(unsafe_code)]
        let work = unsafe { std::mem::transmute::<&SharedWork<'_>, &SharedWork<'static>>(work) };
        WorkOffer {
            work,
            made: Instant::now(),
            working: AtomicUsize::new(0),
            panic: Mutex::new(None),
            caller: std::thread::current(),
        }
    }

    /// Calls the function on a thread that has taken a seat.
    fn run_seat(&self) {
        // SAFETY: the seat was taken before the offer was withdrawn, and the caller waits until `working` is zero.
        #[allow(unsafe_code)]
        let work = unsafe { &*self.work };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            lock(&self.panic).get_or_insert(panic);
        }
        if self.working.fetch_sub(1, Ordering::Release) == 1 {
            self.caller.unpark();
        }
    }

    /// Waits until no thread works.
    fn wait_for_seats(&self) {
        let is_over = || self.working.load(Ordering::Acquire) == 0;
        if poll_until(is_over) {
            return;
        }
        while !is_over() {
            std::thread::park();
        }
    }
}

/// Withdraws an offer at the end of its scope, and waits for the threads that work.
struct OfferGuard<'a>(&'a Arc<WorkOffer>);

impl Drop for OfferGuard<'_> {
    fn drop(&mut self) {
        CREW.close_seats(self.0);
        self.0.wait_for_seats();
    }
}

impl LaunchCrew {
    /// Lets a number of threads join.
    fn open_seats(&'static self, offer: &Arc<WorkOffer>, seats: usize) {
        if seats == 0 {
            return;
        }
        let mut state = lock(&self.state);
        state.offers.push_back(OpenOffer {
            offer: Arc::clone(offer),
            seats,
        });
        self.open_offers
            .store(state.offers.len(), Ordering::Relaxed);
        self.add_threads(&mut state);
        self.wake_threads(state);
    }

    /// Lets no more threads join.
    fn close_seats(&self, offer: &Arc<WorkOffer>) {
        let mut state = lock(&self.state);
        state.offers.retain(|open| !Arc::ptr_eq(&open.offer, offer));
        self.open_offers
            .store(state.offers.len(), Ordering::Relaxed);
    }

    /// Starts threads for all seats, at most one for each processor. If the system refuses one, others do its work.
    fn add_threads(&'static self, state: &mut CrewState) {
        let seats: usize = state.offers.iter().map(|open| open.seats).sum();
        let wanted = (state.busy + seats).min(count_processors());
        while state.threads < wanted {
            let thread = std::thread::Builder::new().name("spirula-launch".to_owned());
            if thread.spawn(|| self.run_thread()).is_err() {
                return;
            }
            state.threads += 1;
        }
    }

    /// Wakes threads for seats that are free.
    fn wake_threads(&self, state: MutexGuard<'_, CrewState>) {
        let seats: usize = state.offers.iter().map(|open| open.seats).sum();
        let missing = seats.saturating_sub(state.polling);
        let wakes = missing.min(state.sleeping).min(MOST_WAKES);
        drop(state);
        for _ in 0..wakes {
            self.changed.notify_one();
        }
    }

    /// Takes seats for ever. A thread polls for the next one if it came soon the last time.
    fn run_thread(&self) {
        let mut idle_since = Instant::now();
        loop {
            let offer = self.take_seat();
            let waited = offer.made.saturating_duration_since(idle_since);
            offer.run_seat();
            let polls = waited <= MOST_POLLING;
            let mut state = lock(&self.state);
            state.busy -= 1;
            state.polling += usize::from(polls);
            drop(state);
            idle_since = Instant::now();
            if polls {
                poll_until(|| self.open_offers.load(Ordering::Relaxed) > 0);
                lock(&self.state).polling -= 1;
            }
        }
    }

    /// Takes a seat of the first offer. Sleeps until there is one.
    fn take_seat(&self) -> Arc<WorkOffer> {
        let mut state = lock(&self.state);
        loop {
            let Some(open) = state.offers.front_mut() else {
                state.sleeping += 1;
                let woken = self.changed.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                state.sleeping -= 1;
                continue;
            };
            let offer = Arc::clone(&open.offer);
            offer.working.fetch_add(1, Ordering::Relaxed);
            open.seats -= 1;
            if open.seats == 0 {
                state.offers.pop_front();
                self.open_offers
                    .store(state.offers.len(), Ordering::Relaxed);
            }
            state.busy += 1;
            self.wake_threads(state);
            return offer;
        }
    }
}

/// Polls for a condition, as long as that is better than sleep. Returns whether it holds.
fn poll_until(holds: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..PAUSES {
            if holds() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() > MOST_POLLING {
            return holds();
        }
    }
}

/// Locks state that is consistent whenever it is unlocked, also by a panic.
fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time after which a test gives up.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Waits until a counter has a value. Returns whether it came to that.
    fn wait_for_count(counter: &AtomicUsize, value: usize) -> bool {
        let start = Instant::now();
        while counter.load(Ordering::SeqCst) != value {
            if start.elapsed() > PATIENCE {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    #[test]
    fn threads_that_are_invited_join() {
        let joined = AtomicUsize::new(0);
        let work = || {
            joined.fetch_add(1, Ordering::SeqCst);
        };
        for _ in 0..100 {
            joined.store(0, Ordering::SeqCst);
            share_work(&work, |invite| {
                invite(1);
                assert!(wait_for_count(&joined, 1));
            });
        }
    }

    #[test]
    fn calls_end_before_the_function_returns() {
        for _ in 0..1000 {
            let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = || {
                begun.fetch_add(1, Ordering::SeqCst);
                std::thread::yield_now();
                ended.fetch_add(1, Ordering::SeqCst);
            };
            share_work(&work, |invite| invite(3));
            let begun = begun.into_inner();
            assert!(begun <= 3);
            assert_eq!(ended.into_inner(), begun);
        }
    }

    #[test]
    fn seats_of_several_callers_are_their_own() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let left = AtomicUsize::new(50);
                        let done = AtomicUsize::new(0);
                        let take = |n: usize| n.checked_sub(1);
                        let order = Ordering::SeqCst;
                        let work = || {
                            while left.fetch_update(order, order, take).is_ok() {
                                done.fetch_add(1, order);
                            }
                        };
                        share_work(&work, |invite| {
                            invite(2);
                            work();
                        });
                        assert_eq!(done.into_inner(), 50);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_of_a_thread_is_one_of_the_call() {
        let joined = AtomicUsize::new(0);
        let work = || {
            joined.fetch_add(1, Ordering::SeqCst);
            panic!("the work of a test");
        };
        let call = || {
            share_work(&work, |invite| {
                invite(1);
                assert!(wait_for_count(&joined, 1));
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("the panic is passed on");
        assert_eq!(panic.downcast_ref(), Some(&"the work of a test"));
        threads_that_are_invited_join();
    }
}
