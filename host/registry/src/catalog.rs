//! What is installed, in memory: a snapshot that calls read without a lock, replaced whole when something changes.

use crate::programs::OfTenant;
use crate::{GrantRecord, PluginRecord, SecretRecord};
use caisson_call::{Limits, TenantId};
use caisson_contract::{Capabilities, Effect, Manifest, ToolSpec};
use caisson_engine::Prepared;
use caisson_policy::Permit;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

/// One installed version of a plugin.
pub(crate) struct Plugin {
    pub(crate) record: PluginRecord,
    pub(crate) manifest: Manifest,
    pub(crate) limits: Limits,
    pub(crate) tools: Vec<Arc<Tool>>,
    /// Machine code; absent until it is compiled.
    pub(crate) prepared: OnceLock<Prepared>,
}

impl Plugin {
    /// Whether its tools are offered before anybody granted it anything: the operator chose the built-in ones, but commands are the
    /// tenant's own decision.
    fn needs_no_grant(&self) -> bool {
        self.record.tenant.is_none() && self.manifest.capabilities.exec.is_none()
    }
}

/// One tool of a plugin.
pub(crate) struct Tool {
    pub(crate) plugin_name: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) spec: ToolSpec,
    pub(crate) parameters: Arc<Value>,
    pub(crate) returns: Option<Arc<Value>>,
    /// Characters of a result that go to the model whole, where the tool sets its own.
    pub(crate) max_result_chars: Option<usize>,
    /// Compiled at the first call, so that start-up compiles none.
    arguments: OnceLock<Option<jsonschema::Validator>>,
    result: OnceLock<Option<jsonschema::Validator>>,
}

impl Tool {
    pub(crate) fn new(plugin_name: &str, spec: ToolSpec) -> Result<Self, String> {
        let schema = |text: &str| {
            serde_json::from_str::<Value>(text)
                .map_err(|e| format!("a schema of the tool `{}` is not JSON: {e}", spec.name))
        };
        let parameters = Arc::new(schema(&spec.parameters)?);
        let returns = spec.returns.as_deref().map(schema).transpose()?.map(Arc::new);
        let extra: Option<Value> = spec.extra.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let max_result_chars = extra
            .as_ref()
            .and_then(|extra| extra.get("max-result-chars")?.as_u64())
            .and_then(|chars| usize::try_from(chars).ok());
        Ok(Self {
            plugin_name: plugin_name.into(),
            name: spec.name.as_str().into(),
            spec,
            parameters,
            returns,
            max_result_chars,
            arguments: OnceLock::new(),
            result: OnceLock::new(),
        })
    }

    /// The compiled schema of the arguments; `None` where it does not compile, which install refuses.
    pub(crate) fn arguments(&self) -> Option<&jsonschema::Validator> {
        self.arguments.get_or_init(|| compile_schema(&self.parameters).ok()).as_ref()
    }

    /// The compiled schema of the structured result, where there is one.
    pub(crate) fn result(&self) -> Option<&jsonschema::Validator> {
        self.result.get_or_init(|| self.returns.as_ref().and_then(|schema| compile_schema(schema).ok())).as_ref()
    }
}

/// Compiles a schema of a guest: patterns by the engine that cannot blow up, no reference leaves the document.
pub(crate) fn compile_schema(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(1 << 20))
        .build(schema)
        .map_err(|e| e.to_string())
}

/// What a plugin may do for one tenant, worked out once per snapshot.
pub(crate) struct Standing {
    pub(crate) permits: HashMap<Effect, Result<Permit, caisson_call::Denial>>,
    pub(crate) settings: Arc<str>,
    pub(crate) secret_names: Arc<BTreeSet<String>>,
    pub(crate) held: Option<String>,
    /// Changes whenever anything above does; part of a cache key.
    pub(crate) mark: [u8; 32],
}

/// Everything installed, granted and set.
#[derive(Default)]
pub(crate) struct Catalog {
    /// Built-in plugins by name.
    pub(crate) built_in: BTreeMap<String, Arc<Plugin>>,
    /// Tenants' plugins by tenant and name.
    pub(crate) plugins: HashMap<TenantId, BTreeMap<String, Arc<Plugin>>>,
    pub(crate) grants: HashMap<(TenantId, String), GrantRecord>,
    pub(crate) settings: HashMap<(TenantId, String), Value>,
    pub(crate) secrets: HashMap<TenantId, BTreeMap<String, SecretRecord>>,
    /// Programs that run with credentials; no tenant without any is in it.
    pub(crate) programs: HashMap<TenantId, Arc<OfTenant>>,
    rosters: Mutex<HashMap<TenantId, Arc<Roster>>>,
}

/// The tools of one tenant by name, its own and the built-in ones, each with what it may do. Worked out once per snapshot.
pub(crate) struct Roster(BTreeMap<Arc<str>, Entry>);

