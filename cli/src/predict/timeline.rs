//! A forecast as a picture: a bar for each job from its start to its end, with its interval as a line.

use std::fmt::Write;

use howdah_json::{ForecastView, JobView};

use crate::predict::view::id;
use crate::units;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 190.0;
const ROW: f64 = 22.0;
const TOP: f64 = 34.0;

/// An SVG document.
pub(super) fn draw(forecast: &ForecastView) -> String {
    let at = forecast.at_ms_epoch;
    let latest = forecast.jobs.iter().filter_map(|job| job.high_ms_epoch.or(job.finish_ms_epoch)).max();
    let beyond = forecast.jobs.iter().any(|job| job.high_ms_epoch.is_none());
    let until = if beyond { forecast.until_ms_epoch } else { latest.unwrap_or(at) }.max(at + 1);
    let x = |ms: u64| LEFT + (WIDTH - LEFT - 20.0) * (ms.clamp(at, until) - at) as f64 / (until - at) as f64;
    let height = TOP + ROW * forecast.jobs.len() as f64 + 30.0;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"18\" font-weight=\"bold\">Predicted ends under {}</text>",
        escape(&forecast.scheduler)
    );
    for step in 0..=5 {
        let ms = at + (until - at) * step / 5;
        let (x, bottom) = (x(ms), height - 24.0);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">+{}</text>",
            height - 8.0,
            units::seconds((ms - at) as f64 / 1e3)
        );
    }
    for (job, index) in forecast.jobs.iter().zip(0..) {
        draw_job(&mut svg, job, TOP + ROW * f64::from(index), until, &x);
    }
    svg + "</svg>\n"
}

fn draw_job(svg: &mut String, job: &JobView, y: f64, until: u64, x: &impl Fn(u64) -> f64) {
    let (from, to) = (x(job.start_ms_epoch.unwrap_or(until)), x(job.finish_ms_epoch.unwrap_or(until)));
    let fill = if job.seen { "#4878a8" } else { "#b0b0b0" };
    let (low, high) = (x(job.low_ms_epoch.unwrap_or(until)), x(job.high_ms_epoch.unwrap_or(until)));
    let (middle, text) = (y + ROW / 2.0, y + ROW / 2.0 + 4.0);
    let name: String = format!("{} {}", id(job), job.name).chars().rev().take(30).collect();
    let name: String = name.chars().rev().collect();
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{text:.1}\" text-anchor=\"end\">{}</text>\n\
         <rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>\n\
         <path d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {:.1}v8M{high:.1} {:.1}v8\" stroke=\"#c44\" fill=\"none\"/>",
        LEFT - 8.0,
        escape(&name),
        y + 3.0,
        (to - from).max(1.0),
        ROW - 6.0,
        middle - 4.0,
        middle - 4.0
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
