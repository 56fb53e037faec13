//! What a release contains: packed twice it is the same, and unpacked it finds a bug.

use std::fs;
use std::path::Path;

use crate::binary::{BIRK, command, folder, root, run};

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
