//! The tests of the command. Those that take long are programs of their own, to be run by themselves.
//! In one program, so that all of them are linked once.

mod answers;
mod architecture;
mod batch;
mod checkpoint;
mod cluster;
mod corners;
mod corpus;
mod debug;
mod endless;
mod errors;
mod expect;
mod fences;
mod help;
mod inductive;
mod json_errors;
mod languages;
mod large;
mod layout;
mod library;
mod limits;
mod locks;
mod schema;
mod security;
mod silence;
mod solvers;
mod sources;
mod support;
mod svcomp;
mod tasks;
mod user_models;
mod vacuity;
mod verify;
mod witnesses;
