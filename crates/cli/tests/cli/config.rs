//! Options from the environment and from `birk.toml`: which wins, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{BIRK, command, folder_with, run};

const MODEL: &str = "philosophers_ring.bir";

/// A folder with the model and this configuration.
fn configured(name: &str, file: &str) -> PathBuf {
    let folder = folder_with(&format!("config_{name}"), MODEL);
    fs::write(folder.join("birk.toml"), file).expect("writable");
    folder
}

fn birk(folder: &Path, line: &str) -> Command {
    let mut command = command(BIRK);
    command.current_dir(folder).args(line.split_whitespace());
    command
}

/// What a search was told, from all sources together.
#[track_caller]
fn told(command: &mut Command) -> String {
    let answer = run(command);
    let line = answer.out.lines().find_map(|line| line.strip_prefix("reproduce: birk check ")).map(str::to_owned);
    let line = line.unwrap_or_else(|| panic!("no report:\n{}\n{}", answer.out, answer.err));
    line.strip_prefix(MODEL).expect("the model").trim().to_owned()
}

#[test]
fn a_file_beside_the_model_holds_every_option() {
    let file = r#"
        search = "dfs"
        time = "10m"
        memory = "1G"
        max-depth = 1_000
        max-states = 0x1000
        seed = 5
        keep-going = true
        accept = "partial"
        deadlock = "on"
        format = "human"
        progress = "off"
        color = "never"
        property = ["deadlock", "fault"]
        define = { N = 3 }
    "#;
    let folder = configured("every", file);
    let expected = "-D N=3 --property deadlock --property fault --search dfs --time 10m --memory 1G --max-depth 1000 \
                    --max-states 4096 --seed 5 --keep-going --accept partial --deadlock on";
    assert_eq!(told(&mut birk(&folder, &format!("check {MODEL}"))), expected);
    // It belongs to the model, not to where the user stands.
    let elsewhere = birk(folder.parent().expect("a parent"), "check")
        .arg(Path::new("config_every").join(MODEL))
        .output()
        .expect("birk can be run");
    assert!(String::from_utf8_lossy(&elsewhere.stdout).contains("--search dfs"));
}

#[test]
fn appearance_can_be_configured_too() {
    let folder =
        configured("appearance", "format = \"json\"\n[profile.people]\nformat = \"human\"\ncolor = \"always\"\n");
    run(&mut birk(&folder, &format!("check {MODEL}"))).exits(1).json();
    let people = run(&mut birk(&folder, &format!("check {MODEL} --profile people"))).exits(1);
    people.prints("\x1b[1m\x1b[31mviolated\x1b[0m");
}

#[test]
fn the_nearest_source_wins() {
    let file = "max-depth = 1\n[profile.p]\nmax-depth = 2\n[profile.q]\nseed = 9\n";
    let folder = configured("nearest", file);
    let depth = |told: String| {
        let mut words = told.split(' ').skip_while(|word| *word != "--max-depth").map(str::to_owned);
        words.nth(1).expect("a depth")
    };
    let check = |options: &str| birk(&folder, &format!("check {MODEL} {options}"));
    assert_eq!(depth(told(&mut check(""))), "1", "the file");
    assert_eq!(depth(told(&mut check("--profile q"))), "1", "a profile that does not say");
    assert_eq!(depth(told(&mut check("--profile p"))), "2", "the profile");
    assert_eq!(depth(told(check("").env("BIRK_PROFILE", "p"))), "2", "the environment names the profile");
    assert_eq!(depth(told(check("--profile q").env("BIRK_PROFILE", "p"))), "1", "the command line names it first");
    assert_eq!(depth(told(check("--profile p").env("BIRK_MAX_DEPTH", "3"))), "3", "the environment");
    assert_eq!(depth(told(check("--profile p").env("BIRK_MAX_DEPTH", ""))), "2", "an empty variable says nothing");
    assert_eq!(depth(told(check("--profile p --max-depth 4").env("BIRK_MAX_DEPTH", "3"))), "4", "the command line");
    fs::remove_file(folder.join("birk.toml")).expect("it was there");
    assert_eq!(told(&mut check("")), "--search bfs --seed 0", "the defaults");
}

#[test]
fn switches_and_lists_can_be_overruled() {
    let folder = configured("overruled", "keep-going = true\nproperty = [\"deadlock\"]\n");
    let check = |options: &str| birk(&folder, &format!("check {MODEL} {options}"));
    assert_eq!(told(&mut check("")), "--property deadlock --search bfs --seed 0 --keep-going");
    assert_eq!(told(&mut check("--keep-going=false")), "--property deadlock --search bfs --seed 0 --keep-going=false");
    assert_eq!(told(check("").env("BIRK_KEEP_GOING", "0")), "--property deadlock --search bfs --seed 0 --keep-going=0");
    assert_eq!(told(&mut check("--property fault")), "--property fault --search bfs --seed 0 --keep-going");
    let both = told(check("").env("BIRK_PROPERTY", "fault,deadlock"));
    assert_eq!(both, "--property fault --property deadlock --search bfs --seed 0 --keep-going");
}

