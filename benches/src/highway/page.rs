//! The page of the documentation that the figures go into: each table between two marks.

use std::path::{Path, PathBuf};

pub(crate) struct Page {
    path: PathBuf,
    text: String,
    /// How many slices a figure is of, where it is of slices.
    pub(crate) runs: u64,
    /// What stands in the corner of the next tables.
    pub(crate) corner: String,
}

impl Page {
    pub(crate) fn read(root: &Path, name: &str, runs: u64, corner: String) -> Self {
        let path = root.join("docs/src").join(name);
        let text = std::fs::read_to_string(&path).expect("the page is there");
        Self { path, text, runs, corner }
    }

    /// Puts a table between its marks, and shows it; its corner says what all figures have in common.
    pub(crate) fn table(&mut self, name: &str, rows: &[Vec<String>]) {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let (head, body) = rows.split_first().expect("a table has a head");
        let mut head = head.clone();
        head[0].clone_from(&self.corner);
        let rule = format!("|{}\n", "---|".repeat(head.len()));
        let table = line(&head) + &rule + &body.iter().map(line).collect::<String>();
        println!("\n{name}\n{table}");
        let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
        let start = self.text.find(&begin).unwrap_or_else(|| panic!("the page has no place for {name}")) + begin.len();
        let stop = start + self.text[start..].find(end).expect("each table has an end");
        self.text.replace_range(start..stop, &format!("\n{table}\n"));
    }

    pub(crate) fn write(self) {
        std::fs::write(&self.path, self.text).expect("the page can be written");
    }
}
