//! Three processes on the addresses of the loopback: the answer is that of one, byte for byte; whoever does
//! not belong to them is refused; and where one is lost, the others can go on from what is kept.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::checkpoint::program;
use super::support::{Folder, Run, command, without_times};

const ASK: [&str; 7] =
    ["verify", "--quiet", "--engine", "explore", "--format", "json", "p.program"];

/// A folder with the hosts, a secret and a program.
fn cluster(hosts: usize, program: String) -> Folder {
    let listeners: Vec<TcpListener> =
        (0..hosts).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let ports = listeners.iter().map(|it| it.local_addr().expect("an address").port());
    let hosts: String = ports.map(|port| format!("127.0.0.1:{port}\n")).collect();
    let folder = Folder::new();
    folder.write("hosts.txt", hosts).write("p.program", program);
    folder
        .write("secret", "a secret of sixteen bytes\n")
        .write("other", "another secret, as long\n");
    folder
}

fn start(folder: &Folder, process: usize, secret: &str, more: &[&str]) -> Child {
    let mut run = command();
    run.current_dir(folder.path()).args(ASK).args(["--cluster", "hosts.txt", "--secret", secret]);
    run.args(["--process", &process.to_string()]).args(more);
    run.env_remove("PARALLAX_SECRET").stdout(Stdio::piped()).stderr(Stdio::piped());
    run.spawn().expect("the command starts")
}

/// What a process has said when it ends, which is within half a minute.
fn end(mut child: Child) -> Run {
    let limit = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > limit {
            let _ = child.kill();
            panic!("a process hangs: {:?}", child.wait_with_output());
        }
        sleep(Duration::from_millis(5));
    }
    Run::new(child.wait_with_output().expect("output"))
}

fn run_all(folder: &Folder, hosts: usize, more: &[&str]) -> Vec<Run> {
    let all: Vec<Child> =
        (0..hosts).map(|process| start(folder, process, "secret", more)).collect();
    all.into_iter().map(end).collect()
}

#[test]
fn three_processes_have_the_answer_of_one() {
    let folder = cluster(3, program(5));
    for more in [&["--all"][..], &[], &["--all", "--model", "sc", "--jobs", "2"]] {
        let whole = without_times(&folder.run(&[&ASK[..], more].concat()));
        let runs = run_all(&folder, 3, more);
        assert_eq!(without_times(&runs[0]), whole, "{more:?}: {}", runs[1].stderr);
        for run in &runs[1..] {
            run.ends_with(0);
            assert_eq!((&*run.stdout, &*run.stderr), ("", ""));
        }
    }
}

/// Programs whose cells are split, and whose searches start anew.
#[test]
fn a_search_that_starts_anew_does_so_everywhere() {
    let text = "program p pointers 64\nglobal x: 4\nglobal z: 8\n\
        fn f() {\nvar a: 32\na = rmw.add.4 &x, 1:32 [A, RLX]\na = threadid\nstore.4 &z, 1:32 [A, RLX]\nreturn\n}\n\
        fn g() {\nvar a: 32, b: 64\na = rmw.add.4 &x, 1:32 [A, RLX]\na = load.4 &z + 4:64 [A, RLX]\n\
        b = load.8 &z [NA]\nreturn\n}\n\
        thread A = f()\nthread B = f()\nthread C = f()\nthread D = g()\n";
    let folder = cluster(3, text.to_string());
    let whole = without_times(&folder.run(&[&ASK[..], &["--all"]].concat()));
    let runs = run_all(&folder, 3, &["--all"]);
    assert_eq!(without_times(&runs[0]), whole, "{}", runs[1].stderr);
}

