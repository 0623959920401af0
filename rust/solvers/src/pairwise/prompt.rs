//! A monitor that limits the time of a loop's last certificate: one that takes longer is given up.

use crate::report::{Monitor, Poll, Record};
use std::time::{Duration, Instant};

/// Minimum time allowed for the last certificate; most take far less.
const LEAST: Duration = Duration::from_millis(250);

/// Asks to stop some time after the inner monitor is out of time.
pub(super) struct Prompt<'a> {
    inner: &'a mut dyn Monitor,
    grace: Duration,
    until: Option<Instant>,
}

impl<'a> Prompt<'a> {
    /// Allows the time of an `epoch` once the inner monitor is out of time.
    pub fn when_late(inner: &'a mut dyn Monitor, epoch: Duration) -> Self {
        Self {
            inner,
            grace: epoch.max(LEAST),
            until: None,
        }
    }

    /// Allows the time of an `epoch` from now on.
    pub fn at_once(inner: &'a mut dyn Monitor, epoch: Duration) -> Self {
        Self {
            inner,
            grace: Duration::ZERO,
            until: Instant::now().checked_add(epoch.max(LEAST)),
        }
    }
}

impl Monitor for Prompt<'_> {
    fn poll(&mut self) -> Poll {
        let found = self.inner.poll();
        if self.until.is_none() && matches!(found, Poll::OutOfTime { .. }) {
            self.until = Instant::now().checked_add(self.grace);
        }
        if !found.is_interrupted() && self.until.is_some_and(|until| Instant::now() >= until) {
            return Poll::Interrupted { at_once: false };
        }
        found
    }

    fn epoch(&mut self, record: &Record) {
        self.inner.epoch(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Late;

    impl Monitor for Late {
        fn poll(&mut self) -> Poll {
            Poll::OutOfTime { recorded: true }
        }
        fn epoch(&mut self, _record: &Record) {}
    }

    fn asks_to_stop(mut prompt: Prompt<'_>) -> bool {
        let asked = prompt.poll().is_interrupted();
        std::thread::sleep(LEAST);
        !asked && prompt.poll().is_interrupted()
    }

    #[test]
    fn little_time_is_left_to_a_late_loop_and_none_is_taken_from_others() {
        assert!(asks_to_stop(Prompt::when_late(&mut Late, Duration::ZERO)));
        assert!(asks_to_stop(Prompt::at_once(&mut (), Duration::ZERO)));
        assert!(!asks_to_stop(Prompt::when_late(&mut (), Duration::ZERO)));
        let long = Duration::from_secs(3600);
        assert!(!asks_to_stop(Prompt::when_late(&mut Late, long)));
    }
}
