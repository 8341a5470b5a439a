//! Which store, and as whom: by the variables that all of Amazon's tools read, and what a job may say of it.
//!
//! The daemons' environment names the store and holds the credentials, of the master and of each worker. A job can make nobody
//! call a host of its choice, and puts no secret into its properties, which are shown to everybody: Hadoop's keys for these are
//! refused, or must say what is so already.

use std::collections::BTreeMap;
use std::fmt;

use crate::PROPERTIES;

/// Variables with the store's address, the first one that is set counts.
const ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// Where nothing says another.
const REGION: &str = "us-east-1";
/// Hadoop's.
const HADOOP: &str = "fs.s3a.";
/// Ends of Hadoop's keys that hold secrets.
const SECRETS: [&str; 3] = ["access.key", "secret.key", "session.token"];

/// An S3-compatible store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// `http://HOST:PORT` or `https://HOST`.
    pub endpoint: String,
    /// As signatures name it.
    pub region: String,
}

/// As whom requests are signed; nobody where there are none.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(pub(crate) Option<Key>);

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) token: Option<String>,
}

/// Where the store is, or as whom to ask it, is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The address is none.
    #[error("variable `{variable}`: `{value}`: expected the store's address as http://HOST:PORT or https://HOST")]
    Endpoint {
        /// Its name.
        variable: &'static str,
        /// As it is set.
        value: String,
    },
    /// A job names another store.
    #[error("property `{key}`: `{value}`: jobs of this cluster use `{endpoint}`")]
    Elsewhere {
        /// Its name.
        key: String,
        /// As given.
        value: String,
        /// The cluster's store.
        endpoint: String,
    },
    /// A job brings a secret.
    #[error("property `{key}`: the properties of a job are shown to everybody, expected no secret in them")]
    Secret {
        /// Its name.
        key: String,
    },
    /// Nobody to ask as.
    #[error("expected the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where the daemon was started")]
    Nobody,
    /// What the master says is missing.
    #[error("expected a property `{0}`")]
    Property(String),
}

impl Store {
    /// The store of a daemon's environment, which `variable` gives.
    ///
    /// # Errors
    /// When the address is none.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Store, StoreError> {
        let set = |names: &[&'static str]| {
            names.iter().find_map(|&name| Some((name, variable(name).filter(|value| !value.is_empty())?)))
        };
        let region = set(&REGIONS).map_or_else(|| REGION.to_owned(), |(_, value)| value);
        let Some((variable, value)) = set(&ENDPOINTS) else {
            return Ok(Store { endpoint: format!("https://s3.{region}.amazonaws.com"), region });
        };
        let endpoint = plain(&value).ok_or(StoreError::Endpoint { variable, value })?;
        Ok(Store { endpoint, region })
    }

    /// The store that the master says.
    ///
    /// # Errors
    /// When it says none.
    pub fn of_properties<'a>(property: impl Fn(&str) -> Option<&'a str>) -> Result<Store, StoreError> {
        let given = |name: &str| {
            let key = format!("{PROPERTIES}{name}");
            property(&key).map(str::to_owned).ok_or(StoreError::Property(key))
        };
        Ok(Store { endpoint: given("endpoint")?, region: given("region")? })
    }

    /// What tells attempts of it.
    pub fn properties(&self) -> [(String, String); 2] {
        [("endpoint", &self.endpoint), ("region", &self.region)]
            .map(|(name, value)| (format!("{PROPERTIES}{name}"), value.clone()))
    }

    /// Whether a job may use buckets with these properties: it brings no secret, and names no other store.
    ///
    /// # Errors
    /// When it is not so.
    pub fn check(&self, properties: &BTreeMap<String, String>) -> Result<(), StoreError> {
        check_secrets(properties)?;
        for (key, value) in of_hadoop(properties) {
            let is_same = |value: &str| plain(value).is_some_and(|named| named.eq_ignore_ascii_case(&self.endpoint));
            let value = value.trim();
            // Hadoop takes an address without a scheme for one of TLS.
            if key.ends_with(".endpoint") && !is_same(value) && !is_same(&format!("https://{value}")) {
                let (key, value) = (key.clone(), value.to_owned());
                return Err(StoreError::Elsewhere { key, value, endpoint: self.endpoint.clone() });
            }
        }
        Ok(())
    }
}

impl Credentials {
    /// Those of a daemon's or an attempt's environment.
    ///
    /// # Errors
    /// When there are none, unless `AWS_SKIP_SIGNATURE` says that none are wanted.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Credentials, StoreError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        match (set("AWS_ACCESS_KEY_ID"), set("AWS_SECRET_ACCESS_KEY")) {
            (Some(id), Some(secret)) => Ok(Credentials(Some(Key { id, secret, token: set("AWS_SESSION_TOKEN") }))),
            _ if set("AWS_SKIP_SIGNATURE").is_some_and(|value| value == "true") => Ok(Credentials(None)),
            _ => Err(StoreError::Nobody),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Credentials(…)" } else { "Credentials(nobody)" })
    }
}

