//! Models of other languages in BIR have the same states and steps.

use std::path::{Path, PathBuf};

use birk::{Options, Patient, check, front_end, lang, load_file, load_text};
use birk_ir::Program;

fn models(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    found.sort();
    found
}

/// States, transitions, and what became of deadlock and runtime errors.
fn figures(program: &Program) -> (u64, u64, Vec<String>) {
    let options = Options { engine: "bfs".into(), keep_going: true, ..Options::default() };
    let report = check(program, &options, &mut Patient).expect("it can be checked");
    let built_in =
        report.answers.iter().filter(|answer| ["deadlock", "fault"].contains(&answer.property.name.as_str()));
    let verdicts = built_in.map(|answer| format!("{} {:?}", answer.property.name, answer.verdict)).collect();
    (report.hunt.stats.states, report.hunt.stats.transitions, verdicts)
}

#[test]
fn a_translation_has_the_same_states_and_steps() {
    let mut refused = Vec::new();
    for path in models("dve").into_iter().chain(models("promela")) {
        let Some(translate) = front_end(&path).translate else { continue };
        let text = std::fs::read_to_string(&path).expect("a model can be read");
        let found = match translate(&text, &[], &mut |_| Err("there is no such file".into())) {
            Ok(found) => found,
            Err(unsayable) => {
                refused.push((path.file_name().expect("a name").to_string_lossy().into_owned(), unsayable.message));
                continue;
            }
        };
        let formatted = lang::fmt::format(&found).unwrap_or_else(|problems| panic!("{found}\n{problems:?}"));
        let program = load_text("translated.bir", &formatted).unwrap_or_else(|error| panic!("{formatted}\n{error}"));
        let original = load_file(&path).expect("a model of the corpus is correct");
        assert_eq!(figures(&program), figures(&original), "{}\n{formatted}", path.display());
    }
    let is_like = |(name, message): &(String, String), expected: &(&str, &str)| {
        name == expected.0 && message.contains(expected.1)
    };
    let expected =
        [("request.dve", "a Büchi automaton"), ("peterson.pml", "a Büchi automaton"), ("retransmit.pml", "`timeout`")];
    let is_expected = refused.len() == expected.len() && refused.iter().zip(&expected).all(|(a, b)| is_like(a, b));
    assert!(is_expected, "{refused:?}");
}
