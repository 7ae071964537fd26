//! `export`: the tables are what `docs/data.md` says, and its queries run in DuckDB.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::{folder, rulestep};
use crate::skipped::skipped;

fn docs() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/data.md")).unwrap()
}

/// The samples, exported.
fn exported() -> TempDir {
    let files = folder(&[]);
    let output = rulestep(files.path(), &["export", "--samples", "-o", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    files
}

fn rows(folder: &TempDir, table: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join(table)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_row_has_the_documented_columns() {
    let folder = exported();
    let docs = docs();
    for table in ["sessions.ndjson", "calls.ndjson", "findings.ndjson"] {
        let section = docs.split(&format!("### {table}\n")).nth(1).unwrap();
        let section = section.split("\n#").next().unwrap();
        let columns: Vec<Vec<&str>> = section
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(|line| line.split('|').map(str::trim).skip(1).take(3).collect())
            .collect();
        let rows = rows(&folder, table);
        assert!(rows.len() > 20);
        let mut nulls: BTreeMap<&str, bool> = BTreeMap::new();
        for row in &rows {
            let keys: Vec<String> = row.as_object().unwrap().keys().map(|key| format!("`{key}`")).collect();
            assert_eq!(
                keys,
                columns.iter().map(|column| column[0].to_owned()).collect::<Vec<_>>(),
                "{table}"
            );
            for column in &columns {
                let value = &row[column[0].trim_matches('`')];
                *nulls.entry(column[0]).or_default() |= value.is_null();
                let fits = match (column[1], value) {
                    (_, Value::Null) => column[2] == "yes",
                    ("text", value) => value.is_string(),
                    ("integer", value) => value.is_u64(),
                    ("boolean", value) => value.is_boolean(),
                    ("object", value) => value.is_object(),
                    ("any", _) => true,
                    (other, _) => panic!("{other}"),
                };
                assert!(fits, "{table} {column:?} {value}");
            }
        }
    }
    let [sessions, calls] = ["sessions.ndjson", "calls.ndjson"].map(|table| rows(&folder, table));
    let sum: u64 = sessions.iter().map(|row| row["calls"].as_u64().unwrap()).sum();
    assert_eq!(calls.len() as u64, sum);
    let stopped = |row: &&Value| ["deny", "halt"].contains(&row["decision"].as_str().unwrap());
    let findings = rows(&folder, "findings.ndjson");
    let deciding = findings.iter().filter(|row| row["decided"] == true).count();
    assert_eq!(calls.iter().filter(stopped).count(), deciding);
}

#[test]
fn what_is_not_complete_does_not_replace_what_was_there() {
    let files =
        folder(&[("out/calls.ndjson", "before"), ("p.yaml", "tool: pay\n"), ("s.json", "{\"a\": 1}")]);
    // No policy: nothing begins.
    let run = |arguments: &[&str]| rulestep(files.path(), arguments).output().unwrap().status.code().unwrap();
    assert_eq!(run(&["export", "s.json", "-p", "none.yaml", "-o", "out"]), 2);
    assert_eq!(std::fs::read_to_string(files.path().join("out/calls.ndjson")).unwrap(), "before");
    // Nothing could be read: an empty table would look like no calls.
    assert_eq!(run(&["export", "s.json", "-p", "p.yaml", "-o", "out"]), 2);
    assert_eq!(std::fs::read_to_string(files.path().join("out/calls.ndjson")).unwrap(), "before");
    let left: Vec<_> = std::fs::read_dir(files.path().join("out")).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn the_documented_queries_run_in_duckdb() {
    let python = std::env::var("DUCKDB_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python).args(["-c", "import duckdb"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        return skipped("no DuckDB for Python");
    }
    let folder = exported();
    let docs = docs();
    let queries: Vec<&str> =
        docs.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(queries.len(), 5);
    let script = "import duckdb, sys\nprint(len(duckdb.sql(sys.argv[1].rstrip().rstrip(';')).fetchall()))";
    for query in queries {
        let output =
            Command::new(&python).args(["-c", script, query]).current_dir(folder.path()).output().unwrap();
        let count: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap_or(0);
        assert!(count > 0, "{query}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
