//! What of a program is beyond the way in which it is asked about.

use parallax_machine::Code;
use parallax_solver::Terms;
use parallax_verdict::Reason;

use crate::gharachorloo::first_part;
use crate::options::{Framework, Options};
use crate::structure::Structure;

/// Why there is no answer, if there is none.
pub fn beyond(
    options: &Options<'_>,
    structure: &Structure,
    terms: &Terms,
    code: &Code<'_>,
) -> Option<Reason> {
    let by_parts = options.framework == Framework::Gharachorloo;
    if let Some(part) = first_part(structure).filter(|_| by_parts) {
        let site = structure.events[part].site;
        return Some(Reason {
            message: "an access of which others use a part: the framework 'gharachorloo' knows \
                      whole accesses only"
                .to_string(),
            place: site.map(|site| code.program.source.location(code.span(site))),
            help: None,
        });
    }
    let too_large = options.solving.integers && terms.has_large_integers();
    too_large.then(|| Reason {
        message: "numbers become too large to be followed as integers".to_string(),
        place: None,
        help: None,
    })
}
