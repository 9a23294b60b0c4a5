//! How processes find each other, and make sure of each other.
//!
//! Of two processes the one with the higher number calls. Who is called gives a random number; the caller
//! answers with one of its own and with a code (HMAC with SHA-256) of both, of who calls whom, and of the
//! secret. Only if that is right, who is called gives a code as well. Nothing else is read from somebody
//! who has not shown that it knows the secret, and the secret itself is never sent. Then both say what they
//! are to search, and go on only if it is the same.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::Site;

const TITLE: &[u8; 16] = b"parallax cluster";
/// Nobody who means it takes longer over a word.
const WORD: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);
const MOST_TEXT: usize = 4096;

type Code = [u8; 32];

/// A call that was answered.
struct Caller {
    process: usize,
    socket: TcpStream,
    about: String,
}

/// How long to wait for others, and who gets to know what happens.
struct Waiting<'a> {
    end: Instant,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
    say: &'a (dyn Fn(&str) + Sync),
}

impl Waiting<'_> {
    fn check(&self) -> Result<(), String> {
        match (self.is_cancelled)() {
            true => Err("stopped while waiting for the other processes".to_string()),
            false => Ok(()),
        }
    }
}

/// The connections to all others, by their numbers.
pub fn connect(
    site: &Site,
    is_cancelled: &(dyn Fn() -> bool + Sync),
    say: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Option<TcpStream>>, String> {
    let end = Instant::now() + site.patience.to_come;
    let own = &site.hosts[site.process];
    let listener = listen(own).map_err(|error| format!("cannot listen on '{own}': {error}"))?;
    let mut sockets: Vec<Option<TcpStream>> = site.hosts.iter().map(|_| None).collect();
    let waiting = Waiting { end, is_cancelled, say };
    for (to, socket) in sockets.iter_mut().enumerate().take(site.process) {
        *socket = Some(call(site, to, &waiting)?);
    }
    answer(site, &listener, &mut sockets, &waiting)?;
    Ok(sockets)
}

fn listen(own: &str) -> io::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = own.to_socket_addrs()?.collect();
    let listener = TcpListener::bind(&addresses[..])?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers until all with higher numbers have called.
fn answer(
    site: &Site,
    listener: &TcpListener,
    sockets: &mut [Option<TcpStream>],
    waiting: &Waiting<'_>,
) -> Result<(), String> {
    let (sender, callers) = channel();
    let mut refused = None;
    loop {
        let Some(missing) = (site.process + 1..sockets.len()).find(|it| sockets[*it].is_none())
        else {
            return Ok(());
        };
        waiting.check()?;
        if Instant::now() >= waiting.end {
            let also = refused.map_or(String::new(), |refused| format!("; {refused}"));
            return Err(format!("no call from {}{also}", named(site, missing)));
        }
        while let Ok((socket, from)) = listener.accept() {
            let (site, sender) = (site.clone(), sender.clone());
            // Whoever keeps silent keeps nobody else waiting.
            thread::spawn(move || {
                let caller = hear(&site, socket)
                    .map_err(|why| format!("a call from {from} was refused: {why}"));
                let _ = sender.send(caller);
            });
        }
        match callers.recv_timeout(PAUSE) {
            Ok(Ok(caller)) if sockets[caller.process].is_none() => {
                compare(site, caller.process, &caller.about)?;
                sockets[caller.process] = Some(caller.socket);
            }
            Ok(Ok(caller)) => {
                return Err(format!("{} has called twice", named(site, caller.process)));
            }
            Ok(Err(why)) => {
                (waiting.say)(&why);
                refused = Some(why);
            }
            Err(_) => {}
        }
    }
}

/// What is said of a process.
pub fn named(site: &Site, process: usize) -> String {
    format!("process {process} ({})", site.hosts[process])
}

fn compare(site: &Site, process: usize, about: &str) -> Result<(), String> {
    let aspects = [
        "another version of parallax",
        "another program",
        "another model",
        "other options",
        "another list of hosts",
    ];
    let mut pairs = site.about.split(' ').zip(about.split(' ')).zip(aspects);
    match (about == site.about, pairs.find(|((own, other), _)| own != other)) {
        (true, _) => Ok(()),
        (false, Some((_, aspect))) => Err(format!("{} has {aspect}", named(site, process))),
        (false, None) => Err(format!("{} has another version of parallax", named(site, process))),
    }
}

/// Calls a process until it answers.
fn call(site: &Site, to: usize, waiting: &Waiting<'_>) -> Result<TcpStream, String> {
    let mut why = String::new();
    while Instant::now() < waiting.end {
        waiting.check()?;
        match reach(&site.hosts[to]) {
            Ok(socket) => match speak(site, to, socket) {
                Ok((socket, about)) => {
                    compare(site, to, &about)?;
                    return Ok(socket);
                }
                Err(Broken::Refused(why)) => return Err(why),
                Err(Broken::Word(error)) => why = error.to_string(),
            },
            Err(error) => why = error.to_string(),
        }
        thread::sleep(PAUSE);
    }
    Err(format!("no answer from {}: {why}", named(site, to)))
}

fn reach(host: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, WORD) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

enum Broken {
    Refused(String),
    Word(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Word(error)
    }
}

/// The caller's part.
fn speak(site: &Site, to: usize, mut socket: TcpStream) -> Result<(TcpStream, String), Broken> {
    prepare(&socket)?;
    let mut theirs = [0; 48];
    socket.read_exact(&mut theirs)?;
    if theirs[..16] != *TITLE {
        let host = named(site, to);
        return Err(Broken::Refused(format!("{host} is no process of a cluster of parallax")));
    }
    let (theirs, own) = (&theirs[16..], random()?);
    let (from, mut word) = (site.process as u32, Vec::new());
    word.extend_from_slice(&from.to_le_bytes());
    word.extend_from_slice(&own);
    word.extend_from_slice(&code(site, b"calls", (from, to as u32), theirs, &own));
    socket.write_all(&word)?;
    let mut answer = [0; 32];
    let refused = || Broken::Refused(format!("{} has another secret", named(site, to)));
    socket.read_exact(&mut answer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => refused(),
        _ => Broken::Word(error),
    })?;
    if !is_code(site, b"hears", (from, to as u32), theirs, &own, &answer) {
        return Err(refused());
    }
    let about = exchange(site, &mut socket)?;
    Ok((socket, about))
}

