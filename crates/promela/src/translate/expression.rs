//! Expressions: a program knows numbers only, BIR numbers and truth values.

use birk_ir::{BinaryOp, Expr, UnaryOp, VarId};

use super::Writer;

/// How tightly the operators of BIR bind.
const CHOICE: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const EQUAL: u8 = 4;
const LESS: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
const PREFIX: u8 = 8;

/// A text, or what cannot be said.
type Said = Result<String, &'static str>;

/// In parentheses, unless it binds at least as tightly as is needed.
fn within(text: String, own: u8, level: u8) -> String {
    if own >= level { text } else { format!("({text})") }
}

impl Writer<'_> {
    /// A variable or an element of one.
    pub(super) fn place(&self, variable: VarId, index: Option<&Expr>) -> Said {
        let name = &self.variables[variable.index()];
        match index {
            Some(index) if self.program.variable(variable).len() > 1 => {
                Ok(format!("{name}[{}]", self.number(index, 0)?))
            }
            _ => Ok(name.clone()),
        }
    }

    /// What is assigned to a variable, whose type wraps as the expression does.
    pub(super) fn assigned(&self, variable: VarId, value: &Expr) -> Said {
        let declared = self.program.variable(variable);
        match value {
            Expr::Wrap(inner, lo, hi) if (*lo, *hi) == (declared.lo, declared.hi) => self.number(inner, 0),
            Expr::Const(number) => Ok(self.named(variable, *number)),
            _ => self.number(value, 0),
        }
    }

    /// A number beside a variable: the name of an `mtype`, where it is one.
    fn named(&self, variable: VarId, number: i64) -> String {
        let declared = self.program.variable(variable);
        let is_place = matches!(declared.role, birk_ir::VarRole::Counter(_));
        let is_named = matches!(declared.values, birk_ir::ValueKind::Names(_)) && !is_place;
        self.values.get(&number).filter(|_| is_named).cloned().unwrap_or_else(|| number.to_string())
    }

    /// Whether an expression is a truth value.
    fn is_truth(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Unary(UnaryOp::Not, _) | Expr::Stuck => true,
            Expr::Binary(op, _) => comparison(*op).is_some() || matches!(op, BinaryOp::And | BinaryOp::Or),
            Expr::Var(variable) | Expr::Element(variable, _) => self.is_boolean(*variable),
            _ => false,
        }
    }

    pub(super) fn number(&self, expr: &Expr, level: u8) -> Said {
        if self.is_truth(expr) {
            return Ok(format!("({} ? 1 : 0)", self.condition(expr, OR)?));
        }
        match expr {
            Expr::Const(number) if *number < 0 => Ok(within(number.to_string(), PREFIX, level)),
            Expr::Const(number) => Ok(number.to_string()),
            Expr::Var(variable) => self.place(*variable, None),
            Expr::Element(variable, _) if self.thread_of(*variable).is_some() => {
                Err("the place of a process is used as a number")
            }
            Expr::Element(variable, index) => self.place(*variable, Some(index)),
            Expr::Local(local) => Ok(format!("held_{}", local.0)),
            Expr::Unary(UnaryOp::Neg, inner) => {
                Ok(within(format!("-{}", self.number(inner, PREFIX + 1)?), PREFIX, level))
            }
            Expr::Binary(op, parts) => {
                if let Some(function) = bits(*op) {
                    self.need(function);
                    return Ok(format!("{function}({}, {})", self.number(&parts.0, 0)?, self.number(&parts.1, 0)?));
                }
                let (sign, own) = match op {
                    BinaryOp::Add => ("+", SUM),
                    BinaryOp::Sub => ("-", SUM),
                    BinaryOp::Mul => ("*", PRODUCT),
                    BinaryOp::Div => ("/", PRODUCT),
                    _ => ("%", PRODUCT),
                };
                let (left, right) = (self.number(&parts.0, own)?, self.number(&parts.1, own + 1)?);
                Ok(within(format!("{left} {sign} {right}"), own, level))
            }
            Expr::If(parts) => {
                let condition = self.condition(&parts.0, OR)?;
                let (yes, no) = (self.number(&parts.1, OR)?, self.number(&parts.2, CHOICE)?);
                Ok(within(format!("{condition} ? {yes} : {no}"), CHOICE, level.max(OR)))
            }
            // What leaves 32 bits is a runtime error in BIR.
            Expr::Wrap(inner, lo, hi) if *hi - *lo > 0xffff_0000 => self.number(inner, level),
            Expr::Wrap(inner, lo, hi) => {
                let (name, size) = (format!("wrap_{}_{hi}", lo.unsigned_abs()), hi - lo + 1);
                let text =
                    format!("function {name}(int x): int = ((x - ({lo})) % {size} + {size}) % {size} + ({lo});\n");
                self.helpers.borrow_mut().insert(text);
                Ok(format!("{name}({})", self.number(inner, 0)?))
            }
            Expr::Unary(..) | Expr::Stuck | Expr::Fold { .. } | Expr::Let { .. } => {
                Err("an expression that BIR does not have")
            }
        }
    }

    pub(super) fn condition(&self, expr: &Expr, level: u8) -> Said {
        match expr {
            Expr::Const(number) => Ok((*number != 0).to_string()),
            Expr::Stuck => Ok("timeout".into()),
            Expr::Unary(UnaryOp::Not, inner) => {
                Ok(within(format!("!{}", self.condition(inner, PREFIX + 1)?), PREFIX, level))
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), parts) => {
                let (sign, own) = if *op == BinaryOp::And { ("&&", AND) } else { ("||", OR) };
                let (left, right) = (self.condition(&parts.0, own)?, self.condition(&parts.1, own + 1)?);
                Ok(within(format!("{left} {sign} {right}"), own, level))
            }
            Expr::Binary(op, parts) if comparison(*op).is_some() => {
                let (sign, own) = comparison(*op).unwrap_or(("==", EQUAL));
                if let Some(text) = self.at(*op, &parts.0, &parts.1, level)? {
                    return Ok(text);
                }
                let left = self.number(&parts.0, SUM)?;
                let right = match (&parts.0, &parts.1) {
                    (Expr::Var(variable) | Expr::Element(variable, _), Expr::Const(number)) => {
                        self.named(*variable, *number)
                    }
                    (_, right) => self.number(right, SUM)?,
                };
                Ok(within(format!("{left} {sign} {right}"), own, level))
            }
            Expr::Var(variable) if self.is_boolean(*variable) => self.place(*variable, None),
            Expr::Element(variable, index) if self.is_boolean(*variable) => self.place(*variable, Some(index)),
            Expr::If(parts) => {
                let condition = self.condition(&parts.0, OR)?;
                let (yes, no) = (self.condition(&parts.1, OR)?, self.condition(&parts.2, CHOICE)?);
                Ok(within(format!("{condition} ? {yes} : {no}"), CHOICE, level.max(OR)))
            }
            _ => Ok(within(format!("{} != 0", self.number(expr, SUM)?), EQUAL, level)),
        }
    }

    /// A question about the place of a process.
    fn at(&self, op: BinaryOp, left: &Expr, right: &Expr, level: u8) -> Result<Option<String>, &'static str> {
        let Expr::Element(variable, _) = left else { return Ok(None) };
        let Some(thread) = self.thread_of(*variable) else { return Ok(None) };
        let (Some(place), BinaryOp::Eq | BinaryOp::Ne) = (right.as_const(), op) else {
            return Err("the place of a process is used as a number");
        };
        let names = &self.locations[self.program.threads[thread].kind];
        let at = |name: &String| format!("{}@{name}", self.threads[thread]);
        Ok(Some(match (names.get(place as usize), op) {
            (Some(name), BinaryOp::Eq) => at(name),
            (Some(name), _) => format!("!{}", at(name)),
            (None, BinaryOp::Eq) => format!("!({})", names.iter().map(at).collect::<Vec<_>>().join(" || ")),
            (None, _) => within(names.iter().map(at).collect::<Vec<_>>().join(" || "), OR, level),
        }))
    }

    /// A function for the operations on bits.
    fn need(&self, function: &str) {
        let mut helpers = self.helpers.borrow_mut();
        let cases: String = (1..31).map(|i| format!("i == {i} ? {} : ", 1i64 << i)).collect();
        helpers.insert(format!("function power(int (0, 30) i): int = {cases}1;\n"));
        let both = "int a, int b";
        if matches!(function, "bit_and" | "bit_or") {
            helpers.insert("function low_bits(int a): int = a < 0 ? a + 2147483647 + 1 : a;\n".into());
            helpers.insert(format!(
                "function bit_and({both}): int = \
                 sum (i : 0 .. 30) (low_bits(a) / power(i) % 2 * (low_bits(b) / power(i) % 2) * power(i)) \
                 + (a < 0 && b < 0 ? -2147483647 - 1 : 0);\n"
            ));
        }
        match function {
            "bit_or" => _ = helpers.insert(format!("function bit_or({both}): int = a + b - bit_and(a, b);\n")),
            "shift_up" => _ = helpers.insert("function shift_up(int a, int b): int = a * power(b);\n".into()),
            "shift_down" => _ = helpers.insert("function shift_down(int a, int b): int = a / power(b);\n".into()),
            _ => {}
        }
    }
}

fn comparison(op: BinaryOp) -> Option<(&'static str, u8)> {
    Some(match op {
        BinaryOp::Eq => ("==", EQUAL),
        BinaryOp::Ne => ("!=", EQUAL),
        BinaryOp::Lt => ("<", LESS),
        BinaryOp::Le => ("<=", LESS),
        BinaryOp::Gt => (">", LESS),
        BinaryOp::Ge => (">=", LESS),
        _ => return None,
    })
}

fn bits(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::BitAnd => "bit_and",
        BinaryOp::BitOr => "bit_or",
        BinaryOp::Shl => "shift_up",
        BinaryOp::Shr => "shift_down",
        _ => return None,
    })
}
