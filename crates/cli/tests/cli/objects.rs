//! Searches that are kept in an object store, here one that is a folder: killed, limited and gone on with; objects that are changed or
//! missing; and several processes that write to the same search.

use crate::binary::birk;

#[cfg(not(feature = "object-store"))]
#[test]
fn an_address_is_refused_where_no_store_is_built_in() {
    for command in
        ["check models/peterson2.bir --search bfs --checkpoint s3://bucket/search", "resume s3://bucket/search"]
    {
        birk(command)
            .exits(2)
            .says("s3://bucket/search is the address of an object store")
            .says("--features object-store");
    }
}

#[cfg(feature = "object-store")]
mod with_stores {
    use std::fs;
    use std::net::TcpListener;
    use std::path::PathBuf;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    use birk_exec::Random;
    use serde_json::{Value, json};

    use super::birk;
    use crate::binary::{Answer, BIRK, command, essence, folder, run};

    /// Narrow states; and wide ones, with a violation.
    const COUNTERS: &str = "models/counters_mod8.bir -D K=5";
    const USB: &str = "models/usb_stack.bir -D BUG=1 -D ADDRESSES=12 -D LOG=1 --keep-going";
    const ENGINES: [&str; 2] = ["--search disk", "--search bfs"];
    const OUTPUT: &str = "--format json --progress off";

    fn check(options: &str) -> Answer {
        birk(&format!("check {options} {OUTPUT}"))
    }

    /// A search in a store.
    struct Kept(PathBuf);

    impl Kept {
        fn new(name: &str) -> Self {
            Self(folder(&format!("objects_{name}")).join("kept"))
        }

        fn address(&self) -> String {
            format!("file://{}", self.0.display())
        }

        /// The options that keep a search there.
        fn option(&self) -> String {
            format!("--checkpoint {}", self.address())
        }

        fn resume(&self, options: &str) -> Answer {
            birk(&format!("resume {} {OUTPUT} {options}", self.address()))
        }

        fn is_begun(&self) -> bool {
            self.0.join("search.birk").exists()
        }

        /// The objects of a file, in their order.
        fn objects(&self, name: &str) -> Vec<PathBuf> {
            let entries = fs::read_dir(self.0.join(name)).into_iter().flatten();
            let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
            // Those that are being written have a sign that no object has.
            found.retain(|path| !path.to_string_lossy().contains('#'));
            found.sort();
            found
        }
    }

    fn spawn(arguments: &str) -> Child {
        command(BIRK).args(arguments.split_whitespace()).spawn().expect("the command can be run")
    }

    #[test]
    fn a_killed_search_goes_on() {
        let kills: u32 = std::env::var("BIRK_TEST_KILLS").map_or(2, |kills| kills.parse().expect("a number"));
        let (mut random, mut resumed, mut trials) = (Random::new(11), 0, 0);
        for model in [COUNTERS, USB] {
            let whole = essence(&check(&format!("{model} --search bfs")).json());
            for engine in ENGINES {
                let kept = Kept::new(&format!("whole_{trials}"));
                let started = Instant::now();
                let answer = check(&format!("{model} {engine} {}", kept.option())).json();
                assert_eq!(essence(&answer), whole);
                let time = started.elapsed();
                for _ in 0..kills {
                    trials += 1;
                    let kept = Kept::new(&format!("killed_{trials}"));
                    for _ in 0..2 {
                        let mut child = spawn(&match kept.is_begun() {
                            true => format!("resume {} --progress off", kept.address()),
                            false => format!("check {model} {engine} {} --progress off", kept.option()),
                        });
                        std::thread::sleep(time.mul_f64(random.below(1000) as f64 / 1000.0));
                        child.kill().expect("it can be killed");
                        child.wait().expect("it has ended");
                    }
                    let last = match kept.is_begun() {
                        true => kept.resume(&format!("--threads {}", 1 + random.below(3))),
                        false => check(&format!("{model} {engine}")),
                    };
                    resumed += u32::from(kept.is_begun());
                    assert_eq!(essence(&last.json()), whole, "{}", last.err);
                }
            }
        }
        assert!(resumed * 2 >= trials, "{resumed} of {trials} had saved something");
    }

