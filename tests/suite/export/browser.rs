//! The page in a real browser, where there is one.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::HOSTILE;
use crate::cli::{ISSUE_REFUND, folder, rulestep};
use crate::skipped::skipped;

/// Far more than a browser takes to start.
const PATIENCE: Duration = Duration::from_secs(30);
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What would be seen of a script that ran.
const OWNED: &str = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";

fn ended(child: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Ok(Some(status)) = child.try_wait() {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

#[test]
fn a_browser_shows_the_page_and_runs_nothing_of_it() {
    let text = HOSTILE.into_iter().chain([OWNED]).collect::<Vec<_>>().join("\n");
    let arguments = json!({ "order_id": text }).to_string();
    let call = json!({"id": "a", "function": {"name": "issue_refund", "arguments": arguments}});
    let session = json!({"id": OWNED, "messages": [
        {"role": "user", "content": text},
        {"role": "assistant", "content": text, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": text}]});
    let folder = folder(&[("contracts/p.yaml", ISSUE_REFUND), ("s.json", &session.to_string())]);
    let made = rulestep(folder.path(), &["report", "s.json", "-o", "page.html"]).output().unwrap();
    assert_eq!(made.status.code(), Some(1));

    let dom = folder.path().join("dom.html");
    let shown = NAMES.into_iter().find_map(|name| {
        let mut browser = Command::new(name);
        // The page is this program's own, so the browser needs no sandbox, which it has not everywhere.
        browser.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]);
        browser.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        browser.args(["--dump-dom", &format!("file://{}", folder.path().join("page.html").display())]);
        browser.stdin(Stdio::null()).stdout(std::fs::File::create(&dom).unwrap()).stderr(Stdio::null());
        let started = ended(&mut browser.spawn().ok()?);
        started.then(|| std::fs::read_to_string(&dom).unwrap())
    });
    let Some(shown) = shown else { return skipped("no browser that starts") };
    assert!(shown.contains("<title>Rulestep: 1 call stopped in 1 session</title>"), "{shown}");
    for part in ["<h1>1 call stopped in 1 session</h1>", "✗ denied", "Words in this report", "</html>"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    for part in ["<script", "<img", "<title>owned"] {
        assert!(!shown.contains(part), "{part} is in\n{shown}");
    }
}
