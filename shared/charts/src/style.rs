//! What all charts share: colours, legend, numbers on axes.

use plotters::coord::CoordTranslate;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;

/// Told apart in grey too.
pub(crate) const COLOURS: [RGBColor; 6] = [
    RGBColor(31, 78, 121),
    RGBColor(226, 135, 67),
    RGBColor(118, 160, 92),
    RGBColor(140, 60, 110),
    RGBColor(160, 160, 160),
    RGBColor(40, 150, 160),
];

/// Drawing, or what the library says.
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Legend and frame, above whatever was drawn.
pub(crate) fn legend<'a, B, C>(
    chart: &mut ChartContext<'a, B, C>,
    place: SeriesLabelPosition,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
where
    B: DrawingBackend + 'a,
    C: CoordTranslate,
{
    chart
        .configure_series_labels()
        .position(place)
        .background_style(WHITE.mix(0.8))
        .border_style(RGBColor(200, 200, 200))
        .draw()
}

/// A number on an axis, with as many digits as a glance can use.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}").trim_end_matches(".0").to_owned(),
        _ => format!("{value:.2}"),
    }
}
