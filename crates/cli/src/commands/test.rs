//! `birk test`: what models say should be found of them is what is found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use birk::process_memory::Memory;
use birk::{Conditions, Loaded, Options, Patient, Threads};
use birk_ir::Expectation;

use crate::cli::{Color, TestArgs, TestFormat};
use crate::escape::escape;
use crate::load::imported;
use crate::numbers::{count, grouped};
use crate::report::sarif::annotation;
use crate::source::Source;
use crate::terminal::{print, uses_color};
use crate::{Exit, Failure, diagnostics};

/// A model with expectations.
struct Model {
    path: PathBuf,
    source: Source,
    expectations: Vec<Expectation>,
}

/// What became of an expectation.
struct Met {
    /// In which ways the model is not as expected.
    differences: Vec<String>,
    seconds: f64,
}

/// Runs the command.
pub(crate) fn run(args: &TestArgs) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut paths = Vec::new();
    for path in &args.models {
        collect(path, &mut paths, true)?;
    }
    paths.sort();
    paths.dedup();
    let (models, without) = read(&paths)?;
    if models.is_empty() {
        return Err(Failure::usage(format!(
            "{}, none with an expectation; write what should be found into one: `expect holds;`",
            count(paths.len() as u64, "file")
        )));
    }
    let mut shown = String::new();
    let all = each(&models, args.jobs, |model, met| match args.format {
        TestFormat::Human => print(&human(model, met)).map(|_| ()),
        TestFormat::Github => print(&(annotations(model, met) + &human(model, met))).map(|_| ()),
        TestFormat::Junit => {
            shown.push_str(&junit(model, met));
            Ok(())
        }
    })?;
    let failed = all.iter().filter(|met| !met.differences.is_empty()).count();
    let seconds = started.elapsed().as_secs_f64();
    match args.format {
        TestFormat::Human | TestFormat::Github => {
            let none =
                if without > 0 { format!("; {} without any", count(without as u64, "file")) } else { String::new() };
            let (met, of) = (grouped((all.len() - failed) as u64), grouped(all.len() as u64));
            let models = count(models.len() as u64, "model");
            print(&format!("\n{met} of {of} expectations met ({models}{none}; {seconds:.1} s)\n"))?;
        }
        TestFormat::Junit => {
            let (tests, head) = (all.len(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
            print(&format!(
                "{head}\n<testsuites name=\"birk\" tests=\"{tests}\" failures=\"{failed}\" time=\"{seconds:.3}\">\n{shown}</testsuites>\n"
            ))?;
        }
    }
    Ok(if failed == 0 { Exit::Success } else { Exit::Violated })
}

/// A model, or the models in a folder and below it.
pub(crate) fn collect(path: &Path, paths: &mut Vec<PathBuf>, is_named: bool) -> Result<(), Failure> {
    let failed = |error| Failure::io(&format!("read {}", path.display()), &error);
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if is_named || birk::FRONT_ENDS.iter().any(|language| language.extensions.contains(&extension)) {
            paths.push(path.to_owned());
        }
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let is_link_to_folder = entry.file_type().map_err(failed)?.is_symlink() && entry.path().is_dir();
        if !is_hidden && !is_link_to_folder {
            collect(&entry.path(), paths, false)?;
        }
    }
    Ok(())
}

/// The models that expect something, and how many do not. What does not say `expect` is not read any further.
fn read(paths: &[PathBuf]) -> Result<(Vec<Model>, usize), Failure> {
    let mut models = Vec::new();
    for path in paths {
        let source = Source::read(path)?;
        if !source.text.contains("expect") {
            continue;
        }
        let loaded = load(path, &source, &[]);
        let expectations = birk::expectations(path, &source.text, &loaded).map_err(|span| {
            let (line, _) = source.position(span);
            let example = "// expect -D N=2: violated safe in 3; 14 states, 27 transitions, depth 3";
            Failure::usage(format!("{}:{line}: this expectation cannot be read; one is `{example}`", source.path))
        })?;
        // What cannot be read may be an expectation.
        if loaded.program.is_none() && (birk::front_end(path).expects || !expectations.is_empty()) {
            diagnostics::print(&source, &loaded.diagnostics, uses_color(Color::Auto, &std::io::stderr()));
            return Err(Failure { exit: Exit::Usage, message: String::new() });
        }
        if !expectations.is_empty() {
            models.push(Model { path: path.clone(), source, expectations });
        }
    }
    let without = paths.len() - models.len();
    Ok((models, without))
}

fn load(path: &Path, source: &Source, constants: &[(String, String)]) -> Loaded {
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    birk::load(path, &source.text, constants, &mut |name| imported(&folder.join(name)), Conditions::default())
}

