//! A path in an HDFS, and whom to ask about it.
//!
//! `webhdfs://HOST:PORT` names the name node's HTTP server. Of `hdfs://HOST:PORT` it is on the same host, at the port of
//! `dfs.namenode.http-address` in `hdfs-site.xml` if that is of this host or of none, else at Hadoop's own.

use std::time::Duration;

use howdah_webhdfs::{Client, Error, FileKind, Patience, RemotePath};

use super::super::shell::{Done, Problem};
use crate::hadoop::site::Site;

const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(10),
    idle: Duration::from_secs(60),
    answer: Duration::from_secs(60),
    waits: &[Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3)],
};
/// Hadoop's names of the HTTP server's address, the present one last.
const HTTP_ADDRESS: [&str; 2] = ["dfs.http.address", "dfs.namenode.http-address"];
/// Where it listens unless told otherwise.
const HTTP_PORT: &str = "9870";

/// A path and a client of its name node.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) client: Client,
    pub(super) path: RemotePath,
}

impl Place {
    /// The path that somebody wrote.
    pub(super) fn of(site: &Site, text: &str) -> Done<Place> {
        if !site.file_system.is_elsewhere(text) {
            return Err(Problem(format!("`{text}': expected a path in an HDFS, as the others are")));
        }
        let path: RemotePath = text.parse().map_err(|error| Problem(format!("{error}")))?;
        if path.is_object() {
            return Err(Problem(format!("No FileSystem for scheme \"s3\": `{text}' is for jobs alone")));
        }
        let user = std::env::var("HADOOP_USER_NAME").ok().filter(|name| !name.is_empty());
        let client = Client::new(&server(site, &path), &user.unwrap_or_else(crate::caller::user), PATIENCE);
        Ok(Place { client, path })
    }

    pub(super) fn at(&self, path: RemotePath) -> Place {
        Place { client: self.client.clone(), path }
    }

    /// What is there; nothing if nothing is.
    pub(super) fn kind(&self) -> Done<Option<FileKind>> {
        match self.client.again(|_| self.client.status(&self.path.path)) {
            Ok(status) => Ok(Some(status.kind)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(said(&self.path, &error)),
        }
    }

    /// Itself, or all that its pattern matches by name.
    pub(super) fn expand(&self) -> Done<Vec<Place>> {
        if !self.path.path.contains(['*', '?', '[']) {
            return Ok(vec![self.clone()]);
        }
        let mut found = vec![self.path.with_path("/")];
        for part in self.path.path.split('/').filter(|part| !part.is_empty()) {
            let pattern = glob::Pattern::new(part).map_err(|error| Problem(format!("`{}': {error}", self.path)))?;
            let mut next = Vec::new();
            for path in &found {
                if !part.contains(['*', '?', '[']) {
                    next.push(path.child(part));
                    continue;
                }
                let names = self.client.list(&path.path).into_iter().flatten().map(|entry| entry.name);
                let mut names: Vec<String> = names.filter(|name| !name.is_empty() && pattern.matches(name)).collect();
                names.sort();
                next.extend(names.iter().map(|name| path.child(name)));
            }
            found = next;
        }
        let places = found.into_iter().map(|path| self.at(path));
        Ok(places.filter(|place| place.client.status(&place.path.path).is_ok()).collect())
    }
}

/// What a name node said, as FsShell says it.
pub(super) fn said(path: &RemotePath, error: &Error) -> Problem {
    Problem(match error {
        error if error.is_missing() => format!("`{path}': No such file or directory"),
        error if error.is_existing() => format!("`{path}': File exists"),
        Error::Refused { exception, message, .. } if exception == "AccessControlException" => message.clone(),
        error => format!("`{path}': {error}"),
    })
}

fn server(site: &Site, path: &RemotePath) -> String {
    if path.scheme == "webhdfs" {
        return path.authority.clone();
    }
    let split = |address: &str| match address.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host.to_owned(), Some(port.to_owned())),
        _ => (address.to_owned(), None),
    };
    let (host, _) = split(&path.authority);
    let given =
        HTTP_ADDRESS.iter().rev().find_map(|key| site.properties.get(*key)).map(|address| split(address.trim()));
    let port = given.filter(|(named, _)| *named == host || named == "0.0.0.0").and_then(|(_, port)| port);
    format!("{host}:{}", port.as_deref().unwrap_or(HTTP_PORT))
}
