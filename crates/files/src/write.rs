//! Writing under names that were not chosen by the person at the keyboard, into a folder that was.

use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::Path;

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
}
