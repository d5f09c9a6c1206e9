//! Installing, granting, configuring: what changes the catalog.

use crate::catalog::{Catalog, Plugin, Tool, compile_schema};
use crate::gateway::Gateway;
use crate::outputs::now_ms;
use crate::rails::{GrantRecord, PluginRecord, SecretRecord, SettingsRecord, StoreError};
use crate::{AdminError, Change, GrantRequest, PluginView, programs};
use caisson_call::{Limits, Principal, Role, TenantId};
use caisson_contract::{Capabilities, HostInterfaces, Layers, Manifest, SecretBinding, ToolSpec};
use caisson_engine::{ExecSettings, Facts, Job, PrepareError, Prepared, Step, Workspace};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Most bytes of settings.
const MAX_SETTINGS: usize = 16 << 10;

/// Most bytes of a secret.
const MAX_SECRET: usize = 64 << 10;

/// What is known of a component that was looked at and not yet installed.
struct Looked {
    record: PluginRecord,
    manifest: Manifest,
    prepared: Prepared,
}

impl From<StoreError> for AdminError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        Self::Unavailable("the store is not available now; nothing was changed, try again later".into())
    }
}

pub(crate) fn needs(who: &Principal, role: Role) -> Result<(), AdminError> {
    if who.role >= role {
        return Ok(());
    }
    Err(AdminError::Forbidden { needs: role.as_str(), has: who.role.as_str() })
}

pub(crate) fn not_found(what: &'static str, name: &str, known: &[&str]) -> AdminError {
    let near = caisson_policy::nearest(name, known);
    let hint = near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    AdminError::NotFound { what, name: crate::steps::find::shown(name), hint }
}

impl Gateway {
    /// Reads everything from the store anew.
    pub(crate) async fn reload(&self) -> Result<(), StoreError> {
        let store = &self.inner.store;
        let (plugins, grants, settings, secrets) =
            tokio::try_join!(store.plugins(), store.grants(), store.settings(), store.secrets())?;
        let (programs, program_grants, credentials) =
            tokio::try_join!(store.programs(), store.program_grants(), store.program_credentials())?;
        let before = self.inner.catalog();
        let mut catalog = Catalog::default();
        for record in plugins {
            let known = match &record.tenant {
                None => before.built_in.get(&record.name),
                Some(tenant) => before.plugins.get(tenant).and_then(|plugins| plugins.get(&record.name)),
            };
            let plugin = match known.filter(|known| known.record == record) {
                Some(known) => Arc::clone(known),
                None => match self.load(record) {
                    Ok(plugin) => Arc::new(plugin),
                    Err(why) => {
                        tracing::error!(why, "an installed plugin cannot be read and is not served");
                        continue;
                    }
                },
            };
            match plugin.record.tenant.clone() {
                None => catalog.built_in.insert(plugin.record.name.clone(), plugin),
                Some(tenant) => catalog.plugins.entry(tenant).or_default().insert(plugin.record.name.clone(), plugin),
            };
        }
        catalog.grants =
            grants.into_iter().map(|grant| ((grant.tenant.clone(), grant.plugin.clone()), grant)).collect();
        catalog.settings = settings.into_iter().map(|s| ((s.tenant, s.name), s.value)).collect();
        for secret in secrets {
            catalog.secrets.entry(secret.tenant.clone()).or_default().insert(secret.name.clone(), secret);
        }
        catalog.programs = programs::by_tenant(programs, program_grants, credentials, &before.programs);
        self.inner.catalog.store(Arc::new(catalog));
        Ok(())
    }

    fn load(&self, record: PluginRecord) -> Result<Plugin, String> {
        let manifest = Manifest::parse(&record.manifest)
            .map_err(|faults| format!("plugin `{}`: {}", record.name, join(&faults)))?;
        let limits = manifest
            .limits
            .resolve(&self.inner.config.ceiling_limits)
            .map_err(|faults| format!("plugin `{}`: {}", record.name, faults.join("; ")))?;
        let tools = record
            .tools
            .iter()
            .map(|spec| Tool::new(&record.name, spec.clone()).map(Arc::new))
            .collect::<Result<_, _>>()?;
        Ok(Plugin { record, manifest, limits, tools, prepared: OnceLock::new() })
    }

