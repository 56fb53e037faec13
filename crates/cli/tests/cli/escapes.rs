//! What comes from models, files and arguments cannot command a terminal, however it gets there.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use crate::binary::{Answer, BIRK, command, folder, run};

/// Clears the screen, sets the title, turns red by a control character of one byte in Latin-1, and turns the line around.
const COMMANDS: &str = "\x1b[2J\x1b]0;title\x07\u{9b}31m\u{202e}\x1b[8m";

/// A folder with a model that has such characters wherever a model may have them, in its name too.
fn model(test: &str) -> (PathBuf, String) {
    let folder = folder(&format!("escapes_{test}"));
    let text = format!(
        "// {COMMANDS}\nsystem Esc {{\n  int (0, 3) x;\n  boolean done;\n  active thread T() {{\n    loc a:\n      \
         when x /* {COMMANDS} */ < 3 do {{ x := x + 1; assert x < 3, \"{COMMANDS}\"; }} goto a;\n      \
         when x /* {COMMANDS} */ > 5 do {{ x := 0; }} goto a;\n  }}\n  \
         active thread W() {{ loc w: when done /* {COMMANDS} */ do {{ }} return; }}\n}}\n"
    );
    let name = "a\x1b[2J\u{9b}31m'.bir";
    fs::write(folder.join(name), text).expect("writable");
    (folder, name.to_owned())
}

/// Neither stream has a character that a terminal obeys, except colours that Birk sets itself.
#[track_caller]
fn harmless(answer: &Answer, has_colors: bool) {
    let sets_color = regex::Regex::new("\x1b\\[[0-9;]*m").expect("a regular expression");
    for text in [&answer.out, &answer.err] {
        let plain = if has_colors { sets_color.replace_all(text, "").into_owned() } else { text.clone() };
        let hidden = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!plain.contains(hidden), "{:?} in {plain:?}", plain.chars().find(|c| hidden(*c)));
        assert!(!text.contains("\x1b[8m"), "a colour of the model in {text:?}");
    }
}

#[test]
fn reports_for_people_are_harmless() {
    let (folder, name) = model("report");
    for color in ["never", "always"] {
        for words in [&["check"][..], &["check", "--property", "deadlock"], &["simulate"], &["check", "--keep-going"]] {
            let answer = run(command(BIRK).current_dir(&folder).args(words).arg(&name).args(["--color", color]));
            assert!(answer.out.contains("\\u001b[2J"), "the characters are still seen: {}", answer.out);
            harmless(&answer, color == "always");
        }
    }
    let answer = run(command(BIRK).current_dir(&folder).arg("check").arg(&name));
    answer.exits(1).prints("\\u001b]0;title\\u0007\\u009b31m\\u202e").prints(r"$'a\u001b[2J\u009b31m\'.bir'");
}

#[test]
fn a_file_name_can_be_pasted_into_a_shell() {
    let (folder, name) = model("shell");
    let out = run(command(BIRK).current_dir(&folder).arg("check").arg(&name)).exits(1).out;
    let line = out.lines().find_map(|line| line.strip_prefix("reproduce: birk ")).expect("a line to repeat it by");
    let mut shell = command("bash");
    shell.env("LC_ALL", "C.UTF-8").current_dir(&folder);
    run(shell.arg("-c").arg(format!("'{BIRK}' {line}"))).exits(1);
}

#[test]
fn reports_for_programs_are_exact_and_harmless() {
    let (folder, name) = model("json");
    let answer = run(command(BIRK).current_dir(&folder).args(["check", "--format", "json"]).arg(&name)).exits(1);
    harmless(&answer, false);
    let report = answer.json();
    assert_eq!(report["model"], name.as_str());
    let message = report["traces"][0]["fault"]["message"].as_str();
    assert!(message.is_some_and(|text| text.contains(COMMANDS)), "{report}");
}

#[test]
fn diagnostics_and_messages_are_harmless() {
    let (folder, _) = model("diagnostics");
    let wrong = format!("system S {{ /* {COMMANDS} */ int x := y /* {COMMANDS} */; {COMMANDS} }}\n");
    fs::write(folder.join("wrong.bir"), wrong).expect("writable");
    fs::create_dir(folder.join("set")).expect("writable");
    fs::write(folder.join("set/m.bir"), "system S { }").expect("writable");
    fs::write(folder.join("set/birk.toml"), format!("a = \"{}\"\n# {COMMANDS}", "\u{9b}2J")).expect("writable");
    let tries: &[&[&str]] = &[
        &["check", "wrong.bir", "--color", "always"],
        &["check", "wrong.bir", "--color", "never"],
        &["fmt", "wrong.bir"],
        &["check", COMMANDS],
        &["check", "wrong.bir", COMMANDS],
        &["check", "wrong.bir", "--search", COMMANDS],
        &["check", "wrong.bir", "--property", COMMANDS],
        &["check", "set/m.bir"],
        &["explain", COMMANDS],
        &["automaton", COMMANDS],
        &["resume", COMMANDS],
        &[COMMANDS],
    ];
    for words in tries {
        let answer = run(command(BIRK).current_dir(&folder).args(*words));
        assert!(matches!(answer.code, Some(2 | 4)), "{words:?}: {answer:?}");
        harmless(&answer, words.contains(&"always"));
    }
    // The mark is under what is wrong, although what stands before it was written out.
    fs::write(folder.join("name.bir"), format!("system S {{ /* {COMMANDS} */ byte x := y; }}\n")).expect("writable");
    let answer = run(command(BIRK).current_dir(&folder).args(["check", "name.bir"])).exits(2);
    let lines: Vec<&str> = answer.err.lines().collect();
    let at = lines.iter().position(|line| line.contains("byte x := y")).expect("the line is shown");
    let column = |line: &str, text: &str| line.find(text).map(|at| line[..at].chars().count());
    assert!(lines[at..].iter().any(|line| column(line, "^") == column(lines[at], "y;")), "{}", answer.err);
}

#[test]
fn guided_simulation_is_harmless() {
    let (folder, name) = model("guided");
    let mut guided = command(BIRK);
    guided.current_dir(&folder).args(["simulate", "--guided"]).arg(&name).stdin(Stdio::piped());
    let mut process = guided.spawn().expect("birk can be run");
    let script = format!("1\n1\n1\nwhy\nproperties\nhistory\neval x == 3 # {COMMANDS}\neval {COMMANDS}\n");
    process.stdin.take().expect("it listens").write_all(script.as_bytes()).expect("it reads");
    let output = process.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let answer = Answer { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(answer.out.contains("\\u009b31m"), "{}", answer.out);
    harmless(&answer, false);
}

#[test]
fn a_page_shows_what_a_browser_would_hide() {
    let (folder, name) = model("page");
    run(command(BIRK).current_dir(&folder).args(["check", "--report", "out.html"]).arg(&name)).exits(1);
    let page = fs::read_to_string(folder.join("out.html")).expect("it was written");
    assert!(page.contains("\\u202e") && page.contains("\\u009b31m"));
    assert!(
        !page.contains(|c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c))
    );
}
