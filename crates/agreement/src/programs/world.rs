//! What a random system declares: constants, types, variables, the signatures of functions and threads.
//!
//! Only what expressions and steps need to know is kept beside the tree: names, kinds, ranges, lengths.

use birk_lang::ast::{self, BinaryOp, Domain, Expr, ExprKind, Item, Name, Quantifier, Type, TypeKind};

use crate::programs::data::{Channel, Data, Holder};
use crate::programs::wholes::{Group, Whole};
use crate::random::{Draw as _, Random};
use crate::tree::{
    alias, binary, call, constants, enumeration, expr, function, member, name, named, number, param, truth, ty,
    variables,
};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Enum(usize),
    /// Of the one set type there is.
    Set,
    /// Of the one symmetric type there is.
    Name,
}

/// The type of a single value, and how it is written.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) kind: Kind,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) wraps: bool,
    pub(crate) written: Type,
}

impl Scalar {
    /// Few enough values to count over.
    pub(crate) fn is_small(&self) -> bool {
        self.hi - self.lo <= 7
    }
}

/// A variable, parameter or local.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) scalar: Scalar,
    /// Lengths, outermost first.
    pub(crate) shape: Vec<i64>,
    /// Behind so many indices stands this: it is a field of a record, perhaps in a record.
    pub(crate) fields: Vec<(usize, String)>,
    /// Its elements are far apart: an index counts several of them.
    pub(crate) spread: bool,
    pub(crate) written: Type,
    pub(crate) initial: Option<Expr>,
    /// A parameter of a procedure that stands for a variable: it may be assigned.
    pub(crate) by_place: bool,
}

impl Var {
    /// Whether it is an array whose index is a value of the symmetric type.
    pub(crate) fn is_by_name(&self) -> bool {
        self.written.dimensions.iter().any(is_of_names)
    }
}

/// Whether this is the name of the symmetric type.
fn is_of_names(length: &Expr) -> bool {
    matches!(&length.kind, ExprKind::Name(name) if name == "Id")
}

/// A constant as it is written where it is used.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub(crate) path: Expr,
    pub(crate) kind: Kind,
    pub(crate) value: i64,
}

/// The signature of a function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) params: Vec<Var>,
    pub(crate) result: Scalar,
}

/// A parameter of a procedure: it stands for its argument.
#[derive(Clone, Debug)]
pub(crate) enum Formal {
    Single(Var),
    /// Of a record.
    Whole(Group, String),
    /// For one of these channels.
    Channel(Channel),
}

/// The outside of a procedure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Procedure {
    pub(crate) name: String,
    pub(crate) params: Vec<Formal>,
    /// The single values, whole values and channels that its parameters are.
    pub(crate) singles: Vec<Var>,
    pub(crate) wholes: Vec<Whole>,
    pub(crate) channels: Vec<Channel>,
    /// It has no loop: it may be called inside one step.
    pub(crate) plain: bool,
}

/// The outside of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) active: bool,
    pub(crate) copies: i64,
    pub(crate) written: Option<Expr>,
    pub(crate) params: Vec<Var>,
    pub(crate) locals: Vec<Var>,
    /// Or labels, where the body is made of statements.
    pub(crate) locations: Vec<String>,
    pub(crate) structured: bool,
    /// Locals of record types; what they are made of is among the locals.
    pub(crate) records: Vec<ast::Variables>,
    pub(crate) wholes: Vec<Whole>,
    /// Locals that are sequences and maps.
    pub(crate) holders: Vec<Holder>,
    /// Steps may start it.
    pub(crate) startable: bool,
}

impl Thread {
    /// Whether its copies are numbered by the symmetric type.
    pub(crate) fn is_by_names(&self) -> bool {
        self.written.as_ref().is_some_and(is_of_names)
    }
}

