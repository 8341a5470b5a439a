//! No path and no query below `/api/v1` makes the master panic, or list more than a page: anybody may ask.

use howdah_fuzz::{Readings, cases, changed, changes};
use proptest::prelude::*;

use super::*;

static READINGS: Readings = Readings::of("requests");

const QUERIES: [&str; 4] = [
    "state=failed,Killed&user=a+b&name=%6eight&limit=7&page=2&active=true",
    "limit=7&page=2",
    "all=true&limit=1000&page=1",
    "horizon_ms=3600000&model=linear&starts=10",
];
const PATHS: [&str; 3] = ["jobs/job_202611261029_0001/attempts", "jobs/7", "openapi.json"];

/// What each resource makes of a query: how many items of which page it would tell.
fn pages(uri: &Uri) -> Vec<Result<usize, Refused>> {
    let jobs = || {
        let query = read::<JobsQuery>(uri)?;
        let (size, _) = query.page(uri)?;
        query.filter(uri)?;
        Ok(size)
    };
    let attempts = || read::<AttemptsQuery>(uri)?.places(uri).map(|places| places.len());
    let workers = || read::<WorkersQuery>(uri)?.page(uri, vec![(); 3_000]).map(|page| page.len());
    let predictions = || read::<PredictionsQuery>(uri)?.request(uri).map(|request| request.starts as usize);
    vec![jobs(), attempts(), workers(), predictions()]
}

#[test]
fn each_good_query_is_taken() {
    for (place, query) in QUERIES.iter().enumerate() {
        let uri = format!("/api/v1/x?{query}").parse().expect("an address");
        assert!(pages(&uri)[place].is_ok(), "{query}");
    }
    for path in PATHS {
        assert!(Resource::find(&path.split('/').collect::<Vec<_>>()).is_some(), "{path}");
    }
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn changed_requests_are_taken_within_bounds_or_refused(
        which in 0..QUERIES.len(),
        changes in changes(),
        path in 0..PATHS.len(),
        of_path in changes(),
    ) {
        let path = changed(PATHS[path].as_bytes(), &of_path);
        let _ = Resource::find(&String::from_utf8_lossy(&path).split('/').collect::<Vec<_>>());
        let query = changed(QUERIES[which].as_bytes(), &changes);
        // What is no address does not come so far.
        if let Ok(uri) = format!("/api/v1/x?{}", String::from_utf8_lossy(&query)).parse::<Uri>() {
            for said in pages(&uri) {
                match said {
                    Ok(items) => prop_assert!(items <= 1_000, "{} items", items),
                    Err(refused) => prop_assert_eq!(refused.status.as_u16(), 400),
                }
            }
        }
        READINGS.add(5);
    }
}
