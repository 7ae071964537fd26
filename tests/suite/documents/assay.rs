//! Documents as Assay's documentation and its packs print them.

use super::check;

#[test]
fn documents_as_published() {
    check(&[
        (
            "eval.yaml",
            "tests:\n- id: verify_before_delete\n  metric: sequence_valid\n  rules:\n  - {type: before, first: VerifyIdentity, then: DeleteCustomer}\n",
            "",
        ),
        (
            "rules.yaml",
            "rules:\n- {type: require, tool: VerifyIdentity}\n- {type: immediately_before, first: ValidateInput, then: ExecuteAction}\n- {type: blocklist, tools: [admin_*, system_*, '*_dangerous']}\n- {type: allowlist, tools: [GetCustomer, UpdateCustomer]}\n- {type: max_calls, tool: SendEmail, max: 3}\n- {type: count, tool: ProcessRefund, max: 1}\n- {type: eventually, tool: ValidateOutput, within: 5}\n- {type: never_after, trigger: CommitTransaction, forbidden: ModifyData}\n- {type: after, trigger: OpenFile, then: CloseFile, within: 10}\n- {type: before, first: RouterAgent, then: [SpecialistA, SpecialistB]}\n",
            "",
        ),
        ("old.yaml", "sequences:\n- [GetCustomer, UpdateCustomer]\n", "1 notice old_sequences"),
        (
            "when.yaml",
            "rules:\n- {type: before, first: VerifyIdentity, then: DeleteCustomer, when: {context.user_role: standard}}\n",
            "",
        ),
        // The policy files of its proxy hold lists of tools, which are another language.
        (
            "starter.yaml",
            "version: '2.0'\nname: starter\ntools:\n  allow: [read_file, list_dir]\n  deny: [exec, shell, write_file]\nschemas:\n  read_file: {type: object, properties: {path: {type: string}}}\nenforcement: {unconstrained_tools: warn}\n",
            "3 error not_enforced",
        ),
        (
            "v1.yaml",
            "version: '1.0'\ndeny: [exec]\nconstraints:\n- {tool: read_file, params: {path: {matches: '^/workspace/.*'}}}\n",
            "2 error not_enforced",
        ),
        (
            "pins.yaml",
            "tool_pins: {read_file: {server_id: files, tool_name: read_file}}\n",
            "1 error not_enforced",
        ),
        (
            "limits.yaml",
            "version: '2.0'\ntools: {allow: ['*']}\nlimits: {max_requests_total: 1000}\n",
            "2 error not_enforced",
        ),
    ]);
}
