//! The playground, as far as it can be tested without WebAssembly: its files, its examples, and the questions that it asks of the command.
//! `playground/test` clicks through it in a browser.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use birk_agreement::tools;
use birk_lang::lexer::TokenKind;
use serde_json::Value;

use crate::binary::{BIRK, command, folder, root, run};

fn page(name: &str) -> String {
    fs::read_to_string(root().join("playground/www").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_keyword_has_its_colour() {
    let editor = page("editor.js");
    let words: BTreeSet<&str> = editor.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for keyword in TokenKind::KEYWORDS.iter().filter_map(|keyword| keyword.text()) {
        assert!(words.contains(keyword), "editor.js does not know `{keyword}`");
    }
}

/// The folder is complete with a module, and every model of the repository and of the book is listed in it once.
#[test]
fn the_folder_has_all_examples() {
    let place = folder("playground");
    fs::write(place.join("module"), "not compiled here").expect("writable");
    let out = place.join("page");
    run(command("bash").arg("playground/build").arg(&out).arg(place.join("module"))).exits(0).prints("examples");
    for name in ["index.html", "page.js", "worker.js", "wasi.js", "style.css", "birk.wasm"] {
        assert!(out.join(name).is_file(), "{name} is missing");
    }
    let list = fs::read_to_string(out.join("examples.txt")).expect("a list");
    let examples: Vec<&str> = list.lines().map(|line| line.split('\t').nth(1).expect("a path")).collect();
    assert_eq!(examples.iter().collect::<BTreeSet<_>>().len(), examples.len(), "each once");
    for example in &examples {
        assert!(out.join(example).metadata().is_ok_and(|file| file.len() > 0), "{example} is empty");
    }
    let models = fs::read_dir(root().join("models")).expect("the corpus").map(|entry| entry.expect("readable").path());
    for model in models.filter(|path| path.extension().is_some_and(|end| end == "bir")) {
        let name = model.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(examples.contains(&&*format!("examples/models/{name}")), "{name} is not listed");
    }
    let of_book = examples.iter().filter(|path| path.starts_with("examples/book/")).count();
    assert!(of_book > 40, "{of_book} examples are from the book");
}

/// What a question of the page is answered with.
fn asked(place: &Path, words: &str) -> String {
    run(command(BIRK).current_dir(place).args(words.split_whitespace())).exits(0).out
}

#[test]
fn the_questions_of_the_page_are_understood() {
    let place = folder("playground_questions");
    fs::copy(root().join("models/peterson2.bir"), place.join("m.bir")).expect("a model");
    let usual = "--format json --diagnostics json --progress json --report report.html";
    let report: Value =
        serde_json::from_str(&asked(&place, &format!("check m.bir --memory 1G {usual}"))).expect("a report");
    assert_eq!((&report["verdict"], &report["stats"]["states"]), (&"holds".into(), &20.into()));
    assert!(place.join("report.html").is_file());
    asked(&place, "show m.bir --diagnostics json");
    for drawn in ["--threads", "--max-states 400"] {
        let svg = asked(&place, &format!("graph m.bir {drawn} --format svg --diagnostics json"));
        assert!(svg.starts_with("<svg"), "{svg:.80}");
    }
}

/// A link gives back the model that it was made of, compressed or not.
#[test]
fn links_carry_models() {
    if !tools::are_installed(&["node"]) {
        return;
    }
    let script = "
        const { fragmentOf, modelOf } = await import(process.argv[1]);
        const model = { text: '// é → ∀\\nsystem S { }\\n'.repeat(500), name: 'a b.bir', options: '-D N=3 --fairness weak' };
        const packed = await fragmentOf(model);
        delete globalThis.CompressionStream;
        const plain = await fragmentOf(model);
        for (const fragment of [packed, plain]) {
            const { text, name, options } = await modelOf(fragment);
            if (text !== model.text || name !== model.name || options !== model.options) throw new Error(fragment);
        }
        if (await modelOf('#e=x') !== null) throw new Error('an example is no model');
        if (packed.startsWith('#m=') && packed.length * 10 > plain.length) throw new Error(packed);
    ";
    // As a module, whatever its name says to Node.js.
    let module = folder("playground_links").join("link.mjs");
    fs::write(&module, page("link.js")).expect("writable");
    run(command("node").args(["--input-type=module", "--eval", script, "--"]).arg(module)).exits(0);
}
