//! From a plan back to texts.

use std::collections::BTreeMap;

use parallax_program::Location;

use crate::decision::{Plan, Subject};
use crate::mnemonics::Mnemonic;
use crate::prepare::{Prepared, Site};
use crate::source::Style;
use crate::source::edits::{Edit, edit};

/// Something that a plan does to the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub decision: usize,
    pub subject: Subject,
    pub place: Location,
    /// What was there, and what is there now.
    pub from: String,
    pub to: String,
}

impl Prepared {
    /// What a plan changes, in the order of the source.
    pub fn changes(&self, plan: &Plan) -> Vec<Change> {
        let mut changes = Vec::new();
        for (number, decision) in self.decisions.0.iter().enumerate() {
            let from = decision.options.get(decision.present);
            let to = self.decisions.chosen(plan, number);
            if let (Some(from), Some(to)) = (from, to)
                && from != to
            {
                changes.push(Change {
                    decision: number,
                    subject: decision.subject,
                    place: decision.place.clone(),
                    from: from.name.clone(),
                    to: to.name.clone(),
                });
            }
        }
        changes.sort_by(|a, b| a.place.cmp(&b.place));
        changes
    }

    /// The texts of the documents under a plan.
    pub fn texts(&self, plan: &Plan) -> Vec<String> {
        let changes = self.changes(plan);
        let files = self.documents.iter().enumerate();
        let texts = files.map(|(file, document)| {
            let own = || changes.iter().filter(|c| self.sites[c.decision].file == file);
            let inserted = own().filter(|change| change.subject == Subject::Insertion);
            let fences: Vec<(usize, u32, String)> = inserted
                .map(|change| {
                    let number = change.decision;
                    (self.sites[number].at, number as u32, document.fence(&change.to))
                })
                .collect();
            let mut edits = document.insertions(&fences, Style::Lines);
            edits.extend(self.order_edits(file, plan, own()));
            edit(&document.text, edits).text
        });
        texts.collect()
    }

    /// Changes of orders, and fences that go.
    fn order_edits<'c>(
        &self,
        file: usize,
        plan: &Plan,
        changes: impl Iterator<Item = &'c Change>,
    ) -> Vec<Edit> {
        let document = &self.documents[file];
        let mut edits = Vec::new();
        let mut written_out: BTreeMap<Site, ()> = BTreeMap::new();
        for change in changes.filter(|change| change.subject != Subject::Insertion) {
            let site = self.sites[change.decision];
            let Some(orders) = document.orders(site.at) else {
                continue;
            };
            if let (Subject::Access, Some(range)) = (change.subject, document.instruction(site.at))
            {
                let mnemonic = Mnemonic::of(self.dialect, &document.text, range);
                let changed = mnemonic.and_then(|old| old.changed(&document.text, &change.to));
                edits.extend(changed.map(|(name, new)| Edit::replace(name, new)));
            } else if change.subject == Subject::Fence && change.to == "none" {
                edits.extend(document.removal(site.at));
            } else if orders.is_implicit() {
                if written_out.insert(site, ()).is_none() {
                    let [success, failure] = self.orders_at(site, plan);
                    edits.extend(orders.write_out(&success, &failure));
                }
            } else {
                let is_failure = change.subject == Subject::Failure;
                let to = document.spelled(&change.to);
                edits.extend(orders.change(&document.text, &to, is_failure));
            }
        }
        edits
    }

    /// The orders that a plan has for success and failure of an access.
    fn orders_at(&self, site: Site, plan: &Plan) -> [String; 2] {
        let mut orders = ["sc".to_string(), "sc".to_string()];
        for (number, decision) in self.decisions.0.iter().enumerate() {
            let slot = match decision.subject {
                Subject::Access => 0,
                Subject::Failure => 1,
                Subject::Insertion | Subject::Fence => continue,
            };
            if self.sites[number] == site
                && let Some(choice) = self.decisions.chosen(plan, number)
            {
                orders[slot] = choice.name.clone();
            }
        }
        orders
    }
}