/// Checks all expectations, several at a time; `done` is told of each model in order.
fn each(
    models: &[Model],
    jobs: Option<u32>,
    mut done: impl FnMut(&Model, &[Met]) -> Result<(), Failure>,
) -> Result<Vec<Met>, Failure> {
    let work: Vec<(usize, &Expectation)> =
        models.iter().enumerate().flat_map(|(at, model)| model.expectations.iter().map(move |e| (at, e))).collect();
    let jobs = jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), |jobs| jobs as usize);
    let memory = Memory::new(None);
    let memory = Memory { search: memory.search / jobs as u64, ..memory };
    let options = Options { engine: "bfs".into(), threads: Threads::Number(1), memory, ..Options::default() };
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(work.len()) {
            let (sender, work, next, options) = (sender.clone(), &work, &next, &options);
            scope.spawn(move || {
                while let Some((model, expected)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let met = check(&models[*model], expected, options);
                    if sender.send((*model, expected.span.start, met)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: BTreeMap<usize, Vec<(u32, Met)>> = BTreeMap::new();
        let (mut shown, mut all) = (0, Vec::new());
        for (model, place, met) in results {
            waiting.entry(model).or_default().push((place, met?));
            while let Some(complete) = waiting.remove(&shown) {
                if complete.len() < models[shown].expectations.len() {
                    waiting.insert(shown, complete);
                    break;
                }
                let mut complete = complete;
                complete.sort_by_key(|(place, _)| *place);
                let complete: Vec<Met> = complete.into_iter().map(|(_, met)| met).collect();
                done(&models[shown], &complete)?;
                all.extend(complete);
                shown += 1;
            }
        }
        Ok(all)
    })
}

fn check(model: &Model, expected: &Expectation, options: &Options) -> Result<Met, Failure> {
    let started = Instant::now();
    let loaded = load(&model.path, &model.source, &expected.constants);
    let differences = match &loaded.program {
        Some(program) => birk::differences(program, expected, options, &mut Patient)?,
        None => {
            let errors = loaded.diagnostics.iter().filter(|diagnostic| !diagnostic.is_warning());
            let errors = errors.map(|error| format!("error[{}]: {}", error.code, error.message));
            std::iter::once("with these constants it is no model".to_owned()).chain(errors).collect()
        }
    };
    Ok(Met { differences, seconds: started.elapsed().as_secs_f64() })
}

/// `ok`, or what is not as expected and how to see it.
fn human(model: &Model, met: &[Met]) -> String {
    let path = &model.source.path;
    if met.iter().all(|met| met.differences.is_empty()) {
        return format!("ok      {path}: {}\n", count(met.len() as u64, "expectation"));
    }
    let mut out = format!("FAILED  {path}\n");
    for (expected, met) in model.expectations.iter().zip(met).filter(|(_, met)| !met.differences.is_empty()) {
        let (line, _) = model.source.position(expected.span);
        for difference in &met.differences {
            _ = writeln!(out, "  {path}:{line}: {difference}");
        }
        _ = writeln!(out, "    to see it: birk check {path}{} --keep-going", defines(expected));
    }
    out
}

fn defines(expected: &Expectation) -> String {
    expected.constants.iter().map(|(name, value)| format!(" -D {name}={value}")).collect()
}

/// Lines that GitHub shows beside the expectations that are not met.
fn annotations(model: &Model, met: &[Met]) -> String {
    let mut out = String::new();
    for (expected, met) in model.expectations.iter().zip(met).filter(|(_, met)| !met.differences.is_empty()) {
        out += &annotation("error", (&model.source, expected.span), "birk test", &met.differences.join("\n"));
    }
    out
}

/// A test suite of JUnit.
fn junit(model: &Model, met: &[Met]) -> String {
    let path = escape(&model.source.path);
    let failed = met.iter().filter(|met| !met.differences.is_empty()).count();
    let seconds: f64 = met.iter().map(|met| met.seconds).sum();
    let mut out = format!(
        "  <testsuite name=\"{path}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" time=\"{seconds:.3}\">\n",
        met.len()
    );
    for (expected, met) in model.expectations.iter().zip(met) {
        let (line, _) = model.source.position(expected.span);
        let name = escape(&format!("line {line}{}", defines(expected)));
        _ = write!(out, "    <testcase classname=\"{path}\" name=\"{name}\" time=\"{:.3}\"", met.seconds);
        if met.differences.is_empty() {
            out.push_str("/>\n");
        } else {
            let message = escape(&met.differences.join("; "));
            _ = writeln!(
                out,
                ">\n      <failure message=\"{message}\">{path}:{line}: {message}</failure>\n    </testcase>"
            );
        }
    }
    out.push_str("  </testsuite>\n");
    out
}
