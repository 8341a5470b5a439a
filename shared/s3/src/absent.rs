//! What stands for the client in a build without it: none can be made, so nothing here is ever run.

use std::convert::Infallible;
use std::io::{self, Read};

use howdah_webhdfs::{FileStatus, Patience};

use crate::error::Error;
use crate::pending::Pending;
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
    pub fn list(&self, _: &str, _: usize, _: &dyn Fn() -> bool) -> Result<Vec<FileStatus>, Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn small(&self, _: &str) -> Result<Vec<u8>, Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn put(&self, _: &str, _: Vec<u8>) -> Result<(), Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn put_new(&self, _: &str, _: Vec<u8>) -> Result<(), Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn delete(&self, _: &str) -> Result<(), Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn remove(&self, _: &str, _: bool) -> Result<(), Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn begin(&self, _: &str, _: u64) -> Result<Pending, Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn upload(&self, _: &mut Pending, _: &mut dyn Read) -> Result<(), Error> {
        match self.0 {}
    }

    /// Never.
    ///
    /// # Errors
    /// Never.
    pub fn complete(&self, _: &Pending) -> Result<(), Error> {
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
