//! Numbers as people read them.

use std::time::Duration;

/// `1,234,567`
pub(crate) fn grouped(number: u64) -> String {
    grouped_digits(&number.to_string())
}

/// The same of a number that may be of any size.
pub(crate) fn grouped_digits(digits: &str) -> String {
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `123`, `12.3 k`, `1.23 M`
pub(crate) fn rounded(number: u64) -> String {
    let (value, unit) = match number {
        0..10_000 => return grouped(number),
        10_000..1_000_000 => (number as f64 / 1e3, "k"),
        1_000_000..1_000_000_000 => (number as f64 / 1e6, "M"),
        _ => (number as f64 / 1e9, "G"),
    };
    let digits = if value < 10.0 { 2 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// `12 s`, `3 m 05 s`, `2 h 03 m`
pub(crate) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time > Duration::ZERO => format!("{:.1} s", time.as_secs_f64()),
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60),
    }
}

/// `1.5 GiB`
pub(crate) fn bytes(number: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

/// `1 state`, `2,000 states`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    counted(&grouped(number), noun)
}

pub(crate) fn counted(number: &str, noun: &str) -> String {
    format!("{number} {noun}{}", if number == "1" { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_on_a_terminal_and_exact_elsewhere() {
        assert_eq!([0, 999, 9_999].map(rounded), ["0", "999", "9,999"]);
        assert_eq!([12_345, 1_234_567, 98_765_432_100].map(rounded), ["12.3 k", "1.23 M", "98.8 G"]);
        assert_eq!([7, 1_000, 1_234_567].map(grouped), ["7", "1,000", "1,234,567"]);
        assert_eq!([7, 2048, 5 << 30].map(bytes), ["7 bytes", "2.0 KiB", "5.0 GiB"]);
    }
}
