//! Damaged tests are errors with places in the file, or still tests: never a panic.

use parallax_frontend_litmus::parse;
use proptest::prelude::*;

const TESTS: &[&str] = &[
    "X86 SB\n\"doc\"\nKey=value\n{ int x[2]={1,2}; y=&x; 0:EAX=-3 }\n P0 | P1 ;\n \
     L: MOV [y],$1 | lock ; XADD [y],EBX ; (* c *)\n JNE L | CMPXCHG [EAX+4],EBX ;\n\
     locations [x; int y;] filter (y=1)\nexists (0:EAX=x /\\ not (x[1]=2) \\/ y<>0x10)\n<<\n",
    "X86_64 A\n{ uint64_t x; 0:rax=x }\n P0 ;\n movq $1,8(%rax,%rbx,4) ;\n \
     lock orl $3,(x) ;\n setnb %ah ;\n~exists ([x]=-1)\n",
    "AArch64 B\n{ 0:X1=x; 1:X1=x+4 }\n P0 | P1 ;\n STR W0,[X1] | LDAR W0,[X1] ;\n\
     forall (1:X0=1 => x=1)\n",
    "RISCV D\n{ 0:x6=x; }\n P0 ;\n amoadd.w.aq x5,x7,(x6) ;\n fence rw,w ;\n\
     observed x=1; 0:x5=2; and x=2;\n",
    "PPC E\n{ 0:r2=x; }\n P0 ;\n lwarx r1,r0,r2 ;\n stwcx. r1,r0,r2 ;\n bne E ;\n E: ;\n\
     exists (0:r1=0)\n",
    "C F\n{ atomic_int x = ATOMIC_INIT(1); }\nP0(int *x, atomic_int *y) {\n  int r0 = *x;\n  \
     if (r0) { atomic_store_explicit(y, 1, memory_order_release); } // c\n}\n\
     exists (0:r0=1)\n",
    "C G\n{}\nP0(int *x) {\n  int r0 = READ_ONCE(*x);\n  smp_mb(); /* c */\n}\nexists (0:r0=1)\n",
];

/// One way of damaging a text.
#[derive(Clone, Debug)]
enum Damage {
    Cut(usize, usize),
    Insert(usize, String),
    Repeat(usize, usize, usize),
    Truncate(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0usize..400;
    prop_oneof![
        (at.clone(), 0usize..12).prop_map(|(at, n)| Damage::Cut(at, n)),
        (at.clone(), "[ -~\n\u{e9}\u{1F600}]{1,6}").prop_map(|(at, s)| Damage::Insert(at, s)),
        (at.clone(), at.clone(), 1usize..20).prop_map(|(to, at, n)| Damage::Repeat(to, at, n)),
        at.prop_map(Damage::Truncate),
    ]
}

fn damaged(text: &str, damage: &Damage) -> String {
    let letters: Vec<char> = text.chars().collect();
    let part = |from: usize, to: usize| -> String {
        letters.iter().skip(from).take(to.saturating_sub(from)).collect()
    };
    let end = letters.len();
    match damage {
        Damage::Cut(at, n) => part(0, *at) + &part(at + n, end),
        Damage::Insert(at, new) => part(0, *at) + new + &part(*at, end),
        Damage::Repeat(to, at, n) => part(0, *to) + &part(*at, at + n) + &part(*to, end),
        Damage::Truncate(at) => part(0, *at),
    }
}

/// Reads a text; all errors must lie in it and print.
fn check(text: &str) {
    let Err(errors) = parse("t.litmus", text) else {
        return;
    };
    assert!(!errors.is_empty());
    for error in errors {
        let at = error.location.as_ref().expect("a place");
        assert!(at.line as usize <= text.split('\n').count());
        assert!(error.to_string().starts_with("t.litmus:"));
    }
}

#[test]
fn every_prefix_is_read() {
    for text in TESTS {
        for (at, _) in text.char_indices() {
            check(&text[..at]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_tests_are_read(
        which in 0..TESTS.len(),
        damages in prop::collection::vec(damage(), 1..5),
    ) {
        let text = damages.iter().fold(TESTS[which].to_string(), |text, d| damaged(&text, d));
        check(&text);
    }

    #[test]
    fn any_text_is_read(text in "(X86|X86_64|AArch64|ARM|PPC|RISCV|C) T\n\\{[ -~\n]{0,40}\\}\n[ -~\n]{0,120}") {
        check(&text);
    }
}
