//! What files are: `-test`, `-stat`, `-du`, `-count`; and `-chmod` and `-chown`.

use std::fs::{Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::super::paths::Named;
use super::owners;
use super::shell::{Done, Problem, Shell, said, walk};

/// A file as listings show it.
pub(super) struct Described {
    pub(super) is_dir: bool,
    bits: u32,
    pub(super) owner: String,
    pub(super) group: String,
    /// 0 of directories.
    pub(super) bytes: u64,
    /// `yyyy-MM-dd HH:mm`, local time.
    pub(super) minute: String,
}

impl Described {
    pub(super) fn of(metadata: &Metadata) -> Described {
        let (uid, gid) = (metadata.uid(), metadata.gid());
        let (owner, group) = (owners::user(uid), owners::group(gid));
        Described {
            is_dir: metadata.is_dir(),
            bits: metadata.mode(),
            owner,
            group,
            bytes: if metadata.is_dir() { 0 } else { metadata.len() },
            minute: minute(jiff::Timestamp::from_second(metadata.mtime())),
        }
    }

    /// What a name node says of a file, of user and group, permissions as bits and its last change in milliseconds.
    pub(super) fn remote(is_dir: bool, bits: u32, names: (String, String), length: u64, modified_ms: i64) -> Described {
        let (owner, group) = names;
        let minute = minute(jiff::Timestamp::from_millisecond(modified_ms));
        Described { is_dir, bits, owner, group, bytes: if is_dir { 0 } else { length }, minute }
    }

    /// `drwxr-xr-x`
    pub(super) fn mode(&self) -> String {
        let bits = ["r", "w", "x"].into_iter().cycle().take(9).enumerate();
        let bits: String = bits.map(|(at, letter)| if self.bits >> (8 - at) & 1 == 1 { letter } else { "-" }).collect();
        format!("{}{bits}", if self.is_dir { 'd' } else { '-' })
    }
}

fn minute(time: Result<jiff::Timestamp, jiff::Error>) -> String {
    time.unwrap_or_default().to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// `1.5 K`, as Hadoop prints sizes for people.
pub(super) fn human(bytes: u64) -> String {
    let step = (0..5).rev().find(|step| bytes >> (10 * step) > 0).unwrap_or(0);
    if step == 0 {
        return bytes.to_string();
    }
    let size = format!("{:.1}", bytes as f64 / (1_u64 << (10 * step)) as f64);
    format!("{} {}", size.trim_end_matches(".0"), ["", "K", "M", "G", "T"][step])
}

/// `-test`: the exit code is the answer.
pub(super) fn test(shell: &mut Shell<'_>) -> Done {
    let operands = shell.operands(1)?;
    let Some(&flag) = shell.given.flags.first() else { return Err(Problem("No test flag given".to_owned())) };
    let metadata = std::fs::metadata(shell.site.file_system.local(&operands[0])?);
    let holds = metadata.is_ok_and(|metadata| match flag {
        "d" => metadata.is_dir(),
        "f" => metadata.is_file(),
        "s" => metadata.len() > 0 || metadata.is_dir(),
        "z" => metadata.is_file() && metadata.len() == 0,
        _ => true,
    });
    shell.failed = !holds;
    Ok(())
}

/// `-stat [FORMAT]`, by default the time of the last change, UTC.
pub(super) fn stat(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(1)?;
    let format = if operands[0].contains('%') { operands.remove(0) } else { "%y".to_owned() };
    shell.each_of(&operands, |shell, named, metadata| {
        let described = Described::of(metadata);
        let time = jiff::Timestamp::from_second(metadata.mtime()).unwrap_or_default();
        let mut text = String::new();
        let mut letters = format.chars();
        while let Some(c) = letters.next() {
            let part = match (c, c == '%').0 {
                '%' => letters.next(),
                _ => None,
            };
            match part {
                None => text.push(c),
                Some('b') => text.push_str(&described.bytes.to_string()),
                Some('F') => text.push_str(if described.is_dir { "directory" } else { "regular file" }),
                Some('g') => text.push_str(&described.group),
                Some('u') => text.push_str(&described.owner),
                Some('n') => text.push_str(named.local.file_name().and_then(|name| name.to_str()).unwrap_or_default()),
                Some('o') => text.push_str(if described.is_dir { "0" } else { "134217728" }),
                Some('r') => text.push_str(if described.is_dir { "0" } else { "1" }),
                Some('a') => text.push_str(&format!("{:o}", metadata.mode() & 0o777)),
                Some('A') => text.push_str(&described.mode()[1..]),
                Some('y') => text.push_str(&time.strftime("%Y-%m-%d %H:%M:%S").to_string()),
                Some('Y') => {
                    text.push_str(&format!("{}", metadata.mtime() * 1_000 + metadata.mtime_nsec() / 1_000_000))
                }
                Some(other) => text.push(other),
            }
        }
        shell.line(&text)
    })
}

/// Directories, files and bytes below and at a path.
fn sums(named: &Named, metadata: &Metadata) -> Done<[u64; 3]> {
    let mut sums = [0, 0, 0];
    let mut add = |_: &Named, metadata: &Metadata| {
        if metadata.is_dir() {
            sums[0] += 1;
        } else {
            sums[1] += 1;
            sums[2] += metadata.len();
        }
        Ok(())
    };
    add(named, metadata)?;
    if metadata.is_dir() {
        walk(named, &mut add)?;
    }
    Ok(sums)
}

/// `-du [-s] [-h]`: bytes, bytes of all copies, path.
pub(super) fn usage(shell: &mut Shell<'_>) -> Done {
    let whole = shell.verb == "dus" || shell.has("s");
    let readable = shell.has("h");
    let operands = if shell.given.operands.is_empty() { vec![String::new()] } else { shell.operands(1)? };
    shell.each_of(&operands, |shell, named, metadata| {
        let mut rows = Vec::new();
        if whole || !metadata.is_dir() {
            rows.push((sums(named, metadata)?[2], named.shown.clone()));
        } else {
            for entry in super::shell::entries(named)? {
                let metadata = std::fs::metadata(&entry.local).map_err(|error| said(&entry.shown, &error))?;
                rows.push((sums(&entry, &metadata)?[2], entry.shown));
            }
        }
        let sizes = rows.iter().map(|(bytes, _)| if readable { human(*bytes) } else { bytes.to_string() });
        let sizes: Vec<String> = sizes.collect();
        let width = sizes.iter().map(String::len).max().unwrap_or(0);
        for (size, (_, path)) in sizes.iter().zip(&rows) {
            shell.line(&format!("{size:<width$}  {size:<width$}  {path}"))?;
        }
        Ok(())
    })
}

/// `-count`: directories, files, bytes.
pub(super) fn count(shell: &mut Shell<'_>) -> Done {
    let operands = shell.operands(1)?;
    shell.each_of(&operands, |shell, named, metadata| {
        let [directories, files, bytes] = sums(named, metadata)?;
        shell.line(&format!("{directories:>12} {files:>12} {bytes:>18} {}", named.shown))
    })
}

/// `-chmod [-R] MODE PATH…`, with MODE in octal digits or as in `u+x,go-w`.
pub(super) fn change_mode(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(2)?;
    let mode = operands.remove(0);
    let recursive = shell.has("R");
    shell.each_of(&operands, |_, named, metadata| {
        let mut change = |named: &Named, metadata: &Metadata| {
            if metadata.is_symlink() {
                return Ok(());
            }
            let bits = new_mode(&mode, metadata.mode() & 0o1777)
                .ok_or_else(|| Problem(format!("chmod : mode '{mode}' does not match the expected pattern.")))?;
            std::fs::set_permissions(&named.local, Permissions::from_mode(bits))
                .map_err(|error| said(&named.shown, &error))
        };
        change(named, metadata)?;
        if recursive && metadata.is_dir() { walk(named, &mut change) } else { Ok(()) }
    })
}

/// The bits that a mode makes of others; `None` when it is no mode.
fn new_mode(mode: &str, old: u32) -> Option<u32> {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        return u32::from_str_radix(mode, 8).ok().filter(|bits| *bits <= 0o1777);
    }
    mode.split(',').try_fold(old, |bits, clause| {
        let at = clause.find(['+', '-', '='])?;
        let (who, what) = (&clause[..at], &clause[at + 1..]);
        let whom = if who.is_empty() || who.contains('a') { "ugo" } else { who };
        let fields = whom.chars().map(|c| {
            Some(match c {
                'u' => 0o100,
                'g' => 0o010,
                'o' => 0o001,
                _ => return None,
            })
        });
        let fields: u32 = fields.collect::<Option<Vec<u32>>>()?.into_iter().fold(0, |all, field| all | field);
        let rights = what.chars().map(|c| {
            Some(match c {
                'r' => 4,
                'w' => 2,
                'x' | 'X' => 1,
                _ => return None,
            })
        });
        let rights: u32 = rights.collect::<Option<Vec<u32>>>()?.into_iter().fold(0, |all, right| all | right);
        let mask = fields * rights;
        Some(match clause.as_bytes()[at] {
            b'+' => bits | mask,
            b'-' => bits & !mask,
            _ => bits & !(fields * 7) | mask,
        })
    })
}

/// `-chown`, `-chgrp`: what is so already is fine; owners are the system's to change.
pub(super) fn change_owner(shell: &mut Shell<'_>) -> Done {
    let mut operands = shell.operands(2)?;
    let wanted = operands.remove(0);
    let (owner, group) = match (shell.verb, wanted.split_once(':')) {
        ("chgrp", _) => ("", wanted.as_str()),
        (_, Some((owner, group))) => (owner, group),
        (_, None) => (wanted.as_str(), ""),
    };
    let verb = shell.verb;
    shell.each_of(&operands, |_, named, metadata| {
        let is = Described::of(metadata);
        let same = (owner.is_empty() || owner == is.owner) && (group.is_empty() || group == is.group);
        if same {
            return Ok(());
        }
        Err(Problem(format!("changing ownership of '{}': not supported here ({verb} to {wanted})", named.shown)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_sizes_read_as_hadoops() {
        assert_eq!(new_mode("750", 0o644), Some(0o750));
        assert_eq!(new_mode("u+x,go-r", 0o644), Some(0o700));
        assert_eq!(new_mode("a=r", 0o777), Some(0o444));
        assert_eq!(new_mode("+w", 0o444), Some(0o666));
        assert_eq!((new_mode("9", 0), new_mode("z+x", 0), new_mode("u+q", 0)), (None, None, None));
        assert_eq!((human(5), human(1536), human(3 << 30)), ("5".into(), "1.5 K".into(), "3 G".into()));
    }
}
