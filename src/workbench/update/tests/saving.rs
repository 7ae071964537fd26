//! Cases: a name, what is saved, and that it passes.

use std::fs;

use super::note;
use crate::case::judge;
use crate::workbench::effect::{Effect, Save};
use crate::workbench::message::Msg;
use crate::workbench::model::Model;
use crate::workbench::run::suppose;
use crate::workbench::testing::*;
use rulestep_base::source::Source;
use rulestep_engine::policy::{Policy, PolicyFile};

use super::what_if::refund;

/// Presses `s` and answers with a name; gives what is to be saved.
fn saved(model: &mut Model, name: &str) -> Box<Save> {
    press(model, "s");
    press(model, "Ctrl-u");
    typed(model, name);
    let effect = press(model, "Enter").pop();
    match effect {
        Some(Effect::Save(save)) => save,
        other => panic!("{other:?} {}", note(model)),
    }
}

#[test]
fn saving_proposes_a_name_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let contract = folder.path().join("issue_refund.yaml");
    fs::write(&contract, CONTRACT).unwrap();
    let mut model = refund();
    assert!(press(&mut model, "s").is_empty());
    assert!(note(&model).contains("sample inside the program"), "{}", note(&model));
    model.basis.paths = vec![contract.to_string_lossy().into_owned()];
    press(&mut model, "s");
    let proposed = model.dialog.prompt.as_ref().unwrap().input.value().to_owned();
    assert_eq!(proposed, format!("{}/refund-124-2_2.case.yaml", folder.path().display()));
    let effect = press(&mut model, "Enter").pop();
    let Some(Effect::Save(save)) = effect else { panic!("{effect:?}") };
    feed(&mut model, suppose::save(&save));
    assert!(note(&model).starts_with("saved ") && note(&model).ends_with(" passes"), "{}", note(&model));
    let text = fs::read_to_string(&proposed).unwrap();
    assert!(text.contains("policy: issue_refund.yaml") && text.contains("decision: deny"), "{text}");
    assert!(!text.contains("on their way"), "nothing behind the call\n{text}");
    // Once more: another name is proposed, and the file stays.
    fs::write(&proposed, "mine").unwrap();
    feed(&mut model, suppose::save(&save));
    assert_eq!(fs::read_to_string(&proposed).unwrap(), "mine");
    let prompt = model.dialog.prompt.as_ref().unwrap();
    assert!(prompt.input.value().ends_with("refund-124-2_2-2.case.yaml"), "{}", prompt.input.value());
    assert!(prompt.refused.as_ref().unwrap().ends_with("already exists"));
}

#[test]
fn what_is_supposed_is_saved_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let contract = folder.path().join("issue_refund.yaml");
    fs::write(&contract, CONTRACT).unwrap();
    let mut model = refund();
    model.basis.paths = vec![contract.to_string_lossy().into_owned()];
    let name = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    press(&mut model, "xx");
    let save = saved(&mut model, &name("off.yaml"));
    feed(&mut model, suppose::save(&save));
    let text = fs::read_to_string(name("off.yaml")).unwrap();
    assert!(text.contains(r##"without: ["issue_refund.yaml#/preconditions/0"]"##), "{text}");
    assert!(text.contains("# hypothetical, not as it was recorded: 1 rule off"), "{text}");
    press(&mut model, "xq W");
    let save = saved(&mut model, &name("minimal.yaml"));
    feed(&mut model, suppose::save(&save));
    let text = fs::read_to_string(name("minimal.yaml")).unwrap();
    assert!(text.contains("# a minimal example: 2 of 3 calls; nothing can be left out of it"), "{text}");
}

/// As `rulestep test` does: what the case refers to is read again.
fn passes(file: &str) -> bool {
    let text = fs::read_to_string(file).unwrap();
    let read = crate::case::read::read(&Source::new(file, text.as_str()), true);
    let [case] = read.cases.as_slice() else { panic!("{:?}\n{text}", read.diagnostics) };
    let mut files = Vec::new();
    for policy in &case.policy {
        let version = crate::files::read_version(&crate::files::beside(file, &policy.path), &[]).unwrap();
        files.extend(version.files.into_iter().map(|read| PolicyFile {
            name: read.name,
            relative: read.relative,
            text: read.text.unwrap(),
            named: read.named,
        }));
    }
    let policy = Policy::load(&files, None).policy.expect("the policy loads");
    let policy = judge::version(case, &policy).expect("its rules are there");
    let crate::case::CaseSession::Inline(session) = &case.session else { panic!("{text}") };
    judge::judge(case, session, &policy).passes()
}

/// A policy of each dialect, and sessions that it is about.
const SAMPLES: [(&str, &str); 6] = [
    ("refunds/issue_refund.yaml", "refund-124-order-mismatch.json"),
    ("clinic/records.yaml", "ward.jsonl"),
    ("desk/analyst.yaml", "support-desk.jsonl"),
    ("workspace/coding.yaml", "workspace-803-reset-and-restore.json"),
    ("workspace/notes.yaml", "workspace-811-inbox.json"),
    ("phone/front_desk.yaml", "support-phone.jsonl"),
];

/// Every call of samples in all dialects, as recorded and with each rule switched off that decided, passes when saved.
#[test]
fn cases_of_all_dialects_pass_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut saved_cases = 0;
    for (policy, sessions) in SAMPLES {
        let mut model = sample(120, 40, "mono", policy, sessions);
        model.basis.paths = vec![format!("contracts/{policy}")];
        for entry in 0..model.archive.entries.len() {
            press(&mut model, if entry == 0 { "1 gg 2" } else { "}" });
            for call in 0..model.session().map_or(0, |session| session.calls.len()) {
                let row = model.derived.rows.of_call(call as u32).unwrap();
                crate::workbench::update::go::to_row(&mut model, row);
                feed(&mut model, Msg::ChordWaits);
                for change in ["", "xx", "xo"] {
                    press(&mut model, change);
                    let name = folder.path().join(format!("{saved_cases}.yaml"));
                    let name = name.to_string_lossy().into_owned();
                    let save = saved(&mut model, &name);
                    feed(&mut model, suppose::save(&save));
                    assert!(
                        note(&model).starts_with("saved "),
                        "{sessions} {call} {change}: {}",
                        note(&model)
                    );
                    assert!(passes(&name), "{}", fs::read_to_string(&name).unwrap());
                    saved_cases += 1;
                    if model.facts().what_if {
                        press(&mut model, "xq");
                    }
                }
            }
        }
    }
    assert!(saved_cases > 100, "{saved_cases}");
}
