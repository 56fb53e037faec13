//! The command line as its users meet it: exit codes with their reasons, options, help, and every command.

use std::fs;
use std::process::{Command, Stdio};

use birk::{Engines, FRONT_ENDS, codes};
use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;

use crate::binary::{self, BIRK, birk, command, folder, folder_with, run};

const COMMANDS: &[&str] = &[
    "check",
    "simulate",
    "replay",
    "show",
    "graph",
    "explore",
    "fmt",
    "translate",
    "explain",
    "engines",
    "automaton",
    "completions",
    "man",
];

// Exit codes, each with its reason. Interrupts are in budget.rs; 70 is tested in main.rs.

#[test]
fn what_holds_exits_0() {
    birk("check models/peterson2.bir").exits(0).prints("holds: models/peterson2.bir").quietly();
    birk("check models/counters_mod8.bir --max-depth 21").exits(0).prints("in every reachable state (512 states)");
}

#[test]
fn a_violation_exits_1() {
    birk("check models/philosophers2.bir").exits(1).prints("violated: models/philosophers2.bir").quietly();
    // A target that is never reached has no trace to show.
    birk("check models/workers.bir -D SLOTS=1").exits(1).prints("`overtaken` (never reached in 14 states)");
}

#[test]
fn usage_and_model_errors_exit_2() {
    birk("check models/peterson2.bir --serach bfs").exits(2).says("'--search'");
    birk("check models/peterson2.bir --search bsf").exits(2).says("bfs");
    birk("check").exits(2).says("<MODEL>");
    birk("chekc models/peterson2.bir").exits(2).says("check");
    birk("").exits(2).says("Usage: birk <COMMAND>");
    birk("check models/peterson2.bir -D N").exits(2).says("write NAME=VALUE, for example -D N=5");
    birk("check models/philosophers_ring.bir -D M=5").exits(2).says("there is no constant `M`");
    birk("check models/peterson2.bir --time 5x").exits(2).says("unknown unit `x`: use ms, s, m, h or d");
    birk("check models/peterson2.bir --memory 5X").exits(2).says("unknown unit `X`: use K, M, G or T");
    birk("check models/peterson2.bir --max-depth ten").exits(2).says("write a whole number");
    birk("check models/peterson2.bir --max-depth 4294967296").exits(2).says("too large");
    birk("check models/peterson2.bir --accept deep").exits(2).says("write complete, hashed, depth:N or partial");
    birk("check models/peterson2.bir --property exclusoin").exits(2).says("did you mean `");
    let answer = birk("check models/rejected/unknown_name.bir").exits(2).says("error[E").says("`birk explain E");
    assert_eq!(answer.out, "", "errors are not part of the answer");
}

#[test]
fn a_search_that_was_cut_short_exits_3() {
    let cut = birk("check models/philosophers_swapped.bir --max-depth 6").exits(3).quietly();
    cut.prints("inconclusive: models/philosophers_swapped.bir").prints("no violation within 6 steps of the start");
}

#[test]
fn a_formula_that_is_too_large_is_not_a_success() {
    let folder = folder("formula");
    let text = "system S { byte b; active thread T() { loc l: do { b := b + 1; } goto l; } \
                ltl each: forall (i : 0 .. 70) <> (b == i); }";
    fs::write(folder.join("s.bir"), text).expect("writable");
    for accept in ["complete", "partial"] {
        let answer = run(command(BIRK).current_dir(&folder).args(["check", "s.bir", "--accept", accept])).exits(3);
        answer.prints("not checked: the LTL formula is too large: it has more than 64 different conditions");
    }
}

#[test]
fn input_and_output_failures_exit_4() {
    birk("check models/nowhere.bir").exits(4).says("birk: cannot read models/nowhere.bir: No such file");
    birk("show models").exits(4).says("cannot read models");
    birk("fmt --check models/nowhere.bir").exits(4).says("cannot read models/nowhere.bir");
    birk("replay models/philosophers2.bir nowhere.json").exits(4).says("cannot read nowhere.json");
    // The report comes first, so that only the file is lost.
    let answer = birk("check models/philosophers2.bir --trace nowhere/trace.json").exits(4);
    answer.says("cannot write nowhere/trace.json").prints("reproduce: birk check");
}

