//! The benchmark set BEEM, read in its own language: every model is read, and what its authors published is what Birk finds.
//!
//! The folder is that of the set (`original-benchmark` of its repositories): models are `NAME.dve`, with numbers of states and
//! answers to LTL in `results.xml` beside them, and the states and edges of every level of breadth-first search in
//! `NAME.stat.xml`. What was measured is kept in a file, so that a run can be stopped and resumed.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_ir::{Conditions, Program};

use crate::peers::before;
use crate::run::{json_number, run};
use crate::table::{self, Spread, grouped, row};

/// Ratios are of models with at least so many states: below, starting takes the most time.
const MANY: u64 = 10_000;

/// What is asked of the set.
pub(crate) struct Beem<'a> {
    pub(crate) birk: &'a Path,
    pub(crate) folder: &'a Path,
    /// Where results are kept.
    pub(crate) results: &'a Path,
    /// How long a model is searched.
    pub(crate) seconds: u64,
    /// Whether SPIN searches the twin in Promela.
    pub(crate) has_spin: bool,
}

/// One file of the set.
struct Instance {
    name: String,
    path: PathBuf,
    /// The published number of states, of a complete search.
    states: Option<u64>,
    /// The published answer, for a product with a property: whether it holds.
    holds: Option<bool>,
}

/// What was measured of an instance: a line of the file of results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Measured {
    states: u64,
    transitions: u64,
    is_complete: bool,
    seconds: f64,
    bytes: f64,
    verdict: String,
    /// SPIN on the twin.
    spin: Option<Twin>,
}

/// What SPIN needed for the twin of a model: states, processor seconds, and bytes a state without its table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Twin {
    states: u64,
    seconds: f64,
    bytes: f64,
}

impl Beem<'_> {
    /// Checks and measures everything; whether something differs from what was published.
    pub(crate) fn run(&self) -> bool {
        let instances = instances(self.folder);
        let mut wrong = Vec::new();
        let mut levels = 0;
        for instance in &instances {
            match load(&instance.path) {
                Ok(program) => levels += usize::from(compare_levels(instance, &program, &mut wrong)),
                Err(reason) => wrong.push(format!("{}: {reason}", instance.name)),
            }
        }
        println!("{} models were read.", instances.len());
        println!("Of {levels} of them, states and edges were compared at every level of breadth-first search.\n");
        let mut known = read(self.results);
        // Small models first: a run that is stopped has measured the most of them.
        let mut order: Vec<&Instance> = instances.iter().collect();
        order.sort_by_key(|instance| (instance.holds.is_some(), instance.states));
        for instance in order {
            if !known.contains_key(&instance.name) && (instance.states.is_some() || instance.holds.is_some()) {
                let measured = self.measure(instance);
                append(self.results, &instance.name, &measured);
                known.insert(instance.name.clone(), measured);
            }
        }
        report(&instances, &known, &mut wrong);
        for line in &wrong {
            println!("- {line}");
        }
        !wrong.is_empty()
    }

    fn measure(&self, instance: &Instance) -> Measured {
        let (path, time) = (instance.path.display().to_string(), format!("{}s", self.seconds));
        let mut words =
            vec!["check", &path, "--format", "json", "--progress", "off", "--threads", "1", "--time", &time];
        match instance.name.contains(".prop") {
            true => words.extend(["--property", "LTL_property"]),
            false => words.extend(["--property", "fault", "--keep-going"]),
        }
        let ran = run(self.birk, &words, self.folder);
        let number = |name: &str| json_number(&ran.output, name).unwrap_or(0.0);
        let spin = if self.has_spin { self.spin(instance) } else { None };
        Measured {
            states: number("states") as u64,
            transitions: number("transitions") as u64,
            is_complete: ran.output.contains("\"kind\": \"complete\""),
            seconds: ran.cpu,
            bytes: number("store_bytes_per_state"),
            verdict: verdict(&ran.output).to_owned(),
            spin,
        }
    }

    /// SPIN on the twin, with every statement a step and every variable part of a state.
    fn spin(&self, instance: &Instance) -> Option<Twin> {
        let twin = instance.path.with_extension("pm");
        if !twin.exists() {
            return None;
        }
        let folder = std::env::temp_dir().join(format!("birk-beem-{}", std::process::id()));
        fs::create_dir_all(&folder).ok()?;
        let twin = twin.display().to_string();
        run("spin", &["-o1", "-o2", "-o3", "-a", &twin], &folder);
        run("gcc", &["-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"], &folder);
        let time = self.seconds.to_string();
        let pan = folder.join("pan").display().to_string();
        let searched = run("timeout", &[&time, &pan, "-m10000000", "-w24", "-c0", "-E"], &folder);
        let _ = fs::remove_dir_all(&folder);
        let number = |name: &str| before(&searched.output, name).filter(|_| searched.success);
        let (states, mebibytes) = (number("states, stored")?, number("equivalent memory usage")?);
        let bytes = mebibytes * f64::from(1 << 20) / states;
        Some(Twin { states: states as u64, seconds: searched.cpu, bytes })
    }
}

