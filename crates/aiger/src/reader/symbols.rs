//! Names of inputs, latches and the rest, behind the gates, and the comment at the end.

use birk_ir::Diagnostic;

use super::Result;
use super::cursor::Cursor;
use crate::circuit::Circuit;

/// `l0 ready`: the name of latch 0. A line `c` begins a comment that goes on to the end of the file.
pub(super) fn read(cursor: &mut Cursor<'_>, circuit: &mut Circuit) -> Result<()> {
    while let Some(kind) = cursor.peek() {
        let (start, line) = (cursor.place(), cursor.line());
        cursor.byte();
        if kind == 'c' && cursor.is_at_end_of_line() {
            return Ok(());
        }
        if matches!(kind, '\n' | '\r') {
            continue;
        }
        if !"ilobcjf".contains(kind) {
            let message = "this is neither a name nor a comment";
            let help =
                "behind the gates are lines such as `l0 ready` for the name of latch 0; a line `c` begins a comment";
            return Err(Box::new(Diagnostic::new("E3002", line, message, "unexpected").help(help)));
        }
        let number = cursor.number("the number of what is named")? as usize;
        let span = cursor.since(start);
        let name = cursor.rest_of_line().trim();
        let signal = |signals: &'_ mut Vec<crate::circuit::Signal>| {
            signals.get_mut(number).map(|signal| signal.name = Some(name.to_owned())).is_some()
        };
        let is_there = match kind {
            'i' => signal(&mut circuit.inputs),
            'o' => signal(&mut circuit.outputs),
            'b' => signal(&mut circuit.bads),
            'c' => signal(&mut circuit.constraints),
            'f' => signal(&mut circuit.fairness),
            'l' => circuit.latches.get_mut(number).map(|latch| latch.name = Some(name.to_owned())).is_some(),
            _ => circuit.justice.get_mut(number).map(|justice| justice.name = Some(name.to_owned())).is_some(),
        };
        if !is_there {
            let message = format!("there is no `{kind}{number}` that could have a name");
            let help = "inputs, latches and the rest are numbered from 0, each kind by itself";
            return Err(Box::new(Diagnostic::new("E3002", span, message, "not there").help(help)));
        }
    }
    Ok(())
}
