//! The command `parallax-hunt`, for developers.

mod crew;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use parallax_hunt::features::Feature;
use parallax_hunt::generate::generate;
use parallax_hunt::hunt::{Options, hunt};
use parallax_hunt::plan::Focus;
use parallax_hunt::query::MODELS;
use parallax_hunt::random::Random;
use parallax_hunt::{print_c, print_litmus};
use parallax_program::Property;

/// Random programs through every engine: who disagrees is wrong.
#[derive(Parser)]
#[command(name = "parallax-hunt")]
struct Arguments {
    /// Decides which programs there are
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The number of the first program
    #[arg(long, default_value_t = 0)]
    first: u64,

    /// So many programs at most
    #[arg(long)]
    programs: Option<u64>,

    /// So long at most
    #[arg(long)]
    minutes: Option<f64>,

    /// Features that programs should have, with commas between them
    #[arg(long, value_delimiter = ',', value_parser = feature)]
    features: Vec<Feature>,

    /// Models to ask about, and no others
    #[arg(long, value_delimiter = ',', value_parser = model)]
    models: Vec<&'static str>,

    /// Properties to ask about, and no others
    #[arg(long, value_delimiter = ',', value_parser = property)]
    properties: Vec<Property>,

    /// Seconds that an engine may take for a question
    #[arg(long, default_value_t = 2.0)]
    limit: f64,

    /// A folder for programs that show disagreements
    #[arg(long)]
    keep: Option<PathBuf>,

    /// So many of each kind are kept
    #[arg(long, default_value_t = 2)]
    each: u64,

    /// Seconds that a disagreement is made smaller
    #[arg(long, default_value_t = 60.0)]
    shrink: f64,

    /// Stop at the first disagreement
    #[arg(long)]
    stop: bool,

    /// Only print a program, as C and as a litmus test
    #[arg(long)]
    show: bool,

    /// Answers by engine, model and property, reasons and features are shown too
    #[arg(long)]
    details: bool,

    /// Do the work in this process, and print bare counters
    #[arg(long, hide = true)]
    worker: Option<PathBuf>,
}

fn feature(name: &str) -> Result<Feature, String> {
    Feature::named(name).ok_or_else(|| {
        let names: Vec<&str> = Feature::ALL.iter().map(|feature| feature.name()).collect();
        format!("features are {}", names.join(", "))
    })
}

fn model(name: &str) -> Result<&'static str, String> {
    let model = MODELS.iter().copied().find(|model| *model == name);
    model.ok_or_else(|| format!("models are {}", MODELS.join(", ")))
}

fn property(name: &str) -> Result<Property, String> {
    let names = Property::ALL.map(Property::name);
    Property::named(name).ok_or_else(|| format!("properties are {}", names.join(", ")))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.show {
        let random = &mut Random::of(arguments.seed, arguments.first);
        let program = generate(random, &arguments.features);
        print!("{}", print_c::print(&program));
        if let Some(test) = print_litmus::print(&program) {
            print!("\n{test}");
        }
        return ExitCode::SUCCESS;
    }
    let done = match &arguments.worker {
        Some(_) => hunt(&options(&arguments)).inspect(|figures| print!("{}", figures.lines())),
        None => crew::run(&arguments.crew())
            .inspect(|figures| print!("{}", figures.text(arguments.details))),
    };
    match done {
        Ok(figures) if figures.is_clean() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn options(arguments: &Arguments) -> Options {
    Options {
        seed: arguments.seed,
        first: arguments.first,
        programs: arguments.programs,
        time: arguments.minutes.map(|minutes| seconds(minutes * 60.0)),
        features: arguments.features.clone(),
        focus: Focus { models: arguments.models.clone(), properties: arguments.properties.clone() },
        limit: seconds(arguments.limit),
        shrinking: seconds(arguments.shrink),
        keep: arguments.keep.clone(),
        each: arguments.each,
        stops: arguments.stop,
        quiet: false,
        current: arguments.worker.clone(),
    }
}

impl Arguments {
    fn crew(&self) -> crew::Crew {
        let features: Vec<&str> = self.features.iter().map(|feature| feature.name()).collect();
        let properties: Vec<&str> =
            self.properties.iter().map(|property| property.name()).collect();
        let lists =
            [("features", features), ("models", self.models.clone()), ("properties", properties)];
        let mut passed = vec![
            format!("--seed={}", self.seed),
            format!("--limit={}", self.limit),
            format!("--each={}", self.each),
            format!("--shrink={}", self.shrink),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            passed.push(format!("--{name}={}", list.join(",")));
        }
        if let Some(keep) = &self.keep {
            passed.push(format!("--keep={}", keep.display()));
        }
        if self.stop {
            passed.push("--stop".to_string());
        }
        crew::Crew {
            first: self.first,
            programs: self.programs,
            time: self.minutes.map(|minutes| seconds(minutes * 60.0)),
            stops: self.stop,
            passed,
        }
    }
}
