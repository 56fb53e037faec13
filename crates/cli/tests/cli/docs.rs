//! The documentation tells the truth: every model in it loads, every screen in it is what the command prints, every
//! link leads somewhere, and nothing that the command offers is missing.
//!
//! In a fence, ```` ```bir ```` is a model, `bir,fails` one that is rejected, `bir,file=NAME` one that the screens
//! below it use, and `bir,model=PATH` the one in that file, without the comment at its top. ```` ```console ```` is a
//! screen: a line that begins with `$ ` is run, the lines below are its output.
//! `UPDATE_DOCS=1 cargo nextest run -p birk-cli --test cli docs::` writes all screens anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use birk::Engines;
use serde_json::Value;

use crate::binary::{BIRK, birk, command, folder, root, run};

/// A text of the documentation; the path is relative to the repository.
struct Page {
    path: PathBuf,
    text: String,
}

/// A fenced block of a page: what stands behind the opening fence, and where its text is.
struct Block {
    info: String,
    text: std::ops::Range<usize>,
    line: usize,
}

fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(PathBuf::from).to_vec();
    find_pages(Path::new("docs/src"), &mut paths);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Page { path, text }
    };
    paths.into_iter().map(read).collect()
}

fn find_pages(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(root().join(folder)).expect("the book is there");
    let mut names: Vec<_> = entries.map(|entry| folder.join(entry.expect("readable").file_name())).collect();
    names.sort();
    for path in names {
        match path.extension() {
            None => find_pages(&path, found),
            Some(end) if end == "md" => found.push(path),
            Some(_) => {}
        }
    }
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

impl Page {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<(String, usize, usize)> = None;
        let mut at = 0;
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            let after = at + line.len();
            if let Some(info) = line.trim_end().strip_prefix("```") {
                match open.take() {
                    None => open = Some((info.to_owned(), after, number + 2)),
                    Some((info, start, line)) => blocks.push(Block { info, text: start..at, line }),
                }
            }
            at = after;
        }
        assert!(open.is_none(), "{}: a fence is not closed", self.path.display());
        blocks
    }

    fn place(&self, block: &Block) -> String {
        format!("{}:{}", self.path.display(), block.line)
    }
}

#[test]
fn every_model_loads_or_is_rejected_as_it_says() {
    let mut loaded = 0;
    for page in pages() {
        for block in page.blocks().iter().filter(|block| block.info.split(',').next() == Some("bir")) {
            let text = &page.text[block.text.clone()];
            let is_whole = text.lines().any(|line| line.starts_with("system"));
            let answer = birk_lang::load(text, &[]);
            let errors = answer.diagnostics.iter().filter(|d| !d.is_warning()).count();
            match block.info.contains("fails") {
                true => assert!(errors > 0, "{}: this model should be rejected", page.place(block)),
                false if is_whole => assert_eq!(errors, 0, "{}: {:#?}", page.place(block), answer.diagnostics),
                false => {}
            }
            loaded += usize::from(is_whole);
        }
    }
    assert!(loaded > 20, "the documentation shows {loaded} models");
}

#[test]
fn every_model_of_a_file_is_as_in_the_file() {
    let mut shown = 0;
    for page_of_models in pages() {
        for block in page_of_models.blocks() {
            let path = block.info.split(',').find_map(|part| part.strip_prefix("model="));
            let Some(path) = path else { continue };
            let file = page(path);
            let model: String = file.split_inclusive('\n').skip_while(|line| line.starts_with("//")).collect();
            let place = page_of_models.place(&block);
            assert_eq!(&page_of_models.text[block.text.clone()], model, "{place}: not as in {path}");
            shown += 1;
        }
    }
    assert!(shown >= 10, "the cookbook shows {shown} models");
}

#[test]
fn every_screen_is_what_the_command_prints() {
    let mut offences = Vec::new();
    for page in pages() {
        let name = page.path.to_string_lossy().replace(['/', '.'], "_");
        let place = folder(&format!("docs_{name}"));
        std::os::unix::fs::symlink(root().join("models"), place.join("models")).expect("a link can be made");
        let (mut renewed, mut done) = (String::new(), 0);
        for block in page.blocks() {
            let text = &page.text[block.text.clone()];
            if let Some(name) = block.info.split(',').find_map(|part| part.strip_prefix("file=")) {
                fs::write(place.join(name), text).expect("writable");
            }
            if block.info != "console" {
                continue;
            }
            let screen = screen(&place, text);
            if steady(&screen) != steady(text) {
                offences.push(format!("{}: expected\n{screen}", page.place(&block)));
                renewed += &page.text[done..block.text.start];
                renewed += &screen;
                done = block.text.end;
            }
        }
        renewed += &page.text[done..];
        if renewed != page.text && std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(root().join(&page.path), renewed).expect("writable");
        }
    }
    assert!(offences.is_empty(), "{}\nUPDATE_DOCS=1 writes these screens anew", offences.join("\n"));
}

