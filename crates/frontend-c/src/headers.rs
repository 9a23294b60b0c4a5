//! Headers that programs written for other verifiers include, with the functions that the library
//! has for them.

use std::path::Path;

const HEADERS: [(&str, &str); 3] = [
    ("genmc.h", include_str!("../include/genmc.h")),
    ("dat3m.h", include_str!("../include/dat3m.h")),
    ("verifier.h", include_str!("../include/verifier.h")),
];

/// Puts the headers into a folder.
pub fn write(folder: &Path) -> std::io::Result<()> {
    HEADERS.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
}