/// One tool of a roster.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) standing: Arc<Standing>,
}

impl Roster {
    /// A tool by its canonical name.
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.0.get(name)
    }

    /// All tools, sorted by name.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }
}

impl Catalog {
    /// The plugin of a tenant, or the built-in one.
    pub(crate) fn plugin(&self, tenant: &TenantId, name: &str) -> Option<&Arc<Plugin>> {
        self.built_in.get(name).or_else(|| self.plugins.get(tenant)?.get(name))
    }

    /// Built-in plugins, then the tenant's.
    pub(crate) fn plugins_of(&self, tenant: &TenantId) -> impl Iterator<Item = &Arc<Plugin>> {
        self.built_in.values().chain(self.plugins.get(tenant).into_iter().flat_map(BTreeMap::values))
    }

    /// What the tenant granted a plugin. A built-in plugin has what its manifest declares unless the tenant granted otherwise; one that
    /// runs commands has nothing until it is granted.
    pub(crate) fn granted(&self, tenant: &TenantId, plugin: &Plugin) -> Option<Capabilities> {
        match self.grants.get(&(tenant.clone(), plugin.record.name.clone())) {
            Some(grant) => Some(grant.capabilities.clone()),
            None if plugin.needs_no_grant() => Some(plugin.manifest.capabilities.clone()),
            None => None,
        }
    }

    /// The tools of a tenant.
    pub(crate) fn roster(&self, tenant: &TenantId, ceiling: Option<&Capabilities>) -> Arc<Roster> {
        let mut rosters = self.rosters.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(roster) = rosters.get(tenant) {
            return Arc::clone(roster);
        }
        let roster = Arc::new(self.call_the_roll(tenant, ceiling));
        rosters.insert(tenant.clone(), Arc::clone(&roster));
        roster
    }

    fn call_the_roll(&self, tenant: &TenantId, ceiling: Option<&Capabilities>) -> Roster {
        let mut tools = BTreeMap::new();
        for plugin in self.plugins_of(tenant) {
            let standing = Arc::new(self.standing(tenant, plugin, ceiling));
            for tool in &plugin.tools {
                let entry =
                    Entry { plugin: Arc::clone(plugin), tool: Arc::clone(tool), standing: Arc::clone(&standing) };
                // A built-in name is never another's: install refuses it, and here the first to come keeps it.
                tools.entry(Arc::clone(&tool.name)).or_insert(entry);
            }
        }
        Roster(tools)
    }

    /// What a plugin may do for a tenant.
    fn standing(&self, tenant: &TenantId, plugin: &Plugin, ceiling: Option<&Capabilities>) -> Standing {
        let name = &plugin.record.name;
        let granted = self.granted(tenant, plugin);
        let settings = self.settings.get(&(tenant.clone(), name.clone()));
        let permits = [Effect::ReadOnly, Effect::Mutating]
            .into_iter()
            .map(|effect| {
                let permit = Permit::decide(
                    &plugin.manifest.capabilities,
                    granted.as_ref(),
                    ceiling,
                    effect,
                    settings,
                    &plugin.limits,
                );
                (effect, permit)
            })
            .collect();
        let stored = self.secrets.get(tenant);
        let secret_names: BTreeSet<String> = plugin
            .manifest
            .credentials
            .keys()
            .filter(|name| stored.is_some_and(|stored| stored.contains_key(*name)))
            .cloned()
            .collect();
        let settings_text = settings.map_or_else(|| "{}".to_owned(), Value::to_string);
        let mut mark = blake3::Hasher::new();
        for part in [
            plugin.record.digest.as_str(),
            &settings_text,
            &serde_json::to_string(&granted).unwrap_or_default(),
            &format!("{secret_names:?}"),
        ] {
            mark.update(&(part.len() as u64).to_le_bytes());
            mark.update(part.as_bytes());
        }
        Standing {
            permits,
            settings: settings_text.into(),
            secret_names: Arc::new(secret_names),
            held: self.held(tenant, plugin),
            mark: *mark.finalize().as_bytes(),
        }
    }

    /// Why a plugin's tools are not offered, if so.
    pub(crate) fn held(&self, tenant: &TenantId, plugin: &Plugin) -> Option<String> {
        let name = &plugin.record.name;
        if plugin.needs_no_grant() {
            return None;
        }
        let Some(grant) = self.grants.get(&(tenant.clone(), name.clone())) else {
            if plugin.manifest.capabilities.is_nothing() {
                return None;
            }
            return Some(format!(
                "it asks for capabilities and has no grant yet; look at it with `caisson inspect {name}`, then `caisson grant {name} --all`"
            ));
        };
        (grant.pin != plugin.record.pin).then(|| {
            format!("its tools changed since they were granted; look at it with `caisson inspect {name}`, then grant it again")
        })
    }
}
