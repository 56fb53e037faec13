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
    let expected = [("request.dve", "a Büchi automaton"), ("peterson.pml", "a Büchi automaton")];
    let is_expected = refused.len() == expected.len() && refused.iter().zip(&expected).all(|(a, b)| is_like(a, b));
    assert!(is_expected, "{refused:?}");
}

/// Where `timeout` is joined with other conditions, BIR says the same; what negates it is refused.
#[test]
fn timeout_is_translated() {
    let model = |guard: &str| {
        format!(
            "byte n; bool b; active proctype P() {{ do :: {guard} -> n = (n + 1) % 4 :: b -> b = false od }} \
             active proctype Q() {{ do :: n < 2 -> b = !b; n = 3 - n od }}"
        )
    };
    let translate = |guard: &str| {
        let text = model(guard);
        let translate = front_end(Path::new("original.pml")).translate.expect("Promela can be translated");
        translate(&text, &[], &mut |_| Err("there is no such file".into()))
    };
    for guard in ["timeout", "timeout && n > 1", "n > 1 && timeout", "timeout || n == 3", "(b && timeout || n == 2)"] {
        let bir = translate(guard).unwrap_or_else(|unsayable| panic!("{guard}: {}", unsayable.message));
        assert!(bir.contains("timeout"), "{guard}\n{bir}");
        let program = load_text("translated.bir", &bir).unwrap_or_else(|error| panic!("{bir}\n{error}"));
        let original = load_text("original.pml", &model(guard)).expect("it is correct");
        assert_eq!(figures(&program), figures(&original), "{guard}\n{bir}");
    }
    let unsayable = translate("!timeout && n > 1").expect_err("a negated `timeout`");
    assert!(unsayable.message.contains("`timeout`"), "{}", unsayable.message);
}
