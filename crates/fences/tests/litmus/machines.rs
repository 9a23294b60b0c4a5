//! The repertoires of machines: fences, and accesses with orders of their own.

use crate::support::{Way, model, prepared, repaired};
use parallax_fences::{Plan, Repair};

const MP: &str = "AArch64 MP\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0          | P1          ;
 MOV W0,#1   | LDR W0,[X1] ;
 STR W0,[X1] | LDR W2,[X3] ;
 STR W0,[X3] |             ;
exists (1:X0=1 /\\ 1:X2=0)
";

#[test]
fn message_passing_needs_a_release_and_an_acquire() {
    let (changes, cost) = repaired(MP, "aarch64", Repair::Orders);
    assert_eq!(changes, ["4: ldr -> ldapr", "6: str -> stlr"]);
    assert_eq!(cost, (0, 2));
    assert_eq!(repaired(MP, "aarch64", Repair::Both).1, (2, 2));
}

/// Store buffering needs the stronger of the two loads.
#[test]
fn store_buffering_needs_more() {
    let text = "AArch64 SB\n{ 0:X1=x; 0:X3=y; 0:X0=1; 1:X1=y; 1:X3=x; 1:X0=1; }
 P0          | P1          ;
 STR W0,[X1] | STR W0,[X1] ;
 LDR W2,[X3] | LDR W2,[X3] ;
exists (0:X2=0 /\\ 1:X2=0)
";
    let (changes, cost) = repaired(text, "aarch64", Repair::Orders);
    let expected = ["4: str -> stlr", "4: str -> stlr", "5: ldr -> ldar", "5: ldr -> ldar"];
    assert_eq!(changes, expected);
    assert_eq!(cost, (0, 6));
}

#[test]
fn atomic_operations_of_risc_v_have_orders() {
    let text = "RISCV MP\n{ 0:x6=x; 0:x7=y; 0:x5=1; 1:x6=y; 1:x7=x; }
 P0                  | P1                 ;
 sw x5,0(x6)         | amoor.w x5,x0,(x6) ;
 amoswap.w x0,x5,(x7)| lw x8,0(x7)        ;
exists (1:x5=1 /\\ 1:x8=0)
";
    let (changes, cost) = repaired(text, "riscv", Repair::Orders);
    assert_eq!(changes, ["4: amo -> amo.aq", "5: amo -> amo.rl"]);
    assert_eq!(cost, (0, 2));
}

/// What is written is an instruction again.
#[test]
fn names_of_instructions_are_rewritten() {
    let model = model("aarch64");
    let (prepared, _) = prepared(MP, &model, &Way::usual("aarch64", Repair::Orders));
    let strongest: Plan = prepared.decisions.strongest();
    let text = &prepared.texts(&strongest)[0];
    assert_eq!(
        (text.matches("STLR W0,[X").count(), text.matches("LDAR W").count()),
        (2, 2),
        "{text}"
    );
}

#[test]
fn what_is_too_strong_is_relaxed() {
    let text = MP.replace("STR", "STLR").replace("LDR", "LDAR");
    let (changes, cost) = repaired(&text, "aarch64", Repair::Relax);
    assert_eq!(changes, ["4: ldar -> ldapr", "5: stlr -> str", "5: ldar -> ldr"]);
    assert_eq!(cost, (0, 2));
}

#[test]
fn the_kernel_has_fences() {
    let text = "C MP\n{}\n
P0(int *x, int *y) {
  WRITE_ONCE(*x, 1);
  WRITE_ONCE(*y, 1);
}
P1(int *x, int *y) {
  int r0 = READ_ONCE(*y);
  int r1 = READ_ONCE(*x);
}
exists (1:r0=1 /\\ 1:r1=0)
";
    let (changes, cost) = repaired(text, "lkmm", Repair::Fences);
    assert_eq!(changes, ["6: none -> smp_wmb", "10: none -> smp_rmb"]);
    assert_eq!(cost, (2, 2));
}
