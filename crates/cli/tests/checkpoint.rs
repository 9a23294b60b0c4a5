//! Searches that are kept in files: ended at any time, by force or in order, and taken up again, they give
//! the answer of one that was never ended, with the same counts and bytes. Files that are damaged, of
//! something else, or cannot be written are errors.

use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::support::{Folder, Run, command, without_times};

/// Threads that add to two variables, the last one only to one, and one violation that is found late.
pub fn program(threads: usize) -> String {
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\n");
    for number in 0..threads {
        let second = match number + 1 < threads {
            true => format!("b = rmw.add.4 &y, {number}:32 [A, RLX]\n"),
            false => String::new(),
        };
        text += &format!(
            "fn f{number}() {{\nvar a: 32, b: 32\na = rmw.add.4 &x, 1:32 [A, RLX]\n{second}\
             assert ({number}:32 != 0:32) | (a != 3:32) | (b != 2:32), \"late\"\nreturn\n}}\n"
        );
    }
    for number in 0..threads {
        text += &format!("thread T{number} = f{number}()\n");
    }
    text
}

const ASK: [&str; 7] = ["verify", "--quiet", "--engine", "explore", "--all", "--format", "json"];

fn ask(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&ASK[..], more].concat())
}

#[test]
fn who_is_killed_at_any_time_goes_on() {
    let folder = Folder::new();
    folder.write("p.program", program(6));
    let whole = without_times(&ask(&folder, &["p.program"]));
    assert!(whole.starts_with('1') && whole.contains("\"late\""), "{whole}");
    let mut chance = 12_345_u64;
    for jobs in ["1", "2"] {
        let _ = std::fs::remove_file(folder.path().join("kept"));
        let mut kills = 0;
        let last = loop {
            let mut run = command();
            run.current_dir(folder.path()).args(ASK).args(["p.program", "--jobs", jobs]);
            run.args(["--checkpoint", "kept", "--checkpoint-every", "0.02"]);
            if folder.path().join("kept").exists() {
                run.args(["--resume", "kept"]);
            }
            let mut child =
                run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let end =
                Instant::now() + Duration::from_millis(20 + (chance >> 33) % 100 + 50 * kills);
            while Instant::now() < end && child.try_wait().expect("a child").is_none() {
                sleep(Duration::from_millis(1));
            }
            let _ = child.kill();
            let output = child.wait_with_output().expect("output");
            if output.status.code().is_some() {
                break Run::new(output);
            }
            kills += 1;
        };
        assert!(kills > 0, "it was never killed");
        assert_eq!(without_times(&last), whole, "with {jobs} threads, after {kills} kills");
    }
}

#[test]
fn who_has_no_more_time_goes_on() {
    let folder = Folder::new();
    folder.write("p.program", program(5));
    let whole = without_times(&ask(&folder, &["p.program"]));
    let mut limit = 0.05;
    let keep = ["p.program", "--checkpoint", "kept", "--timeout"];
    let mut run = ask(&folder, &[&keep[..], &["0.05"]].concat());
    while run.stdout.contains("\"scope\":null") {
        limit += 0.01;
        let limit = limit.to_string();
        run = ask(&folder, &[&keep[..], &[&limit, "--resume", "kept"]].concat());
    }
    assert_eq!(without_times(&run), whole);
    // Where all is done, the answer is there.
    let again = ["verify", "--quiet", "--all", "--format", "json", "p.program", "--resume", "kept"];
    let again = folder.run(&again);
    assert_eq!(without_times(&again), whole);
}

#[test]
fn a_signal_keeps_what_is_left() {
    let folder = Folder::new();
    folder.write("p.program", program(7));
    let mut run = command();
    run.current_dir(folder.path()).args(ASK).args(["p.program", "--checkpoint", "kept"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    let kept = folder.path().join("kept");
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
    while size(&kept) == 0 && child.try_wait().expect("a child").is_none() {
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(200));
    let before = size(&kept);
    let id = child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &id]).status().expect("kill");
    let run = Run::new(child.wait_with_output().expect("output"));
    run.ends_with(3);
    assert!(size(&kept) > before, "nothing was added");
}

#[test]
fn what_is_wrong_with_a_checkpoint_is_said() {
    let folder = Folder::new();
    folder.write("p.program", program(3)).write("q.program", program(2));
    ask(&folder, &["p.program", "--checkpoint", "kept"]).ends_with(0);
    let text = std::fs::read(folder.path().join("kept")).expect("a file");
    folder.write("short", &text[..text.len() - 1]).write("empty", "").write("other", "int x;\n");
    let mut damaged = text.clone();
    damaged[text.len() / 2] ^= 4;
    folder.write("damaged", damaged);
    let refused = |more: &[&str], why: &str| {
        ask(&folder, more).ends_with(2).says(why);
    };
    for (file, why) in [
        ("short", "damaged, or was cut off"),
        ("damaged", "damaged, or was cut off"),
        ("empty", "not a checkpoint"),
        ("other", "not a checkpoint"),
        ("missing", "No such file"),
        (".", "it is a folder"),
    ] {
        refused(&["p.program", "--resume", file], why);
    }
    refused(&["q.program", "--resume", "kept"], "of another program");
    refused(&["p.program", "--resume", "kept", "--model", "sc"], "of another model");
    refused(&["p.program", "--resume", "kept", "--unroll", "3"], "of other options");
    refused(&["p.program", "--checkpoint", "no/kept"], "cannot write the checkpoint");
    refused(&["p.program", "--checkpoint", "."], "cannot write the checkpoint");
    let other =
        ["verify", "p.program", "--checkpoint", "new", "--engine", "states", "--model", "sc"];
    folder.run(&other).ends_with(2).complains("--checkpoint");
    let version = String::from_utf8(text).expect("a text");
    assert!(version.lines().nth(1).is_some_and(|line| line.starts_with(env!("CARGO_PKG_VERSION"))));
}

/// A disk that is full from the start is an error at once; one that is full later costs nothing unless what
/// is left has to be kept.
#[test]
fn a_full_disk_loses_nothing() {
    let folder = Folder::new();
    folder.write("p.program", program(3));
    let run = |more: &str| {
        let line = format!(
            "trap '' XFSZ; ulimit -f 0; exec {} {} p.program {more}",
            env!("CARGO_BIN_EXE_parallax"),
            ASK.join(" ")
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &line])
            .current_dir(folder.path())
            .output();
        Run::new(output.expect("runs"))
    };
    folder.write("kept", "before");
    run("--checkpoint kept").ends_with(2).says("cannot write the checkpoint 'kept'");
    assert_eq!(std::fs::read(folder.path().join("kept")).expect("a file"), b"before");
}
