//! One lane per slot: every attempt where and when it ran.
//!
//! Few pieces are rectangles that tell about themselves when pointed at; many become one path per colour, with
//! neighbours that are narrower than a pixel drawn as one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::io::Write;

use howdah_core::job::TaskKind;

use super::axis::Axis;
use super::data::{MAX_LANES, MAX_PIECES, Timeline, slots_of};
use super::lanes::{Place, Placed};
use super::stages::{Stage, stretches};
use super::svg::{FOOT, HEAD, LEFT, RIGHT, Svg, WIDTH, num, shortened};

/// Up to this many pieces each is a rectangle of its own.
const MAX_TIPS: usize = 5_000;
/// Pixels below which neighbours are drawn as one.
const THIN: f64 = 0.7;

/// The picture, ready to be written.
pub(crate) struct SlotLanes<'a> {
    timeline: &'a Timeline,
    axis: Axis,
    rows: Rows,
    pieces: Vec<Piece>,
}

/// Where each lane is.
struct Rows {
    /// Top of the first lane of each worker and kind.
    tops: BTreeMap<(u32, TaskKind), f64>,
    /// Height of a lane and its gap.
    pitch: f64,
    bottom: f64,
}

/// A rectangle of one colour.
#[derive(Clone, Copy)]
struct Piece {
    lane: (u32, TaskKind, u32),
    stage: Stage,
    /// Index of the attempt that begins it.
    attempt: usize,
    wave: u32,
    x: f64,
    to_x: f64,
}

impl<'a> SlotLanes<'a> {
    /// `None` if there are too many lanes or pieces.
    pub(crate) fn new(timeline: &'a Timeline, placed: &Placed) -> Option<SlotLanes<'a>> {
        let lanes: u32 = placed.lanes.values().sum();
        if lanes as usize > MAX_LANES {
            return None;
        }
        let (from, to) = timeline.span();
        let axis = Axis::new(from, to, LEFT, WIDTH - LEFT - RIGHT);
        let pieces = pieces(timeline, placed, &axis)?;
        Some(SlotLanes { timeline, axis, rows: Rows::new(placed), pieces })
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let timeline = self.timeline;
        let mut svg = Svg::open(out, self.rows.bottom + FOOT, &timeline.title, &timeline.subtitle)?;
        let used = Stage::ALL.into_iter().filter(|stage| self.pieces.iter().any(|piece| piece.stage == *stage));
        let legend: Vec<(&str, &str)> = used.map(|stage| (stage.class(), stage.label())).collect();
        svg.legend(&legend)?;
        self.write_names(&mut svg)?;
        self.axis.draw(&mut svg, HEAD, self.rows.bottom)?;
        if self.pieces.len() <= MAX_TIPS {
            self.write_rectangles(&mut svg)?
        } else {
            self.write_paths(&mut svg)?
        }
        svg.close()
    }

    /// Names of the slots at the left, and a pale ground under each group.
    fn write_names(&self, svg: &mut Svg<'_>) -> io::Result<()> {
        let mut groups = self.rows.tops.iter().peekable();
        let mut named = f64::NEG_INFINITY;
        while let Some((&(worker, kind), &top)) = groups.next() {
            let next = groups.peek().map_or(self.rows.bottom, |&(_, &next)| next);
            let height = next - top - self.rows.gap();
            svg.rect("e", [self.axis.left(), top, self.axis.right() - self.axis.left(), height.max(1.0)], None)?;
            let name = self.timeline.worker(worker);
            let text = match name {
                Some(name) if kind == TaskKind::Map => shortened(name, 18),
                // A worker's name is said once, at its first group.
                Some(name) if !self.rows.tops.contains_key(&(worker, TaskKind::Map)) => shortened(name, 18),
                Some(_) => continue,
                None => slots_of(kind).to_owned(),
            };
            let y = top + if name.is_some() { 9.0f64.min(self.rows.pitch) } else { (height / 2.0 + 4.0).max(9.0) };
            if y - named >= 11.0 {
                svg.text("t", "end", self.axis.left() - 8.0, y, &text)?;
                named = y;
            }
        }
        Ok(())
    }

    fn write_rectangles(&self, svg: &mut Svg<'_>) -> io::Result<()> {
        let height = self.rows.height();
        for piece in &self.pieces {
            let y = self.rows.y(piece.lane);
            let width = (piece.to_x - piece.x).max(0.3);
            let class = format!("{}{} x", piece.stage.class(), if self.is_other(piece) { "2" } else { "" });
            svg.rect(&class, [piece.x, y, width, height], Some(&self.tip(piece)))?;
            let job = self.timeline.attempts[piece.attempt].attempt.job.0.to_string();
            let dark = matches!(piece.stage, Stage::Map | Stage::Reduce) && !self.is_other(piece);
            if height >= 11.0 && width > 8.0 + 6.5 * job.len() as f64 {
                svg.text(if dark { "l" } else { "t" }, "middle", piece.x + width / 2.0, y + height / 2.0 + 4.0, &job)?;
            }
        }
        Ok(())
    }

    fn write_paths(&self, svg: &mut Svg<'_>) -> io::Result<()> {
        let height = self.rows.height();
        for stage in Stage::ALL {
            let mut path = String::new();
            for piece in self.pieces.iter().filter(|piece| piece.stage == stage) {
                let width = num((piece.to_x - piece.x).max(0.3));
                let (x, y) = (num(piece.x), num(self.rows.y(piece.lane)));
                // Writing to a string cannot fail.
                let _ = write!(path, "M{x} {y}h{width}v{0}h-{width}z", num(height));
            }
            let seams = if height >= 3.0 && self.pieces.len() < MAX_PIECES / 2 { " x" } else { "" };
            svg.path(&format!("{}{seams}", stage.class()), &path)?;
        }
        Ok(())
    }

    /// Every other job has another shade.
    fn is_other(&self, piece: &Piece) -> bool {
        self.timeline.attempts[piece.attempt].attempt.job.0.is_multiple_of(2)
    }

    fn tip(&self, piece: &Piece) -> String {
        let record = &self.timeline.attempts[piece.attempt];
        let id = record.attempt;
        let tries = if id.number == 0 { String::new() } else { format!(", attempt {}", id.number) };
        let ahead = if record.speculative { ", speculative" } else { "" };
        let what = if piece.stage == Stage::Map { String::new() } else { format!(" ({})", piece.stage.label()) };
        let seconds = |time: howdah_core::time::Time| time.as_us() as f64 / 1e6;
        format!(
            "{}: {} {}{tries}{ahead}{what}, wave {}, {:.3} to {:.3} s",
            self.timeline.job_label(id.job.0),
            id.kind,
            id.index,
            piece.wave,
            seconds(record.start),
            seconds(record.end)
        )
    }
}

impl Rows {
    fn new(placed: &Placed) -> Rows {
        let lanes: u32 = placed.lanes.values().sum();
        let pitch = (960.0 / f64::from(lanes.max(1))).clamp(4.0, 24.0);
        let mut rows = Rows { tops: BTreeMap::new(), pitch, bottom: HEAD };
        let mut last_worker = None;
        for (&(worker, kind), &lanes) in &placed.lanes {
            // Workers stand further apart than the two kinds of one.
            rows.bottom += if last_worker.is_some_and(|last| last != worker) { rows.gap() } else { 0.0 };
            last_worker = Some(worker);
            rows.tops.insert((worker, kind), rows.bottom);
            rows.bottom += f64::from(lanes) * pitch + rows.gap();
        }
        rows.bottom = rows.bottom.max(HEAD + 40.0);
        rows
    }

