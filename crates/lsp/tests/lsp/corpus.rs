//! Every model of the repository in the server: diagnostics as the front end gives them, formatting as the formatter
//! does it, and answers to everything else.

use lsp_types::TextEdit;
use serde_json::{Value, json};

use crate::client::{
    Client, applied, assert_same, files_below, language_of, load, models, position_of, range_of, uri_of,
};

#[test]
fn every_model_has_the_diagnostics_of_its_front_end() {
    let mut client = Client::start();
    let files = files_below(&models());
    assert!(files.len() > 250, "{}", files.len());
    for path in &files {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let uri = uri_of(path);
        client.open(&uri, &text);
        let sent = client.diagnostics(&uri, 0);
        assert_same(&text, &sent, &load(path, &text), &path.display().to_string());
        client.close(&uri);
    }
    client.stop();
}

#[test]
fn every_model_is_formatted_as_by_the_formatter() {
    let mut client = Client::start();
    let mut changed = 0;
    for path in files_below(&models()) {
        // Blanks everywhere, so that there is something to do.
        let text =
            std::fs::read_to_string(&path).expect("it can be read").replace(";\n", " ;\n\n\n").replace('\t', " ");
        let uri = uri_of(&path);
        client.open(&uri, &text);
        let params = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } });
        let edits = client.ask("textDocument/formatting", params).expect("it is answered");
        let formatter = language_of(&path).and_then(|language| language.format);
        match formatter.and_then(|format| format(&text).ok()) {
            Some(formatted) => {
                let edits: Vec<TextEdit> = serde_json::from_value(edits).expect("they are edits");
                assert_eq!(applied(&text, &edits), formatted, "{}", path.display());
                changed += usize::from(!edits.is_empty());
            }
            None => assert_eq!(edits, Value::Null, "{}", path.display()),
        }
        client.close(&uri);
    }
    assert!(changed > 100, "{changed}");
    client.stop();
}

/// Where the names of a mapping begin that its specification declares, and where that is named.
fn names_of_specification(parsed: &birk_lang::parser::Parsed) -> Vec<u32> {
    let items = parsed.system.iter().flat_map(|system| &system.items);
    let refinement = items.filter_map(|item| match item {
        birk_lang::ast::Item::Refinement(refinement) => Some(refinement),
        _ => None,
    });
    let names = |one: &birk_lang::ast::Refinement| {
        one.mapped.iter().map(|mapped| mapped.variable.span.start).chain([one.name.span.start]).collect::<Vec<_>>()
    };
    refinement.flat_map(names).collect()
}

#[test]
fn names_of_every_model_are_resolved() {
    let mut client = Client::start();
    let (mut names, mut resolved) = (0, 0);
    for path in files_below(&models()).iter().filter(|path| !path.starts_with(models().join("rejected"))) {
        let text = std::fs::read_to_string(path).expect("it can be read");
        if language_of(path).is_none_or(|language| language.name != birk_lsp::BIR) {
            continue;
        }
        let uri = uri_of(path);
        client.open(&uri, &text);
        let parsed = birk_lang::parser::parse(&text, 0);
        let elsewhere = names_of_specification(&parsed);
        let is_name = |token: &&birk_lang::lexer::Token| token.kind == birk_lang::lexer::TokenKind::Name;
        for token in parsed.tokens.iter().filter(is_name) {
            // What a specification declares is in another file.
            let is_word = parsed.words.binary_search(&token.span.start).is_ok();
            if is_word || elsewhere.contains(&token.span.start) {
                continue;
            }
            names += 1;
            let position = position_of(&text, token.span.start as usize);
            let definition = client.at("textDocument/definition", &uri, position).expect("it is answered");
            let hover = client.at("textDocument/hover", &uri, position).expect("it is answered");
            // What the standard library declares is in no file, and some names are part of the language.
            let word = &text[token.span.range()];
            let is_built_in = ["len", "full", "empty", "peek", "size", "nobody", "deadlock", "fault"].contains(&word);
            if !definition.is_null() {
                assert!(!hover.is_null(), "{}: {word}", path.display());
                resolved += 1;
            } else if hover.is_null() && !is_built_in {
                panic!("{}:{}: `{word}` is not resolved", path.display(), position.line + 1);
            }
        }
        client.close(&uri);
    }
    println!("{resolved} of {names} names lead to their declaration");
    assert!(resolved * 100 > names * 98, "{resolved} of {names}");
    client.stop();
}

#[test]
fn colours_outlines_and_lenses_of_every_model_are_well_formed() {
    let mut client = Client::start();
    for path in files_below(&models()) {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let uri = uri_of(&path);
        client.open(&uri, &text);
        let tokens = client.of("textDocument/semanticTokens/full", &uri).expect("it is answered");
        let outline = client.of("textDocument/documentSymbol", &uri).expect("it is answered");
        let lenses = client.of("textDocument/codeLens", &uri).expect("it is answered");
        let whole = range_of(&text, birk_ir::Span::new(0, text.len()));
        let params = json!({ "textDocument": { "uri": uri }, "range": whole });
        let hints = client.ask("textDocument/inlayHint", params).expect("it is answered");
        if language_of(&path).is_some_and(|language| language.name == birk_lsp::BIR) {
            let lengths: Vec<u32> = text.lines().map(|line| line.encode_utf16().count() as u32).collect();
            let data: Vec<u32> = serde_json::from_value(tokens["data"].clone()).expect("numbers");
            let (mut line, mut column) = (0, 0);
            for token in data.chunks(5) {
                (line, column) = if token[0] == 0 { (line, column + token[1]) } else { (line + token[0], token[1]) };
                let end = column + token[2];
                assert!(token[2] > 0 && end <= lengths[line as usize], "{}: {line}:{column}", path.display());
            }
            if let Some(outline) = outline.as_array() {
                outline.iter().for_each(|node| is_nested(node, &path.display().to_string()));
            }
            let loaded = load(&path, &text);
            if let Some(program) = loaded.program {
                let properties = program.properties.iter().filter(|property| property.span.is_some()).count();
                assert_eq!(lenses.as_array().map(Vec::len), Some(1 + properties), "{}", path.display());
                assert_eq!(lenses[0]["command"]["arguments"], json!([uri, null]));
                let globals = program.variables.iter().filter(|variable| variable.role == birk_ir::VarRole::Global);
                let mut globals: Vec<birk_ir::Span> = globals.map(|v| v.span).filter(|span| span.file == 0).collect();
                globals.sort_unstable();
                globals.dedup();
                let hints = hints.as_array().map_or(0, Vec::len);
                assert!(hints >= globals.len(), "{}: {hints} {}", path.display(), globals.len());
            }
        }
        client.close(&uri);
    }
    client.stop();
}

/// Every name is inside of its declaration, every part inside of the whole.
fn is_nested(node: &Value, what: &str) {
    let place = |range: &Value| -> lsp_types::Range { serde_json::from_value(range.clone()).expect("a range") };
    let (whole, name) = (place(&node["range"]), place(&node["selectionRange"]));
    assert!(whole.start <= name.start && name.end <= whole.end, "{what}: {node}");
    for part in node["children"].as_array().into_iter().flatten() {
        let inner = place(&part["range"]);
        assert!(whole.start <= inner.start && inner.end <= whole.end, "{what}: {part}");
        is_nested(part, what);
    }
}
