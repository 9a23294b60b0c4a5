//! The language, construct by construct, on one small execution; and what is wrong with wrong
//! models.

use crate::common;

use common::{fill, set_co, set_rf};
use parallax_memory::reference::{self, Inputs};
use parallax_memory::{Checker, EventSet, Model, Relation};

fn parse(text: &str) -> Model {
    Model::parse("test", text, &|_| None).unwrap_or_else(|diagnostics| {
        let all: Vec<String> = diagnostics.iter().map(|d| d.to_string()).collect();
        panic!("{}", all.join("\n"))
    })
}

/// Message passing, read out of order: initial writes 0 (x) and 1 (y); thread 0 writes x (2),
/// fences (3), writes y (4); thread 1 reads y from 4 (5), reads x from 0 (6).
fn message_passing() -> Inputs {
    let n = 7;
    let set = |members: &[usize]| {
        let mut set = EventSet::new(n);
        members.iter().for_each(|e| set.insert(*e));
        set
    };
    let relation = |pairs: &[(usize, usize)]| {
        let mut relation = Relation::new(n);
        pairs.iter().for_each(|(a, b)| relation.add(*a, *b));
        relation
    };
    let thread = [9, 9, 0, 0, 0, 1, 1];
    let location = [0, 1, 0, 9, 1, 1, 0];
    let same = |of: [usize; 7]| {
        let mut pairs = Vec::new();
        for a in 0..n {
            pairs.extend((0..n).filter(|b| of[a] == of[*b]).map(|b| (a, b)));
        }
        relation(&pairs)
    };
    let int = same(thread);
    let mut ext = Relation::cross(&EventSet::full(n), &EventSet::full(n));
    ext.minus_with(&int);
    let mut inputs = Inputs { events: n, ..Inputs::default() };
    for (name, members) in [
        ("R", &[5, 6][..]),
        ("W", &[0, 1, 2, 4]),
        ("M", &[0, 1, 2, 4, 5, 6]),
        ("F", &[3]),
        ("IW", &[0, 1]),
        ("MFENCE", &[3]),
        ("Rcu-lock", &[3]),
        ("A", &[5]),
    ] {
        inputs.sets.insert(name.to_string(), set(members));
    }
    let mut loc = same(location);
    loc.restrict_domain(&set(&[0, 1, 2, 4, 5, 6]));
    for (name, relation) in [
        ("po", relation(&[(2, 3), (2, 4), (3, 4), (5, 6)])),
        ("rf", relation(&[(4, 5), (0, 6)])),
        ("co", relation(&[(0, 2), (1, 4)])),
        ("int", int),
        ("ext", ext),
        ("loc", loc),
    ] {
        inputs.relations.insert(name.to_string(), relation);
    }
    inputs
}

/// Both evaluators' answer.
fn allowed(text: &str) -> bool {
    let model = parse(text);
    let inputs = message_passing();
    let by_reference = reference::evaluate(&model, &inputs).unwrap_or_else(|d| panic!("{d}"));
    let mut checker = Checker::new(&model);
    fill(&model, &mut checker, &inputs);
    set_rf(&mut checker, &inputs.relations["rf"]);
    set_co(&mut checker, &inputs.relations["co"]);
    assert!(checker.may_be_allowed() || !by_reference.allowed, "{text}");
    assert_eq!(checker.is_allowed(), by_reference.allowed, "{text}");
    assert!(checker.failure().is_none());
    by_reference.allowed
}

/// Whether two expressions have the same value.
fn same(definitions: &str, left: &str, right: &str) {
    let text = format!(
        "{definitions} let left = {left} let right = {right} empty left \\ right empty right \\ left"
    );
    assert!(allowed(&text), "{left} is not {right}");
}

#[test]
fn the_classic_models_judge_message_passing() {
    assert!(!allowed("SC acyclic po | rf | co | fr"));
    assert!(allowed("\"coherence\" acyclic po-loc | com as coherence"));
    assert!(!allowed("let ppo = po & (R * R) acyclic ppo | fencerel(MFENCE) | rfe | co | fr"));
}

#[test]
fn operators() {
    same("", "po & loc", "po-loc");
    same("", "rf^-1; co", "fr");
    same("", "[W]; po; [W]", "po & (W * W)");
    same("", "po?", "po | id");
    same("", "po*", "po+ | id");
    same("", "~(~po)", "po");
    same("", "_ \\ W", "~W");
    same("", "domain(po & (_ * F)) | {}", "W \\ (IW | range(po))");
    same("", "0", "po & po^-1");
    same("", "R * W", "(W * R)^-1");
    same("", "W * R & loc", "(W * R) & loc");
    same("", "po ; rf | co", "(po ; rf) | co");
    same("", "po \\ rf \\ co", "(po \\ rf) \\ co");
    same("", "range(0)", "emptyset");
    same("", "[_]", "id");
    same("", "fencerel(F)", "(po & (_ * F)); po");
    same("", "singlestep(po)", "po \\ (po; po)");
    same("", "FW", "W & (range(co) \\ domain(co))");
    same("", "imply(W, R)", "~W | R");
    same("", "lxsx", "rmw \\ amo");
    same("", "begin po end", "(po)");
}

