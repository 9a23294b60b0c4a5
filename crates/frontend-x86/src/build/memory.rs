//! The memory of a program at its start, as globals.

use parallax_program::{Cell, Expr, Field, Global, Shape};

use crate::elf::{Image, Region};

/// Each region is a global at its address, whose parts are called as the symbols are.
pub fn globals(image: &Image) -> Vec<Global> {
    let mut globals: Vec<Global> = Vec::with_capacity(image.regions.len());
    for region in &image.regions {
        let mut name = region.name.clone();
        while globals.iter().any(|known| known.name == name) {
            name.push('\'');
        }
        globals.push(Global {
            name,
            size: region.size,
            align: 1,
            init: cells(&region.data),
            shape: shape(image, region),
            constant: !region.writable,
            address: Some(region.address),
        });
    }
    globals
}

/// Words that are not zero.
fn cells(data: &[u8]) -> Vec<Cell> {
    let words = data.chunks(8).enumerate().map(|(number, bytes)| {
        let value = bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte));
        (number as u64 * 8, 8 * bytes.len() as u32, value)
    });
    let filled = words.filter(|(_, _, value)| *value != 0);
    let cell = |(offset, width, value)| Cell { offset, width, value: Expr::constant(width, value) };
    filled.map(cell).collect()
}

fn shape(image: &Image, region: &Region) -> Option<Shape> {
    let objects = image.symbols.objects.range(region.address..region.end());
    let fields: Vec<Field> = objects
        .map(|(address, named)| Field {
            name: named.name.clone(),
            offset: address - region.address,
            size: named.size.max(1),
            shape: Shape::Scalar,
        })
        .collect();
    (!fields.is_empty()).then(|| Shape::Struct { name: region.name.clone(), fields })
}
