//! The values of constants that a sweep goes through.

use std::collections::BTreeMap;

use crate::Failure;

/// More points are surely not intended.
const MOST: usize = 10_000;

/// For each constant, its values.
#[derive(Debug)]
pub(super) struct Grid(Vec<(String, Vec<String>)>);

/// A point: for each constant, the position of its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Vec<usize>);

impl Place {
    /// Whether no constant is larger than in another point.
    pub(super) fn is_within(&self, other: &Place) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one <= other)
    }
}

impl Grid {
    /// Of constants with values such as `2..6` and `0,1`.
    pub(super) fn new(define: &[(String, String)]) -> Result<Self, Failure> {
        let mut axes: Vec<(String, Vec<String>)> = Vec::new();
        for (name, text) in define {
            if axes.iter().any(|(known, _)| known == name) {
                return Err(Failure::usage(format!(
                    "-D {name} is given twice; write all values after one, as in -D {name}=1,2"
                )));
            }
            let values = values(text).map_err(|reason| Failure::usage(format!("-D {name}={text}: {reason}")))?;
            axes.push((name.clone(), values));
        }
        if axes.is_empty() {
            return Err(Failure::usage("give a constant several values, for example -D N=2..6"));
        }
        let points = axes.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
        match points {
            Some(points) if points <= MOST => Ok(Self(axes)),
            _ => Err(Failure::usage(format!("these are more than {MOST} models; leave some values out"))),
        }
    }

    /// All points, those with small values first.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut all = vec![Place(Vec::new())];
        for (_, values) in &self.0 {
            let longer = |place: &Place, at: usize| Place(place.0.iter().copied().chain([at]).collect());
            all = all
                .iter()
                .flat_map(|place| (0..values.len()).map(|at| longer(place, at)).collect::<Vec<_>>())
                .collect();
        }
        all.sort_by_key(|place| (place.0.iter().sum::<usize>(), place.clone()));
        all
    }

    pub(super) fn axes(&self) -> usize {
        self.0.len()
    }

    pub(super) fn name(&self, axis: usize) -> &str {
        self.0.get(axis).map_or("", |(name, _)| name)
    }

    pub(super) fn value(&self, place: &Place, axis: usize) -> &str {
        &self.0[axis].1[place.0[axis]]
    }

    /// Of the widest cell.
    pub(super) fn width(&self, axis: usize) -> usize {
        let (name, values) = &self.0[axis];
        values.iter().chain([name]).map(|text| text.chars().count()).max().unwrap_or(0)
    }

    pub(super) fn constants(&self, place: &Place) -> Vec<(String, String)> {
        let constant = |(at, (name, values)): (&usize, &(String, Vec<String>))| (name.clone(), values[*at].clone());
        place.0.iter().zip(&self.0).map(constant).collect()
    }

    /// What is expected at a point, if each constant goes on to matter as it did between the two points before: the factors are
    /// equal. The mean of what the constants say.
    pub(super) fn forecast<T>(
        &self,
        place: &Place,
        known: &[(Place, T)],
        number: impl Fn(&T) -> Option<f64>,
    ) -> Option<f64> {
        let at = |place: Option<Place>| {
            let place = place?;
            known.iter().find(|(other, _)| *other == place).and_then(|(_, one)| number(one)).filter(|n| *n > 0.0)
        };
        let before = |axis: usize, steps: usize| {
            let mut place = place.clone();
            place.0[axis] = place.0[axis].checked_sub(steps)?;
            Some(place)
        };
        let told: Vec<f64> = (0..self.axes())
            .filter_map(|axis| {
                let (one, two) = (at(before(axis, 1))?, at(before(axis, 2))?);
                Some((one * one / two).ln())
            })
            .collect();
        (!told.is_empty()).then(|| (told.iter().sum::<f64>() / told.len() as f64).exp())
    }

    /// A curve along the first constant for each choice of the others; where its values are no numbers, there are none.
    pub(super) fn curves<T>(&self, known: &[(Place, T)], number: impl Fn(&T) -> Option<f64>) -> Vec<Vec<(f64, f64)>> {
        let mut curves: BTreeMap<&[usize], Vec<(f64, f64)>> = BTreeMap::new();
        for (place, one) in known {
            if let (Ok(x), Some(y)) = (self.value(place, 0).parse::<f64>(), number(one)) {
                curves.entry(&place.0[1..]).or_default().push((x, y));
            }
        }
        curves.into_values().filter(|points| points.len() > 1).collect()
    }
}

/// The values that a text names: `3`, `2..6`, `0,1`, `1,4..6`.
fn values(text: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once("..") {
            _ if part.is_empty() => return Err("write values, for example 2..6 or 0,1".to_owned()),
            None => all.push(part.to_owned()),
            Some((first, last)) => {
                let number =
                    |text: &str| text.trim().parse::<i64>().map_err(|_| format!("`{part}` is no range; one is 2..6"));
                let (first, last) = (number(first)?, number(last)?);
                if last < first || last - first >= MOST as i64 {
                    return Err(format!("`{part}` has no values, or too many; write the smaller number first"));
                }
                all.extend((first..=last).map(|value| value.to_string()));
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(define: &[(&str, &str)]) -> Result<Grid, Failure> {
        Grid::new(&define.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect::<Vec<_>>())
    }

    #[test]
    fn values_are_ranges_and_lists() {
        assert_eq!(values("2..4"), Ok(["2", "3", "4"].map(str::to_owned).to_vec()));
        assert_eq!(values("0, 5..6,true"), Ok(["0", "5", "6", "true"].map(str::to_owned).to_vec()));
        assert!(["", "1,", "4..2", "a..b", "0..99999"].iter().all(|text| values(text).is_err()));
    }

    #[test]
    fn small_values_come_first() {
        let grid = grid(&[("N", "1..2"), ("BUG", "0,1")]).expect("it is a grid");
        let order: Vec<Vec<usize>> = grid.places().into_iter().map(|place| place.0).collect();
        assert_eq!(order, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(grid.constants(&Place(vec![1, 0])), [("N".into(), "2".into()), ("BUG".into(), "0".into())]);
        assert!(grid.places()[0].is_within(&grid.places()[3]) && !grid.places()[1].is_within(&grid.places()[2]));
    }

    #[test]
    fn growth_is_expected_to_go_on() {
        let grid = grid(&[("N", "1..4")]).expect("it is a grid");
        let known: Vec<(Place, f64)> =
            [10.0, 100.0].into_iter().enumerate().map(|(at, n)| (Place(vec![at]), n)).collect();
        let expected = grid.forecast(&Place(vec![2]), &known, |number| Some(*number)).expect("two are known");
        assert!((expected - 1000.0).abs() < 1e-6);
        assert_eq!(grid.forecast(&Place(vec![3]), &known, |number| Some(*number)), None);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert!(grid(&[]).is_err());
        assert!(grid(&[("N", "1"), ("N", "2")]).is_err());
        assert!(grid(&[("N", "1..200"), ("M", "1..200")]).is_err());
    }
}