#[test]
fn what_is_not_utf8_exits_2_and_says_where() {
    let folder = folder("utf8");
    fs::write(folder.join("latin1.bir"), b"system S\xe9 { }").expect("writable");
    let file = folder.join("latin1.bir");
    run(command(BIRK).arg("check").arg(&file)).exits(2).says("latin1.bir is not UTF-8 text (byte 8)");
    let replay = run(command(BIRK).args(["replay", "models/philosophers2.bir"]).arg(&file));
    replay.exits(2).says("is not UTF-8 text");
}

// Options.

#[test]
fn accept_says_how_much_is_enough() {
    let swapped = |options: &str| birk(&format!("check models/philosophers_swapped.bir {options}"));
    swapped("--max-depth 6 --accept complete").exits(3);
    swapped("--max-depth 6 --accept depth:6").exits(0).prints("which --accept accepts");
    swapped("--max-states 200 --accept depth:3").exits(0).prints("no violation within ");
    swapped("--max-states 200 --accept depth:11").exits(3);
    swapped("--max-states 20 --accept partial").exits(0);
    swapped("--search dfs --max-states 20 --accept partial").exits(0).prints("in the ");
    swapped("--accept depth:100").exits(0).prints("holds: ");
    birk("check models/philosophers2.bir --accept partial").exits(1);
}

#[test]
fn impossible_combinations_are_errors_with_reasons() {
    let refused = |options: &str, reason: &str| {
        birk(&format!("check models/peterson2.bir {options}")).exits(2).says("birk: ").says(reason);
    };
    refused("--property deadlock --deadlock off", "contradict each other; leave one out");
    refused("--search dfs --accept depth:5", "does not proceed level by level");
    refused("--increment 5", "--increment does not apply to --search auto; leave it out, or use --search depth");
    refused("--frontier tree", "--frontier does not apply to --search auto; leave it out, or use --search depth");
    refused("--search dfs --threads 2", "uses one thread");
    refused("--search dfs --store compact", "stores states exactly");
    refused("--max-depth 5 --accept depth:6", "stops the search before --accept depth:6");
    refused("--width 5", "--width does not apply to --search auto; leave it out, or use --search highway");
    refused("--search depth --degrade-depth 5", "--degrade-depth does not apply to --search depth");
    refused("--refine 5", "--refine does not apply to --search auto; leave it out, or use --search astar");
    refused("--weight 5", "--weight does not apply to --search auto; leave it out, or use --search astar");
    refused("--beam 5", "--beam does not apply to --search auto; leave it out, or use --search astar");
    refused(
        "--search astar --beam 5 --weight 2",
        "--beam and --weight: a beam compares states of one depth only; leave one of them out",
    );
    refused("--runs 5", "--runs does not apply to --search auto");
    refused(
        "--search highway --runs 5 --rate 0.1",
        "--runs and --rate: both say how many slices are visited; leave one of them out",
    );
    refused("--search highway --width auto --rate 0.1", "--width auto doubles it; give a number");
    refused("--search highway --rate 0.000000001 --confidence 0.999", "this asks for too many slices");
    refused("--search highway --store bitstate", "so --search highway cannot use it");
    refused("--profile fast", "there is no profile `fast`; there is no file models/birk.toml");
    for (value, reason) in [("--confidence 1", "write a number between 0 and 1"), ("--width many", "or auto")] {
        birk(&format!("check models/peterson2.bir --search highway {value}")).exits(2).says(reason);
    }
    for zero in ["--search depth --increment 0", "--search highway --width 0", "--search astar --weight 0"] {
        birk(&format!("check models/peterson2.bir {zero}")).exits(2).says("must be at least 1");
    }
}

#[test]
fn directed_search_says_whether_runs_are_shortest() {
    let check = |options: &str| birk(&format!("check models/tree_arbiter_buggy_4.bir --search astar {options}"));
    check("").exits(1).prints("`exclusion` (26 steps, shortest)").prints("with astar");
    check("--weight 9").exits(1).prints(" steps, perhaps not the shortest)");
    check("--max-depth 20 --refine 3").exits(3).prints("covered: B, complete to depth 20");
    check("--max-depth 20 --weight 2").exits(3).prints("covered: D, partial");
    check("--beam 100 --property exclusion").exits(1).prints(" steps, perhaps not the shortest)");
    let narrow = check("--beam 3 --property exclusion").exits(3);
    narrow.prints("others had a worse heuristic estimate").prints("covered: D, partial: 79 states");
    birk("check models/peterson2.bir --search astar --beam 1000").exits(0).prints("covered: A, exhaustive");
    let show = |options: &str| birk(&format!("show models/tree_arbiter_buggy_4.bir {options}"));
    show("--heuristic --refine 1")
        .exits(0)
        .prints("fault is never violated")
        .prints("exclusion is violated after at least ");
    show("--refine 1").exits(2).says("--heuristic");
}

