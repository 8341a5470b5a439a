//! A job's output in an HDFS, as the master's properties tell of it, and the mark by which a job knows it for its own.
//!
//! The mark is a file with a text that nobody else has. The directory is made beside its place, with the mark in it, and then moved
//! to where nothing is; it goes by the same way. So it is never there without a mark, whatever breaks off, of two masters that begin
//! with one directory at the same instant one has it, and who comes too late finds another's mark and leaves the output alone.

use std::io::{Cursor, Read};

use crate::address::RemotePath;
use crate::client::{Client, Patience};
use crate::error::Error;
use crate::{MARK_PROPERTY, USER_PROPERTY, server_property};

/// Where a job's output goes, on whose server, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutput {
    /// The job's output directory.
    pub path: RemotePath,
    server: String,
    user: String,
    mark: String,
}

/// What says whose an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// It has this job's mark.
    Ours,
    /// It has another's.
    Theirs,
    /// It has none, or is not there.
    Nobody,
}

impl JobOutput {
    /// The output with this address; `property` gives a job's properties.
    ///
    /// # Errors
    /// In words, when the address is none or a property is missing.
    pub fn of<'a>(directory: &str, property: impl Fn(&str) -> Option<&'a str>) -> Result<JobOutput, String> {
        let path: RemotePath = directory.parse().map_err(|error| format!("output {error}"))?;
        let given = |key: &str| {
            let missing = || format!("output `{directory}`: expected a property `{key}`");
            property(key).map(str::to_owned).ok_or_else(missing)
        };
        let (server, user) = (given(&server_property(&path))?, given(USER_PROPERTY)?);
        Ok(JobOutput { mark: given(MARK_PROPERTY)?, path, server, user })
    }

    /// A client of its name node.
    pub fn client(&self, patience: Patience) -> Client {
        Client::new(&self.server, &self.user, patience)
    }

    /// `host:port` of its name node's HTTP server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The path of what is under this name in it.
    pub fn inside(&self, name: &str) -> String {
        self.path.child(name).path
    }

    /// Looks whether nothing is there, before a reservation.
    ///
    /// # Errors
    /// When something is, or the name node refuses or does not answer.
    pub fn check_free(&self, client: &Client) -> Result<(), Error> {
        match client.again(|_| client.status(&self.path.path)) {
            Ok(_) => Err(self.exists()),
            Err(error) if error.is_missing() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Makes the directory, which was free, with the mark in it.
    ///
    /// # Errors
    /// When the directory exists, or the name node or a data node refuses or does not answer.
    pub fn reserve(&self, client: &Client, mark: &str) -> Result<(), Error> {
        let aside = self.aside();
        let marked = format!("{aside}/{mark}");
        let place = marked.rsplit_once('/').map_or("/", |(place, _)| place);
        let mut open = || Ok(Box::new(Cursor::new(self.mark.clone())) as Box<dyn Read>);
        let made = client.make_directory(place).and_then(|()| client.write(&marked, self.mark.len() as u64, &mut open));
        let moved = made.and_then(|()| client.rename(&aside, &self.path.path)).inspect_err(|_| {
            // It is nobody else's, by its name.
            let _ = client.remove(&aside);
        });
        moved?;
        // A gateway (HttpFS) moves a directory into one that is there. Where that is not known, attempts will see.
        if !matches!(self.owner(client, mark), Ok(Owner::Theirs | Owner::Nobody)) {
            return Ok(());
        }
        let name = aside.rsplit_once('/').map_or(aside.as_str(), |(_, name)| name);
        client.remove(&self.inside(name))?;
        Err(self.exists())
    }

    /// Removes the directory, in which nothing is but `private` with the mark in it; what others have put beside that stays.
    ///
    /// # Errors
    /// When the name node refuses or does not answer. It may be done again.
    pub fn let_go(&self, client: &Client, private: &str) -> Result<(), Error> {
        if !is_alone(client, &self.path.path, private)? {
            return client.remove(&self.inside(private));
        }
        client.rename(&self.path.path, &self.aside())?;
        self.clear_aside(client, private)
    }

    /// Removes what a reservation or a removal that broke off has left beside the directory.
    ///
    /// # Errors
    /// As above.
    pub fn clear_aside(&self, client: &Client, private: &str) -> Result<(), Error> {
        let aside = self.aside();
        match is_alone(client, &aside, private) {
            Ok(true) => client.remove(&aside),
            // Somebody added something between the look and the move.
            Ok(false) => {
                client.remove(&format!("{aside}/{private}"))?;
                client.rename(&aside, &self.path.path)
            }
            Err(error) if error.is_missing() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Where the directory is while it is made and while it is removed: beside it, under a name that no job takes for input.
    fn aside(&self) -> String {
        let (parent, name) = self.path.path.rsplit_once('/').unwrap_or(("", &self.path.path));
        format!("{parent}/_{name}-{}", self.mark)
    }

    /// A path beside this one that no other job writes to.
    pub fn own(&self, path: &str) -> String {
        format!("{path}-{}", self.mark)
    }

    /// Whose mark is there.
    ///
    /// # Errors
    /// When that cannot be known.
    pub fn owner(&self, client: &Client, mark: &str) -> Result<Owner, Error> {
        match client.small_file(&self.inside(mark)) {
            Ok(found) if found == self.mark.as_bytes() => Ok(Owner::Ours),
            Ok(_) => Ok(Owner::Theirs),
            Err(error) if error.is_missing() => Ok(Owner::Nobody),
            Err(error) => Err(error),
        }
    }

    fn exists(&self) -> Error {
        let exception = "FileAlreadyExistsException".to_owned();
        Error::Refused { url: self.path.to_string(), exception, message: "it exists already".to_owned() }
    }
}

/// Whether a directory has no entry but this one.
fn is_alone(client: &Client, path: &str, private: &str) -> Result<bool, Error> {
    Ok(client.again(|_| client.list(path))?.iter().all(|entry| entry.name == private))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of(directory: &str, properties: &BTreeMap<String, String>) -> Result<JobOutput, String> {
        JobOutput::of(directory, |key| properties.get(key).map(String::as_str))
    }

    #[test]
    fn an_output_needs_its_server_its_user_and_its_mark() {
        let mut properties = BTreeMap::new();
        let mut expect = |key: &str, value: &str| {
            let error = of("hdfs://nn:8020/out", &properties).unwrap_err();
            assert_eq!(error, format!("output `hdfs://nn:8020/out`: expected a property `{key}`"));
            properties.insert(key.to_owned(), value.to_owned());
        };
        expect("howdah.hdfs.http.hdfs://nn:8020", "nn:9870");
        expect(USER_PROPERTY, "ann");
        expect(MARK_PROPERTY, "0123");
        let output = of("hdfs://nn:8020/out", &properties).unwrap();
        assert_eq!((output.server(), output.inside("_temporary/_job").as_str()), ("nn:9870", "/out/_temporary/_job"));
        assert!(of("hdfs://nn:8020/../out", &properties).unwrap_err().contains("without `..`"));
    }
}
