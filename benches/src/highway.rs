//! The experiments of "Breadth-Bounded Model Checking" (Meulen, Stappers, Willemse) again:
//! `cargo run --release -p birk-bench -- --highway [--quick]`. The tables go into the documentation.

pub(crate) mod page;
mod paper;
mod subject;

use std::path::Path;

/// Runs everything: a hundred slices for each figure, with `quick` ten.
pub(crate) fn run(root: &Path, quick: bool) {
    let runs = if quick { 10 } else { 100 };
    let mut page = page::Page::read(root, "highway-experiments.md", runs, format!("{runs} slices each"));
    paper::one(root, &mut page);
    paper::two(root, &mut page);
    paper::three(root, &mut page);
    page.write();
}
