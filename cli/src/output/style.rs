//! Text attributes used by the command; few, so that screens stay calm.

/// Text attributes used by the command; few, so that screens stay calm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Dim,
    Good,
    Bad,
    Warn,
    Accent,
}

impl Style {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Warn => "33",
            Style::Accent => "36",
        }
    }

    /// Its name in the marks of `escape`.
    pub(crate) fn letter(self) -> char {
        match self {
            Style::Bold => 'b',
            Style::Dim => 'd',
            Style::Good => 'g',
            Style::Bad => 'r',
            Style::Warn => 'y',
            Style::Accent => 'c',
        }
    }

    pub(crate) fn of_letter(letter: char) -> Option<Style> {
        let all = [Style::Bold, Style::Dim, Style::Good, Style::Bad, Style::Warn, Style::Accent];
        all.into_iter().find(|style| style.letter() == letter)
    }
}
