//! What there is below `/api/v1`: one list, which requests are looked up in and the description is made of.

/// A resource, to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Cluster,
    Jobs,
    Job,
    Attempts,
    Workers,
    Scheduler,
    Predictions,
    Description,
}

/// Stands in a path for what names one of several.
const NAME: &str = "{job}";

impl Resource {
    pub(super) const ALL: [Resource; 8] = [
        Resource::Cluster,
        Resource::Jobs,
        Resource::Job,
        Resource::Attempts,
        Resource::Workers,
        Resource::Scheduler,
        Resource::Predictions,
        Resource::Description,
    ];

    /// Below `/api/v1`.
    pub(super) fn path(self) -> &'static str {
        match self {
            Resource::Cluster => "cluster",
            Resource::Jobs => "jobs",
            Resource::Job => "jobs/{job}",
            Resource::Attempts => "jobs/{job}/attempts",
            Resource::Workers => "workers",
            Resource::Scheduler => "scheduler",
            Resource::Predictions => "predictions",
            Resource::Description => "openapi.json",
        }
    }

    /// In a sentence, for the description.
    pub(super) fn summary(self) -> &'static str {
        match self {
            Resource::Cluster => "The cluster on one screen, as `howdah cluster` prints it",
            Resource::Jobs => "Jobs, newest last, as `howdah job list` prints them",
            Resource::Job => "One job, as `howdah job status` prints it",
            Resource::Attempts => "A job's attempts, as `howdah job attempts` prints them",
            Resource::Workers => "Workers, as `howdah worker list` prints them",
            Resource::Scheduler => "The scheduler in charge, as `howdah scheduler show` prints it",
            Resource::Predictions => "When jobs will end, as `howdah predict` prints it",
            Resource::Description => "This description",
        }
    }

    /// Whether its path names a job.
    pub(super) fn names_a_job(self) -> bool {
        self.path().contains(NAME)
    }

    /// The resource with this path below `/api/v1`, and the job that the path names (else empty).
    pub(super) fn find<'a>(parts: &[&'a str]) -> Option<(Resource, &'a str)> {
        Resource::ALL.into_iter().find_map(|resource| {
            let pattern: Vec<&str> = resource.path().split('/').collect();
            let fits = pattern.len() == parts.len()
                && pattern.iter().zip(parts).all(|(pattern, part)| *pattern == NAME || pattern == part);
            let named = pattern.iter().zip(parts).find(|(pattern, _)| **pattern == NAME).map_or("", |(_, part)| *part);
            fits.then_some((resource, named))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resource_is_found_by_its_path_and_nothing_else_is() {
        for resource in Resource::ALL {
            let path = resource.path().replace(NAME, "job_1_0001");
            let parts: Vec<&str> = path.split('/').collect();
            let named = if resource.names_a_job() { "job_1_0001" } else { "" };
            assert_eq!(Resource::find(&parts), Some((resource, named)), "{path}");
        }
        for no in [&[][..], &["nodes"], &["jobs", "1", "tasks"], &["cluster", ""], &["jobs", "1", "attempts", "2"]] {
            assert_eq!(Resource::find(no), None, "{no:?}");
        }
    }
}
