//! Tables in Markdown, and numbers as people read them.

/// Prints a table, the first row its head.
pub(crate) fn print(rows: &[Vec<String>]) {
    for (i, row) in rows.iter().enumerate() {
        println!("| {} |", row.join(" | "));
        if i == 0 {
            println!("|{}", "---|".repeat(row.len()));
        }
    }
    println!();
}

/// A row of texts.
pub(crate) fn row<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// `1,234,567`
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What one thing cost in several repetitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread(Vec<f64>);

impl Spread {
    /// Adds a repetition.
    pub(crate) fn add(&mut self, value: f64) {
        self.0.push(value);
        self.0.sort_by(f64::total_cmp);
    }

    /// The middle one, or the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        match self.0.len() {
            0 => f64::NAN,
            len if len % 2 == 1 => self.0[middle],
            _ => (self.0[middle - 1] + self.0[middle]) / 2.0,
        }
    }

    /// The largest.
    pub(crate) fn worst(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    /// `0.58 (0.57-0.61)`: median, least and most.
    pub(crate) fn text(&self, digits: usize) -> String {
        match self.0.as_slice() {
            [] => "-".to_owned(),
            [only] => format!("{only:.digits$}"),
            [first, .., last] => format!("{:.digits$} ({first:.digits$}-{last:.digits$})", self.median()),
        }
    }
}

/// `10.2x`, or `-` where there is nothing to compare.
pub(crate) fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{value:.1}x") } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_says_median_least_and_most() {
        let mut spread = Spread::default();
        assert_eq!(spread.text(1), "-");
        for value in [3.0, 1.0, 2.0] {
            spread.add(value);
        }
        assert_eq!((spread.text(1).as_str(), spread.worst()), ("2.0 (1.0-3.0)", 3.0));
        spread.add(10.0);
        assert_eq!(spread.text(2), "2.50 (1.00-10.00)");
        assert_eq!([grouped(7), grouped(1_234_567)], ["7", "1,234,567"]);
        assert_eq!([ratio(10.24), ratio(f64::NAN)], ["10.2x", "-"]);
    }
}
