//! What each construct becomes: small systems beside the text of their programs. Formatting them settles at once and
//! changes nothing but the lines that statements stand on.

use birk_ir::{Program, ThreadRole, VarRole};
use birk_lang::fmt::format as formatted;
use birk_lang::load;

fn program(text: &str) -> String {
    let lowered = lower(text);
    let pretty = formatted(text).expect("a text that lowers can be formatted");
    assert_eq!(formatted(&pretty).as_ref(), Ok(&pretty), "formatting twice changes nothing");
    assert_eq!(without_lines(&lower(&pretty)), without_lines(&lowered), "formatting changes no meaning:\n{pretty}");
    lowered.to_text()
}

fn lower(text: &str) -> Program {
    let loaded = load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}

/// The program with places that have no name of their own numbered instead of called after their lines.
fn without_lines(program: &Program) -> String {
    let mut program = program.clone();
    for kind in &mut program.kinds {
        for (number, location) in kind.locations.iter_mut().enumerate() {
            if location.name.starts_with("line ") {
                location.name = format!("#{number}");
            }
        }
        let names = kind.locations.iter().map(|location| location.name.clone()).chain(["stopped".into()]);
        program.variables[kind.counter.index()].values = birk_ir::ValueKind::Names(names.collect());
    }
    program.to_text()
}

/// A snapshot of a system: declarations, and the body of its thread.
macro_rules! lowers {
    ($($name:ident: $items:literal, $body:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let text = concat!("system S {\n", $items, "\nactive thread T() {\n", $body, "\n}\n}\n");
                let shown = format!("{}\n\n{}", text.trim_end(), program(text));
                insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown); });
            }
        )*
    };
}

