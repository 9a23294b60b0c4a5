//! Witnesses in format 1.0. An automaton may have many ways to its violation; the shortest one is
//! taken, and where there are others, that is said.

use std::collections::{HashMap, HashSet, VecDeque};

use parallax_frontend_c::DataModel;
use parallax_program::{Diagnostic, SourceFile, Span};
use roxmltree::{Document, Node, ParsingOptions};

use super::{Kind, Waypoint, What, Witness, formulas};

/// No witness has more nodes of XML.
const MOST_NODES: u32 = 10_000_000;

pub fn parse(name: &str, text: &str) -> Result<Witness, Diagnostic> {
    let source = SourceFile::new(name, text);
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let place = error.pos();
        let span = source.span_at(0, place.row, place.col.max(1));
        source.error(Span::new(span.start as usize, span.start as usize + 1), format!("{error}"))
    })?;
    let graph = document.descendants().find(|node| node.has_tag_name_of("graph"));
    let Some(graph) = graph else {
        return Err(source.error(Span::new(0, 0), "there is no graph in it"));
    };
    let reader = Reader { source: &source, graph };
    reader.witness()
}

trait Named {
    fn has_tag_name_of(&self, name: &str) -> bool;
    fn data(&self, key: &str) -> Option<String>;
}

impl Named for Node<'_, '_> {
    /// Whatever its name space.
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.tag_name().name() == name
    }

    /// The text of its own data of that kind.
    fn data(&self, key: &str) -> Option<String> {
        let data = self.children().filter(|child| child.has_tag_name_of("data"));
        let mut found = data.filter(|data| data.attribute("key") == Some(key));
        found.next().map(|data| data.text().unwrap_or("").trim().to_string())
    }
}

struct Reader<'s, 'x> {
    source: &'s SourceFile,
    graph: Node<'x, 'x>,
}

