//! A picture for terminals: threads as columns, and the relations that program order does not
//! show listed below by the letters of the events.

use parallax_verdict::Execution;

use super::scene::{Arrow, Cell, Node, Scene};
use crate::state::state_line;

const GAP: &str = "   ";

/// Several lines, each with its end.
pub fn sketch(execution: &Execution) -> String {
    let scene = Scene::new(execution);
    let mut grid = vec![vec![String::new(); scene.columns.len()]; 2 * scene.rows() + 1];
    if let Some(headers) = grid.first_mut() {
        headers.clone_from(&scene.columns);
    }
    for node in &scene.nodes {
        if let Cell::Thread { column, row } = node.place {
            grid[2 * row + 1][column] = node.label();
            grid[2 * row + 2][column] = indented_detail(node);
        }
    }
    let mut lines = grid_lines(&grid);
    let relations = relation_lines(&scene);
    if !relations.is_empty() {
        lines.push(String::new());
        lines.extend(relations);
    }
    let state = state_line(&execution.final_state);
    if !state.is_empty() {
        lines.push(format!("end  {state}"));
    }
    lines
        .iter()
        .map(|line| match line.trim_end() {
            "" => "\n".to_string(),
            line => format!("  {line}\n"),
        })
        .collect()
}

fn indented_detail(node: &Node) -> String {
    if node.detail.is_empty() {
        String::new()
    } else {
        let indent = " ".repeat(node.name.chars().count() + 2);
        format!("{indent}{}", super::layout::detail_text(&node.detail))
    }
}

/// Columns side by side; rows that are empty in all of them are left out.
fn grid_lines(grid: &[Vec<String>]) -> Vec<String> {
    let columns = grid.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = grid.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    grid.iter()
        .filter(|row| row.iter().any(|cell| !cell.is_empty()))
        .map(|row| {
            let cells = row.iter().zip(&widths);
            let cells: Vec<String> = cells
                .map(|(cell, width)| {
                    let fill = width - cell.chars().count().min(*width);
                    format!("{cell}{}", " ".repeat(fill))
                })
                .collect();
            cells.join(GAP)
        })
        .collect()
}

fn relation_lines(scene: &Scene) -> Vec<String> {
    let name_width = scene.relations.iter().map(|r| r.name.chars().count());
    let name_width = name_width.max().unwrap_or(0).max(3);
    let mut lines = Vec::new();
    for (number, relation) in scene.relations.iter().enumerate() {
        let arrows = scene.arrows.iter().filter(|arrow| {
            arrow.relations.contains(&number)
                && !(relation.name == "po" && is_next_row(scene, arrow))
        });
        let name = |node: usize| scene.nodes[node].name.as_str();
        let pairs: Vec<String> =
            arrows.map(|arrow| format!("{} → {}", name(arrow.from), name(arrow.to))).collect();
        if !pairs.is_empty() {
            let fill = " ".repeat(name_width - relation.name.chars().count());
            lines.push(format!("{}{fill}  {}", relation.name, pairs.join(", ")));
        }
    }
    lines
}

/// Whether the columns already show the arrow.
fn is_next_row(scene: &Scene, arrow: &Arrow) -> bool {
    let place = |node: usize| scene.nodes[node].place;
    match (place(arrow.from), place(arrow.to)) {
        (Cell::Thread { column: a, row: r }, Cell::Thread { column: b, row: s }) => {
            a == b && s == r + 1
        }
        _ => false,
    }
}
