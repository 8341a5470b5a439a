//! The few elements of SVG that a timeline needs, written as they come.
//!
//! Text stays text, so that it can be searched and read aloud; the background is a white rectangle, so that dark
//! viewers do not swallow black letters; colours are classes of one style sheet.

use std::io::{self, Write};

use super::stages::Stage;

/// Width of every picture.
pub(crate) const WIDTH: f64 = 1240.0;
/// From here on right of the names of lanes.
pub(crate) const LEFT: f64 = 150.0;
/// Space right of the plot.
pub(crate) const RIGHT: f64 = 24.0;
/// Height of title, subtitle and legend.
pub(crate) const HEAD: f64 = 88.0;
/// Height of the axis' numbers.
pub(crate) const FOOT: f64 = 48.0;

/// A picture being written.
pub(crate) struct Svg<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Svg<'a> {
    /// Opens the picture with its styles, title and subtitle.
    pub(crate) fn open(out: &'a mut dyn Write, height: f64, title: &str, subtitle: &str) -> io::Result<Svg<'a>> {
        let (w, h) = (num(WIDTH), num(height));
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\" font-size=\"12\" role=\"img\">"
        )?;
        writeln!(out, "<title>{}</title>", escaped(title))?;
        writeln!(out, "<desc>{}</desc>", escaped(subtitle))?;
        out.write_all(b"<defs>\n")?;
        hatch(out, "failed", "#D55E00")?;
        hatch(out, "killed", "#7A7A7A")?;
        dots(out, "waits", "#F7E2B5")?;
        dots(out, "waits2", "#FDF4DF")?;
        out.write_all(b"</defs>\n<style>\n")?;
        for stage in Stage::ALL {
            writeln!(out, ".{0}{{fill:{1}}}.{0}2{{fill:{2}}}", stage.class(), stage.fill(), stage.other_fill())?;
        }
        out.write_all(
            b".t{fill:#333}.h{fill:#111;font-size:17px;font-weight:600}.l{fill:#fff;font-size:10px}\n\
              .g{stroke:#e3e3e3}.a{stroke:#333}.c{stroke:#333;stroke-dasharray:5 4;fill:none}.q{fill:#BDBDBD}.e{fill:#f4f4f4}\n\
              .x{stroke:#fff;stroke-width:.5}\n\
              </style>\n",
        )?;
        writeln!(out, "<rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>")?;
        let mut svg = Svg { out };
        svg.text("h", "start", 20.0, 30.0, title)?;
        svg.text("t", "start", 20.0, 50.0, subtitle)?;
        Ok(svg)
    }

    /// Coloured squares with their meanings, in one row below the subtitle.
    pub(crate) fn legend(&mut self, entries: &[(&str, &str)]) -> io::Result<()> {
        let mut x = 20.0;
        for (class, label) in entries {
            self.rect(class, [x, 62.0, 14.0, 12.0], None)?;
            self.text("t", "start", x + 19.0, 72.5, label)?;
            // Letters differ in width; this is wide enough for any usual font.
            x += 36.0 + 6.9 * label.chars().count() as f64;
        }
        Ok(())
    }

    /// A rectangle; `tip` shows when it is pointed at.
    pub(crate) fn rect(&mut self, class: &str, place: [f64; 4], tip: Option<&str>) -> io::Result<()> {
        let [x, y, w, h] = place.map(num);
        write!(self.out, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"")?;
        match tip {
            Some(tip) => writeln!(self.out, "><title>{}</title></rect>", escaped(tip)),
            None => self.out.write_all(b"/>\n"),
        }
    }

    /// A path with these commands; nothing if there are none.
    pub(crate) fn path(&mut self, class: &str, commands: &str) -> io::Result<()> {
        if commands.is_empty() { Ok(()) } else { writeln!(self.out, "<path class=\"{class}\" d=\"{commands}\"/>") }
    }

    /// A straight line.
    pub(crate) fn line(&mut self, class: &str, x1: f64, y1: f64, x2: f64, y2: f64) -> io::Result<()> {
        let (x1, y1, x2, y2) = (num(x1), num(y1), num(x2), num(y2));
        writeln!(self.out, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>")
    }

    /// One line of text; `anchor` is `start`, `middle` or `end`.
    pub(crate) fn text(&mut self, class: &str, anchor: &str, x: f64, y: f64, text: &str) -> io::Result<()> {
        let (x, y, text) = (num(x), num(y), escaped(text));
        writeln!(self.out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>")
    }

    /// Ends the picture.
    pub(crate) fn close(self) -> io::Result<()> {
        self.out.write_all(b"</svg>\n")
    }
}

fn hatch(out: &mut dyn Write, id: &str, colour: &str) -> io::Result<()> {
    writeln!(
        out,
        "<pattern id=\"{id}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">\
         <rect width=\"5\" height=\"5\" fill=\"{colour}\" fill-opacity=\".35\"/>\
         <path d=\"M-1 6L6 -1M-1 1L1 -1M4 6L6 4\" stroke=\"{colour}\" stroke-width=\"1.6\"/></pattern>"
    )
}

/// Dark dots on a pale ground.
fn dots(out: &mut dyn Write, id: &str, ground: &str) -> io::Result<()> {
    writeln!(
        out,
        "<pattern id=\"{id}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">\
         <rect width=\"5\" height=\"5\" fill=\"{ground}\"/>\
         <circle cx=\"1.5\" cy=\"1.5\" r=\".9\" fill=\"#7A5200\"/></pattern>"
    )
}

/// At most two decimals, none that say nothing.
pub(crate) fn num(value: f64) -> String {
    let mut text = format!("{value:.2}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// As XML text and attribute value. Characters that XML cannot hold become U+FFFD.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// At most `max` characters, the rest as an ellipsis.
pub fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(max.saturating_sub(1)).collect();
    short.push('…');
    short
}
