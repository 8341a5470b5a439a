//! The system's random numbers, for what others must not guess or must not have as well.
//!
//! They are drawn by the driver and recorded or written down where they are needed again; the core, whose decisions must repeat,
//! never gets at them.

use std::fs::File;
use std::io::{self, Read};

/// 128 bits that nobody can guess, as 32 hexadecimal digits.
pub(crate) fn token() -> io::Result<String> {
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes()?)))
}

/// A number that no other cluster has; never 0, which says that there is none.
pub(crate) fn nonce() -> io::Result<u64> {
    Ok(u64::from_ne_bytes(bytes()?).max(1))
}

fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_draws_are_alike() {
        assert_ne!(nonce().unwrap(), nonce().unwrap());
        let (one, other) = (token().unwrap(), token().unwrap());
        assert_eq!((one.len(), other.len()), (32, 32));
        assert_ne!(one, other);
    }
}
