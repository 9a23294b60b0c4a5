//! Pictures in the DOT language, for people who lay out with Graphviz.

use std::fmt::{self, Write};

use parallax_program::is_obeyed;
use parallax_verdict::Execution;

use super::Caption;
use super::scene::{Cell, Node, NodeKind, Scene};
use crate::state::state_line;

/// The execution as a DOT digraph: a cluster for each thread.
pub fn dot(execution: &Execution, caption: Caption<'_>) -> String {
    let final_state = state_line(&execution.final_state);
    write_scene(&Scene::new(execution), &[caption.title, caption.subtitle, &final_state])
}

/// Writes a scene below a heading of several lines.
pub fn write_scene(scene: &Scene, heading: &[&str]) -> String {
    let lines: Vec<&str> = heading.iter().copied().filter(|line| !line.is_empty()).collect();
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_graph(&mut out, scene, &lines);
    out
}

fn write_graph(out: &mut String, scene: &Scene, heading: &[&str]) -> fmt::Result {
    writeln!(out, "digraph execution {{")?;
    writeln!(out, "  label={}; labelloc=t;", quoted(heading))?;
    writeln!(out, "  splines=spline; nodesep=0.7; ranksep=0.6;")?;
    writeln!(out, "  node [shape=box, style=\"rounded,filled\", fillcolor=white];")?;
    let initial = scene.nodes.iter().enumerate();
    let initial = initial.filter(|(_, node)| node.place == Cell::Initial);
    for (number, node) in initial {
        write_node(out, "  ", number, node)?;
    }
    for (column, name) in scene.columns.iter().enumerate() {
        writeln!(out, "  subgraph cluster_{column} {{")?;
        writeln!(out, "    label={}; color=gray80;", quoted(&[name]))?;
        for (number, node) in scene.nodes.iter().enumerate() {
            if matches!(node.place, Cell::Thread { column: c, .. } if c == column) {
                write_node(out, "    ", number, node)?;
            }
        }
        writeln!(out, "  }}")?;
    }
    write_arrows(out, scene)?;
    writeln!(out, "}}")
}

fn write_node(out: &mut String, indent: &str, number: usize, node: &Node) -> fmt::Result {
    let label = node.label();
    let lines = [label.as_str(), node.detail.as_str()];
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let style = match node.kind {
        NodeKind::Initial => ", style=\"rounded,dashed\"",
        NodeKind::Read => ", fillcolor=\"#fff6e9\"",
        NodeKind::Write => ", fillcolor=\"#eaf2fd\"",
        NodeKind::Fence => ", fillcolor=\"#eceef0\"",
        NodeKind::Standing => ", fillcolor=\"#fdecea\"",
    };
    let mark = if node.involved { ", color=\"#c62828\", penwidth=2.6" } else { "" };
    writeln!(out, "{indent}n{number} [label={}{style}{mark}];", quoted(&lines))
}

fn write_arrows(out: &mut String, scene: &Scene) -> fmt::Result {
    for (above, below) in &scene.ties {
        writeln!(out, "  n{above} -> n{below} [dir=none, color=gray75, weight=8];")?;
    }
    for arrow in &scene.arrows {
        let label = scene.arrow_label(arrow);
        let first = arrow.relations.first().and_then(|r| scene.relations.get(*r));
        let colour = first.map_or("black", |relation| relation.style.colour);
        let dashed = first.is_some_and(|relation| !relation.style.dash.is_empty());
        let style = if dashed { ", style=dashed" } else { "" };
        // Only program order shapes the columns.
        let shape = if label == "po" { "weight=8" } else { "constraint=false" };
        writeln!(
            out,
            "  n{} -> n{} [label={}, color=\"{colour}\", fontcolor=\"{colour}\"{style}, {shape}];",
            arrow.from,
            arrow.to,
            quoted(&[&label]),
        )?;
    }
    Ok(())
}

/// A DOT string of several lines.
fn quoted(lines: &[&str]) -> String {
    let escaped: Vec<String> = lines
        .iter()
        .map(|line| {
            let line = line.replace('\\', "\\\\").replace('"', "\\\"");
            line.replace(is_obeyed, " ")
        })
        .collect();
    format!("\"{}\"", escaped.join("\\n"))
}