/// Everything that is declared.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) constants: Vec<Constant>,
    pub(crate) enums: Vec<(String, Vec<String>)>,
    /// Named types: scalars, and arrays of them.
    aliases: Vec<(String, Scalar, Vec<i64>)>,
    pub(crate) globals: Vec<Var>,
    pub(crate) functions: Vec<Function>,
    pub(crate) procedures: Vec<Procedure>,
    pub(crate) threads: Vec<Thread>,
    /// It uses more than the core of the language.
    pub(crate) rich: bool,
    pub(crate) data: Data,
    /// The declarations that are complete: all but functions, threads and properties.
    pub(crate) items: Vec<Item>,
}

impl World {
    /// Draws a world.
    pub(crate) fn new(rich: bool, random: &mut Random) -> Self {
        let mut world = World { rich, ..World::default() };
        world.declare_constants(random);
        world.declare_types(random);
        if rich {
            world.declare_names(random);
        }
        for i in 0..random.between(2, if rich { 3 } else { 4 }) {
            let variable = world.variable(&format!("g{i}"), random);
            world.globals.push(variable);
        }
        world.declare_globals(random);
        if rich {
            world.declare_data(random);
        }
        for i in 0..random.weighted(&[40, 30, 30]) {
            let params = (0..random.below(3)).map(|p| world.parameter(&parameter_name(p, random), random)).collect();
            let result = world.scalar(random);
            world.functions.push(Function { name: format!("f{i}"), params, result });
        }
        for i in 0..if rich { random.weighted(&[30, 40, 30]) } else { 0 } {
            let procedure = world.procedure(format!("p{i}"), random);
            world.procedures.push(procedure);
        }
        world.declare_threads(random);
        world
    }

    fn procedure(&self, name: String, random: &mut Random) -> Procedure {
        let mut procedure = Procedure { name, plain: random.chance(70), ..Procedure::default() };
        for p in 0..random.below(3) {
            let by_place = random.chance(60);
            let single = Var { by_place, ..self.parameter(&parameter_name(p, random), random) };
            procedure.singles.push(single.clone());
            procedure.params.push(Formal::Single(single));
        }
        if self.data.records.is_some() && random.chance(40) {
            let parts = self.parts_of(Group::Record, "q", &[]);
            procedure.singles.extend(parts.into_iter().map(|part| Var { by_place: true, ..part }));
            procedure.wholes.extend(self.wholes_of(Group::Record, "q"));
            procedure.params.push(Formal::Whole(Group::Record, "q".to_owned()));
        }
        if !self.data.channels.is_empty() && random.chance(40) {
            let channel = random.pick(&self.data.channels);
            // One step has at most one rendezvous.
            procedure.plain &= channel.capacity > 0;
            procedure.channels.push(Channel { name: "via".to_owned(), shape: Vec::new(), ..channel.clone() });
            procedure.params.push(Formal::Channel(channel.clone()));
        }
        procedure
    }

    fn constant(&mut self, path: Expr, kind: Kind, value: i64) {
        self.constants.push(Constant { path, kind, value });
    }

    fn declare_constants(&mut self, random: &mut Random) {
        let value = random.between(1, 3);
        self.add_constants(None, vec![(name("N"), number(value))]);
        self.constant(named("N"), Kind::Integer, value);
        if random.chance(40) {
            let (a, b) = (random.between(-2, 2), random.between(1, 2));
            let derived = binary(BinaryOp::Add, named("N"), binary(BinaryOp::Mul, number(b), number(2)));
            let entries = vec![(name("A"), number(a)), (name("B"), derived)];
            self.add_constants(Some("P"), entries);
            self.constant(member(named("P"), "A"), Kind::Integer, a);
            self.constant(member(named("P"), "B"), Kind::Integer, value + b * 2);
        }
        if random.chance(20) {
            let flag = random.chance(50);
            self.add_constants(None, vec![(name("FLAG"), truth(flag))]);
            self.constant(named("FLAG"), Kind::Boolean, i64::from(flag));
        }
        if random.chance(15) {
            self.declare_computed(value, random);
        }
    }

