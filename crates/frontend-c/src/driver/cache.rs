//! Modules that clang has made before: most of what a small program costs is clang reading the headers
//! of the system.
//!
//! A module is found again under a hash of all that it was made from: the file and its name, the
//! arguments, the folder in which clang is run, clang and `opt` themselves, and this program. What the
//! file includes is known only afterwards, so an entry names each such file with the hash of its contents
//! (as the direct mode of ccache does). Beyond ccache it names the places where clang has looked, or
//! would have, and has found nothing: a header that comes to be there later is seen.
//!
//! What depends on anything else is not kept: files that ask for the time or for which headers there are,
//! arguments that are not known to be harmless, variables that clang looks at. Entries are written in
//! one go under another name first, so that processes need not know of one another; each
//! has a hash of itself, and what is damaged is made anew.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parallax_files::{MOST_TEXT, read, replace, sha256};

use super::{VERSION, is_taken_for_list};
use crate::Options;

/// How entries begin; another form has another number.
const FORM: &str = "parallax module 1";

/// No entry is longer.
const MOST_ENTRY: u64 = 64 << 20;

/// So much is kept: entries, and bytes of all of them.
const MOST_ENTRIES: usize = 1_000;
const MOST_BYTES: u64 = 256 << 20;

/// What a process that was ended has left behind is thrown away after so long.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What clang looks at beside its arguments.
const VARIABLES: [&str; 10] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "SOURCE_DATE_EPOCH",
    "SDKROOT",
    "CLANG_NO_DEFAULT_CONFIG",
];

/// What in a file depends on more than files that are included.
const UNSTEADY: [&str; 5] =
    ["__DATE__", "__TIME__", "__TIMESTAMP__", "__has_include", "__has_embed"];

/// Asked for where names of variables are shown.
const NAMES: &str = "-fno-discard-value-names";

/// Where the module of a file is, or will be.
pub struct Cache {
    folder: PathBuf,
    entry: PathBuf,
    /// Files that have been changed since then may be others than clang has read.
    start: SystemTime,
}

/// The folder of the user's that modules are kept in, if the system says which that is.
pub fn usual_cache() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let caches = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))?;
    Some(caches.join("parallax").join("modules"))
}

impl Cache {
    /// None where what becomes of the file is not kept.
    pub fn of(path: &Path, options: &Options) -> Option<Cache> {
        let folder = options.cache.clone()?;
        let is_harmless = options.clang_args.iter().all(|arg| is_harmless(arg));
        let is_told = |name: &str| std::env::var_os(name).is_some();
        if !is_harmless
            || !options.texts.is_empty()
            || is_taken_for_list(path)
            || VARIABLES.iter().any(|name| is_told(name))
        {
            return None;
        }
        let start = SystemTime::now();
        let text = read(path, MOST_TEXT).ok().filter(|text| is_steady(text))?;
        let programs = [program("clang")?, program("opt")?, std::env::current_exe().ok()?];
        let mut key = format!("{FORM}\n{}\n", sha256(&text));
        for program in programs {
            key += &format!("{}\n", identity(&program)?);
        }
        let here = std::env::current_dir().ok()?;
        key += &format!("{:?}\n{:?}\n", here, path);
        key += &format!("{} {:?} {:?}\n", options.overflow, options.data_model, options.clang_args);
        let entry = folder.join(sha256(key.as_bytes()));
        Some(Cache { folder, entry, start })
    }

    /// The module, if it was made from what there is now.
    pub fn find(&self) -> Option<String> {
        if !is_own(&self.folder) {
            return None;
        }
        let text = String::from_utf8(read(&self.entry, MOST_ENTRY).ok()?).ok()?;
        let rest = text.strip_prefix(FORM)?.strip_prefix('\n')?;
        let (hash, rest) = rest.split_once('\n')?;
        if sha256(rest.as_bytes()) != hash {
            return None;
        }
        let (lines, module) = rest.split_once("\n\n")?;
        lines.lines().all(is_as_it_was).then(|| module.to_string())
    }

    /// Keeps a module that clang has made from these files, looking for them in these folders. What
    /// cannot be kept is made anew next time.
    pub fn keep(&self, includes: &Includes, module: &str) {
        let Some(lines) = includes.lines(self.start) else {
            return;
        };
        let rest = format!("{lines}\n\n{module}");
        let text = format!("{FORM}\n{}\n{rest}", sha256(rest.as_bytes()));
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        if made.is_ok() && is_own(&self.folder) && text.len() as u64 <= MOST_ENTRY {
            let _ = replace(&self.entry, text.as_bytes());
            self.make_room();
        }
    }

    /// Throws away the oldest entries where there are too many.
    fn make_room(&self) {
        let Ok(folder) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for file in folder.flatten() {
            let (Ok(about), path) = (file.metadata(), file.path()) else {
                continue;
            };
            let Ok(time) = about.modified() else { continue };
            let is_left = file.file_name().as_encoded_bytes().starts_with(b".parallax-");
            match is_left {
                true if time.elapsed().is_ok_and(|age| age > ABANDONED) => {
                    let _ = fs::remove_file(path);
                }
                true => {}
                false => entries.push((time, about.len(), path)),
            }
        }
        let bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        if entries.len() <= MOST_ENTRIES && bytes <= MOST_BYTES {
            return;
        }
        entries.sort();
        let (mut left, mut count) = (bytes, entries.len());
        for (_, bytes, path) in entries {
            if left <= MOST_BYTES / 2 && count <= MOST_ENTRIES / 2 {
                break;
            }
            let _ = fs::remove_file(path);
            (left, count) = (left - bytes, count - 1);
        }
    }
}