/// Whether a job may have these properties, wherever its files are: everybody sees them, so they have no secret.
///
/// # Errors
/// When one is a key of a store.
pub fn check_secrets(properties: &BTreeMap<String, String>) -> Result<(), StoreError> {
    let mut keys = of_hadoop(properties).map(|(key, _)| key);
    match keys.find(|key| is_secret(key)) {
        Some(key) => Err(StoreError::Secret { key: key.clone() }),
        None => Ok(()),
    }
}

/// Whether a property is one of Hadoop's that hold a store's keys.
pub fn is_secret(key: &str) -> bool {
    key.starts_with(HADOOP) && SECRETS.iter().any(|end| key.ends_with(end))
}

fn of_hadoop(properties: &BTreeMap<String, String>) -> impl Iterator<Item = (&String, &String)> {
    properties.range(HADOOP.to_owned()..).take_while(|(key, _)| key.starts_with(HADOOP))
}

/// The address of a store in one spelling, if it is one.
fn plain(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let (scheme, host) = text.split_once("://")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    let is_one = matches!(scheme, "http" | "https") && !host.is_empty() && host.chars().all(is_plain);
    is_one.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        let map: BTreeMap<String, String> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        move |name| map.get(name).cloned()
    }

    fn store(pairs: &[(&str, &str)]) -> Result<Store, StoreError> {
        Store::of_environment(environment(pairs))
    }

    #[test]
    fn the_environment_names_the_store_and_amazons_is_the_default() {
        let of = |pairs: &[(&str, &str)]| store(pairs).map(|store| format!("{} {}", store.endpoint, store.region));
        assert_eq!(of(&[]).unwrap(), "https://s3.us-east-1.amazonaws.com us-east-1");
        let both = [("AWS_REGION", "eu-west-1"), ("AWS_DEFAULT_REGION", "x"), ("AWS_ENDPOINT_URL", "")];
        assert_eq!(of(&both).unwrap(), "https://s3.eu-west-1.amazonaws.com eu-west-1");
        let named = [("AWS_ENDPOINT_URL", "http://other"), ("AWS_ENDPOINT_URL_S3", "http://s3.example:9000/")];
        assert_eq!(of(&named).unwrap(), "http://s3.example:9000 us-east-1");
        for wrong in ["s3.example", "ftp://s3", "http://", "http://u:p@s3/", "http://s3/path"] {
            let said = of(&[("AWS_ENDPOINT_URL", wrong)]).unwrap_err().to_string();
            assert!(said.starts_with(&format!("variable `AWS_ENDPOINT_URL`: `{wrong}`: expected")), "{said}");
        }
    }

    #[test]
    fn an_attempt_is_told_the_store_by_properties() {
        let told = store(&[("AWS_ENDPOINT_URL", "http://s3:9000"), ("AWS_REGION", "eu")]).unwrap();
        let properties: BTreeMap<String, String> = told.properties().into();
        assert_eq!(Store::of_properties(|key| properties.get(key).map(String::as_str)), Ok(told));
        let said = Store::of_properties(|_| None).unwrap_err().to_string();
        assert_eq!(said, "expected a property `howdah.s3.endpoint`");
    }

    #[test]
    fn a_job_names_no_other_store_and_brings_no_secret() {
        let store = store(&[("AWS_ENDPOINT_URL", "https://s3.example")]).unwrap();
        let check = |key: &str, value: &str| store.check(&BTreeMap::from([(key.to_owned(), value.to_owned())]));
        for same in ["s3.example", "https://s3.example/", "https://S3.example"] {
            assert_eq!(check("fs.s3a.endpoint", same), Ok(()), "{same}");
        }
        assert_eq!(check("fs.s3a.connection.maximum", "15"), Ok(()));
        for other in ["http://s3.example", "169.254.169.254", ""] {
            let said = check("fs.s3a.bucket.logs.endpoint", other).unwrap_err().to_string();
            assert!(said.ends_with("jobs of this cluster use `https://s3.example`"), "{said}");
        }
        for key in ["fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.bucket.logs.session.token"] {
            let said = check(key, "hush").unwrap_err().to_string();
            assert!(said.starts_with(&format!("property `{key}`: ")) && !said.contains("hush"), "{said}");
        }
    }

    #[test]
    fn credentials_are_whole_or_not_wanted_and_are_not_printed() {
        let of = |pairs: &[(&str, &str)]| Credentials::of_environment(environment(pairs));
        let whole = of(&[("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "hush")]).unwrap();
        assert_eq!(format!("{whole:?}"), "Credentials(…)");
        assert_eq!(of(&[("AWS_ACCESS_KEY_ID", "AKIA")]), Err(StoreError::Nobody));
        assert_eq!(of(&[("AWS_SKIP_SIGNATURE", "true")]), Ok(Credentials(None)));
    }
}
