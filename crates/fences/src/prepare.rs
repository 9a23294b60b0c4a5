//! From texts to decisions: every place where a fence can be put, and every order that can be
//! changed, is found in the source and marked in the program.
//!
//! The marks come by way of the front end: it reads the text with the strongest fence in every place,
//! and what becomes of each of these in the program is where the candidate is. So conditions, loops
//! and inlining are as the front end has them, and no second reading of the language is needed.

use std::collections::BTreeMap;

use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, InstKind, Location, Program, Span, Tags};

use crate::decision::{Choice, Decision, Decisions, Subject};
use crate::locator::Locator;
use crate::mnemonics::Mnemonic;
use crate::repertoire::{AccessKind, Dialect, Kind, Weights, access_orders};
use crate::same::is_same_program;
use crate::source::edits::Edited;
use crate::source::{Activity, Document, Language, Style};

/// What may be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repair {
    /// Fences are inserted, and those that are there made stronger.
    Fences,
    /// Memory orders of accesses and fences are made stronger.
    Orders,
    Both,
    /// Fences and orders that are there are made weaker, or go.
    Relax,
}

/// How to look for decisions.
pub struct Means<'a> {
    pub dialect: Dialect,
    /// The fences that the model knows of, or a compiler for it, weakest first.
    pub fences: Vec<Kind>,
    pub model: &'a Model,
    pub weights: &'a Weights,
    pub repair: Repair,
}

/// Reads a program from the texts of its files.
pub type Load<'a> = dyn Fn(&[String]) -> Result<Program, Diagnostics> + 'a;

/// A program with all that can be decided about it.
pub struct Prepared {
    pub dialect: Dialect,
    pub documents: Vec<Document>,
    pub decisions: Decisions,
    /// Where each decision is in the texts.
    pub(crate) sites: Vec<Site>,
    /// The program as it stands, and with marks. Both have places in the text as it stands.
    pub plain: Program,
    pub marked: Program,
    /// Files with accesses that are not among the documents.
    pub untouched: Vec<String>,
    /// Accesses whose orders could be other ones, if they were written in another way.
    pub unwritten: Vec<Location>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Site {
    pub file: usize,
    /// The number of a point, for insertions; where the call is, for others.
    pub at: usize,
}

pub fn prepare(
    mut documents: Vec<Document>,
    means: &Means<'_>,
    load: &Load<'_>,
) -> Result<Prepared, Diagnostics> {
    let texts: Vec<String> = documents.iter().map(|document| document.text.clone()).collect();
    let plain = load(&texts)?;
    let locator = Locator::new(&plain, &documents, &texts);
    let activities = activities(&plain, &locator, documents.len());
    for (document, activity) in documents.iter_mut().zip(&activities) {
        document.find_points(activity);
    }
    let mut prepared = Prepared {
        dialect: means.dialect,
        untouched: untouched(&plain, &locator),
        unwritten: Vec::new(),
        documents,
        decisions: Decisions::default(),
        sites: Vec::new(),
        marked: plain.clone(),
        plain,
    };
    prepared.add_insertions(means);
    let saturated = prepared.saturated(means);
    let texts: Vec<String> = saturated.iter().map(|edited| edited.text.clone()).collect();
    let mut marked = load(&texts)?;
    let there = Locator::new(&marked, &prepared.documents, &texts);
    Marking { prepared: &mut prepared, means, saturated: &saturated }
        .mark(&mut marked, [&there, &locator]);
    check_same(&prepared, &marked)?;
    prepared.marked = marked;
    Ok(prepared)
}

impl Prepared {
    /// A decision for each point.
    fn add_insertions(&mut self, means: &Means<'_>) {
        let kinds = &means.fences;
        if !matches!(means.repair, Repair::Fences | Repair::Both) || kinds.is_empty() {
            return;
        }
        let none = Choice { name: "none".into(), tags: None, features: 0, count: 0, weight: 0 };
        let fences = kinds.iter().map(|kind| kind.choice(1, means.weights.of(kind)));
        let options: Vec<Choice> = std::iter::once(none).chain(fences).collect();
        for (file, document) in self.documents.iter().enumerate() {
            for point in 0..document.points() {
                let place = document.location(document.offset_of(point));
                let subject = Subject::Insertion;
                let options = options.clone();
                self.decisions.0.push(Decision { subject, place, options, present: 0 });
                self.sites.push(Site { file, at: point });
            }
        }
    }

