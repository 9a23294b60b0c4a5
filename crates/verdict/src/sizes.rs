//! Accesses of several sizes to the same bytes.

use parallax_memory::Model;
use parallax_program::{Diagnostic, InstKind, Program};

/// The bytes of the smallest access of a program, into which larger ones are cut where accesses of
/// different sizes overlap. The error is a model that does not describe that.
pub fn smallest_access(program: &Program, model: &Model) -> Result<u32, Diagnostic> {
    if !model.knows_sizes() {
        let message = format!(
            "accesses of different sizes overlap, and model '{}' does not describe that",
            model.name()
        );
        let help = "a model that does relates the parts of an access by 'si'";
        return Err(Diagnostic::new(message).with_help(help));
    }
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let sizes = blocks.flat_map(|block| &block.insts).filter_map(|inst| match &inst.kind {
        InstKind::Load { size, .. }
        | InstKind::Store { size, .. }
        | InstKind::Rmw { size, .. }
        | InstKind::Cas { size, .. }
        | InstKind::LoadLinked { size, .. }
        | InstKind::StoreConditional { size, .. } => Some(size.bytes()),
        _ => None,
    });
    Ok(sizes.min().unwrap_or(1))
}
