//! Checks a model file, and says of each property what is known.
//!
//! `cargo run -p birk-examples --bin check_file -- models/peterson2.bir`
#![forbid(unsafe_code)]

use birk::{Options, Patient};

fn main() -> Result<(), birk::Error> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "models/philosophers2.bir".to_owned());
    let program = birk::load_file(path)?;
    let report = birk::check(&program, &Options::default(), &mut Patient)?;
    for answer in &report.answers {
        print!("{}: {}", answer.property.name, answer.verdict.word());
        match answer.trace.map(|trace| &report.traces[trace].run) {
            Some(run) => println!(", shown by a trace of {} steps", run.steps.len()),
            None => println!(", covered: {}", answer.grade().map_or("nothing", |grade| grade.letter())),
        }
    }
    Ok(())
}