#[test]
fn bounded_model_checking_says_what_it_knows() {
    let check = |words: &str| birk(&format!("check models/{words} --search bmc"));
    check("philosophers_ring.bir")
        .exits(1)
        .prints("`deadlock` (5 steps, shortest)")
        .prints("searched: executions of up to 5 steps");
    let bounded = check("philosophers_swapped.bir --max-depth 3").exits(3);
    bounded.prints("covered: B, complete to depth 3").prints("unrolled: ");
    check("philosophers_swapped.bir --max-depth 3 --accept depth:3").exits(0);
    check("peterson2.bir").exits(0).prints("holds: ").prints("exhaustive: every reachable state, by induction over ");
    let json = check("peterson2.bir --format json").json();
    let stats = &json["stats"];
    assert!(stats["states"].is_null() && stats["unrolled"]["induction"].is_u64(), "{stats}");
    assert!(json["unreached"].is_null(), "{json}");
    let folder = folder("bounded_model_checking");
    let page = folder.join("report.html");
    check(&format!("peterson2.bir --report {}", page.display())).exits(0);
    let page = std::fs::read_to_string(page).expect("the report is written");
    assert!(page.contains("by induction over ") && page.contains("does not record which transitions"), "{page}");
    assert!(!page.contains("every transition was taken"), "{page}");
    check("peterson2.bir --threads 2").exits(2).says("uses one thread");
}

#[test]
fn every_long_option_takes_its_value_after_a_blank_or_an_equals_sign() {
    let values = [
        ("define", "N=3"),
        ("color", "never"),
        ("diagnostics", "json"),
        ("property", "deadlock"),
        ("search", "dfs"),
        ("time", "10m"),
        ("memory", "1G"),
        ("max-depth", "5"),
        ("max-states", "1_000"),
        ("reduce", "auto"),
        ("symmetry", "auto"),
        ("threads", "2"),
        ("store", "compact"),
        ("seed", "7"),
        ("accept", "partial"),
        ("deadlock", "on"),
        ("format", "json"),
        ("progress", "off"),
        ("fairness", "none"),
        ("swarm", "1"),
        ("increment", "10"),
        ("frontier", "tree"),
        ("width", "5"),
        ("degrade-depth", "9"),
        ("runs", "3"),
        ("confidence", "0.9"),
        ("rate", "0.1"),
        ("refine", "2"),
        ("weight", "2"),
        ("beam", "2"),
        ("automaton", "nothing.hoa"),
        ("max-disk", "1G"),
        ("compress", "always"),
        ("explain", "5"),
        ("jobs", "2"),
    ];
    let folder = folder_with("long", "philosophers_ring.bir");
    let nothing = "HOA: v1\nStates: 0\nAP: 0\nAcceptance: 1 Inf(0)\n--BODY--\n--END--\n";
    fs::write(folder.join("nothing.hoa"), nothing).expect("writable");
    let line = |words: &[&str]| {
        let answer = run(command(BIRK).current_dir(&folder).args(["check", "philosophers_ring.bir"]).args(words));
        let report: String = answer.out.lines().filter(|line| line.contains("reproduce")).collect();
        assert!(!report.is_empty(), "{words:?}: {}", answer.err);
        (answer.code, report, answer.err)
    };
    let engines = Engines::default();
    for (name, value) in values {
        let owner = engines.iter().find(|engine| engine.options.iter().any(|option| option.name == name));
        let needed = owner.map_or(vec![], |engine| vec!["--search", engine.name]);
        let (spaced, joined) = (format!("--{name}"), format!("--{name}={value}"));
        assert_eq!(
            line(&[&needed[..], &[&spaced, value]].concat()),
            line(&[&needed[..], &[&joined]].concat()),
            "{name}"
        );
    }
    let kept = |words: &[&str]| line(&[&["--search", "depth"], words].concat());
    assert_eq!(kept(&["--checkpoint", "one"]), kept(&["--checkpoint=other"]));
    let placed = |words: &[&str]| line(&[&["--search", "disk"], words].concat());
    assert_eq!(placed(&["--disk", "one"]), placed(&["--disk=other"]));
    let alone = |words: &str| {
        let words = words.split_whitespace();
        run(command(BIRK).current_dir(&folder).args(["check", "philosophers_ring.bir"]).args(words)).exits(4)
    };
    assert_eq!(alone("--cluster no --rank 1 --cluster-wait 2s"), alone("--cluster=no --rank=1 --cluster-wait=2s"));
    for name in ["trace", "report", "certificate", "profile"] {
        fs::write(folder.join("birk.toml"), "[profile.x]\nkeep-going = true\n").expect("writable");
        assert_eq!(line(&[&format!("--{name}"), "x"]), line(&[&format!("--{name}=x")]), "{name}");
    }
    // A switch takes a value only after an equals sign; `false` undoes what a file says.
    assert!(line(&["--keep-going"]).1.ends_with("--keep-going"));
    assert!(line(&["--keep-going=false"]).1.ends_with("--keep-going=false"));

    let help = birk("check --help").exits(0).out;
    let listed = help.lines().filter_map(|line| line.trim_start_matches("  -D,").trim().strip_prefix("--"));
    let listed = listed.filter_map(|line| line.split([' ', '[']).next());
    let known = |name: &str| {
        values.iter().any(|(known, _)| *known == name)
            || [
                "trace",
                "report",
                "certificate",
                "profile",
                "checkpoint",
                "campaign",
                "disk",
                "cluster",
                "rank",
                "cluster-wait",
            ]
            .contains(&name)
    };
    let unknown: Vec<&str> = listed.filter(|name| !known(name) && *name != "keep-going").collect();
    assert_eq!(unknown, [""; 0], "options that this test does not try");
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let codes = |options: &str| birk(&format!("check models/philosophers2.bir {options}")).out.contains('\x1b');
    assert!(!codes("") && !codes("--color never") && codes("--color always"));
}

