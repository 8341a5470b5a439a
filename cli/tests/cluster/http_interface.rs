//! `/api/v1` of a real master: it says what the commands print, everything that it answers is as its description says, and
//! what is asked wrongly is refused in JSON.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Cluster, Setup, wait_for};

/// A cluster whose master answers over HTTP.
struct Served {
    cluster: Cluster,
    description: Value,
    /// Paths of the description that were asked.
    asked: BTreeSet<String>,
}

impl Served {
    fn start() -> Served {
        let master_config = "[master]\nhttp_listen = \"127.0.0.1:0\"\n".to_owned();
        let cluster = Cluster::start(Setup { own_hosts: true, master_config, ..Setup::default() });
        let mut served = Served { cluster, description: Value::Null, asked: BTreeSet::new() };
        let (status, description) = served.request("GET", "/api/v1/openapi.json");
        assert_eq!(status, 200, "{description}");
        served.description = description;
        served.asked.insert("/api/v1/openapi.json".to_owned());
        served
    }

    fn request(&self, method: &str, target: &str) -> (u16, Value) {
        self.cluster.request(method, target, "")
    }

    /// What a resource answers, held against the shape that the description says for it.
    fn get(&mut self, resource: &str, target: &str) -> Value {
        let (status, answer) = self.request("GET", target);
        assert_eq!(status, 200, "{target}: {answer}");
        self.hold(resource, "200", target, &answer);
        self.asked.insert(resource.to_owned());
        answer
    }

    fn hold(&self, resource: &str, status: &str, target: &str, answer: &Value) {
        let shape = &self.description["paths"][resource]["get"]["responses"][status]["content"]["application/json"];
        assert!(shape["schema"]["$ref"].is_string(), "{resource} has no shape");
        let mut components = self.description["components"].clone();
        allow_nothing_else(&mut components);
        let schema = json!({ "$ref": shape["schema"]["$ref"], "components": components });
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.set_default_draft(boon::Draft::V2020_12);
        compiler.add_resource("shape.json", schema).expect("a document");
        let schema = compiler.compile("shape.json", &mut schemas).expect("a schema");
        assert!(schemas.validate(&json!({ "nothing": "of it" }), schema).is_err(), "{target}: anything is valid");
        if let Err(wrong) = schemas.validate(answer, schema) {
            panic!("{target}: {wrong:#}\n{answer}");
        }
    }

    /// Waits until a resource says what a command prints; what it reads of the cluster may be a second old.
    fn says_what_is_printed(&mut self, resource: &str, target: &str, command: &[&str], without: &[&str]) {
        let stripped = |mut value: Value| {
            without.iter().for_each(|name| strip(&mut value, name));
            value
        };
        wait_for(&format!("{target} to say what {command:?} prints"), || {
            let printed = stripped(self.cluster.json(command));
            (stripped(self.get(resource, target)) == printed).then_some(())
        });
    }

    /// A refusal with this status, whose line says this.
    fn refused(&self, method: &str, target: &str, status: u16, words: &str) {
        let (was, answer) = self.request(method, target);
        assert_eq!(was, status, "{target}: {answer}");
        self.hold("/api/v1/jobs", "default", target, &answer);
        let error = answer["error"].as_str().expect("a line");
        assert!(error.contains(words) && !error.contains('\n'), "{target}: {error}");
    }
}

/// Makes a field that no shape names an error.
fn allow_nothing_else(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(allow_nothing_else);
            let is_shape = fields.get("properties").is_some_and(Value::is_object) && fields.contains_key("type");
            if is_shape && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(allow_nothing_else),
        _ => {}
    }
}

/// Takes every field of this name out of a value.
fn strip(value: &mut Value, name: &str) {
    match value {
        Value::Object(fields) => {
            fields.remove(name);
            fields.values_mut().for_each(|value| strip(value, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, name)),
        _ => {}
    }
}

/// The names of all fields, with their places.
fn places(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            found.insert(format!("{place}.{name}"));
            places(value, &format!("{place}.{name}"), found);
        }),
        Value::Array(items) => items.iter().for_each(|item| places(item, place, found)),
        _ => {}
    }
}

