//! Reports for build servers: SARIF, and annotations for GitHub.

use serde_json::Value;

use crate::binary::{self, birk, folder};

fn sarif(check: &str, code: i32) -> Value {
    let answer = birk(&format!("check {check} --format sarif")).exits(code);
    let log: Value = serde_json::from_str(&answer.out).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    log["runs"][0].clone()
}

#[test]
fn a_violation_is_a_result_with_its_trace() {
    let run = sarif("models/structured/lost_wakeup.bir", 1);
    assert_eq!(run["tool"]["driver"]["name"], "birk");
    let results = run["results"].as_array().expect("results");
    let failed: Vec<&Value> = results.iter().filter(|one| one["kind"] == "fail").collect();
    assert_eq!(failed.len(), 1, "{run:#}");
    assert_eq!(failed[0]["level"], "error");
    let place = &failed[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "models/structured/lost_wakeup.bir");
    assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 1));
    let steps = failed[0]["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("steps");
    let shown = birk("check models/structured/lost_wakeup.bir --format json").json();
    assert_eq!(Some(steps.len()), shown["traces"][0]["steps"].as_array().map(Vec::len));
    for (step, expected) in steps.iter().zip(shown["traces"][0]["steps"].as_array().expect("steps")) {
        let region = &step["location"]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], expected["source"]["line"]);
        let text = step["location"]["message"]["text"].as_str().expect("a text");
        assert!(text.contains(expected["thread"].as_str().expect("a name")), "{text}");
    }
    for (result, rule) in results.iter().zip(run["tool"]["driver"]["rules"].as_array().expect("rules")) {
        assert_eq!(result["ruleId"], rule["id"]);
    }
}

#[test]
fn what_is_not_known_is_open() {
    let run = sarif("models/peterson2.bir --max-depth 2", 3);
    let kinds: Vec<&str> =
        run["results"].as_array().expect("results").iter().filter_map(|r| r["kind"].as_str()).collect();
    assert!(kinds.contains(&"open") && !kinds.contains(&"fail"), "{run:#}");
    assert!(run["properties"]["covered"].as_str().is_some_and(|text| text.starts_with("B, complete to depth 2")));
    let run = sarif("models/peterson2.bir", 0);
    assert!(
        run["results"].as_array().expect("results").iter().all(|one| one["kind"] == "pass" && one["level"] == "none")
    );
}

#[test]
fn annotations_name_the_place() {
    let answer = birk("check models/structured/lost_wakeup.bir --format github").exits(1);
    let first = answer.out.lines().next().expect("a line");
    assert!(first.starts_with("::error file=models/structured/lost_wakeup.bir,line="), "{first}");
    assert!(first.contains("::`") && first.contains(" is violated in "), "{first}");
    assert!(answer.out.contains("\nviolated: "), "the report follows");
    let answer = birk("check models/peterson2.bir --max-depth 2 --format github").exits(3);
    assert!(answer.out.starts_with("::warning file=models/peterson2.bir,line="), "{}", answer.out);
}

#[test]
fn an_expectation_that_is_not_met_is_annotated() {
    let path = folder("annotated").join("model, 50%.bir");
    std::fs::write(
        &path,
        "system S {\n  expect violated deadlock in 3;\n  active thread T() { while (true) { skip; } }\n}\n",
    )
    .expect("it can be written");
    let answer =
        binary::run(binary::command(binary::BIRK).arg("test").arg(&path).args(["--format", "github"])).exits(1);
    let line = answer.out.lines().next().expect("a line");
    assert!(line.contains("model%2C 50%25.bir,line=2,col=") && line.contains("title=birk test::"), "{line}");
}
