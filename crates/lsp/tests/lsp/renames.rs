//! Every name of every model of the corpus gets another one: the model stays the same but for its names.

use lsp_types::TextEdit;
use serde_json::{Value, json};

use crate::client::{Client, applied, files_below, language_of, load, models, position_of, uri_of};

/// How large everything in a program is.
fn shape(program: &birk_ir::Program) -> Vec<usize> {
    let mut shape = vec![
        program.variables.len(),
        program.transitions.len(),
        program.threads.len(),
        program.properties.len(),
        program.constants.len(),
        program.faults.len(),
        program.layout.bits() as usize,
    ];
    shape.extend(program.transitions.iter().map(|transition| transition.ops.len()));
    shape
}

#[test]
fn renamed_models_are_the_same_models() {
    let mut client = Client::start();
    let (mut models_seen, mut renamed) = (0, 0);
    let small = |path: &std::path::PathBuf| std::fs::metadata(path).is_ok_and(|about| about.len() < 4000);
    for path in files_below(&models()).into_iter().filter(small) {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let is_bir = language_of(&path).is_some_and(|language| language.name == birk_lsp::BIR);
        let Some(program) = is_bir.then(|| load(&path, &text).program).flatten() else { continue };
        models_seen += 1;
        let before = shape(&program);
        let uri = uri_of(&path);
        client.open(&uri, &text);
        let declared = client.of("textDocument/documentSymbol", &uri).expect("it is answered");
        let mut places = Vec::new();
        collect(&declared, &mut places);
        // Uses that are not in the outline: parameters and bound names.
        let (tokens, _) = birk_lang::lexer::tokenize(&text);
        let names = tokens.iter().filter(|token| token.kind == birk_lang::lexer::TokenKind::Name);
        places.extend(names.step_by(7).map(|token| json!(position_of(&text, token.span.start as usize))));
        for place in places {
            let params = json!({ "textDocument": { "uri": uri }, "position": place, "newName": "a_new_name" });
            let edit = match client.ask("textDocument/rename", params) {
                Ok(edit) => edit,
                Err(why) => {
                    let is_no_name = ["there is no name here", "is declared in", "is a word of the language"];
                    let is_no_name = is_no_name.iter().any(|reason| why.contains(reason));
                    assert!(is_no_name, "{} {place}: {why}", path.display());
                    continue;
                }
            };
            let edits: Vec<TextEdit> = serde_json::from_value(edit["changes"][&uri].clone()).expect("they are edits");
            let changed = applied(&text, &edits);
            let loaded = load(&path, &changed);
            let what = || format!("{} {place}:\n{:?}\n{changed}", path.display(), loaded.diagnostics);
            let program = loaded.program.as_ref().unwrap_or_else(|| panic!("{}", what()));
            assert_eq!(shape(program), before, "{}", what());
            renamed += 1;
        }
        client.close(&uri);
    }
    println!("{renamed} names of {models_seen} models were changed");
    assert!(models_seen > 100 && renamed > 2000, "{renamed} names of {models_seen} models");
    client.stop();
}

/// The places of all names of an outline.
fn collect(nodes: &Value, places: &mut Vec<Value>) {
    for node in nodes.as_array().into_iter().flatten() {
        places.push(node["selectionRange"]["start"].clone());
        collect(&node["children"], places);
    }
}
