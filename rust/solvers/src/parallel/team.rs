//! Helper threads for short pieces of work.
//!
//! A block of instances is solved in a tenth of a millisecond, and the next one waits for it. Waking a sleeping thread takes
//! nearly as long. So helpers spin for a while before they sleep, and the calling thread, which works too, waits only for
//! the helpers that have started.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a helper spins before it sleeps.
const LINGER: Duration = Duration::from_micros(300);

/// Number of checks between two yields to other threads.
const LOOKS: usize = 64;

type Job = &'static (dyn Fn() + Sync);

#[derive(Default)]
struct State {
    job: Option<Job>,
    stop: bool,
    sleeping: usize,
    panic: Option<Box<dyn Any + Send>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// Incremented with every job, and at the end.
    generation: AtomicUsize,
    /// Number of working helpers; increases only under the lock, while there is a job.
    working: AtomicUsize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        self.generation.fetch_add(1, Ordering::Release);
        if state.sleeping > 0 {
            self.wake.notify_all();
        }
    }

    /// Returns when the generation is no longer `seen`.
    fn wait_for_news(&self, seen: usize) {
        let start = Instant::now();
        while start.elapsed() < LINGER {
            for _ in 0..LOOKS {
                if self.generation.load(Ordering::Acquire) != seen {
                    return;
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
        let mut state = self.lock();
        state.sleeping += 1;
        while self.generation.load(Ordering::Acquire) == seen {
            state = self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.sleeping -= 1;
    }

    fn help(&self) {
        let mut seen = 0;
        loop {
            self.wait_for_news(seen);
            let mut state = self.lock();
            if state.stop {
                return;
            }
            seen = self.generation.load(Ordering::Acquire);
            let Some(job) = state.job else {
                continue;
            };
            self.working.fetch_add(1, Ordering::Relaxed);
            drop(state);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
                state = self.lock();
                state.panic = Some(panic);
            }
            self.working.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Withdraws the job when dropped: afterwards no helper starts it, and all that had started have finished.
struct Recall<'a>(&'a Shared);

impl Drop for Recall<'_> {
    fn drop(&mut self) {
        self.0.lock().job = None;
        let mut looks = 0;
        while self.0.working.load(Ordering::Acquire) > 0 {
            looks += 1;
            if looks % LOOKS == 0 {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }
}

/// Helper threads, which end with the team.
pub(crate) struct Team {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
}

impl Team {
    /// A team with `helpers` helpers, or fewer if the system refuses threads.
    pub fn new(helpers: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let helpers = (0..helpers)
            .map_while(|_| {
                let shared = Arc::clone(&shared);
                let builder = std::thread::Builder::new().name("multimargin".into());
                builder.spawn(move || shared.help()).ok()
            })
            .collect();
        Self { shared, helpers }
    }

    /// Number of helpers.
    pub fn len(&self) -> usize {
        self.helpers.len()
    }

    /// Calls `work` on this thread, and on helpers that are ready in time. `work` must take its pieces from a common queue,
    /// as it may not run on some helpers at all.
    pub fn run(&self, work: &(dyn Fn() + Sync)) {
        // SAFETY: Helpers get the reference only while it is the job, and count as working from then until they have
        // left `work`. `Recall` ends the job and waits until none works, before this function returns or unwinds.
        let job: Job = unsafe { std::mem::transmute(work) };
        let recall = Recall(&self.shared);
        self.shared.announce(|state| {
            // Left by a call in which this thread panicked as well.
            state.panic = None;
            state.job = Some(job);
        });
        work();
        drop(recall);
        let panic = self.shared.lock().panic.take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.announce(|state| state.stop = true);
        for helper in self.helpers.drain(..) {
            // A helper passes its panics to the caller, so there is none to report here.
            drop(helper.join());
        }
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Team of {}", self.helpers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once_whoever_does_it() {
        for helpers in [0, 1, 3] {
            let team = Team::new(helpers);
            let rounds = if cfg!(miri) { 40 } else { 2000_usize };
            for round in 0..rounds {
                let (next, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
                team.run(&|| {
                    loop {
                        let item = next.fetch_add(1, Ordering::Relaxed);
                        if item >= round % 7 {
                            break;
                        }
                        total.fetch_add(item + 1, Ordering::Relaxed);
                    }
                });
                let items = round % 7;
                assert_eq!(total.into_inner(), items * (items + 1) / 2);
            }
        }
    }

    #[test]
    fn helpers_that_sleep_wake_up() {
        let team = Team::new(1);
        let caller = std::thread::current().id();
        for _ in 0..3 {
            std::thread::sleep(2 * LINGER);
            let helped = AtomicUsize::new(0);
            team.run(&|| {
                // The caller stays until the helper has arrived.
                if std::thread::current().id() != caller {
                    helped.fetch_add(1, Ordering::Release);
                }
                while helped.load(Ordering::Acquire) == 0 {
                    std::thread::yield_now();
                }
            });
            assert_eq!(helped.into_inner(), 1);
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_lives_on() {
        let team = Team::new(1);
        let caller = std::thread::current().id();
        let caught = AtomicUsize::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            team.run(&|| {
                if std::thread::current().id() != caller {
                    caught.fetch_add(1, Ordering::Release);
                    panic!("in a helper");
                }
                while caught.load(Ordering::Acquire) == 0 {
                    std::thread::yield_now();
                }
            });
        }));
        assert!(panic.is_err());
        let panic = catch_unwind(AssertUnwindSafe(|| {
            team.run(&|| {
                if std::thread::current().id() == caller {
                    panic!("in the caller");
                }
            });
        }));
        assert!(panic.is_err());
        // Both at once: one panic is reported, and none is left for the next call.
        let both = AtomicUsize::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            team.run(&|| {
                both.fetch_add(1, Ordering::AcqRel);
                while both.load(Ordering::Acquire) < 2 {
                    std::thread::yield_now();
                }
                panic!("everywhere");
            });
        }));
        assert!(panic.is_err());
        let done = AtomicUsize::new(0);
        team.run(&|| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert!(done.into_inner() >= 1);
    }
}