    /// Constants that are computed by a function and by a quantifier.
    fn declare_computed(&mut self, n: i64, random: &mut Random) {
        let int = || ty(TypeKind::Int, Vec::new());
        let body = binary(BinaryOp::Mul, named("N"), number(2));
        self.items.push(function("twice", vec![param(int(), "N")], int(), body));
        self.add_constants(None, vec![(name("TWO"), call("twice", vec![named("N")]))]);
        self.constant(named("TWO"), Kind::Integer, 2 * n);
        let least = random.between(1, 3);
        let divides = binary(BinaryOp::Ge, binary(BinaryOp::Div, number(6), named("i")), number(least));
        let right = binary(BinaryOp::Or, binary(BinaryOp::Eq, named("i"), number(0)), divides);
        let domain = Box::new(Domain::Range(number(0), named("N")));
        let all = ExprKind::Quantifier(Quantifier::All, name("i"), domain, Box::new(right));
        self.add_constants(None, vec![(name("ALL"), expr(all))]);
        self.constant(named("ALL"), Kind::Boolean, i64::from((1..=n).all(|i| 6 / i >= least)));
    }

    fn add_constants(&mut self, block: Option<&str>, entries: Vec<(Name, Expr)>) {
        self.items.push(constants(block, entries));
    }

    fn declare_types(&mut self, random: &mut Random) {
        if random.chance(50) {
            let count = 2 + random.below(2);
            let variants: Vec<String> = ["red", "green", "blue"][..count].iter().map(|v| (*v).to_owned()).collect();
            self.items.push(enumeration("Hue", &variants));
            self.enums.push(("Hue".to_owned(), variants));
            if random.chance(30) {
                self.add_constants(None, vec![(name("FIRST"), member(named("Hue"), "green"))]);
                self.constant(named("FIRST"), Kind::Enum(0), 1);
            }
        }
        for i in 0..random.weighted(&[50, 30, 20]) {
            let scalar = self.scalar(random);
            let shape = if random.chance(40) { vec![random.between(1, 2)] } else { Vec::new() };
            let dimensions = shape.iter().map(|&length| self.written_number(length, random)).collect();
            let text = format!("Alias{i}");
            self.items.push(alias(&text, ty(scalar.written.kind.clone(), dimensions)));
            self.aliases.push((text, scalar, shape));
        }
    }

    /// A number, or a constant that has this value.
    pub(crate) fn written_number(&self, value: i64, random: &mut Random) -> Expr {
        let equal: Vec<&Constant> =
            self.constants.iter().filter(|c| c.kind == Kind::Integer && c.value == value).collect();
        if !equal.is_empty() && random.chance(50) {
            return random.pick(&equal).path.clone();
        }
        let next = self.constants.iter().find(|c| c.kind == Kind::Integer && c.value == value + 1);
        match next {
            Some(constant) if random.chance(30) => binary(BinaryOp::Sub, constant.path.clone(), number(1)),
            _ => number(value),
        }
    }

