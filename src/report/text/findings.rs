//! All findings of one session, each call with the name by which `explain --at` shows more.

use std::io::{self, Write};

use super::calls::arguments;
use super::row::row;
use super::rules;
use crate::report::paint::Paint;
use crate::report::{Look, words};
use rulestep_engine::monitor::effect_word;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Verdict;

/// Writes every call with a finding, and the violated session rules. `name` is the user's name for the session. That
/// there are no findings is reported only for recordings that were read completely.
pub fn findings(
    replay: &Replay,
    name: &str,
    incomplete: bool,
    look: &Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paint = Paint { color: look.color };
    let session = replay.session();
    let found = || {
        let calls = session.calls.iter().zip(replay.calls());
        calls.filter(|(_, decided)| !decided.decision.findings.is_empty())
    };
    let mut counted = format!("{} with findings", words::count(found().count() as u64, "call"));
    let violated = replay.rules().iter().filter(|state| state.outcome == RuleOutcome::Violated).count();
    if violated > 0 {
        counted.push_str(&format!(", {} violated", words::count(violated as u64, "session rule")));
    }
    writeln!(
        out,
        "{}  {}  {}: {counted}",
        paint.bold(&words::line(&session.id)),
        words::line(&session.origin.file),
        replay.mode().word(),
    )?;
    for (call, decided) in found() {
        let verdict = decided.decision.verdict;
        let at = format!("{}:{}.{}", words::line(name), call.at.turn, call.at.call);
        let tool = words::name(&call.tool);
        let decided_so = paint.verdict(verdict, words::decided(verdict, replay.mode()));
        writeln!(out, "  {}  {tool}  {decided_so}", paint.bold(&at))?;
        arguments(call, out)?;
        for finding in &decided.decision.findings {
            let Some(said) = finding.explain(replay.policy().rules(), session) else { continue };
            row(out, effect_word(said.effect, said.would), format!("{}: {}", finding.code, said.headline))?;
            row(out, "", paint.dim(&words::rule_name(&said.rule)))?;
        }
    }
    let others = || replay.alternatives(None).filter(|other| !other.judged.decision.findings.is_empty());
    for other in others() {
        let at = other.at();
        let (verdict, tool) = (other.judged.decision.verdict, words::name(&other.call.tool));
        let place = format!("{}:{}.{}.{}", words::line(name), at.turn, at.choice, at.call);
        let decided_so = paint.verdict(verdict, words::decided(verdict, replay.mode()));
        writeln!(out, "  {}  {tool}  {decided_so}  not taken", paint.bold(&place))?;
    }
    rules::violated(replay, paint, out)?;
    if incomplete {
        return not_whole(look, out);
    }
    if violated == 0 && found().next().is_none() && others().next().is_none() {
        writeln!(out, "  {}", paint.verdict(Verdict::Allow, "no rule found anything against a call"))?;
    }
    Ok(())
}

/// Writes that decisions rest on a part of the recording.
pub fn not_whole(look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: look.color };
    let said =
        "not everything was read: calls that are missing may have findings, and may change what is decided";
    writeln!(out, "  {}", paint.verdict(Verdict::Ask, said))
}
