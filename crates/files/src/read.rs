//! Reading: regular files only, since others may never end, and none beyond a size.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// No text that is an input is longer.
pub const MOST_TEXT: u64 = 64 << 20;

/// Opens a regular file. Pipes would be waited for, devices may go on for ever.
pub fn open(path: &Path) -> io::Result<File> {
    // Before it is opened, since that alone waits for somebody to write into a pipe; and after,
    // since it may be another file by then.
    check_kind(std::fs::metadata(path)?.file_type())?;
    let file = File::open(path)?;
    check_kind(file.metadata()?.file_type())?;
    Ok(file)
}

/// Whether another program may read a file: it is a regular one of so many bytes at most.
pub fn check(path: &Path, most: u64) -> io::Result<()> {
    match open(path)?.metadata()?.len() > most {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, too_long(most))),
        false => Ok(()),
    }
}

fn check_kind(kind: FileType) -> io::Result<()> {
    let wrong = |message: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    match kind {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => wrong("it is a folder"),
        _ => wrong("it is a pipe or a device, not a regular file"),
    }
}

/// The contents of a regular file of so many bytes at most.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The size that a file system reports may not be the true one.
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, too_long(most))),
        false => Ok(bytes),
    }
}

fn too_long(most: u64) -> String {
    match most >> 20 {
        0 => format!("the file is longer than {most} bytes"),
        size => format!("the file is longer than {size} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    #[test]
    fn files_have_a_size_limit() {
        let folder = Scratch::new().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert_eq!(read(&path, 3).unwrap_err().to_string(), "the file is longer than 3 bytes");
        assert!(check(&path, 4).is_ok() && check(&path, 3).is_err());
        File::create(&path).and_then(|file| file.set_len((1 << 20) + 1)).unwrap();
        assert_eq!(read(&path, 1 << 20).unwrap_err().to_string(), "the file is longer than 1 MiB");
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = Scratch::new().unwrap();
        let error = |path: &Path| read(path, 10).unwrap_err().to_string();
        assert_eq!(error(folder.path()), "it is a folder");
        assert!(error(Path::new("/dev/zero")).contains("device"));
        let link = folder.path().join("link.c");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(error(&link).contains("device"));
        let pipe = folder.path().join("pipe.c");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        assert!(error(&pipe).contains("pipe"));
    }
}
