//! Files in a store that is a folder: what is put when, what is read from where, and what is refused.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use birk_engine::{Files as _, Stored};

use super::{Objects, Put, Store};

/// An empty folder of one test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("birk-objects-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder can be made");
    path
}

fn store(folder: &Path) -> Arc<Store> {
    Arc::new(Store::at(&format!("file://{}", folder.display())).expect("an address"))
}

fn files(folder: &Path) -> Objects {
    Objects::new(store(folder), &std::env::temp_dir())
}

/// The objects of a file: where they begin, and what they hold.
fn objects(folder: &Path, name: &str) -> Vec<(u64, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder.join(name)) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            assert_eq!(name.len(), 20);
            (name.parse().expect("a number"), fs::read(&path).expect("it can be read"))
        })
        .collect();
    found.sort();
    found
}

#[track_caller]
fn holds(file: &dyn Stored, expected: &[u8]) {
    assert_eq!(file.length().expect("a length"), expected.len() as u64);
    for from in 0..=expected.len() {
        for to in from..=expected.len() {
            let mut bytes = vec![0; to - from];
            file.read_at(&mut bytes, from as u64).expect("it can be read");
            assert_eq!(bytes, expected[from..to], "{from}..{to}");
        }
    }
    let beyond = file.read_at(&mut [0], expected.len() as u64).expect_err("there is no more");
    assert_eq!(beyond.kind(), ErrorKind::UnexpectedEof);
}

#[track_caller]
fn append(file: &dyn Stored, bytes: &[u8]) {
    file.write_at(bytes, file.length().expect("a length")).expect("it can be written");
}

