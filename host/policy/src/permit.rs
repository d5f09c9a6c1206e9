//! What a call may touch and spend.

use crate::{Decision, Step, settings};
use caisson_call::{Capability, Denial, Limits};
use caisson_contract::{Capabilities, Effect, Layer, LayerSource, Layers};
use serde_json::Value;
use std::sync::Arc;

/// What one call may touch and spend. Made by [`Permit::decide`] and by nothing else; cheap to clone, so one may be decided
/// ahead and serve until grant, settings or ceiling change.
#[derive(Clone, Debug)]
pub struct Permit {
    layers: Layers,
    limits: Limits,
    steps: Arc<[Step]>,
}

impl Permit {
    /// Declared ∩ granted ∩ ceiling, narrowed by the effect. `granted` is `None` where the tenant granted nothing; `ceiling` is
    /// `None` where the operator set none; `settings` are the tenant's of the plugin and say what `hosts = "settings"` means
    /// in what was declared and granted. A ceiling cannot mean them, since a tenant's settings do not bind the operator.
    ///
    /// # Errors
    /// `capability.not-granted` where the plugin declares something and the tenant granted nothing.
    pub fn decide(
        declared: &Capabilities,
        granted: Option<&Capabilities>,
        ceiling: Option<&Capabilities>,
        effect: Effect,
        settings: Option<&Value>,
        limits: &Limits,
    ) -> Result<Self, Denial> {
        let granted = match (granted, first_declared(declared)) {
            (Some(granted), _) => settings::resolve(granted, settings),
            (None, None) => Capabilities::default(),
            (None, Some(capability)) => return Err(not_granted(capability)),
        };
        let mut layers = vec![
            layer(LayerSource::Declared, settings::resolve(declared, settings)),
            layer(LayerSource::Granted, granted),
        ];
        layers.extend(ceiling.map(|ceiling| layer(LayerSource::Ceiling, settings::resolve(ceiling, None))));
        let steps = steps(&layers, effect).into();
        Ok(Self { layers: Layers::new(layers, effect), limits: limits.clone(), steps })
    }

    /// The same under a caller's permit, for a call from tool to tool: every layer of the caller must allow too, and a
    /// read-only caller makes the whole chain read-only.
    #[must_use]
    pub fn under(&self, caller: &Self) -> Self {
        let mut layers = self.layers.as_slice().to_vec();
        layers.extend(
            caller
                .layers
                .as_slice()
                .iter()
                .map(|above| Layer { source: LayerSource::Caller, capabilities: Arc::clone(&above.capabilities) }),
        );
        let effect = match (self.layers.effect(), caller.layers.effect()) {
            (Effect::Mutating, Effect::Mutating) => Effect::Mutating,
            _ => Effect::ReadOnly,
        };
        let steps = steps(&layers, effect).into();
        Self { layers: Layers::new(layers, effect), limits: self.limits.clone(), steps }
    }

    /// What must all allow, and the effect.
    #[must_use]
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// What may be spent.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What each layer did.
    #[must_use]
    pub fn explain(&self) -> &[Step] {
        &self.steps
    }
}

fn layer(source: LayerSource, capabilities: Capabilities) -> Layer {
    Layer { source, capabilities: Arc::new(capabilities) }
}

fn not_granted(capability: Capability) -> Denial {
    Denial {
        capability,
        rule: "capability.not-granted".into(),
        subject: "the plugin was granted nothing in this tenant".into(),
        grant: "a tenant admin grants what it declares (`caisson grant PLUGIN --all`) or a part of it".into(),
        approval: None,
    }
}

/// The first capability that asks for anything. An entry that allows nothing (`programs = []`) asks for nothing.
fn first_declared(declared: &Capabilities) -> Option<Capability> {
    let Capabilities { files, http, tcp, exec, documents, keyvalue, tools, runtime, schedule, pages, data, outputs } =
        declared;
    let exec = exec.as_ref().is_some_and(|exec| exec.shell || !exec.programs.is_empty());
    [
        (!files.is_empty(), Capability::Files),
        (!http.is_empty(), Capability::Http),
        (!tcp.is_empty(), Capability::Sockets),
        (exec, Capability::Exec),
        (!documents.is_empty() || !keyvalue.is_empty(), Capability::Documents),
        (!tools.is_empty(), Capability::Tools),
        (!runtime.is_empty(), Capability::Runtime),
        (*schedule, Capability::Schedule),
        (*pages, Capability::Pages),
        (*data, Capability::Data),
        (*outputs, Capability::Outputs),
    ]
    .into_iter()
    .find_map(|(asks, capability)| asks.then_some(capability))
}

