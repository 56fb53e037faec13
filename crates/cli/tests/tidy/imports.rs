//! Which files of a crate import which: a reader who opens one of them should not have to read all.
//!
//! A file is a module. What it names in `use` leads to the file that the longest part of the path is a module of. That a module
//! has parts does not count, what it imports from them does. A circle is a set of files that can all be reached from each other.

use std::collections::{BTreeMap, BTreeSet};

use super::File;

const MAX_CIRCLE: usize = 4;

/// Circles of too many files.
pub(crate) fn imports(files: &[File]) -> Vec<String> {
    let modules: BTreeMap<Vec<&str>, &File> =
        files.iter().filter_map(|file| Some((module_of(&file.path)?, file))).collect();
    let graph: Vec<Vec<usize>> = {
        let places: BTreeMap<&Vec<&str>, usize> = modules.keys().zip(0..).collect();
        modules.iter().map(|(module, file)| edges(module, file, &places)).collect()
    };
    let names: Vec<&str> = modules.values().map(|file| file.path.as_str()).collect();
    let large = circles(&graph).into_iter().filter(|circle| circle.len() > MAX_CIRCLE);
    large
        .map(|circle| {
            let files: Vec<&str> = circle.iter().map(|&place| names[place]).collect();
            format!("{} files import each other: {}", files.len(), files.join(", "))
        })
        .collect()
}

/// The crate and the modules that a source file stands for.
fn module_of(path: &str) -> Option<Vec<&str>> {
    let (room, rest) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let stem = rest.strip_suffix(".rs")?;
    let mut parts = vec![room];
    parts.extend(stem.split('/').filter(|part| *part != "lib" && *part != "mod"));
    (stem != "main" && !stem.ends_with("tests")).then_some(parts)
}

/// The files that a file imports from.
fn edges(module: &[&str], file: &File, places: &BTreeMap<&Vec<&str>, usize>) -> Vec<usize> {
    let code = file.shipped_code().unwrap_or_default();
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("use ") {
        let is_word = code[..at].chars().next_back().is_none_or(|c| c.is_whitespace());
        let Some(end) = code[at..].find(';').filter(|_| is_word) else { continue };
        for path in paths(&code[at + 4..at + end]) {
            let mut path = absolute(module, &path);
            while path.len() > 1 && !places.contains_key(&path) {
                path.pop();
            }
            found.extend(places.get(&path).filter(|_| path != module));
        }
    }
    found.into_iter().collect()
}

/// All paths of a tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths(tree: &str) -> Vec<String> {
    let tree: String = tree.split_whitespace().take_while(|word| *word != "as").collect();
    let Some((head, rest)) = tree.split_once('{') else { return vec![tree] };
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in rest.strip_suffix('}').unwrap_or(rest).chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().expect("there is one").push(c),
        }
    }
    parts.iter().filter(|part| !part.is_empty()).flat_map(|part| paths(&format!("{head}{part}"))).collect()
}

/// A path from the root of the crate; what is not of this crate leads nowhere.
fn absolute<'a>(module: &[&'a str], path: &'a str) -> Vec<&'a str> {
    let mut parts = path.split("::").peekable();
    let mut from = match parts.peek() {
        Some(&"crate") => vec![module[0]],
        _ => module.to_vec(),
    };
    while let Some(part) = parts.next_if(|part| ["crate", "self", "super"].contains(part)) {
        if part == "super" {
            from.pop();
        }
    }
    from.extend(parts);
    from
}

/// Sets of places that can be reached from each other.
fn circles(graph: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..graph.len())
        .map(|start| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(place) = open.pop() {
                open.extend(graph[place].iter().filter(|next| seen.insert(**next)));
            }
            seen
        })
        .collect();
    let with = |place: usize| -> Vec<usize> {
        reached[place].iter().copied().filter(|&other| reached[other].contains(&place)).collect()
    };
    let mut found: Vec<Vec<usize>> = (0..graph.len()).map(with).filter(|circle| !circle.is_empty()).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn imports_can_fail() {
    let file = |name: &str, text: &str| File { path: format!("crates/x/src/{name}.rs"), text: text.to_owned() };
    let ring = |size: usize| -> Vec<File> {
        (0..size).map(|i| file(&format!("m{i}"), &format!("use crate::m{}::Thing;\n", (i + 1) % size))).collect()
    };
    assert_ne!(imports(&ring(5)), [""; 0]);
    assert_eq!(imports(&ring(4)), [""; 0]);
    let mut apart = ring(5);
    apart[2].text =
        "//! use crate::m3::Thing;\nuse std::{fs, io};\n#[cfg(test)]\nmod tests { use crate::m3::Thing; }\n".into();
    assert_eq!(imports(&apart), [""; 0]);
    let family = ["a", "b", "c", "d"].map(|name| file(&format!("p/{name}"), "use super::{Other, Thing};"));
    let mut family: Vec<File> = family.into_iter().collect();
    family.push(file("p", "use a::A;\nuse b::{B, b::C};\nuse self::{c::C, d::D};\nmod a;"));
    assert_ne!(imports(&family), [""; 0]);
    family.pop();
    family.push(file("p", "mod a;\nmod b;\nuse std::mem;"));
    assert_eq!(imports(&family), [""; 0]);
}
