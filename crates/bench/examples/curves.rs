//! Draws the table that the benchmark of exploration prints, which comes on stdin: curves into the
//! folder that is the first argument, a table into the page that is the second. `make curves`.

use std::error::Error;
use std::path::Path;
use std::{env, fs, io};

use parallax_bench::figures::{Row, figures, table, with_table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(folder), Some(page)) = (arguments.next(), arguments.next()) else {
        return Err("usage: curves FOLDER PAGE.md < TABLE".into());
    };
    let text = io::read_to_string(io::stdin())?;
    let rows: Vec<Row> = text.lines().filter_map(Row::parse).collect();
    if rows.is_empty() {
        return Err("no row of a table on stdin".into());
    }
    fs::create_dir_all(&folder)?;
    for (name, chart) in figures(&rows) {
        fs::write(Path::new(&folder).join(name), chart.svg())?;
    }
    let old = fs::read_to_string(&page)?;
    let new = with_table(&old, &table(&rows)).ok_or("the page has no marks for the table")?;
    fs::write(page, new)?;
    Ok(())
}
