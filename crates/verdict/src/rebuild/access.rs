//! Steps that access memory.

use parallax_program::{Bits, Program};

use super::{Promise, Rebuild};
use crate::walker::Walker;
use crate::{EventKind, Source, StepId};

impl Rebuild<'_, '_> {
    /// A read, of which the thread has `rest` bytes left.
    pub(super) fn read(
        &mut self,
        id: StepId,
        source: Source,
        bytes: Option<u8>,
        address: u64,
        rest: u32,
    ) -> Result<(), String> {
        let size = part(bytes, rest)?;
        is_memory(address)?;
        let event = self.number_of(id);
        let value = match source {
            Source::Initial => {
                self.initial_reads.push(event);
                let walker = self.threads[id.thread as usize].walker.as_ref();
                let asks = walker.is_some_and(Walker::asks_whether_written);
                match asks && !self.objects.is_defined(address) {
                    true => Bits::zero(size * 8),
                    false => self.objects.initial(address, size),
                }
            }
            Source::Step(step) => {
                let (write, value) = self.written(step, address, size)?;
                self.rf.push((write, event));
                value
            }
            Source::Later { step, value } => {
                if value.width() != size * 8 {
                    return Err("what is to be written has another size".to_string());
                }
                self.promises.push(Promise { step, read: event, address, value });
                value
            }
        };
        let (location, shown) = self.names(address, value);
        self.record(id, EventKind::Read { location, address, size, value, shown })?;
        let run = &mut self.threads[id.thread as usize];
        if let Some(walker) = &mut run.walker {
            walker.read(event, value, &mut self.derived);
            let fails = if size == rest { run.fails.take() } else { None };
            if walker.awaits_decision() {
                walker.decide(!fails.unwrap_or(false), &mut self.derived)?;
            }
        }
        Ok(())
    }

    /// Whether all that reads have taken before it was written was really written.
    pub(super) fn keep_promises(&mut self) -> Result<(), String> {
        for Promise { step, read, address, value } in std::mem::take(&mut self.promises) {
            let (write, written) = self.written(step, address, value.width() / 8)?;
            if written != value {
                return Err(format!("{value} was read, and {written} was written"));
            }
            self.rf.push((write, read));
        }
        Ok(())
    }

    /// Number and value of the write that a read takes its value from.
    fn written(&self, step: StepId, address: u64, size: u32) -> Result<(u32, Bits), String> {
        let (number, kind) = self.earlier(step)?;
        match kind {
            EventKind::Write { address: at, size: bytes, value, .. }
                if *at == address && *bytes == size =>
            {
                Ok((number, *value))
            }
            EventKind::Write { address: at, size: bytes, .. } => Err(format!(
                "{size} bytes at {address:#x} are read, {bytes} bytes at {at:#x} were written"
            )),
            _ => Err("the source is no write".to_string()),
        }
    }

    /// A write, of which the thread has `rest` left.
    pub(super) fn write(
        &mut self,
        id: StepId,
        bytes: Option<u8>,
        address: u64,
        rest: Bits,
    ) -> Result<(), String> {
        let size = part(bytes, rest.width() / 8)?;
        is_memory(address)?;
        let value = rest.extract(0, size * 8);
        let (location, shown) = self.names(address, value);
        self.record(id, EventKind::Write { location, address, size, value, shown })?;
        let event = self.number_of(id);
        if let Some(walker) = &mut self.threads[id.thread as usize].walker {
            walker.write(event, size, &mut self.derived);
        }
        Ok(())
    }

    pub(super) fn names(&self, address: u64, value: Bits) -> (String, String) {
        let location = self.objects.place(address).unwrap_or_else(|| format!("{address:#x}"));
        (location, self.objects.show(value))
    }
}

/// Whether a program can access an address at all: not where the lives of threads show.
fn is_memory(address: u64) -> Result<(), String> {
    match Program::thread_at(address) {
        Some(_) => Err(format!("no memory is at {address:#x}")),
        None => Ok(()),
    }
}

/// How many of the bytes that are left a step takes.
fn part(bytes: Option<u8>, rest: u32) -> Result<u32, String> {
    match bytes.map(u32::from) {
        None => Ok(rest),
        Some(bytes) if (1..=rest).contains(&bytes) => Ok(bytes),
        Some(bytes) => Err(format!("{bytes} bytes of {rest}")),
    }
}