    /// The texts with the strongest fence everywhere.
    fn saturated(&self, means: &Means<'_>) -> Vec<Edited> {
        let strongest = means.fences.last().copied();
        let files = self.documents.iter().enumerate();
        let saturated = files.map(|(file, document)| {
            let own = (0u32..).zip(&self.sites).filter(|(_, site)| site.file == file);
            let fences = own.filter_map(|(number, site)| {
                Some((site.at, number, document.fence(strongest?.name)))
            });
            document.with_fences(&fences.collect::<Vec<_>>(), Style::Inline)
        });
        saturated.collect()
    }
}

/// Where everything in a program is.
pub(crate) fn spans(program: &Program) -> impl Iterator<Item = Span> {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let ends = blocks.map(|block| block.terminator_span);
    instructions(program).map(|(_, span)| span).chain(ends)
}

fn instructions(program: &Program) -> impl Iterator<Item = (&InstKind, Span)> {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    blocks.flat_map(|block| &block.insts).map(|inst| (&inst.kind, inst.span))
}

fn is_access(kind: &InstKind) -> bool {
    matches!(
        kind,
        InstKind::Load { .. }
            | InstKind::Store { .. }
            | InstKind::Rmw { .. }
            | InstKind::Cas { .. }
            | InstKind::LoadLinked { .. }
            | InstKind::StoreConditional { .. }
    )
}

/// Of an atomic access of C, whether it is as strong as can be.
fn is_strong(kind: &InstKind) -> Option<bool> {
    let tags = match kind {
        InstKind::Load { tags, .. } | InstKind::Store { tags, .. } => tags,
        InstKind::Rmw { read_tags, .. } | InstKind::Cas { read_tags, .. } => read_tags,
        _ => return None,
    };
    tags.contains("A").then(|| tags.contains("SC"))
}

fn activities(program: &Program, locator: &Locator, documents: usize) -> Vec<Activity> {
    let mut activities: Vec<Activity> = (0..documents).map(|_| Activity::default()).collect();
    for (kind, span) in instructions(program) {
        let quiet = matches!(
            kind,
            InstKind::Assign { .. }
                | InstKind::Assert { .. }
                | InstKind::Assume { .. }
                | InstKind::Fence { .. }
        );
        if let Some((file, offset)) = locator.find(span).filter(|_| !quiet) {
            activities[file].busy.push(offset);
            if is_access(kind) {
                activities[file].accesses.push(offset);
            }
        }
    }
    for activity in &mut activities {
        activity.accesses.sort_unstable();
        activity.busy.sort_unstable();
    }
    activities
}

fn untouched(program: &Program, locator: &Locator) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (kind, span) in instructions(program) {
        let stranger = locator.stranger(span).filter(|_| is_access(kind));
        let new = stranger.filter(|name| !names.iter().any(|known| known == name));
        names.extend(new.map(str::to_string));
    }
    names
}

/// The plain program is what is left of the marked one without its fences: nothing else was
/// changed by writing them down. In machine code everything is at other addresses, so that what is
/// written is verified instead.
fn check_same(prepared: &Prepared, marked: &Program) -> Result<(), Diagnostics> {
    let decisions = &prepared.decisions;
    let bare = unmarked(crate::apply(marked, decisions, &decisions.present()));
    let is_assembled = prepared.documents.iter().any(|d| d.language == Language::Assembly);
    if is_assembled || is_same_program(&bare, &prepared.plain) {
        return Ok(());
    }
    let message = "fences cannot be put into this program without changing what else it does";
    Err(vec![
        Diagnostic::new(message)
            .with_help("this is a bug in parallax; please report it with the program"),
    ])
}

/// The program without marks.
pub(crate) fn unmarked(mut program: Program) -> Program {
    let blocks = program.functions.iter_mut().flat_map(|function| &mut function.blocks);
    for inst in blocks.flat_map(|block| &mut block.insts) {
        inst.kind.for_each_tags(&mut |tags| *tags = tags.unmarked());
    }
    program
}

/// Puts marks into a program that was read with fences everywhere.
struct Marking<'a, 'm> {
    prepared: &'a mut Prepared,
    means: &'a Means<'m>,
    saturated: &'a [Edited],
}

impl Marking<'_, '_> {
    /// The locators are of the program, and of the one as it stands.
    fn mark(mut self, program: &mut Program, [locator, plain]: [&Locator; 2]) {
        let saturated = self.saturated;
        let moved =
            |span: Span| locator.moved(span, plain, |file, offset| saturated[file].origin(offset));
        let mut inserted: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for (file, edited) in self.saturated.iter().enumerate() {
            let places = edited.places.iter();
            inserted.extend(places.map(|(decision, at)| ((file, *at), *decision)));
        }
        let mut known: BTreeMap<(Site, bool), u32> = BTreeMap::new();
        for function in &mut program.functions {
            for block in &mut function.blocks {
                for inst in &mut block.insts {
                    let place = locator.find(inst.span);
                    let decision = place.and_then(|place| inserted.get(&place));
                    match (&mut inst.kind, decision) {
                        (InstKind::Fence { tags }, Some(decision)) => *tags = mark(*decision),
                        (kind, _) => self.mark_own(kind, place, &mut known),
                    }
                    inst.span = moved(inst.span);
                }
                block.terminator_span = moved(block.terminator_span);
            }
        }
        program.source = self.prepared.plain.source.clone();
    }

    /// Whether an atomic access of C might be changed, if only its order were written out.
    fn would_change(&self, kind: &InstKind) -> bool {
        let Some(is_strong) = is_strong(kind).filter(|_| self.means.dialect == Dialect::C11) else {
            return false;
        };
        match self.means.repair {
            Repair::Fences => false,
            Repair::Orders | Repair::Both => !is_strong,
            Repair::Relax => is_strong,
        }
    }

