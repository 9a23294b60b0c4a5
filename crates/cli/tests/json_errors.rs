//! Who asks for JSON gets JSON, whatever is wrong, and SARIF in the same way.

use crate::support;

use serde_json::Value;
use support::{Folder, MP};

#[track_caller]
fn object(folder: &Folder, arguments: &[&str]) -> Value {
    let run = folder.run(arguments);
    run.ends_with(2);
    assert_eq!(run.stderr, "", "{arguments:?}");
    let objects: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert_eq!(objects.len(), 1, "{arguments:?}: {}", run.stdout);
    objects.into_iter().next().expect("one")
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mp.litmus", MP).write("bad.litmus", "X86 bad\n{ x=0 }\n P0 ;\n MOVE x ;\n");
    folder.write("bad.c", "int main(void) { return }\n").write("bad.program", "function {\n");
    folder.write("bad.yml", "format_version: '9'\n").write("bad.ops", "what\n");
    folder.write("bad.s", "\tnonsense\n").write("bad.cat", "let x = \n").write("empty/x", "");
    folder.write("tasks.yml", "tasks:\n - imput: a.c\n");
    folder
}

#[test]
fn errors_are_objects_where_answers_would_be() {
    let folder = folder();
    let cases: &[(&[&str], &str)] = &[
        (&["verify", "none.c"], "none.c"),
        (&["verify", "bad.c"], "expected expression"),
        (&["verify", "bad.program"], "expected"),
        (&["verify", "bad.litmus"], ""),
        (&["verify", "bad.ops"], ""),
        (&["verify", "bad.s"], ""),
        (&["verify", "bad.yml"], "format 9"),
        (&["verify", "mp.litmus", "bad.c"], "different kinds"),
        (&["verify", "-m", "nothing", "mp.litmus"], "nothing"),
        (&["verify", "-m", "bad.cat", "mp.litmus"], ""),
        (&["verify", "--expect", "mp.litmus"], "--expect is for tasks"),
        (&["verify", "--engine", "static", "mp.litmus"], ""),
        (&["verify", "--engine", "quick", "mp.litmus"], "there is no engine 'quick'"),
        (&["verify", "--what", "mp.litmus"], "--what"),
        (&["verify", "--unroll", "x", "mp.litmus"], "rounds"),
        (&["verify"], "INPUT"),
        (&["verify", "--batch", "tasks.yml"], "imput"),
        (&["verify", "--batch", "--graph", "x.svg", "tasks.yml"], "--graph"),
        (&["verify", "--batch", "none"], "none"),
        (&["litmus", "bad.litmus"], ""),
        (&["litmus", "none.litmus"], "none.litmus"),
        (&["litmus", "empty"], "no litmus tests"),
        (&["litmus", "-m", "nothing", "mp.litmus"], "nothing"),
        (&["litmus", "--sketch", "mp.litmus"], "--sketch"),
        (&["litmus", "--expect", "none.csv"], "none.csv"),
        (&["litmus", "--what"], "--what"),
        (&["fences", "none.c"], "none.c"),
        (&["fences", "bad.c"], "expected expression"),
        (&["fences", "-m", "nothing", "mp.litmus"], "nothing"),
        (&["fences", "--mode", "slow", "mp.litmus"], "slow"),
    ];
    for (arguments, words) in cases {
        let arguments: Vec<&str> = arguments[..1]
            .iter()
            .chain(&["--format", "json"])
            .chain(&arguments[1..])
            .copied()
            .collect();
        let found = object(&folder, &arguments);
        let message = found["error"]["message"].as_str().expect("a message");
        assert!(message.contains(words) && !message.is_empty(), "{arguments:?}: {found}");
        assert_eq!(found["errors"][0], found["error"]);
    }
}

/// Every subcommand that prints JSON is in the list above.
#[test]
fn no_subcommand_is_forgotten() {
    for name in ["litmus", "verify", "fences", "debug", "replay", "validate", "check-proof"]
        .into_iter()
        .chain(["translate", "models", "completions", "man"])
    {
        let help = Folder::new().run(&[name, "--help"]).stdout;
        let prints = help.contains("- json:") || help.contains("json]");
        assert_eq!(prints, ["litmus", "verify", "fences"].contains(&name), "{name}");
    }
}

#[test]
fn errors_are_notifications_in_sarif() {
    let folder = folder();
    let log = object(&folder, &["verify", "--format", "sarif", "bad.c"]);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notification = &invocation["toolConfigurationNotifications"][0];
    let place = &notification["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "bad.c");
    assert_eq!(place["region"]["startLine"], 1);
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(0));
}