// Help and documents.

#[test]
fn help_describes_every_command_and_its_defaults() {
    insta::assert_snapshot!("help", birk("--help").exits(0).out);
    for name in COMMANDS {
        let long = birk(&format!("{name} --help")).exits(0).out;
        assert_eq!(birk(&format!("help {name}")).exits(0).out, long);
        insta::assert_snapshot!(format!("help_{name}"), long);
    }
    birk("--version").exits(0).prints(&format!("birk {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn engines_are_all_described() {
    let table = birk("engines").exits(0).quietly().out;
    for engine in Engines::default().iter() {
        let (name, summary) = (engine.name, engine.summary);
        assert!(table.contains(&format!("{name}\n  {summary}\n")), "{table}");
        birk(&format!("check models/peterson2.bir --search {name}")).exits(0);
    }
}

#[test]
fn codes_are_all_explained() {
    let list = birk("explain").exits(0).quietly().out;
    assert_eq!(list.lines().count(), codes().count());
    for entry in FRONT_ENDS.iter().flat_map(|one| [one.codes.first(), one.codes.last()]).flatten() {
        assert!(list.contains(&format!("{}  {}\n", entry.code, entry.title)));
        let answer = birk(&format!("explain {}", entry.code.to_lowercase())).exits(0);
        answer.prints(entry.title).prints("For example:").prints("Fixed:");
    }
    birk("explain E9999").exits(2).says("there is no code E9999");
}

#[test]
fn completions_know_commands_and_options() {
    for (shell, mark) in [("bash", "complete -F _birk"), ("zsh", "#compdef birk"), ("fish", "complete -c birk")] {
        let script = birk(&format!("completions {shell}")).exits(0).quietly().prints(mark).out;
        for word in COMMANDS.iter().copied().chain(["keep-going", "max-depth"]) {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
    birk("completions tcsh").exits(2).says("[possible values: bash");
}

#[test]
fn the_manual_page_is_roff_and_complete() {
    let page = birk("man").exits(0).quietly().prints(".TH birk 1").prints(".SH EXIT CODES").out;
    for name in COMMANDS {
        assert!(page.contains(&format!(".SH BIRK {}\n", name.to_uppercase())), "{name}");
    }
    assert!(page.contains("max\\-depth") && page.contains("BIRK_MAX_DEPTH"));
}

#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let leaves = |arguments: &str, out: Stdio, err: Stdio| {
        let mut child = command(BIRK);
        let mut child = child.args(arguments.split(' ')).stdout(out).stderr(err).spawn().expect("birk can be run");
        drop((child.stdout.take(), child.stderr.take()));
        child.wait().expect("it ends").code()
    };
    let large = "graph models/philosophers_ring.bir -D N=7 --format aut";
    assert!(birk(large).exits(0).out.len() > 1 << 17, "more than a pipe holds");
    assert_eq!(leaves(large, Stdio::piped(), Stdio::null()), Some(0));
    assert_eq!(leaves("show models/philosophers2.bir", Stdio::piped(), Stdio::null()), Some(0));
    assert_eq!(leaves("check models/philosophers2.bir", Stdio::piped(), Stdio::null()), Some(1));
    assert_eq!(leaves("check models/rejected/several_errors.bir", Stdio::null(), Stdio::piped()), Some(2));
    assert_eq!(leaves("check models/nowhere.bir", Stdio::null(), Stdio::piped()), Some(4));
    let pipe = format!("{BIRK} show models/cache_msi.bir | head -1");
    assert_eq!(run(command("sh").args(["-c", &pipe])).exits(0).quietly().out.lines().count(), 1);
}

// Other commands.

#[test]
fn show_lists_threads_and_layout() {
    let shown = birk("show models/philosophers2.bir").exits(0).quietly();
    shown.prints("system TwoDiningPhilosophers").prints("6 bits").prints("thread Philosopher2").prints("writes fork1");
    birk("show models/philosophers_ring.bir -D N=3").exits(0).prints("Philosopher[2]");
}

#[test]
fn traces_show_channels_as_queues_and_sets_as_sets() {
    let folder = folder("queues");
    fs::write(folder.join("model.bir"), QUEUES).expect("the model can be written");
    let found = run(command(BIRK).args(["check", "model.bir"]).current_dir(&folder)).exits(1);
    let replay = found.out.lines().find_map(|line| line.trim().strip_prefix("replay: ")).expect("a replay line");
    let walked = run(command(BIRK).args(["replay", "model.bir", replay]).current_dir(&folder)).exits(0);
    walked.prints("c: [(Data, 1)] → [(Data, 1), (Ack, 2)]");
    let found = found.prints("c=[] d[0]=[] d[1]=[] s={} last.kind=Data last.n=0");
    let found =
        found.prints("c: [] → [(Data, 1)]").prints("c: [(Data, 1)] → [(Data, 1), (Ack, 2)]").prints("d[1]: [] → [7]");
    let found = found.prints("s: {} → {1, 3}").prints("c: [(Data, 1), (Ack, 2)] → [(Ack, 2)], last.n: 0 → 1");
    found.prints("c = [(Ack, 2)], d[1] = [7]");
}

const QUEUES: &str = "system Queues {
  enum Kind { Data, Ack }
  record Message { Kind kind; byte n; }
  channel of Message [2] c;
  channel of byte [2][2] d;
  set of 0 .. 3 s;
  Message last;
  active thread T() {
    send c (Kind.Data, 1);
    send c (Kind.Ack, 2);
    send d[1] (7);
    s := {1, 3};
    receive c (?last);
    await size(s) == 0;
  }
  invariant p: !(len(c) == 1 && len(d[1]) == 1 && last.n == 1);
}
";

#[test]
fn graphs_have_the_states_and_transitions_that_check_counts() {
    for model in ["philosophers2.bir", "peterson2.bir", "hanoi.bir", "counters_mod8.bir -D K=2", "sliding_puzzle.bir"] {
        let stats = &birk(&format!("check models/{model} --keep-going --format json")).json()["stats"];
        let (states, transitions) = (stats["states"].as_u64().expect("a number"), &stats["transitions"]);

        let aut = birk(&format!("graph models/{model} --format aut")).exits(0).quietly().out;
        let (header, edges) = aut.split_once('\n').expect("a line");
        assert_eq!(header, format!("des (0, {transitions}, {states})"), "{model}");
        assert_eq!(Some(edges.lines().count() as u64), transitions.as_u64(), "{model}");
        for edge in edges.lines() {
            let ends = edge.trim_matches(['(', ')']).split(", ");
            let ends: Vec<u64> = ends.filter_map(|part| part.parse().ok()).collect();
            assert!(matches!(ends[..], [from, to] if from < states && to < states), "{model}: {edge}");
        }

        let dot = birk(&format!("graph models/{model}")).exits(0).quietly().out;
        assert_eq!(Some(dot.matches(" -> ").count() as u64), transitions.as_u64(), "{model}");
        assert_eq!(dot.lines().filter(|line| line.contains("\\l\"")).count() as u64, states, "{model}");
        assert!(dot.starts_with("digraph ") && dot.ends_with("}\n"));
    }
}

#[test]
fn graph_refuses_what_nobody_can_look_at() {
    let refused = birk("graph models/philosophers2.bir --max-states 9").exits(2);
    assert_eq!(refused.out, "");
    refused.says("more than 9 states").says("raise --max-states, or lower a constant with -D");
    birk("graph models/philosophers2.bir --max-states=10").exits(0);
}

#[test]
fn fmt_checks_and_formats() {
    let folder = folder("fmt");
    let file = folder.join("untidy.bir");
    let untidy = "system   S{boolean b;active thread T(){loc l:when !b do{b:=true;}goto l;}}";
    fs::write(&file, untidy).expect("writable");
    let fmt = |options: &[&str]| run(Command::new(BIRK).arg("fmt").args(options).arg(&file).stdin(Stdio::null()));
    fmt(&["--check"]).exits(1).says("untidy.bir is not formatted; `birk fmt ");
    assert_eq!(fs::read_to_string(&file).expect("readable"), untidy, "--check changes nothing");
    fmt(&[]).exits(0).quietly();
    fmt(&["--check"]).exits(0).quietly();
    run(command(BIRK).arg("check").arg(&file)).exits(1);
    fs::write(&file, "system S {").expect("writable");
    fmt(&[]).exits(2).says("error[E");
    assert_eq!(fs::read_to_string(&file).expect("readable"), "system S {", "what cannot be read is left alone");
}

/// From which state, by which transition, to which state.
type Edge = (usize, String, usize);

/// An Aldebaran file, read: its header, and its edges.
fn read_aut(text: &str) -> ((usize, usize, usize), Vec<Edge>) {
    let mut lines = text.lines();
    let header = lines.next().and_then(|line| line.strip_prefix("des (")?.strip_suffix(')')).expect("a header");
    let numbers: Vec<usize> = header.split(", ").map(|number| number.parse().expect("a number")).collect();
    let edges = lines.map(|line| {
        let inner = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).expect("an edge");
        let (from, rest) = inner.split_once(", \"").expect("a label");
        let (label, to) = rest.rsplit_once("\", ").expect("a target");
        (from.parse().expect("a number"), label.replace("\\\"", "\""), to.parse().expect("a number"))
    });
    ((numbers[0], numbers[1], numbers[2]), edges.collect())
}

