//! Headers that programs written for other verifiers include, with the functions that the library
//! has for them, and one that systems without libraries for 32 bits lack.

use std::path::Path;

const HEADERS: [(&str, &str); 4] = [
    // glibc's list of functions that are there but never work: none are missing here.
    ("gnu/stubs-32.h", ""),
    ("genmc.h", include_str!("../include/genmc.h")),
    ("dat3m.h", include_str!("../include/dat3m.h")),
    ("verifier.h", include_str!("../include/verifier.h")),
];

/// Puts the headers into a folder.
pub fn write(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("gnu"))?;
    HEADERS.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
}