impl<'x> Reader<'_, 'x> {
    fn error(&self, node: Node<'_, '_>, message: &str) -> Diagnostic {
        let start = node.range().start;
        self.source.error(Span::new(start, start + 1), message)
    }

    fn needed(&self, key: &str) -> Result<String, Diagnostic> {
        let missing = || self.error(self.graph, &format!("the graph has no '{key}'"));
        self.graph.data(key).ok_or_else(missing)
    }

    fn witness(&self) -> Result<Witness, Diagnostic> {
        let kind = match self.needed("witness-type")?.as_str() {
            "violation_witness" => Kind::Violation,
            "correctness_witness" => {
                let nodes = self.nodes("node");
                Kind::Correctness(nodes.filter(|node| node.data("invariant").is_some()).count())
            }
            _ => return Err(self.error(self.graph, "it witnesses neither violation nor safety")),
        };
        let specification = self.needed("specification")?;
        let formulas = formulas(&specification);
        let hashes = vec![(self.needed("programfile")?, self.needed("programhash")?)];
        let data_model = match self.needed("architecture")?.as_str() {
            "32bit" => Some(DataModel::Ilp32),
            "64bit" => Some(DataModel::Lp64),
            _ => None,
        };
        let (path, is_only) = match kind {
            Kind::Violation => self.path()?,
            Kind::Correctness(_) => (Vec::new(), true),
        };
        let mut ignored = Vec::new();
        if !is_only {
            ignored.push("other ways of the automaton".to_string());
        }
        let mut waypoints = Vec::new();
        for edge in path {
            waypoints.extend(self.waypoints(edge, &mut ignored)?);
        }
        let is_race = specification.contains("data-race");
        let count = if is_race { 2 } else { 1 };
        let targets = waypoints.split_off(waypoints.len().saturating_sub(count));
        let targets = targets.into_iter().map(|target| Waypoint { what: What::Visit, ..target });
        let targets = targets.collect();
        Ok(Witness { kind, hashes, formulas, data_model, waypoints, targets, ignored })
    }

    fn nodes(&self, name: &'static str) -> impl Iterator<Item = Node<'x, 'x>> {
        self.graph.children().filter(move |node| node.has_tag_name_of(name))
    }

    /// The shortest way from the entry to a violation, and whether there is no other.
    fn path(&self) -> Result<(Vec<Node<'x, 'x>>, bool), Diagnostic> {
        let is = |node: &Node<'x, 'x>, key: &str| node.data(key).as_deref() == Some("true");
        let id = |node: Node<'x, 'x>| node.attribute("id").unwrap_or("");
        let entries: Vec<Node<'x, 'x>> = self.nodes("node").filter(|n| is(n, "entry")).collect();
        let [entry] = entries[..] else {
            return Err(self.error(self.graph, "there is to be one node that is the entry"));
        };
        let bad: HashSet<&str> =
            self.nodes("node").filter(|n| is(n, "violation")).map(id).collect();
        let sinks: HashSet<&str> = self.nodes("node").filter(|n| is(n, "sink")).map(id).collect();
        let mut edges: HashMap<&str, Vec<Node<'x, 'x>>> = HashMap::new();
        for edge in self.nodes("edge") {
            let (Some(from), Some(to)) = (edge.attribute("source"), edge.attribute("target"))
            else {
                return Err(self.error(edge, "an edge has a source and a target"));
            };
            if !sinks.contains(to) && from != to {
                edges.entry(from).or_default().push(edge);
            }
        }
        let is_only = edges.values().all(|edges| edges.len() <= 1) && bad.len() == 1;
        let mut came: HashMap<&str, Node<'x, 'x>> = HashMap::new();
        let mut queue = VecDeque::from([id(entry)]);
        while let Some(node) = queue.pop_front() {
            if bad.contains(node) {
                let mut path = Vec::new();
                let mut at = node;
                while at != id(entry) {
                    let Some(edge) = came.get(at) else { break };
                    path.push(*edge);
                    at = edge.attribute("source").unwrap_or("");
                }
                path.reverse();
                return Ok((path, is_only));
            }
            for edge in edges.get(node).into_iter().flatten() {
                let to = edge.attribute("target").unwrap_or("");
                if to != id(entry) && !came.contains_key(to) {
                    came.insert(to, *edge);
                    queue.push_back(to);
                }
            }
        }
        Err(self.error(self.graph, "no way leads from the entry to a violation"))
    }

    /// What an edge says: nothing where it has no line.
    fn waypoints(
        &self,
        edge: Node<'x, 'x>,
        ignored: &mut Vec<String>,
    ) -> Result<Vec<Waypoint>, Diagnostic> {
        let Some(line) = edge.data("startline") else { return Ok(Vec::new()) };
        let Some(line) = line.parse::<u32>().ok().filter(|line| *line > 0) else {
            return Err(self.error(edge, "expected a line, from 1"));
        };
        if edge.data("control").is_some() {
            ignored.push(format!("which way the branch in line {line} goes"));
        }
        let thread = edge.data("threadId");
        let waypoint = |what| Waypoint { thread: thread.clone(), line, function: None, what };
        let assumption = edge.data("assumption").unwrap_or_default();
        let parts = assumption.split(';').map(str::trim).filter(|part| !part.is_empty());
        let parts: Vec<Waypoint> = parts
            .map(|part| match part.contains("\\result") {
                true => waypoint(What::Returns(part.to_string())),
                false => {
                    // It holds after the step, where the program has gone on.
                    ignored.push(format!("'{part}' after line {line}"));
                    waypoint(What::Visit)
                }
            })
            .collect();
        Ok(if parts.is_empty() { vec![waypoint(What::Visit)] } else { parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(edges: &str) -> String {
        let data = [
            ("witness-type", "violation_witness"),
            ("specification", "CHECK( init(main()), LTL(G ! call(reach_error())) )"),
            ("programfile", "a.c"),
            ("programhash", "00ff"),
            ("architecture", "64bit"),
        ];
        let data = data.map(|(key, value)| format!("<data key=\"{key}\">{value}</data>"));
        format!(
            "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
             <graph>\n{}\n<node id=\"a\"><data key=\"entry\">true</data></node>\n<node id=\"b\"/>\n\
             <node id=\"c\"><data key=\"violation\">true</data></node>\n{edges}\n</graph></graphml>",
            data.concat()
        )
    }

    #[test]
    fn paths_are_read() {
        let text = witness(
            "<edge source=\"a\" target=\"b\"><data key=\"startline\">4</data>\
             <data key=\"threadId\">0</data><data key=\"assumption\">\\result == 3;</data></edge>\
             <edge source=\"b\" target=\"c\"><data key=\"startline\">9</data></edge>",
        );
        let witness = parse("w", &text).expect("a witness");
        assert_eq!(witness.waypoints[0].what, What::Returns("\\result == 3".to_string()));
        assert_eq!(witness.targets[0].line, 9);
        assert!(witness.ignored.is_empty(), "{:?}", witness.ignored);
    }

    #[test]
    fn bad_graphs_are_errors_with_a_place() {
        let wrong = |text: &str| parse("w", text).expect_err("an error").to_string();
        assert!(wrong("<graphml/>").contains("no graph"));
        assert!(wrong("<graphml>\n<graph></x>").starts_with("w:2:"));
        assert!(wrong(&witness("")).contains("no way leads"));
        let cycle = "<edge source=\"a\" target=\"b\"/><edge source=\"b\" target=\"a\"/>";
        assert!(wrong(&witness(cycle)).contains("no way leads"));
        assert!(wrong("<!DOCTYPE a [<!ENTITY x \"y\">]><graphml>&x;</graphml>").starts_with("w:"));
    }
}
