//! A run that takes part in a search on several hosts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_cluster::{Cycle, LEAST_SECRET, Patience, Site, join, parse_hosts};
use parallax_control::Control;
use parallax_engine_explore::{Company, take_part};
use parallax_files::sha256;
use parallax_program::{Diagnostic, Diagnostics};
use parallax_query::Query;

use crate::checkpoint::Identity;
use crate::request::Prepared;
use crate::text::{read, shown};

/// Where a cluster's secret is looked for if no file is named.
pub const SECRET: &str = "PARALLAX_SECRET";

/// Where the leading process keeps its search if nobody says where.
pub const USUAL_CHECKPOINT: &str = "parallax.checkpoint";

/// Which processes there are.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// A file with `host:port` of each process.
    pub hosts: PathBuf,
    /// Which of them this one is.
    pub process: usize,
    /// A file with the secret that all of them know; the environment has it otherwise.
    pub secret: Option<PathBuf>,
    /// Gets to know who was refused.
    pub say: fn(&str),
    pub patience: Patience,
}

impl Cluster {
    pub fn leads(&self) -> bool {
        self.process == 0
    }

    fn site(&self, identity: &Identity) -> Result<Site, Diagnostics> {
        let name = shown(&self.hosts);
        let wrong = |message: String| vec![Diagnostic::new(message)];
        let hosts = parse_hosts(&read(&self.hosts)?)
            .map_err(|(line, why)| wrong(format!("{name}:{line}: {why}")))?;
        let (process, count) = (self.process, hosts.len());
        if process >= count {
            let message = format!("there is no process {process}: '{name}' has {count} hosts");
            let help = "processes are numbered from 0, in the order of the lines";
            return Err(vec![Diagnostic::new(message).with_help(help)]);
        }
        let secret = self.secret()?;
        let about = format!("{} {}", identity.line(), sha256(hosts.join("\n").as_bytes()));
        Ok(Site { hosts, process, secret, about, patience: self.patience })
    }

    fn secret(&self) -> Result<Vec<u8>, Diagnostics> {
        let secret = match &self.secret {
            Some(path) => read(path)?,
            None => std::env::var(SECRET).unwrap_or_default(),
        };
        let secret = secret.trim().as_bytes().to_vec();
        if secret.len() >= LEAST_SECRET {
            return Ok(secret);
        }
        let message = match secret.len() {
            0 => "a cluster needs a secret that all of its processes know".to_string(),
            _ => format!("the secret of the cluster is shorter than {LEAST_SECRET} bytes"),
        };
        let help = format!("name a file that has one, or put one into the variable {SECRET}");
        Err(vec![Diagnostic::new(message).with_help(help)])
    }
}

impl Prepared {
    /// The query of a search in which other processes take part, and the way to them.
    pub(crate) fn joined<'a>(
        &self,
        query: Query<'a>,
        control: &Control<'_>,
    ) -> Result<(Query<'a>, Option<Arc<Cycle>>), Diagnostics> {
        let Some(cluster) = &self.request.cluster else {
            return Ok((query, None));
        };
        let site = cluster.site(&Identity::of(self, &query))?;
        let is_cancelled = || control.reason().is_some();
        let cycle =
            join(&site, &is_cancelled, &cluster.say).map_err(|why| vec![Diagnostic::new(why)])?;
        let cycle = Arc::new(cycle);
        let company = Company { link: cycle.clone() };
        let query = Query { extensions: query.extensions.clone().with(company), ..query };
        Ok((query, Some(cycle)))
    }

    /// Takes part in a search that another process leads. Says who was lost, if somebody was.
    pub fn take_part(&self, control: &Control<'_>) -> Result<Option<String>, Diagnostics> {
        let (query, cycle) = self.joined(self.query(), control)?;
        let lost = take_part(&query, control);
        cycle.iter().for_each(|cycle| cycle.leave());
        lost
    }
}

/// Where a search is kept, if its others can be lost.
pub(crate) fn usual_file(cluster: Option<&Cluster>) -> Option<PathBuf> {
    cluster.filter(|cluster| cluster.leads()).map(|_| Path::new(USUAL_CHECKPOINT).to_path_buf())
}
