//! The text of each syntax error, the figures of the seed verbatim, and the shape of trees.

use birk_lang::ast::{BinaryOp, Domain, Expr, ExprKind, Item, Jump, Mark, Quantifier, System, TypeKind, UnaryOp};
use birk_lang::parser::parse;

/// Where a fragment stands: always alone on the second line, except for whole files.
#[derive(Clone, Copy)]
enum Place {
    File,
    Item,
    Body,
    Step,
    Action,
    Expr,
    Formula,
    Ctl,
    Mu,
}

use Place::{Action, Body, Ctl, Expr as Guard, File, Formula, Item as Declared, Mu, Step};

fn embed(place: Place, text: &str) -> String {
    match place {
        File => text.to_string(),
        Declared => format!("system S {{\n{text}\n}}"),
        Body => format!("system S {{ active thread T() {{\n{text}\n}} }}"),
        Step => format!("system S {{ active thread T() {{ loc a:\n{text}\n}} }}"),
        Action => format!("system S {{ active thread T() {{ loc a: do {{\n{text}\n}} goto a; }} }}"),
        Guard => format!("system S {{ invariant p:\n{text}\n; }}"),
        Formula => format!("system S {{ ltl p:\n{text}\n; }}"),
        Ctl => format!("system S {{ ctl p:\n{text}\n; }}"),
        Mu => format!("system S {{ mu p:\n{text}\n; }}"),
    }
}

