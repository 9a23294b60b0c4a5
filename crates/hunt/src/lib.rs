//! A hunt for wrong answers: random concurrent programs are given to every engine, and who disagrees
//! is wrong.
//!
//! [`generate`] makes small programs ([`ast`]) that are printed as C ([`print_c`]) and, where that
//! can be, as litmus tests ([`print_litmus`]), and compiled to machine code ([`subject`]); [`plan`]
//! says which engines are asked ([`ask`]) and which answers are compared ([`check`]); a program that
//! shows a disagreement is made small ([`shrink`]) and kept ([`hunt`]). The idea is that of differential
//! testing (W. McKeeman, Differential testing for software, 1998; X. Yang et al., Finding and
//! understanding bugs in C compilers, PLDI 2011).

pub mod ask;
pub mod ast;
pub mod check;
pub mod features;
pub mod figures;
pub mod finals;
pub mod generate;
pub mod hunt;
pub mod plan;
pub mod print_c;
pub mod print_litmus;
pub mod query;
pub mod random;
pub mod shapes;
pub mod shrink;
pub mod subject;
