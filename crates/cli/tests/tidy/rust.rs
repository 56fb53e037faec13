//! How Rust is read: comments, literals and tests are told from what is shipped.

pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether the words occur on the line, not as a part of longer words.
pub(crate) fn has(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| {
        let before = line[..at].chars().next_back().filter(|_| words.starts_with(is_name));
        let after = line[at + words.len()..].chars().next().filter(|_| words.ends_with(is_name));
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

/// The text with comments and literals blanked; every line stays where it was.
pub(crate) fn code_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = silent_end(&chars, at);
        let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
        code.extend(chars[at..end].iter().map(blank));
        code.extend(chars.get(end).filter(|_| end == at));
        at = end.max(at + 1);
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at` itself if none does.
fn silent_end(chars: &[char], at: usize) -> usize {
    let starts = |at: usize, word: &str| word.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    let find = |from: usize, word: &str| (from..chars.len()).find(|&at| starts(at, word));
    let close = |from: usize, word: &str| find(from, word).map_or(chars.len(), |end| end + word.chars().count());
    match chars[at] {
        '/' if starts(at, "//") => find(at, "\n").unwrap_or(chars.len()),
        '/' if starts(at, "/*") => close(at + 2, "*/"),
        'r' => {
            let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
            let is_raw = starts(at + 1 + hashes, "\"");
            if is_raw { close(at + 2 + hashes, &format!("\"{}", "#".repeat(hashes))) } else { at }
        }
        '"' => {
            let mut end = at + 1;
            while end < chars.len() && chars[end] != '"' {
                end += if chars[end] == '\\' { 2 } else { 1 };
            }
            (end + 1).min(chars.len())
        }
        '\'' if starts(at + 1, "\\") => close(at + 3, "'"),
        '\'' if starts(at + 2, "'") => at + 3,
        _ => at,
    }
}

/// The code without the items marked `#[cfg(test)]`; every line stays where it was.
pub(crate) fn outside_tests(code: &str) -> String {
    let (mut kept, mut rest) = (String::new(), code);
    while let Some(at) = ["#[cfg(test)]", "#[cfg(all(test,"].iter().filter_map(|mark| rest.find(mark)).min() {
        let item = &rest[at..];
        let mut depth = 0;
        let end = item.char_indices().find(|(_, c)| {
            depth += i32::from("{[(".contains(*c)) - i32::from("}])".contains(*c));
            depth < 0 || depth == 0 && (*c == '}' || *c == ';')
        });
        let end = end.map_or(item.len(), |(at, _)| at + 1);
        kept.push_str(&rest[..at]);
        kept.extend(item[..end].chars().filter(|c| *c == '\n'));
        rest = &item[end..];
    }
    kept + rest
}

#[test]
fn code_is_told_from_comments_literals_and_tests() {
    let blanked = |text: &str| code_of(text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(blanked("a // b\nc /* d // e */ g"), "a c g");
    assert_eq!(blanked(r#"a "b \" // c" d 'e' '\'' '"' &'f g b"h" r"i\" j"#), "a d &'f g b j");
    assert_eq!(blanked("for r##\"a \"# b\"## c r#type"), "for c r#type");
    assert_eq!(code_of("\"\n\"\n/*\n*/x").lines().count(), 4);
    let shipped = outside_tests("a\n#[cfg(test)]\nmod t { { } [;] }\nb\n#[cfg(test)]\nuse t;\n#[cfg(all(test, x))] c");
    assert_eq!(shipped, "a\n\n\nb\n\n\n");
    assert!(has("x.unsafe{", "unsafe") && !has("not_unsafe unsafely", "unsafe") && has("a fs::b", "fs::"));
}
