//! Diagnostics as people see them: the models of `models/rejected/` against the texts beside them, and the table of
//! codes behind `birk explain` against what the front end emits.
//!
//! After a change of a message, `BLESS=1 cargo nextest run -p birk-cli --test cli diagnostics::` writes the texts anew;
//! read the diff.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use birk::ir::{Code, Conditions, Loaded};
use birk::{FRONT_ENDS, FrontEnd, codes, explain};

/// The crates of the languages, in their order.
const CRATES: &[&str] = &["lang", "dve", "promela", "aiger"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the repository can be listed") {
        let path = entry.expect("an entry of the repository can be read").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The `-D` options of a line `// birk check FILE -D NAME=VALUE …`.
fn defines(text: &str) -> Vec<(String, String)> {
    let line = text.lines().find_map(|line| line.strip_prefix("// birk check ")).unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let options = words.windows(2).filter(|pair| pair[0] == "-D");
    options.map(|pair| pair[1].split_once('=').expect("-D NAME=VALUE")).map(|(n, v)| (n.into(), v.into())).collect()
}

/// The specification of a model that says `// birk refine MODEL SPECIFICATION`.
fn specification_of(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("// birk refine "))?;
    Some(line.split(' ').nth(1).expect("a specification"))
}

/// Reads a model that imports nothing but the standard library.
fn load(front_end: &FrontEnd, text: &str) -> Loaded {
    let none = &mut |_: &str| Err("there is no such file".into());
    let mut loaded = (front_end.load)(text, &defines(text), none, Conditions::default());
    // An example for `birk refine` names its specification.
    if let (Some(path), Some(refinement)) = (specification_of(text), &loaded.refinement) {
        let specification = birk::load_file(root().join(path)).expect("the specification is correct");
        loaded.diagnostics.extend(birk::lang::fit(refinement, &specification).err().unwrap_or_default());
    }
    loaded
}

/// The rejected models and the corpus, with their languages.
fn models(folder: &str) -> Vec<(&'static FrontEnd, PathBuf)> {
    let of = |front_end: &'static FrontEnd| {
        let files = front_end.extensions.iter().flat_map(|extension| files(&root().join(folder), extension));
        files.map(move |path| (front_end, path)).collect::<Vec<_>>()
    };
    FRONT_ENDS.iter().flat_map(of).collect()
}