    pub(crate) async fn changed(&self, tenant: Option<TenantId>) -> Result<(), AdminError> {
        self.reload().await?;
        // Nobody listening is no fault.
        let _ = self.inner.changes.send(Change { tenant });
        Ok(())
    }

    /// The plugins of the caller's tenant and the built-in ones.
    ///
    /// # Errors
    /// None so far; the signature leaves room for a store that is asked.
    pub async fn plugins(&self, who: &Principal) -> Result<Vec<PluginView>, AdminError> {
        let catalog = self.inner.catalog();
        Ok(catalog.plugins_of(&who.tenant).map(|plugin| self.view(&catalog, who, plugin)).collect())
    }

    /// One plugin.
    ///
    /// # Errors
    /// Not found, with the nearest name.
    pub async fn plugin(&self, who: &Principal, name: &str) -> Result<PluginView, AdminError> {
        let catalog = self.inner.catalog();
        let plugin = self.known(&catalog, who, name)?;
        Ok(self.view(&catalog, who, &plugin))
    }

    fn known(&self, catalog: &Catalog, who: &Principal, name: &str) -> Result<Arc<Plugin>, AdminError> {
        catalog.plugin(&who.tenant, name).cloned().ok_or_else(|| {
            let names: Vec<&str> = catalog.plugins_of(&who.tenant).map(|plugin| plugin.record.name.as_str()).collect();
            not_found("plugin", name, &names)
        })
    }

    fn view(&self, catalog: &Catalog, who: &Principal, plugin: &Plugin) -> PluginView {
        PluginView::of(plugin, catalog.granted(&who.tenant, plugin), catalog.held(&who.tenant, plugin))
    }