#[test]
fn definitions() {
    same("let f(a, b) = a; b", "f(po, rf)", "po; rf");
    same("let f x = x+", "f po", "po+");
    same("let f = fun (a, _) -> a", "f(po, rf)", "po");
    same("let (a, b) = (po, rf)", "a | b", "po | rf");
    same("let a, b = po, rf", "b", "rf");
    same("let a = po and b = rf", "a | b", "po | rf");
    same("let po = rf let b = po", "b", "rf");
    same("", "let a = po in let b = rf in a; b", "po; rf");
    same("let rec a = po | rf | (a; a)", "a", "(po | rf)+");
    same("let rec a = po | (b; a) and b = rf | (a; b)", "a & b", "(po | (rf; po)) & a & b");
    same(
        "let rec f(s, r) = match s with || {} -> r || e ++ t -> f(t, r | r) end",
        "f(W, po)",
        "po",
    );
    same("let rec s = W | range([s]; po)", "s", "W | range([W]; po)");
    same("let f g = g po let h r = r; r", "f h", "po; po");
}

#[test]
fn tags_and_matching() {
    let tags = "enum T = 'one || 'two || 'three ";
    same(tags, "match 'two with || 'one -> po || 'two -> rf || _ -> co end", "rf");
    same(tags, "if 'one = 'one then po else rf", "po");
    same(tags, "if 'one in {'two, 'three} then po else rf", "rf");
    same(tags, "if {'one} subset T then po else rf", "po");
    same(tags, "if ~{'one} = {'three, 'two} then po else rf", "po");
    same(tags, "if 'one ++ {'two} = ('two | 'one) then po else rf", "po");
    same("enum B = 'rcu-lock || 'mb instructions F[{'rcu-lock, 'mb}]", "Rcu-lock", "F");
    same("enum B = 'rcu-lock", "tag2events('rcu-lock)", "F");
    same("enum B = 'my-fence", "My-fence", "emptyset");
    assert!(allowed("enum T = 'a || 'b match 'a with || 'a -> empty 0 || 'b -> empty po end"));
    assert!(!allowed("enum T = 'a || 'b match 'b with || 'a -> empty 0 || _ -> empty po end"));
}

#[test]
fn events_one_by_one() {
    same(
        "let pairs s = map (fun e -> ({e} * {e}) & id) s",
        "if pairs(W) = pairs(R) then po else rf",
        "rf",
    );
    same("let rec last s = match s with || {} -> {} || a | e ++ b -> {e} end", "last(F)", "F");
    same(
        "let rec sum s = match s with || {} -> 0 || r ++ rest -> r | sum rest end",
        "sum({po, rf, co})",
        "po | rf | co",
    );
    same(
        "let rec sum s = match s with || {} -> 0 || p ++ rest -> (p ++ 0) | sum rest end",
        "sum(po)",
        "po",
    );
    same("", "if {} = emptyset then po else rf", "po");
    same("", "if (W & F) subset R then po else rf", "po");
}

#[test]
fn choices() {
    // Some order of the four writes agrees with co, none agrees with co^-1 too.
    assert!(allowed("with o from linearisations(W, co) empty co \\ o"));
    assert!(!allowed("with o from linearisations(W, co) empty co^-1 \\ o"));
    assert!(!allowed("with o from linearisations(W, co | co^-1) empty 0"));
    assert!(!allowed("with o from {} empty 0"));
    assert!(allowed("include \"cross.cat\" with co from generate_cos(co0) acyclic po-loc | com"));
    assert!(!allowed("include \"cross.cat\" with co from generate_cos(co0 | co^-1) empty 0"));
    assert!(allowed("with o from {po, rf, co} irreflexive o empty o & po as other"));
    let flagged = parse("with o from {po, rf} flag ~empty o & ext as external empty 0");
    let evaluation = reference::evaluate(&flagged, &message_passing()).expect("evaluates");
    assert_eq!(evaluation.flags, ["external"]);
}

