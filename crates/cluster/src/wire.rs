//! Connections that notice when the other side is gone.
//!
//! Timely's threads panic where a connection fails. So it gets connections that never do: what it writes
//! and reads goes in frames, between which each side gives signs of life. Where none comes for too long, or
//! the connection breaks, that is said to the [`Watch`]; from then on what is written is dropped, and who
//! reads sleeps until the process ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use timely::communication::allocator::zero_copy::stream::Stream;

/// What a process has noticed of the others.
#[derive(Default)]
pub struct Watch {
    lost: Mutex<Option<String>>,
    is_lost: AtomicBool,
    /// Connections on which the other side has said goodbye.
    pub farewells: AtomicU64,
    /// Bytes that were sent.
    pub traffic: AtomicU64,
}

impl Watch {
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Who is gone, and how that showed.
    pub fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Of several who are gone the first counts.
    fn lose(&self, who: &str, why: &io::Error) {
        let why = match why.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no sign of life".to_string(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                "it has ended, or the connection is broken".to_string()
            }
            _ => why.to_string(),
        };
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.get_or_insert_with(|| format!("{who} was lost: {why}"));
        self.is_lost.store(true, Ordering::Release);
    }
}

const GOODBYE: u32 = u32::MAX;
const SIGN_OF_LIFE: u32 = 0;

/// A connection.
pub struct Wire {
    socket: TcpStream,
    writer: Arc<Mutex<TcpStream>>,
    who: Arc<str>,
    watch: Arc<Watch>,
    /// Bytes of the frame that are still to be read; None behind the last one.
    left: Option<u32>,
    has_left: Arc<AtomicBool>,
}

impl Wire {
    /// The other side may be silent for so long.
    pub fn new(
        socket: TcpStream,
        who: String,
        watch: Arc<Watch>,
        silent: Duration,
    ) -> io::Result<Wire> {
        socket.set_read_timeout(Some(silent))?;
        socket.set_write_timeout(Some(silent))?;
        let writer = Arc::new(Mutex::new(socket.try_clone()?));
        let has_left = Arc::new(AtomicBool::new(false));
        let wire = Wire { socket, writer, who: who.into(), watch, left: Some(0), has_left };
        wire.keep_alive(silent / 4)?;
        Ok(wire)
    }

    fn writer(&self) -> MutexGuard<'_, TcpStream> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_alive(&self, pause: Duration) -> io::Result<()> {
        let wire = self.try_clone()?;
        thread::Builder::new().name("cluster:life".to_string()).spawn(move || {
            while !wire.watch.is_lost() && !wire.has_left.load(Ordering::Relaxed) {
                wire.frame(SIGN_OF_LIFE, &[]);
                thread::sleep(pause);
            }
        })?;
        Ok(())
    }

    /// Writes a frame, to whom it is not too late.
    fn frame(&self, head: u32, body: &[u8]) {
        let mut writer = self.writer();
        if self.watch.is_lost() || self.has_left.load(Ordering::Relaxed) {
            return;
        }
        let written = writer.write_all(&head.to_le_bytes()).and_then(|()| writer.write_all(body));
        self.watch.traffic.fetch_add(4 + body.len() as u64, Ordering::Relaxed);
        if let Err(error) = written {
            self.watch.lose(&self.who, &error);
        }
        if head == GOODBYE {
            self.has_left.store(true, Ordering::Relaxed);
        }
    }

    /// What can be read next; 0 behind the last frame.
    fn next(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = match self.left {
                None => return Ok(0),
                Some(0) => {
                    let mut head = [0; 4];
                    self.socket.read_exact(&mut head)?;
                    match u32::from_le_bytes(head) {
                        GOODBYE => {
                            self.left = None;
                            self.watch.farewells.fetch_add(1, Ordering::Release);
                        }
                        length => self.left = Some(length),
                    }
                    continue;
                }
                Some(left) => left,
            };
            let most = buffer.len().min(left as usize);
            let read = self.socket.read(&mut buffer[..most])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.left = Some(left - read as u32);
            return Ok(read);
        }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.next(buffer) {
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.watch.lose(&self.who, &error);
                    loop {
                        thread::park();
                    }
                }
            }
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const MOST: usize = 1 << 20;
        let part = &bytes[..bytes.len().min(MOST)];
        if !part.is_empty() {
            self.frame(part.len() as u32, part);
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        Ok(Wire {
            socket: self.socket.try_clone()?,
            writer: self.writer.clone(),
            who: self.who.clone(),
            watch: self.watch.clone(),
            left: self.left,
            has_left: self.has_left.clone(),
        })
    }

    fn set_nonblocking(&self, is_nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(is_nonblocking)
    }

    fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        self.frame(GOODBYE, &[]);
        Ok(())
    }
}