    /// Installs a component for the caller's tenant: checks it, compiles it in the confined child, asks it for its tools.
    /// `component` is whole in memory; the door held it to [`Gateway::max_component_bytes`] while it streamed in.
    ///
    /// # Errors
    /// Says everything that is wrong with it; nothing is kept then.
    pub async fn install(&self, who: &Principal, component: Vec<u8>) -> Result<PluginView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        self.install_for(who, Some(who.tenant.clone()), component, &|_| ()).await
    }

    /// Installs a built-in plugin, which serves every tenant. Quick where the same one is there already.
    ///
    /// # Errors
    /// As [`Gateway::install`].
    pub async fn install_built_in(
        &self,
        who: &Principal,
        component: Vec<u8>,
        told: &(dyn Fn(Step) + Send + Sync),
    ) -> Result<PluginView, AdminError> {
        needs(who, Role::Owner)?;
        self.install_for(who, None, component, told).await
    }

    async fn install_for(
        &self,
        who: &Principal,
        tenant: Option<TenantId>,
        component: Vec<u8>,
        told: &(dyn Fn(Step) + Send + Sync),
    ) -> Result<PluginView, AdminError> {
        let digest = blake3::hash(&component).to_hex().to_string();
        let catalog = self.inner.catalog();
        if let Some(same) =
            catalog.plugins_of(&who.tenant).find(|p| p.record.digest == digest && p.record.tenant == tenant)
        {
            return Ok(self.view(&catalog, who, same));
        }
        let looked = self.look(who, tenant.clone(), &digest, &component, told).await?;
        let _changing = self.inner.changing.lock().await;
        let catalog = self.inner.catalog();
        self.no_collision(&catalog, &looked.record)?;
        self.keeps_its_grant(&catalog, &looked)?;
        self.inner.store.put_artefact(&digest, &component).await?;
        self.inner.store.put_plugin(&looked.record).await?;
        self.audit_change(who, "plugin.installed", &looked.record.name, &digest);
        self.changed(tenant).await?;
        let catalog = self.inner.catalog();
        let plugin = self.known(&catalog, who, &looked.record.name)?;
        let _ = plugin.prepared.set(looked.prepared);
        Ok(self.view(&catalog, who, &plugin))
    }

    /// Everything about a component that can be checked without keeping it.
    async fn look(
        &self,
        who: &Principal,
        tenant: Option<TenantId>,
        digest: &str,
        component: &[u8],
        told: &(dyn Fn(Step) + Send + Sync),
    ) -> Result<Looked, AdminError> {
        if component.len() as u64 > self.inner.config.max_component_bytes {
            return Err(AdminError::TooLarge {
                what: "the component",
                limit_bytes: self.inner.config.max_component_bytes,
            });
        }
        let most = usize::try_from(self.inner.config.max_component_bytes).unwrap_or(usize::MAX);
        // Versions are judged before validation: a component of a later WASI is told so, and not which of its bytes came as a surprise.
        let info = caisson_contract::read_info(component).map_err(|e| AdminError::Invalid(vec![e.to_string()]))?;
        caisson_contract::check_versions(&info.imports, &info.exports, &HostInterfaces::current())
            .map_err(|m| AdminError::AbiMismatch { has: m.has, wants: m.wants })?;
        caisson_contract::inspect_component(component, most).map_err(|e| AdminError::Invalid(vec![e.to_string()]))?;
        let text =
            caisson_contract::read_manifest_section(component).map_err(|e| AdminError::Invalid(vec![e.to_string()]))?;
        let manifest = Manifest::parse(&text)
            .map_err(|faults| AdminError::Invalid(faults.iter().map(ToString::to_string).collect()))?;
        let limits = manifest.limits.resolve(&self.inner.config.ceiling_limits).map_err(AdminError::Invalid)?;
        let prepared = self.inner.engine.prepare(digest, component.to_vec(), told).await.map_err(|e| match e {
            PrepareError::Component(why) => AdminError::Invalid(vec![why]),
            PrepareError::Machine(why) => {
                tracing::error!(why, "a component cannot be compiled on this machine");
                AdminError::Unavailable("components cannot be compiled now; the operator's log says why".into())
            }
        })?;
        let tools = self.ask_for_tools(&prepared, who, limits).await?;
        check(&tools)?;
        let record = PluginRecord {
            tenant,
            name: manifest.plugin.name.clone(),
            digest: digest.to_owned(),
            manifest: text,
            pin: caisson_contract::pin(&tools),
            tools,
            imports: info.imports,
            size_bytes: component.len() as u64,
            installed_ms: now_ms(),
            installed_by: who.token_id.clone(),
        };
        Ok(Looked { record, manifest, prepared })
    }

    async fn ask_for_tools(
        &self,
        prepared: &Prepared,
        who: &Principal,
        limits: Limits,
    ) -> Result<Vec<ToolSpec>, AdminError> {
        let job = Job {
            layers: Layers::none(),
            limits,
            facts: Facts { tenant: who.tenant.to_string(), time_zone: "UTC".into(), ..Facts::default() },
            settings: "{}".into(),
            workspace: Workspace::at(std::path::Path::new("/nonexistent")),
            blocking: self.inner.admission.blocking(&who.tenant),
            egress: Arc::clone(&self.inner.egress),
            executor: Arc::clone(&self.inner.executor),
            approvals: None,
            programs: None,
            secrets: Arc::new([]),
            secret_names: Arc::default(),
            inputs: Arc::new([]),
            outputs: None,
            progress: None,
            cancelled: Arc::default(),
        };
        match self.inner.engine.list_tools(prepared, job).await {
            Ok(Ok(tools)) => Ok(tools),
            Ok(Err(text)) => Err(AdminError::Invalid(vec![format!(
                "`list-tools` failed: {}",
                self.inner.scrubber.clean_text(&text).escape_debug()
            )])),
            Err(refused) => {
                Err(AdminError::Invalid(vec![format!("`list-tools` did not answer: {}", refused.message())]))
            }
        }
    }

    /// No plugin may take a built-in's name or alias, nor another's tool name within the tenant.
    fn no_collision(&self, catalog: &Catalog, record: &PluginRecord) -> Result<(), AdminError> {
        if record.tenant.is_some() && catalog.built_in.contains_key(&record.name) {
            return Err(AdminError::Conflict(format!(
                "`{}` is the name of a built-in plugin; choose another in [plugin] name",
                record.name
            )));
        }
        let tenants: Vec<&TenantId> = match &record.tenant {
            Some(tenant) => vec![tenant],
            None => catalog.plugins.keys().collect(),
        };
        let mut taken: HashMap<&str, &str> = HashMap::new();
        let others = catalog
            .built_in
            .values()
            .chain(tenants.into_iter().filter_map(|t| catalog.plugins.get(t)).flat_map(|p| p.values()));
        for plugin in others.filter(|p| !(p.record.name == record.name && p.record.tenant == record.tenant)) {
            taken.extend(plugin.tools.iter().map(|tool| (&*tool.name, plugin.record.name.as_str())));
        }
        for tool in &record.tools {
            if caisson_policy::canonical(&tool.name) != tool.name {
                return Err(AdminError::Conflict(format!(
                    "the tool name `{}` is an alias of the built-in `{}`; choose another",
                    tool.name,
                    caisson_policy::canonical(&tool.name)
                )));
            }
            if let Some(other) = taken.get(tool.name.as_str()) {
                return Err(AdminError::Conflict(format!(
                    "the tool name `{}` of plugin `{}` is taken by plugin `{other}`; rename one of them",
                    tool.name, record.name
                )));
            }
        }
        Ok(())
    }

    /// A new version that asks for more than was granted, or whose tools say something else, must not take the place of a granted one
    /// unseen: it is refused with the difference, and the old version serves on.
    fn keeps_its_grant(&self, catalog: &Catalog, looked: &Looked) -> Result<(), AdminError> {
        let Some(tenant) = &looked.record.tenant else { return Ok(()) };
        let Some(grant) = catalog.grants.get(&(tenant.clone(), looked.record.name.clone())) else { return Ok(()) };
        let mut difference = caisson_contract::difference(&looked.manifest.capabilities, &grant.capabilities);
        if grant.pin != looked.record.pin {
            difference
                .push("its tools' names, effects, schemas or descriptions are not those that were granted".into());
        }
        if difference.is_empty() {
            return Ok(());
        }
        Err(AdminError::Conflict(format!(
            "this version of `{}` is not covered by the grant, and the old version serves on; the difference:\n- {}\nto take it, revoke the grant, upload it again and grant it",
            looked.record.name,
            difference.join("\n- ")
        )))
    }

    /// Grants a plugin what is asked; it serves from the next call on.
    ///
    /// # Errors
    /// More than it declares is refused, as is more than the operator's ceiling.
    pub async fn grant(&self, who: &Principal, name: &str, grant: GrantRequest) -> Result<PluginView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        let catalog = self.inner.catalog();
        let plugin = self.known(&catalog, who, name)?;
        let declared = &plugin.manifest.capabilities;
        let capabilities = match grant {
            GrantRequest::All { all: true } => declared.clone(),
            GrantRequest::All { all: false } => {
                return Err(AdminError::Invalid(vec![
                    "`all` must be true, or name the capabilities; to take a grant back, delete it".into(),
                ]));
            }
            GrantRequest::Some(some) => *some,
        };
        caisson_contract::check_capabilities(&capabilities).map_err(AdminError::Invalid)?;
        let too_much: Vec<String> = caisson_contract::exceeds(&capabilities, declared)
            .into_iter()
            .map(|line| format!("more than `{name}` declares: {line}"))
            .collect();
        if !too_much.is_empty() {
            return Err(AdminError::Invalid(too_much));
        }
        let record = GrantRecord {
            tenant: who.tenant.clone(),
            plugin: name.to_owned(),
            capabilities,
            pin: plugin.record.pin.clone(),
            granted_ms: now_ms(),
            granted_by: who.token_id.clone(),
        };
        self.inner.store.put_grant(&record).await?;
        self.audit_change(who, "grant.changed", name, &plugin.record.digest);
        self.changed(Some(who.tenant.clone())).await?;
        self.plugin(who, name).await
    }

    /// Takes a grant back.
    ///
    /// # Errors
    /// Not found.
    pub async fn revoke(&self, who: &Principal, name: &str) -> Result<PluginView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        let plugin = self.known(&self.inner.catalog(), who, name)?;
        if !self.inner.store.remove_grant(&who.tenant, name).await? {
            return Err(AdminError::NotFound { what: "grant for plugin", name: name.into(), hint: String::new() });
        }
        self.audit_change(who, "grant.revoked", name, &plugin.record.digest);
        self.changed(Some(who.tenant.clone())).await?;
        self.plugin(who, name).await
    }

    /// Removes a plugin; calls under way end as they would have.
    ///
    /// # Errors
    /// Not found; built-in.
    pub async fn remove(&self, who: &Principal, name: &str) -> Result<(), AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        let plugin = self.known(&self.inner.catalog(), who, name)?;
        if plugin.record.tenant.is_none() {
            return Err(AdminError::Conflict(format!("`{name}` is built in; deny its tools by policy instead")));
        }
        self.inner.store.remove_plugin(Some(&who.tenant), name).await?;
        self.audit_change(who, "plugin.removed", name, &plugin.record.digest);
        self.changed(Some(who.tenant.clone())).await
    }

    /// Settings of a plugin in the caller's tenant, a JSON object.
    ///
    /// # Errors
    /// Not found.
    pub async fn settings(&self, who: &Principal, name: &str) -> Result<Value, AdminError> {
        let catalog = self.inner.catalog();
        self.known(&catalog, who, name)?;
        let settings = catalog.settings.get(&(who.tenant.clone(), name.to_owned()));
        Ok(settings.cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new())))
    }

    /// Replaces them whole; at most 16 KiB.
    ///
    /// # Errors
    /// Not an object, too large, a secret in it, not found.
    pub async fn put_settings(&self, who: &Principal, name: &str, settings: Value) -> Result<(), AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        let plugin = self.known(&self.inner.catalog(), who, name)?;
        if !settings.is_object() {
            return Err(AdminError::Invalid(vec!["settings must be a JSON object".into()]));
        }
        if plugin.manifest.capabilities.exec.is_some() {
            ExecSettings::check(&settings).map_err(|fault| AdminError::Invalid(vec![fault.to_string()]))?;
        }
        let text = settings.to_string();
        if text.len() > MAX_SETTINGS {
            return Err(AdminError::TooLarge { what: "the settings", limit_bytes: MAX_SETTINGS as u64 });
        }
        if self.inner.scrubber.clean_text(&text) != text {
            return Err(AdminError::Invalid(vec![
                "there seems to be a secret in the settings; store it as a secret, and declare it under [credentials]"
                    .into(),
            ]));
        }
        self.inner
            .store
            .put_settings(&SettingsRecord { tenant: who.tenant.clone(), name: name.to_owned(), value: settings })
            .await?;
        self.audit_change(who, "settings.changed", name, &plugin.record.digest);
        self.changed(Some(who.tenant.clone())).await
    }

    /// Stores a secret, bound to where it may go. The value never comes back out of the API.
    ///
    /// # Errors
    /// A bad name, value or binding.
    pub async fn put_secret(
        &self,
        who: &Principal,
        name: &str,
        value: String,
        bindings: Vec<SecretBinding>,
    ) -> Result<(), AdminError> {
        needs(who, Role::TenantAdmin)?;
        let faults = secret_faults(name, &value, &bindings);
        if !faults.is_empty() {
            return Err(AdminError::Invalid(faults));
        }
        let value = zeroize::Zeroizing::new(value);
        let _changing = self.inner.changing.lock().await;
        let record = SecretRecord { tenant: who.tenant.clone(), name: name.to_owned(), bindings };
        self.inner.store.put_secret(&record, &value).await?;
        self.audit_change(who, "secret.changed", name, "");
        self.changed(Some(who.tenant.clone())).await
    }

    /// Removes a secret.
    ///
    /// # Errors
    /// Not found.
    pub async fn remove_secret(&self, who: &Principal, name: &str) -> Result<(), AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        if !self.inner.store.remove_secret(&who.tenant, name).await? {
            let catalog = self.inner.catalog();
            let names: Vec<&str> =
                catalog.secrets.get(&who.tenant).into_iter().flat_map(|s| s.keys().map(String::as_str)).collect();
            return Err(not_found("secret", name, &names));
        }
        self.audit_change(who, "secret.removed", name, "");
        self.changed(Some(who.tenant.clone())).await
    }

    /// Names and bindings of the tenant's secrets.
    ///
    /// # Errors
    /// The role does not allow it.
    pub async fn secrets(&self, who: &Principal) -> Result<Vec<(String, Vec<SecretBinding>)>, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let catalog = self.inner.catalog();
        Ok(catalog
            .secrets
            .get(&who.tenant)
            .into_iter()
            .flat_map(|s| s.values())
            .map(|s| (s.name.clone(), s.bindings.clone()))
            .collect())
    }
}