fn steps(layers: &[Layer], effect: Effect) -> Vec<Step> {
    let mut steps: Vec<Step> = layers
        .iter()
        .map(|layer| {
            let lines = layer.capabilities.lines();
            let (decision, what) = match (lines.is_empty(), layer.source) {
                (true, source) => (Decision::Narrow, format!("{} allows no capability", name(source))),
                (false, source) => (Decision::Narrow, format!("{} allows {}", name(source), lines.join("; "))),
            };
            Step::new(format!("capability.{}", layer.source.verb()), decision, what)
        })
        .collect();
    steps.push(match effect {
        Effect::ReadOnly => {
            Step::new("effect.read-only", Decision::Narrow, "the tool is read-only: it may change nothing")
        }
        Effect::Mutating => {
            Step::new("effect.mutating", Decision::Allow, "the tool may use all that every layer allows")
        }
    });
    steps
}

fn name(source: LayerSource) -> &'static str {
    match source {
        LayerSource::Declared => "the manifest",
        LayerSource::Granted => "the tenant's grant",
        LayerSource::Ceiling => "the operator's ceiling",
        LayerSource::Caller => "the calling tool",
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use caisson_contract::Hosts;
    use serde_json::json;

    fn capabilities(value: Value) -> Capabilities {
        serde_json::from_value(value).unwrap()
    }

    fn decide(
        declared: &Capabilities,
        granted: Option<&Capabilities>,
        ceiling: Option<&Capabilities>,
        settings: Option<&Value>,
    ) -> Result<Permit, Denial> {
        Permit::decide(declared, granted, ceiling, Effect::ReadOnly, settings, &Limits::default())
    }

    #[test]
    fn what_is_declared_and_not_granted_is_denied_and_says_by_which_rule() {
        for (declared, capability) in [
            (json!({ "files": { "/workspace": "read" } }), Capability::Files),
            (json!({ "http": [{ "hosts": "settings" }] }), Capability::Http),
            (json!({ "tcp": [{ "host": "db.example", "port": 5432 }] }), Capability::Sockets),
            (json!({ "exec": { "shell": true } }), Capability::Exec),
            (json!({ "documents": { "notes": "read" } }), Capability::Documents),
            (json!({ "keyvalue": { "cache": "read" } }), Capability::Documents),
            (json!({ "tools": ["calc"] }), Capability::Tools),
            (json!({ "runtime": ["approve"] }), Capability::Runtime),
            (json!({ "schedule": true }), Capability::Schedule),
            (json!({ "pages": true }), Capability::Pages),
            (json!({ "data": true }), Capability::Data),
            (json!({ "outputs": true }), Capability::Outputs),
        ] {
            let denial = decide(&capabilities(declared), None, None, None).unwrap_err();
            assert_eq!((denial.capability, denial.rule.as_str()), (capability, "capability.not-granted"));
            assert!(denial.grant.contains("caisson grant"));
        }
    }

    #[test]
    fn a_plugin_that_asks_for_nothing_needs_no_grant_and_has_nothing() {
        let permit = decide(&Capabilities::default(), None, None, None).unwrap();
        assert!(permit.layers().as_slice().iter().all(|layer| *layer.capabilities == Capabilities::default()));
        assert!(decide(&capabilities(json!({ "exec": { "programs": [] } })), None, None, None).is_ok());
    }

    #[test]
    fn layers_stand_in_order_and_settings_reach_all_but_the_ceiling() {
        let all = capabilities(json!({ "http": [{ "hosts": "settings" }] }));
        let settings = json!({ "policy": "allow_domains", "allowed_domains": ["a.example"] });
        let permit = decide(&all, Some(&all), Some(&all), Some(&settings)).unwrap();
        let layers = permit.layers().as_slice();
        assert_eq!(
            layers.iter().map(|l| l.source).collect::<Vec<_>>(),
            [LayerSource::Declared, LayerSource::Granted, LayerSource::Ceiling]
        );
        let hosts: Vec<&Hosts> = layers.iter().map(|l| &l.capabilities.http.first().unwrap().hosts).collect();
        let named = Hosts::List(vec!["a.example".into()]);
        assert_eq!(hosts, [&named, &named, &Hosts::List(vec![])]);
        assert_eq!(permit.explain().len(), 4);
    }

    #[test]
    fn a_called_tool_gets_no_more_than_its_caller() {
        let files = capabilities(json!({ "files": { "/workspace": "read-write" } }));
        let called = Permit::decide(&files, Some(&files), None, Effect::Mutating, None, &Limits::default()).unwrap();
        let caller = decide(&Capabilities::default(), None, None, None).unwrap();
        let under = called.under(&caller);
        assert_eq!(under.layers().effect(), Effect::ReadOnly);
        assert_eq!(under.layers().as_slice().len(), 4);
        assert!(
            under
                .layers()
                .as_slice()
                .iter()
                .any(|l| l.source == LayerSource::Caller && l.capabilities.files.is_empty())
        );
    }
}
