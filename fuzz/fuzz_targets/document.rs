//! In any text, as C, as the table of a litmus test and as assembly code, there are places for
//! fences, and what is put there is all that changes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_fences::source::{Activity, Document, Language, Style};

/// At so many places it is looked for orders and fences.
const LOOKS: usize = 20;

/// A word that no text has by accident.
const FENCE: &str = "\u{2021}";

fuzz_target!(|text: &str| {
    if text.contains(FENCE) || text.len() > 4096 {
        return;
    }
    let languages = [Language::C, Language::Table { capitals: true }, Language::Assembly];
    for language in languages {
        let mut document = Document::new("fuzz", text, language, 0..text.len());
        document.find_points(&activity(text));
        for style in [Style::Inline, Style::Lines] {
            fence_all(&document, style);
        }
        for (at, _) in text.char_indices().step_by(text.len() / LOOKS + 1) {
            if let Some(orders) = document.orders(at) {
                let _ = format!("{orders:?}");
            }
            if let Some(edit) = document.removal(at) {
                assert!(text.get(edit.at..edit.at + edit.removed).is_some());
            }
        }
    }
});

/// Letters decide which places are accesses, and which are busy.
fn activity(text: &str) -> Activity {
    let starts = |letters: &str| {
        let found = text.char_indices().filter(|(_, c)| letters.contains(*c));
        found.map(|(at, _)| at).collect()
    };
    Activity { accesses: starts("Ax"), busy: starts("Axf") }
}

fn fence_all(document: &Document, style: Style) {
    let points = document.points();
    let fences: Vec<(usize, u32, String)> =
        (0..points).map(|point| (point, point as u32, FENCE.to_string())).collect();
    let edited = document.with_fences(&fences, style);
    assert_eq!(edited.text.matches(FENCE).count(), points, "{:?}", edited.text);
    for (_, at) in &edited.places {
        assert!(edited.text[*at..].starts_with(FENCE), "{:?}", edited.text);
    }
}
