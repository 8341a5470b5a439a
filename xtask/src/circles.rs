//! Circles of files: files of one crate that cannot be understood one after the other, as each needs the next.
//!
//! A file needs another one if it names something that the other one defines, by a `use` or by a path; a re-export
//! (`pub use`) only passes names on. Methods are not followed: a type may have them in several files. This is not a
//! parser: it knows `use` trees, paths and the words that begin items, which is enough for the crates here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

use crate::process::{files_below, relative, root};
use crate::source::{code_only, without_tests};

/// The crates' folders.
const CRATES: &[&str] = &[
    "cli",
    "experiments",
    "master",
    "proto",
    "proto/json",
    "shared/charts",
    "shared/core",
    "shared/fuzz",
    "shared/guards",
    "shared/planning",
    "shared/traces",
    "shared/webhdfs",
    "worker",
    "worker/apps",
    "worker/task",
    "xtask",
];

/// Words before the name of an item.
const ITEMS: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

/// A module by the names on the way to it from the crate's root.
type Module = Vec<String>;

/// A name that a `use` brings into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Import {
    path: Vec<String>,
    alias: String,
    /// Whether it only passes the name on, unless the file uses it as well.
    public: bool,
}

/// What one file defines and names.
#[derive(Debug, Default)]
struct Source {
    items: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths of at least two names outside imports.
    paths: BTreeSet<Vec<String>>,
    words: BTreeSet<String>,
}

/// The files of a crate by their modules.
type Sources = BTreeMap<Module, Source>;

/// Complaints about circles.
pub(crate) fn complaints() -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for folder in CRATES {
        let (sources, names) = read(&root().join(folder).join("src"))?;
        complaints.extend(circles(&sources).iter().map(|circle| {
            let files: BTreeSet<&str> = circle.iter().map(|module| names[module].as_str()).collect();
            let files = files.into_iter().collect::<Vec<_>>().join(", ");
            format!("{folder}: a circle of files, move what they share to a lower one: {files}")
        }));
    }
    Ok(complaints)
}

/// The sources below a folder, and the name of each module's file.
fn read(folder: &Path) -> Result<(Sources, BTreeMap<Module, String>)> {
    let (mut sources, mut names) = (Sources::new(), BTreeMap::new());
    let has_lib = folder.join("lib.rs").exists();
    for path in files_below(folder)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
        let inside = path.strip_prefix(folder).expect("listed below it").to_string_lossy().into_owned();
        let Some(module) = module_of(&inside, has_lib) else { continue };
        let text = std::fs::read_to_string(&path).with_context(|| format!("read `{}`", relative(&path)))?;
        sources.insert(module.clone(), Source::of(&without_tests(&code_only(&text))));
        names.insert(module, inside);
    }
    Ok((sources, names))
}

/// The module of a file; `None` of tests, and of an executable's root beside a library.
fn module_of(inside: &str, has_lib: bool) -> Option<Module> {
    let mut parts: Module = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.iter().any(|part| part == "tests") {
        return None;
    }
    match (parts.len(), parts.last()?.as_str()) {
        (1, "main") if has_lib => return None,
        (1, "main" | "lib") | (_, "mod") => drop(parts.pop()),
        _ => {}
    }
    Some(parts)
}

impl Source {
    /// Of code without comments, literals and tests.
    fn of(code: &str) -> Source {
        let tokens = tokens(code);
        let mut source = Source::default();
        let mut at = 0;
        while at < tokens.len() {
            let next = tokens.get(at + 1).copied().unwrap_or_default();
            if tokens[at] == "use" && next != "<" {
                let end = at + tokens[at..].iter().position(|&token| token == ";").unwrap_or(tokens.len() - at);
                let public = is_public(&tokens[..at]);
                expand(&tokens[at + 1..end], &[], public, &mut source.imports);
                at = end;
            } else if is_word(tokens[at]) {
                if ITEMS.contains(&tokens[at]) && is_word(next) {
                    source.items.insert(next.to_owned());
                }
                let path = path_at(&tokens, at);
                at += 2 * (path.len() - 1);
                source.words.insert(path[0].clone());
                if path.len() > 1 {
                    source.paths.insert(path);
                }
            }
            at += 1;
        }
        source
    }

    /// What the file itself uses of its imports.
    fn used(&self) -> impl Iterator<Item = &Import> {
        self.imports.iter().filter(|import| !import.public || self.words.contains(&import.alias))
    }
}

/// Words, `::`, and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = match first {
            _ if word > 0 => word,
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether an item that comes next is public to anybody.
fn is_public(before: &[&str]) -> bool {
    match before {
        [.., "pub"] => true,
        [.., ")"] => {
            before.iter().rposition(|&token| token == "(").is_some_and(|open| open > 0 && before[open - 1] == "pub")
        }
        _ => false,
    }
}

/// The names of the path that begins at a word.
fn path_at(tokens: &[&str], at: usize) -> Vec<String> {
    let mut path = vec![tokens[at].to_owned()];
    let mut next = at + 1;
    while let [Some(&"::"), Some(name)] = [tokens.get(next), tokens.get(next + 1)]
        && is_word(name)
    {
        path.push((*name).to_owned());
        next += 2;
    }
    path
}

