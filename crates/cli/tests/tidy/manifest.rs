//! How manifests are read: only as much TOML as our manifests use.

/// A key with its value, or a section.
pub(crate) struct Entry<'a> {
    pub(crate) line: usize,
    pub(crate) section: &'a str,
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
}

impl<'a> Entry<'a> {
    /// The package this entry asks for, if it is in any of the tables of dependencies.
    pub(crate) fn dependency(&self) -> Option<&'a str> {
        let renamed = self.value.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
        let key = self.key.split('.').next().map(|key| key.trim_matches('"'));
        match (self.section.rsplit_once("dependencies")?.1, self.key) {
            ("", "") => None,
            ("", _) => renamed.or(key),
            (table, "") => table.strip_prefix('.'),
            (_, key) => (key == "package").then(|| self.value.trim_matches('"')),
        }
    }
}

/// Every `key = value`, and every section header as an entry without a key.
pub(crate) fn entries_of(text: &str) -> Vec<Entry<'_>> {
    let (mut entries, mut section) = (Vec::new(), "");
    for (line, content) in text.lines().enumerate() {
        let content = content.split('#').next().unwrap_or_default().trim();
        if let Some(header) = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = header;
            entries.push(Entry { line, section, key: "", value: "" });
        } else if let Some((key, value)) = content.split_once('=') {
            entries.push(Entry { line, section, key: key.trim(), value: value.trim() });
        }
    }
    entries
}
