//! The explorer's server: who may ask, what it answers, and what it refuses.

use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::binary::{self, birk, timed, timely};
use crate::server::Server;

#[test]
fn only_who_knows_the_token_is_answered() {
    let server = Server::of("models/philosophers2.bir");
    assert!(server.host.starts_with("127.0.0.1:"), "loopback only: {}", server.host);
    assert_eq!(server.token.len(), 32);
    let token = &server.token;
    assert_eq!(server.get(&format!("/?token={token}")).0, "200");
    assert_eq!(server.get("/").0, "403");
    assert_eq!(server.get("/api/start?token=0000").0, "403");
    assert_eq!(server.get(&format!("/elsewhere?token={token}")).0, "404");
    // A page of another site that made its name lead here still says its own name.
    let foreign = format!("GET /?token={token} HTTP/1.1\r\nHost: example.org\r\n\r\n");
    assert_eq!(server.send(&foreign).0, "403");
    assert_eq!(server.send("nonsense\r\n\r\n").0, "400");
    let large =
        format!("POST /api/layout?token={token} HTTP/1.1\r\nHost: {}\r\nContent-Length: 59999999\r\n\r\n", server.host);
    assert_eq!(server.send(&large).0, "400");
    let page = server.get(&format!("/?token={token}")).1;
    assert!(!page.contains("src=") && !page.contains("http://") || page.contains("www.w3.org/2000/svg"));
}

/// What the playground asks: the same questions on lines, and the page itself.
#[test]
fn questions_on_standard_input_are_answered() {
    let questions = [
        r#"{"what": "start"}"#,
        r#"{"what": "expand", "node": 0}"#,
        r#"{"what": "why", "node": "0", "transition": 1}"#,
        r#"{"what": "search", "node": 0, "condition": "fork1 && fork2"}"#,
        r#"{"what": "layout", "body": {"boxes": [[20, 10], [20, 10]], "edges": [[0, 1, 5, 5]]}}"#,
        r#"{"what": "page"}"#,
        r#"{"what": "expand", "node": 99}"#,
        r#"{"what": "nonsense"}"#,
        "nonsense",
    ];
    let file = binary::folder("questions").join("asked");
    std::fs::write(&file, questions.join("\n") + "\n").expect("writable");
    let mut explore = binary::command(binary::BIRK);
    explore.args(["explore", "models/philosophers2.bir", "--stdio"]);
    explore.stdin(std::fs::File::open(&file).expect("it was written"));
    let answer = binary::run(&mut explore).exits(0);
    let answers: Vec<Value> =
        answer.out.lines().map(|line| serde_json::from_str(line).expect("JSON on each line")).collect();
    assert_eq!(answers.len(), questions.len());
    assert_eq!(answers[0]["system"], "TwoDiningPhilosophers");
    assert_eq!(answers[1]["edges"][0]["title"], "Philosopher1.loc0 → loc1");
    assert!(answers[2]["lines"].is_array(), "{}", answers[2]);
    assert_eq!(answers[3]["isEverything"], true);
    assert_eq!(answers[4]["boxes"].as_array().map(Vec::len), Some(2));
    assert!(answers[5]["page"].as_str().is_some_and(|page| page.starts_with("<!doctype html>")));
    assert_eq!(answers[6]["error"], "there is no such state");
    assert_eq!(answers[7]["error"], "there is no such question");
    assert!(answers[8]["error"].as_str().is_some_and(|reason| reason.starts_with("this is not a question")));
}