/// The part of who is called.
fn hear(site: &Site, mut socket: TcpStream) -> Result<Caller, String> {
    let broken = |error: io::Error| format!("it breaks off ({error})");
    prepare(&socket).map_err(broken)?;
    let own = random().map_err(broken)?;
    let mut word = TITLE.to_vec();
    word.extend_from_slice(&own);
    socket.write_all(&word).map_err(broken)?;
    let mut said = [0; 68];
    socket.read_exact(&mut said).map_err(broken)?;
    let from = u32::from_le_bytes([said[0], said[1], said[2], said[3]]);
    let (theirs, answer) = (&said[4..36], &said[36..]);
    let ends = (from, site.process as u32);
    if !is_code(site, b"calls", ends, &own, theirs, answer) {
        return Err("it does not know the secret".to_string());
    }
    let process = from as usize;
    if process <= site.process || process >= site.hosts.len() {
        return Err(format!("there is no process {process} that would call"));
    }
    socket.write_all(&code(site, b"hears", ends, &own, theirs)).map_err(broken)?;
    let about = exchange(site, &mut socket).map_err(broken)?;
    Ok(Caller { process, socket, about })
}

fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(WORD))?;
    socket.set_write_timeout(Some(WORD))
}

/// Both say what they are to search.
fn exchange(site: &Site, socket: &mut TcpStream) -> io::Result<String> {
    let about = site.about.as_bytes();
    socket.write_all(&(about.len() as u32).to_le_bytes())?;
    socket.write_all(about)?;
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_TEXT {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut theirs = vec![0; length];
    socket.read_exact(&mut theirs)?;
    Ok(String::from_utf8_lossy(&theirs).into_owned())
}

/// The random numbers of the system.
fn random() -> io::Result<Code> {
    let mut bytes = Code::default();
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

fn coder(
    site: &Site,
    role: &[u8],
    ends: (u32, u32),
    one: &[u8],
    other: &[u8],
) -> Option<Hmac<Sha256>> {
    let mut coder = <Hmac<Sha256> as KeyInit>::new_from_slice(&site.secret).ok()?;
    for part in [TITLE, role, &ends.0.to_le_bytes(), &ends.1.to_le_bytes(), one, other] {
        coder.update(part);
    }
    Some(coder)
}

fn code(site: &Site, role: &[u8], ends: (u32, u32), one: &[u8], other: &[u8]) -> Code {
    coder(site, role, ends, one, other)
        .map_or(Code::default(), |coder| coder.finalize().into_bytes().into())
}

/// Whether a code is right, in a time that does not depend on how far it is.
fn is_code(
    site: &Site,
    role: &[u8],
    ends: (u32, u32),
    one: &[u8],
    other: &[u8],
    code: &[u8],
) -> bool {
    coder(site, role, ends, one, other).is_some_and(|coder| coder.verify_slice(code).is_ok())
}