#[test]
fn aldebaran_files_make_the_round_trip() {
    for model in ["philosophers2", "peterson2", "sum_to_n", "dice", "german"] {
        let text = birk(&format!("graph models/{model}.bir --format aut --max-states 50000")).exits(0).out;
        let ((first, edges, states), read) = read_aut(&text);
        assert_eq!((first, edges), (0, read.len()), "{model}");
        let mut again = format!("des ({first}, {edges}, {states})\n");
        for (from, label, to) in &read {
            again += &format!("({from}, \"{}\", {to})\n", label.replace('"', "\\\""));
        }
        assert_eq!(again, text, "{model}");

        // Walked along the file, the model offers exactly the file's edges, state by state.
        let source = fs::read_to_string(binary::root().join(format!("models/{model}.bir"))).expect("readable");
        let program = birk_lang::load(&source, &[]).program.expect("it loads");
        let interpreter = Interpreter::new(&program, &[]);
        let mut at: Vec<Option<Vec<u32>>> = vec![None; states];
        at[0] = Some(program.initial_state());
        let mut read = read.into_iter().peekable();
        for number in 0..states {
            let state = at[number].clone().expect("states are numbered as they are met");
            let mut batch = Successors::new(interpreter.words());
            interpreter.successors(&state, &mut batch);
            for i in 0..batch.len() {
                let (from, label, to) = read.next().expect("an edge for every step");
                assert_eq!((from, label), (number, program.transition_text(batch.step(i).transition)), "{model}");
                let target = at[to].get_or_insert_with(|| batch.state(i).to_vec());
                assert_eq!(&target[..], batch.state(i), "{model}: state {to}");
            }
            assert!(read.peek().is_none_or(|(from, ..)| *from != number), "{model}: state {number} has more edges");
        }
        assert!(read.next().is_none());
    }
}
