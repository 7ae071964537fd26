//! Threads whose work nobody waits for at a key.

/// From now on this thread, and those that it starts, give way to the others of the program: on a machine that has nothing else to
/// do they lose nothing by it, and a key is answered as soon as it is pressed. Where the system has no such order of threads,
/// nothing changes.
pub fn give_way() {
    // A thread of Linux has an order of its own; elsewhere it would be that of the whole program.
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(Some(rustix::thread::gettid()), BEHIND).ok();
}

/// How far behind, of 19.
#[cfg(target_os = "linux")]
const BEHIND: i32 = 10;