#[test]
fn what_was_written_is_put_when_the_file_is_made_safe() {
    let folder = folder("sequence");
    let file = files(&folder).create("a").expect("it can be made");
    append(&*file, b"abc");
    append(&*file, b"");
    holds(&*file, b"abc");
    assert_eq!(objects(&folder, "a"), []);
    file.sync().expect("it can be put");
    file.sync().expect("nothing is to be put");
    append(&*file, b"defg");
    holds(&*file, b"abcdefg");
    file.sync().expect("it can be put");
    append(&*file, b"hi");
    file.write_at(b"H", 7).expect("it was not put yet");
    holds(&*file, b"abcdefgHi");
    assert_eq!(objects(&folder, "a"), [(0, b"abc".to_vec()), (3, b"defg".to_vec())]);
    let refused = file.write_at(b"x", 6).expect_err("it was put");
    assert!(refused.to_string().contains("is not changed, only added to"), "{refused}");
    // Another process sees what was put.
    let others = files(&folder);
    holds(&*others.open("a").expect("it can be opened").expect("it is there"), b"abcdefg");
    assert!(others.open("b").expect("it can be looked for").is_none());
    // One that begins anew deletes it.
    append(&*others.create("a").expect("it can be made"), b"z");
    assert_eq!(objects(&folder, "a"), []);
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn long_files_are_put_in_pieces_and_read_through_windows() {
    let folder = folder("long");
    let mebibyte = |number: u8| -> Vec<u8> { (0..1 << 20).map(|at: u32| (at >> 8) as u8 ^ number).collect() };
    let file = files(&folder).create("a").expect("it can be made");
    for number in 0..9 {
        append(&*file, &mebibyte(number));
    }
    let sizes = |folder: &Path| objects(folder, "a").iter().map(|(at, bytes)| (*at, bytes.len())).collect::<Vec<_>>();
    assert_eq!(sizes(&folder), [(0, 8 << 20)]);
    append(&*file, b"end");
    file.sync().expect("it can be put");
    assert_eq!(sizes(&folder), [(0, 8 << 20), (8 << 20, (1 << 20) + 3)]);
    let again = files(&folder).open("a").expect("it can be opened").expect("it is there");
    for file in [file, again] {
        for number in (0..9).chain([3, 8]) {
            let mut bytes = vec![0; 1 << 20];
            file.read_at(&mut bytes, u64::from(number) << 20).expect("it can be read");
            assert!(bytes == mebibyte(number), "{number}");
        }
        let mut bytes = vec![0; (1 << 20) + 8];
        file.read_at(&mut bytes, (8 << 20) - 5).expect("it can be read");
        assert!(bytes[..5] == mebibyte(7)[(1 << 20) - 5..] && bytes.ends_with(b"end"));
    }
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn a_file_is_cut_off_from_its_end_on() {
    let folder = folder("cut");
    let written = files(&folder).create("a").expect("it can be made");
    for part in [&b"abc"[..], b"de", b"fghi"] {
        append(&*written, part);
        written.sync().expect("it can be put");
    }
    let opened = files(&folder).open("a").expect("it can be opened").expect("it is there");
    append(&*opened, b"jk");
    opened.truncate(10).expect("it can be cut off");
    holds(&*opened, b"abcdefghij");
    opened.truncate(9).expect("it can be cut off");
    opened.truncate(9).expect("nothing is cut off");
    holds(&*opened, b"abcdefghi");
    assert_eq!(objects(&folder, "a").len(), 3);
    opened.truncate(4).expect("it can be cut off");
    assert_eq!(objects(&folder, "a"), [(0, b"abc".to_vec()), (3, b"d".to_vec())]);
    holds(&*opened, b"abcd");
    // What is put from now on is read from the local file, what was there before from the store.
    append(&*opened, b"XY");
    opened.sync().expect("it can be put");
    append(&*opened, b"Z");
    holds(&*opened, b"abcdXYZ");
    opened.truncate(5).expect("it can be cut off");
    append(&*opened, b"123");
    opened.sync().expect("it can be put");
    holds(&*opened, b"abcdX123");
    opened.truncate(3).expect("it can be cut off");
    append(&*opened, b"456");
    opened.sync().expect("it can be put");
    holds(&*opened, b"abc456");
    opened.truncate(0).expect("it can be cut off");
    assert_eq!(objects(&folder, "a"), []);
    holds(&*opened, b"");
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn a_second_process_that_writes_is_refused() {
    let folder = folder("second");
    let begun = files(&folder).create("a").expect("it can be made");
    append(&*begun, b"abc");
    begun.sync().expect("it can be put");
    let [first, second] = [(), ()].map(|()| files(&folder).open("a").expect("it can be opened").expect("it is there"));
    append(&*first, b"first");
    append(&*second, b"second");
    first.sync().expect("it can be put");
    let refused = second.sync().expect_err("another one was there");
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    assert!(refused.to_string().contains("another process writes to it"), "{refused}");
    assert!(refused.to_string().starts_with(&format!("cannot write to file://{}/a: ", folder.display())), "{refused}");
    holds(&*first, b"abcfirst");
    holds(&*files(&folder).open("a").expect("it can be opened").expect("it is there"), b"abcfirst");
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn objects_must_follow_each_other() {
    let folder = folder("gap");
    let file = files(&folder).create("a").expect("it can be made");
    for part in [&b"abc"[..], b"de", b"f"] {
        append(&*file, part);
        file.sync().expect("it can be put");
    }
    let [second, third] = [3, 5].map(|at| folder.join("a").join(format!("{at:020}")));
    fs::rename(&second, folder.join("elsewhere")).expect("it can be renamed");
    let refused = files(&folder).open("a").err().expect("an object is missing").to_string();
    let says = "the object 00000000000000000003 is missing, and 00000000000000000005 is there";
    assert!(refused.contains(says), "{refused}");
    fs::remove_file(third).expect("it can be removed");
    holds(&*files(&folder).open("a").expect("it can be opened").expect("it is there"), b"abc");
    // What is no object of the file does not count.
    fs::write(folder.join("a/notes"), "x").expect("it can be written");
    holds(&*files(&folder).open("a").expect("it can be opened").expect("it is there"), b"abc");
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn without_local_room_all_is_read_from_the_store() {
    let folder = folder("no-room");
    let file = Objects::new(store(&folder), &folder.join("missing")).create("a").expect("it can be made");
    for part in [&b"abc"[..], b"de"] {
        append(&*file, part);
        file.sync().expect("it can be put");
    }
    append(&*file, b"f");
    holds(&*file, b"abcdef");
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn an_object_is_made_once_and_replaced_whole() {
    let folder = folder("head");
    let store = store(&folder);
    assert_eq!(store.get("head").expect("it can be looked for"), None);
    store.put("head", b"first".to_vec(), Put::New).expect("it can be put");
    let refused = store.put("head", b"second".to_vec(), Put::New).expect_err("there is one");
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    assert_eq!(store.get("head").expect("it can be read").as_deref(), Some(&b"first"[..]));
    store.put("head", b"third".to_vec(), Put::Anew).expect("it can be put");
    assert_eq!(store.get("head").expect("it can be read").as_deref(), Some(&b"third"[..]));
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    for address in ["ftp://a/b", "s3://", "s3:///a", "file:///", "file://a/b", "file://", "s3a://a"] {
        let refused = Store::at(address).expect_err("it is none").message;
        assert!(refused.contains("is not the address of an object store"), "{address}: {refused}");
    }
    assert_eq!(Store::at("file:///a/b/").expect("an address").address(), "file:///a/b");
}
