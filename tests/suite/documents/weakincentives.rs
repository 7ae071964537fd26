//! Tool policies of weakincentives, which prints them as Python: the same classes and arguments as YAML.

use super::check;

#[test]
fn documents_as_published() {
    check(&[
        (
            "release.yaml",
            "policies:\n- type: sequential_dependency\n  dependencies: {deploy: [test, build], build: [lint]}\n",
            "",
        ),
        ("files.yaml", "policies: [{type: read_before_write}]\n", ""),
        (
            "files.yaml",
            "policies: [{type: read_before_write, read_tools: [read_file], write_tools: [write_file, edit_file], mount_point: /workspace}]\nexisting_files: [config.yaml]\n",
            "",
        ),
        // Sections of a prompt: in the guide they have no id.
        (
            "prompt.yaml",
            "sections:\n- tools: [read_file, write_file]\n  policies: [{type: read_before_write}]\n- tools: [lint, test, build, deploy]\n  policies: [{type: sequential_dependency, dependencies: {deploy: [test, build], build: [lint]}}]\npolicies: []\n",
            "",
        ),
        ("prompt.yaml", "sections:\n- {tools: [a], parent: ops, policies: []}\n", "2 error unknown_parent"),
        (
            "release.yaml",
            "policies: [{type: SequentialDependency, dependencies: {a: [b]}}]\n",
            "1 error bad_value",
        ),
        (
            "release.yaml",
            "policies: [{type: sequential_dependency, dependences: {a: [b]}}]\n",
            "1 error missing_key; 1 error unknown_key",
        ),
        (
            "release.yaml",
            "policies: [{type: sequential_dependency, dependencies: {deploy_*: [b]}}]\n",
            "1 error star_in_name",
        ),
    ]);
}