lowers! {
    one_statement_is_one_step: "int (0, 3) x;", "x := 1;\nskip;\nassert x == 1, \"set\";\nassume x > 0;";
    a_choice_of_a_value: "int (0, 3) x;", "x := choose(1, 2);\nx := 0;";
    the_test_of_an_if_is_a_step: "int (0, 3) x;", "if (x == 0) {\n  x := 1;\n} else if (x == 1) {\n  x := 2;\n} else {\n  x := 3;\n}";
    an_if_without_else: "boolean b;", "if (b) {\n  b := false;\n}\nb := true;";
    the_test_of_a_while_is_a_step: "int (0, 3) x;", "while (x < 3) {\n  x := x + 1;\n}\nx := 0;";
    an_endless_loop_has_no_test: "boolean b;", "while (true) {\n  b := !b;\n}";
    break_costs_no_step: "int (0, 3) x;", "while (true) {\n  x := x + 1;\n  if (x == 3) {\n    break;\n  }\n}\nx := 0;";
    either_is_chosen_by_the_first_step: "int (0, 3) x;", "either {\n  x := 1;\n  x := 2;\n} or {\n  await x == 3;\n}\nx := 0;";
    a_for_is_written_out: "int (0, 3) x;", "for (i : 1 .. 3) {\n  x := i;\n}";
    await_is_a_guard: "boolean b;", "await !b;\nb := true;";
    atomic_is_one_step: "boolean b; int (0, 3) x;", "atomic { await !b; b := true; x := 1; }\nb := false;";
    atomic_has_a_transition_for_each_way: "boolean b; int (0, 3) x;",
        "atomic {\n  if (b) {\n    x := 1;\n  } else {\n    either {\n      x := 2;\n    } or {\n      await x > 1;\n    }\n  }\n  b := !b;\n}";
    atomic_can_leave_a_loop: "boolean b; int (0, 3) x;", "while (true) {\n  atomic {\n    if (b) {\n      break;\n    }\n    b := true;\n  }\n}\nx := 1;";
    braces_of_a_step_are_atomic: "boolean b; int (0, 3) x;", "loc a:\n  do { if (b) { x := 1; goto c; } for (i : 0 .. 1) { x := x + i; } } goto a;\nloc c:\n  do { b := false; } return;";
    labels_and_goto: "boolean b;", "again: end\n  await !b;\n  b := true;\n  goto again;";
    jumps_go_forward_too: "boolean b;", "if (b) {\n  goto out;\n}\nb := true;\nout: progress\n  b := false;";
    return_ends_the_thread: "boolean b;", "byte own;\nif (b) {\n  return;\n}\nown := 1;\nb := true;";
    statements_and_threads_are_fair: "boolean b;", "while (true) {\n  either {\n    fair b := true;\n  } or {\n    b := false;\n  }\n}";
    procedures_stand_for_their_statements:
        "boolean m; boolean n; procedure take(boolean lock) { atomic { await !lock; lock := true; } } procedure both(boolean a, boolean b) { take(a); take(b); }",
        "both(m, n);\nm := false;";
    arguments_are_read_where_the_call_stands:
        "int (0, 3) x; int[4] a; procedure store(int[4] place, int value) { place[value] := value + 1; }", "store(a, x);";
    a_return_ends_the_procedure: "boolean b; int (0, 3) x; procedure p() { if (b) { return; } x := 1; }", "p();\nx := 2;";
    records_have_fields:
        "enum Kind { data, ack } record Message { Kind kind; int (0, 3) value; } Message m; Message n;",
        "m.value := n.value + 1;\nm := n;\nm := Message(Kind.ack, n.value);\nawait m == n;";
    arrays_of_records: "record Cell { boolean full; int[2] v; } Cell[2] cells; int (0, 1) i;", "cells[i].v[1] := cells[1 - i].v[0];\ncells[0] := cells[i];";
    records_of_records: "record P { int (0, 3) x; int (0, 3) y; } record L { P a; P b; } L l;", "l.a := l.b;\nl := L(P(1, 2), l.a);";
    whole_arrays: "byte[3] a; byte[3] b;", "a := b;\nawait a == b;";
    records_of_a_thread: "record P { int (0, 3) x; boolean b; }", "P p;\nP[2] q;\np := q[1];\nq[0].x := p.x;";
    sets: "set of 0 .. 3 s; set of 0 .. 3 t; int (0, 3) x; boolean b;",
        "s := {1, 2};\ns := s + {x} - t;\nb := x in s * t;\nb := s <= t && s != {};\nx := size(s);";
    a_member_is_chosen: "set of 2 .. 4 s; int (0, 7) x;", "x := choose(s);\ns := s - {x};";
    quantifiers_over_ranges: "boolean[3] a; byte x;", "await forall (i : 0 .. 2) a[i];\nx := count (i : 0 .. 2) a[i];\nx := sum (i : 1 .. 3) (i * 2);";
    quantifiers_over_sets: "set of 0 .. 2 s; byte x;", "await exists (m in s) m > 0;\nx := count (m in s) (m != 1);\nx := sum (m in s) m;";
    quantifiers_over_arrays: "byte[3] a; byte x;", "await forall (e in a) e < 9;\nx := sum (e in a) e;";
    let_names_a_value: "byte x; byte y;", "y := let d = x - y in d * d;";
    a_channel_is_first_in_first_out: "channel of byte [2] c; byte x;", "send c (x + 1);\nreceive c (?x);";
    what_a_channel_tells: "channel of byte [2] c; byte x; boolean b;", "x := len(c);\nb := full(c) || empty(c);\nx := peek(c);";
    messages_of_several_values: "enum K { a, b } record M { K k; int (0, 3) v; } channel of M [2] c; int (0, 3) x; M m;",
        "send c (K.a, x);\nreceive c (K.b, ?x);\nreceive c (_, x + 1);\nsend c (m);\nreceive c (?m.k, ?x) when x > 1;";
    a_received_value_can_be_asked_at_once: "channel of byte [1] c; byte x; byte y;", "receive c (?x) when x > y;";
    arrays_of_channels: "channel of byte [1][2] c; int (0, 1) i; byte x;", "send c[i] (7);\nreceive c[1 - i] (?x);";
    a_lossy_channel: "lossy channel of byte [2] c; byte x;", "send c (1);\nreceive c (?x);";
    a_duplicating_channel: "duplicating channel of byte [2] c; byte x;", "send c (1);\nreceive c (?x);";
    a_reordering_channel: "reordering channel of byte [2] c; byte x;", "send c (1);\nreceive c (?x);";
    sending_and_receiving_in_one_step: "channel of byte [1] c; channel of byte [1] d; byte x;", "atomic { receive c (?x); send d (x + 1); }";
}