#[test]
fn the_http_interface_says_what_the_commands_print_and_what_its_description_says() {
    let mut served = Served::start();
    let cluster = &served.cluster;
    let input = cluster.text("in.txt", "to be or not to be\n");
    let (out, failed) = (cluster.output("out"), cluster.output("failed"));
    let fails = cluster.script("fails.sh", "echo no >&2; exit 3");
    let own = ["-D", "my.own=1", "-D", "io.sort.mbb=1", "--wait"];
    cluster
        .run(&[&["submit", "wordcount", "--input", &input, "--output", &out, "--name", "Nightly"], &own[..]].concat())
        .expect_code(0);
    let once = ["-D", "mapred.map.max.attempts=1", "--wait"];
    let streaming = ["submit", "streaming", "--mapper", &fails, "--input", &input, "--output", &failed];
    cluster.run(&[&streaming[..], &once].concat()).expect_code(1);
    let running = cluster.sleep(6, 600_000, 1);
    cluster.wait_running_maps(&running, 4);

    // Of jobs that are over nothing changes any more.
    let jobs = "/api/v1/jobs";
    for (filters, flags) in [
        ("state=succeeded", &["--state", "succeeded"][..]),
        ("state=succeeded,failed&name=nightLY", &["--state", "succeeded", "--state", "failed", "--name", "nightLY"]),
        ("state=FAILED&queue=default", &["--state", "failed", "--queue", "default"]),
        ("user=nobody-of-this-name", &["--user", "nobody-of-this-name"]),
        ("limit=1&page=2", &["--last", "1", "--page", "2"]),
        ("limit=1000&page=2", &["--last", "1000", "--page", "2"]),
    ] {
        let command = [&["job", "list"], flags].concat();
        served.says_what_is_printed(jobs, &format!("{jobs}?{filters}"), &command, &[]);
    }
    let (one, attempts) = ("/api/v1/jobs/{job}", "/api/v1/jobs/{job}/attempts");
    let id = served.cluster.json(&["job", "status", "1"])["job"].as_str().expect("an id").to_owned();
    for job in ["1", "2", &id] {
        served.says_what_is_printed(one, &format!("{jobs}/{job}"), &["job", "status", job], &[]);
        served.says_what_is_printed(attempts, &format!("{jobs}/{job}/attempts"), &["job", "attempts", job], &[]);
    }
    let unread = served.get(one, &format!("{jobs}/1"))["unread_properties"].clone();
    assert_eq!(unread[0], json!({ "property": "io.sort.mbb", "meant": "io.sort.mb" }));
    let all = served.get(attempts, &format!("{jobs}/{running}/attempts"))["attempts"].as_array().expect("a list").len();
    let rest = served.get(attempts, &format!("{jobs}/{running}/attempts?limit=3&page=2"));
    assert_eq!(rest["attempts"].as_array().map(Vec::len), Some(all - 3));

    // Of what goes on, the moving figures apart.
    let moving = ["vitals", "last_heartbeat_ms_epoch", "clock_offset_ms"];
    served.says_what_is_printed("/api/v1/workers", "/api/v1/workers", &["worker", "list"], &moving);
    served.says_what_is_printed("/api/v1/workers", "/api/v1/workers?all=true", &["worker", "list", "--all"], &moving);
    served.says_what_is_printed("/api/v1/cluster", "/api/v1/cluster", &["cluster"], &[]);
    let shown = ["scheduler", "show"];
    served.says_what_is_printed("/api/v1/scheduler", "/api/v1/scheduler", &shown, &[]);
    served.cluster.run(&["scheduler", "set", "fair", "-D", "preemption=true"]).expect_code(0);
    served.says_what_is_printed("/api/v1/scheduler", "/api/v1/scheduler", &shown, &[]);
    wait_for("vitals of both workers", || {
        let vitals = |worker: &Value| worker["vitals"].is_object();
        served.cluster.workers().iter().all(vitals).then_some(())
    });
    served.get("/api/v1/workers", "/api/v1/workers");
    wait_for("a forecast of the running job", || {
        let (_, forecast) = served.request("GET", "/api/v1/predictions");
        forecast["forecast"]["jobs"].as_array().filter(|jobs| !jobs.is_empty()).map(|_| ())
    });
    let (mut said, mut printed) = (BTreeSet::new(), BTreeSet::new());
    places(&served.get("/api/v1/predictions", "/api/v1/predictions?starts=2&model=mean"), "", &mut said);
    places(&served.cluster.json(&["predict", "--starts", "2", "--model", "mean"]), "", &mut printed);
    assert_eq!(said, printed);
    served.get(one, &format!("{jobs}/{running}"));

    let described: BTreeSet<String> = served.description["paths"].as_object().expect("paths").keys().cloned().collect();
    assert_eq!(served.asked, described, "each resource is described, and was asked");

    for (query, words) in [
        ("jobs?usr=ann", "usr"),
        ("jobs?state=done", "state `done`: expected PREP"),
        ("jobs?limit=0", "limit 0: expected 1 to 1000"),
        ("jobs?limit=4294967296", "limit"),
        ("jobs?limit=1000&page=0", "page 0"),
        ("jobs?user=a&user=b", "user"),
        ("jobs/what", "what"),
        ("jobs/99999999999999999999", "99999999999999999999"),
        ("jobs/1?limit=1", "limit"),
        ("jobs/1/attempts?limit=1001", "limit 1001"),
        ("jobs/1/attempts?limit=ten", "/attempts: limit: `ten`, expected a whole number"),
        ("cluster?a=b", "a"),
        ("workers?all=perhaps", "all"),
        ("predictions?model=wishful", "model `wishful`"),
        ("predictions?horizon_ms=0", "horizon_ms 0"),
        ("predictions?starts=1001", "starts 1001"),
    ] {
        served.refused("GET", &format!("/api/v1/{query}"), 400, words);
    }
    served.refused("GET", "/api/v1/nodes", 404, "/api/v1/nodes: no such resource");
    served.refused("GET", "/api/v1", 404, "/api/v1: no such resource");
    served.refused("GET", "/api/v1/jobs/99", 404, "is not known here");
    served.refused("POST", "/api/v1/jobs", 405, "POST /api/v1/jobs: expected GET");
    served.refused("DELETE", "/api/v1/jobs/1", 405, "DELETE");
}