#[test]
fn rejected_models_are_explained_as_beside_them() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    let models = models("models/rejected");
    assert!(models.len() >= 40, "the rejected models are there");
    for (_, model) in models {
        let name = format!("models/rejected/{}", model.file_name().expect("a file").to_string_lossy());
        let text = fs::read_to_string(&model).expect("a model can be read");
        let mut command = Command::new(env!("CARGO_BIN_EXE_birk"));
        let verb = if specification_of(&text).is_some() { "refine" } else { "check" };
        command.current_dir(root()).args([verb, &name]).args(specification_of(&text)).args(["--color", "never"]);
        for (constant, value) in defines(&text) {
            command.args(["-D", &format!("{constant}={value}")]);
        }
        let output = command.output().expect("birk runs");
        let shown = String::from_utf8(output.stderr).expect("messages are UTF-8");
        let accepted = text.starts_with("// Accepted");
        let expected_exits: &[i32] = if accepted { &[0, 1, 3] } else { &[2] };
        let exit = output.status.code().unwrap_or(-1);
        assert!(expected_exits.contains(&exit), "{name} ends with {exit}:\n{shown}");
        let beside = model.with_extension("stderr");
        if bless {
            fs::write(&beside, &shown).expect("the expected text can be written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if shown != expected {
            wrong.push(format!("{name}: expected\n{expected}\nbut birk says\n{shown}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\nif this is right: BLESS=1 cargo nextest run -p birk-cli --test cli diagnostics::",
        wrong.join("\n")
    );
}

#[test]
fn the_corpus_gives_no_warnings() {
    let rejected = root().join("models/rejected");
    let mut found = Vec::new();
    for (front_end, model) in models("models").into_iter().filter(|(_, path)| !path.starts_with(&rejected)) {
        let text = fs::read_to_string(&model).expect("a model can be read");
        let loaded = load(front_end, &text);
        found.extend(loaded.diagnostics.iter().map(|d| format!("{}: {} {}", model.display(), d.code, d.message)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_expected_text_has_its_model() {
    let models = models("models/rejected");
    for expected in files(&root().join("models/rejected"), "stderr") {
        let has_model = models.iter().any(|(_, model)| model.with_extension("stderr") == expected);
        assert!(has_model, "{} has no model", expected.display());
    }
}

#[test]
fn every_code_has_a_rejected_model() {
    let texts: Vec<String> = files(&root().join("models/rejected"), "stderr")
        .iter()
        .map(|path| fs::read_to_string(path).expect("an expected text can be read"))
        .collect();
    // Fifty messages are shown, and E0014 comes after two hundred.
    for code in codes().map(|entry| entry.code).filter(|code| *code != "E0014") {
        let mark = format!("[{code}]: ");
        assert!(texts.iter().any(|text| text.contains(&mark)), "no file of models/rejected shows {code}");
    }
}

#[test]
fn the_table_holds_the_codes_of_the_front_ends_and_no_others() {
    assert_eq!(CRATES.len(), FRONT_ENDS.len(), "each language has its crate");
    let is_code = |word: &&str| {
        let digits = word.strip_prefix(['E', 'W']).unwrap_or_default();
        digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    for (name, front_end) in CRATES.iter().zip(FRONT_ENDS) {
        let sources = root().join(format!("crates/{name}/src"));
        let mut emitted = BTreeSet::new();
        for path in files(&sources, "rs") {
            if !path.starts_with(sources.join("codes")) && path != sources.join("codes.rs") {
                let text = fs::read_to_string(&path).expect("a source can be read");
                emitted.extend(text.split('"').filter(is_code).map(str::to_owned));
            }
        }
        let listed: BTreeSet<String> = front_end.codes.iter().map(|entry| entry.code.to_owned()).collect();
        assert_eq!(listed, emitted, "left: the codes of {name}; right: crates/{name}/src");
    }
}

#[test]
fn codes_are_unique_and_sorted() {
    for front_end in FRONT_ENDS {
        for pair in front_end.codes.windows(2) {
            assert!(pair[0].code < pair[1].code, "{} stands before {}", pair[0].code, pair[1].code);
        }
    }
    let all: BTreeSet<&str> = codes().map(|entry| entry.code).collect();
    assert_eq!(all.len(), codes().count(), "languages share no code");
    assert_eq!(explain("e0022").map(|entry| entry.code), Some("E0022"));
    assert!(explain("E9999").is_none());
}

#[test]
fn explanations_are_short_and_fit_a_screen() {
    for entry in codes() {
        let sentences = entry.explanation.matches(['.', ':', ';']).count();
        assert!((1..=20).contains(&sentences) && entry.explanation.len() > 80, "{}: say why", entry.code);
        for line in [entry.title, entry.explanation, entry.example, entry.fix].iter().flat_map(|text| text.lines()) {
            assert!(line.chars().count() <= 100, "{}: a long line: {line}", entry.code);
        }
    }
}

/// The example with the text that its `…` stands for.
fn whole(entry: &Code) -> String {
    match entry.code {
        "E0009" | "E1003" => entry.example.replace("(…", &"(".repeat(202)).replace("…)", &")".repeat(202)),
        "E0014" => {
            let line = entry.example.lines().nth(2).expect("the line that is repeated");
            entry.example.replace(line, &format!("{line}\n").repeat(202))
        }
        _ => entry.example.to_owned(),
    }
}

#[test]
fn every_example_provokes_its_code_and_nothing_else() {
    for (front_end, entry) in FRONT_ENDS.iter().flat_map(|one| one.codes.iter().map(move |entry| (one, entry))) {
        let loaded = load(front_end, &whole(entry));
        let mut found: BTreeSet<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        if entry.code == "E0014" {
            // It cannot come alone.
            found.retain(|code| *code == entry.code);
        }
        assert_eq!(found, BTreeSet::from([entry.code]), "the example of {}:\n{}", entry.code, entry.example);
    }
}

#[test]
fn every_cure_helps() {
    for (front_end, entry) in FRONT_ENDS.iter().flat_map(|one| one.codes.iter().map(move |entry| (one, entry))) {
        let loaded = load(front_end, entry.fix);
        assert!(loaded.program.is_some(), "the fix of {} does not load:\n{}", entry.code, entry.fix);
        assert_eq!(loaded.diagnostics, [], "the fix of {}", entry.code);
    }
}