/// The verdict on the property of a product.
fn verdict(output: &str) -> &'static str {
    ["holds", "violated"]
        .into_iter()
        .find(|word| output.contains(&format!("\"verdict\": \"{word}\"")))
        .unwrap_or("inconclusive")
}

/// All files of the set, by name.
fn instances(folder: &Path) -> Vec<Instance> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let results = fs::read_to_string(folder.join("results.xml")).unwrap_or_default();
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "dve") {
                let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
                let (states, holds) = published(&results, &name);
                found.push(Instance { name, path, states, holds });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The text between a tag and the next.
fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    Some(text.split_once(&format!("<{tag}>"))?.1.split_once('<')?.0)
}

/// What `results.xml` says of `model.3` or `model.3.prop2`: its states, if all were counted, or whether the property holds.
fn published(results: &str, name: &str) -> (Option<u64>, Option<bool>) {
    let mut parts = name.split('.');
    let (Some(model), Some(id), property) = (parts.next(), parts.next(), parts.next()) else { return (None, None) };
    let Some((_, rest)) = results.split_once(&format!("<instance name=\"{model}\" id=\"{id}\">")) else {
        return (None, None);
    };
    let of_instance = rest.split("</instance>").next().unwrap_or_default();
    match property.and_then(|property| property.strip_prefix("prop")) {
        Some(property) => {
            let mark = format!("prop-id=\"{property}\" answer=\"");
            let answer = of_instance.split_once(&mark).and_then(|(_, rest)| rest.split_once('"'));
            let holds = match answer.map(|(answer, _)| answer) {
                Some("yes") => Some(true),
                Some("no") => Some(false),
                _ => None,
            };
            (None, holds)
        }
        None => {
            let is_complete = of_instance.contains("<reach-time complete=\"yes\">");
            let states = tagged(of_instance, "states").filter(|_| is_complete);
            (states.and_then(|states| states.trim().parse().ok()), None)
        }
    }
}

fn load(path: &Path) -> Result<Program, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let loaded = birk_dve::load(&text, &[], &mut |_| Err(String::new()), Conditions::default());
    let first = loaded.diagnostics.iter().find(|diagnostic| !diagnostic.is_warning());
    loaded.program.ok_or_else(|| first.map_or_else(String::new, |diagnostic| diagnostic.message.clone()))
}

/// Compares the levels of breadth-first search with those that were published; whether there are any.
fn compare_levels(instance: &Instance, program: &Program, wrong: &mut Vec<String>) -> bool {
    let Ok(text) = fs::read_to_string(instance.path.with_extension("stat.xml")) else { return false };
    let mut published = Vec::new();
    for level in text.split("<level id=").skip(1) {
        let number = |tag: &str| tagged(level, tag).and_then(|number| number.trim().parse().ok());
        published.push((number("states").unwrap_or(0), number("edges").unwrap_or(0)));
    }
    let found = levels(program);
    if found != published {
        let at = found.iter().zip(&published).position(|(a, b)| a != b).unwrap_or(found.len().min(published.len()));
        let (here, there) = (found.get(at), published.get(at));
        wrong.push(format!(
            "{}: at level {at}, states and edges are {here:?}, and {there:?} were published",
            instance.name
        ));
    }
    true
}

/// States and edges of every level, by a walk that shares nothing with the engines.
fn levels(program: &Program) -> Vec<(u64, u64)> {
    let model = Interpreter::new(program, &[]);
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut level: Vec<Vec<u32>> = (0..batch.len()).map(|i| batch.state(i).to_vec()).collect();
    let mut seen: HashSet<Vec<u32>> = level.iter().cloned().collect();
    let mut levels = Vec::new();
    while !level.is_empty() {
        let (mut next, mut edges) = (Vec::new(), 0);
        for state in &level {
            batch.clear();
            model.successors(state, &mut batch);
            edges += batch.len() as u64;
            for i in 0..batch.len() {
                if !seen.contains(batch.state(i)) {
                    seen.insert(batch.state(i).to_vec());
                    next.push(batch.state(i).to_vec());
                }
            }
        }
        levels.push((level.len() as u64, edges));
        level = next;
    }
    levels
}