    /// Marks an access or a fence that is there from the start.
    fn mark_own(
        &mut self,
        kind: &mut InstKind,
        place: Option<(usize, usize)>,
        known: &mut BTreeMap<(Site, bool), u32>,
    ) {
        let Some((file, offset)) = place else {
            return;
        };
        let at = self.saturated[file].origin(offset);
        let document = &self.prepared.documents[file];
        let Some(orders) = document.orders(at) else {
            if self.would_change(kind) {
                let place = document.location(at);
                let unwritten = &mut self.prepared.unwritten;
                unwritten.extend((!unwritten.contains(&place)).then_some(place));
            }
            return;
        };
        let site = Site { file, at };
        if orders.is_implicit() && self.means.repair != Repair::Relax {
            return;
        }
        let is_c = self.means.dialect == Dialect::C11;
        let range = document.instruction(at);
        let mnemonic =
            range.and_then(|range| Mnemonic::of(self.means.dialect, &document.text, range));
        let mut decide = |subject: Subject, access: Option<AccessKind>, tags: &Tags| {
            // A call may also copy what it is given, which is no access of its own.
            if is_c && access.is_some() && !tags.contains("A") {
                return None;
            }
            let slot = (site, subject == Subject::Failure);
            if let Some(decision) = known.get(&slot) {
                return Some(*decision);
            }
            let (options, present) = self.options(access, tags, mnemonic.as_ref())?;
            let place = self.prepared.documents[file].location(at);
            let number = self.prepared.decisions.0.len() as u32;
            self.prepared.decisions.0.push(Decision { subject, place, options, present });
            self.prepared.sites.push(site);
            known.insert(slot, number);
            Some(number)
        };
        match kind {
            InstKind::Fence { tags } => {
                if let Some(decision) = decide(Subject::Fence, None, tags) {
                    *tags = mark(decision);
                }
            }
            InstKind::LoadLinked { tags, .. } | InstKind::StoreConditional { tags, .. }
                if !is_c =>
            {
                add(tags, decide(Subject::Access, Some(AccessKind::Update), tags));
            }
            InstKind::Load { tags, .. } => {
                add(tags, decide(Subject::Access, Some(AccessKind::Load), tags));
            }
            InstKind::Store { tags, .. } => {
                add(tags, decide(Subject::Access, Some(AccessKind::Store), tags));
            }
            InstKind::Rmw { read_tags, write_tags, .. } => {
                let decision = decide(Subject::Access, Some(AccessKind::Update), read_tags);
                add(read_tags, decision);
                add(write_tags, decision);
            }
            InstKind::Cas { read_tags, write_tags, fail_tags, .. } if orders.is_pair() => {
                let decision = decide(Subject::Access, Some(AccessKind::Update), read_tags);
                add(read_tags, decision);
                add(write_tags, decision);
                add(fail_tags, decide(Subject::Failure, Some(AccessKind::Load), fail_tags));
            }
            _ => {}
        }
    }

    /// The options for a fence, or for an access, that has some order now; None if there is no
    /// choice.
    fn options(
        &self,
        access: Option<AccessKind>,
        tags: &Tags,
        mnemonic: Option<&Mnemonic>,
    ) -> Option<(Vec<Choice>, usize)> {
        let Means { dialect, fences, weights, repair, .. } = self.means;
        let has = |kind: &&Kind| kind.tags.iter().all(|tag| tags.contains(tag));
        let (all, present) = match (access, repair) {
            (Some(_), Repair::Fences) => return None,
            (Some(access), _) if *dialect == Dialect::C11 => {
                let all = access_orders(access);
                let present = all.iter().find(has).copied()?;
                (all, present)
            }
            (Some(_), _) => mnemonic.map(|name| (name.forms.to_vec(), name.present))?,
            (None, _) => (fences.clone(), fences.iter().find(has).copied()?),
        };
        let base = weights.of(&present);
        let mut options = Vec::new();
        if *repair == Repair::Relax {
            if access.is_none() {
                let (name, tags) = ("none".to_string(), None);
                options.push(Choice { name, tags, features: 0, count: 0, weight: 0 });
            }
            let count = u64::from(access.is_none());
            let weaker = all.iter().filter(|kind| kind.features & !present.features == 0);
            options.extend(weaker.map(|kind| kind.choice(count, weights.of(kind))));
        } else {
            // What is there is free; of an access, each change counts where fences count.
            let count = u64::from(access.is_some() && *repair == Repair::Both);
            let stronger = all.iter().filter(|kind| present.features & !kind.features == 0);
            options.extend(stronger.map(|kind| {
                let changes = if *kind == present { 0 } else { count };
                kind.choice(changes, weights.of(kind).saturating_sub(base))
            }));
        }
        let at = options.iter().position(|choice| choice.name == present.name)?;
        (options.len() > 1).then_some((options, at))
    }
}

fn mark(decision: u32) -> Tags {
    Tags::none().marked(decision)
}

fn add(tags: &mut Tags, decision: Option<u32>) {
    if let Some(decision) = decision {
        *tags = tags.marked(decision);
    }
}
