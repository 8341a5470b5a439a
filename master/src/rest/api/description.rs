//! The OpenAPI description of `/api/v1`, made from the list of resources and from the types of queries and answers, so that
//! it cannot say anything else than what is served.

use howdah_json::{Attempts, Cluster, Jobs, Listing, OneJob, Prediction, Scheduler, Shape, Workers};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::query::{AttemptsQuery, JobsQuery, NoQuery, PredictionsQuery, WorkersQuery};
use super::refused::Refusal;
use super::resource::Resource;

/// Where the shapes stand in the document.
const SHAPES: &str = "/components/schemas";

/// The whole document.
pub(super) fn document() -> Value {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.definitions_path = SHAPES.into());
    let mut shapes = settings.into_generator();
    let error = json!({ "$ref": reference::<Refusal>(&mut shapes) });
    let operation = |resource: Resource| {
        let answer = answer(resource, &mut shapes);
        let get = json!({
            "operationId": format!("{resource:?}").to_lowercase(),
            "summary": resource.summary(),
            "parameters": parameters(resource),
            "responses": {
                "200": { "description": "The answer", "content": { "application/json": { "schema": answer } } },
                "default": { "description": "Why there is none", "content": { "application/json": { "schema": error } } },
            },
        });
        (format!("/api/v1/{}", resource.path()), json!({ "get": get }))
    };
    let paths: Map<String, Value> = Resource::ALL.into_iter().map(operation).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "howdah",
            "description": "What a howdah cluster is doing, read-only. Shapes are those of `--output json` of the commands; \
                fields are only added.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": { "schemas": shapes.take_definitions(true) },
    })
}

fn reference<T: JsonSchema>(shapes: &mut SchemaGenerator) -> Value {
    shapes.subschema_for::<T>().get("$ref").cloned().unwrap_or_default()
}

/// The shape of a resource's answer.
fn answer(resource: Resource, shapes: &mut SchemaGenerator) -> Value {
    match resource {
        Resource::Cluster => listing::<Cluster>(shapes),
        Resource::Jobs => listing::<Jobs>(shapes),
        Resource::Job => listing::<OneJob>(shapes),
        Resource::Attempts => listing::<Attempts>(shapes),
        Resource::Workers => listing::<Workers>(shapes),
        Resource::Scheduler => listing::<Scheduler>(shapes),
        Resource::Predictions => listing::<Prediction>(shapes),
        Resource::Description => json!({ "type": "object" }),
    }
}

fn listing<T: Shape + JsonSchema>(shapes: &mut SchemaGenerator) -> Value {
    let reference = reference::<Listing<T>>(shapes);
    let shape = shapes.definitions_mut().get_mut(&*Listing::<T>::schema_name());
    if let Some(name) = shape.and_then(|shape| shape.pointer_mut("/properties/schema")) {
        name["const"] = format!("howdah/{}/v1", T::NAME).into();
    }
    json!({ "$ref": reference })
}

/// What a resource's path and query may say.
fn parameters(resource: Resource) -> Vec<Value> {
    let query = match resource {
        Resource::Jobs => query::<JobsQuery>(),
        Resource::Attempts => query::<AttemptsQuery>(),
        Resource::Workers => query::<WorkersQuery>(),
        Resource::Predictions => query::<PredictionsQuery>(),
        Resource::Cluster | Resource::Job | Resource::Scheduler | Resource::Description => query::<NoQuery>(),
    };
    let job = resource.names_a_job().then(|| {
        let what = "The job's printed id, `job_…`, or its last number alone.";
        json!({ "name": "job", "in": "path", "required": true, "description": what, "schema": { "type": "string" } })
    });
    job.into_iter().chain(query).collect()
}

/// A parameter for each field of a query's type.
fn query<T: JsonSchema>() -> Vec<Value> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        // What is left out is not null.
        if let Some(kinds) = schema["type"].as_array() {
            schema["type"] = kinds[0].clone();
        }
        if schema["default"].is_null() {
            schema.as_object_mut().map(|schema| schema.remove("default"));
        }
        json!({ "name": name, "in": "query", "required": false, "description": description, "schema": schema })
    };
    fields.into_iter().map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use super::super::query::MOST;
    use super::*;

    #[test]
    fn every_resource_is_described_with_what_its_query_takes() {
        let document = document();
        assert_eq!(document["paths"].as_object().map(Map::len), Some(Resource::ALL.len()));
        let jobs = &document["paths"]["/api/v1/jobs"]["get"]["parameters"];
        let names: Vec<&str> = jobs.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, ["active", "limit", "name", "page", "queue", "state", "user"]);
        let limit = &jobs[1]["schema"];
        assert_eq!((&limit["maximum"], &limit["default"]), (&json!(MOST), &json!(100)));
        assert_eq!(jobs[5]["schema"], json!({ "type": "string" }));
        let attempts = &document["paths"]["/api/v1/jobs/{job}/attempts"]["get"]["parameters"];
        assert_eq!((&attempts[0]["name"], &attempts[0]["in"]), (&json!("job"), &json!("path")));
    }

    #[test]
    fn every_reference_of_the_description_leads_somewhere() {
        fn look(value: &Value, document: &Value, n: &mut usize) {
            match value {
                Value::Object(fields) => fields.iter().for_each(|(key, value)| match value.as_str() {
                    Some(path) if key == "$ref" => {
                        *n += 1;
                        let shape = path.strip_prefix('#').and_then(|path| document.pointer(path));
                        assert!(shape.is_some_and(|shape| shape["properties"].is_object()), "{path}");
                    }
                    _ => look(value, document, n),
                }),
                Value::Array(items) => items.iter().for_each(|item| look(item, document, n)),
                _ => {}
            }
        }
        let (document, mut n) = (document(), 0);
        look(&document, &document, &mut n);
        assert!(n > Resource::ALL.len() * 2, "{n} references");
        let name = &document["components"]["schemas"]["JobsListing"]["properties"]["schema"]["const"];
        assert_eq!(name, "howdah/jobs/v1");
    }
}
