//! Programs that some tests need. Whoever lacks one skips those tests; CI, which installs all of them, must not.

use std::env;
use std::ffi::OsStr;

/// Whether all of these programs are installed; of `chromium|google-chrome`, one is enough. If not, this says on standard
/// error that the test is skipped, and why; in CI (`BIRK_CI=1`, which `.ci/run` sets) the test fails.
#[track_caller]
pub fn are_installed(programs: &[&str]) -> bool {
    let is_ci = env::var_os("BIRK_CI").is_some_and(|value| value == "1");
    are_in(&env::var_os("PATH").unwrap_or_default(), programs, is_ci)
}

#[track_caller]
fn are_in(path: &OsStr, programs: &[&str], is_ci: bool) -> bool {
    let is_there = |program: &str| {
        let file = format!("{program}{}", env::consts::EXE_SUFFIX);
        env::split_paths(path).any(|folder| folder.join(&file).is_file())
    };
    let missing: Vec<&str> = programs.iter().copied().filter(|choice| !choice.split('|').any(is_there)).collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ").replace('|', " or ");
    assert!(!is_ci, "not installed: {missing}; in CI no test may be skipped");
    eprintln!("SKIPPED: not installed: {missing}");
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether these are installed where the only program is this test.
    fn are_beside_us(programs: &[&str], is_ci: bool) -> bool {
        let us = env::current_exe().expect("the test is a program");
        let name = us.file_stem().expect("it has a name").to_str().expect("in UTF-8");
        let programs: Vec<String> = programs.iter().map(|program| program.replace("us", name)).collect();
        let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
        are_in(us.parent().expect("it is in a folder").as_os_str(), &programs, is_ci)
    }

    #[test]
    fn what_is_missing_is_skipped() {
        assert!(are_beside_us(&["us"], false) && are_beside_us(&["nobody|us"], false));
        assert!(!are_beside_us(&["us", "nobody"], false) && !are_beside_us(&["nobody|nothing"], false));
    }

    #[test]
    fn what_is_there_passes_in_ci() {
        assert!(are_beside_us(&["us", "nobody|us"], true));
    }

    #[test]
    #[should_panic(expected = "not installed: nobody or nothing; in CI no test may be skipped")]
    fn what_is_missing_fails_in_ci() {
        are_beside_us(&["us", "nobody|nothing"], true);
    }
}
