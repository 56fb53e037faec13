//! How many of the models with errors are repaired by the fixes that are offered.

mod client;

use client::{Client, applied, files_below, load, models, uri_of};
use serde_json::json;

/// Fixes may uncover further errors; more rounds than this are not made.
const ROUNDS: i32 = 10;

#[test]
fn fixes_repair_what_they_promise() {
    let mut client = Client::start();
    let (mut rejected, mut offered, mut repaired) = (0, Vec::new(), Vec::new());
    for path in files_below(&models().join("rejected")) {
        let mut text = std::fs::read_to_string(&path).expect("it can be read");
        let errors = |text: &str| load(&path, text).diagnostics.iter().filter(|found| !found.is_warning()).count();
        let before = errors(&text);
        if before == 0 {
            continue;
        }
        rejected += 1;
        let name = path.file_name().and_then(|name| name.to_str()).expect("it has a name").to_owned();
        let uri = uri_of(&path);
        client.open(&uri, &text);
        for version in 1..=ROUNDS {
            let Some(edits) = client.all_fixes(&uri) else { break };
            if version == 1 {
                offered.push(name.clone());
            }
            text = applied(&text, &edits);
            client.change(&uri, version, &json!([{ "text": text }]));
        }
        let after = errors(&text);
        assert!(after <= before, "{name}: the fixes made it worse, {before} to {after}\n{text}");
        if after == 0 {
            repaired.push(name);
        }
        client.close(&uri);
    }
    println!("{rejected} rejected models; fixes offered for {}: {offered:?}", offered.len());
    println!("repaired {}: {repaired:?}", repaired.len());
    assert_eq!((rejected, offered.len(), repaired.len()), (109, 17, 10));
    client.stop();
}