fn join<T: ToString>(faults: &[T]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Names, sizes and shapes, then that every schema compiles.
fn check(tools: &[ToolSpec]) -> Result<(), AdminError> {
    caisson_contract::check_tools(tools).map_err(AdminError::Invalid)?;
    let mut faults = Vec::new();
    for tool in tools {
        for (what, text) in [("parameters", Some(&tool.parameters)), ("returns", tool.returns.as_ref())] {
            let Some(text) = text else { continue };
            let compiled = serde_json::from_str(text)
                .map_err(|e| e.to_string())
                .and_then(|schema| compile_schema(&schema).map(drop));
            if let Err(why) = compiled {
                faults.push(format!("`{what}` of the tool `{}` is not a JSON Schema: {why}", tool.name));
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(AdminError::Invalid(faults)) }
}

fn secret_faults(name: &str, value: &str, bindings: &[SecretBinding]) -> Vec<String> {
    let mut faults = Vec::new();
    let name_ok = (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    if !name_ok {
        faults.push("a secret's name has 1 to 64 characters a-z, 0-9, `-`, `_`".into());
    }
    if value.len() < 6 || value.len() > MAX_SECRET {
        faults.push(format!("a secret has 6 to {MAX_SECRET} bytes: a shorter one could not be told from ordinary text when it is taken out of results"));
    }
    if value.chars().any(char::is_control) {
        faults.push("a secret has no control characters or line breaks; check how it was pasted".into());
    }
    if bindings.is_empty() {
        faults.push("a secret needs at least one binding {host, scheme, port}: the only place it is sent to".into());
    }
    for binding in bindings {
        if binding.scheme != "https" && binding.scheme != "http" {
            faults.push(format!("the scheme `{}` is not https or http", binding.scheme.escape_default()));
        }
        if binding.port == 0 {
            faults.push("a binding's port is 1 to 65535".into());
        }
        let host_ok = !binding.host.is_empty()
            && binding
                .host
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b':' | b'[' | b']'));
        if !host_ok {
            faults.push(format!(
                "the host `{}` must be one exact lower-case name, without scheme, port or `*`",
                binding.host.escape_default()
            ));
        }
    }
    faults
}

/// What a view shows of declared capabilities: nothing is hidden from whoever grants.
impl PluginView {
    pub(crate) fn of(plugin: &Plugin, granted: Option<Capabilities>, held: Option<String>) -> Self {
        let record = &plugin.record;
        Self {
            name: record.name.clone(),
            version: plugin.manifest.plugin.version.to_string(),
            digest: record.digest.clone(),
            description: plugin.manifest.plugin.description.clone(),
            state: match held {
                Some(reason) => crate::PluginState::Held { reason },
                None => crate::PluginState::Serving,
            },
            declared: plugin.manifest.capabilities.clone(),
            credentials: plugin.manifest.credentials.clone(),
            granted,
            tools: plugin.tools.iter().map(|tool| crate::ToolView::of(plugin, tool)).collect(),
            imports: record.imports.clone(),
            built_in: record.tenant.is_none(),
            size_bytes: record.size_bytes,
            installed_ms: record.installed_ms,
            installed_by: record.installed_by.clone(),
        }
    }
}

impl crate::ToolView {
    pub(crate) fn of(plugin: &Plugin, tool: &Tool) -> Self {
        Self {
            name: Arc::clone(&tool.name),
            title: tool.spec.title.as_deref().map(Arc::from),
            description: tool.spec.description.as_str().into(),
            parameters: Arc::clone(&tool.parameters),
            returns: tool.returns.clone(),
            effect: tool.spec.effect,
            idempotent: tool.spec.idempotent,
            deferred: tool.spec.deferred,
            groups: tool.spec.groups.as_slice().into(),
            plugin: Arc::clone(&tool.plugin_name),
            plugin_version: plugin.manifest.plugin.version.to_string().into(),
            built_in: plugin.record.tenant.is_none(),
        }
    }
}