    fn gap(&self) -> f64 {
        if self.pitch >= 8.0 { 6.0 } else { 2.0 }
    }

    /// Of a lane, without its gap.
    fn height(&self) -> f64 {
        self.pitch - if self.pitch >= 8.0 { 2.0 } else { 0.6 }
    }

    fn y(&self, (worker, kind, lane): (u32, TaskKind, u32)) -> f64 {
        self.tops.get(&(worker, kind)).copied().unwrap_or(HEAD) + f64::from(lane) * self.pitch
    }
}

/// `None` if there are too many, even with thin neighbours drawn as one.
fn pieces(timeline: &Timeline, placed: &Placed, axis: &Axis) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    // The last piece of each lane and stage, which may grow.
    let mut last: BTreeMap<(u32, TaskKind, u32, Stage), usize> = BTreeMap::new();
    for &Place { attempt, lane, wave } in &placed.attempts {
        let record = &timeline.attempts[attempt];
        let lane = (record.worker.0, record.attempt.kind, lane);
        for stretch in stretches(record) {
            let (x, to_x) = (axis.x(stretch.from), axis.x(stretch.to));
            let previous = last.get(&(lane.0, lane.1, lane.2, stretch.stage)).map(|&index| &mut pieces[index]);
            if let Some(previous) =
                previous.filter(|p| to_x - x < THIN && x - p.to_x < THIN / 2.0 && p.to_x - p.x < THIN)
            {
                previous.to_x = to_x;
                continue;
            }
            if pieces.len() == MAX_PIECES {
                return None;
            }
            last.insert((lane.0, lane.1, lane.2, stretch.stage), pieces.len());
            pieces.push(Piece { lane, stage: stretch.stage, attempt, wave, x, to_x });
        }
    }
    Some(pieces)
}
