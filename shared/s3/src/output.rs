//! A job's output in a bucket, as the master's properties tell of it, and the mark by which a job knows it for its own.
//!
//! A store has no names that move. So attempts upload their files to where they are to be, and the uploads are completed when the
//! job is promoted; until then nobody sees them. The mark is an object that was made where nothing was, with a text that nobody
//! else has.

use howdah_webhdfs::{Owner, Patience, RemotePath};

use crate::client::Client;
use crate::error::Error;
use crate::store::{Credentials, Store};
use crate::{MARK_PROPERTY, StoreError};

/// Where a job's output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobBucket {
    /// The job's output directory.
    pub path: RemotePath,
    store: Store,
    mark: String,
}

impl JobBucket {
    /// The output with this address; `property` gives a job's properties.
    ///
    /// # Errors
    /// In words, when the address is none or a property is missing.
    pub fn of<'a>(directory: &str, property: impl Fn(&str) -> Option<&'a str>) -> Result<JobBucket, String> {
        let path: RemotePath = directory.parse().map_err(|error| format!("output {error}"))?;
        let wrong = |error: StoreError| format!("output `{directory}`: {error}");
        let store = Store::of_properties(&property).map_err(wrong)?;
        let mark = property(MARK_PROPERTY).map(str::to_owned);
        let mark = mark.ok_or_else(|| wrong(StoreError::Property(MARK_PROPERTY.to_owned())))?;
        Ok(JobBucket { path, store, mark })
    }

    /// A client of its bucket, with the credentials of this process's environment.
    ///
    /// # Errors
    /// When there are none, or the client cannot be made.
    pub fn client(&self, patience: Patience) -> Result<Client, Error> {
        let credentials = Credentials::of_environment(|name| std::env::var(name).ok())?;
        Client::new(&self.store, credentials, &self.path.authority, patience)
    }

    /// The path of what is under this name in it.
    pub fn inside(&self, name: &str) -> String {
        self.path.child(name).path
    }

    /// Looks whether nothing is there, before a reservation.
    ///
    /// # Errors
    /// [`Error::Exists`] when the directory or an object of its name is there, or the store refuses or does not answer.
    pub fn check_free(&self, client: &Client) -> Result<(), Error> {
        match client.status(&self.path.path) {
            Ok(_) => Err(Error::Exists),
            Err(Error::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Makes the mark in what was free.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is one, or the store refuses or does not answer.
    pub fn reserve(&self, client: &Client, mark: &str) -> Result<(), Error> {
        match client.put_new(&self.inside(mark), self.mark.clone().into_bytes()) {
            // A try whose answer was lost may have made it.
            Err(Error::Exists) if self.owner(client, mark)? == Owner::Ours => Ok(()),
            done => done,
        }
    }

    /// Whose mark is there.
    ///
    /// # Errors
    /// When that cannot be known.
    pub fn owner(&self, client: &Client, mark: &str) -> Result<Owner, Error> {
        match client.small(&self.inside(mark)) {
            Ok(found) if found == self.mark.as_bytes() => Ok(Owner::Ours),
            Ok(_) => Ok(Owner::Theirs),
            Err(Error::Missing) => Ok(Owner::Nobody),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_output_needs_its_store_and_its_mark() {
        let mut properties = BTreeMap::new();
        let of = |properties: &BTreeMap<&str, &str>| {
            JobBucket::of("s3://data/out", |key| properties.get(key).copied()).map(|output| output.inside("_SUCCESS"))
        };
        for (key, value) in [("howdah.s3.endpoint", "http://s3"), ("howdah.s3.region", "eu"), (MARK_PROPERTY, "0123")] {
            assert_eq!(of(&properties), Err(format!("output `s3://data/out`: expected a property `{key}`")));
            properties.insert(key, value);
        }
        assert_eq!(of(&properties).as_deref(), Ok("/out/_SUCCESS"));
    }
}
