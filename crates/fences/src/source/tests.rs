//! Places in C, and what texts look like with fences in all of them.

use super::c::{Style, insertions};
use super::edits::edit;
use super::statements::{Activity, places};

/// Accesses are the words that start with `A`; whatever starts with `f` is busy.
fn activity(text: &str) -> Activity {
    let starts = |letter: char| -> Vec<usize> {
        let found = text.match_indices(letter).map(|(at, _)| at);
        let word = |at: &usize| {
            !text[..*at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
        };
        found.filter(word).collect()
    };
    let accesses = starts('A');
    let mut busy = [accesses.clone(), starts('f')].concat();
    busy.sort_unstable();
    Activity { accesses, busy }
}

fn fenced(text: &str, style: Style) -> String {
    let places = places(text, 0..text.len(), &activity(text));
    let all: Vec<(usize, u32, String)> =
        (0..places.points.len()).map(|at| (at, at as u32, format!("F{at};"))).collect();
    let edited = edit(text, insertions(text, &places, &all, style));
    for (decision, at) in &edited.places {
        assert!(edited.text[*at..].starts_with(&format!("F{decision};")));
    }
    edited.text
}

#[test]
fn neighbours_share_a_place() {
    let text = "void t(void) {\n  A1;\n  A2; // two\n  x = 1;\n  A3;\n  f();\n  A4;\n}\n";
    let expected = "void t(void) {\n  F0;\n  A1;\n  F1;\n  A2; // two\n  x = 1;\n  F2;\n  A3;\n  \
                    F3;\n  f();\n  F4;\n  A4;\n  F5;\n}\n";
    assert_eq!(fenced(text, Style::Lines), expected);
}

#[test]
fn bodies_without_braces_get_some() {
    let text = "void t() {\n\tif (c)\n\t\tA1;\n\telse\n\t\tA2;\n}\n";
    let expected = "void t() {\n\tif (c) {\n\t\tF0;\n\t\tA1;\n\t\tF1;\n\t}\n\telse {\n\t\tF2;\n\t\tA2;\n\t\tF3;\n\t}\n}\n";
    assert_eq!(fenced(text, Style::Lines), expected);
    let text = "void t() { if (c) A1; else A2; }";
    let expected = "void t() { if (c) { F0; A1; F1; } else { F2; A2; F3; } }";
    assert_eq!(fenced(text, Style::Lines), expected);
    assert_eq!(fenced(text, Style::Inline), expected);
}

#[test]
fn loops_that_wait_have_four_places() {
    let text = "void t() {\n    while (A1 &&\n           A2)\n        ;\n    return A3;\n}\n";
    let expected = "void t() {\n    F0;\n    while (A1 &&\n           A2) {\n        F1;\n    }\n    \
                    F2;\n    return A3;\n}\n";
    assert_eq!(fenced(text, Style::Lines), expected);
    let text = "void t() { do { f(); } while (A1); for (;A2;) { g(); h(); } }";
    let expected =
        "void t() { do { F0; f(); F1; } while (A1); F2; for (;A2;) { F3; g(); h(); F4; } F5; }";
    assert_eq!(fenced(text, Style::Inline), expected);
}

#[test]
fn line_ends_are_kept() {
    let text = "void t() {\r\n  A1;\r\n}\r\n";
    assert_eq!(fenced(text, Style::Lines), "void t() {\r\n  F0;\r\n  A1;\r\n  F1;\r\n}\r\n");
}

#[test]
fn odd_code_is_left_in_order() {
    let text = "int a[] = { A0 };\nstruct s { int A; };\nvoid t() {\n  int b[] = { A1 };\n  \
                x: switch (c) { case 1: A2; break; default: ; }\n  LOOP(3) { A3; }\n  ({ A4; });\n}\n";
    let expected = "int a[] = { A0 };\nstruct s { int A; };\nvoid t() {\n  F0;\n  int b[] = { A1 };\n  F1;\n  \
                    x: switch (c) { case 1: F2; A2; F3; break; default: ; }\n  LOOP(3) { F4; A3; F5; }\n  \
                    F6;\n  ({ A4; });\n  F7;\n}\n";
    assert_eq!(fenced(text, Style::Lines), expected);
}

#[test]
fn nested_bodies_close_inside_out() {
    let text = "void t() {\n  if (A1)\n    while (A2)\n      A3;\n}\n";
    let fenced = fenced(text, Style::Lines);
    let opened = fenced.matches('{').count();
    assert_eq!(opened, fenced.matches('}').count());
    let expected = "void t() {\n  F0;\n  if (A1) {\n    F1;\n    while (A2) {\n      F2;\n      A3;\n      F3;\n    }\n    F4;\n  }\n  F5;\n}\n";
    assert_eq!(fenced, expected);
}

#[test]
fn broken_text_does_no_harm() {
    for text in [
        "",
        "void t() {",
        "void t() { if",
        "{ { (",
        "t() } {",
        "t() { case",
        "t() { do",
        "t() { x: }",
    ] {
        fenced(text, Style::Lines);
    }
    let deep = format!("t() {}A;", "{".repeat(100_000));
    fenced(&deep, Style::Inline);
}
