//! Files that are never half there: written beside the old one, which is replaced when the new one is safely on the disk.

use std::fs::{self, File};
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};

/// From now on, writing more than the limit on the size of files is an error of that write. Otherwise it is the end of the
/// process, before anybody could say why.
pub(crate) fn survive_limits() {
    // A handler that only notes the signal: writing fails then. Whether it came, nobody asks.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// Replaces the contents of a file, or makes it. A file that is not a regular one, such as a pipe, is written to directly.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<()> {
    let path = behind_links(path);
    // Opened even where it will be replaced: a file that may not be written to stays.
    match File::options().write(true).open(&path) {
        Ok(mut other) if !other.metadata()?.is_file() => return other.write_all(contents),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.unfinished", process_number()));
    replace(&path, &path.with_file_name(name), |out| out.write_all(contents))
}

/// What tells this process from others that write beside it.
fn process_number() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

/// Whoever made a link wants the file behind it to be changed, or made, not the link.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Links that lead in a circle lead nowhere; the system says so when it is asked to open one.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Replaces a file by what `fill` writes. Until that is complete it is in the file `unfinished` of the same folder, which nobody
/// else may use; what an earlier process left there is lost. After an error the old file is as it was.
pub(crate) fn replace(
    path: &Path,
    unfinished: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    // Removed and made anew: opening what is there could follow a link to somewhere else.
    match fs::remove_file(unfinished) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = File::options().write(true).create_new(true).open(unfinished)?;
    let written = fill_and_sync(&file, fill).and_then(|()| {
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        fs::rename(unfinished, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(unfinished);
    }
    written?;
    sync_folder(path)
}

fn fill_and_sync(file: &File, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    fill(&mut out)?;
    // Not left to the end of `out`, which would ignore errors.
    out.into_inner()?;
    file.sync_all()
}

/// The new name is on the disk, too.
fn sync_folder(path: &Path) -> Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(PathBuf::from("."), Path::to_owned);
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder of one test.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("birk-durable-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder can be made");
        path
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = folder("failure");
        let (path, unfinished) = (folder.join("kept"), folder.join("unfinished"));
        write(&path, b"old").expect("it can be written");
        fs::write(&unfinished, "a rest").expect("it can be written");
        let failed = replace(&path, &unfinished, |out| {
            out.write_all(&[0; 3 << 20])?;
            Err(std::io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.map_err(|error| error.kind()), Err(std::io::ErrorKind::StorageFull));
        assert_eq!(fs::read(&path).expect("it is there"), b"old");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        replace(&path, &unfinished, |out| out.write_all(b"new")).expect("it can be written");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_and_leftover_links_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = folder("links");
        let (path, link, other) = (folder.join("model"), folder.join("link"), folder.join("other"));
        fs::write(&path, "old").expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("they can be set");
        symlink(&path, &link).expect("a link can be made");
        write(&link, b"new").expect("it can be written");
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
        fs::write(&other, "another file").expect("it can be written");
        let unfinished = folder.join("unfinished");
        symlink(&other, &unfinished).expect("a link can be made");
        replace(&path, &unfinished, |out| out.write_all(b"newest")).expect("it can be written");
        assert_eq!(fs::read(&other).expect("it is there"), b"another file");
        assert_eq!(fs::read(&path).expect("it is there"), b"newest");
        fs::remove_dir_all(folder).expect("it can be removed");
    }
}
