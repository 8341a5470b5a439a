//! `howdah hadoop install DIR`: a directory that programs take for a Hadoop installation.
//!
//! Scripts in `bin` call this executable, empty files have the names of the jars that programs look for, and `etc/hadoop`
//! says which cluster it is and which directory is `hdfs:///`. What is there already is not replaced.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::ended::{VERSION, WORD};
use super::site::{CLUSTER_DIR, FS_ROOT, HOME, MASTER};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::cannot;
use crate::output::Screen;

const EXAMPLES: &str = "\
Examples:
  howdah up --dir c
  howdah hadoop install h --dir c
  h/bin/hadoop fs -put notes.txt hdfs:///notes.txt
  h/bin/hadoop jar h/share/hadoop/tools/lib/hadoop-streaming-*.jar -input /notes.txt -output /counts \\
      -mapper 'tr -s \" \" \"\\n\"' -reducer 'uniq -c'
  HADOOP_HOME=$PWD/h python3 word_count.py -r hadoop notes.txt";

/// `howdah hadoop …`
#[derive(Debug, Subcommand)]
pub(crate) enum HadoopCommand {
    /// Make a directory that looks like a Hadoop installation, for programs that call `hadoop`
    #[command(after_help = EXAMPLES)]
    Install(InstallArgs),
}

/// `howdah hadoop install`
#[derive(Args, Clone, Debug)]
pub(crate) struct InstallArgs {
    /// Directory to make; what is in it already is left alone
    target: PathBuf,
    /// Directory that stands for hdfs:///, which the master and all workers must see [default: DIR/fs]
    #[arg(long, value_name = "PATH")]
    root: Option<PathBuf>,
    /// Address of the master, host:port
    #[arg(long, value_name = "ADDR")]
    master: Option<String>,
    /// Directory given to `howdah up`: the master's address is read from its access.json
    #[arg(long, value_name = "DIR", conflicts_with = "master")]
    dir: Option<PathBuf>,
}

/// Runs `howdah hadoop install`.
pub(crate) fn install(context: &Context, command: &HadoopCommand) -> Outcome {
    let HadoopCommand::Install(args) = command;
    let screen = Screen::new(context.colour()?);
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| cannot("find", path, &error));
    let target = absolute(&args.target)?;
    let root = absolute(args.root.as_deref().unwrap_or(&args.target.join("fs")))?;
    let cluster = match (&args.master, &args.dir) {
        (Some(master), _) => Some((MASTER, master.clone())),
        (None, Some(dir)) => Some((CLUSTER_DIR, absolute(dir)?.display().to_string())),
        (None, None) => None,
    };
    let program = std::env::current_exe().map_err(|error| Failure::broke(format!("find this executable: {error}")))?;
    write(&target, &root, &program, cluster)?;
    screen.line(format!("Hadoop's commands are in {}", target.join("bin").display()))?;
    screen.line(format!("hdfs:/// is the directory {}", root.display()))?;
    Ok(Exit::Done)
}

fn write(target: &Path, root: &Path, program: &Path, cluster: Option<(&str, String)>) -> Outcome<()> {
    if target.join("bin/hadoop").exists() {
        return Err(Failure::usage(format!("`{}` is an installation already", target.display()))
            .help("name another directory, or remove this one"));
    }
    let tools = format!("share/hadoop/tools/lib/hadoop-streaming-{VERSION}.jar");
    let examples = format!("share/hadoop/mapreduce/hadoop-mapreduce-examples-{VERSION}.jar");
    for tool in ["hadoop", "mapred", "yarn", "hdfs"] {
        put(&target.join("bin").join(tool), &script(tool, program)?, 0o755)?;
    }
    for jar in [tools, examples] {
        put(&target.join(jar), "", 0o644)?;
    }
    let default = [("fs.defaultFS", "hdfs:///".to_owned()), (FS_ROOT, root.display().to_string())];
    let about = "hdfs:/// is a directory here; the cluster is named in mapred-site.xml.";
    put(&target.join("etc/hadoop/core-site.xml"), &xml(about, &default), 0o644)?;
    let about = "Which cluster: mapred.job.tracker, its address, or howdah.cluster.dir, its directory.";
    let cluster: Vec<(&str, String)> = cluster.into_iter().collect();
    put(&target.join("etc/hadoop/mapred-site.xml"), &xml(about, &cluster), 0o644)?;
    for directory in [root.to_owned(), root.join("user"), root.join("tmp"), target.join("logs")] {
        fs::create_dir_all(&directory).map_err(|error| cannot("create", &directory, &error))?;
    }
    Ok(())
}

fn put(path: &Path, text: &str, mode: u32) -> Outcome<()> {
    let parent = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, text))
        .and_then(|()| fs::set_permissions(path, Permissions::from_mode(mode)));
    written.map_err(|error| cannot("write", path, &error))
}

/// Finds its installation by its own place, links followed.
fn script(tool: &str, program: &Path) -> Outcome<String> {
    let program =
        program.to_str().ok_or_else(|| Failure::usage(format!("this executable's path {program:?} is not UTF-8")))?;
    let quoted = program.replace('\'', r"'\''");
    Ok(format!(
        "#!/bin/sh\n\
         # Hadoop's `{tool}`, as howdah has it.\n\
         {HOME}=$(cd -- \"$(dirname -- \"$(readlink -f -- \"$0\")\")/..\" && pwd) || exit 1\n\
         export {HOME}\n\
         exec '{quoted}' {WORD} {tool} \"$@\"\n"
    ))
}

fn xml(about: &str, properties: &[(&str, String)]) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut text = format!("<?xml version=\"1.0\"?>\n<!-- {about} -->\n<configuration>\n");
    for (name, value) in properties {
        text.push_str(&format!(
            "  <property>\n    <name>{name}</name>\n    <value>{}</value>\n  </property>\n",
            escape(value)
        ));
    }
    text.push_str("</configuration>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::super::site::Site;
    use super::*;

    #[test]
    fn what_is_installed_is_read_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let (home, root) = (dir.path().join("it's"), dir.path().join("a&b"));
        write(&home, &root, Path::new("/opt/how dah"), Some((MASTER, "h:1".to_owned()))).expect("written");
        let site = Site::of(&home.join("etc/hadoop"), Some(home.clone()), "u").expect("readable");
        assert_eq!(site.file_system.local("hdfs:///x").expect("a path"), root.join("x"));
        assert_eq!(site.properties.get(MASTER).map(String::as_str), Some("h:1"));
        let again = write(&home, &root, Path::new("/opt/how dah"), None).expect_err("there already").to_string();
        assert!(again.contains("is an installation already"), "{again}");
    }
}
