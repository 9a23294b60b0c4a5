//! Symbolic registers: a test with `%y` in it is the test with a free register in its place.

use parallax_frontend_litmus::parse;
use proptest::prelude::*;

/// The program and the question as text, or the messages of the errors.
fn read(text: &str) -> Result<(String, String), Vec<String>> {
    let test = parse("t.litmus", text);
    let test = test.map_err(|errors| {
        let messages = errors.iter().map(ToString::to_string);
        messages.collect::<Vec<_>>()
    })?;
    Ok((test.program.to_string(), test.question.text))
}

fn same(symbolic: &str, real: &str) {
    assert_eq!(read(symbolic), read(real), "{symbolic}");
    assert!(read(real).is_ok(), "{real}");
}

#[test]
fn the_first_free_registers_in_the_order_of_the_names() {
    same(
        "ARM t\n{ %x=x; 0:R0=1; }\n P0 ;\n STR R0,[%x] ;\n LDR %a,[%x] ;\nexists (%a=1)",
        "ARM t\n{ 0:R2=x; 0:R0=1; }\n P0 ;\n STR R0,[R2] ;\n LDR R1,[R2] ;\nexists (0:R1=1)",
    );
    same(
        "PPC t\n{ 0:%x=x; }\n P0 ;\n lwz %r1,0(%x) ;\nexists (0:%r1=1)",
        "PPC t\n{ 0:r2=x; }\n P0 ;\n lwz r1,0(r2) ;\nexists (0:r1=1)",
    );
    same(
        "RISCV t\n{ %x=x; }\n P0 ;\n lw %a,0(%x) ;\nexists (%a=1)",
        "RISCV t\n{ 0:x2=x; }\n P0 ;\n lw x1,0(x2) ;\nexists (0:x1=1)",
    );
    same(
        "X86 t\n{ }\n P0 ;\n MOV %a,[x] ;\n MOV EBX,%a ;\nexists (%a=1)",
        "X86 t\n{ }\n P0 ;\n MOV EAX,[x] ;\n MOV EBX,EAX ;\nexists (0:EAX=1)",
    );
}

#[test]
fn halves_of_symbolic_registers() {
    same(
        "AArch64 t\n{ uint64_t %v=1; %x=x; }\n P0 ;\n STR W%v,[X%x] ;\n LDR %w,[%x] ;\n\
         locations [%x] exists (%w=%v)",
        "AArch64 t\n{ uint64_t 0:X0=1; 0:X2=x; }\n P0 ;\n STR W0,[X2] ;\n LDR X1,[X2] ;\n\
         locations [0:X2] exists (0:X1=0:X0)",
    );
}

#[test]
fn registers_of_the_condition_are_not_free() {
    same(
        "AArch64 t\n{ }\n P0 ;\n MOV %a,#1 ;\nfilter (0:X1=0) exists (%a=1 /\\ 0:X0=0)",
        "AArch64 t\n{ }\n P0 ;\n MOV X2,#1 ;\nfilter (0:X1=0) exists (0:X2=1 /\\ 0:X0=0)",
    );
}

#[test]
fn each_thread_has_its_own() {
    same(
        "AArch64 t\n{ %x=x; 1:%p=x; }\n P0 | P1 ;\n STR WZR,[%x] | LDR W%x1,[%p] ;\nexists (%x1=0)",
        "AArch64 t\n{ 0:X0=x; 1:X0=x; }\n P0 | P1 ;\n STR WZR,[X0] | LDR W1,[X0] ;\n\
         exists (1:X1=0)",
    );
}

#[test]
fn what_cannot_be_resolved() {
    let error = |text: &str| read(text).expect_err(text).join("\n");
    let cases = [
        (
            "PPC t\n{ %x=x; }\n P0 ;\n nop ;\nexists (true)",
            "t.litmus:2:3: error: the symbolic register '%x' is not in the code",
        ),
        (
            "PPC t\n{ }\n P0 | P1 ;\n li %a,1 | li %a,2 ;\nexists (%a=1)",
            "t.litmus:5:9: error: the symbolic register '%a' is in the code of P0 and of P1",
        ),
        (
            "X86_64 t\n{ }\n P0 ;\n movl %exa,(x) ;\nexists (true)",
            "t.litmus:4:7: error: expected a register, a number or memory, found `%exa`",
        ),
        (
            "PPC t\n{ }\n P0 ;\n li %a,%b ;\nexists (true)",
            "t.litmus:4:2: error: expected an integer, found `r2`",
        ),
    ];
    for (text, message) in cases {
        assert!(error(text).starts_with(message), "{}", error(text));
    }
    let many: String = (0..32).map(|n| format!(" li %a{n},1 ;\n")).collect();
    let full = error(&format!("PPC t\n{{ }}\n P0 ;\n{many}exists (true)"));
    assert!(full.contains("P0 has no registers left"), "{full}");
}

proptest! {
    /// Whatever stands around the sign, there is an answer or an error.
    #[test]
    fn no_text_is_too_strange(cell in "[%XWxwé0-9a ,\\[\\].-]{0,20}") {
        for arch in ["AArch64", "RISCV", "PPC", "ARM", "X86", "X86_64"] {
            let _ = parse("t", &format!("{arch} t\n{{ }}\n P0 ;\n MOV {cell} ;\nexists (%a=1)"));
        }
    }
}
