//! From a Rust type to the JSON Schema that a model and the host read.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of `T` as JSON text: 2020-12, subschemas in place, objects closed.
pub fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        // The type's name in the code says nothing to a model.
        root.remove("title");
        // A struct without fields has no `properties`, which several model APIs insist on.
        if root.get("type").is_some_and(|kind| kind == "object") {
            root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        }
    }
    close(&mut schema, false);
    schema.to_string()
}

/// The schema of a tool that takes nothing.
pub fn no_arguments() -> String {
    r#"{"type":"object","properties":{},"additionalProperties":false}"#.to_owned()
}

/// Adds `additionalProperties: false` to every object whose properties are all in one place. Where an object's properties are
/// spread over several subschemas (`open`), each of them would forbid the others', so those stay as they are.
fn close(schema: &mut Value, open: bool) {
    let Some(object) = schema.as_object_mut() else { return };
    let spread =
        ["allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties"].iter().any(|key| object.contains_key(*key));
    let has_properties = object.contains_key("properties");
    if has_properties && !spread && !open {
        object.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    for (key, value) in object.iter_mut() {
        match key.as_str() {
            "properties" | "$defs" => {
                value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|inner| close(inner, false))
            }
            "items" | "additionalProperties" => close(value, false),
            "prefixItems" => value.as_array_mut().into_iter().flatten().for_each(|inner| close(inner, false)),
            "anyOf" | "oneOf" => {
                value.as_array_mut().into_iter().flatten().for_each(|inner| close(inner, open || has_properties))
            }
            "allOf" => value.as_array_mut().into_iter().flatten().for_each(|inner| close(inner, true)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[derive(serde::Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        /// City name
        city: String,
        #[serde(default)]
        units: Option<Units>,
        nested: Vec<Nested>,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Units {
        Metric,
        Imperial,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Nested {
        from: u8,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Flattened {
        id: String,
        #[serde(flatten)]
        kind: Kind,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Kind {
        Circle { radius: f64 },
        Square { side: f64 },
    }

    #[derive(serde::Deserialize, JsonSchema)]
    struct Nothing {}

    fn schema<T: JsonSchema>() -> Value {
        serde_json::from_str(&schema_of::<T>()).unwrap()
    }

    #[test]
    fn a_flattened_enum_stays_open_so_that_its_own_properties_are_allowed() {
        let schema = schema::<Flattened>();
        assert!(schema.get("additionalProperties").is_none(), "{schema}");
        assert!(schema.pointer("/oneOf/0/additionalProperties").is_none(), "{schema}");
    }

    #[test]
    fn objects_are_closed_and_in_place() {
        let schema = schema::<Args>();
        assert_eq!(schema.pointer("/type").unwrap(), "object");
        assert_eq!(schema.pointer("/additionalProperties").unwrap(), false);
        assert_eq!(schema.pointer("/properties/nested/items/additionalProperties").unwrap(), false);
        assert_eq!(schema.pointer("/properties/city/description").unwrap(), "City name");
        assert_eq!(schema.pointer("/required").unwrap(), &serde_json::json!(["city", "nested"]));
        let text = schema.to_string();
        assert!(!text.contains("$ref") && !text.contains("$schema") && !text.contains("\"title\""), "{text}");
    }

    #[test]
    fn no_fields_is_an_object_with_no_properties() {
        let none: Value = serde_json::from_str(&no_arguments()).unwrap();
        assert_eq!(schema::<Nothing>(), none);
    }
}
