//! Properties of pictures of random executions: arrows touch no box but those they connect,
//! boxes do not overlap, texts stay inside the picture.

use parallax_program::{Bits, Tags};
use parallax_verdict::{Edges, Event, EventKind, Execution};
use proptest::prelude::*;

use super::geometry::{Point, Rect};
use super::layout::layout;
use super::plan::plan;
use super::route::route;
use super::scene::Scene;
use super::{Caption, dot, sketch, svg};

fn event(thread: Option<u32>, kind: u8) -> Event {
    let (location, shown) = ("x".to_string(), "1".to_string());
    let (address, size, value) = (0, 4, Bits::zero(32));
    let write = kind == 0 || thread.is_none();
    let kind = match kind {
        _ if write => EventKind::Write { location, address, size, value, shown },
        1 => EventKind::Read { location, address, size, value, shown },
        _ => EventKind::Fence,
    };
    Event { thread, kind, tags: Tags::none(), place: None, text: "MOV EAX,[x]".to_string() }
}

/// Any events and any pairs of them: pictures must cope with more than models allow.
pub fn executions() -> impl Strategy<Value = Execution> {
    let threads = prop::collection::vec(prop::collection::vec(0u8..3, 0..7), 1..6);
    (0usize..4, threads).prop_flat_map(|(initial, threads)| {
        let count = initial + threads.iter().map(Vec::len).sum::<usize>();
        let pairs = prop::collection::vec((0..count.max(1), 0..count.max(1)), 0..14);
        let relations = prop::collection::vec(pairs, 4);
        (Just(initial), Just(threads), relations).prop_map(|(initial, threads, relations)| {
            let mut execution = Execution {
                threads: (0..threads.len()).map(|n| format!("P{n}")).collect(),
                events: (0..initial).map(|_| event(None, 0)).collect(),
                ..Execution::default()
            };
            for (thread, kinds) in (0u32..).zip(&threads) {
                let first = execution.events.len() as u32;
                for kind in kinds {
                    let number = execution.events.len() as u32;
                    execution.po.extend((first..number).map(|b| (b, number)));
                    execution.events.push(event(Some(thread), *kind));
                }
            }
            let edges = |n: usize| -> Edges {
                let pairs = relations[n].iter();
                pairs.map(|(a, b)| (*a as u32, *b as u32)).collect()
            };
            execution.rf = edges(0);
            execution.data = edges(1);
            execution.ctrl = edges(2);
            execution.rmw = edges(1);
            execution.co = edges(2);
            execution.model_relations = vec![("hb".to_string(), edges(3))];
            execution
        })
    })
}

fn inside(rect: &Rect, p: Point) -> bool {
    let margin = 1.0;
    let core = Rect {
        x: rect.x + margin,
        y: rect.y + margin,
        width: rect.width - 2.0 * margin,
        height: rect.height - 2.0 * margin,
    };
    core.contains(p)
}

proptest! {
    #[test]
    fn arrows_keep_clear_of_boxes(execution in executions()) {
        let scene = Scene::new(&execution);
        let plan = plan(&scene);
        let layout = layout(&scene, &plan, 60.0);
        let paths = route(&scene, &plan, &layout);
        prop_assert_eq!(paths.len(), scene.arrows.len());
        for (arrow, path) in scene.arrows.iter().zip(&paths) {
            for step in 0..=64 {
                let p = path.at(f64::from(step) / 64.0);
                let hit = layout.boxes.iter().position(|rect| inside(rect, p));
                prop_assert_eq!(hit, None, "{} -> {} at {:?}", arrow.from, arrow.to, p);
                prop_assert!(p.x >= 0.0 && p.x <= layout.width && p.y >= 0.0);
            }
        }
    }

    #[test]
    fn boxes_do_not_overlap(execution in executions()) {
        let scene = Scene::new(&execution);
        let layout = layout(&scene, &plan(&scene), 60.0);
        for (number, rect) in layout.boxes.iter().enumerate() {
            prop_assert!(rect.x >= 0.0 && rect.right() <= layout.width);
            for other in &layout.boxes[..number] {
                prop_assert_eq!(rect.overlap(other), 0.0);
            }
        }
    }

    #[test]
    fn every_form_is_written(execution in executions()) {
        let caption = Caption { title: "a < b & c", subtitle: "\u{1}" };
        let picture = svg(&execution, caption);
        prop_assert!(picture.contains("a &lt; b &amp; c"), "escaped");
        prop_assert!(!picture.contains("\u{1}"), "control character");
        prop_assert!(!picture.contains("NaN") && !picture.contains("inf"));
        prop_assert_eq!(&picture, &svg(&execution, caption));
        let graph = dot(&execution, caption);
        prop_assert!(graph.ends_with("}\n"), "unfinished graph");
        prop_assert!(sketch(&execution).starts_with("  P0"));
    }
}
