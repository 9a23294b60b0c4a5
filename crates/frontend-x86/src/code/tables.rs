//! Where an indirect jump may lead. Compilers put the targets of a `switch` into a table: words
//! with their addresses, or (in code that may lie anywhere) halves of words with the distances
//! from the table. Instead of following the computation, all tables are read that the code before
//! the jump refers to; at run time the real target is looked up among what was found.

use std::collections::BTreeSet;
use std::ops::Range;

use iced_x86::{Instruction, OpKind, Register};

use crate::elf::Image;

/// Larger tables are cut.
const MOST: u64 = 2048;

/// The addresses within `code` that a jump may lead to, given instructions of the function.
pub fn targets<'a>(
    image: &Image,
    code: &Range<u64>,
    instructions: impl Iterator<Item = &'a Instruction>,
) -> BTreeSet<u64> {
    let mut found: BTreeSet<u64> = image.pointers.range(code.clone()).copied().collect();
    for table in instructions.flat_map(constants).collect::<BTreeSet<u64>>() {
        if code.contains(&table) {
            found.insert(table);
        }
        let absolute = |number| image.number(table.wrapping_add(8 * number), 8);
        let relative = |number| {
            let distance = image.number(table.wrapping_add(4 * number), 4)?;
            Some(table.wrapping_add(distance as u32 as i32 as i64 as u64))
        };
        found.extend((0..MOST).map_while(absolute).take_while(|target| code.contains(target)));
        found.extend((0..MOST).map_while(relative).take_while(|target| code.contains(target)));
    }
    found
}

/// The constants in an instruction that may be addresses.
pub fn constants(instruction: &Instruction) -> Vec<u64> {
    let mut found = Vec::new();
    for operand in 0..instruction.op_count() {
        match instruction.op_kind(operand) {
            OpKind::Memory => {
                let fixed = instruction.segment_prefix() == Register::None;
                found.extend(fixed.then(|| instruction.memory_displacement64()));
            }
            OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64 => {
                found.push(instruction.immediate(operand));
            }
            _ => {}
        }
    }
    found
}