    /// A type of single values. Wide ones are rare: they make many states.
    pub(crate) fn scalar(&self, random: &mut Random) -> Scalar {
        let plain = |kind, lo, hi, wraps, written| Scalar { kind, lo, hi, wraps, written: ty(written, Vec::new()) };
        let scalars: Vec<&(String, Scalar, Vec<i64>)> =
            self.aliases.iter().filter(|(_, _, shape)| shape.is_empty()).collect();
        if self.data.set.is_some() && random.chance(20) {
            return self.set_scalar();
        }
        if self.data.names.is_some() && random.chance(15) {
            return self.parameter_of_names().scalar;
        }
        match random.weighted(&[30, 4, 8, 40, 20, 15, 8]) {
            0 => plain(Kind::Boolean, 0, 1, false, TypeKind::Boolean),
            1 => plain(Kind::Integer, 0, 255, true, TypeKind::Byte),
            2 => plain(Kind::Integer, i64::from(i32::MIN), i64::from(i32::MAX), false, TypeKind::Int),
            3 | 4 if self.enums.is_empty() || random.chance(70) => {
                let lo = *random.pick(&[0, 0, 0, 0, 1, -1, -2, 5]);
                let (hi, wraps) = (lo + random.weighted(&[5, 40, 35, 20]) as i64, random.chance(33));
                let bounds = [lo, hi].map(|bound| Box::new(self.written_number(bound, random)));
                let [low, high] = bounds;
                plain(Kind::Integer, lo, hi, wraps, TypeKind::Range(wraps, low, high))
            }
            5 if !scalars.is_empty() => {
                let (alias, scalar, _) = *random.pick(&scalars);
                Scalar { written: ty(TypeKind::Named(name(alias)), Vec::new()), ..scalar.clone() }
            }
            _ if !self.enums.is_empty() => {
                let hi = self.enums[0].1.len() as i64 - 1;
                plain(Kind::Enum(0), 0, hi, false, TypeKind::Named(name(&self.enums[0].0)))
            }
            _ => plain(Kind::Boolean, 0, 1, false, TypeKind::Boolean),
        }
    }

    pub(crate) fn parameter(&self, name: &str, random: &mut Random) -> Var {
        let scalar = self.scalar(random);
        Var { name: name.to_owned(), written: scalar.written.clone(), scalar, ..self.nothing() }
    }

    /// A variable of any type, in one case of five an array.
    fn variable(&self, name: &str, random: &mut Random) -> Var {
        let arrays: Vec<&(String, Scalar, Vec<i64>)> =
            self.aliases.iter().filter(|(_, _, shape)| !shape.is_empty()).collect();
        let mut shape: Vec<i64> = match random.weighted(&[75, 20, 5]) {
            0 => Vec::new(),
            1 => vec![random.between(1, 3)],
            _ => vec![random.between(1, 2), 2],
        };
        let dimensions = shape.iter().map(|&length| self.written_number(length, random)).collect();
        let (scalar, written) = if !arrays.is_empty() && shape.len() < 2 && random.chance(25) {
            let (alias, scalar, inner) = *random.pick(&arrays);
            shape.extend(inner);
            (scalar.clone(), ty(TypeKind::Named(crate::tree::name(alias)), dimensions))
        } else {
            let scalar = self.scalar(random);
            let written = ty(scalar.written.kind.clone(), dimensions);
            (scalar, written)
        };
        let has_initial = random.chance(35) && scalar.kind != Kind::Name;
        let initial = has_initial.then(|| self.constant_of(&scalar, random));
        Var { name: name.to_owned(), scalar, shape, written, initial, ..self.nothing() }
    }

    /// A constant expression in the range of a type.
    pub(crate) fn constant_of(&self, scalar: &Scalar, random: &mut Random) -> Expr {
        let value = random.between(scalar.lo.max(-2), scalar.hi.min(5).max(scalar.lo));
        match scalar.kind {
            Kind::Boolean => truth(value != 0),
            Kind::Integer => self.written_number(value, random),
            Kind::Enum(e) => member(named(&self.enums[e].0), &self.enums[e].1[value as usize]),
            Kind::Set => self.fixed_set(random),
            Kind::Name => unreachable!("such a type has no constants"),
        }
    }

    /// Declares the globals, sometimes two of one type together.
    fn declare_globals(&mut self, random: &mut Random) {
        let mut extra = Vec::new();
        for variable in &self.globals {
            let mut declarators = vec![(name(&variable.name), variable.initial.clone())];
            let small = variable.scalar.hi - variable.scalar.lo <= 6 && variable.shape.is_empty();
            if small && random.chance(15) {
                let twin = Var { name: format!("{}b", variable.name), initial: None, ..variable.clone() };
                declarators.push((name(&twin.name), None));
                extra.push(twin);
            }
            self.items.push(Item::Variables(variables(variable.written.clone(), declarators)));
        }
        self.globals.extend(extra);
    }

