//! A mapping held against its specification: which variable each entry is about, and what its values mean there.

use birk_ir::diagnostic::{Diagnostic, list, nearest};
use birk_ir::{Mapped, Mapping, Meaning, Observed, Program, Refinement, ValueKind, VarId, VarRole, Variable};

/// Holds a mapping against its specification; what does not fit is said at its place in the implementation.
pub fn fit(refinement: &Refinement, specification: &Program) -> Result<Mapping, Vec<Diagnostic>> {
    let (mut observed, mut wrong): (Vec<Observed>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for mapped in &refinement.mapped {
        match observe(mapped, refinement, specification) {
            Ok(one) => observed.push(one),
            // The elements of one entry share their text: say it once.
            Err(diagnostic) if wrong.last().is_some_and(|last| last.span == diagnostic.span) => {}
            Err(diagnostic) => wrong.push(*diagnostic),
        }
    }
    if wrong.is_empty() { Ok(Mapping { name: refinement.name.clone(), observed }) } else { Err(wrong) }
}

/// Holds one entry against the specification.
fn observe(mapped: &Mapped, refinement: &Refinement, specification: &Program) -> Result<Observed, Box<Diagnostic>> {
    let name = &mapped.variable;
    let wrong = |message: String, label: String| Box::new(Diagnostic::new("E0059", mapped.span, message, label));
    let is_named = |variable: &&Variable| variable.name == *name;
    let found = specification.variables.iter().position(|variable| is_named(&variable));
    let position = match found.filter(|&at| specification.variables[at].role == VarRole::Global) {
        Some(position) => position,
        None => return Err(unknown(mapped, refinement, specification)),
    };
    let variable = &specification.variables[position];
    if mapped.indices.len() != variable.shape.len() {
        let lengths: String = variable.shape.iter().map(|length| format!("[{length}]")).collect();
        let (declared, help) = match &lengths[..] {
            "" => ("a single value".to_owned(), format!("write `{name} = …;`")),
            _ => (format!("an array {lengths}"), {
                let ranges: String = variable.shape.iter().zip("ijkl".chars().cycle()).map(range).collect();
                format!("map its elements: `{name}{ranges} = …;`")
            }),
        };
        let message = format!("`{name}` of `{}` is {declared}", refinement.name);
        let label = format!("mapped with {} of its {} indices", mapped.indices.len(), variable.shape.len());
        return Err(Box::new(wrong(message, label).help(help)));
    }
    let mut element = 0;
    for (index, length) in mapped.indices.iter().zip(&variable.shape) {
        if !(0..i64::from(*length)).contains(index) {
            let message = format!("`{name}` of `{}` has no element {index}", refinement.name);
            let help = format!("its indices are 0 .. {}", i64::from(*length) - 1);
            return Err(Box::new(wrong(message, format!("it has {length} elements")).help(help)));
        }
        element = element * length + *index as u32;
    }
    let Some(meaning) = meaning(&mapped.values, &variable.values) else {
        let (is, must) = (noun(&mapped.values), noun(&variable.values));
        let message = format!("`{name}` of `{}` is {must}, and {is} is mapped to it", refinement.name);
        let diagnostic = Diagnostic::new("E0059", mapped.value_span, message, format!("this is {is}"));
        let help = match (&mapped.values, &variable.values) {
            (ValueKind::Names(_), ValueKind::Names(names)) => {
                format!("enumerations are mapped by names, and these have none in common; it has {}", listed(names))
            }
            (_, ValueKind::Names(names)) => {
                format!("declare an enumeration here with the names that it has: {}", listed(names))
            }
            (ValueKind::Integer, ValueKind::Boolean) => "compare it, for example with `!= 0`".to_owned(),
            (ValueKind::Boolean, ValueKind::Integer) => "to count it, write `(… ? 1 : 0)`".to_owned(),
            _ => format!("map {must} to it"),
        };
        return Err(Box::new(diagnostic.help(help)));
    };
    let variable_id = VarId::new(position);
    Ok(Observed {
        name: specification.shown_name(variable_id, element),
        variable: variable_id,
        element,
        value: mapped.value.clone(),
        hazards: mapped.hazards.clone(),
        values: mapped.values.clone(),
        meaning,
        range: (variable.lo, variable.hi),
    })
}

fn range((length, index): (&u32, char)) -> String {
    format!("[{index} : 0 .. {}]", i64::from(*length) - 1)
}

fn listed(names: &[String]) -> String {
    list(names.iter().map(String::as_str))
}

/// No global variable has this name.
fn unknown(mapped: &Mapped, refinement: &Refinement, specification: &Program) -> Box<Diagnostic> {
    let (name, of) = (&mapped.variable, &refinement.name);
    let is_global = |variable: &&Variable| variable.role == VarRole::Global;
    let names: Vec<&str> = specification.variables.iter().filter(is_global).map(|one| one.name.as_str()).collect();
    let message = format!("`{of}` has no global variable `{name}`");
    let diagnostic = Diagnostic::new("E0059", mapped.span, message, "not declared there");
    let is_local = |variable: &&Variable| matches!(variable.role, VarRole::Local(_) | VarRole::Counter(_));
    let mut locals = specification.variables.iter().filter(is_local);
    let help = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if locals.any(|local| local.name.rsplit_once('.').is_some_and(|(_, own)| own == name)) => {
            "variables of threads are hidden; declare it in the system of the specification".to_owned()
        }
        None if names.is_empty() => "it declares no global variable".to_owned(),
        None => format!("there are {}", list(names)),
    };
    Box::new(diagnostic.help(help))
}

/// What values of one kind mean as values of another; nothing where they have no meaning.
fn meaning(from: &ValueKind, to: &ValueKind) -> Option<Meaning> {
    match (from, to) {
        (ValueKind::Boolean, ValueKind::Boolean) | (ValueKind::Integer, ValueKind::Integer) => Some(Meaning::Same),
        // A symmetric type `or nobody`: numbers, and one name behind them.
        (ValueKind::Integer, ValueKind::Names(names)) if names.last().is_some_and(|last| last == "nobody") => {
            Some(Meaning::Same)
        }
        (ValueKind::Set(from), ValueKind::Set(to)) => Some(Meaning::Shifted(from - to)),
        (ValueKind::Names(from), ValueKind::Names(to)) => {
            let position = |name: &String| to.iter().position(|other| other == name).map(|at| at as i64);
            let names: Vec<Option<i64>> = from.iter().map(position).collect();
            names.iter().any(Option::is_some).then_some(Meaning::Named(names))
        }
        _ => None,
    }
}

fn noun(kind: &ValueKind) -> &'static str {
    match kind {
        ValueKind::Boolean => "a boolean",
        ValueKind::Integer => "an integer",
        ValueKind::Names(_) => "an enumerator",
        ValueKind::Set(_) => "a set",
    }
}