/// The commands of a screen, each with what it prints now.
fn screen(folder: &Path, text: &str) -> String {
    let bin = Path::new(BIRK).parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let mut screen = String::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let answer =
            run(command("sh").current_dir(folder).env("PATH", &path).args(["-c", &format!("{{ {line}; }} 2>&1")]));
        screen += &format!("$ {line}\n");
        answer.out.lines().for_each(|line| screen += &format!("{}\n", line.trim_end()));
    }
    screen
}

/// The lines without what differs from run to run.
fn steady(text: &str) -> Vec<&str> {
    let measured = ["\"seconds\"", "\"states_per_second\"", "\"peak_memory_bytes\"", "\"store_bytes_per_state\""];
    text.lines()
        .map(|line| {
            let start = line.trim_start();
            match measured.iter().chain(&["time:"]).find(|word| start.starts_with(**word)) {
                Some(word) => word,
                None if start.starts_with("memory:") => line.split([',', ';']).next().unwrap_or_default(),
                None if start.starts_with("next:") => line.split(';').next().unwrap_or_default(),
                None => line.trim_end(),
            }
        })
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut pages = pages();
    pages.push(Page { path: "CHANGELOG.md".into(), text: page("CHANGELOG.md") });
    for page in &pages {
        let near = page.path.parent().unwrap_or(Path::new(""));
        for target in page.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            let is_ours = !file.is_empty() && !target.contains("://");
            assert!(!is_ours || root().join(near).join(file).exists(), "{}: no {target}", page.path.display());
        }
    }
    // The book as it is built: a page becomes HTML, other files stay.
    for target in page("docs/src/llms.txt").split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let file = target.strip_suffix(".html").map_or_else(|| target.to_owned(), |page| format!("{page}.md"));
        assert!(root().join("docs/src").join(&file).is_file(), "docs/src/llms.txt: no {target}");
    }
    let summary = page("docs/src/SUMMARY.md");
    for page in pages.iter().filter_map(|page| page.path.strip_prefix("docs/src").ok()) {
        let path = page.display().to_string();
        assert!(path == "SUMMARY.md" || summary.contains(&format!("({path})")), "{path} is not in SUMMARY.md");
    }
}

#[test]
fn options_of_engines_are_those_of_their_rows() {
    let page = page("docs/src/engines.md");
    let (_, rest) = page.split_once("<!-- engine options -->").expect("the table begins");
    let (table, _) = rest.split_once("<!-- end of engine options -->").expect("the table ends");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let expected = Engines::default().options().into_iter().map(|(option, owners)| {
        let owners: Vec<String> = owners.iter().map(|owner| format!("`{owner}`")).collect();
        let default = option.default.map_or_else(|| "-".to_owned(), |default| default.to_string());
        format!("| `--{}` | {} | {default} | {} |", option.name, owners.join(", "), option.help)
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());
}

#[test]
fn every_engine_and_every_option_is_described() {
    let engines = page("docs/src/engines.md");
    for name in Engines::default().iter().map(|engine| engine.name) {
        assert!(engines.contains(&format!("`{name}`")), "engines.md does not name {name}");
    }
    let commands = page("docs/src/commands.md");
    let help = birk("--help").exits(0).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for name in listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        assert!(commands.contains(&format!("\n## `birk {name}")), "commands.md has no section on {name}");
        let help = birk(&format!("{name} --help")).exits(0).out;
        let words = help.split_whitespace().filter(|word| word.starts_with("--"));
        for option in words.filter_map(|word| word.split(['=', '[', ',', '.', ')', '`']).next()) {
            assert!(commands.contains(&format!("`{option}")), "commands.md does not describe {option} of {name}");
        }
    }
}

#[test]
fn every_field_of_the_json_report_is_described() {
    let manual = page("docs/src/json.md");
    let mut fields = BTreeSet::new();
    for options in [
        "philosophers2.bir",
        "german_liveness.bir",
        "division_by_zero.bir",
        "hanoi.bir --max-depth 3",
        "hanoi.bir --max-states 9",
        "german_liveness.bir --search highway --width 2 --runs 9",
        "cabp.bir --search highway --width 2 --runs 2",
    ] {
        note_fields(&birk(&format!("check models/{options} --format json")).json(), &mut fields);
    }
    assert!(fields.len() > 40);
    for field in fields {
        assert!(manual.contains(&format!("`{field}`")), "json.md does not describe `{field}`");
    }
}

/// The names of all fields; those of states, changes and constants are the model's own.
fn note_fields(value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| note_fields(item, fields)),
        Value::Object(object) => {
            for (name, value) in object {
                fields.insert(name.clone());
                let is_foreign =
                    ["constants", "changes"].contains(&name.as_str()) || name == "states" && value.is_array();
                if !is_foreign {
                    note_fields(value, fields);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn codes_of_diagnostics_are_left_to_explain() {
    assert!(page("docs/src/diagnostics.md").contains("`birk explain"));
    for page in pages() {
        let words = page.text.split(|c: char| !c.is_ascii_alphanumeric());
        let is_code = |word: &&str| {
            word.len() == 5 && word.starts_with(['E', 'W']) && word[1..].chars().all(|c| c.is_ascii_digit())
        };
        for code in words.filter(is_code) {
            assert!(birk::explain(code).is_some(), "{}: no code {code}", page.path.display());
        }
    }
}
