//! What a fake does to those who ask it.

/// How the fake behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// As a name node should.
    #[default]
    Good,
    /// The name node takes questions and never answers.
    Silent,
    /// Answers in JSON never end.
    Endless,
    /// The name node answers questions with a redirect to itself.
    Circular,
    /// The name node sends readers to this URL.
    Elsewhere(String),
    /// Each data node's answer breaks off after so many bytes.
    Brittle(usize),
    /// A data node closes connections without a word, and each of its blocks is on the next one, too.
    Dead(usize),
    /// The first data node is dead, and the name node sends so many more writers to it, whatever they exclude: it knows data nodes
    /// by other names.
    Misleads(usize),
    /// A directory has an entry of this name.
    Entry(String),
    /// Every directory has a directory in it.
    Bottomless,
    /// Places of blocks are not told.
    Placeless,
    /// The name node refuses changes: it has just started.
    SafeMode,
    /// Data nodes refuse files of more bytes.
    Quota(usize),
    /// A data node goes away when it has taken so many bytes of a file, which then has no more.
    Fragile(usize, usize),
    /// A change is made, and its first answer lost.
    Forgetful,
    /// The name node closes all connections without a word after so many more changes.
    Leaves(usize),
    /// The name node moves so many more names, and does not answer who wants another moved.
    HoldsMoves(usize),
}
