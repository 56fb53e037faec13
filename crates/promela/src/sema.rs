//! What names mean: types, variables, channels, and where they are in a state.

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::{Expr, Fault, FaultId, FaultKind, Span, ValueKind, VarId, VarRole, Variable};

use crate::flow::{Flow, Scope};
use crate::syntax::ast::{self, Decl, Init, TypeName};
use crate::watch::Watch;
use birk_ir::Diagnostic;

/// An array has at most so many elements.
const MAX_LENGTH: i64 = 1 << 16;
/// All arrays of a variable together.
const MAX_ELEMENTS: u64 = 1 << 20;

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Bool,
    Mtype,
    Chan,
}

/// A part of a type that holds a value: the fields that lead to it, their lengths where they are arrays, what it holds, and the
/// channel that a field of a record begins with.
type Part = (Vec<Rc<str>>, Vec<Option<u32>>, Scalar, Option<Init>);

impl Scalar {
    pub(crate) const INT: Scalar = Scalar { lo: i32::MIN as i64, hi: i32::MAX as i64, kind: Kind::Number };

    /// What a declaration names, unless it is a record.
    pub(crate) fn of(name: &TypeName) -> Option<Self> {
        let number = |lo, hi| Some(Scalar { lo, hi, kind: Kind::Number });
        match name {
            TypeName::Bit => number(0, 1),
            TypeName::Bool => Some(Scalar { lo: 0, hi: 1, kind: Kind::Bool }),
            TypeName::Byte | TypeName::Pid => number(0, 255),
            TypeName::Short => number(-32768, 32767),
            TypeName::Int => Some(Self::INT),
            TypeName::Unsigned(bits) => number(0, (1i64 << bits.min(&31)) - 1),
            TypeName::Mtype => Some(Scalar { lo: 0, hi: 255, kind: Kind::Mtype }),
            TypeName::Chan => Some(Scalar { lo: 0, hi: 255, kind: Kind::Chan }),
            TypeName::User(_) => None,
        }
    }
}

/// A part of a variable that holds values: the variable itself, or a field of a record.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The names of the fields that lead to it.
    pub(crate) path: Vec<Rc<str>>,
    /// The length where the variable, and each field, is an array.
    pub(crate) lengths: Vec<Option<u32>>,
    pub(crate) scalar: Scalar,
    pub(crate) id: VarId,
}

/// A declared variable.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) leaves: Vec<Leaf>,
    /// The channels that it stands for, where it is never anything else.
    pub(crate) fixed: Option<usize>,
    /// Instances have an index of their own before all others.
    pub(crate) is_local: bool,
}

/// A declared channel, or an array of channels.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The number of the first of them: what a variable of type `chan` holds.
    pub(crate) first: i64,
    pub(crate) count: u32,
    pub(crate) capacity: u32,
    pub(crate) fields: Vec<Scalar>,
    /// The number of messages, and their fields; a rendezvous has none.
    pub(crate) length: Option<VarId>,
    pub(crate) contents: Vec<VarId>,
}

/// The channel that is meant: one of a declaration, or the one with a number.
#[derive(Clone, Debug)]
pub(crate) enum Channel {
    Fixed { group: usize, index: Expr },
    Number(Expr),
}

/// A proctype with its flow.
#[derive(Debug)]
pub(crate) struct Proc {
    pub(crate) name: ast::Name,
    /// It moves only where this is true.
    pub(crate) provided: Option<ast::Expr>,
    pub(crate) flow: Flow,
    /// Its instances, by the numbers of their threads.
    pub(crate) instances: Vec<usize>,
    pub(crate) states: Vec<usize>,
    /// The position of an element among the states.
    pub(crate) position: HashMap<usize, usize>,
}

/// A process that can run: a proctype with its number.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) proc: usize,
    pub(crate) pid: i64,
    pub(crate) name: String,
    pub(crate) counter: VarId,
    pub(crate) vars: Vec<Var>,
    /// Runs from the start.
    pub(crate) is_active: bool,
    /// The channels that are its own.
    pub(crate) groups: Vec<usize>,
}

