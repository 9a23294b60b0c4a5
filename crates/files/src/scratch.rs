//! A folder for files that other programs need: its name cannot be foreseen, nobody else may look
//! into it, and it goes away with its owner, or when the process is asked to end.

use std::fs::DirBuilder;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folders that are there.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub fn new() -> io::Result<Scratch> {
        // The keys of the hashers are the system's random numbers.
        let [high, low] = [(); 2].map(|()| RandomState::new().hash_one(std::process::id()));
        let parent = std::path::absolute(std::env::temp_dir())?;
        let path = parent.join(format!("parallax-{high:016x}{low:016x}"));
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        // Fails where there is something of that name, be it a link.
        DirBuilder::new().mode(0o700).create(&path)?;
        open.push(path.clone());
        Ok(Scratch { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|path| *path != self.path);
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// For a process that ends before the owners do.
pub fn remove_scratch() {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    for path in open.drain(..) {
        let _ = std::fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn folders_are_private_and_go_away() {
        let (one, other) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        assert_ne!(one.path(), other.path());
        let id = std::process::id().to_string();
        assert!(!one.path().ends_with(format!("parallax-{id}-0")));
        let mode = std::fs::metadata(one.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = one.path().to_path_buf();
        std::fs::write(path.join("a"), "").unwrap();
        drop(one);
        assert!(!path.exists() && other.path().exists());
    }
}
