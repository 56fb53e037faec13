//! What a release contains: packed twice it is the same, and unpacked it finds a bug.

use std::fs;
use std::path::Path;

use crate::binary::{BIRK, command, folder, root, run};

/// Whether a tool that only these tests use is installed; what it would have found is skipped otherwise.
fn has(tool: &str) -> bool {
    let is_there = command(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: {tool} is not installed");
    }
    is_there
}

/// The checksums of what is packed into the folder.
fn packed(into: &Path) -> String {
    let script = root().join("release/pack");
    run(command("bash").arg(script).args([Path::new(BIRK), into])).exits(0).out
}

#[test]
fn an_archive_is_the_same_twice_and_ready_to_use() {
    let folder = folder("release");
    let sums = packed(&folder.join("one"));
    assert_eq!(sums, packed(&folder.join("two")));
    let archive = sums.split_whitespace().find(|word| word.ends_with(".tar.gz")).expect("an archive");
    run(command("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(folder.join("one"))).exits(0);
    run(command("tar").arg("--extract").arg("--file").arg(archive).current_dir(folder.join("one"))).exits(0);
    let unpacked = folder.join("one").join(archive.trim_end_matches(".tar.gz"));
    let mut birk = command(unpacked.join("bin/birk").to_str().expect("text"));
    let answer = run(birk.current_dir(&unpacked).args(["check", "models/structured/lost_wakeup.bir"])).exits(1);
    answer.prints("deadlock in 7 steps");
    for (file, least) in [
        ("README.md", 2_000),
        ("CHANGELOG.md", 2_000),
        ("LICENSE-MIT", 500),
        ("LICENSE-APACHE", 5_000),
        ("share/man/man1/birk.1.gz", 2_000),
        ("share/bash-completion/completions/birk", 2_000),
        ("share/fish/vendor_completions.d/birk.fish", 2_000),
        ("share/zsh/site-functions/_birk", 2_000),
    ] {
        let size = fs::metadata(unpacked.join(file)).map_or(0, |of| of.len());
        assert!(size > least, "{file} has {size} bytes");
    }
}

/// Both take the archive from where it will be, and only with the bytes that were packed.
#[test]
fn formula_and_flake_have_the_address_and_the_checksum_of_the_archive() {
    let folder = folder("release_files");
    let script = root().join("release/pack");
    let address = "https://example.org/birk/";
    let sums = run(command("bash").arg(script).args([BIRK, folder.to_str().expect("text"), address])).exits(0).out;
    let line = sums.lines().find(|line| line.ends_with(".tar.gz")).expect("an archive");
    let (sum, archive) = line.split_once("  ").expect("a checksum and a name");
    assert_eq!(sum.len(), 64);
    let file = |name: &str| fs::read_to_string(folder.join(name)).expect("it was written");
    for (name, sum_line) in [("birk.rb", format!("sha256 \"{sum}\"")), ("flake.nix", format!("sha256 = \"{sum}\";"))] {
        let text = file(name);
        assert!(
            text.contains(&sum_line) && text.contains(&format!("\"https://example.org/birk/{archive}\"")),
            "{text}"
        );
        assert!(text.contains(&format!("\"{}\"", env!("CARGO_PKG_VERSION"))), "{text}");
        let is_filled = |line: &str| line.matches('@').count() < 2;
        assert!(text.lines().all(is_filled), "something is left to be filled in:\n{text}");
        // What is in the repository has nothing that looks like a checksum.
        let template = fs::read_to_string(root().join(format!("release/{name}.in"))).expect("a template");
        assert!(template.contains("\"@sha256@\""), "{template}");
    }
    if has("ruby") {
        run(command("ruby").arg("-c").arg(folder.join("birk.rb"))).exits(0).prints("Syntax OK");
    }
    if has("nix-instantiate") {
        run(command("nix-instantiate").arg("--parse").arg(folder.join("flake.nix"))).exits(0);
    }
}

/// `cargo binstall` looks for the archive under the name that it has, and for the binary where it lies in it.
#[test]
fn binstall_finds_the_binary_in_the_archive() {
    let folder = folder("release_binstall");
    let sums = packed(&folder);
    let archive = sums.split_whitespace().find(|word| word.ends_with(".tar.gz")).expect("an archive");
    let manifest = fs::read_to_string(root().join("crates/cli/Cargo.toml")).expect("a manifest");
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{key} = \""))).expect("a key");
        let mut text = line.trim_end_matches('"').to_owned();
        for (name, value) in [
            ("repo", "REPO"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("target-arch", std::env::consts::ARCH),
            ("target-family", std::env::consts::OS),
            ("bin", "birk"),
            ("binary-ext", std::env::consts::EXE_SUFFIX),
        ] {
            text = text.replace(&format!("{{ {name} }}"), value);
        }
        assert!(!text.contains('{'), "{key}: {text}");
        text
    };
    assert!(value("pkg-url").ends_with(&format!("/{archive}")), "{} is not {archive}", value("pkg-url"));
    assert_eq!(value("pkg-fmt"), "tgz");
    let listed = run(command("tar").arg("--list").arg("--file").arg(folder.join(archive))).exits(0).out;
    assert!(listed.lines().any(|line| line == value("bin-dir")), "{} is not in the archive", value("bin-dir"));
}