#[test]
fn questions_are_answered() {
    let server = Server::of("models/philosophers2.bir");
    let start = server.ask("start?");
    assert_eq!(start["threads"], serde_json::json!(["Philosopher1", "Philosopher2"]));
    let first = server.ask("expand?node=0&");
    assert_eq!(first["edges"][0]["title"], "Philosopher1.loc0 → loc1");
    server.ask("expand?node=1&");
    let other = server.ask("expand?node=2&");
    // Both orders lead to the same deadlock.
    let stuck = other["nodes"].as_array().and_then(|nodes| nodes.iter().find(|node| node["enabled"] == 0));
    let stuck = stuck.expect("a deadlock").clone();
    assert_eq!(stuck["violated"], serde_json::json!(["deadlock"]));
    let id = &stuck["id"];
    assert_eq!(server.ask(&format!("expand?node={id}&"))["disabled"].as_array().map(Vec::len), Some(2));
    let why = server.ask(&format!("why?node={id}&transition=1&"));
    assert_eq!(why["lines"][1], "  !fork2   false");
    let found = server.ask("search?node=0&condition=fork1+%26%26+fork2+%26%26+Philosopher1@loc1&");
    let path = &found["found"][0]["path"];
    assert_eq!((path.as_array().map(Vec::len), &path[2]), (Some(3), id));
    assert!(found["found"][0]["changes"].as_str().is_some_and(|changes| changes.contains("fork1: false → true")));
    assert_eq!(found["isEverything"], true);

    for (question, reason) in [
        ("expand?node=99&", "there is no such state"),
        ("expand?", "which state?"),
        ("why?node=0&transition=99&", "there is no such transition"),
        ("search?node=0&condition=&", "a condition is missing"),
        ("search?node=0&condition=fork3&", "did you mean `fork1`?"),
        ("search?node=0&condition=false&", "no other state"),
        ("open?steps=0:0,9&", "the address does not fit the model"),
        ("open?steps=x&", "numbers with commas"),
        ("threads?node=99&", "there is no such state"),
        ("dance?", "there is no such question"),
    ] {
        let error = server.ask(question)["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(reason), "{question}: {error}");
    }
}

/// The same steps lead to the same state, whatever was asked before.
#[test]
fn addresses_are_stable() {
    let values = |server: &Server, steps: &str| {
        let path = server.ask(&format!("open?steps=0:{steps}&"))["path"].clone();
        let path: Vec<u64> = path.as_array().expect("a path").iter().filter_map(Value::as_u64).collect();
        let before = server.ask(&format!("expand?node={}&", path[path.len() - 2]));
        let node = before["nodes"].as_array().into_iter().flatten().find(|node| node["id"] == path[path.len() - 1]);
        node.expect("the last step leads there")["values"].clone()
    };
    let [one, other] = [(); 2].map(|()| Server::of("models/german.bir"));
    for node in 0..9 {
        other.ask(&format!("expand?node={node}&"));
    }
    for steps in ["0", "1,0,1", "2,1,0,1,0"] {
        assert_eq!(values(&one, steps), values(&other, steps), "{steps}");
    }
}

#[test]
fn searches_find_the_nearest_states_first() {
    let server = Server::of("models/philosophers_ring.bir -D N=4");
    let found = server.ask("search?node=0&condition=taken%5B0%5D&");
    let lengths =
        found["found"].as_array().expect("a list").iter().map(|one| one["path"].as_array().map_or(0, Vec::len));
    let lengths: Vec<usize> = lengths.collect();
    assert_eq!((lengths.len(), lengths[0]), (20, 2));
    assert!(lengths.is_sorted() && found["isEverything"] == false, "{lengths:?}");
}

#[test]
fn threads_say_where_they_are_and_what_was_taken() {
    let server = Server::of("models/philosophers_ring.bir -D N=2");
    let threads = |node: usize| server.ask(&format!("threads?node={node}&"))["threads"][0]["svg"].clone();
    let svg = threads(0);
    let svg = svg.as_str().expect("a picture");
    assert_eq!(svg.matches("never taken").count(), 4, "nothing was expanded yet");
    assert!(svg.contains(">[0] [1]</text>") && svg.contains("[!taken[(index + 1) % N]]"), "{svg}");
    server.ask("expand?node=0&");
    server.ask("expand?node=0&");
    let svg = threads(1);
    let svg = svg.as_str().expect("a picture");
    assert_eq!(
        (svg.matches("never taken").count(), svg.matches("taken ×2").count()),
        (3, 1),
        "asked twice, counted once"
    );
    // There is always room for both, so that nothing moves.
    assert!(svg.contains(">[0]    </text>") && svg.contains(">[1]    </text>"));
}

/// Processor time of a process so far, where the system tells.
fn processor_time(process: &Child) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).expect("the process is there");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().map(|&at| fields[at].parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}

