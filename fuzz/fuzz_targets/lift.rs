//! Any bytes are instructions that are lifted to a well-formed program, or refused by name.

#![no_main]

use iced_x86::{Decoder, DecoderOptions};
use libfuzzer_sys::fuzz_target;
use parallax_frontend_x86::lift::{Sequence, lift, registers, remove_dead};
use parallax_program::{InstKind, Program, SourceFile};

fuzz_target!(|bytes: &[u8]| {
    let mut out = Sequence::new("f");
    for instruction in Decoder::with_ip(64, bytes, 0x40_0000, DecoderOptions::NONE) {
        if let Err(refused) = lift(&instruction, &mut out) {
            assert!(!refused.mnemonic.is_empty());
            out.builder().emit(InstKind::Unsupported { what: refused.message(bytes) });
        }
    }
    let mut function = out.finish();
    remove_dead(&mut function);
    let mut program = Program::new("fuzz", 64, SourceFile::new("fuzz", ""));
    program.registers = registers::registers();
    program.functions.push(function);
    assert_eq!(program.check(), Ok(()));
});
