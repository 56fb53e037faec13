//! Expressions: DVE knows numbers only, BIR numbers and truth values.

use crate::ast::{Binary, Expr, ExprKind, Name, Unary};
use crate::context::Symbol;
use crate::translate::Writer;

/// How tightly the operators of BIR bind.
pub(super) const IMPLIES: u8 = 1;
const OR: u8 = 2;
pub(super) const AND: u8 = 3;
const EQUAL: u8 = 4;
const LESS: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
const PREFIX: u8 = 8;

/// In parentheses, unless it binds at least as tightly as is needed.
fn within(text: String, own: u8, level: u8) -> String {
    if own >= level { text } else { format!("({text})") }
}

impl Writer<'_> {
    /// An expression as a number, where something binds as tightly as `level` around it.
    pub(super) fn number(&mut self, process: Option<usize>, expr: &Expr, level: u8) -> String {
        match &expr.kind {
            ExprKind::Number(number) if *number < 0 => within(number.to_string(), PREFIX, level),
            ExprKind::Number(number) => number.to_string(),
            ExprKind::Error => "0".into(),
            ExprKind::Variable(owner, name, index) => self.place(process, owner.as_ref(), name, index.as_deref()),
            ExprKind::Unary(Unary::Minus, operand) => {
                within(format!("-{}", self.number(process, operand, PREFIX + 1)), PREFIX, level)
            }
            ExprKind::Unary(Unary::Complement, operand) => {
                within(format!("-1 - {}", self.number(process, operand, SUM + 1)), SUM, level)
            }
            ExprKind::Binary(op, parts) => match arithmetic(*op) {
                Some((sign, own)) => {
                    let left = self.number(process, &parts.0, own);
                    let right = self.number(process, &parts.1, own + 1);
                    within(format!("{left} {sign} {right}"), own, level)
                }
                None => match bits(*op) {
                    Some(function) => self.call(process, function, &parts.0, &parts.1),
                    None => self.counted(process, expr),
                },
            },
            ExprKind::State(..) | ExprKind::Unary(Unary::Not, _) => self.counted(process, expr),
        }
    }

    /// A truth value as a number.
    fn counted(&mut self, process: Option<usize>, expr: &Expr) -> String {
        format!("({} ? 1 : 0)", self.condition(process, expr, IMPLIES))
    }

    /// An expression as a truth value.
    pub(super) fn condition(&mut self, process: Option<usize>, expr: &Expr, level: u8) -> String {
        match &expr.kind {
            ExprKind::Number(number) => (*number != 0).to_string(),
            ExprKind::State(owner, state) => format!("{}@{}", self.name(owner), self.name(state)),
            ExprKind::Unary(Unary::Not, operand) => {
                within(format!("!{}", self.condition(process, operand, PREFIX + 1)), PREFIX, level)
            }
            ExprKind::Binary(op @ (Binary::And | Binary::Or | Binary::Imply), parts) => {
                let (sign, own) = match op {
                    Binary::And => ("&&", AND),
                    Binary::Or => ("||", OR),
                    _ => ("=>", IMPLIES),
                };
                let left = self.condition(process, &parts.0, own + u8::from(own == IMPLIES));
                let right = self.condition(process, &parts.1, own + u8::from(own != IMPLIES));
                within(format!("{left} {sign} {right}"), own, level)
            }
            ExprKind::Binary(op, parts) if comparison(*op).is_some() => {
                let (sign, own) = comparison(*op).expect("just asked");
                let left = self.number(process, &parts.0, SUM);
                let right = self.number(process, &parts.1, SUM);
                within(format!("{left} {sign} {right}"), own, level)
            }
            _ => within(format!("{} != 0", self.number(process, expr, SUM)), EQUAL, level),
        }
    }

    fn place(&mut self, process: Option<usize>, owner: Option<&Name>, name: &Name, index: Option<&Expr>) -> String {
        let scope = match owner {
            Some(owner) => self.cx.process(owner),
            None => process,
        };
        let is_own = scope.is_some_and(|scope| self.cx.processes[scope].names.contains_key(&name.text));
        let symbol = self.cx.lookup(scope, name);
        let index = index.map(|index| self.number(process, index, 0));
        let (length, is_const) = match symbol {
            Symbol::Variable { length, is_const, .. } => (length, is_const),
            _ => return self.constant(scope.filter(|_| is_own), name),
        };
        // An array without an index is its first element.
        let index = index.or(length.map(|_| "0".into()));
        if is_const {
            let function = self.constant(scope.filter(|_| is_own), name);
            return format!("{function}({})", index.unwrap_or_default());
        }
        let of = match (scope.filter(|_| is_own), owner) {
            (Some(scope), owner) if owner.is_some() || self.is_outside => {
                format!("{}.", self.name(&self.cx.system.processes[scope].name))
            }
            _ => String::new(),
        };
        let index = index.filter(|_| length.is_some()).map(|index| format!("[{index}]")).unwrap_or_default();
        format!("{of}{}{index}", self.name(name))
    }

    /// What BIR has no operator for.
    fn call(&mut self, process: Option<usize>, function: &'static str, left: &Expr, right: &Expr) -> String {
        self.helpers.extend([function, "power"]);
        if function.starts_with("bit") {
            self.helpers.extend(["bit_and", "low_bits"]);
        }
        let (left, right) = (self.number(process, left, 0), self.number(process, right, 0));
        format!("{}({left}, {right})", self.fresh(function))
    }
}