/// Everything that is known of a model.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) types: HashMap<Rc<str>, Vec<Decl>>,
    pub(crate) mtypes: HashMap<Rc<str>, i64>,
    pub(crate) mtype_names: Vec<String>,
    pub(crate) globals: HashMap<Rc<str>, Var>,
    pub(crate) groups: Vec<Group>,
    pub(crate) channels: Vec<birk_ir::Channel>,
    pub(crate) procs: Vec<Proc>,
    pub(crate) instances: Vec<Instance>,
    /// How many processes there are.
    pub(crate) running: VarId0,
    /// Names of variables of type `chan` that something is assigned to.
    pub(crate) moving: std::collections::HashSet<Rc<str>>,
    /// The channels that a variable of type `chan` begins with.
    pub(crate) chan_groups: HashMap<VarId, usize>,
    /// So many processes can run at once.
    pub(crate) most: i64,
    /// What watches the order of messages.
    pub(crate) watch: Option<Watch>,
}

/// A variable that exists from the start of lowering.
pub(crate) type VarId0 = Option<VarId>;

impl World {
    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>, label: &str) {
        self.diagnostics.push(Diagnostic::new(code, span, message, label));
    }

    pub(crate) fn fault(&mut self, kind: FaultKind, span: Span, message: impl Into<String>) -> FaultId {
        let fault = Fault { kind, message: message.into(), span };
        let known = self.faults.iter().position(|known| *known == fault);
        FaultId::new(known.unwrap_or_else(|| {
            self.faults.push(fault);
            self.faults.len() - 1
        }))
    }

    /// A constant expression: the length of an array, the capacity of a channel.
    pub(crate) fn constant(&mut self, expr: &ast::Expr, what: &str) -> Option<i64> {
        let value = self.constant_of(expr);
        if value.is_none() {
            let message = format!("{what} is a constant expression");
            self.error("E2009", expr.span, message, "not constant");
        }
        value
    }

    pub(crate) fn constant_of(&self, expr: &ast::Expr) -> Option<i64> {
        match &expr.kind {
            ast::ExprKind::Const(value) => Some(*value),
            ast::ExprKind::Place(place) => match &place.parts[..] {
                [(name, None)] => match self.mtypes.get(&name.text) {
                    Some(value) => Some(*value),
                    // SPIN takes the initial value of a variable.
                    None => {
                        let var = self.globals.get(&name.text)?;
                        let initial = *self.variables[var.leaves.first()?.id.index()].initial.first()?;
                        (initial > 0).then_some(initial)
                    }
                },
                _ => None,
            },
            ast::ExprKind::Unary("-", inner) => Some(-self.constant_of(inner)?),
            ast::ExprKind::Binary(sign, parts) => {
                let (a, b) = (self.constant_of(&parts.0)?, self.constant_of(&parts.1)?);
                match *sign {
                    "+" => a.checked_add(b),
                    "-" => a.checked_sub(b),
                    "*" => a.checked_mul(b),
                    "/" => a.checked_div(b),
                    "%" => a.checked_rem(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The names of `mtype`, numbered from the last of each declaration on.
    pub(crate) fn declare_mtypes(&mut self, lists: &[(Option<Rc<str>>, Vec<ast::Name>)]) {
        let mut counts: HashMap<Option<Rc<str>>, i64> = HashMap::new();
        self.mtype_names.push("0".into());
        for (kind, names) in lists {
            for name in names.iter().rev() {
                let count = counts.entry(kind.clone()).or_insert(0);
                *count += 1;
                let number = *count;
                if self.mtypes.insert(Rc::clone(&name.text), number).is_some() {
                    let message = format!("`{}` is declared twice", name.text);
                    self.error("E2002", name.span, message, "again");
                }
                if kind.is_none() {
                    self.mtype_names.push(name.text.to_string());
                }
                if number > 255 {
                    self.error("E2009", name.span, "there are at most 255 names of an `mtype`", "one too many");
                    return;
                }
            }
        }
    }

    /// The parts of a type that hold values, each with the fields that lead to it.
    fn leaves_of(&mut self, decl: &Decl, depth: usize) -> Vec<Part> {
        let length = decl.length.as_ref().map(|length| {
            let value = self.constant(length, "the length of an array").unwrap_or(1);
            if !(1..=MAX_LENGTH).contains(&value) {
                let message = format!("an array has 1 to {MAX_LENGTH} elements, not {value}");
                self.error("E2009", length.span, message, "out of range");
            }
            value.clamp(1, MAX_LENGTH) as u32
        });
        if let Some(mut scalar) = Scalar::of(&decl.ty) {
            // An array of bits is an array of bytes in SPIN, and nothing is cut off.
            if length.is_some() && scalar.hi == 1 && matches!(decl.ty, TypeName::Bit | TypeName::Bool) {
                scalar = Scalar { lo: 0, hi: 255, kind: Kind::Number };
            }
            let channel = Some(decl.init.clone()).filter(|init| depth > 0 && matches!(init, Init::Chan { .. }));
            return vec![(Vec::new(), vec![length], scalar, channel)];
        }
        let TypeName::User(name) = &decl.ty else { return Vec::new() };
        let fields = self.types.get(name).cloned().unwrap_or_default();
        if depth > 8 {
            self.error("E2009", decl.name.span, format!("type `{name}` contains itself"), "here");
            return Vec::new();
        }
        let mut found = Vec::new();
        for field in &fields {
            for (path, lengths, scalar, channel) in self.leaves_of(field, depth + 1) {
                let path = [Rc::clone(&field.name.text)].into_iter().chain(path).collect();
                found.push((path, [length].into_iter().chain(lengths).collect(), scalar, channel));
            }
        }
        found
    }

    /// Makes the variables of a declaration; `owner` is the process whose variable it is.
    pub(crate) fn declare(&mut self, decl: &Decl, name: &str, owner: Option<&(usize, String)>) -> Var {
        let mut leaves = Vec::new();
        for (path, lengths, scalar, channel) in self.leaves_of(decl, 0) {
            let mut full = match owner {
                Some((_, owner)) => format!("{owner}.{name}"),
                None => name.to_owned(),
            };
            // An index that is the last part is not written in the name.
            for (at, field) in path.iter().enumerate() {
                full.push_str(if lengths[at].is_some() { "[]." } else { "." });
                full.push_str(field);
            }
            let mut shape: Vec<u32> = lengths.iter().flatten().copied().collect();
            let elements = shape.iter().map(|n| u64::from(*n)).product::<u64>();
            if elements > MAX_ELEMENTS {
                self.error("E2009", decl.name.span, "this variable has too many elements", "too large");
                shape = vec![1];
            }
            if owner.is_some() {
                shape.insert(0, 1);
            }
            let role = owner.map_or(VarRole::Global, |(kind, _)| VarRole::Local(*kind));
            let id = self.variable(&full, role, scalar, shape, decl.name.span);
            if let Some(init) = channel {
                let span = decl.name.span;
                let count = ast::Expr { kind: ast::ExprKind::Const(elements as i64), span };
                let length = (elements > 1).then_some(count);
                let field = Decl { name: decl.name.clone(), ty: TypeName::Chan, length, init, hidden: false };
                let group = self.declare_channels(&field, &format!("{full} "));
                self.chan_groups.extend(group.map(|group| (id, group)));
            }
            leaves.push(Leaf { path, lengths, scalar, id });
        }
        Var { leaves, fixed: None, is_local: owner.is_some() }
    }

    pub(crate) fn variable(&mut self, name: &str, role: VarRole, scalar: Scalar, shape: Vec<u32>, span: Span) -> VarId {
        let values = match scalar.kind {
            Kind::Bool => ValueKind::Boolean,
            Kind::Mtype => ValueKind::Names(self.mtype_names.clone()),
            Kind::Number | Kind::Chan => ValueKind::Integer,
        };
        let length = shape.iter().product::<u32>() as usize;
        let (lo, hi) = (scalar.lo, scalar.hi);
        self.variables.push(Variable {
            name: name.to_owned(),
            role,
            lo,
            hi,
            shape,
            values,
            initial: vec![0; length],
            span,
        });
        VarId::new(self.variables.len() - 1)
    }

    /// The channels that a declaration makes.
    pub(crate) fn declare_channels(&mut self, decl: &Decl, name: &str) -> Option<usize> {
        let Init::Chan { capacity, fields, span } = &decl.init else { return None };
        let capacity = self.constant(capacity, "the capacity of a channel")?;
        if !(0..=255).contains(&capacity) {
            self.error("E2009", *span, "a channel has room for 0 to 255 messages", "out of range");
            return None;
        }
        let count = match &decl.length {
            Some(length) => self.constant(length, "the length of an array")?.clamp(1, 255) as u32,
            None => 1,
        };
        let mut types = Vec::new();
        for field in fields {
            match field {
                TypeName::User(record) => {
                    let name = ast::Name { text: Rc::clone(record), span: *span };
                    let decl = Decl { name, ty: field.clone(), length: None, init: Init::None, hidden: false };
                    for (_, lengths, scalar, _) in self.leaves_of(&decl, 0) {
                        let count: u32 = lengths.iter().flatten().product();
                        types.extend((0..count).map(|_| scalar));
                    }
                }
                other => types.extend(Scalar::of(other)),
            }
        }
        let first = self.groups.iter().map(|group| i64::from(group.count)).sum::<i64>() + 1;
        let mut group =
            Group { first, count, capacity: capacity as u32, fields: types, length: None, contents: Vec::new() };
        if first + i64::from(count) > 256 {
            self.error("E2009", *span, "there are at most 255 channels", "one too many");
            return None;
        }
        if capacity > 0 {
            let shape: Vec<u32> = decl.length.iter().map(|_| count).collect();
            let with = |more: u32| -> Vec<u32> { shape.iter().copied().chain([more]).collect() };
            let index = if shape.is_empty() { "[]" } else { "[][]" };
            for (number, scalar) in group.fields.clone().into_iter().enumerate() {
                let full = match group.fields.len() {
                    1 => name.to_owned(),
                    _ => format!("{name}{index}.{}", number + 1),
                };
                let id = self.variable(&full, VarRole::Global, scalar, with(capacity as u32), decl.name.span);
                group.contents.push(id);
            }
            let number = Scalar { lo: 0, hi: capacity, kind: Kind::Number };
            let length = self.variable(name, VarRole::Length, number, shape, decl.name.span);
            group.length = Some(length);
            let contents = group.contents.clone();
            self.channels.push(birk_ir::Channel { name: name.to_owned(), length, contents });
        }
        self.groups.push(group);
        Some(self.groups.len() - 1)
    }

    /// Makes the variable of a declaration, with its channels and the values that it begins with.
    pub(crate) fn declare_with_channels(
        &mut self,
        decl: &Decl,
        name: &str,
        owner: Option<&(usize, String)>,
    ) -> (Var, Option<usize>) {
        let full = match owner {
            Some((_, owner)) => format!("{owner}.{name}"),
            None => name.to_owned(),
        };
        let group = self.declare_channels(decl, &full);
        if let Some(group) = group
            && !self.moving.contains(&decl.name.text)
        {
            let count = decl.length.as_ref().map(|_| self.groups[group].count);
            let scalar = Scalar { lo: 0, hi: 255, kind: Kind::Chan };
            let leaf = Leaf { path: Vec::new(), lengths: vec![count], scalar, id: VarId(0) };
            return (Var { leaves: vec![leaf], fixed: Some(group), is_local: owner.is_some() }, Some(group));
        }
        let var = self.declare(decl, name, owner);
        (var, group)
    }

    /// A variable by its name, as a process sees it.
    pub(crate) fn find(&self, instance: Option<usize>, scope: &Scope, name: &str) -> Option<Var> {
        let local = instance.and_then(|instance| Some(self.instances[instance].vars[scope.find(name)?].clone()));
        local.or_else(|| self.globals.get(name).cloned())
    }

    /// Whether a process is at an element.
    pub(crate) fn is_at(&self, instance: usize, element: usize) -> Expr {
        let this = &self.instances[instance];
        match self.procs[this.proc].position.get(&element) {
            Some(position) => Expr::element(this.counter, Expr::Const(0)).equals(*position as i64),
            None => Expr::FALSE,
        }
    }
}
