//! Calls as bytes.

use std::sync::Arc;

use super::{Reader, Writer, place};
use rulestep_base::session::live::Verdict;
use rulestep_base::session::{AgentState, Call, CallRef, LiveDecision, Outcome, TreeSeen};

const VERDICTS: [Verdict; 5] = Verdict::ALL;
const OUTCOMES: [Outcome; 4] = [Outcome::Ok, Outcome::Error, Outcome::Refused, Outcome::Unknown];

impl Writer {
    /// A call.
    pub(super) fn call(&mut self, call: &Call) {
        let Call {
            at,
            proposed,
            outcome,
            refusal,
            output,
            result,
            in_turn,
            time,
            folder,
            agent,
            copied,
            live,
        } = call;
        for part in [at.turn, at.call, at.index] {
            self.number(u64::from(part));
        }
        self.proposed(proposed);
        self.byte(place(&OUTCOMES, *outcome));
        self.maybe(*refusal, |out, refusal| {
            let known = out.refusals.iter().position(|known| *known == refusal);
            let number = known.unwrap_or_else(|| {
                out.refusals.push(refusal);
                out.refusals.len() - 1
            });
            out.size(number);
        });
        self.body(output);
        self.maybe(*result, Self::size);
        self.byte(u8::from(*in_turn));
        self.maybe(*time, Self::signed);
        self.maybe(folder.as_deref(), Self::text);
        self.maybe(agent.as_deref(), |out, AgentState { permission_mode, version }| {
            out.maybe(permission_mode.as_deref(), Self::text);
            out.maybe(version.as_deref(), Self::text);
        });
        self.byte(u8::from(*copied));
        self.maybe(live.as_deref(), Self::live);
    }

    fn live(&mut self, live: &LiveDecision) {
        let LiveDecision { verdict, shadow, runs, findings, told, policy, policy_fault, tree, took } = live;
        self.byte(place(&VERDICTS, *verdict));
        self.byte(u8::from(*shadow));
        self.maybe(*runs, |out, runs| out.byte(u8::from(runs)));
        self.body(findings);
        self.maybe(told.as_deref(), Self::text);
        self.text(policy);
        self.maybe(policy_fault.as_deref(), Self::text);
        self.maybe(tree.as_deref(), |out, TreeSeen { sessions, missing }| {
            out.size(sessions.len());
            sessions.iter().for_each(|id| out.text(id));
            out.maybe(missing.as_deref(), Self::text);
        });
        self.maybe(*took, |out, took| out.bytes.extend(took.to_le_bytes()));
    }
}

impl Reader<'_> {
    /// The same.
    pub(super) fn call(&mut self) -> Option<Call> {
        let at = CallRef { turn: self.small()?, call: self.small()?, index: self.small()? };
        let proposed = self.proposed()?;
        let outcome = OUTCOMES.get(usize::from(self.byte()?)).copied()?;
        let refusal = self.maybe(|read| read.size().and_then(|at| read.refusals.get(at).copied()))?;
        let (output, result) = (self.body()?, self.maybe(Self::size)?);
        let (in_turn, time) = (self.flag()?, self.maybe(Self::signed)?);
        let folder = self.maybe(Self::shared)?;
        let agent = self.maybe(|read| {
            let (permission_mode, version) = (read.maybe(Self::shared)?, read.maybe(Self::shared)?);
            Some(Arc::new(AgentState { permission_mode, version }))
        })?;
        let copied = self.flag()?;
        let live = self.maybe(Self::live)?.map(Arc::new);
        Some(Call {
            at,
            proposed,
            outcome,
            refusal,
            output,
            result,
            in_turn,
            time,
            folder,
            agent,
            copied,
            live,
        })
    }

    fn live(&mut self) -> Option<LiveDecision> {
        let verdict = VERDICTS.get(usize::from(self.byte()?)).copied()?;
        let (shadow, runs, findings) = (self.flag()?, self.maybe(Self::flag)?, self.body()?);
        let (told, policy) = (self.maybe(Self::shared)?, self.shared()?);
        let policy_fault = self.maybe(Self::shared)?;
        let tree = self.maybe(|read| {
            let sessions = (0..read.size()?).map(|_| read.shared()).collect::<Option<Vec<_>>>()?;
            Some(Arc::new(TreeSeen { sessions, missing: read.maybe(Self::shared)? }))
        })?;
        let took = self.maybe(|read| Some(f64::from_le_bytes(read.take(8)?.try_into().ok()?)))?;
        Some(LiveDecision { verdict, shadow, runs, findings, told, policy, policy_fault, tree, took })
    }
}
