//! Open folders of which one is in the other: a file is a part of both.

use super::*;

const INNER: &str = "tool: close_case\nforbids_after: [void_order]\n";

#[test]
fn a_file_has_the_problems_of_each_folder_it_is_in() {
    let folder = folder(&[("p/a.yaml", ISSUE_REFUND), ("p/in/b.yaml", INNER)]);
    let mut client = Client::start(folder.path(), &[]);
    client.initialize(&["utf-8"]);
    let (outer, inner) = (uri(&folder, "p/a.yaml"), uri(&folder, "p/in/b.yaml"));
    client.open(&outer, ISSUE_REFUND);
    assert_eq!(client.diagnostics(&outer, 1), [""; 0]);
    client.open(&inner, INNER);
    assert_eq!(client.diagnostics(&inner, 1), [""; 0]);

    // A mistake that only both together show, made in the inner file and removed there.
    client.change(&inner, 2, json!({"text": INNER.replace("close_case", "issue_refund")}));
    client.until(&inner, 2, &["0:6 duplicate_contract"]);
    // One of its own beside it: both are reported, each once.
    client.change(&inner, 3, json!({"text": INNER.replace("close_case", "issue_refund") + "nonsense: 1\n"}));
    client.until(&inner, 3, &["2:0 unknown_key", "0:6 duplicate_contract"]);
    client.change(&inner, 4, json!({"text": INNER.to_owned() + "nonsense: 1\n"}));
    client.until(&inner, 4, &["2:0 unknown_key"]);
    // A change of the outer file alone takes nothing from the inner one.
    client.change(&outer, 2, json!({"text": ISSUE_REFUND.to_owned() + "\n"}));
    assert_eq!(client.diagnostics(&outer, 2), [""; 0]);
    client.change(&inner, 5, json!({"text": INNER.to_owned() + "nonsense: 2\n"}));
    client.until(&inner, 5, &["2:0 unknown_key"]);

    // Closed without being saved, the file is what it is on disk, for the folder that is still open.
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": inner}}));
    client.wait(|message| published(message, &inner).is_some_and(|told| told == &json!([])));
    // An outer folder that is closed takes its own problems along, and leaves those of the inner one.
    client.open(&inner, &INNER.replace("close_case", "issue_refund"));
    client.until(&inner, 1, &["0:6 duplicate_contract"]);
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": outer}}));
    client.until(&inner, 1, &[]);
    client.close();
}

fn published<'m>(message: &'m Message, uri: &str) -> Option<&'m Value> {
    let Message::Notification(told) = message else { return None };
    (told.method == "textDocument/publishDiagnostics" && told.params["uri"] == uri)
        .then(|| &told.params["diagnostics"])
}