lowers! {
    ctl_is_written_in_fixpoints: "boolean b; ctl ax: AX b; ctl ex: EX b; ctl af: AF b; ctl ef: EF b; ctl ag: AG b; ctl eg: EG b; ctl au: A[b U !b]; ctl ew: E[b W !b]; ctl ar: A(b R !b);", "b := true;";
    negations_are_pushed_inwards: "boolean b; boolean c; ctl a: !AG (b -> AF c); ctl u: !E[b U !A[c W b]]; ctl i: AX b <-> EX c; ctl s: b ? AX c : EX c; mu m: !(nu X. mu Y. <-> X || [-] (Y && b)); ctl q: forall (i : 0 .. 1) !(exists (j : 0 .. 1) EX (b && i == j));", "b := true;\nc := b;";
    modalities_name_steps: "boolean b; mu t: <T> [T@second] <T[0]@first> [-] b;", "first: b := true;\nsecond: b := false;";
}

/// Systems that are more than one thread without parameters.
macro_rules! lowers_whole {
    ($($name:ident: $text:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let shown = format!("{}\n\n{}", $text, program($text));
                insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown); });
            }
        )*
    };
}

lowers_whole! {
    a_rendezvous_is_one_step: "system S { channel of byte [0] c; byte x; active thread A() { send c (3); } active thread B() { receive c (?x); x := 0; } }";
    a_rendezvous_with_conditions: "system S { channel of byte [0] c; byte x; byte y; active thread A() { send c (x); } active [2] thread B() { byte own; receive c (?own) when own > y; } }";
    a_symmetric_type: "system S { symmetric typealias Client int (0, 1); boolean[Client] has; Client last; active [Client] thread T(Client me) { await forall (c in Client) !has[c]; atomic { has[me] := true; last := me; } last := choose(Client); } }";
    fair_threads: "system S { boolean b; fair active thread T() { loc a: fair when !b do { b := true; } goto a; when b do { b := false; } goto a; } }";
    started_threads_have_statements: "system S { byte x; active thread Main() { start Worker(2); start Worker(3); } [2] thread Worker(byte n) { byte own; own := n; x := own; } }";
    the_mutex: "import \"std/mutex.bir\";\nsystem S { boolean m; byte x; active [2] thread T() { lock(m); x := 1; unlock(m); } }";
    the_semaphore: "import \"std/semaphore.bir\";\nsystem S { int (0, 2) permits := 2; active thread T() { acquire(permits); release(permits); } }";
    the_condition_variable: "import \"std/condition.bir\";\nsystem S { boolean m; Condition c; boolean ready; active thread T() { lock(m); while (!ready) { wait(c, m); } unlock(m); } active thread U() { ready := true; signal(c); broadcast(c); } }";
    the_lock_of_readers_and_writers: "import \"std/rwlock.bir\";\nsystem S { ReadWriteLock l; active thread R() { read_lock(l); read_unlock(l); } active thread W() { write_lock(l); write_unlock(l); } }";
    the_lossy_link: "import \"std/link.bir\";\nsystem S { channel of byte [1] c; byte x; active thread T() { send_or_lose(c, 7); receive c (?x); } }";
    the_timer: "import \"std/timer.bir\";\nsystem S { boolean t; active thread T() { start_timer(t); either { timeout(t); } or { stop_timer(t); } } }";
}

/// What reports and fairness ask of channels is told by roles, whatever names there are.
#[test]
fn channels_are_known_by_their_roles() {
    let text = "system S { lossy channel of boolean [1][2] c; channel of boolean [0] meet; boolean x;
        active thread A() { loc l: do { send c[1] (x); } goto l; }
        active thread B() { loc l: do { receive c[0] (x); } goto l; } }";
    let program = lower(text);
    let of = |role: VarRole| program.variables.iter().filter(move |variable| variable.role == role);
    let lengths: Vec<(&str, bool)> =
        of(VarRole::Length).map(|variable| (variable.name.as_str(), variable.is_rendezvous())).collect();
    assert_eq!(lengths, [("len(c[])", false), ("len(meet)", true)]);
    let roles: Vec<(&str, ThreadRole)> = program.kinds.iter().map(|kind| (kind.name.as_str(), kind.role)).collect();
    assert_eq!(roles, [("A", ThreadRole::Thread), ("B", ThreadRole::Thread), ("(c)", ThreadRole::Channel)]);
    let shown: Vec<String> = program.state_text(&program.initial_state()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(shown, ["c[0]", "c[1]", "x", "A@", "B@"]);
}
