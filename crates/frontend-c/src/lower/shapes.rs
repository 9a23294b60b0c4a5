//! How people call the parts of objects: from the types that debug information describes.

use parallax_program::{Field, Shape};

use crate::llvm::{Metadata, MetadataId, Module, Name, Node, Type};

/// Types nest at most this deep, pointers apart.
const MAX_DEPTH: u32 = 30;

/// The shape of a variable (local, or global through its expression), and its bytes.
pub fn of_variable(module: &Module, variable: MetadataId) -> Option<(Shape, u64)> {
    let ty = variable_type(module, variable)?;
    Some((shape(module, ty, 0), bytes(module, ty, 0)?))
}

/// The shape of what a pointer variable points to, and its bytes; none for `void`.
pub fn of_pointee(module: &Module, variable: MetadataId) -> Option<(Shape, u64)> {
    let pointer = plain(module, variable_type(module, variable)?);
    if pointer.word("tag") != Some("DW_TAG_pointer_type") {
        return None;
    }
    let ty = module.target(pointer.field("baseType"))?;
    Some((shape(module, ty, 0), bytes(module, ty, 0)?))
}

/// How many bytes that has which a parameter of a function points to; none for `void`.
pub fn pointed_to_by_parameter(
    module: &Module,
    subprogram: MetadataId,
    number: usize,
) -> Option<u64> {
    let ty = module.target(module.node(subprogram)?.field("type"))?;
    let types = module.target(ty.field("types"))?;
    // The first is that of the result.
    let pointer = plain(module, module.target(types.items.get(number + 1))?);
    if pointer.word("tag") != Some("DW_TAG_pointer_type") {
        return None;
    }
    bytes(module, module.target(pointer.field("baseType"))?, 0)
}

/// The structure that a pointer variable points to, by the name that clang gives it.
pub fn pointee_type(module: &Module, variable: MetadataId) -> Option<Type> {
    let pointer = plain(module, variable_type(module, variable)?);
    if pointer.word("tag") != Some("DW_TAG_pointer_type") {
        return None;
    }
    let ty = module.target(pointer.field("baseType"))?;
    let structure = plain(module, ty);
    let kind = match structure.word("tag")? {
        "DW_TAG_structure_type" => "struct",
        "DW_TAG_union_type" => "union",
        _ => return None,
    };
    // One without a name is called as the type that is defined to be it.
    let name = structure.text("name").or_else(|| ty.text("name"))?;
    let name: Name = format!("{kind}.{name}").into();
    module.types.contains_key(&name).then_some(Type::Named(name))
}

pub fn variable_name(module: &Module, variable: MetadataId) -> Option<&str> {
    module.node(variable)?.text("name")
}

fn variable_type(module: &Module, variable: MetadataId) -> Option<&Node> {
    let node = module.node(variable)?;
    let variable = match node.kind.as_str() {
        "DIGlobalVariableExpression" => module.target(node.field("var"))?,
        _ => node,
    };
    module.target(variable.field("type"))
}

/// The type behind names and qualifiers.
fn plain<'m>(module: &'m Module, ty: &'m Node) -> &'m Node {
    let mut ty = ty;
    for _ in 0..MAX_DEPTH {
        let wraps = ty.kind == "DIDerivedType"
            && matches!(
                ty.word("tag"),
                Some(
                    "DW_TAG_typedef"
                        | "DW_TAG_const_type"
                        | "DW_TAG_volatile_type"
                        | "DW_TAG_atomic_type"
                        | "DW_TAG_restrict_type"
                )
            );
        match module.target(ty.field("baseType")) {
            Some(inner) if wraps => ty = inner,
            _ => return ty,
        }
    }
    ty
}

fn bytes(module: &Module, ty: &Node, depth: u32) -> Option<u64> {
    let ty = plain(module, ty);
    match ty.number("size") {
        Some(bits) => u64::try_from(bits).ok().map(|bits| bits / 8),
        None if depth < MAX_DEPTH && ty.word("tag") == Some("DW_TAG_array_type") => {
            let element = bytes(module, module.target(ty.field("baseType"))?, depth + 1)?;
            dimensions(module, ty).iter().try_fold(element, |size, count| size.checked_mul(*count))
        }
        None => None,
    }
}

fn shape(module: &Module, ty: &Node, depth: u32) -> Shape {
    let ty = plain(module, ty);
    if depth > MAX_DEPTH || ty.kind != "DICompositeType" {
        return Shape::Scalar;
    }
    match ty.word("tag") {
        Some("DW_TAG_array_type") => array(module, ty, depth).unwrap_or(Shape::Scalar),
        Some("DW_TAG_structure_type" | "DW_TAG_union_type" | "DW_TAG_class_type") => {
            let mut fields = Vec::new();
            collect_fields(module, ty, 0, depth, &mut fields);
            Shape::Struct { name: ty.text("name").unwrap_or("").to_string(), fields }
        }
        _ => Shape::Scalar,
    }
}

fn array(module: &Module, ty: &Node, depth: u32) -> Option<Shape> {
    let inner = module.target(ty.field("baseType"))?;
    let mut stride = bytes(module, inner, 0)?;
    let mut element = shape(module, inner, depth + 1);
    for count in dimensions(module, ty).into_iter().rev() {
        if stride == 0 {
            return None;
        }
        element = Shape::Array { element: Box::new(element), stride, count };
        stride = stride.checked_mul(count)?;
    }
    Some(element)
}

fn dimensions(module: &Module, ty: &Node) -> Vec<u64> {
    let Some(elements) = module.target(ty.field("elements")) else {
        return Vec::new();
    };
    let ranges = elements.items.iter().filter_map(|item| module.target(Some(item)));
    ranges.map(|range| u64::try_from(range.number("count").unwrap_or(0)).unwrap_or(0)).collect()
}

/// The members; those of a member without a name are called as if they were its owner's.
fn collect_fields(module: &Module, ty: &Node, start: u64, depth: u32, fields: &mut Vec<Field>) {
    let members = module.target(ty.field("elements")).map(|elements| elements.items.as_slice());
    for member in members.unwrap_or_default().iter().filter_map(|item| match item {
        Metadata::Id(id) => module.node(*id),
        _ => None,
    }) {
        let Some(inner) = module.target(member.field("baseType")) else {
            continue;
        };
        let bits = |name| u64::try_from(member.number(name).unwrap_or(0)).unwrap_or(0);
        let offset = start + bits("offset") / 8;
        match member.text("name") {
            Some(name) if !name.is_empty() => fields.push(Field {
                name: name.to_string(),
                offset,
                size: bits("size").div_ceil(8),
                shape: shape(module, inner, depth + 1),
            }),
            _ if depth < MAX_DEPTH => {
                collect_fields(module, plain(module, inner), offset, depth + 1, fields);
            }
            _ => {}
        }
    }
}
