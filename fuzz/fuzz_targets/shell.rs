//! Any text as a command line: reading ends in time, and what cannot be read may do anything.

#![no_main]

use std::time::{Duration, Instant};

use rulestep_shell::{Root, read};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let begin = Instant::now();
    let line = read(text, &Root::default());
    let took = begin.elapsed();
    // What is promised for each KB, and time for a machine that does something else.
    let most = Duration::from_millis(5) * (text.len() / 1024 + 1) as u32 + Duration::from_millis(50);
    assert!(took < most, "{took:?} for {} bytes", text.len());
    assert!(line.problem.is_none() || line.calls.iter().any(|call| call.unclear.is_some()));
    for (number, call) in line.calls.iter().enumerate() {
        assert!(call.after.iter().all(|earlier| *earlier < number));
        assert!(!call.to_string().is_empty());
    }
});
