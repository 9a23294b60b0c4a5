//! Other programs, and what is said to them.
//!
//! A name that starts with `-` would be an option, and one that starts with `@` the name of a list of
//! options (clang, gcc and the tools of LLVM and of binutils all read such lists), with which clang
//! loads code into itself. So a name goes to a program only as a path that starts with a letter, a
//! digit, `_`, `.` or `/`; others are led by `./`. That alone is not enough: clang hands the last part
//! of a path on to itself, and reads lists again there. See [`is_taken_for_list`].

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What a program is called with.
#[derive(Clone, Debug, Default)]
pub struct Arguments(Vec<OsString>);

impl Arguments {
    /// Options that this product has written down, or that its user has: they mean what they say.
    pub fn options<T: AsRef<OsStr>>(mut self, options: impl IntoIterator<Item = T>) -> Arguments {
        self.0.extend(options.into_iter().map(|option| option.as_ref().to_os_string()));
        self
    }

    /// A path, which is never an option.
    pub fn path(mut self, path: &Path) -> Arguments {
        self.0.push(plain(path).into_os_string());
        self
    }

    pub fn get(&self) -> &[OsString] {
        &self.0
    }
}

/// The same path, such that no program takes it for an option. Paths that nobody could take for one
/// stay as they are, since programs repeat them in what they say.
pub fn plain(path: &Path) -> PathBuf {
    let first = path.as_os_str().as_encoded_bytes().first();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./".contains(byte) || *byte > 127;
    match first.is_some_and(is_plain) {
        true => path.to_path_buf(),
        false => Path::new(".").join(path),
    }
}

/// Whether the last part of a path alone is taken for a list of options. Such a file has to be given
/// to compilers under another name.
pub fn is_taken_for_list(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"@"))
}

/// No program runs longer, where nothing else is said.
const MOST_TIME: Duration = Duration::from_secs(300);
/// No program says more.
const MOST_OUTPUT: u64 = 512 << 20;
const MOST_ERRORS: u64 = 1 << 20;

/// Runs a program to its end, without anything to read. One that never ends, or says too much, is
/// ended; that is an error, as is a program that is not there.
pub fn run(program: &str, arguments: &Arguments, time: Option<Duration>) -> io::Result<Output> {
    run_within(program, arguments, time.unwrap_or(MOST_TIME), MOST_OUTPUT)
}

fn run_within(
    program: &str,
    arguments: &Arguments,
    time: Duration,
    most: u64,
) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments.get()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let end = Instant::now() + time;
    let stderr = collect(child.stderr.take(), MOST_ERRORS, true);
    let stdout = collect(child.stdout.take(), most, false);
    let left = || end.saturating_duration_since(Instant::now());
    let Ok(stdout) = stdout.recv_timeout(left()) else {
        let message = "the time was over before it came to its end".to_string();
        return Err(ended(&mut child, io::ErrorKind::TimedOut, message));
    };
    let stdout = stdout?;
    if stdout.len() as u64 > most {
        let message = format!("it says more than {} MiB", most >> 20);
        return Err(ended(&mut child, io::ErrorKind::InvalidData, message));
    }
    let stderr = stderr.recv_timeout(left()).unwrap_or_else(|_| Ok(Vec::new()))?;
    Ok(Output { status: child.wait()?, stdout, stderr })
}

/// Ends a program that has gone too far.
fn ended(child: &mut Child, kind: io::ErrorKind, message: String) -> io::Error {
    let _ = child.kill();
    let _ = child.wait();
    io::Error::new(kind, message)
}

/// What comes out of a pipe, up to a little more than the most. What is beyond is read only if the
/// program is to go on.
fn collect(
    pipe: Option<impl Read + Send + 'static>,
    most: u64,
    goes_on: bool,
) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let Some(mut pipe) = pipe else { return };
        let read = pipe.by_ref().take(most + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
        if goes_on {
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_no_options() {
        let path = |path: &str| Arguments::default().path(Path::new(path)).0.remove(0);
        assert_eq!(path("a.c"), "a.c");
        assert_eq!(path("é.c"), "é.c");
        assert_eq!(path("-a.c"), "./-a.c");
        assert_eq!(path("@a.c"), "./@a.c");
        assert_eq!(path("@a/b.c"), "./@a/b.c");
        assert_eq!(path("../a.c"), "../a.c");
        assert_eq!(path("..a.c"), "..a.c");
        assert_eq!(path("./a.c"), "./a.c");
        assert_eq!(path("/a.c"), "/a.c");
        assert_eq!(path("+a;b c"), "./+a;b c");
        assert_eq!(path(" -a.c"), "./ -a.c");
        assert_eq!(path(""), "./");
    }

    #[test]
    fn lists_are_reported_by_the_last_part() {
        let is_list = |path: &str| is_taken_for_list(Path::new(path));
        assert!(is_list("@a.c") && is_list("/b/@a.c"));
        assert!(!is_list("@b/a.c") && !is_list("a@.c") && !is_list(""));
    }

    #[test]
    fn programs_are_run_within_limits() {
        let sh = |text: &str| Arguments::default().options(["-c", text]);
        let output = run("sh", &sh("echo out; echo err >&2; exit 3"), None).unwrap();
        assert_eq!(
            (output.stdout.as_slice(), output.stderr.as_slice()),
            (&b"out\n"[..], &b"err\n"[..])
        );
        assert_eq!(output.status.code(), Some(3));
        let short = Duration::from_millis(100);
        let error = run_within("sh", &sh("exec sleep 60"), short, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let error = run_within("cat", &Arguments::default().options(["/dev/zero"]), MOST_TIME, 10);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(run("no-such-program", &Arguments::default(), None).is_err());
    }
}