#[test]
fn constants_are_overruled_one_by_one() {
    let folder = folder_with("config_constants", "readers_writers.bir");
    let told = |file: &str, options: &str, variable: &str| {
        fs::write(folder.join("birk.toml"), file).expect("writable");
        let mut check = birk(&folder, &format!("check readers_writers.bir --format json {options}"));
        run(check.env("BIRK_DEFINE", variable)).exits(0).json()["constants"].to_string()
    };
    let constants =
        |readers: u32, writers: u32| format!("{{\"Param.NUM_READERS\":{readers},\"Param.NUM_WRITERS\":{writers}}}");
    let table = "define = { NUM_READERS = 3, NUM_WRITERS = 3 }\n";
    assert_eq!(told(table, "", ""), constants(3, 3));
    assert_eq!(told(table, "-D NUM_WRITERS=1", ""), constants(3, 1));
    assert_eq!(told(table, "-D Param.NUM_WRITERS=1", ""), constants(3, 1));
    assert_eq!(told(table, "-D NUM_WRITERS=1", "NUM_READERS=4,NUM_WRITERS=2"), constants(4, 1));
    assert_eq!(told("define = { Param.NUM_READERS = 5 }\n", "", ""), constants(5, 1));
    assert_eq!(told("[define.Param]\nNUM_READERS = 5\n", "", ""), constants(5, 1));
    assert_eq!(told("define = [\"NUM_READERS=5\", \"NUM_WRITERS = 2\"]\n", "-D NUM_READERS=1", ""), constants(1, 2));
}

#[test]
fn other_commands_take_only_what_is_about_the_model() {
    let folder = configured("others", "define = { N = 3 }\nformat = \"json\"\nmax-states = 2\nsearch = \"dfs\"\n");
    run(&mut birk(&folder, &format!("graph {MODEL} --format aut"))).exits(0).prints("des (0, 75, 35)");
    run(birk(&folder, &format!("graph {MODEL} --format aut")).env("BIRK_FORMAT", "json")).exits(0);
    let shown = run(&mut birk(&folder, &format!("show {MODEL}"))).exits(0).prints("Philosopher[2]");
    assert!(!shown.out.contains("Philosopher[3]"));
    run(&mut birk(&folder, &format!("replay {MODEL} 0:0,1,1"))).exits(0);
    run(&mut birk(&folder, &format!("fmt --check {MODEL}"))).exits(0);
}

#[test]
fn errors_are_all_shown_with_their_places() {
    let file = r#"serach = "bfs"
max-depth = "six"
time = 5.5
memory = 1979-05-27
trace = "x.json"
deadlock = false
property = ["fault", 5, ["x"]]
seed = [1]
define = { N = [5] }

[profile]
fast = 3

[profile.ci]
search = "bsf"
frobnicate = 1
keep-going = "perhaps"
profile = "ci"
"#;
    let folder = configured("errors", file);
    let answer = run(&mut birk(&folder, &format!("check {MODEL}"))).exits(2);
    assert_eq!(answer.out, "");
    insta::assert_snapshot!("errors", answer.err);
}

#[test]
fn what_is_not_toml_is_refused_with_its_place() {
    let folder = configured("broken", "search = \"bfs\"\nmax-depth = \n");
    run(&mut birk(&folder, &format!("check {MODEL}"))).exits(2).says("this is not TOML").says("birk.toml:2:13");
    fs::write(folder.join("birk.toml"), "seed = 1\nseed = 2\n").expect("writable");
    run(&mut birk(&folder, &format!("check {MODEL}"))).exits(2).says("birk.toml:2:1").says("duplicate key");
    fs::write(folder.join("birk.toml"), b"# \xff\n").expect("writable");
    run(&mut birk(&folder, &format!("check {MODEL}"))).exits(2).says("birk.toml is not UTF-8 text (byte 2)");
    fs::remove_file(folder.join("birk.toml")).expect("it was there");
    fs::create_dir(folder.join("birk.toml")).expect("a folder can be made");
    run(&mut birk(&folder, &format!("check {MODEL}"))).exits(4).says("cannot read birk.toml");
}

#[test]
fn an_unknown_profile_is_an_error_with_the_nearest_name() {
    let folder = configured("profiles", "[profile.nightly]\nseed = 1\n[profile.quick]\nseed = 2\n");
    let check = |name: &str| run(&mut birk(&folder, &format!("check {MODEL} --profile {name}"))).exits(2);
    check("nigthly").says("there is no profile `nigthly` in birk.toml; did you mean `nightly`?");
    check("release").says("there are nightly, quick");
    fs::write(folder.join("birk.toml"), "seed = 1\n").expect("writable");
    check("quick").says("it has no [profile.NAME]");
    fs::remove_file(folder.join("birk.toml")).expect("it was there");
    check("quick").says("there is no profile `quick`; there is no file birk.toml to hold it");
}

#[test]
fn errors_in_the_environment_name_the_variable() {
    let folder = folder_with("config_environment", MODEL);
    let check = |name: &str, value: &str| run(birk(&folder, &format!("check {MODEL}")).env(name, value)).exits(2);
    check("BIRK_SEARCH", "dsf").says(
        "the environment's BIRK_SEARCH: `dsf` is none of auto, bfs, dfs, depth, depth-naive, disk, highway, astar, bdd, bdd-chain, bdd-astar, bmc, ic3, cluster; did you mean `dfs`?",
    );
    check("BIRK_MAX_DEPTH", "-1").says("the environment's BIRK_MAX_DEPTH: write a whole number");
    check("BIRK_DEFINE", "N=3,M").says("the environment's BIRK_DEFINE: write NAME=VALUE");
    check("BIRK_KEEP_GOING", "perhaps").says("the environment's BIRK_KEEP_GOING: ");
}
