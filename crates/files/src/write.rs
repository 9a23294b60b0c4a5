//! Writing under names that were not chosen by the person at the keyboard, into a folder that was.

use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file, in place of what has that name: where that is a link, the link goes, and what it
/// leads to stays as it is.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let random = RandomState::new().hash_one(std::process::id());
    let new = path.with_file_name(format!(".parallax-{random:016x}"));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
    let written = file.write_all(text).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Writes a file such that it has its old text or its new one, whenever the process or the machine ends.
pub fn keep(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    name.push(".new");
    let new = path.with_file_name(name);
    // What a process that was ended has left behind.
    let _ = fs::remove_file(&new);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
    let written = file.write_all(text).and_then(|()| file.sync_all());
    let written = written.and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
        return written;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or(PathBuf::from("."), Path::to_path_buf);
    // Not every file system lets folders be written out.
    let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    #[test]
    fn links_are_not_followed() {
        let folder = Scratch::new().unwrap();
        let [mine, link] = ["mine", "link"].map(|name| folder.path().join(name));
        fs::write(&mine, "kept").unwrap();
        std::os::unix::fs::symlink(&mine, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&mine).unwrap(), b"kept");
        assert_eq!(fs::read(&link).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_kept_is_kept_until_there_is_more() {
        let folder = Scratch::new().unwrap();
        let path = folder.path().join("kept");
        keep(&path, b"one").unwrap();
        fs::write(folder.path().join(".kept.new"), "half").unwrap();
        keep(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::create_dir(folder.path().join("taken")).unwrap();
        assert!(keep(&folder.path().join("taken"), b"one").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(keep(Path::new("/dev/full/kept"), b"one").is_err());
    }
}
