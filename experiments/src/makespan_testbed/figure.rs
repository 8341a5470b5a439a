//! Measured bars with their spread, beside simulated ones.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::Schedule;

const MEASURED: RGBColor = RGBColor(31, 78, 121);
const SIMULATED: RGBColor = RGBColor(226, 135, 67);

/// As an SVG document.
pub(super) fn svg(schedules: &[Schedule]) -> Result<String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (640, 420)).into_drawing_area();
        draw(&root, schedules).map_err(|error| anyhow!("draw the figure: {error}"))?;
    }
    Ok(text)
}

fn draw(
    root: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    schedules: &[Schedule],
) -> Result<(), Box<dyn std::error::Error>> {
    root.fill(&WHITE)?;
    let highest = schedules.iter().map(|one| one.most().max(one.simulated())).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(root)
        .caption("Makespan of the batch: measured and simulated", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(60)
        .build_cartesian_2d(-0.5..schedules.len() as f64 - 0.5, 0.0..(highest * 1.25).max(1.0))?;
    let name = |at: &f64| {
        let place = at.round();
        let known = (at - place).abs() < 1e-6 && place >= 0.0;
        schedules.get(place as usize).filter(|_| known).map(|one| one.name.to_owned()).unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(2 * schedules.len() + 1)
        .x_label_formatter(&name)
        .y_desc("seconds")
        .light_line_style(WHITE)
        .draw()?;
    let bar =
        |at: f64, value: f64, colour: RGBColor| Rectangle::new([(at - 0.18, 0.0), (at + 0.18, value)], colour.filled());
    let places = || schedules.iter().zip(0u32..).map(|(one, place)| (one, f64::from(place)));
    chart
        .draw_series(places().map(|(one, at)| bar(at - 0.2, one.mean(), MEASURED)))?
        .label("measured, mean and range")
        .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], MEASURED.filled()));
    chart
        .draw_series(places().map(|(one, at)| bar(at + 0.2, one.simulated(), SIMULATED)))?
        .label("simulated")
        .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], SIMULATED.filled()));
    let line = |ends: [(f64, f64); 2]| PathElement::new(ends.to_vec(), BLACK.stroke_width(2));
    chart.draw_series(places().flat_map(|(one, at)| {
        let (at, least, most) = (at - 0.2, one.least(), one.most());
        let cap = |height: f64| [(at - 0.06, height), (at + 0.06, height)];
        [[(at, least), (at, most)], cap(least), cap(most)].map(line)
    }))?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    root.present()?;
    Ok(())
}
