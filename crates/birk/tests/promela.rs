//! The Promela models of the corpus have the verdicts that their headers promise, with every engine that takes them.

use std::path::{Path, PathBuf};

use birk::ir::Verdict;
use birk::{Options, Patient, check, load_file};
use birk_exec::reference::{self, Refusal};

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    found.sort();
    found
}

/// `// expected: deadlock holds, fault violated`
fn expected(text: &str) -> Vec<(String, String)> {
    let line = text.lines().find_map(|line| line.strip_prefix("// expected: ")).expect("a model says what is expected");
    let pair = |part: &str| part.split_once(' ').map(|(name, verdict)| (name.to_owned(), verdict.to_owned()));
    line.split(", ").filter_map(pair).collect()
}

#[test]
fn models_in_promela_are_what_their_headers_say() {
    let models = models();
    assert!(models.len() >= 6, "models in Promela are in models/promela");
    for path in models {
        let text = std::fs::read_to_string(&path).expect("a model can be read");
        let program = load_file(&path).expect("a model of the corpus is correct");
        let explored = reference::explore(&program, &[], 100_000);
        let refused = program.joined_late().map(Refusal::Unknown);
        assert_eq!(explored.err(), refused, "{}: the reference", path.display());
        for engine in ["bfs", "dfs", "bdd"] {
            let options = Options { engine: engine.into(), keep_going: true, ..Options::default() };
            let refuses = engine == "bdd" && program.interpreted_only().is_some();
            let report = match check(&program, &options, &mut Patient) {
                Ok(report) => report,
                Err(error) => {
                    assert!(refuses, "{}: {engine}: {error}", path.display());
                    continue;
                }
            };
            assert!(!refuses, "{}: {engine} cannot know its steps", path.display());
            let found = |name: &str| {
                let answer = report.answers.iter().find(|answer| answer.property.name == name);
                answer.unwrap_or_else(|| panic!("{}: no answer about {name}", path.display()))
            };
            for (name, verdict) in expected(&text) {
                let wanted = if verdict == "holds" { Verdict::Holds } else { Verdict::Violated };
                assert_eq!(found(&name).verdict, wanted, "{}: {name} with {engine}", path.display());
            }
            assert_eq!(report.answers.len(), expected(&text).len(), "{}: every property is expected", path.display());
        }
    }
}
