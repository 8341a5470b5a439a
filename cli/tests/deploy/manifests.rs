//! The compose file, the manifests for Kubernetes and the playbook: read as YAML, their fields looked at, their commands
//! started. By the schemas of Kubernetes, which another project's package has, in `by_schema`.

mod by_schema;

use serde::Deserialize;
use serde_json::Value;

use crate::daemons::meet;
use crate::deploy;

/// All documents of a file.
fn documents(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(deploy().join(name)).expect("a file of the kit");
    let read = serde_yaml_ng::Deserializer::from_str(&text).map(|document| Value::deserialize(document).expect("YAML"));
    read.collect()
}

fn words(value: &Value) -> Vec<String> {
    let words = value.as_array().unwrap_or_else(|| panic!("no list of words: {value}"));
    words.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
}

#[test]
fn the_compose_file_starts_a_master_and_three_workers_that_find_it() {
    let compose = documents("container/compose.yaml").remove(0);
    let [master, worker] = ["master", "worker"].map(|name| &compose["services"][name]);
    assert_eq!(worker["deploy"]["replicas"], 3);
    assert_eq!(worker["depends_on"][0], "master");
    for service in [master, worker] {
        let file = service["build"]["dockerfile"].as_str().expect("a container file");
        assert!(deploy().join("..").join(file).is_file(), "{file}");
        assert_eq!(service["volumes"][0], "share:/share", "what one writes the others read");
    }
    // Nobody but this machine submits unless the file is changed.
    assert!(master["ports"][0].as_str().expect("a port").starts_with("127.0.0.1:9001:"));
    meet(&words(&master["command"]), &words(&worker["command"]), "master");
}

/// The object of this kind and name.
fn find<'a>(all: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = all.iter().find(|one| one["kind"] == kind && one["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {kind} `{name}`"))
}

#[test]
fn the_stateful_sets_start_a_master_and_workers_that_find_it() {
    let all = documents("kubernetes/howdah.yaml");
    let [master, worker] = ["howdah-master", "howdah-worker"].map(|name| &find(&all, "StatefulSet", name)["spec"]);
    assert_eq!((&master["replicas"], &worker["replicas"]), (&1.into(), &3.into()));
    let args = |set: &Value| words(&set["template"]["spec"]["containers"][0]["args"]);
    let name = args(worker).iter().map(|word| word.replace("$(POD_NAME)", "howdah-worker-0")).collect::<Vec<_>>();
    let variable = &worker["template"]["spec"]["containers"][0]["env"][0];
    assert_eq!(
        (&variable["name"], &variable["valueFrom"]["fieldRef"]["fieldPath"]),
        (&"POD_NAME".into(), &"metadata.name".into())
    );
    meet(&args(master), &name, "howdah-master");
}

#[test]
fn the_stateful_sets_run_without_rights_and_are_probed_where_they_listen() {
    let all = documents("kubernetes/howdah.yaml");
    for (name, role, port) in [("howdah-master", "master", 9001), ("howdah-worker", "worker", 50060)] {
        let set = &find(&all, "StatefulSet", name)["spec"];
        let pod = &set["template"]["spec"];
        let container = &pod["containers"][0];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{name}");
        assert!(pod["securityContext"]["runAsUser"].as_u64().is_some_and(|user| user > 0), "{name}");
        let rights = &container["securityContext"];
        assert_eq!(
            (&rights["allowPrivilegeEscalation"], &rights["capabilities"]["drop"][0]),
            (&false.into(), &"ALL".into())
        );
        // Where a pod is found, and what it is asked.
        let labels = &set["template"]["metadata"]["labels"];
        assert_eq!((&set["selector"]["matchLabels"], &labels["role"]), (labels, &role.into()), "{name}");
        let service = &find(&all, "Service", set["serviceName"].as_str().expect("a service"))["spec"];
        assert_eq!((&service["selector"], &service["ports"][0]["port"]), (labels, &port.into()), "{name}");
        let named = &container["ports"][0];
        assert_eq!(named["containerPort"], port, "{name}");
        assert!(words(&container["args"]).contains(&format!("0.0.0.0:{port}")), "{name} listens elsewhere");
        for probe in ["readinessProbe", "livenessProbe"] {
            assert_eq!(container[probe]["tcpSocket"]["port"], named["name"], "{name}: {probe}");
        }
        // What is written goes onto volumes that are there.
        let dir = words(&container["args"]).iter().skip_while(|word| *word != "--dir").nth(1).cloned().expect("--dir");
        let mounts = container["volumeMounts"].as_array().expect("mounts");
        let holds = |mount: &Value| mount["mountPath"].as_str().is_some_and(|path| dir.starts_with(path));
        let state = mounts.iter().find(|mount| holds(mount)).expect("a volume for its directory");
        assert_eq!(state["name"], set["volumeClaimTemplates"][0]["metadata"]["name"], "{name}");
        let shared = mounts.iter().find(|mount| mount["mountPath"] == "/share").expect("the share");
        let volume = pod["volumes"].as_array().expect("volumes").iter().find(|volume| volume["name"] == shared["name"]);
        let claim =
            volume.expect("the share's volume")["persistentVolumeClaim"]["claimName"].as_str().expect("a claim");
        assert_eq!(find(&all, "PersistentVolumeClaim", claim)["spec"]["accessModes"][0], "ReadWriteMany");
    }
}

#[test]
fn the_playbook_copies_files_that_are_there_and_starts_the_services_of_the_kit() {
    let play = &documents("ansible/howdah.yaml").remove(0)[0];
    let tasks = play["tasks"].as_array().expect("tasks");
    let service = play["vars"]["service"].as_str().expect("the service's name");
    for unit in ["howdah-master", "howdah-worker"] {
        assert!(service.contains(&format!("'{unit}'")), "{service}");
        assert!(deploy().join(format!("systemd/{unit}.service")).is_file(), "{unit}");
    }
    let of = |module: &str| tasks.iter().filter(|task| !task[module].is_null()).collect::<Vec<_>>();
    let copies = of("ansible.builtin.copy");
    assert!(copies.iter().any(|task| task["ansible.builtin.copy"]["src"] == "../systemd/{{ service }}.service"));
    let template = &of("ansible.builtin.template")[0]["ansible.builtin.template"];
    let text = std::fs::read_to_string(deploy().join("ansible").join(template["src"].as_str().expect("a template")));
    // As Ansible would fill it in.
    let filled = text.expect("the template").replace("{{ groups['master'] | first }}", "lab0");
    let filled = filled.replace("{{ ansible_facts['processor_nproc'] }}", "8");
    let filled = filled.replace("{{ [1, ansible_facts['processor_nproc'] // 2] | max }}", "4");
    assert!(!filled.contains("{{"), "{filled}");
    let folder = tempfile::tempdir().expect("make a folder");
    let file = folder.path().join("howdah.toml");
    std::fs::write(&file, filled).expect("write a file");
    let mut shown = crate::daemons::howdah();
    let shown = shown.args(["config", "show", "--output", "json", "--config"]).arg(&file).output().expect("run howdah");
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    // Every change that a task makes is followed by a restart that is there.
    for task in tasks.iter().filter(|task| !task["notify"].is_null()) {
        assert!(play["handlers"].as_array().expect("handlers").iter().any(|one| one["name"] == task["notify"]));
    }
}