    fn declare_threads(&mut self, random: &mut Random) {
        // Messages need somebody who sends and somebody who receives.
        let busy = !self.data.channels.is_empty();
        let kinds = random.weighted(if busy { &[0, 5, 60, 35] } else { &[0, 20, 55, 25] });
        for i in 0..kinds {
            let active = i == 0 || random.chance(if busy && i == 1 { 85 } else { 55 });
            let copies = match (active, random.chance(3)) {
                (false, true) => 0,
                (true, _) if busy => random.weighted(&[0, 40, 52, 8]) as i64,
                (true, _) => random.weighted(&[0, 55, 37, 8]) as i64,
                (false, false) => random.weighted(&[0, 45, 45, 10]) as i64,
            };
            let written = (copies != 1 || random.chance(20)).then(|| self.written_number(copies, random));
            let params = match active {
                true if random.chance(60) => vec![self.index_param(copies, random)],
                true => Vec::new(),
                false => (0..random.weighted(&[25, 30, 45]))
                    .map(|p| self.parameter(&parameter_name(p, random), random))
                    .collect(),
            };
            // Names such as `g0` hide a global.
            let mut copies = copies;
            let (mut written, mut params) = (written, params);
            if let Some(last) = self.data.names.filter(|_| active && random.chance(40)) {
                (copies, written) = (last + 1, Some(named("Id")));
                params = vec![Var { name: "me".to_owned(), ..self.parameter_of_names() }];
            }
            let names = [*random.pick(&["x", "g0"]), "y"];
            let mut locals: Vec<Var> =
                (0..random.weighted(&[50, 35, 15])).map(|l| self.variable(names[l], random)).collect();
            let (mut records, mut wholes) = (Vec::new(), Vec::new());
            if self.data.records.is_some() && random.chance(30) {
                let declared = self.group_type(Group::Record, Vec::new());
                records.push(variables(declared, vec![(name("z"), None)]));
                locals.extend(self.parts_of(Group::Record, "z", &[]));
                wholes = self.wholes_of(Group::Record, "z");
            }
            let structured = self.rich && random.chance(75);
            let count =
                if structured { random.weighted(&[0, 40, 40, 20]) } else { random.weighted(&[0, 8, 35, 42, 15]) };
            let locations = (0..count).map(|l| format!("l{l}")).collect();
            let startable = !active || random.chance(8);
            let name = format!("T{i}");
            self.threads.push(Thread {
                name,
                active,
                copies,
                written,
                params,
                locals,
                locations,
                structured,
                records,
                wholes,
                holders: Vec::new(),
                startable,
            });
        }
    }

    /// The parameter of an active thread: the number of its copy.
    fn index_param(&self, copies: i64, random: &mut Random) -> Var {
        let written = match random.below(3) {
            0 => (TypeKind::Int, i64::from(i32::MIN), i64::from(i32::MAX)),
            1 => (TypeKind::Byte, 0, 255),
            _ => {
                let hi = (copies - 1).max(0) + random.between(0, 1);
                let range = TypeKind::Range(false, Box::new(number(0)), Box::new(self.written_number(hi, random)));
                (range, 0, hi)
            }
        };
        let (kind, lo, hi) = written;
        let written = ty(kind, Vec::new());
        let wraps = matches!(written.kind, TypeKind::Byte);
        let scalar = Scalar { kind: Kind::Integer, lo, hi, wraps, written: written.clone() };
        Var { name: "me".to_owned(), scalar, written, ..self.nothing() }
    }
}

/// Parameters sometimes hide a global.
fn parameter_name(position: usize, random: &mut Random) -> String {
    if position == 0 && random.chance(15) { "g1".to_owned() } else { format!("p{position}") }
}
