//! Witnesses in format 2.x.

use parallax_frontend_c::DataModel;
use parallax_program::Diagnostic;

use super::{Kind, Waypoint, What, Witness, formulas};
use crate::yaml::{Document, Node};

pub fn parse(name: &str, text: &str) -> Result<Witness, Diagnostic> {
    let document = Document::parse(name, text)?;
    let reader = Reader { document: &document, ignored: Vec::new() };
    reader.witness()
}

struct Reader<'d> {
    document: &'d Document,
    ignored: Vec<String>,
}

impl<'d> Reader<'d> {
    fn witness(mut self) -> Result<Witness, Diagnostic> {
        let entries = self.document.elements(&self.document.root, "entries")?;
        let [entry] = entries else {
            let message = "a witness has one entry";
            return Err(self.document.error(&self.document.root, message));
        };
        let metadata = self.document.field(entry, "metadata")?;
        let version = self.document.field_text(metadata, "format_version")?;
        if !version.starts_with("2.") {
            let node = self.document.field(metadata, "format_version")?;
            let message = format!("witnesses of format {version} are not supported");
            return Err(self.document.error(node, message));
        }
        let task = self.document.field(metadata, "task")?;
        let content = self.document.field(entry, "content")?;
        let kind = match self.document.field_text(entry, "entry_type")? {
            "violation_sequence" => Kind::Violation,
            "invariant_set" => {
                Kind::Correctness(self.document.elements(content, "invariants")?.len())
            }
            other => {
                let node = self.document.field(entry, "entry_type")?;
                let message = format!("entries of type '{other}' are not supported");
                return Err(self.document.error(node, message));
            }
        };
        let (waypoints, targets) = match kind {
            Kind::Violation => self.segments(content)?,
            Kind::Correctness(_) => (Vec::new(), Vec::new()),
        };
        let data_model = task.get("data_model").and_then(Node::text).and_then(DataModel::parse);
        Ok(Witness {
            kind,
            hashes: self.hashes(task)?,
            formulas: formulas(self.document.field_text(task, "specification")?),
            data_model,
            waypoints,
            targets,
            ignored: self.ignored,
        })
    }

    fn hashes(&self, task: &Node) -> Result<Vec<(String, String)>, Diagnostic> {
        let node = self.document.field(task, "input_file_hashes")?;
        let entries = node.map().ok_or_else(|| self.document.error(node, "expected a map"))?;
        let hash = |(name, hash): &(Node, Node)| match (name.text(), hash.text()) {
            (Some(name), Some(hash)) => Ok((name.to_string(), hash.to_string())),
            _ => Err(self.document.error(name, "expected a file and its hash")),
        };
        entries.iter().map(hash).collect()
    }

    /// What is in between, and what the last segment leads to.
    fn segments(&mut self, content: &Node) -> Result<(Vec<Waypoint>, Vec<Waypoint>), Diagnostic> {
        let segments = self.document.elements(content, "segments")?;
        let mut waypoints = Vec::new();
        let mut targets = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            let is_last = number + 1 == segments.len();
            let nodes = self.document.field(segment, "segment")?;
            for node in self.document.elements(nodes, "waypoints")? {
                let node = self.document.field(node, "waypoint")?;
                let Some((waypoint, is_target)) = self.waypoint(node)? else { continue };
                match (is_target, is_last) {
                    (true, true) => targets.push(waypoint),
                    (false, _) => waypoints.push(waypoint),
                    (true, false) => {
                        let message = "the target is to be in the last segment";
                        return Err(self.document.error(node, message));
                    }
                }
            }
        }
        if targets.is_empty() {
            let message = "the last segment of a violation has a target";
            return Err(self.document.error(content, message));
        }
        Ok((waypoints, targets))
    }

    /// A place to come by, and whether it is the target; None for what is only to be avoided.
    fn waypoint(&mut self, node: &Node) -> Result<Option<(Waypoint, bool)>, Diagnostic> {
        let location = self.document.field(node, "location")?;
        let line = self.document.field_text(location, "line")?;
        let Some(line) = line.parse::<u32>().ok().filter(|line| *line > 0) else {
            return Err(self.document.error(location, "expected a line, from 1"));
        };
        match self.document.field_text(node, "action")? {
            "follow" => {}
            "avoid" | "cycle" => {
                self.ignored.push(format!("a place to avoid, line {line}"));
                return Ok(None);
            }
            _ => return Err(self.document.error(node, "the action is to be follow or avoid")),
        }
        let constraint = node.get("constraint").map(|node| self.document.field_text(node, "value"));
        let constraint = constraint.transpose()?.map(str::to_string);
        let what = match (self.document.field_text(node, "type")?, constraint) {
            ("target", _) => What::Visit,
            ("assumption", Some(value)) => What::Assume(value),
            ("function_return", Some(value)) => What::Returns(value),
            ("branching", _) => {
                self.ignored.push(format!("which way the branch in line {line} goes"));
                What::Visit
            }
            ("function_enter" | "function_return" | "assumption", _) => What::Visit,
            (other, _) => {
                let message = format!("waypoints of type '{other}' are not known");
                return Err(self.document.error(node, message));
            }
        };
        let is_target = node.get("type").and_then(Node::text) == Some("target");
        let thread = node.get("thread_id").and_then(Node::text).map(str::to_string);
        let function = location.get("function").and_then(Node::text).map(str::to_string);
        Ok(Some((Waypoint { thread, line, function, what }, is_target)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITNESS: &str = r#"- entry_type: violation_sequence
  metadata:
    format_version: "2.2"
    task:
      input_file_hashes:
        "a.c": "00ff"
      specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )"
      data_model: ILP32
  content:
  - segment:
    - waypoint:
        type: function_return
        action: follow
        thread_id: 0
        constraint: {value: "\\result == 3", format: acsl_expression}
        location: {file_name: "a.c", line: 4}
  - segment:
    - waypoint:
        type: target
        action: follow
        location: {file_name: "a.c", line: 9}
"#;

    #[test]
    fn sequences_are_read() {
        let witness = parse("w.yml", WITNESS).expect("a witness");
        assert_eq!(witness.hashes, [("a.c".to_string(), "00ff".to_string())]);
        assert_eq!(witness.data_model, Some(DataModel::Ilp32));
        assert_eq!(witness.waypoints[0].what, What::Returns("\\result == 3".to_string()));
        assert_eq!(witness.waypoints[0].thread.as_deref(), Some("0"));
        assert_eq!(witness.targets[0].line, 9);
    }

    #[test]
    fn bad_witnesses_are_errors_with_a_place() {
        let wrong = |text: &str| parse("w.yml", text).expect_err("an error").to_string();
        assert!(wrong("[]").starts_with("w.yml:1:1: error: a witness has one entry"));
        assert!(wrong(&WITNESS.replace("\"2.2\"", "\"3.0\"")).contains("format 3.0"));
        assert!(wrong(&WITNESS.replace("type: target", "type: goal")).contains("'goal'"));
        assert!(wrong(&WITNESS.replace("line: 9", "line: 0")).contains("from 1"));
        assert!(
            wrong(&WITNESS.replace("type: target", "type: branching")).contains("has a target")
        );
    }
}