#[test]
fn procedures_and_loops() {
    assert!(allowed("procedure p(a, b) = empty a \\ b end call p(po-loc, po) as included"));
    assert!(!allowed("procedure p(a, b) = empty a \\ b end call p(po, po-loc)"));
    assert!(allowed("call inclusion(po-loc, po) call total(loc, F & W)"));
    assert!(allowed("forall r in {po, rf, co} do acyclic r end"));
    assert!(!allowed("forall r in {po, rf | po | fr, co} do acyclic r end"));
    assert!(!allowed("forall e in R do empty [{e}]; po end"));
    assert!(allowed(
        "procedure rec p r = match 'a with || 'a -> empty r end end enum T = 'a call p 0"
    ));
    let text = "procedure p r = acyclic r irreflexive r as inner end call p po as outer";
    let model = parse(text);
    let names: Vec<&str> = model.axioms().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["outer", "inner"]);
}

#[test]
fn variants_and_attempts() {
    same("", "if \"mixed\" then po else rf", "rf");
    same("", "if not \"mixed\" || \"sve\" && \"kvm\" then po else rf", "po");
    same("", "if (not (\"mixed\")) then po else nothing-of-that-name", "po");
    same("let Z = try Z with W", "Z", "W");
    same("", "try fail(po) with rf", "rf");
    assert!(allowed("if \"mixed\" include \"no-such-file.cat\" else empty 0 end"));
}

#[test]
fn flags_and_other_roles() {
    let text = "flag ~empty rf & ext as external flag empty po as idle
                undefined_unless empty po assert empty rf as quiet show po, rf show po^-1 as back unshow po";
    let model = parse(text);
    let inputs = message_passing();
    let evaluation = reference::evaluate(&model, &inputs).expect("evaluates");
    assert!(evaluation.allowed);
    let expected = ["external", "undef", "assertion-failed-quiet"];
    assert_eq!(evaluation.flags, expected);
    let mut checker = Checker::new(&model);
    fill(&model, &mut checker, &inputs);
    set_rf(&mut checker, &inputs.relations["rf"]);
    set_co(&mut checker, &inputs.relations["co"]);
    assert_eq!(checker.flags(), expected);
    assert_eq!(model.shown(), ["rf", "back"]);
}

#[test]
fn flags_may_look_at_values() {
    let model = parse("flag ~empty different-values(po-loc) as changing");
    let inputs = message_passing();
    let mut checker = Checker::new(&model);
    fill(&model, &mut checker, &inputs);
    set_rf(&mut checker, &inputs.relations["rf"]);
    set_co(&mut checker, &inputs.relations["co"]);
    assert!(checker.flags().is_empty());
    assert!(parse("acyclic po").input("unequal-values").is_none());
    let unequal = checker.unequal_values_mut().expect("an input");
    unequal.add(2, 4);
    assert!(checker.flags().is_empty(), "not the same location");
    let model = parse("flag ~empty different-values(po) as changing");
    let mut checker = Checker::new(&model);
    fill(&model, &mut checker, &inputs);
    checker.unequal_values_mut().expect("an input").add(2, 4);
    assert_eq!(checker.flags(), ["changing"]);
}

#[test]
fn sets_of_a_models_own_may_be_called_read_and_write() {
    same("let R = M let W = M", "R & W", "M");
}

#[test]
fn inputs_are_what_is_used() {
    let model = parse("let a = po-loc acyclic a | rf | MFENCE * W");
    let names: Vec<&str> = model.inputs().iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["rf", "co", "po", "loc", "MFENCE", "W"]);
    assert_eq!(model.relations().collect::<Vec<_>>(), ["a", "fr"]);
}

/// The messages of a model that is wrong, each with its line and column.
fn wrong(text: &str) -> Vec<String> {
    let lookup = |name: &str| match name {
        "self.cat" => Some("include \"self.cat\"".to_string()),
        "a.cat" => Some("include \"b.cat\"".to_string()),
        "b.cat" => Some("include \"a.cat\"".to_string()),
        "bad.cat" => Some("let x = (\n".to_string()),
        _ => None,
    };
    let Err(diagnostics) = Model::parse("t.cat", text, &lookup) else {
        panic!("accepted: {text}");
    };
    let shown = diagnostics.iter().map(|d| match &d.location {
        Some(place) => format!("{place}: {}", d.message),
        None => d.message.clone(),
    });
    shown.collect()
}

