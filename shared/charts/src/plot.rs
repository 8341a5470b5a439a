//! Lines and clouds of points over one axis as SVG, for figures after the papers' own.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::style::{COLOURS, Drawn, legend, short};

/// One line, or one cloud.
#[derive(Clone, Debug)]
pub struct Curve {
    /// For the legend.
    pub name: String,
    /// Ascending by the first for lines; what is not finite is left out.
    pub points: Vec<(f64, f64)>,
    /// Whether the points are joined.
    pub joined: bool,
}

/// A line of more points is drawn without their marks.
const MOST_MARKS: usize = 60;

/// A chart of curves.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Above the chart.
    pub title: String,
    /// Of the horizontal axis, with its unit.
    pub x_label: String,
    /// Of the vertical axis, with its unit.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic; then nothing at or below 0 is drawn.
    pub x_log: bool,
    /// Whether the vertical axis is.
    pub y_log: bool,
    /// What is drawn.
    pub curves: Vec<Curve>,
    /// Names and heights of lines across the chart.
    pub across: Vec<(String, f64)>,
}

impl Plot {
    /// The chart as an SVG document.
    ///
    /// # Errors
    /// When there is nothing to draw, or the library refuses.
    pub fn svg(&self) -> Result<String> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points).filter(|point| self.shows(point));
        if points().next().is_none() {
            return Err(anyhow!("chart `{}`: nothing to draw, expected at least one point", self.title));
        }
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        };
        let range = |(low, high): (f64, f64), log: bool| {
            if log { (low / 1.2, high * 1.2) } else { (low.min(0.0), high.max(low.min(0.0) + 1e-9) * 1.1) }
        };
        let across = self.across.iter().map(|&(_, y)| y).filter(|y| !self.y_log || *y > 0.0);
        let (first, last) = ends(&mut points().map(|point| point.0));
        let (mut left, right) = range((first, last), self.x_log);
        // Half of the chart would be empty, and nothing across is a length from 0.
        if !self.x_log && first > right / 2.5 {
            left = first - (right - first) / 10.0;
        }
        let (low, high) = range(ends(&mut points().map(|point| point.1).chain(across)), self.y_log);
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, (720, 420)).into_drawing_area();
            let drawn = match (self.x_log, self.y_log) {
                (false, false) => self.draw(&root, left..right, low..high, left..right),
                (true, false) => self.draw(&root, (left..right).log_scale(), low..high, left..right),
                (false, true) => self.draw(&root, left..right, (low..high).log_scale(), left..right),
                (true, true) => self.draw(&root, (left..right).log_scale(), (low..high).log_scale(), left..right),
            };
            drawn.map_err(|error| anyhow!("chart `{}`: {error}", self.title))?;
        }
        Ok(text)
    }

    fn shows(&self, &(x, y): &(f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && (!self.x_log || x > 0.0) && (!self.y_log || y > 0.0)
    }

    /// Where the legend hides less: on the left where curves rise to the right.
    fn corner(&self, x: std::ops::Range<f64>) -> SeriesLabelPosition {
        let middle = if self.x_log { (x.start * x.end).sqrt() } else { (x.start + x.end) / 2.0 };
        let shown = || self.curves.iter().flat_map(|curve| &curve.points).filter(|point| self.shows(point));
        let highest = |right: bool| {
            shown().filter(|point| (point.0 > middle) == right).map(|point| point.1).fold(f64::NEG_INFINITY, f64::max)
        };
        if highest(true) > highest(false) { SeriesLabelPosition::UpperLeft } else { SeriesLabelPosition::UpperRight }
    }

    fn draw<X, Y>(&self, root: &DrawingArea<SVGBackend<'_>, Shift>, x: X, y: Y, width: std::ops::Range<f64>) -> Drawn
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(root)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(60)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&|value| short(*value))
            .y_label_formatter(&|value| short(*value))
            .light_line_style(WHITE)
            .draw()?;
        for (which, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[which % COLOURS.len()];
            let points: Vec<(f64, f64)> = curve.points.iter().copied().filter(|point| self.shows(point)).collect();
            let size = if curve.joined || points.len() <= MOST_MARKS { 3 } else { 2 };
            if curve.joined {
                chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            }
            let marks = if curve.joined && points.len() > MOST_MARKS { &[][..] } else { &points[..] };
            chart
                .draw_series(marks.iter().map(|&point| Circle::new(point, size, colour.mix(0.8).filled())))?
                .label(&curve.name)
                .legend(move |(x, y)| Circle::new((x + 6, y), 4, colour.filled()));
        }
        for (which, (name, height)) in self.across.iter().enumerate() {
            let colour = if which % 2 == 0 { BLACK } else { RED };
            let line = [(width.start, *height), (width.end, *height)];
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(1)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 12, y)], colour));
        }
        legend(&mut chart, self.corner(width.clone()))?;
        root.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>, log: bool) -> Plot {
        Plot {
            title: "slowdown".to_owned(),
            x_label: "size in s".to_owned(),
            y_label: "slowdown".to_owned(),
            x_log: log,
            y_log: log,
            curves: vec![Curve { name: "fbq".to_owned(), points, joined: true }],
            across: vec![("median".to_owned(), 2.0)],
        }
    }

    #[test]
    fn curves_axes_and_lines_are_named() {
        for log in [false, true] {
            let svg = plot(vec![(1.0, 1.0), (100.0, 3.0)], log).svg().expect("drawn");
            for word in ["<svg", "slowdown", "size in s", "fbq", "median"] {
                assert!(svg.contains(word), "no `{word}` in {svg}");
            }
            // Two points and the legend's sample.
            assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
        }
    }

    #[test]
    fn what_an_axis_cannot_show_is_left_out_and_nothing_at_all_is_an_error() {
        let svg = plot(vec![(0.0, 1.0), (f64::NAN, 1.0), (10.0, 3.0)], true).svg().expect("drawn");
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(plot(vec![(0.0, 1.0)], true).svg().is_err());
    }

    #[test]
    fn an_axis_across_begins_where_the_points_do_if_they_lie_far_from_0() {
        let ticks = |from: f64| plot(vec![(from, 1.0), (99.0, 3.0)], false).svg().expect("drawn");
        assert!(ticks(50.0).contains("\n60\n") && !ticks(50.0).contains("\n20\n"), "{}", ticks(50.0));
        assert!(ticks(10.0).contains("\n0\n"), "{}", ticks(10.0));
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([0.0, 0.25, 2.0, 2.5, 12_000.0].map(short), ["0", "0.25", "2", "2.5", "12000"]);
    }
}
