//! The rows of jobs that are over and whose rest is read from their histories.
//!
//! Each is encoded, a page's worth one behind the other: as they stood they were a dozen pieces of the heap each, between what
//! lives for a moment.

use std::collections::VecDeque;

use howdah_core::job::JobId;
use howdah_proto::v1;
use prost::Message;

/// Bytes of a page; a row that is longer has one of its own.
const PAGE: usize = 32 << 10;

/// Rows in the order in which their jobs left the memory.
#[derive(Debug, Default)]
pub(super) struct Retired {
    pages: VecDeque<Page>,
    n: usize,
}

#[derive(Debug)]
struct Page {
    bytes: Vec<u8>,
    /// Each job, and where its row ends.
    rows: Vec<(JobId, usize)>,
    /// Of them so many are gone, the first ones.
    gone: usize,
}

impl Retired {
    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn push(&mut self, job: JobId, status: &v1::JobStatus) {
        let length = status.encoded_len();
        if self.pages.back().is_none_or(|page| page.bytes.len() + length > page.bytes.capacity()) {
            let bytes = Vec::with_capacity(PAGE.max(length));
            self.pages.push_back(Page { bytes, rows: Vec::new(), gone: 0 });
        }
        let page = self.pages.back_mut().expect("there is one now");
        status.encode(&mut page.bytes).expect("there is room");
        page.rows.push((job, page.bytes.len()));
        self.n += 1;
    }

    /// The oldest one goes.
    pub(super) fn drop_first(&mut self) {
        let Some(page) = self.pages.front_mut() else { return };
        page.gone += 1;
        self.n -= 1;
        if page.gone == page.rows.len() {
            self.pages.pop_front();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = v1::JobStatus> + '_ {
        self.pages.iter().flat_map(|page| (page.gone..page.rows.len()).map(|row| page.status(row)))
    }

    pub(super) fn get(&self, job: JobId) -> Option<v1::JobStatus> {
        self.pages.iter().find_map(|page| {
            let row = page.rows.iter().skip(page.gone).position(|(known, _)| *known == job)?;
            Some(page.status(page.gone + row))
        })
    }
}

impl Page {
    fn status(&self, row: usize) -> v1::JobStatus {
        let begin = row.checked_sub(1).map_or(0, |before| self.rows[before].1);
        v1::JobStatus::decode(&self.bytes[begin..self.rows[row].1]).expect("encoded by `push`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(job: u32, length: usize) -> v1::JobStatus {
        v1::JobStatus { job: format!("job_1_{job:04}"), name: "n".repeat(length), ..v1::JobStatus::default() }
    }

    #[test]
    fn rows_come_back_as_they_were_the_oldest_go_first_and_their_pages_with_them() {
        let length = |job: u32| if job == 7 { 2 * PAGE } else { 900 + job as usize };
        let mut retired = Retired::default();
        for job in 1..=100 {
            retired.push(JobId(job), &status(job, length(job)));
        }
        let all = |retired: &Retired| retired.iter().map(|status| status.job).collect::<Vec<_>>();
        let printed = |from: u32| (from..=100).map(|job| status(job, 0).job).collect::<Vec<_>>();
        assert_eq!((retired.len(), all(&retired)), (100, printed(1)));
        for job in [1, 6, 7, 8, 100] {
            assert_eq!(retired.get(JobId(job)), Some(status(job, length(job))));
        }
        let pages = retired.pages.len();
        for _ in 0..60 {
            retired.drop_first();
        }
        assert_eq!((retired.len(), all(&retired)), (40, printed(61)));
        assert!(retired.pages.len() < pages);
        assert_eq!((retired.get(JobId(60)), retired.get(JobId(101))), (None, None));
        assert_eq!(retired.get(JobId(61)), Some(status(61, length(61))));
        for _ in 0..50 {
            retired.drop_first();
        }
        assert_eq!((retired.len(), retired.pages.len()), (0, 0));
        retired.push(JobId(101), &status(101, 5));
        assert_eq!(all(&retired), ["job_1_0101"]);
    }
}