/// The imports of a `use` tree, without the word and the semicolon.
fn expand(tree: &[&str], prefix: &[String], public: bool, imports: &mut Vec<Import>) {
    let open = tree.iter().position(|&token| token == "{");
    let names = &tree[..open.unwrap_or(tree.len())];
    let (names, alias) = match names {
        [names @ .., "as", alias] => (names, Some(*alias)),
        names => (names, None),
    };
    let mut path = prefix.to_vec();
    path.extend(names.iter().filter(|&&name| name != "::").map(|&name| name.to_owned()));
    let Some(open) = open else {
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let Some(last) = path.last().cloned() else { return };
        imports.push(Import { alias: alias.map_or(last, str::to_owned), path, public });
        return;
    };
    let (mut depth, mut start) = (0, open + 1);
    for (at, &token) in tree.iter().enumerate().skip(open) {
        match token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if (token == "," && depth == 1) || (token == "}" && depth == 0) {
            if start < at {
                expand(&tree[start..at], &path, public, imports);
            }
            start = at + 1;
        }
    }
}

/// Where a path ends.
enum Found {
    /// In the file of this module, which defines the name or has it from outside.
    File(Module),
    /// At a module.
    Module(Module),
}

/// Finds what a path means in a module; `None` of other crates.
fn resolve(sources: &Sources, from: &Module, path: &[String], depth: u32) -> Option<Found> {
    let (mut at, mut rest) = (from.clone(), path);
    match path.first()?.as_str() {
        "crate" => (at, rest) = (Module::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                at.pop();
                rest = &rest[1..];
            }
        }
        first if !sources.contains_key(&child(from, first)) => return None,
        _ => {}
    }
    while let Some(name) = rest.first()
        && sources.contains_key(&child(&at, name))
    {
        at = child(&at, name);
        rest = &rest[1..];
    }
    let Some(name) = rest.first() else { return Some(Found::Module(at)) };
    let source = sources.get(&at)?;
    // A chain of re-exports longer than this is none.
    if source.items.contains(name) || depth > 8 {
        return Some(Found::File(at));
    }
    if let Some(import) = source.imports.iter().find(|import| import.alias == *name) {
        return resolve(sources, &at, &import.path, depth + 1);
    }
    Some(Found::File(at))
}

fn child(module: &Module, name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The other files that a file needs.
fn needs(sources: &Sources, from: &Module) -> BTreeSet<Module> {
    let source = &sources[from];
    let mut needs = BTreeSet::new();
    let mut need = |found: Option<Found>| {
        if let Some(Found::File(module)) = found {
            needs.insert(module);
        }
    };
    for import in source.used() {
        match resolve(sources, from, &import.path, 0) {
            // Of a module that was imported, what is named through it.
            Some(Found::Module(module)) => {
                for path in source.paths.iter().filter(|path| path[0] == import.alias) {
                    need(resolve(sources, &module, &[&["self".to_owned()], &path[1..]].concat(), 0));
                }
            }
            found => need(found),
        }
    }
    source.paths.iter().for_each(|path| need(resolve(sources, from, path, 0)));
    needs.remove(from);
    needs
}

/// Modules of which each needs the others, at whatever distance; only sets of at least two.
fn circles(sources: &Sources) -> Vec<BTreeSet<Module>> {
    let direct: BTreeMap<&Module, BTreeSet<Module>> =
        sources.keys().map(|module| (module, needs(sources, module))).collect();
    let reach = |from: &Module| {
        let (mut open, mut seen) = (vec![from.clone()], BTreeSet::new());
        while let Some(module) = open.pop() {
            for next in direct.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let all: BTreeMap<&Module, BTreeSet<Module>> = sources.keys().map(|module| (module, reach(module))).collect();
    let circle = |module: &&Module| -> BTreeSet<Module> {
        all[*module]
            .iter()
            .filter(|other| all.get(*other).is_some_and(|back| back.contains(*module)))
            .cloned()
            .collect()
    };
    let found: BTreeSet<BTreeSet<Module>> =
        sources.keys().map(|module| circle(&module)).filter(|circle| circle.len() > 1).collect();
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources = files.iter().map(|(name, code)| (module_of(name, true).expect("no test"), Source::of(code)));
        let circles = circles(&sources.collect());
        circles.iter().map(|circle| circle.iter().map(|m| m.join("::")).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn two_files_that_name_each_other_are_a_circle_however_they_do_it() {
        let lib = ("lib.rs", "mod a; mod b; pub use b::B;");
        assert_eq!(
            found(&[lib, ("a.rs", "use crate::b::{B, C}; pub struct A(B);"), ("b.rs", "fn b(a: super::a::A) {}")]),
            ["a b"]
        );
        let through_the_root = ("a.rs", "use crate::B; pub struct A;");
        assert_eq!(found(&[lib, through_the_root, ("b.rs", "use super::a; pub struct B(a::A);")]), ["a b"]);
        assert_eq!(found(&[lib, through_the_root, ("b.rs", "pub struct B;")]), [""; 0]);
    }

    #[test]
    fn a_folders_root_may_use_its_files_and_pass_their_names_on_but_not_share_its_own_with_them() {
        let root = "mod child; pub use child::Child; pub struct Own;";
        let child = ("folder/child.rs", "use super::Own; pub struct Child(Own);");
        assert_eq!(found(&[("folder/mod.rs", root), child]), [""; 0]);
        let uses = "mod child; pub use child::Child; pub struct Own; fn make() -> Child {}";
        assert_eq!(found(&[("folder/mod.rs", uses), child]), ["folder folder::child"]);
    }
}
