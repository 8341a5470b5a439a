//! What a name node changes by itself: directories made, names moved, names removed.
//!
//! Each of these may be asked for again when no answer comes, because the end is the same: a directory that is there stays, a
//! name that is gone is gone. A move is not so by itself; that it was made shows in the source that is gone and the target that
//! is there, and a move never replaces anything.

use std::thread::sleep;

use ureq::http::Method;

use crate::answers::DoneAnswer;
use crate::client::{Client, read_json};
use crate::error::Error;
use crate::text::encoded;

impl Client {
    /// Makes a directory with all above it; fine if it is there.
    ///
    /// # Errors
    /// When a file is in its way, or the name node refuses or gives no answer that makes sense.
    pub fn make_directory(&self, path: &str) -> Result<(), Error> {
        self.again(|_| {
            let (answer, url) = self.change(Method::PUT, path, "MKDIRS", "")?;
            match read_json::<DoneAnswer>(answer, &url)?.boolean {
                true => Ok(()),
                false => Err(undone(url, "the directory was not made")),
            }
        })
    }

    /// Moves a file or a directory to a path where nothing is and whose parent is there.
    ///
    /// # Errors
    /// When the source or the target's parent is missing, something is at the target, or as above.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        // With the option, Hadoop refuses a target that is there; without, it would move into it.
        let more = format!("&destination={}&renameoptions=NONE", encoded(to).replace('/', "%2F"));
        self.again(|is_first| {
            let renamed = self.change(Method::PUT, from, "RENAME", &more);
            match renamed {
                // Nobody else moves it, so the try before did. What cannot be known yet is asked again.
                Err(error) if !is_first && error.is_missing() => match self.status(to) {
                    Ok(_) => Ok(()),
                    Err(unknown) if unknown.may_pass() || unknown.is_trouble() => Err(unknown),
                    Err(_) => Err(error),
                },
                Err(error) => Err(error),
                // Hadoop's answer is empty. A gateway (HttpFS) does not know the option and says whether it was done.
                Ok((answer, url)) => match read_json::<DoneAnswer>(answer, &url) {
                    Ok(DoneAnswer { boolean: false }) => Err(undone(url, "the name was not moved")),
                    _ => Ok(()),
                },
            }
        })
    }

    /// Removes a file or a directory with all that is in it; fine if nothing is there.
    ///
    /// # Errors
    /// When the name node refuses or gives no answer that makes sense.
    pub fn remove(&self, path: &str) -> Result<(), Error> {
        self.delete(path, true)
    }

    /// Removes a file, or a directory in which nothing is; fine if nothing is there.
    ///
    /// # Errors
    /// When something is in the directory, or as above.
    pub fn remove_if_empty(&self, path: &str) -> Result<(), Error> {
        self.delete(path, false)
    }

    fn delete(&self, path: &str, recursive: bool) -> Result<(), Error> {
        let more = format!("&recursive={recursive}");
        self.again(|_| self.change(Method::DELETE, path, "DELETE", &more).map(drop))
    }

    /// Tries until it is done, or will not be, or the tries are used up; says which try is the first.
    ///
    /// # Errors
    /// Those of the last try.
    pub fn again<T>(&self, mut work: impl FnMut(bool) -> Result<T, Error>) -> Result<T, Error> {
        let mut is_first = true;
        let mut waits = self.patience().waits.iter();
        loop {
            match work(is_first) {
                Err(error) if error.may_pass() => match waits.next() {
                    Some(&wait) => sleep(wait),
                    None => return Err(error),
                },
                done => return done,
            }
            is_first = false;
        }
    }
}

fn undone(url: String, what: &str) -> Error {
    Error::Refused { url, exception: what.to_owned(), message: "the name node does not say why".to_owned() }
}