    #[test]
    fn a_limited_search_goes_on() {
        let whole = essence(&check(&format!("{COUNTERS} --search bfs")).json());
        for engine in ENGINES {
            let kept = Kept::new("limited");
            let first = check(&format!("{COUNTERS} {engine} {} --max-states 500", kept.option())).exits(3);
            first.says(&format!("the search is saved; continue it with `birk resume {}`", kept.address()));
            let second = kept.resume("--max-states 9000").exits(3);
            assert_eq!(second.json()["stopped_by"], "states");
            assert!(kept.objects("levels.run").len() > 1 && kept.objects("levels.log").len() > 1);
            assert_eq!(essence(&kept.resume("").exits(0).json()), whole);
            // It is at its end now; going on leads to the same end.
            assert_eq!(essence(&kept.resume("").exits(0).json()), whole);
        }
    }

    /// Files that are not kept are in a folder of this machine.
    #[test]
    fn the_folder_for_other_files_can_be_named() {
        let (kept, scratch) = (Kept::new("scratch"), folder("objects_scratch_files").join("new"));
        let options = format!("{COUNTERS} --search disk --disk {} {}", scratch.display(), kept.option());
        check(&options).exits(0);
        assert_eq!(fs::read_dir(&scratch).expect("it was made").count(), 0, "they have no names");
        kept.resume(&format!("--disk {}", scratch.display())).exits(0);
        let kept = folder("objects_scratch_kept");
        check(&format!("{COUNTERS} --search disk --max-states 500 --checkpoint {}", kept.display())).exits(3);
        let both = format!("resume {} --disk {}", kept.display(), scratch.display());
        birk(&both).exits(2).says("--disk and --checkpoint: ");
    }

    #[test]
    fn several_processes_go_on_with_another_number() {
        let whole = essence(&check(&format!("{COUNTERS} --search bfs")).json());
        for resume in ["cluster resume -n 3", "resume"] {
            let kept = Kept::new("cluster");
            let first = birk(&format!("cluster up -n 2 {COUNTERS} --max-depth 12 {} {OUTPUT}", kept.option()));
            assert_eq!(first.exits(3).json()["coverage"], json_depth(12));
            let last = birk(&format!("{resume} {} {OUTPUT} --max-depth 1000", kept.address()));
            assert_eq!(without_limit(&essence(&last.exits(0).json())), without_limit(&whole));
        }
    }

    fn json_depth(depth: u32) -> Value {
        let statement = format!(
            "B, complete to depth {depth}: every state within {depth} steps of the start; the depth limit was reached"
        );
        json!({"kind": "depth", "depth": depth, "grade": "B", "statement": statement})
    }

    fn without_limit(essence: &Value) -> Value {
        let mut essence = essence.clone();
        essence[1] = Value::Null;
        essence
    }

    #[test]
    fn changed_objects_are_refused() {
        let kept = Kept::new("changed");
        check(&format!("{COUNTERS} --search disk --max-states 9000 {}", kept.option())).exits(3);
        let whole = essence(&check(&format!("{COUNTERS} --search bfs")).json());
        let mut random = Random::new(3);
        for name in ["levels.run", "levels.log"] {
            let objects = kept.objects(name);
            for object in [&objects[0], &objects[objects.len() / 2]] {
                let text = fs::read(object).expect("it is there");
                let mut other = text.clone();
                // In a level, the bits of a key.
                other[text.len() / 2] ^= 1 << random.below(8);
                fs::write(object, other).expect("it can be written");
                kept.resume("").exits(2).says("is damaged: ").says("start the search again");
                fs::write(object, &text).expect("it can be written");
            }
        }
        assert_eq!(essence(&kept.resume("").exits(0).json()), whole);
    }

    #[test]
    fn missing_objects_are_refused() {
        let kept = Kept::new("missing");
        check(&format!("{COUNTERS} --search bfs --max-states 9000 {}", kept.option())).exits(3);
        let whole = essence(&check(&format!("{COUNTERS} --search bfs")).json());
        for name in ["levels.run", "levels.log"] {
            let objects = kept.objects(name);
            for object in [&objects[0], &objects[objects.len() / 2]] {
                let text = fs::read(object).expect("it is there");
                fs::remove_file(object).expect("it can be removed");
                let refused = kept.resume("").exits(4).says(&format!("cannot read {}/{name}: ", kept.address()));
                assert_eq!(refused.says("is missing, and ").out, "", "nothing is said of the model");
                fs::write(object, text).expect("it can be written");
            }
        }
        assert_eq!(essence(&kept.resume("").exits(0).json()), whole);
    }

