//! Java processes with Hadoop's jars.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::harness::{Finished, Mark};

/// What Hadoop 2.7 reaches into that later Javas keep shut.
const OPEN: [&str; 8] = [
    "java.base/java.lang",
    "java.base/java.util",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/sun.nio.ch",
    "java.base/sun.security.action",
    "java.security.jgss/sun.security.krb5",
];
/// A Java takes three seconds to start; the machine may be slow.
const BOUND: Duration = Duration::from_secs(180);

/// How Java is started for one test.
pub(super) struct Java {
    mark: Mark,
    /// Configuration files and compiled classes.
    pub(super) folder: PathBuf,
}

impl Java {
    /// With this folder of configuration and classes before Hadoop's jars.
    pub(super) fn new(folder: &Path) -> Java {
        std::fs::create_dir_all(folder).expect("make a folder");
        let tmp = folder.join("tmp");
        write_site(folder, "core-site", &[("hadoop.tmp.dir", tmp.to_str().expect("a plain path"))]);
        Java { mark: Mark::new(), folder: folder.to_owned() }
    }

    fn class_path(&self) -> String {
        let jars = std::env::var("HOWDAH_INTEROP_HADOOP").expect("`cargo xtask interop` says where Hadoop's jars are");
        format!("{}:{jars}/jersey/*:{jars}/jars/*", self.folder.display())
    }

    fn words(&self, megabytes: u32, class: &str, args: &[&str]) -> Vec<String> {
        let mut words = vec![format!("-Xmx{megabytes}m")];
        words.extend(OPEN.iter().flat_map(|part| ["--add-opens".to_owned(), format!("{part}=ALL-UNNAMED")]));
        words.extend(["--add-exports", "java.security.jgss/sun.security.krb5=ALL-UNNAMED", "-cp"].map(str::to_owned));
        words.extend([self.class_path(), class.to_owned()]);
        words.extend(args.iter().map(|&arg| arg.to_owned()));
        words
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["HADOOP_", "YARN_", "CLASSPATH", "JAVA_TOOL_OPTIONS"].iter().any(|start| name.starts_with(start)) {
                command.env_remove(&*name);
            }
        }
        let (name, value) = self.mark.variable();
        command.env(name, value).stdin(Stdio::null());
        command
    }

    /// Compiles a class of ours.
    pub(super) fn compile(&self, class: &str, source: &str) {
        let path = self.folder.join(format!("{class}.java"));
        std::fs::write(&path, source).expect("write a class");
        let mut javac = self.command("javac");
        javac.args(["-nowarn", "-encoding", "UTF-8", "-cp", &self.class_path(), "-d"]).arg(&self.folder).arg(&path);
        Finished::of(&mut javac, BOUND).expect_code(0);
    }

    /// Runs a class to its end.
    pub(super) fn run(&self, class: &str, args: &[&str]) -> Finished {
        Finished::of(self.command("java").args(self.words(512, class, args)), BOUND)
    }

    /// Starts a server of this class, which writes to the file `LOG` of the folder.
    pub(super) fn serve(&self, log: &str, class: &str, args: &[&str]) -> Server {
        let file = std::fs::File::create(self.folder.join(log)).expect("create a log");
        let mut command = self.command("/bin/sh");
        // A child in the background has no standard input: the end of it is this process's.
        command.args(["-c", "java \"$@\" & cat > /dev/null; kill -9 $!", "sh"]).args(self.words(192, class, args));
        command.stdin(Stdio::piped()).stdout(file.try_clone().expect("a file")).stderr(file);
        Server(command.spawn().expect("start a shell"))
    }
}

/// Writes a configuration file of Hadoop's.
pub(super) fn write_site(folder: &Path, name: &str, properties: &[(&str, &str)]) {
    let property =
        |(name, value): &(&str, &str)| format!("<property><name>{name}</name><value>{value}</value></property>\n");
    let text: String = properties.iter().map(property).collect();
    let path = folder.join(format!("{name}.xml"));
    std::fs::write(path, format!("<configuration>\n{text}</configuration>\n")).expect("write a configuration");
}

impl Drop for Java {
    fn drop(&mut self) {
        self.mark.kill_all();
    }
}

/// A server in a Java process. It is killed when this is dropped.
pub(super) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