#[test]
fn who_says_nothing_keeps_nobody_out() {
    for limits in ["true", "ulimit -v 600000", "ulimit -n 30"] {
        let mut server = Server::limited(limits, "models/philosophers2.bir");
        let connect = |_| TcpStream::connect(&server.host).expect("it listens");
        let idle: Vec<TcpStream> = (0..200).map(connect).collect();
        let start = timely(|| timed(0..1000, || server.ask("start?")));
        assert_eq!(start["system"], "TwoDiningPhilosophers", "{limits}");
        let before = processor_time(&server.process);
        std::thread::sleep(Duration::from_secs(1));
        let spent = processor_time(&server.process) - before;
        assert!(spent < Duration::from_millis(500), "{limits}: {spent:?} of processor time, although nobody asks");
        assert_eq!(server.process.try_wait().expect("it can be asked"), None, "{limits}: it goes on");
        drop(idle);
    }
}

/// Each thread has a heap of 64 MiB: whatever is allowed, some of it is left for answers.
#[test]
#[cfg(target_os = "linux")]
fn threads_do_not_take_up_the_address_space() {
    for kib in (400_000..466_000).step_by(3_000) {
        let server = Server::limited(&format!("ulimit -v {kib}"), "models/philosophers2.bir");
        let connect = |_| TcpStream::connect(&server.host).unwrap_or_else(|error| panic!("{kib}: {error}"));
        let idle: Vec<TcpStream> = (0..20).map(connect).collect();
        for _ in 0..3 {
            assert_eq!(server.ask("start?")["system"], "TwoDiningPhilosophers", "{kib}");
        }
        drop(idle);
    }
}

#[test]
fn what_strangers_send_is_not_read() {
    let server = Server::of("models/philosophers2.bir");
    // The body never comes: who waits for it does not answer.
    for token in ["", "?token=0000"] {
        let head =
            format!("POST /api/layout{token} HTTP/1.1\r\nHost: {}\r\nContent-Length: 4000000\r\n\r\n", server.host);
        let began = Instant::now();
        assert_eq!(server.send(&head).0, "403");
        assert!(began.elapsed() < Duration::from_secs(5), "answered after {:?}", began.elapsed());
    }
}

