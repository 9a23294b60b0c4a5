//! AArch64 litmus tests: the A64 instructions that user-level tests are written in.
//!
//! Each submodule knows one group of instructions: a `decode` that recognises a mnemonic, and a
//! `lower` that reads its operands and emits what it does. What an instruction computes follows
//! the Arm Architecture Reference Manual (DDI 0487); which events it performs, and the tags they
//! carry, follow the names that Arm's cat model of that manual uses: `A` and `Q` for acquire
//! reads, `L` for release writes, `X` for the accesses of atomic instructions and exclusives
//! (the latter also `EX`), `NoRet` for atomic reads whose value goes nowhere, `NT` for
//! non-temporal pairs, and barriers as `DMB.SY`, `DSB.ISHLD`, `ISB`.
//!
//! Dependencies are found later by following values through the emitted expressions, so nothing
//! is simplified here: `EOR W2,W0,W0` stays an expression on `W0`.

mod access;
mod address;
mod atomic;
mod barrier;
mod bitfield;
mod branch;
mod data;
mod exclusive;
mod flags;
mod instruction;
mod moves;
mod multiply;
mod operand;
mod registers;
mod reverse;
mod select;
mod shift;
#[cfg(test)]
mod testing;

use parallax_program::Diagnostic;

use super::{AsmLine, Isa, Register, ThreadBuilder};
use instruction::Instruction;

/// The A64 instruction set.
pub struct AArch64;

impl Isa for AArch64 {
    fn pointer_width(&self) -> u32 {
        64
    }

    fn register(&self, name: &str) -> Option<Register> {
        let reg = registers::Reg::parse(name)?;
        Some(reg.storage().unwrap_or_else(|| reg.nowhere()))
    }

    fn spare_registers(&self) -> &'static [&'static str] {
        registers::SPARE
    }

    fn register_views(&self) -> &'static str {
        "XWxw"
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        thread.function.at(line.span);
        let mut ins = Instruction::new(line, thread)?;
        lower_by_group(&mut ins)?;
        ins.finish()
    }
}

fn lower_by_group(ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let name = ins.mnemonic.to_ascii_uppercase();
    let name = name.as_str();
    macro_rules! groups {
        ($($group:ident),* $(,)?) => {
            $(if let Some(form) = $group::decode(name) {
                return $group::lower(form, ins);
            })*
        };
    }
    groups!(
        access, exclusive, atomic, barrier, branch, data, moves, shift, multiply, bitfield,
        reverse, select,
    );
    match name {
        "NOP" => Ok(()),
        _ => Err(unknown(ins, name)),
    }
}

/// Mnemonics that exist, and that a message should not call unknown: by how they start.
const KNOWN_BUT_REFUSED: &[&str] = &[
    "ADR", "AT", "AUT", "BL", "BR", "BTI", "CASP", "CLREX", "CPY", "CRC32", "CSDB", "DC", "DGH",
    "ERET", "ESB", "HINT", "HVC", "IC", "LD1", "LD2", "LD3", "LD4", "LDAPP", "LDAXP", "LDCLRP",
    "LDG", "LDIAPP", "LDLAR", "LDSETP", "LDTR", "LDXP", "MRS", "MSR", "PAC", "PRFM", "PSSBB",
    "SET", "SEV", "SMC", "SSBB", "ST1", "ST2", "ST3", "ST4", "STG", "STILP", "STLLR", "STLP",
    "STLXP", "STTR", "STXP", "STZG", "SVC", "SWPP", "SYS", "TLBI", "UDF", "WFE", "WFI", "XPAC",
    "YIELD",
];

fn unknown(ins: &Instruction<'_, '_, '_>, name: &str) -> Diagnostic {
    let known = KNOWN_BUT_REFUSED.iter().any(|start| name.starts_with(start));
    let written = ins.mnemonic;
    let message = if known {
        format!("the AArch64 instruction '{written}' is not supported")
    } else {
        format!("unknown AArch64 instruction '{written}'")
    };
    ins.error(written, message)
}

#[cfg(test)]
mod tests {
    use super::testing::{error, lowered};
    use super::*;
    use crate::asm::Globals;
    use parallax_program::{FunctionBuilder, SourceFile, Span};
    use proptest::prelude::*;

    #[test]
    fn registers_by_name() {
        let register = |name| AArch64.register(name);
        let x3 = register("X3").unwrap();
        assert_eq!((x3.whole, x3.whole_width, x3.low, x3.width), ("X3", 64, 0, 64));
        let w30 = register("w30").unwrap();
        assert_eq!((w30.whole, w30.whole_width, w30.low, w30.width), ("X30", 64, 0, 32));
        assert_eq!(register("sp").unwrap().whole, "SP");
        for name in ["X31", "X", "X01", "Y0", "", "X-1", "Xé", "W%a"] {
            assert_eq!(register(name), None, "{name}");
        }
    }

    #[test]
    fn nop_does_nothing() {
        assert!(lowered(&["NOP", "nop"]).is_empty());
    }

    #[test]
    fn what_is_not_supported_is_named_at_its_place() {
        assert_eq!(error("FROB X1"), "1:1: unknown AArch64 instruction 'FROB'");
        assert_eq!(
            error("ldxp W0,W1,[X2]"),
            "1:1: the AArch64 instruction 'ldxp' is not supported"
        );
        assert_eq!(error("NOP X1"), "1:5: unexpected operand 'X1'");
        assert_eq!(error("LDR W0"), "1:1: LDR needs more operands");
        assert_eq!(error("LDR W0,[X1"), "1:8: unclosed '['");
        assert_eq!(error("LDR W0,,[X1]"), "1:8: an operand is missing here");
        assert_eq!(error("LDR Q0,[X1]"), "1:5: 'Q0' is not a general-purpose register");
        for name in ["MRS X0,NZCV", "DC CVAU,X0", "SVC #0", "BLR X3", "CASP X0,X1,X2,X3,[X4]"] {
            assert!(error(name).ends_with("is not supported"), "{name}");
        }
    }

    /// Text that is often almost an instruction.
    fn almost_instructions() -> impl Strategy<Value = String> {
        const WORDS: &[&str] = &[
            "LDR",
            "STXR",
            "CASAL",
            "LDADD",
            "DMB",
            "B.EQ",
            "CBZ",
            "ADD",
            "CCMP",
            "MOVK",
            "UBFX",
            "EXTR",
            "MADD",
            "CSEL",
            "LSL",
            "RBIT",
            " ",
            " ",
            " ",
            ",",
            ",",
            ",",
            "[",
            "]",
            "!",
            "#",
            "-",
            "X1",
            "W2",
            "XZR",
            "SP",
            "#1",
            "#64",
            "0x",
            "LSL #12",
            "SXTW",
            "EQ",
            "L0",
            "é",
            "18446744073709551615",
        ];
        let chosen = proptest::collection::vec(proptest::sample::select(WORDS), 1..12);
        chosen.prop_map(|words| words.concat().trim().to_string())
    }

    proptest! {
        #[test]
        fn any_text_is_an_instruction_or_an_error(text in almost_instructions()) {
            prop_assume!(!text.is_empty());
            let source = SourceFile::new("t", &text);
            let mut globals = Globals::default();
            let mut thread = ThreadBuilder {
                function: FunctionBuilder::new("P0"),
                number: 0,
                globals: &mut globals,
                source: &source,
            };
            let span = Span::new(0, text.len());
            if let Err(error) = AArch64.lower(AsmLine { text: &text, span }, &mut thread) {
                prop_assert!(error.location.is_some());
            }
        }
    }
}