fn read(path: &Path) -> BTreeMap<String, Measured> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<(String, Measured)> {
    let words: Vec<&str> = line.split(',').collect();
    let [name, states, transitions, is_complete, seconds, bytes, verdict, ref spin @ ..] = words[..] else {
        return None;
    };
    let spin = match spin[..] {
        [states, seconds, bytes] => {
            let all = (states.parse().ok(), seconds.parse().ok(), bytes.parse().ok());
            all.0.zip(all.1).zip(all.2).map(|((states, seconds), bytes)| Twin { states, seconds, bytes })
        }
        _ => None,
    };
    let measured = Measured {
        states: states.parse().ok()?,
        transitions: transitions.parse().ok()?,
        is_complete: is_complete == "complete",
        seconds: seconds.parse().ok()?,
        bytes: bytes.parse().ok()?,
        verdict: verdict.to_owned(),
        spin,
    };
    Some((name.to_owned(), measured))
}

fn append(path: &Path, name: &str, measured: &Measured) {
    let Measured { states, transitions, is_complete, seconds, bytes, verdict, spin } = measured;
    let word = if *is_complete { "complete" } else { "partial" };
    let spin = spin.map_or(",,".into(), |Twin { states, seconds, bytes }| format!("{states},{seconds:.2},{bytes:.2}"));
    let mut line = fs::read_to_string(path).unwrap_or_default();
    let _ = writeln!(line, "{name},{states},{transitions},{word},{seconds:.2},{bytes:.2},{verdict},{spin}");
    fs::write(path, line).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Prints the tables, and notes what differs.
fn report(instances: &[Instance], known: &BTreeMap<String, Measured>, wrong: &mut Vec<String>) {
    let mut rows = vec![row([
        "instance",
        "states",
        "transitions",
        "processor s",
        "bytes a state",
        "SPIN s",
        "SPIN bytes a state",
    ])];
    let (mut twins, mut times, mut sizes) = (0, Spread::default(), Spread::default());
    let (mut equal, mut complete, mut states, mut seconds) = (0, 0, 0, 0.0);
    let (mut agreed, mut decided, mut products) = (0, 0, 0);
    for instance in instances {
        let Some(measured) = known.get(&instance.name) else { continue };
        if let Some(holds) = instance.holds {
            products += 1;
            let wanted = if holds { "holds" } else { "violated" };
            decided += usize::from(measured.verdict != "inconclusive");
            agreed += usize::from(measured.verdict == wanted);
            if measured.verdict != wanted && measured.verdict != "inconclusive" {
                wrong.push(format!("{}: {}, and `{wanted}` was published", instance.name, measured.verdict));
            }
        }
        let Some(published) = instance.states.filter(|_| measured.is_complete) else { continue };
        complete += 1;
        equal += usize::from(measured.states == published);
        states += measured.states;
        seconds += measured.seconds;
        if measured.states != published {
            wrong.push(format!("{}: {} states, and {published} were published", instance.name, measured.states));
        }
        let twin = measured.spin;
        if let Some(twin) = twin.filter(|twin| twin.states == measured.states && twin.states >= MANY) {
            twins += 1;
            times.add(twin.seconds / measured.seconds.max(0.01));
            sizes.add(twin.bytes / measured.bytes);
        }
        let spin = twin.map(|twin| match twin.states == measured.states {
            true => format!("{:.1}", twin.seconds),
            false => format!("{:.1} ({} states)", twin.seconds, grouped(twin.states)),
        });
        rows.push(vec![
            instance.name.clone(),
            grouped(measured.states),
            grouped(measured.transitions),
            format!("{:.1}", measured.seconds),
            format!("{:.1}", measured.bytes),
            spin.unwrap_or_default(),
            twin.map(|twin| format!("{:.1}", twin.bytes)).unwrap_or_default(),
        ]);
    }
    println!(
        "{complete} searches were complete, {equal} of them with the published number of states: {} states in {seconds:.0} s.",
        grouped(states)
    );
    println!("Of {products} products with a published answer, {decided} were decided, {agreed} as published.\n");
    println!(
        "Of {twins} models with at least {} states, the same here and in SPIN: SPIN takes {:.1} times as long and {:.1} times \
         the bytes a state (medians).\n",
        grouped(MANY),
        times.median(),
        sizes.median()
    );
    table::print(&rows);
}
