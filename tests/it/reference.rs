//! The pages of the reference that are written by hand name the columns and fields that the program writes, and no others.

use serde_json::Value;

use crate::support::{Demo, agogic};

/// The part of the page below a heading.
fn section(heading: &str) -> &'static str {
    let page = include_str!("../../docs/src/reference/results.md");
    let below = page.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no section {heading}"));
    below.split("\n## ").next().unwrap()
}

/// What stands between backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What the tables of a section name in their first columns.
fn listed(section: &str) -> Vec<&str> {
    let cells = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    cells.flat_map(names).collect()
}

/// The columns that a format has for the demo.
fn columns(format: &str) -> Vec<String> {
    let demo = Demo::new();
    let run = agogic([
        "align".as_ref(),
        demo.audio.as_os_str(),
        demo.score.as_os_str(),
        "--format".as_ref(),
        format.as_ref(),
    ]);
    let text = run.ok().stdout;
    let header = text.lines().find(|line| !line.starts_with('#')).unwrap();
    header.split(',').map(str::to_owned).collect()
}

#[test]
fn the_columns_of_csv_are_those_that_are_documented() {
    assert_eq!(columns("csv"), listed(section("csv")));
    let mut documented = listed(section("notes-csv"));
    assert_eq!(documented.pop(), Some("id"), "last, and only where the score has identifiers");
    assert_eq!(columns("notes-csv"), documented);
}

/// The fields of every object in a document, at any depth.
fn fields(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.push(name.clone());
                fields(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fields(value, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_a_json_result_is_documented() {
    let demo = Demo::new();
    let truth = demo.truth.as_os_str();
    let args = ["align".as_ref(), demo.audio.as_os_str(), demo.score.as_os_str(), "--truth".as_ref(), truth];
    for method in [&["--method", "onsets"][..], &["--method", "frames", "--extractor", "cqt"][..]] {
        let run = agogic(
            args.into_iter().chain(["--format", "json"].map(AsRef::as_ref)).chain(method.iter().map(AsRef::as_ref)),
        );
        let mut written = Vec::new();
        fields(&run.ok().json(), &mut written);
        written.sort();
        written.dedup();
        let documented: Vec<&str> = [section("json"), section("Figures")].into_iter().flat_map(names).collect();
        let is_documented =
            |name: &String| documented.iter().any(|known| known.split(['.', '"']).any(|word| word == name));
        let missing: Vec<&String> = written.iter().filter(|name| !is_documented(name)).collect();
        assert!(missing.is_empty(), "docs/src/reference/results.md does not name {missing:?}");
    }
}
