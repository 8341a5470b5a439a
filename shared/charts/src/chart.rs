//! Grouped bars as SVG, for figures after the papers' own.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::style::{COLOURS, Drawn, legend, short};

/// One bar of every group.
#[derive(Clone, Debug)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// A value per group; NaN leaves the place empty.
    pub values: Vec<f64>,
    /// Least and most per group, drawn across the bars; empty when only the values are known.
    pub ranges: Vec<(f64, f64)>,
}

impl Series {
    /// Bars without ranges.
    pub fn new(name: &str, values: Vec<f64>) -> Series {
        Series { name: name.to_owned(), values, ranges: Vec::new() }
    }
}

/// A chart with groups of bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Above the chart.
    pub title: String,
    /// Of the vertical axis, with its unit.
    pub y_label: String,
    /// Names under the groups.
    pub groups: Vec<String>,
    /// The bars of each group, from left to right.
    pub series: Vec<Series>,
}

impl Bars {
    /// The chart as an SVG document.
    ///
    /// # Errors
    /// When there is nothing to draw, or the library refuses.
    pub fn svg(&self) -> Result<String> {
        let n = self.groups.len();
        let tops = |series: &Series| {
            series.values.iter().copied().chain(series.ranges.iter().map(|range| range.1)).collect::<Vec<_>>()
        };
        let highest = self.series.iter().flat_map(tops).filter(|v| v.is_finite());
        let highest = highest.fold(0.0, f64::max);
        if n == 0 || self.series.is_empty() || highest <= 0.0 {
            return Err(anyhow!("chart `{}`: nothing to draw, expected at least one bar above 0", self.title));
        }
        let wide = (120 + n as u32 * (24 + 22 * self.series.len() as u32)).max(640);
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, (wide, 420)).into_drawing_area();
            self.draw(&root, n, highest).map_err(|error| anyhow!("chart `{}`: {error}", self.title))?;
        }
        Ok(text)
    }

    fn draw(&self, root: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, n: usize, highest: f64) -> Drawn {
        root.fill(&WHITE)?;
        // The legend stands above the bars: a row of it takes about 20 of the plot's 320 points.
        let above = 20.0 * (self.series.len() + 1) as f64 / 320.0;
        let mut chart = ChartBuilder::on(root)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d(-0.5..n as f64 - 0.5, 0.0..highest / (1.0 - above.min(0.6)))?;
        let name = |at: &f64| {
            let place = at.round();
            let is_group = (at - place).abs() < 1e-6 && place >= 0.0;
            self.groups.get(place as usize).filter(|_| is_group).cloned().unwrap_or_default()
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(2 * n + 1)
            .x_label_formatter(&name)
            .y_desc(&self.y_label)
            .y_label_formatter(&|value| short(*value))
            .light_line_style(WHITE)
            .draw()?;
        let width = 0.8 / self.series.len() as f64;
        for (which, series) in self.series.iter().enumerate() {
            let colour = COLOURS[which % COLOURS.len()];
            let bars =
                series.values.iter().enumerate().filter(|(_, value)| value.is_finite()).map(|(group, &value)| {
                    let left = group as f64 - 0.4 + width * which as f64;
                    Rectangle::new([(left, 0.0), (left + width * 0.92, value)], colour.filled())
                });
            chart
                .draw_series(bars)?
                .label(&series.name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
            let line = |ends: [(f64, f64); 2]| PathElement::new(ends.to_vec(), BLACK.stroke_width(2));
            chart.draw_series(series.ranges.iter().enumerate().flat_map(|(group, &(least, most))| {
                let at = group as f64 - 0.4 + width * (which as f64 + 0.46);
                let cap = |height: f64| [(at - width * 0.15, height), (at + width * 0.15, height)];
                [[(at, least), (at, most)], cap(least), cap(most)].map(line)
            }))?;
        }
        legend(&mut chart, SeriesLabelPosition::UpperRight)?;
        root.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(values: Vec<f64>) -> Bars {
        Bars {
            title: "errors".to_owned(),
            y_label: "%".to_owned(),
            groups: vec!["wordcount".to_owned(), "sort".to_owned()],
            series: vec![Series::new("self", values)],
        }
    }

    #[test]
    fn a_range_is_a_line_with_two_caps_and_has_room() {
        let mut spread = bars(vec![1.0, 2.0]);
        let lines = |bars: &Bars| bars.svg().expect("drawn").matches("stroke-width=\"2\"").count();
        assert_eq!(lines(&spread), 0);
        spread.series[0].ranges = vec![(0.5, 1.5), (1.0, 40.0)];
        assert_eq!(lines(&spread), 6);
        assert!(spread.svg().expect("drawn").contains("\n40\n"), "the axis goes up to the highest range");
    }

    #[test]
    fn every_group_is_named_and_every_value_drawn() {
        let svg = bars(vec![1.0, 2.0]).svg().expect("drawn");
        for word in ["<svg", "errors", "wordcount", "sort", "self"] {
            assert!(svg.contains(word), "no `{word}` in {svg}");
        }
        // Two bars and the legend's sample.
        assert_eq!(svg.matches("fill=\"#1F4E79\"").count(), 3, "{svg}");
    }

    #[test]
    fn a_missing_value_leaves_its_place_empty_and_no_value_at_all_is_an_error() {
        let svg = bars(vec![1.0, f64::NAN]).svg().expect("drawn");
        assert_eq!(svg.matches("fill=\"#1F4E79\"").count(), 2);
        assert!(bars(vec![f64::NAN, 0.0]).svg().is_err());
    }
}