#[test]
fn nobody_else_is_let_in() {
    let folder = cluster(2, program(2));
    let leader = start(&folder, 0, "secret", &[]);
    // One who says nothing, and one who does not know the secret.
    let hosts = std::fs::read_to_string(folder.path().join("hosts.txt")).expect("hosts");
    let first = hosts.lines().next().expect("a host");
    let silent = loop {
        match TcpStream::connect(first) {
            Ok(socket) => break socket,
            Err(_) => sleep(Duration::from_millis(5)),
        }
    };
    end(start(&folder, 1, "other", &[]))
        .ends_with(2)
        .says("process 0 (127.0.0.1:")
        .says("has another secret");
    end(start(&folder, 1, "secret", &[])).ends_with(0);
    end(leader).ends_with(0).complains("was refused: it does not know the secret");
    drop(silent);
}

#[test]
fn what_does_not_fit_is_said() {
    let folder = cluster(2, program(2));
    let pair = |more: &[&str]| {
        let leader = start(&folder, 0, "secret", &[]);
        let other = end(start(&folder, 1, "secret", more));
        (end(leader), other)
    };
    for (more, why) in [(&["--model", "sc"][..], "another model"), (&["--all"], "other options")] {
        let (leader, other) = pair(more);
        leader.ends_with(2).says(&format!("has {why}")).says("process 1 (127.0.0.1:");
        other.ends_with(2).says(&format!("has {why}"));
    }
    let alone = end(start(&folder, 0, "secret", &["--wait", "0.2"]));
    alone.ends_with(2).says("no call from process 1 (127.0.0.1:");
    let alone = end(start(&folder, 1, "secret", &["--wait", "0.2"]));
    alone.ends_with(2).says("no answer from process 0 (127.0.0.1:");
    end(start(&folder, 2, "secret", &[])).ends_with(2).says("there is no process 2");
    folder.write("short", "short\n").write("none", "\n").write("wrong.txt", "one:1\ntwo\n");
    end(start(&folder, 0, "short", &[])).ends_with(2).says("shorter than 16 bytes");
    end(start(&folder, 0, "none", &[])).ends_with(2).says("needs a secret");
    let wrong = ["verify", "p.program", "--cluster", "wrong.txt", "--process", "0"];
    folder.run(&wrong).ends_with(2).complains("wrong.txt:2: expected host:port");
    let engine = ["--engine", "states", "--model", "sc"];
    folder.run(&[&wrong[..], &engine].concat()).ends_with(2);
}

/// A process that is killed ends the run as unknown; one machine, or two, go on from what is kept.
#[test]
fn who_is_lost_costs_nothing_that_was_reported() {
    let folder = cluster(3, program(6));
    let more = ["--all", "--model", "sc", "--checkpoint-every", "0.1", "--silence", "4"];
    let mut all: Vec<Child> =
        (0..3).map(|process| start(&folder, process, "secret", &more)).collect();
    let kept = folder.path().join("parallax.checkpoint");
    while std::fs::metadata(&kept).map_or(0, |data| data.len()) < 2_000 {
        assert!(all[0].try_wait().expect("a child").is_none(), "it was over too soon");
        sleep(Duration::from_millis(2));
    }
    all[2].kill().expect("killed");
    let ends: Vec<Run> = all.into_iter().map(end).collect();
    // What goes wrong may have been found before.
    assert!([1, 3].contains(&ends[0].code), "{}", ends[0].stdout);
    ends[0].says("process 2 (127.0.0.1:").says("was lost");
    ends[1].ends_with(3).complains("was lost");
    let whole = without_times(&folder.run(&[&ASK[..], &["--all", "--model", "sc"]].concat()));
    let hosts = std::fs::read_to_string(folder.path().join("hosts.txt")).expect("hosts");
    let two: Vec<&str> = hosts.lines().take(2).collect();
    std::fs::copy(&kept, folder.path().join("copy")).expect("a copy");
    let alone = folder.run(&[&ASK[..], &["--all", "--model", "sc", "--resume", "copy"]].concat());
    assert_eq!(without_times(&alone), whole);
    folder.write("hosts.txt", two.join("\n"));
    let leader = start(&folder, 0, "secret", &["--all", "--model", "sc", "--resume", "copy"]);
    let other = end(start(&folder, 1, "secret", &["--all", "--model", "sc"]));
    other.ends_with(0);
    assert_eq!(without_times(&end(leader)), whole);
}
