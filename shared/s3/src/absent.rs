//! What stands for the client in a build without it: none can be made, so nothing here is ever run.

use std::convert::Infallible;
use std::io::{self, Read};

use howdah_webhdfs::{FileStatus, Patience};

use crate::error::Error;
use crate::store::{Credentials, Store};

/// None.
#[derive(Clone, Debug)]
pub struct Client(Infallible);

/// None.
#[derive(Debug)]
pub struct ObjectReader(Infallible);

impl Client {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: &Store, _: Credentials, _: &str, _: Patience) -> Result<Client, Error> {
        Err(Error::NotBuilt)
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn status(&self, _: &str) -> Result<FileStatus, Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn list(&self, _: &str, _: usize) -> Result<Vec<FileStatus>, Error> {
        match self.0 {}
    }
}

impl ObjectReader {
    /// Never.
    pub fn new(client: Client, _: &str, _: u64, _: u64, _: u64) -> ObjectReader {
        match client.0 {}
    }
}

impl Read for ObjectReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}
