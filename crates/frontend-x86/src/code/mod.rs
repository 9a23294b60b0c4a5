//! Which code belongs to a program, and how control flows through it.
//!
//! A *function* is an entry (a symbol, the target of a call, or an address that is taken) with
//! all blocks that direct jumps and tables lead to from there. Where two functions share code,
//! each has it: that a jump to another function's entry is taken for a call and a return rather
//! than a jump makes no difference to what happens.
//!
//! Nothing here decides what a program means. A target that is not found leads to `unknown`
//! where it is reached; one that is not real is never reached.

mod constants;
mod function;
mod reachable;
mod stubs;
mod tables;

pub use constants::Constants;
pub use function::{Block, FunctionCode};
pub use reachable::Reachable;
pub use stubs::Calls;

use iced_x86::{Decoder, DecoderOptions, Instruction};

use crate::elf::Image;

/// The instruction at an address, or why there is none.
pub fn decode(image: &Image, address: u64) -> Result<Instruction, &'static str> {
    let bytes = image.code(address);
    if bytes.is_empty() {
        return Err(match image.region(address) {
            Some(region) if region.executable => "lies behind the end of the code",
            Some(_) => "lies in data, not in code",
            None => "lies outside of the program",
        });
    }
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    match decoder.last_error() {
        iced_x86::DecoderError::None => Ok(instruction),
        iced_x86::DecoderError::NoMoreBytes => Err("is cut off by the end of the code"),
        _ => Err("is no instruction"),
    }
}