/// The text of a function.
pub(super) fn helper(name: &str, fresh: &dyn Fn(&str) -> String) -> String {
    let (own, and, low, power) = (fresh(name), fresh("bit_and"), fresh("low_bits"), fresh("power"));
    match name {
        "bit_and" => format!(
            "function {own}(int a, int b): int = \
             sum (i : 0 .. 30) ({low}(a) / {power}(i) % 2 * ({low}(b) / {power}(i) % 2) * {power}(i)) \
             + (a < 0 && b < 0 ? -2147483647 - 1 : 0);\n"
        ),
        "low_bits" => format!("function {own}(int a): int = a < 0 ? a + 2147483647 + 1 : a;\n"),
        "bit_or" => format!("function {own}(int a, int b): int = a + b - {and}(a, b);\n"),
        "bit_xor" => format!("function {own}(int a, int b): int = a + b - 2 * {and}(a, b);\n"),
        "shift_up" => format!("function {own}(int a, int b): int = a * {power}(b);\n"),
        "shift_down" => {
            format!("function {own}(int a, int b): int = a < 0 ? -1 - (-1 - a) / {power}(b) : a / {power}(b);\n")
        }
        _ => {
            let cases: String = (1..31).map(|i| format!("i == {i} ? {} : ", 1i64 << i)).collect();
            format!("function {own}(int (0, 30) i): int = {cases}1;\n")
        }
    }
}

fn arithmetic(op: Binary) -> Option<(&'static str, u8)> {
    Some(match op {
        Binary::Add => ("+", SUM),
        Binary::Sub => ("-", SUM),
        Binary::Mul => ("*", PRODUCT),
        Binary::Div => ("/", PRODUCT),
        Binary::Rem => ("%", PRODUCT),
        _ => return None,
    })
}

fn comparison(op: Binary) -> Option<(&'static str, u8)> {
    Some(match op {
        Binary::Eq => ("==", EQUAL),
        Binary::Ne => ("!=", EQUAL),
        Binary::Lt => ("<", LESS),
        Binary::Le => ("<=", LESS),
        Binary::Gt => (">", LESS),
        Binary::Ge => (">=", LESS),
        _ => return None,
    })
}

fn bits(op: Binary) -> Option<&'static str> {
    Some(match op {
        Binary::BitAnd => "bit_and",
        Binary::BitOr => "bit_or",
        Binary::BitXor => "bit_xor",
        Binary::Shl => "shift_up",
        Binary::Shr => "shift_down",
        _ => return None,
    })
}
