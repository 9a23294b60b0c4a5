//! A folder that goes away with its owner.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub fn new() -> std::io::Result<Scratch> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        const ATTEMPTS: u32 = 100;
        let mut result = Err(std::io::Error::other("no free name"));
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("parallax-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            result = std::fs::create_dir(&path).map(|()| Scratch { path });
            if result.is_ok() {
                break;
            }
        }
        result
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
