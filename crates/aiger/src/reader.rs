//! From the bytes of a file to a circuit. What the header promises is checked before room is made for it.

mod cursor;
mod symbols;

use birk_ir::{Diagnostic, Span};

use crate::circuit::{Circuit, Definition, Justice, Latch, Literal, Signal};
use cursor::Cursor;

/// More variables than this are not read.
const MAX_VARIABLES: u32 = 1 << 22;
/// More inputs or latches than this are not read.
const MAX_STATE: u32 = 1 << 18;
/// More errors than this are not reported.
const MOST_ERRORS: usize = 20;

/// The numbers of the first line.
#[derive(Debug)]
struct Header {
    is_binary: bool,
    span: Span,
    variables: u32,
    inputs: u32,
    latches: u32,
    outputs: u32,
    gates: u32,
    bads: u32,
    constraints: u32,
    justice: u32,
    fairness: u32,
}

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Reads a file.
pub(crate) fn read(text: &str) -> std::result::Result<Circuit, Vec<Diagnostic>> {
    let mut reader = Reader { cursor: Cursor::new(text), circuit: Circuit::default(), errors: Vec::new() };
    if let Err(error) = reader.file() {
        reader.errors.push(*error);
    }
    if reader.errors.is_empty() {
        reader.check_uses();
    }
    reader.errors.truncate(MOST_ERRORS);
    if reader.errors.is_empty() { Ok(reader.circuit) } else { Err(reader.errors) }
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    circuit: Circuit,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn file(&mut self) -> Result<()> {
        let header = self.header()?;
        self.circuit.header = header.span;
        self.circuit.definitions = vec![(Definition::Nothing, header.span); header.variables as usize + 1];
        self.circuit.definitions[0].0 = Definition::False;
        self.inputs(&header)?;
        self.latches(&header)?;
        self.circuit.outputs = self.signals(header.outputs, "an output")?;
        self.circuit.bads = self.signals(header.bads, "a bad state property")?;
        self.circuit.constraints = self.signals(header.constraints, "an invariant constraint")?;
        self.justice(&header)?;
        self.circuit.fairness = self.signals(header.fairness, "a fairness constraint")?;
        if header.is_binary {
            self.binary_gates(&header)?;
        } else {
            self.gates(&header)?;
        }
        symbols::read(&mut self.cursor, &mut self.circuit)
    }

    /// `aag M I L O A B C J F`, the last four as far as they are there.
    fn header(&mut self) -> Result<Header> {
        let cursor = &mut self.cursor;
        let is_binary = match cursor.word() {
            "aig" => true,
            "aag" => false,
            _ => {
                let message = "this is not a file in AIGER: it does not begin with `aig` or `aag`";
                let help = "the first line is `aag M I L O A`, or `aig M I L O A`, with five to nine numbers";
                return Err(Box::new(Diagnostic::new("E3001", cursor.line(), message, "not a header").help(help)));
            }
        };
        let mut numbers = Vec::new();
        while cursor.space() && !cursor.is_at_end_of_line() {
            numbers.push(cursor.number("a number of the header")?);
        }
        let span = cursor.line();
        cursor.end_of_line()?;
        let wrong =
            |message: String, help: &str| Err(Box::new(Diagnostic::new("E3001", span, message, "here").help(help)));
        if !(5..=9).contains(&numbers.len()) {
            let help = "they are the largest variable, then how many inputs, latches, outputs and gates there are, then bad state \
                        properties, invariant constraints, justice properties and fairness constraints";
            return wrong(format!("a header has five to nine numbers, not {}", numbers.len()), help);
        }
        numbers.resize(9, 0);
        let [variables, inputs, latches, outputs, gates, bads, constraints, justice, fairness]: [u32; 9] =
            numbers[..].try_into().unwrap_or_default();
        let sum = [inputs, latches, gates].into_iter().map(u64::from).sum::<u64>();
        if sum > u64::from(variables) || is_binary && sum != u64::from(variables) {
            let is = if is_binary { "is not" } else { "is less than" };
            let message = format!("the largest variable {variables} {is} inputs, latches and gates together, {sum}");
            return wrong(
                message,
                "the first number of the header is at least their sum, and in a binary file it is the sum",
            );
        }
        if variables > MAX_VARIABLES || inputs > MAX_STATE || latches > MAX_STATE {
            let message = "this circuit is larger than what is read";
            let help = format!("at most {MAX_VARIABLES} variables, {MAX_STATE} inputs and {MAX_STATE} latches");
            return Err(Box::new(Diagnostic::new("E3006", span, message, "too large").help(help)));
        }
        Ok(Header { is_binary, span, variables, inputs, latches, outputs, gates, bads, constraints, justice, fairness })
    }

    /// A literal of the circuit.
    fn literal(&mut self, what: &str) -> Result<Literal> {
        let start = self.cursor.place();
        let literal = self.cursor.number(what)?;
        let most = self.circuit.definitions.len() as u32 * 2 - 1;
        if literal > most {
            let span = self.cursor.since(start);
            let message = format!("{what} is the literal {literal}, but the largest is {most}");
            let help =
                "a literal is twice a variable, or that plus 1 for its negation; the largest variable is in the header";
            return Err(Box::new(Diagnostic::new("E3003", span, message, "too large").help(help)));
        }
        Ok(literal)
    }

    /// Defines a variable by its literal.
    fn define(&mut self, literal: Literal, span: Span, definition: Definition) {
        let index = literal as usize / 2;
        if literal % 2 == 1 || literal == 0 {
            let message = format!("{literal} cannot be defined: it is negated, or constant");
            let help = "what is defined has an even literal from 2 on";
            self.errors.push(Diagnostic::new("E3004", span, message, "not a variable").help(help));
        } else if self.circuit.definitions[index].0 != Definition::Nothing {
            let message = format!("the variable {index} (literal {literal}) is defined twice");
            let before = self.circuit.definitions[index].1;
            let help = "every variable is one input, latch or gate";
            let twice = Diagnostic::new("E3004", span, message, "again here").related(before, "first here").help(help);
            self.errors.push(twice);
        } else {
            self.circuit.definitions[index] = (definition, span);
        }
    }

    fn inputs(&mut self, header: &Header) -> Result<()> {
        for number in 0..header.inputs {
            let (literal, span) = match header.is_binary {
                true => (number * 2 + 2, header.span),
                false => self.one_of_a_line("an input")?,
            };
            self.define(literal, span, Definition::Input(number));
            self.circuit.inputs.push(Signal { literal, name: None, span });
        }
        Ok(())
    }

    /// `2 3`, `2 3 1`, `2 3 2`; in a binary file without the first number.
    fn latches(&mut self, header: &Header) -> Result<()> {
        for number in 0..header.latches {
            let start = self.cursor.place();
            let mut literal = (header.inputs + number) * 2 + 2;
            if !header.is_binary {
                literal = self.literal("a latch")?;
                self.cursor.one_space()?;
            }
            let next = self.literal("what a latch becomes")?;
            let mut reset = Some(false);
            if self.cursor.space() && !self.cursor.is_at_end_of_line() {
                let at = self.cursor.place();
                reset = match self.literal("what a latch begins with")? {
                    0 => Some(false),
                    1 => Some(true),
                    own if own == literal => None,
                    other => {
                        let message = format!("a latch cannot begin with {other}");
                        let help = format!("write 0, 1, or {literal}, its own literal, where it may begin with either");
                        let span = self.cursor.since(at);
                        return Err(Box::new(Diagnostic::new("E3007", span, message, "not a reset value").help(help)));
                    }
                };
            }
            let span = self.cursor.since(start);
            self.cursor.end_of_line()?;
            self.define(literal, span, Definition::Latch(number));
            self.circuit.latches.push(Latch { name: None, span, next, reset });
        }
        Ok(())
    }

    /// A line with one literal.
    fn one_of_a_line(&mut self, what: &str) -> Result<(Literal, Span)> {
        let start = self.cursor.place();
        let literal = self.literal(what)?;
        let span = self.cursor.since(start);
        self.cursor.end_of_line()?;
        Ok((literal, span))
    }

    fn signals(&mut self, many: u32, what: &str) -> Result<Vec<Signal>> {
        let mut signals = Vec::new();
        for _ in 0..many {
            let (literal, span) = self.one_of_a_line(what)?;
            signals.push(Signal { literal, name: None, span });
        }
        Ok(signals)
    }

    /// First how many literals each has, then all literals.
    fn justice(&mut self, header: &Header) -> Result<()> {
        let mut sizes = Vec::new();
        for _ in 0..header.justice {
            let start = self.cursor.place();
            sizes.push((self.cursor.number("how many literals a justice property has")?, self.cursor.since(start)));
            self.cursor.end_of_line()?;
        }
        for (size, span) in sizes {
            let mut literals = Vec::new();
            for _ in 0..size {
                literals.push(self.one_of_a_line("a literal of a justice property")?.0);
            }
            self.circuit.justice.push(Justice { literals, name: None, span });
        }
        Ok(())
    }

    /// `6 2 4`: a gate, and what it is the conjunction of.
    fn gates(&mut self, header: &Header) -> Result<()> {
        for _ in 0..header.gates {
            let start = self.cursor.place();
            let literal = self.literal("a gate")?;
            self.cursor.one_space()?;
            let left = self.literal("an input of a gate")?;
            self.cursor.one_space()?;
            let right = self.literal("an input of a gate")?;
            let span = self.cursor.since(start);
            self.cursor.end_of_line()?;
            self.define(literal, span, Definition::And(left, right));
        }
        Ok(())
    }

    /// For each gate two differences: to its larger input, and from that to the smaller.
    fn binary_gates(&mut self, header: &Header) -> Result<()> {
        for number in 0..header.gates {
            let literal = (header.inputs + header.latches + number) * 2 + 2;
            let start = self.cursor.place();
            let (first, second) = (self.difference(header, number)?, self.difference(header, number)?);
            let left = literal.checked_sub(first).filter(|_| first > 0);
            let Some((left, right)) = left.and_then(|left| Some((left, left.checked_sub(second)?))) else {
                let byte = self.cursor.byte_number(start);
                let message = format!("gate {number} (byte {byte}): its inputs are not below it");
                let help = "in a binary file, the inputs of a gate are defined before it; was the file damaged, or copied as text?";
                return Err(Box::new(Diagnostic::new("E3002", header.span, message, "in this circuit").help(help)));
            };
            self.define(literal, header.span, Definition::And(left, right));
        }
        Ok(())
    }

    /// A number of seven bits in each byte, the lowest first.
    fn difference(&mut self, header: &Header, gate: u32) -> Result<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let Some(byte) = self.cursor.byte() else { break };
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                if let Ok(value) = u32::try_from(value) {
                    return Ok(value);
                }
                break;
            }
        }
        let byte = self.cursor.byte_number(self.cursor.place());
        let message = format!("gate {gate} (byte {byte}): its inputs cannot be read");
        let help = "the file ends too early, or was damaged, or copied as text";
        Err(Box::new(Diagnostic::new("E3002", header.span, message, "in this circuit").help(help)))
    }

    /// Whatever is used is defined.
    fn check_uses(&mut self) {
        let circuit = &self.circuit;
        let of_gates = circuit.definitions.iter().flat_map(|&(definition, span)| match definition {
            Definition::And(left, right) => vec![(left, span), (right, span)],
            _ => Vec::new(),
        });
        let is_nothing = |literal: Literal| circuit.definitions[literal as usize / 2].0 == Definition::Nothing;
        for (literal, span) in circuit.uses().chain(of_gates).filter(|(literal, _)| is_nothing(*literal)) {
            let message = format!("the variable {} (literal {literal}) is used, but never defined", literal / 2);
            let help = "every variable that is used is an input, a latch or a gate";
            self.errors.push(Diagnostic::new("E3005", span, message, "used here").help(help));
            if self.errors.len() >= MOST_ERRORS {
                return;
            }
        }
    }
}