/// Whether an argument has clang look at nothing but the files of the program, and do nothing else.
fn is_harmless(arg: &str) -> bool {
    let exact = ["-m32", "-m64", "-w", "-g", "-pthread", "-O0", "-O1", "-O2", "-O3", NAMES];
    let led = ["-D", "-U", "-I", "-std="];
    let is_led = led.iter().any(|led| arg.len() > led.len() && arg.starts_with(led));
    exact.contains(&arg) || is_led && is_steady(arg.as_bytes())
}

fn is_steady(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let embeds = |line: &str| {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        directive.is_some_and(|directive| directive.starts_with("embed"))
    };
    !UNSTEADY.iter().any(|word| text.contains(word)) && !text.lines().any(embeds)
}

/// Whether a folder is the user's own, and nobody else can write there.
fn is_own(folder: &Path) -> bool {
    let mine = fs::metadata("/proc/self").map(|about| about.uid());
    let about = fs::symlink_metadata(folder).ok().filter(Metadata::is_dir);
    about.is_some_and(|it| mine.is_ok_and(|mine| mine == it.uid()) && it.mode() & 0o022 == 0)
}

/// The tool that will be run.
fn program(tool: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names = [format!("{tool}-{VERSION}"), tool.to_string()];
    let found = |name: &String| {
        std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
    };
    names.iter().find_map(found)?.canonicalize().ok()
}

/// What tells a program from any other.
fn identity(program: &Path) -> Option<String> {
    let about = fs::metadata(program).ok()?;
    let (size, inode) = (about.len(), about.ino());
    Some(format!("{program:?} {size} {inode} {} {}", about.mtime(), about.mtime_nsec()))
}

/// What clang has read, and where it has looked.
#[derive(Default)]
pub struct Includes {
    /// Files, the first of which is the source.
    files: Vec<PathBuf>,
    /// Folders in which headers are looked for.
    folders: BTreeSet<PathBuf>,
    /// Folders that would be among those, and were not there.
    missing: Vec<PathBuf>,
    /// Headers of our own, which are nobody else's to change.
    own: PathBuf,
}

impl Includes {
    /// From the rule for make that clang has written, and from what it has said of its ways. None where
    /// that is not plain.
    pub fn read(rule: &str, said: &str, own: &Path) -> Option<Includes> {
        let rule = rule.strip_prefix("module:")?.replace("\\\n", " ");
        if rule.contains(['\\', '$', '#']) || said.contains("Configuration file:") {
            return None;
        }
        let files: Vec<PathBuf> = rule.split_whitespace().map(PathBuf::from).collect();
        let (mut folders, mut missing) = (BTreeSet::new(), Vec::new());
        let mut is_list = false;
        for line in said.lines() {
            if line.ends_with("search starts here:") {
                is_list = true;
            } else if line.starts_with("End of search list") {
                is_list = false;
            } else if is_list {
                folders.insert(PathBuf::from(line.trim()));
            } else if let Some(folder) = line.strip_prefix("ignoring nonexistent directory \"") {
                missing.push(PathBuf::from(folder.trim_end_matches('"')));
            }
        }
        folders.remove(own);
        let is_whole = !files.is_empty() && !folders.is_empty();
        is_whole.then(|| Includes { files, folders, missing, own: own.to_path_buf() })
    }

    /// Whether a file came with the compiler or the C library.
    fn is_of_system(&self, file: &Path) -> bool {
        let system = ["/usr/include", "/usr/lib"];
        system.iter().any(|folder| file.starts_with(folder))
    }

    /// What an entry says of them; None where not all of it is known.
    fn lines(&self, start: SystemTime) -> Option<String> {
        let mut lines = Vec::new();
        let mut folders = self.folders.clone();
        let files: Vec<&PathBuf> =
            self.files.iter().filter(|file| !file.starts_with(&self.own)).collect();
        for file in &files {
            let text = read(file, MOST_TEXT).ok()?;
            if fs::metadata(file).and_then(|about| about.modified()).ok()? >= start {
                return None;
            }
            if !self.is_of_system(file) {
                if !is_steady(&text) {
                    return None;
                }
                folders.insert(file.parent().unwrap_or(Path::new("")).to_path_buf());
            }
            lines.push(format!("{} {}", sha256(&text), name(file)?));
        }
        for folder in &self.missing {
            lines.push(format!("- {}", name(folder)?));
        }
        let mut places = BTreeSet::new();
        for file in &self.files {
            let of = folders.iter().chain([&self.own]);
            let rests = of.filter_map(|folder| file.strip_prefix(folder).ok());
            for rest in rests.filter(|rest| !rest.as_os_str().is_empty()) {
                places.extend(folders.iter().map(|folder| folder.join(rest)));
            }
        }
        for place in places {
            let is_there = if place.exists() { '+' } else { '-' };
            lines.push(format!("{is_there} {}", name(&place)?));
        }
        Some(lines.join("\n"))
    }
}

/// A path, if it is a line of text.
fn name(path: &Path) -> Option<&str> {
    OsStr::to_str(path.as_os_str()).filter(|name| !name.contains('\n'))
}

/// Whether what a line of an entry says is still so.
fn is_as_it_was(line: &str) -> bool {
    let Some((what, name)) = line.split_once(' ') else {
        return false;
    };
    let path = Path::new(name);
    match what {
        "+" => path.exists(),
        "-" => !path.exists(),
        hash => read(path, MOST_TEXT).is_ok_and(|text| sha256(&text) == hash),
    }
}
