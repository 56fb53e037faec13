//! Whatever the bytes, the front end answers: no panic, no hang, places inside the text, and a program only without errors. Files are
//! those of the corpus and random circuits in both forms, with random changes, from fixed seeds.

use std::path::Path;

use birk::Encoding;
use birk_engine::{Model as _, Successors};
use birk_exec::{Interpreter, Random};
use birk_ir::Conditions;

use crate::random::{circuit, rounds};

/// Sends bytes through the front end, and takes some steps of what comes out.
fn is_read(bytes: &[u8]) -> bool {
    let text = Encoding::Bytes.text(bytes.to_vec()).expect("all bytes are characters");
    let none = &mut |_: &str| Err(String::new());
    let loaded = birk::load(Path::new("changed.aig"), &text, &[], none, Conditions::default());
    for diagnostic in &loaded.diagnostics {
        let spans = diagnostic.related.iter().map(|(span, _)| *span).chain([diagnostic.span]);
        assert!(spans.into_iter().all(|span| text.get(span.range()).is_some()), "{diagnostic:?}\n{text:?}");
        assert!(birk::explain(diagnostic.code).is_some(), "{diagnostic:?}");
    }
    let has_errors = loaded.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning());
    assert_eq!(loaded.program.is_none(), has_errors, "{:#?}\n{text:?}", loaded.diagnostics);
    let Some(program) = loaded.program else { return false };
    let model = Interpreter::new(&program, &[]);
    let mut batch = Successors::in_parts(model.words());
    let mut state = program.initial_state();
    for step in 0..10 {
        batch.clear();
        model.successors(&state, &mut batch);
        if batch.is_empty() {
            break;
        }
        state = batch.state(step % batch.len()).to_vec();
        assert!(program.is_state(&state), "a step leads to a state\n{text:?}");
    }
    true
}

fn files() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/aiger");
    let paths = std::fs::read_dir(folder).expect("the circuits are there").map(|entry| entry.expect("readable").path());
    let mut files: Vec<Vec<u8>> = paths.map(|path| std::fs::read(path).expect("a file")).collect();
    files.sort();
    for seed in 0..8 {
        let circuit = circuit(&mut Random::new(seed));
        files.push(circuit.ascii().into_bytes());
        files.push(circuit.binary().chars().map(|c| c as u8).collect());
    }
    files
}

fn change(random: &mut Random, bytes: &mut Vec<u8>) {
    // Mostly near the beginning, where there are few bytes that do not matter.
    let end = if random.below(3) > 0 { bytes.len().min(60) } else { bytes.len() };
    let at = random.below(end + 1);
    let to = (at + random.below(4)).min(bytes.len());
    match random.below(5) {
        0 => _ = bytes.drain(at..to),
        1 => bytes.insert(at, b" 0123456789\n\rcljbfio"[random.below(20)]),
        2 => bytes.insert(at, random.below(256) as u8),
        3 => bytes.truncate(at),
        _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = b"0123456789 \n"[random.below(12)]),
    }
}

#[test]
fn changed_files_are_read_or_refused() {
    let (mut read, mut refused) = (0, 0);
    for (number, file) in files().iter().enumerate() {
        for round in 0..rounds(400) {
            let mut random = Random::new(round * 1000 + number as u64);
            let mut bytes = file.clone();
            for _ in 0..1 + random.below(3) {
                change(&mut random, &mut bytes);
            }
            *if is_read(&bytes) { &mut read } else { &mut refused } += 1;
        }
    }
    assert!(read > 300 && refused > 1000, "{read} were read, {refused} refused");
}

#[test]
fn extreme_files_are_refused() {
    let refused: &[&[u8]] = &[
        b"",
        b"\0",
        b"aig",
        b"aag 1",
        b"aag 4294967295 0 0 0 0\n",
        b"aig 4194304 0 0 0 4194304\n",
        b"aag 0 0 0 4294967295 0\n",
        b"aag 1 1 0 0 0 0 0 4294967295\n2\n",
        b"aag 0 0 0 0 0 0 0 1\n4294967295\n",
        b"aig 1 0 0 0 1\n\xff\xff\xff\xff\xff\xff",
        b"aig 1 0 0 0 1\n\x00\x00",
        b"aag 99999999999999999999 0 0 0 0\n",
        b"aag 1 0 1 0 0\n2 3 5\n",
        "aag 1 0 1 0 0\n2 \u{2713}\n".as_bytes(),
    ];
    for bytes in refused {
        assert!(!is_read(bytes), "{:?}", String::from_utf8_lossy(bytes));
    }
    // A circle of gates, and a chain of them that would be too deep for recursion.
    let chain = |last: u32| {
        let gates: String = (2..200_000).map(|gate| format!("{} {} {}\n", gate * 2, gate * 2 + 2, 3)).collect();
        format!("aag 200000 1 0 0 199999 1\n2\n4\n{gates}400000 {last} 2\n")
    };
    assert!(is_read(chain(2).as_bytes()));
    assert!(!is_read(chain(4).as_bytes()));
}