/// `code line:col message | label | help (line:col related)`, one line per diagnostic; columns count from 1.
fn messages(text: &str) -> String {
    let mut lines = Vec::new();
    for diagnostic in parse(text, 0).diagnostics {
        let (line, column) = place(text, diagnostic.span.start as usize);
        let mut message = format!("{} {line}:{column} {} | {}", diagnostic.code, diagnostic.message, diagnostic.label);
        if let Some(help) = diagnostic.help {
            message += &format!(" | {help}");
        }
        for (span, label) in diagnostic.related {
            let (line, column) = place(text, span.start as usize);
            message += &format!(" ({line}:{column} {label})");
        }
        lines.push(message);
    }
    lines.join("\n")
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[test]
fn broken_texts_are_explained() {
    let mut wrong = Vec::new();
    for (place, text, expected) in BROKEN {
        let found = messages(&embed(*place, text));
        if found != *expected {
            wrong.push(format!("{text}\n  expected: {expected}\n  found:    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} texts:\n{}", wrong.len(), BROKEN.len(), wrong.join("\n"));
}

#[test]
fn every_error_is_reported_in_one_go() {
    let text = "system S {\n  int x = 1;\n  active thread T() {\n    loc a:\n      when x := 1 do { x = 2 } goto a\n    \
                loc b do { y := (1; }\n  }\n  invariant x == 1;\n  int $ z\n}\n";
    let codes: Vec<_> = parse(text, 0).diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    let expected = ["E0012", "E0012", "E0012", "E0005", "E0005", "E0004", "E0006", "E0007", "E0004", "E0001", "E0005"];
    assert_eq!(codes, expected);
}

#[test]
fn one_missing_token_causes_at_most_two_messages() {
    let (mut single, mut double) = (0, 0);
    for figure in [FIGURE_1_1, FIGURE_1_3, FIGURE_1_4] {
        for token in parse(figure, 0).tokens.iter().filter(|token| !token.kind.is_trivia()) {
            let mut text = figure.to_string();
            text.replace_range(token.span.range(), "");
            match parse(&text, 0).diagnostics.len() {
                0 | 1 => single += 1,
                2 => double += 1,
                _ => panic!("without `{}`: {}", &figure[token.span.range()], messages(&text)),
            }
        }
    }
    assert!(double * 20 < single, "{double} of {} give two messages", single + double);
}

#[test]
fn messages_are_limited() {
    let text = format!("system S {{ {} }}", "int 5; ".repeat(10_000));
    let diagnostics = parse(&text, 0).diagnostics;
    assert_eq!(diagnostics.len(), 201);
    assert_eq!(diagnostics.last().map(|last| last.code), Some("E0014"));
}

#[test]
fn spans_carry_the_file() {
    let parsed = parse("system S { int x § := ; }", 7);
    assert!(parsed.tokens.iter().all(|token| token.span.file == 7));
    assert!(parsed.diagnostics.len() == 2 && parsed.diagnostics.iter().all(|found| found.span.file == 7));
    assert_eq!(parsed.system.map(|system| system.span.file), Some(7));
}

#[test]
fn figures_parse_verbatim() {
    for (figure, items) in [(FIGURE_1_1, 4), (FIGURE_1_3, 4), (FIGURE_1_4, 5)] {
        assert_eq!(messages(figure), "");
        assert_eq!(tree(figure).items.len(), items);
    }
}

fn tree(text: &str) -> System {
    let parsed = parse(text, 0);
    let found: Vec<_> = parsed.diagnostics.iter().map(|diagnostic| &diagnostic.message).collect();
    assert!(found.is_empty(), "{text}: {found:?}");
    parsed.system.expect("a text without diagnostics has a tree")
}

#[test]
fn items_have_their_parts() {
    let system = tree(
        "system S { const N = 3; const P { A = 1; B = 2, } ; enum E { R, G };  typealias Small int wrap (0, 3);
           Small[N][2] a, b := 2; int (0, P.A) c; function f(int i, E e): int = i; int wrap; byte end := 1;
           [2] thread T() { int x; loc go: end progress when x == 0 do { x := choose(0, 1); } return; }
           reachable r: T[0]@go; }",
    );
    assert_eq!(system.name.text, "S");
    let [Item::Constants(n), Item::Constants(p), Item::Enum(e), Item::Alias(small), rest @ ..] = &system.items[..]
    else {
        panic!("{system:?}");
    };
    assert!(n.block.is_none() && n.entries.len() == 1);
    assert!(p.block.as_ref().is_some_and(|block| block.text == "P") && p.entries.len() == 2);
    assert_eq!(e.variants.iter().map(|name| name.text.as_str()).collect::<Vec<_>>(), ["R", "G"]);
    assert!(matches!(small.target.kind, TypeKind::Range(true, ..)));
    let [
        Item::Variables(a),
        Item::Variables(c),
        Item::Function(f),
        Item::Variables(w),
        Item::Variables(end),
        rest @ ..,
    ] = rest
    else {
        panic!("{rest:?}");
    };
    assert!(matches!(&a.ty.kind, TypeKind::Named(name) if name.text == "Small"));
    assert_eq!((a.ty.dimensions.len(), a.declarators.len()), (2, 2));
    assert!(matches!(c.ty.kind, TypeKind::Range(false, ..)));
    assert_eq!((f.name.text.as_str(), f.params.len()), ("f", 2));
    assert_eq!(w.declarators[0].0.text, "wrap");
    assert_eq!(end.declarators[0].0.text, "end");
    let [Item::Thread(t), Item::Property(r)] = rest else { panic!("{rest:?}") };
    assert!(!t.active && t.copies.is_some() && t.variables.len() == 1);
    let go = &t.locations[0];
    assert_eq!(go.marks.iter().map(|(mark, _)| *mark).collect::<Vec<_>>(), [Mark::End, Mark::Progress]);
    assert!(matches!(go.transformations[0].jump, Some(Jump::Return(_))));
    assert_eq!(shape(&r.body), "T[0]@go");
}

#[test]
fn both_places_of_a_jump_mean_the_same() {
    let system = tree("system S { thread T() { loc a: do { skip; goto a; } do { skip; } goto a; } }");
    let Item::Thread(thread) = &system.items[0] else { panic!("{system:?}") };
    for transformation in &thread.locations[0].transformations {
        assert_eq!(transformation.actions.len(), 1);
        assert!(matches!(&transformation.jump, Some(Jump::Goto(name)) if name.text == "a"));
    }
}

/// An expression with all its parentheses.
fn shape(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Member(of, name) => format!("{}.{}", shape(of), name.text),
        ExprKind::Index(of, index) => format!("{}[{}]", shape(of), shape(index)),
        ExprKind::At(of, name) => format!("{}@{}", shape(of), name.text),
        ExprKind::Call(name, arguments) => {
            let arguments: Vec<_> = arguments.iter().map(shape).collect();
            format!("{}({})", name.text, arguments.join(", "))
        }
        ExprKind::Unary(op, operand) => format!("({} {})", unary(*op), shape(operand)),
        ExprKind::Binary(op, left, right) => format!("({} {} {})", shape(left), binary(*op), shape(right)),
        ExprKind::Conditional(condition, then, otherwise) => {
            format!("({} ? {} : {})", shape(condition), shape(then), shape(otherwise))
        }
        ExprKind::Quantifier(quantifier, name, domain, body) => {
            let word = match quantifier {
                Quantifier::All => "forall",
                Quantifier::Any => "exists",
                Quantifier::Count => "count",
                Quantifier::Sum => "sum",
            };
            let domain = match &**domain {
                Domain::Range(low, high) => format!("{}..{}", shape(low), shape(high)),
                Domain::Members(set) => format!("in {}", shape(set)),
            };
            format!("({word} {} {domain} {})", name.text, shape(body))
        }
        ExprKind::Let(name, value, body) => format!("(let {} = {} in {})", name.text, shape(value), shape(body)),
        ExprKind::Choose(parts) => {
            let parts: Vec<_> = parts.iter().map(shape).collect();
            format!("choose({})", parts.join(", "))
        }
        ExprKind::Set(members) => {
            let members: Vec<_> = members.iter().map(shape).collect();
            format!("{{{}}}", members.join(", "))
        }
        ExprKind::Modal(is_some, label, operand) => {
            let label = label.as_ref().map_or("-".to_string(), |label| shape(label));
            let [open, close] = if *is_some { ["<", ">"] } else { ["[", "]"] };
            format!("({open}{label}{close} {})", shape(operand))
        }
        ExprKind::Fixpoint(is_least, name, operand) => {
            format!("({} {}. {})", if *is_least { "mu" } else { "nu" }, name.text, shape(operand))
        }
        ExprKind::Error => "?".to_string(),
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "!",
        UnaryOp::Neg => "-",
        UnaryOp::Next => "X",
        UnaryOp::Always => "[]",
        UnaryOp::Eventually => "<>",
        UnaryOp::AllNext => "AX",
        UnaryOp::AllEventually => "AF",
        UnaryOp::AllAlways => "AG",
        UnaryOp::SomeNext => "EX",
        UnaryOp::SomeEventually => "EF",
        UnaryOp::SomeAlways => "EG",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::Implies => "=>",
        BinaryOp::Iff => "<->",
        BinaryOp::Until => "U",
        BinaryOp::WeakUntil => "W",
        BinaryOp::Release => "R",
        BinaryOp::In => "in",
    }
}

fn body(place: Place, text: &str) -> Expr {
    let mut system = tree(&embed(place, text));
    match system.items.pop() {
        Some(Item::Property(property)) => property.body,
        other => panic!("{other:?}"),
    }
}

#[test]
fn expressions_bind_as_documented() {
    for (text, expected) in [
        ("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"),
        ("a - b - c", "((a - b) - c)"),
        ("-a + !b", "((- a) + (! b))"),
        ("- - a[1]", "(- (- a[1]))"),
        ("!a == b", "((! a) == b)"),
        ("a == b == c", "((a == b) == c)"),
        ("a + 1 < b == c", "(((a + 1) < b) == c)"),
        ("a < b != c >= d", "((a < b) != (c >= d))"),
        ("a || b && c || d", "(a || ((b && c) || d))"),
        ("a => b => c", "(a => (b => c))"),
        ("a || b => c && d", "((a || b) => (c && d))"),
        ("a => b ? c : d", "((a => b) ? c : d)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ? b ? c : d : e", "(a ? (b ? c : d) : e)"),
        ("a ? b : c => d", "(a ? b : (c => d))"),
        ("(a + b) * c", "((a + b) * c)"),
        ("forall (i : 0 .. N - 1) a[i] && b => c", "(forall i 0..(N - 1) ((a[i] && b) => c))"),
        ("x && exists (i : 0 .. 1) a || b", "(x && (exists i 0..1 (a || b)))"),
        ("!forall (i : 0 .. 1) a && b", "(! (forall i 0..1 (a && b)))"),
        ("T[i + 1].x == Param.N", "(T[(i + 1)].x == Param.N)"),
        ("f(g(1), 2)[3] @ l", "f(g(1), 2)[3]@l"),
        ("0x1F + 1_000 - 2147483648", "((31 + 1000) - 2147483648)"),
        ("X == U && next(3) != W[R]", "((X == U) && (next(3) != W[R]))"),
        ("a in s + {1, b} && c", "((a in (s + {1, b})) && c)"),
        ("{} <= s * {x - 1}", "({} <= (s * {(x - 1)}))"),
        ("forall (x in {1, 2}) x in s => c", "(forall x in {1, 2} ((x in s) => c))"),
        ("count (i : 0 .. 3) a[i] == 2", "((count i 0..3 a[i]) == 2)"),
        ("sum (x in a) (x + 1) > 2 * count (x in s) !b", "((sum x in a (x + 1)) > (2 * (count x in s (! b))))"),
        ("let x = a + 1 in x * x == 4", "(let x = (a + 1) in ((x * x) == 4))"),
        ("1 + let x = a in x", "(1 + (let x = a in x))"),
        ("count + sum(2) == let", "((count + sum(2)) == let)"),
        ("r.f[1].g == R(1, {2})", "(r.f[1].g == R(1, {2}))"),
    ] {
        assert_eq!(shape(&body(Guard, text)), expected, "{text}");
    }
}

#[test]
fn formulas_bind_as_documented() {
    for (text, expected) in [
        ("[] (p -> <> q)", "([] (p => (<> q)))"),
        ("[]<>p && q", "(([] (<> p)) && q)"),
        ("always eventually p", "([] (<> p))"),
        ("p U q U r", "(p U (q U r))"),
        ("p until q weakuntil r release s", "(p U (q W (r R s)))"),
        ("p && q U r || s", "((p && (q U r)) || s)"),
        ("x == 1 U y < 2", "((x == 1) U (y < 2))"),
        ("p -> q <-> r => s", "((p => q) <-> (r => s))"),
        ("p <-> q <-> r", "(p <-> (q <-> r))"),
        ("! X p", "(! (X p))"),
        ("X X p", "(X (X p))"),
        ("G F p", "([] (<> p))"),
        ("G (p) -> F !q", "(([] p) => (<> (! q)))"),
        ("G == 1 && F - 1 == 0", "((G == 1) && ((F - 1) == 0))"),
        ("next (p) U []q", "((X p) U ([] q))"),
        ("X == 1 && X - 1 == 0", "((X == 1) && ((X - 1) == 0))"),
        ("X U p", "(X U p)"),
        ("[] forall (i : 0 .. 2) T[i]@a -> <> T[i]@b", "([] (forall i 0..2 (T[i]@a => (<> T[i]@b))))"),
        ("[ ] p", "([] p)"),
    ] {
        assert_eq!(shape(&body(Formula, text)), expected, "{text}");
    }
}

#[test]
fn branching_formulas_bind_as_documented() {
    for (place, text, expected) in [
        (Ctl, "AG (p -> AF q)", "(AG (p => (AF q)))"),
        (Ctl, "AG EF p && q", "((AG (EF p)) && q)"),
        (Ctl, "! EX p || AX !q", "((! (EX p)) || (AX (! q)))"),
        (Ctl, "A [p U q] && E(p W q)", "(A[(p U q)] && E((p W q)))"),
        (Ctl, "EG E[p R EF q]", "(EG E[(p R (EF q))])"),
        (Ctl, "AG == 1 && EF - 1 == A[0]", "((AG == 1) && ((EF - 1) == A[0]))"),
        (Ctl, "AG forall (i : 0 .. 2) EF T[i]@b", "(AG (forall i 0..2 (EF T[i]@b)))"),
        (Mu, "nu X. [-] X && p", "(nu X. (([-] X) && p))"),
        (Mu, "mu X. p || <-> X", "(mu X. (p || (<-> X)))"),
        (Mu, "nu X. mu Y. <T> (p && X) || <T[1]@a> Y", "(nu X. (mu Y. ((<T> (p && X)) || (<T[1]@a> Y))))"),
        (Mu, "[-][T]<-> true <-> !<T>p", "(([-] ([T] (<-> true))) <-> (! (<T> p)))"),
        (Mu, "p && mu X. X && q", "(p && (mu X. (X && q)))"),
        (Mu, "x < y && x > -y && a[1] < 3", "((x < y) && ((x > (- y)) && (a[1] < 3)))"),
        (Mu, "mu == nu", "(mu == nu)"),
    ] {
        assert_eq!(shape(&body(place, text)), expected, "{text}");
    }
}

#[test]
fn spans_leave_out_parentheses_of_the_whole_only() {
    let text = embed(Guard, "((a) + (b))");
    let sum = body(Guard, "((a) + (b))");
    assert_eq!(&text[sum.span.range()], "(a) + (b)");
    let ExprKind::Binary(_, left, right) = &sum.kind else { panic!("{sum:?}") };
    assert_eq!((&text[left.span.range()], &text[right.span.range()]), ("a", "b"));
}

fn depth(expr: &Expr) -> usize {
    let children: Vec<&Expr> = match &expr.kind {
        ExprKind::Member(a, _) | ExprKind::At(a, _) | ExprKind::Unary(_, a) => vec![a],
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Let(_, a, b) => vec![a, b],
        ExprKind::Conditional(a, b, c) => vec![a, b, c],
        ExprKind::Quantifier(_, _, domain, body) => match &**domain {
            Domain::Range(low, high) => vec![low, high, body],
            Domain::Members(set) => vec![set, body],
        },
        ExprKind::Call(_, arguments) | ExprKind::Set(arguments) | ExprKind::Choose(arguments) => {
            arguments.iter().collect()
        }
        _ => Vec::new(),
    };
    1 + children.into_iter().map(depth).max().unwrap_or(0)
}

#[test]
fn long_conjunctions_are_shallow() {
    let text = vec!["a || b && c"; 5000].join(" || ");
    assert!(depth(&body(Guard, &text)) < 20);
}

#[test]
fn trees_are_as_deep_as_allowed_and_no_deeper() {
    let limit = birk_lang::ast::MAX_DEPTH;
    for (open, close) in [("!", ""), ("(1 + ", ")"), ("a[", "]"), ("f(", ")"), ("a ? b : ", ""), ("a => ", "")] {
        let nest = |levels: usize| format!("{}b{}", open.repeat(levels), close.repeat(levels));
        let deepest = (1..=limit).rev().find(|levels| messages(&embed(Guard, &nest(*levels))).is_empty());
        let deepest = deepest.expect("one level is allowed");
        assert!(deepest >= limit / 2 - 1, "only {deepest} levels of {open}");
        assert!(depth(&body(Guard, &nest(deepest))) <= limit);
        let found = messages(&embed(Guard, &nest(deepest + 1)));
        assert!(found.starts_with("E0009") && found.lines().count() == 1, "{open}: {found}");
    }
    let sum = |terms: usize| vec!["a"; terms].join(" + ");
    assert_eq!(depth(&body(Guard, &sum(limit))), limit);
    assert!(messages(&embed(Guard, &sum(limit + 1))).starts_with("E0009"));
}

#[rustfmt::skip]
const BROKEN: &[(Place, &str, &str)] = &[
    (File, "", "E0010 1:1 the file is empty | expected a system | the smallest system is `system Name { active thread T() { loc a: do { } goto a; } }`"),
    (File, "// nothing", "E0010 1:11 the file is empty | expected a system | the smallest system is `system Name { active thread T() { loc a: do { } goto a; } }`"),
    (File, "hello world", "E0010 1:1 a file is one system, expected `system`, found `hello` | expected `system NAME {` | the smallest system is `system Name { active thread T() { loc a: do { } goto a; } }`"),
    (File, "sytem S { }", "E0004 1:1 expected `system`, found `sytem` | expected `system` | did you mean `system`?"),
    (File, "int x;
thread T() { loc a: do { } goto a; }", "E0010 1:1 a file is one system, expected `system`, found the keyword `int` | expected `system NAME {` | the smallest system is `system Name { active thread T() { loc a: do { } goto a; } }`"),
    (File, "system { }", "E0004 1:8 expected the system's name, found `{` | expected the system's name"),
    (File, "system S int x; }", "E0004 1:10 expected `{`, found the keyword `int` | expected `{`"),
    (File, "system S { } int x; }", "E0010 1:14 the system ends before the keyword `int` | text after the system | is there a `}` too many? (1:12 the system is closed here)"),
    (File, "system S { } }", "E0010 1:14 the system ends before `}` | text after the system | is there a `}` too many? (1:12 the system is closed here)"),
    (File, "system S { } system R { }", "E0010 1:14 the system ends before the keyword `system` | text after the system | a file holds one system; move the second one to a file of its own (1:12 the system is closed here)"),
    (File, "system S { } 5", "E0010 1:14 the system ends before `5` | text after the system (1:12 the system is closed here)"),
    (File, "system S {", "E0006 1:11 missing `}` | expected `}` here (1:10 this `{` is not closed)"),
    (File, "system S {
  active thread T() {
    loc a: do { } goto a;", "E0006 3:26 missing `}` | expected `}` here (2:21 this `{` is not closed)"),
    (Declared, "int x § := 1;", "E0001 2:7 unknown character `§` | not part of BIR"),
    (Declared, "int größe;", "E0001 2:5 a name with letters outside ASCII | cannot be a name | names are made of `a`-`z`, `A`-`Z`, `0`-`9` and `_`"),
    (Declared, "int x ∧ y;", "E0001 2:7 unknown character `∧` | not part of BIR | did you mean `&&`?"),
    (Declared, "int x := 3000000000;", "E0003 2:10 number too large | does not fit into 32 bits | numbers go from -2147483648 to 2147483647"),
    (Declared, "int x := 12ab;", "E0003 2:10 malformed number | neither a number nor a name | a number is written `42`, `1_000` or `0x2a`; a name begins with a letter or `_`"),
    (Declared, "int x := 1
int y;", "E0005 2:11 missing `;` | expected `;` here"),
    (Declared, "int x", "E0005 2:6 missing `;` | expected `;` here"),
    (Declared, "int := 1;", "E0004 2:5 expected a name, found `:=` | expected a name"),
    (Declared, "int x = 1;", "E0012 2:7 an initial value is given with `:=` | expected `:=` | write `:=`"),
    (Declared, "int x == 1, y = 2;", "E0012 2:7 an initial value is given with `:=` | expected `:=` | write `:=`
E0012 2:15 an initial value is given with `:=` | expected `:=` | write `:=`"),
    (Declared, "int x[3];", "E0012 2:6 the length of an array belongs to its type | not here | write the length behind the type: `int[3] a;`"),
    (Declared, "int start;", "E0004 2:5 expected a name, found the keyword `start` | expected a name | keywords cannot be names; write `start_`"),
    (Declared, "int x := ;
int y := * 2;", "E0004 2:10 expected an expression, found `;` | expected an expression
E0004 3:10 expected an expression, found `*` | expected an expression"),
    (Declared, "int (0 .. 3) x;", "E0012 2:8 a range is written with a comma | expected `,` | write `int (lo, hi)`"),
    (Declared, "int (0, 3 x;", "E0004 2:11 expected an operator, `,` or `)`, found `x` | expected an operator, `,` or `)` (2:5 to go with this `(`)"),
    (Declared, "const N := 3;", "E0012 2:9 a constant is not assigned | expected `=` | write `=`: `const N = 3;`"),
    (Declared, "const N 3;", "E0004 2:9 expected `=` or `{`, found `3` | expected `=` or `{` | write `const NAME = value;`"),
    (Declared, "const P { A = 1 B = 2; }", "E0005 2:16 missing `;` | expected `;` here"),
    (Declared, "const P { A = 1; 5 = 2; C = 3 }", "E0004 2:18 expected the name of a constant, found `5` | expected the name of a constant
E0005 2:30 missing `;` | expected `;` here"),
    (Declared, "const P { }", "E0004 2:11 expected a constant, found `}` | expected a constant | write `NAME = value;`"),
    (Declared, "const { A = 1; }", "E0004 2:7 expected a name, found `{` | expected a name"),
    (Declared, "const P { A = 1;
active thread T() { loc a: do { } goto a; }", "E0006 2:17 missing `}` | expected `}` here (2:9 this `{` is not closed)"),
    (Declared, "enum E { A, B, }", "E0004 2:16 expected the name of a value, found `}` | expected the name of a value"),
    (Declared, "enum E { A B }", "E0004 2:12 expected `,` or `}`, found `B` | expected `,` or `}`"),
    (Declared, "enum E { }", "E0004 2:10 expected the name of a value, found `}` | expected the name of a value"),
    (Declared, "enum { A }", "E0004 2:6 expected a name for the enumeration, found `{` | expected a name for the enumeration"),
    (Declared, "typealias T = int;", "E0004 2:13 expected a type, found `=` | expected a type | write `typealias NAME type;` without `=`"),
    (Declared, "invariant x == 1;", "E0004 2:13 expected `:`, found `==` | expected `:` | a property has a name: `invariant NAME: …;`"),
    (Declared, "invariant p x == 1;", "E0004 2:13 expected `:`, found `x` | expected `:` | a property has a name: `invariant NAME: …;`"),
    (Declared, "invarient p: x == 1;", "E0004 2:1 expected a declaration, found `invarient` | expected a declaration | did you mean `invariant`?"),
    (Declared, "ltl p [] x;", "E0004 2:7 expected `:`, found `[` | expected `:` | a property has a name: `ltl NAME: …;`"),
    (Declared, "cosnt N = 3;", "E0004 2:1 expected a declaration, found `cosnt` | expected a declaration | did you mean `const`?"),
    (Declared, "fucntion f(int x): int = x;", "E0004 2:1 expected a declaration, found `fucntion` | expected a declaration | did you mean `function`?"),
    (Declared, "function f(int x) = x;", "E0004 2:19 expected `:` and the type of the value, found `=` | expected `:` and the type of the value | a function is written `function NAME(int x): int = x + 1;`"),
    (Declared, "function f(int x): int { return x; }", "E0004 2:24 expected `=`, found `{` | expected `=` | a function is one expression: `function NAME(int x): int = x + 1;`"),
    (Declared, "function f(x): int = x;", "E0004 2:13 expected the parameter's name, found `)` | expected the parameter's name | a parameter has a type and a name, as in `int i`"),
    (Declared, "activ thread T() { loc a: do { } goto a; }", "E0004 2:1 expected a declaration, found `activ` | expected a declaration | did you mean `active`?"),
    (Declared, "activ [3] thread T() { loc a: do { } goto a; }", "E0004 2:1 expected a declaration, found `activ` | expected a declaration | did you mean `active`?"),
    (Declared, "active thred T() { loc a: do { } goto a; }", "E0004 2:8 expected `thread`, found `thred` | expected `thread` | did you mean `thread`?"),
    (Declared, "active thread T { loc a: do { } goto a; }", "E0004 2:17 expected `(`, found `{` | expected `(` | the parameters stand in parentheses, also if there are none: `T()`"),
    (Declared, "active thread T() loc a: do { } goto a; }", "E0004 2:19 expected `{`, found the keyword `loc` | expected `{`"),
    (Declared, "active thread T();
int x;", "E0004 2:18 expected `{`, found `;` | expected `{`"),
    (Declared, "active thread () { loc a: do { } goto a; }", "E0004 2:15 expected the thread's name, found `(` | expected the thread's name"),
    (Declared, "active thread T(5) { loc a: do { } goto a; }
int y", "E0004 2:17 expected a type, found `5` | expected a type
E0005 3:6 missing `;` | expected `;` here"),
    (Declared, "active thread T(int i j) { loc a: do { } goto a; }", "E0004 2:23 expected an operator, `,` or `)`, found `j` | expected an operator, `,` or `)` (2:16 to go with this `(`)"),
    (Declared, "active [3 thread T() { loc a: do { } goto a; }", "E0006 2:10 missing `]` | expected `]` here (2:8 this `[` is not closed)"),
    (Declared, "x := 1;", "E0004 2:1 expected a declaration, found `x` | expected a declaration | a variable is declared with its type: `int x := 1;`; actions stand in threads"),
    (Declared, ";;;", "E0004 2:1 expected a declaration, found `;` | expected a declaration | remove the `;`"),
    (Declared, "while (x) { y := 1; }", "E0004 2:1 expected a declaration, found `while` | expected a declaration | statements stand in threads and procedures"),
    (Declared, "{ { } }", "E0004 2:1 expected a declaration, found `{` | expected a declaration"),
    (Declared, r#"import "x";
int a"#, "E0004 2:1 expected a declaration, found `import` | expected a declaration | imports stand before `system`
E0005 3:6 missing `;` | expected `;` here"),
    (Declared, "active thread T() { loc a: do { } goto a; }
loc b: do { } goto a;
}
int x;", "E0004 3:1 the keyword `loc` outside a thread | expected a declaration | is there a `}` too many before it?"),
    (Declared, "active thread T() { loc a: do { } goto a; int x; }", "E0004 2:43 a variable declared behind a location | too late | declare it before the first location (2:25 the first location)"),
    (Declared, "active thread T() { loc a: do { } goto a;
active thread U() { loc a: do { } goto a; }", "E0006 2:42 missing `}` | expected `}` here (2:19 this `{` is not closed)"),
    (Body, "", "E0004 3:1 a thread without a location | expected `loc NAME:` or a statement | give it one: `loc a: do { } return;`, or a statement: `skip;`"),
    (Body, "do { } goto a;", "E0004 2:1 expected `loc NAME:` before the first guarded command, found the keyword `do` | expected `loc NAME:` before the first guarded command | name the place: `loc here: when … do { … } goto here;`; among statements, write `await …;`"),
    (Body, "lco a: do { } goto a;
lco b: do { } goto a;", "E0004 2:1 expected a location, found `lco` | expected a location | did you mean `loc`?
E0004 3:1 expected a location, found `lco` | expected a location | did you mean `loc`?"),
    (Body, "loc a do { } goto a;", "E0004 2:7 expected `:`, found the keyword `do` | expected `:`"),
    (Body, "loc : do { } goto a;", "E0004 2:5 expected the location's name, found `:` | expected the location's name"),
    (Body, "loc a:
loc b: do { } goto a;", "E0004 2:7 location `a` has no guarded command | expected `when` or `do` | write `do { } return;` if the thread ends here"),
    (Body, "loc a: ende do { } goto a;", "E0004 2:8 expected `end`, `accept`, `progress`, `when` or `do`, found `ende` | expected `end`, `accept`, `progress`, `when` or `do` | did you mean `end`?"),
    (Body, "loc a: end progres do { } goto a;", "E0004 2:12 expected `end`, `accept`, `progress`, `when` or `do`, found `progres` | expected `end`, `accept`, `progress`, `when` or `do` | did you mean `progress`?"),
    (Body, "loc a: x := 1; goto b;
loc b: do { } goto a;", "E0004 2:8 expected `when` or `do`, found `x` | expected `when` or `do` | actions stand in braces: `do { x := 1; } goto LOCATION;`"),
    (Body, "loc a: goto a;", "E0004 2:8 expected `when` or `do`, found the keyword `goto` | expected `when` or `do` | a jump belongs to a guarded command: `do { } goto LOCATION;`"),
    (Step, "when x = 1 do { } goto a;", "E0012 2:8 `=` is not a comparison | expected `==` | write `==`"),
    (Step, "when x := 1 do { } goto a;", "E0012 2:8 `:=` assigns and does not compare | expected `==` | write `==`"),
    (Step, "when x & y | z do { } goto a;", "E0012 2:8 BIR has no `&` | expected `&&` | write `&&`
E0012 2:12 BIR has no `|` | expected `||` | write `||`"),
    (Step, "when x and not y or z do { } goto a;", "E0012 2:8 BIR has no `and` | expected `&&` | write `&&`
E0012 2:12 BIR has no `not` | expected `!` | write `!`
E0012 2:18 BIR has no `or` | expected `||` | write `||`"),
    (Step, "when x =< 3 do { } goto a;", "E0012 2:8 `=<` is not an operator | expected `<=` | write `<=`"),
    (Step, "when x <> 3 do { } goto a;", "E0012 2:8 `<>` does not compare | expected `!=` | write `!=`"),
    (Step, "when do { } goto a;", "E0004 2:6 expected an expression, found the keyword `do` | expected an expression"),
    (Step, "when x { } goto a;", "E0004 2:8 expected `do`, found `{` | expected `do`"),
    (Step, "when x + do { } goto a;", "E0004 2:10 expected an expression, found the keyword `do` | expected an expression"),
    (Step, "when (x + 1 do { } goto a;", "E0006 2:12 missing `)` | expected `)` here (2:6 this `(` is not closed)"),
    (Step, "when f(x y) do { } goto a;", "E0004 2:10 expected an operator, `,` or `)`, found `y` | expected an operator, `,` or `)` (2:7 to go with this `(`)"),
    (Step, "when 0 < x < 5 <= 7 do { } goto a;", "E0011 2:12 comparisons cannot be chained | a second comparison | write `0 < x && x < 5`"),
    (Step, "when [] x do { } goto a;", "E0013 2:6 the operator `[]` outside a temporal property | only allowed in `ltl` properties | state it as a property: `ltl NAME: …;`"),
    (Step, "when x U y -> z do { } goto a;", "E0013 2:8 the operator `U` outside a temporal property | only allowed in `ltl` properties | state it as a property: `ltl NAME: …;`
E0013 2:12 the operator `->` outside a temporal property | only allowed in `ltl` properties | write `=>`"),
    (Step, "when a[1 == 2 do { } goto a;", "E0006 2:14 missing `]` | expected `]` here (2:7 this `[` is not closed)"),
    (Step, "whne x do { } goto a;", "E0004 2:1 expected `when` or `do`, found `whne` | expected `when` or `do` | did you mean `when`?"),
    (Step, "when x dp { } goto a;", "E0004 2:8 expected `do`, found `dp` | expected `do` | did you mean `do`?"),
    (Step, "when x then x := 1;
do { } goto a;", "E0004 2:8 expected `do`, found `then` | expected `do`"),
    (Step, "do { }", "E0007 2:7 a guarded command without a jump | expected `goto LOCATION;` or `return;` here | a guarded command has exactly one jump, `goto LOCATION;` or `return;`, inside or after its braces"),
    (Step, "do { } a;", "E0007 2:7 a guarded command without a jump | expected `goto LOCATION;` or `return;` here | did you mean `goto a;`?"),
    (Step, "do { } gto a;", "E0007 2:7 a guarded command without a jump | expected `goto LOCATION;` or `return;` here | did you mean `goto`?"),
    (Step, "do { } retrun;", "E0007 2:7 a guarded command without a jump | expected `goto LOCATION;` or `return;` here | did you mean `return`?"),
    (Step, "do { } goto a
do { } goto a;", "E0005 2:14 missing `;` | expected `;` here"),
    (Step, "do { } goto;", "E0004 2:12 expected a location, found `;` | expected a location"),
    (Step, "do { } goto 5;", "E0004 2:13 expected a location, found `5` | expected a location"),
    (Step, "do { goto a; } goto b;", "E0008 2:16 a second jump | the jump is given twice | a guarded command has exactly one jump, `goto LOCATION;` or `return;`, inside or after its braces (2:11 the first jump)"),
    (Step, "do { goto a; goto b; }", "E0008 2:14 a second jump | the jump is given twice | a guarded command has exactly one jump, `goto LOCATION;` or `return;`, inside or after its braces (2:6 the first jump)"),
    (Step, "do { } goto a; goto b;", "E0008 2:16 a second jump | this guarded command already has a jump | a guarded command has exactly one jump, `goto LOCATION;` or `return;`, inside or after its braces (2:1 the guarded command)"),
    (Step, "do { goto a; x := 1; }", "E0004 2:14 expected `}`, found `x` | expected `}` | put the jump behind the actions (2:6 nothing can follow this jump)"),
    (Step, "do x := 1; goto a;", "E0004 2:4 expected `{`, found `x` | expected `{`"),
    (Step, "do { x := 1; goto a;", "E0006 3:4 missing `}` | expected `}` here (1:10 this `{` is not closed)"),
    (Step, "do { x := 1; goto a;
when x do { } goto a;", "E0006 2:21 missing `}` | expected `}` here (2:4 this `{` is not closed)"),
    (Step, "{ x := 1; } goto a;", "E0004 2:1 expected `do`, found `{` | expected `do` | write `do { … } goto LOCATION;`"),
    (Step, "do { } goto a;;", "E0004 2:15 expected `when` or `do`, found `;` | expected `when` or `do` | remove the `;`"),
    (Step, "if (x) { goto a; } else { goto b; }
do { } goto a;", "E0004 2:1 expected `when` or `do`, found `if` | expected `when` or `do` | actions stand in braces: `do { x := 1; } goto LOCATION;`"),
    (Step, "do { if (x) { y := 1; } else { y := 2; } z := 1 } goto a;", "E0005 2:48 missing `;` | expected `;` here"),
    (Step, "do { while x do { x := x - 1; } } goto a;", "E0004 2:14 expected `{`, found the keyword `do` | expected `{` | leave out `do`: the statements stand in braces, `{ … }`"),
    (Action, "x = 1;", "E0012 2:3 `=` does not assign | expected `:=` | write `:=`"),
    (Action, "x == 1;", "E0012 2:3 `==` compares and does not assign | expected `:=` | write `:=`"),
    (Action, "x++; y += 2; z -= 1; w--;", "E0012 2:2 BIR has no `++` | expected `:=` | write `x := x + 1;`
E0012 2:8 BIR has no `+=` | expected `:=` | write `y := y + 2;`
E0012 2:16 BIR has no `-=` | expected `:=` | write `z := z - 1;`
E0012 2:23 BIR has no `--` | expected `:=` | write `w := w - 1;`"),
    (Action, "x := 1
y := 2
z := 3;", "E0005 2:7 missing `;` | expected `;` here
E0005 3:7 missing `;` | expected `;` here"),
    (Action, "x := 1 y := 2;", "E0005 2:7 missing `;` | expected `;` here"),
    (Action, "x := a b;", "E0004 2:8 expected `;`, found `b` | expected `;`"),
    (Action, "x := ;", "E0004 2:6 expected an expression, found `;` | expected an expression"),
    (Action, "x := (1 + 2;
y := 3)", "E0006 2:12 missing `)` | expected `)` here (2:6 this `(` is not closed)
E0004 3:7 expected `;`, found `)` | expected `;`"),
    (Action, "x := 1;;", "E0004 2:8 expected an action, found `;` | expected an action | remove the `;`, or write `skip;`"),
    (Action, "int y := 1;", "E0004 2:1 expected an action, found the keyword `int` | expected an action | variables are declared at the beginning of a thread or in the system"),
    (Action, "asert x > 1;", "E0004 2:1 expected an action, found `asert` | expected an action | did you mean `assert`?"),
    (Action, r#"assert x > 1 "text";"#, "E0004 2:14 expected `;`, found a string | expected `;`"),
    (Action, "assert x > 1, 5;", "E0004 2:15 expected a string in quotes, found `5` | expected a string in quotes"),
    (Action, r#"assert x > 1, "open;
y := 1;"#, r#"E0002 2:15 a string that does not end on its line | it begins here | close it with `"`"#),
    (Action, "start T;", "E0004 2:8 expected `(`, found `;` | expected `(`"),
    (Action, "start 5();", "E0004 2:7 expected the thread to start, found `5` | expected the thread to start"),
    (Action, "x := choose(1 .. 2);", "E0012 2:15 `choose` takes two numbers | expected `,` | write `choose(lo, hi)`"),
    (Action, "x := choose 1;", "E0004 2:13 expected `(`, found `1` | expected `(`"),
    (Action, "x := 1 + choose(1, 2);", "E0004 2:10 expected an expression, found the keyword `choose` | expected an expression | `choose` stands alone on the right side: `atomic { x := choose(0, 3); x := x + 1; }`"),
    (Action, "skp;", "E0004 2:1 expected an action, found `skp` | expected an action | did you mean `skip`?"),
    (Action, "gto a;", "E0004 2:1 expected an action, found `gto` | expected an action | did you mean `goto`?
E0008 3:3 a second jump | the jump is given twice | a guarded command has exactly one jump, `goto LOCATION;` or `return;`, inside or after its braces (2:5 the first jump)"),
    (Action, "start := 1;", "E0004 2:1 expected an action, found the keyword `start` | expected an action | keywords cannot be names; write `start_`"),
    (Action, "5 := x;", "E0004 2:1 expected an action, found `5` | expected an action"),
    (Action, "x;", "E0004 2:2 expected `:=`, found `;` | expected `:=`"),
    (Action, r#"x := "a";"#, "E0004 2:6 expected an expression, found a string | expected an expression | strings are allowed only after the condition of `assert`"),
    (Action, "x := 1 § 2;", "E0001 2:8 unknown character `§` | not part of BIR"),
    (Action, "x := a ? b;", "E0004 2:11 expected `:` and the other value, found `;` | expected `:` and the other value (2:6 of this condition)"),
    (Action, "x := a[];", "E0004 2:8 expected an expression, found `]` | expected an expression"),
    (Action, "x := a.5;", "E0004 2:8 expected a name, found `5` | expected a name"),
    (Action, "x := forall (i : 0, 3) a[i];", "E0012 2:19 a range is written with `..` | expected `..` | write `(i : lo .. hi)`"),
    (Action, "x := forall i : 0 .. 3 a[i];", "E0012 2:13 the range of `forall` stands in parentheses | expected `(` | write `forall (i : 0 .. 3) a[i]`"),
    (Action, "{ x := 1; }", "E0004 2:1 expected an action, found `{` | expected an action"),
    (Action, "/* open", "E0002 2:1 a comment that never ends | it begins here | close it with `*/`"),
    (Guard, "[] p", "E0013 2:1 the operator `[]` in an invariant | an invariant is about every state anyway | leave it out"),
    (Guard, "p -> q", "E0013 2:3 the operator `->` outside a temporal property | only allowed in `ltl` properties | write `=>`"),
    (Guard, "p <-> q", "E0013 2:3 the operator `<->` outside a temporal property | only allowed in `ltl` properties | write `==`"),
    (Guard, "p until q", "E0013 2:3 the operator `until` outside a temporal property | only allowed in `ltl` properties | state it as a property: `ltl NAME: …;`"),
    (Guard, "X p", "E0013 2:1 the operator `X` outside a temporal property | only allowed in `ltl` properties | state it as a property: `ltl NAME: …;`"),
    (Guard, "a b", "E0004 2:3 expected `;`, found `b` | expected `;`"),
    (Guard, ")", "E0004 2:1 expected an expression, found `)` | expected an expression"),
    (Formula, "[] (p -> <> )", "E0004 2:13 expected an expression, found `)` | expected an expression"),
    (Formula, "AG p", "E0013 2:1 the operator `AG` in an `ltl` property | an operator of `ctl` | an `ltl` property is about every execution: write `[]`, `<>` or `X`"),
    (Ctl, "[] p", "E0013 2:1 the operator `[]` in a `ctl` property | an operator of `ltl` | write `AG` for all executions, `EG` for some execution"),
    (Ctl, "AG X p", "E0013 2:4 the operator `X` in a `ctl` property | an operator of `ltl` | write `AX` for all executions, `EX` for some execution"),
    (Ctl, "nu X. p", "E0013 2:1 the fixpoint `nu` outside a `mu` property | only allowed in `mu` properties | state it as a property: `mu NAME: …;`"),
    (Ctl, "A [p U]", "E0004 2:7 expected an expression, found `]` | expected an expression"),
    (Mu, "[] p", "E0013 2:1 the operator `[]` in a `mu` property | an operator of `ltl` | the modalities are `[-]` (each step) and `<->` (some step)"),
    (Mu, "EF p", "E0013 2:1 the operator `EF` in a `mu` property | an operator of `ctl` | the modalities are `[-]` (each step) and `<->` (some step)"),
    (Mu, "p U q", "E0013 2:3 the operator `U` in a `mu` property | an operator of `ltl` and `ctl` | write it as a fixpoint: `mu X. q || p && <-> X`"),
    (Mu, "<T p", "E0004 2:4 expected `>`, found `p` | expected `>` | a modality names all steps, a thread or a place: `<->`, `[-]`, `<T>`, `[T[0]@waiting]` (2:1 the modality begins here)"),
    (Mu, "nu X: p", "E0012 2:5 a fixpoint is written with `.` | expected `.` | write `mu X. …`"),
    (Mu, "nu X.", "E0004 3:1 expected an expression, found `;` | expected an expression"),
    (Mu, "<-> ", "E0004 3:1 expected an expression, found `;` | expected an expression"),
    (Guard, "mu X. p", "E0013 2:1 the fixpoint `mu` outside a `mu` property | only allowed in `mu` properties | state it as a property: `mu NAME: …;`"),
    (Declared, "ctl: AG p;", "E0004 2:4 expected the property's name, found `:` | expected the property's name | a property has a name: `ctl NAME: …;`"),
    (Formula, "p U", "E0004 3:1 expected an expression, found `;` | expected an expression"),
    (Formula, "[](p => <>q) && p <> q", "E0012 2:19 `<>` does not compare | expected `!=` | write `!=`"),
    (Formula, "always p implies q", "E0012 2:10 BIR has no `implies` | expected `=>` | write `=>`"),
    (Step, "if x do { } goto a;
do { } goto a;", "E0004 2:1 expected `when` or `do`, found `if` | expected `when` or `do` | actions stand in braces: `do { x := 1; } goto LOCATION;`"),
    (File, "system S {
  active thread T() {
    loc a: do { } goto a;
}", "E0006 4:2 missing `}` | expected `}` here (2:21 this `{` is not closed) (4:1 this `}` looks as if it closed something else)"),
    (File, "system S {
  active thread T() {
    loc a: do { x := 1; goto a;
    loc b: do { } goto a;
  }
}", "E0006 3:32 missing `}` | expected `}` here (3:15 this `{` is not closed)"),
    (File, "§§ € ß", "E0001 1:1 unknown characters | not part of BIR
E0001 1:4 unknown character `€` | not part of BIR
E0001 1:6 a name with letters outside ASCII | cannot be a name | names are made of `a`-`z`, `A`-`Z`, `0`-`9` and `_`"),
    (Declared, "int x := 1 /* a */ + // b", "E0004 3:1 expected an expression, found `}` | expected an expression"),
    (Step, "when x do { y := ((1); } goto a;
when z] do { } goto a;", "E0006 2:22 missing `)` | expected `)` here (2:18 this `(` is not closed)
E0004 3:7 expected `do`, found `]` | expected `do`"),
];

const FIGURE_1_1: &str = "system TwoDiningPhilosophers {
  boolean fork1;
  boolean fork2;

  active thread Philosopher1() {
    loc loc0: // take first fork
    when !fork1 do { fork1 := true; }
    goto loc1;

    loc loc1: // take second fork
    when !fork2 do { fork2 := true; }
    goto loc2;

    loc loc2: // put second fork
    do { fork2 := false; }
    goto loc3;

    loc loc3: // put first fork
    do { fork1 := false; }
    goto loc0;
  }

  active thread Philosopher2() {
    loc loc0: // take second fork
    when !fork2 do { fork2 := true; }
    goto loc1;

    loc loc1: // take first fork
    when !fork1 do { fork1 := true; }
    goto loc2;

    loc loc2: // put first fork
    do { fork1 := false; }
    goto loc3;

    loc loc3: // put second fork
    do { fork2 := false; }
    goto loc0;
  }
}
";

const FIGURE_1_3: &str = "system BoundedBuffer {
  boolean full := false;
  boolean locked := false;

  active thread Producer() {
    loc loc0:
      when !locked do {
        locked := true;
      } goto loc1;
    loc loc1:
      when full do {
        locked := false;
      } goto loc0;
      when !full do {
        goto loc2;
      }
    loc loc2:
      do {
        full := true;
      } goto loc3;
    loc loc3:
      do {
        locked := false;
      } goto loc0;
  }

  active thread Consumer() {
    loc loc0:
      when !locked do {
        locked := true;
      } goto loc1;
    loc loc1:
      when !full do {
        locked := false;
      } goto loc0;
      when full do {
        goto loc2;
      }
    loc loc2:
      do {
        full := false;
      } goto loc3;
    loc loc3:
      do {
        locked := false;
      } goto loc0;
  }
}
";

const FIGURE_1_4: &str = "system ReadersWriters {
  const Param {
    NUM_READERS = 2;
    NUM_WRITERS = 1;
  }

  // Invariant:
  // (nr = 0 ∨ nw = 0) ∧ nw ≤ 1

  int nr := 0;
  int nw := 0;

  active [Param.NUM_READERS]
  thread Reader(int index) {
    loc loc0:
      when nw == 0 do {
        nr := nr + 1;
      } goto loc1;
    loc loc1:
      do {
      } goto loc2;
    loc loc2:
      do {
        nr := nr - 1;
      } goto loc0;
  }

  active [Param.NUM_WRITERS]
  thread Writer(int index) {
    loc loc0:
      when nr == 0 && nw < 1 do {
        nw := nw + 1;
      } goto loc1;
    loc loc1:
      do {
      } goto loc2;
    loc loc2:
      do {
        nw := nw - 1;
      } goto loc0;
  }
}
";