/// Asks for places: of a chain of so many boxes.
fn layout_of_chain(server: &Server, boxes: usize) -> (String, Value) {
    let edges: Vec<String> = (1..boxes).map(|node| format!("[{},{node},60,14]", node - 1)).collect();
    let body = format!("{{\"boxes\":[{}],\"edges\":[{}]}}", vec!["[90,40]"; boxes].join(","), edges.join(","));
    let (host, token) = (&server.host, &server.token);
    let length = body.len();
    let head = format!("POST /api/layout?token={token} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
    let (status, answer) = server.send(&(head + &body));
    (status, serde_json::from_str(&answer).expect("it is JSON"))
}

#[test]
fn large_graphs_are_drawn_at_once_or_refused() {
    let server = Server::of("models/philosophers2.bir");
    let before = processor_time(&server.process);
    let (status, places) = layout_of_chain(&server, 20_000);
    assert_eq!((status.as_str(), places["boxes"].as_array().map(Vec::len)), ("200", Some(20_000)));
    let y = |node: usize| places["boxes"][node][1].as_f64().expect("a number");
    assert!(y(19_999) > 19_999.0 * (y(1) - y(0)) - 1.0, "{}", y(19_999));
    assert!(places["edges"][0]["path"].as_str().is_some_and(|path| path.starts_with('M')));
    let spent = processor_time(&server.process) - before;
    assert!(spent < Duration::from_secs(2), "laid out in {spent:?} of processor time");
    let (status, refused) = layout_of_chain(&server, 20_001);
    assert_eq!(status, "400");
    let reason = refused["error"].as_str().unwrap_or_default();
    assert!(reason.contains("20001 boxes") && reason.contains("fold some"), "{reason}");
}

#[test]
fn a_state_with_very_many_steps_is_refused() {
    let folder = binary::folder("explore_steps");
    let text = "system Many { int (0, 59999) x; active thread T() { loc l: do { x := choose(0, 59999); } goto l; } }";
    std::fs::write(folder.join("many.bir"), text).expect("writable");
    let server = Server::of(&folder.join("many.bir").display().to_string());
    let refused = server.ask("expand?node=0&");
    assert!(refused["error"].as_str().is_some_and(|reason| reason.contains("this state has 60000 steps")), "{refused}");
}

/// Name and value of each variable, as a text such as `x=1 c=[2]` has them.
fn values_of(names: &Value, values: &Value) -> Vec<String> {
    let (names, values) = (names.as_array().expect("names"), values.as_array().expect("values"));
    assert_eq!(names.len(), values.len(), "{names:?} {values:?}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    names.iter().zip(values).map(|(name, value)| format!("{} = {}", text(name), text(value))).collect()
}

/// Every state within two steps has the values that `birk graph` gives it.
#[test]
fn values_are_those_of_other_reports() {
    for model in ["abp.bir", "chang_roberts.bir", "dolev_klawe_rodeh.bir", "philosophers2.bir"] {
        let graph = birk(&format!("graph models/{model} --format dot --max-states 100000")).exits(0).out;
        let server = Server::of(&format!("models/{model}"));
        let start = server.ask("start?");
        let mut states = vec![start["nodes"][0].clone()];
        for node in 0..3 {
            let expanded = server.ask(&format!("expand?node={node}&"));
            states.extend(expanded["nodes"].as_array().into_iter().flatten().cloned());
        }
        for state in &states {
            let values = values_of(&start["names"], &state["values"]);
            let label = format!("[label=\"{}\\l\"", values.join("\\l"));
            assert!(graph.contains(&label), "{model}: state {} is not in the graph: {label}", state["id"]);
        }
    }
}

#[test]
fn a_channel_is_one_value() {
    let folder = binary::folder("explore_channel");
    let text = "system Mini { channel of byte [2] c; int (0, 9) x := 7;
      active thread S() { send c (5); x := 8; }
      active thread R() { byte y; receive c (?y); assert y == 5; } }";
    std::fs::write(folder.join("mini.bir"), text).expect("writable");
    let server = Server::of(&folder.join("mini.bir").display().to_string());
    let start = server.ask("start?");
    let sent = server.ask("expand?node=0&")["nodes"][0].clone();
    for (state, contents) in [(&start["nodes"][0], "c = []"), (&sent, "c = [5]")] {
        let values = values_of(&start["names"], &state["values"]);
        assert!(values.contains(&contents.to_owned()) && values.contains(&"x = 7".to_owned()), "{values:?}");
    }
}

#[test]
fn faults_are_states_with_a_reason() {
    let server = Server::of("models/sum_to_n.bir -D N=1");
    let first = server.ask("expand?node=0&");
    assert_eq!(first["nodes"][0]["violated"], serde_json::json!(["fault"]));
    assert_eq!(first["nodes"][0]["fault"], "assertion `x != Param.N` failed");
    assert_eq!(server.ask("expand?node=1&")["edges"], serde_json::json!([]));
}

#[test]
fn a_port_in_use_is_an_error() {
    let server = Server::of("models/philosophers2.bir");
    let port = server.host.split(':').nth(1).expect("a port");
    birk(&format!("explore models/philosophers2.bir --port {port}")).exits(4).says("cannot listen on port");
    birk("explore models/nowhere.bir").exits(4).says("cannot read models/nowhere.bir");
    birk("explore models/philosophers2.bir --port 70000").exits(2).says("too large");
}
