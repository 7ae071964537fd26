//! Threads that no key waits for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From now on this thread, and those that it starts, give way to the others of the program: on a machine that has nothing else to
/// do they lose nothing by it, and a key is answered as soon as it is pressed. Where the system has no such order of threads,
/// nothing changes.
pub fn give_way() {
    // On Linux a thread has its own priority; elsewhere it would be that of the whole program.
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(Some(rustix::thread::gettid()), BEHIND).ok();
}

/// The niceness, of 19.
#[cfg(target_os = "linux")]
const BEHIND: i32 = 10;

/// Gives keys priority over background work. Thread priorities are not enough: a running thread keeps running for some
/// milliseconds, whichever thread wakes up meanwhile, and on its way to the screen a key wakes five threads, one after
/// the other.
pub struct Precedence {
    origin: Instant,
    /// Microseconds from then on until which others pause; 0: they need not.
    until: AtomicU64,
    lock: Mutex<()>,
    over: Condvar,
}

/// How long others pause at most, whatever happens to the key.
const MOST: Duration = Duration::from_millis(20);

impl Default for Precedence {
    fn default() -> Self {
        let (until, lock, over) = Default::default();
        Self { origin: Instant::now(), until, lock, over }
    }
}

impl Precedence {
    /// Something was pressed.
    pub fn begin(&self) {
        self.until.store(self.now() + MOST.as_micros() as u64, Ordering::Relaxed);
    }

    /// Its result is on the screen.
    pub fn end(&self) {
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.until.store(0, Ordering::Relaxed);
        self.over.notify_all();
    }

    /// Pauses while a key is handled. To be called between two pieces of work, each of much less than a millisecond.
    pub fn stand_aside(&self) {
        if self.until.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(left) =
            self.until.load(Ordering::Relaxed).checked_sub(self.now()).filter(|left| *left > 0)
        {
            let left = Duration::from_micros(left);
            lock = self
                .over
                .wait_timeout(lock, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(lock, _)| lock);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX / 2)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn work_stands_aside_until_the_key_is_answered_and_never_for_long() {
        let precedence = Arc::new(Precedence::default());
        precedence.stand_aside();
        let (done, waits) = channel();
        precedence.begin();
        let other = Arc::clone(&precedence);
        let worker = thread::spawn(move || {
            other.stand_aside();
            done.send(()).unwrap();
        });
        precedence.end();
        waits.recv().unwrap();
        worker.join().unwrap();
        // The end is never signalled.
        let begun = Instant::now();
        precedence.begin();
        precedence.stand_aside();
        assert!(begun.elapsed() >= MOST);
        let begun = precedence.now();
        precedence.stand_aside();
        assert!(precedence.until.load(Ordering::Relaxed) <= begun, "it has run out for all");
    }
}
