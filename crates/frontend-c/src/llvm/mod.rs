//! Reads LLVM's textual form (`.ll`) into plain data, metadata included.
//!
//! Only what lowering needs is kept: attributes that say nothing of a program's meaning are
//! passed over, and an instruction that is not known is kept by name, since it matters only
//! where it is reached. Modules of LLVM 15 and later can be read.

mod cursor;
mod instructions;
mod metadata;
mod module;
mod operations;
mod parser;
mod token;
mod types;
mod values;

pub use metadata::{Metadata, MetadataId, Node};
pub use module::*;
pub use parser::parse;
