//! How the values of options are read, and what is said when they cannot be.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

use birk::{Accept, Threads};

pub(crate) fn parse_define(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE, for example -D N=5".into()),
    }
}

/// A whole number; underscores may group its digits.
pub(crate) fn parse_number<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.replace('_', "").parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => "this number is too large".to_owned(),
        _ => "write a whole number, for example 1_000_000".to_owned(),
    })
}

/// A number of states, which may be written as a power of ten.
pub(crate) fn parse_states(text: &str) -> Result<f64, String> {
    match text.replace('_', "").parse() {
        Ok(number @ 1.0..=1e18) => Ok(number),
        _ => Err("write a number from 1 to 1e18, for example 1e12".to_owned()),
    }
}

pub(crate) fn parse_positive(text: &str) -> Result<u32, String> {
    match parse_number(text)? {
        0 => Err("must be at least 1".into()),
        number => Ok(number),
    }
}

pub(crate) fn parse_threads(text: &str) -> Result<Threads, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Threads::Auto),
        Ok(number @ 1..=1024) => Ok(Threads::Number(number)),
        _ => Err("write a number from 1 to 1024, or auto".to_owned()),
    }
}

pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(format!("unknown unit `{unit}`: use ms, s, m, h or d")),
    };
    let seconds: f64 = number.parse().map_err(|_| "write a number and a unit, for example 10m".to_owned())?;
    Duration::try_from_secs_f64(seconds * factor).map_err(|_| "too long".to_owned())
}

pub(crate) fn parse_memory(text: &str) -> Result<u64, String> {
    birk_engine::read_size(text)
}

pub(crate) fn parse_accept(text: &str) -> Result<Accept, String> {
    match text.split_once(':') {
        None if text == "complete" => Ok(Accept::Complete),
        None if text == "hashed" => Ok(Accept::Hashed),
        None if text == "partial" => Ok(Accept::Partial),
        Some(("depth", depth)) => {
            depth.parse().map(Accept::Depth).map_err(|_| "write depth:N, for example depth:100".into())
        }
        _ => Err("write complete, hashed, depth:N or partial".into()),
    }
}
