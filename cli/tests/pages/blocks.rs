//! What a page gives its reader to type: the commands of its `sh` blocks, each with its continuation lines and here-documents.

/// The lines between two fences, without the indentation that the fence has.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) lines: Vec<String>,
}

/// All fenced blocks of a page, in order.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut open) = (Vec::new(), None::<(usize, Block)>);
    for line in page.lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        match (trimmed.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                let language = language.trim().to_owned();
                open = Some((indent, Block { language, lines: Vec::new() }));
            }
            (Some(_), Some(_)) => blocks.extend(open.take().map(|(_, block)| block)),
            (None, Some((indent, block))) => block.lines.push(line.get(*indent..).unwrap_or("").to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block does not end");
    blocks
}

/// The commands of a page. Comments are none, and blocks of other languages are not typed.
pub(crate) fn commands(page: &str) -> Vec<String> {
    let typed = blocks(page).into_iter().filter(|block| ["sh", "bash", "console"].contains(&block.language.as_str()));
    typed.flat_map(|block| of_block(&block.lines)).collect()
}

fn of_block(lines: &[String]) -> Vec<String> {
    let (mut commands, mut lines) = (Vec::new(), lines.iter());
    while let Some(line) = lines.next() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let mut command = line.clone();
        while command.ends_with('\\') {
            command = format!("{command}\n{}", lines.next().expect("a line that continues is not the last one"));
        }
        if let Some(end) = here_document(line) {
            loop {
                let line = lines.next().unwrap_or_else(|| panic!("`{line}`: no `{end}` follows"));
                command = format!("{command}\n{line}");
                if line == end {
                    break;
                }
            }
        }
        commands.push(command);
    }
    commands
}

/// The line that ends the here-document of a command.
fn here_document(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    Some(rest.split_whitespace().next()?.trim_matches(['\'', '"']))
}

#[test]
fn commands_are_whole_and_comments_are_none() {
    let page =
        "a\n  ```sh\n  one \\\n    more\n\n  # no\n  cat <<'END' > f\n  # yes\n  END\n  ```\n```toml\nx = 1\n```\n";
    assert_eq!(commands(page), ["one \\\n  more", "cat <<'END' > f\n# yes\nEND"]);
    assert_eq!(blocks(page)[1].lines, ["x = 1"]);
}