    /// It seems that the last level was never written: it is made again.
    #[test]
    fn a_level_whose_last_object_is_missing_does_not_count() {
        let whole = essence(&check(&format!("{COUNTERS} --search bfs")).json());
        for name in ["levels.run", "levels.log"] {
            let kept = Kept::new("last_missing");
            check(&format!("{COUNTERS} --search disk --max-states 9000 {}", kept.option())).exits(3);
            fs::remove_file(kept.objects(name).last().expect("there is one")).expect("it can be removed");
            assert_eq!(essence(&kept.resume("").exits(0).json()), whole);
        }
    }

    #[test]
    fn what_is_there_decides_what_can_be_done() {
        let kept = Kept::new("there");
        kept.resume("").exits(2).says(&format!("there is no search in {}", kept.address()));
        assert!(!kept.0.exists(), "nothing was made");
        let limited = format!("{COUNTERS} --search bfs --max-states 500 {}", kept.option());
        check(&limited).exits(3);
        check(&limited)
            .exits(2)
            .says(&format!("already holds a search; continue it with `birk resume {}`", kept.address()));
        let head = kept.0.join("search.birk");
        let text = fs::read(&head).expect("it is there");
        for place in [0, text.len() / 2, text.len() - 1] {
            let mut other = text.clone();
            other[place] ^= 4;
            fs::write(&head, other).expect("it can be written");
            kept.resume("").exits(2).says(&format!("{}/search.birk is damaged", kept.address()));
        }
        check(&format!("{COUNTERS} --search depth --checkpoint file:///a")).exits(2).says("name a folder, or use ");
        check(&format!("{COUNTERS} --search bfs --checkpoint ftp://a/b"))
            .exits(2)
            .says("is not the address of an object");
    }

    /// A process that was stopped for a while finds that another has gone on.
    #[cfg(unix)]
    #[test]
    fn a_second_process_is_refused() {
        let whole = essence(&check(&format!("{USB} --search bfs")).json());
        for engine in ENGINES {
            let kept = Kept::new("second");
            let mut first = spawn(&format!("check {USB} {engine} {} --progress off", kept.option()));
            let since = Instant::now();
            while kept.objects("levels.log").len() < 4 && since.elapsed() < Duration::from_secs(30) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let id = first.id().to_string();
            let signal = |signal: &str| {
                let sent = Command::new("kill").args([signal, &id]).status();
                assert!(sent.is_ok_and(|status| status.success()));
            };
            signal("-STOP");
            assert!(first.try_wait().expect("it can be waited for").is_none(), "it is not at its end");
            assert_eq!(essence(&kept.resume("").json()), whole);
            signal("-CONT");
            let output = first.wait_with_output().expect("it has ended");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(4) && said.contains("another process writes to it"), "{said}");
            assert_eq!(output.stdout, b"", "nothing is said of the model");
            assert_eq!(essence(&kept.resume("").json()), whole);
        }
    }

    /// Nobody answers at this port, and nobody listens at the other.
    #[test]
    fn a_store_that_does_not_answer_is_an_error() {
        let silent = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
        let port = silent.local_addr().expect("it has an address").port();
        for endpoint in [format!("http://127.0.0.1:{port}"), "http://127.0.0.1:1".to_owned()] {
            let mut search = command(BIRK);
            search.args("check models/peterson2.bir --search bfs --checkpoint s3://bucket/search".split_whitespace());
            for (name, value) in [
                ("AWS_ENDPOINT", endpoint.as_str()),
                ("AWS_ALLOW_HTTP", "true"),
                ("AWS_ACCESS_KEY_ID", "nobody"),
                ("AWS_SECRET_ACCESS_KEY", "nothing"),
            ] {
                search.env(name, value);
            }
            let since = Instant::now();
            let answer = run(&mut search).exits(4).says("birk: cannot write to s3://bucket/search/search.birk: ");
            assert_eq!(answer.out, "");
            assert!(since.elapsed() < Duration::from_secs(40), "{:?}", since.elapsed());
        }
    }
}