#[test]
fn errors_have_places() {
    for (text, expected) in [
        ("acyclic po |", "t.cat:1:13: expected an expression, found the end of the file"),
        ("let a = foo", "t.cat:1:9: unknown name 'foo'"),
        (
            "let a = [W & R]",
            "t.cat:1:10: no event is in both R and W: a read-modify-write is two events here",
        ),
        (
            "empty different-values(rf)",
            "t.cat:1:1: the values of accesses are compared after the axioms: only flags may \
             look at them, and no model that chooses with 'with'",
        ),
        ("empty W & po", "t.cat:1:11: expected a set of events, found a relation"),
        ("empty po | W", "t.cat:1:12: expected a relation, found a set of events"),
        ("acyclic W", "t.cat:1:9: expected a relation, found a set of events"),
        ("let a = W; po", "t.cat:1:9: expected a relation, found a set of events"),
        ("let a = [po]", "t.cat:1:10: expected a set of events, found a relation"),
        ("let a = W+", "t.cat:1:9: expected a relation, found a set of events"),
        ("let a = po * W", "t.cat:1:9: expected a set of events, found a relation"),
        ("let a = po rf", "t.cat:1:9: expected a function, found a relation"),
        ("let f(a, b) = a let c = f po", "t.cat:1:25: expected 2 values, found 1"),
        ("let f x = foo; x", "t.cat:1:11: unknown name 'foo'"),
        ("procedure p x = empty foo end", "t.cat:1:23: unknown name 'foo'"),
        ("call p(po)", "t.cat:1:1: unknown name 'p'"),
        ("let a = 'foo", "t.cat:1:9: no enumeration has the tag ''foo'"),
        ("include \"nothing.cat\"", "t.cat:1:1: cannot find the file 'nothing.cat'"),
        (
            "include \"self.cat\"",
            "self.cat:1:1: 'self.cat' includes itself: t.cat includes self.cat includes self.cat",
        ),
        (
            "include \"a.cat\"",
            "b.cat:1:1: 'a.cat' includes itself: t.cat includes a.cat includes b.cat includes a.cat",
        ),
        (
            "\n include \"bad.cat\"",
            "bad.cat:2:1: expected an expression, found the end of the file",
        ),
        (
            "let a = rf-reg",
            "t.cat:1:9: 'rf-reg' cannot be used: reads and writes of registers are not events here",
        ),
        (
            "let rec f = fun x -> f x let a = f po",
            "t.cat:1:22: functions call each other without end",
        ),
        (
            "procedure rec p x = call p x end call p po",
            "t.cat:1:21: procedures call each other without end",
        ),
        ("let a = yield po with rf", "t.cat:1:9: 'yield' is not supported"),
        ("let a = po % rf", "t.cat:1:12: the character '%' has no meaning here"),
        (
            "let f x = {x} let a = {f} | {po}",
            "t.cat:1:24: expected something that sets can hold, found a function",
        ),
        (
            "let rec a = fun x -> x and b = a",
            "t.cat:1:28: a function cannot be defined by recursion",
        ),
    ] {
        assert_eq!(wrong(text), [expected], "{text}");
    }
}

#[test]
fn several_errors_are_reported_together() {
    let text = "let a = foo\nlet b = a | W\nlet c = [po]\nacyclic bar; a\nempty c & W";
    assert_eq!(
        wrong(text),
        [
            "t.cat:1:9: unknown name 'foo'",
            "t.cat:3:10: expected a set of events, found a relation",
            "t.cat:4:9: unknown name 'bar'",
        ]
    );
}

#[test]
fn unknown_names_get_suggestions() {
    let help = |text: &str| {
        let diagnostics = Model::parse("t", text, &|_| None).err().unwrap_or_default();
        diagnostics
            .into_iter()
            .next()
            .and_then(|d| d.help)
            .map(|help| help.to_string())
            .unwrap_or_default()
    };
    assert_eq!(help("let a = po-lock"), "did you mean 'po-loc'?");
    assert_eq!(help("let a = [mfence]"), "did you mean 'MFENCE'?");
    assert_eq!(help("let my-relation = po let a = my_relation"), "did you mean 'my-relation'?");
}

#[test]
fn growing_without_end_is_stopped() {
    let double = (0..60).map(|i| format!("let f{} x = f{i}(f{i}(x; po) | x)\n", i + 1));
    let text = format!("let f0 x = x\n{}empty f60 po", double.collect::<String>());
    assert_eq!(wrong(&text).len(), 1);
    let many: String = (0..20_000).map(|i| format!("let a{i} = po; rf\n")).collect();
    assert_eq!(parse(&many).axioms().len(), 0);
}

#[test]
fn definitions_that_do_not_settle_are_errors_of_the_execution() {
    let text = "let rec a = W \\ a and b = W \\ a empty 0";
    let model = parse(text);
    let outcome = reference::evaluate(&model, &message_passing());
    assert!(outcome.is_err_and(|d| d.message.contains("does not settle")));
    let text = "let rec a = W \\ a and b = W \\ a empty a";
    let model = parse(text);
    let mut checker = Checker::new(&model);
    fill(&model, &mut checker, &message_passing());
    checker.is_allowed();
    assert!(checker.failure().is_some_and(|d| d.message.contains("does not settle")));
}
