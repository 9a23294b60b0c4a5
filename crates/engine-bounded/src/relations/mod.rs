//! The relations of a memory model over guarded events.
//!
//! A pair is in a relation where both events happen and a literal holds. Which literal that is
//! follows from the model's formula; before any is made, [`bounds`] says which pairs can be in a
//! relation at all, and which are in it wherever both events happen (N. Gavrilenko et al., BMC for
//! weak memory models: relation analysis for compact SMT encodings, CAV 2019; T. Haas, R. Meyer,
//! H. Ponce de León, CAAT: consistency as a theory, OOPSLA 2022). Literals are made only for what
//! lies between the two, and only for pairs that some axiom asks about.

pub mod axioms;
pub mod bounds;
pub mod literals;
