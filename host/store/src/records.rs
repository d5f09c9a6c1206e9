//! The registry's records.

use crate::open::WRITE;
use crate::token::id_of;
use crate::{SqliteStore, approvals, artefacts, programs};
use async_trait::async_trait;
use caisson_call::{Principal, TenantId};
use caisson_contract::SecretBinding;
use caisson_registry::{
    ApprovalDecision, ApprovalRecord, ApprovalState, ApprovalStatus, AskTerms, Asked, GrantRecord, KeptRecord,
    PluginRecord, ProgramCredentialRecord, ProgramGrantRecord, ProgramHolder, ProgramRecord, ProgramSecrets,
    RememberedRecord, SecretRecord, SettingsRecord, Store, StoreError,
};
use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row, SqlSafeStr};
use zeroize::Zeroizing;

/// Most bytes of kept outputs of one tenant, so that no tenant pushes another's out or fills the disk.
const MAX_KEPT_BYTES: i64 = 128 << 20;

/// What stays of them once there are more; the oldest go. Less than the most, so that not every further output has to clear away.
const KEPT_BYTES_LEFT: i64 = MAX_KEPT_BYTES / 4 * 3;

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError(error.to_string())
}

/// The tenant as a column: '' is everybody's, which no tenant can be called.
fn column(tenant: Option<&TenantId>) -> &str {
    tenant.map_or("", TenantId::as_str)
}

/// What a sealed secret is bound to: a row that was moved, or whose bindings were changed, does not open.
fn place(tenant: &TenantId, name: &str, key_id: &str, bindings: &str) -> String {
    format!("{tenant}\u{0}{name}\u{0}{key_id}\u{0}{bindings}")
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|d| i64::try_from(d.as_millis()).ok()).unwrap_or(0)
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(failed)
}

impl SqliteStore {
    async fn all<T>(
        &self,
        sql: impl SqlSafeStr,
        read: impl Fn(&SqliteRow) -> Result<T, sqlx::Error>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = sqlx::query(sql).fetch_all(&self.readers).await.map_err(failed)?;
        rows.iter().map(read).collect::<Result<_, _>>().map_err(failed)
    }

    /// Over the principal too, so that a row whose role was changed in the database stands for nobody.
    fn token_hash(&self, token: &str, principal: &str) -> blake3::Hash {
        let key = Zeroizing::new(self.key.derive("caisson tokens"));
        let mut hasher = blake3::Hasher::new_keyed(&key);
        hasher.update(token.as_bytes()).update(b"\0").update(principal.as_bytes());
        hasher.finalize()
    }
}

/// Where a tenant keeps more than `most` bytes, drops its oldest outputs until `left` remain at most.
async fn make_room(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    most: i64,
    left: i64,
) -> Result<(), sqlx::Error> {
    let sum = sqlx::query("SELECT sum(size) FROM kept WHERE tenant = $1").bind(tenant.as_str());
    let sum: Option<i64> = sum.fetch_one(&mut *connection).await?.try_get(0)?;
    if sum.unwrap_or(0) <= most {
        return Ok(());
    }
    sqlx::query("DELETE FROM kept WHERE reference IN (SELECT reference FROM (SELECT reference, sum(size) OVER (ORDER BY expires_ms DESC, reference) AS newer FROM kept WHERE tenant = $1) AS sums WHERE newer > $2)")
        .bind(tenant.as_str())
        .bind(left)
        .execute(connection)
        .await?;
    Ok(())
}

#[async_trait]
impl Store for SqliteStore {
    async fn put_artefact(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let (path, bytes) = (self.artefact_path(digest)?, bytes.to_vec());
        let digest = digest.to_owned();
        tokio::task::spawn_blocking(move || artefacts::write(&path, &digest, &bytes)).await.map_err(failed)?
    }

    async fn artefact(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.artefact_path(digest)?;
        let digest = digest.to_owned();
        tokio::task::spawn_blocking(move || artefacts::read(&path, &digest)).await.map_err(failed)?
    }

    async fn plugins(&self) -> Result<Vec<PluginRecord>, StoreError> {
        let texts =
            self.all("SELECT record FROM plugins ORDER BY tenant, name", |row| row.try_get::<String, _>(0)).await?;
        texts.iter().map(|text| parse(text)).collect()
    }

    async fn put_plugin(&self, plugin: &PluginRecord) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO plugins (tenant, name, record) VALUES ($1, $2, $3) ON CONFLICT (tenant, name) DO UPDATE SET record = excluded.record")
            .bind(column(plugin.tenant.as_ref()))
            .bind(&plugin.name)
            .bind(serde_json::to_string(plugin).map_err(failed)?)
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(())
    }

    async fn remove_plugin(&self, tenant: Option<&TenantId>, name: &str) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await.map_err(failed)?;
        let removed = remove_plugin(&mut connection, tenant, name).await;
        self.settled(connection, removed).map_err(failed)
    }

    async fn grants(&self) -> Result<Vec<GrantRecord>, StoreError> {
        let texts =
            self.all("SELECT record FROM grants ORDER BY tenant, plugin", |row| row.try_get::<String, _>(0)).await?;
        texts.iter().map(|text| parse(text)).collect()
    }

    async fn put_grant(&self, grant: &GrantRecord) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO grants (tenant, plugin, record) VALUES ($1, $2, $3) ON CONFLICT (tenant, plugin) DO UPDATE SET record = excluded.record")
            .bind(grant.tenant.as_str())
            .bind(&grant.plugin)
            .bind(serde_json::to_string(grant).map_err(failed)?)
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(())
    }

    async fn remove_grant(&self, tenant: &TenantId, plugin: &str) -> Result<bool, StoreError> {
        let removed = sqlx::query("DELETE FROM grants WHERE tenant = $1 AND plugin = $2")
            .bind(tenant.as_str())
            .bind(plugin)
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(removed.rows_affected() > 0)
    }

    async fn settings(&self) -> Result<Vec<SettingsRecord>, StoreError> {
        let rows = self
            .all("SELECT tenant, name, value FROM settings", |row| {
                Ok((row.try_get::<String, _>(0)?, row.try_get::<String, _>(1)?, row.try_get::<String, _>(2)?))
            })
            .await?;
        rows.into_iter()
            .map(|(tenant, name, value)| {
                Ok(SettingsRecord { tenant: TenantId::new(&tenant).map_err(failed)?, name, value: parse(&value)? })
            })
            .collect()
    }

    async fn put_settings(&self, settings: &SettingsRecord) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO settings (tenant, name, value) VALUES ($1, $2, $3) ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value")
            .bind(settings.tenant.as_str())
            .bind(&settings.name)
            .bind(settings.value.to_string())
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(())
    }

    async fn secrets(&self) -> Result<Vec<SecretRecord>, StoreError> {
        let rows = self
            .all("SELECT tenant, name, bindings FROM secrets", |row| {
                Ok((row.try_get::<String, _>(0)?, row.try_get::<String, _>(1)?, row.try_get::<String, _>(2)?))
            })
            .await?;
        rows.into_iter()
            .map(|(tenant, name, bindings)| {
                let bindings: Vec<SecretBinding> = parse(&bindings)?;
                Ok(SecretRecord { tenant: TenantId::new(&tenant).map_err(failed)?, name, bindings })
            })
            .collect()
    }

    async fn put_secret(&self, secret: &SecretRecord, value: &str) -> Result<(), StoreError> {
        let (key_id, bindings) = (self.key.id(), serde_json::to_string(&secret.bindings).map_err(failed)?);
        let place = place(&secret.tenant, &secret.name, &key_id, &bindings);
        let sealed = self.key.seal(&place, value).ok_or_else(|| failed("a secret cannot be sealed"))?;
        sqlx::query("INSERT INTO secrets (tenant, name, bindings, key_id, sealed) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant, name) DO UPDATE SET bindings = excluded.bindings, key_id = excluded.key_id, sealed = excluded.sealed")
            .bind(secret.tenant.as_str())
            .bind(&secret.name)
            .bind(bindings)
            .bind(key_id)
            .bind(sealed)
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(())
    }

    async fn reveal_secret(&self, tenant: &TenantId, name: &str) -> Result<Option<Zeroizing<String>>, StoreError> {
        let row = sqlx::query("SELECT key_id, sealed, bindings FROM secrets WHERE tenant = $1 AND name = $2")
            .bind(tenant.as_str())
            .bind(name)
            .fetch_optional(&self.readers)
            .await
            .map_err(failed)?;
        let Some(row) = row else { return Ok(None) };
        let key_id: String = row.try_get(0).map_err(failed)?;
        let sealed: String = row.try_get(1).map_err(failed)?;
        let bindings: String = row.try_get(2).map_err(failed)?;
        match self.key.open(&place(tenant, name, &key_id, &bindings), &sealed) {
            Some(value) => Ok(Some(value)),
            None if key_id != self.key.id() => Err(failed(format!(
                "the secret `{name}` was sealed with the master key `{key_id}`, this one is `{}`; start with the right key, or store the secret again",
                self.key.id()
            ))),
            None => Err(failed(format!("the secret `{name}` was changed in the database; store it again"))),
        }
    }

    async fn remove_secret(&self, tenant: &TenantId, name: &str) -> Result<bool, StoreError> {
        let removed = sqlx::query("DELETE FROM secrets WHERE tenant = $1 AND name = $2")
            .bind(tenant.as_str())
            .bind(name)
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(removed.rows_affected() > 0)
    }

    async fn put_token(&self, token: &str, principal: &Principal) -> Result<(), StoreError> {
        let id = id_of(token).ok_or_else(|| failed("a token has the shape csn_ID_SECRET"))?;
        if id != principal.token_id {
            return Err(failed(
                "a token's principal carries another token's identifier, by which it could not be revoked",
            ));
        }
        let principal = serde_json::to_string(principal).map_err(failed)?;
        sqlx::query("INSERT INTO tokens (id, hash, principal) VALUES ($1, $2, $3)")
            .bind(id)
            .bind(self.token_hash(token, &principal).to_hex().as_str())
            .bind(principal)
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(())
    }

    async fn token(&self, token: &str) -> Result<Option<Principal>, StoreError> {
        let Some(id) = id_of(token) else { return Ok(None) };
        let row = sqlx::query("SELECT hash, principal FROM tokens WHERE id = $1").bind(id);
        let Some(row) = row.fetch_optional(&self.readers).await.map_err(failed)? else { return Ok(None) };
        let kept: String = row.try_get(0).map_err(failed)?;
        let principal: String = row.try_get(1).map_err(failed)?;
        // blake3's own comparison takes the same time wherever two hashes differ.
        if blake3::Hash::from_hex(kept).map_err(failed)? != self.token_hash(token, &principal) {
            return Ok(None);
        }
        parse(&principal).map(Some)
    }

    async fn remove_token(&self, token_id: &str) -> Result<bool, StoreError> {
        let removed = sqlx::query("DELETE FROM tokens WHERE id = $1")
            .bind(token_id)
            .execute(&self.writer)
            .await
            .map_err(failed)?;
        Ok(removed.rows_affected() > 0)
    }

    async fn put_kept(&self, kept: &KeptRecord) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await.map_err(failed)?;
        let put = put_kept(&mut connection, kept).await;
        self.settled(connection, put).map_err(failed)
    }

    async fn kept(&self, reference: &str) -> Result<Option<KeptRecord>, StoreError> {
        let row = sqlx::query("SELECT tenant, agent, user_name, tool, content_type, lines, body, expires_ms FROM kept WHERE reference = $1 AND expires_ms > $2")
            .bind(reference)
            .bind(now_ms())
            .fetch_optional(&self.readers)
            .await
            .map_err(failed)?;
        let Some(row) = row else { return Ok(None) };
        let tenant: String = row.try_get(0).map_err(failed)?;
        let lines: i64 = row.try_get(5).map_err(failed)?;
        Ok(Some(KeptRecord {
            reference: reference.to_owned(),
            tenant: TenantId::new(&tenant).map_err(failed)?,
            agent: row.try_get(1).map_err(failed)?,
            user: row.try_get(2).map_err(failed)?,
            tool: row.try_get(3).map_err(failed)?,
            content_type: row.try_get(4).map_err(failed)?,
            lines: u64::try_from(lines).unwrap_or(0),
            bytes: row.try_get(6).map_err(failed)?,
            expires_ms: row.try_get(7).map_err(failed)?,
        }))
    }

    async fn ask_approval(&self, approval: &ApprovalRecord, terms: &AskTerms) -> Result<Asked, StoreError> {
        let record = serde_json::to_string(approval).map_err(failed)?;
        let mut connection = self.writer.acquire().await.map_err(failed)?;
        let asked = approvals::ask(&mut connection, approval, &record, terms).await;
        self.settled(connection, asked).map_err(failed)
    }

    async fn take_approval(&self, id: &str, now_ms: i64) -> Result<ApprovalState, StoreError> {
        approvals::take(&self.readers, &self.writer, id, now_ms).await
    }

    async fn approval(&self, tenant: &TenantId, id: &str, now_ms: i64) -> Result<Option<ApprovalStatus>, StoreError> {
        approvals::one(&self.readers, tenant, id, now_ms).await
    }

    async fn approvals(&self, tenant: &TenantId, now_ms: i64) -> Result<Vec<ApprovalStatus>, StoreError> {
        approvals::all(&self.readers, tenant, now_ms).await
    }

    async fn decide_approval(&self, decision: &ApprovalDecision) -> Result<bool, StoreError> {
        let remembered: Vec<String> =
            decision.remembered.iter().map(serde_json::to_string).collect::<Result<_, _>>().map_err(failed)?;
        let mut connection = self.writer.acquire().await.map_err(failed)?;
        let decided = approvals::decide(&mut connection, decision, &remembered).await;
        self.settled(connection, decided).map_err(failed)
    }

    async fn remembered(&self, tenant: &TenantId) -> Result<Vec<RememberedRecord>, StoreError> {
        approvals::remembered(&self.readers, tenant).await
    }

    async fn forget(&self, tenant: &TenantId, id: &str) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await.map_err(failed)?;
        let forgotten = approvals::forget(&mut connection, tenant, id).await;
        self.settled(connection, forgotten).map_err(failed)
    }

    async fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError> {
        programs::all(&self.readers).await
    }

    async fn put_program(&self, program: &ProgramRecord, env: &str) -> Result<(), StoreError> {
        programs::put(self, program, env).await
    }

    async fn remove_program(&self, tenant: &TenantId, id: &str) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await.map_err(failed)?;
        let removed = programs::remove(&mut connection, tenant, id).await;
        self.settled(connection, removed).map_err(failed)
    }

    async fn program_grants(&self) -> Result<Vec<ProgramGrantRecord>, StoreError> {
        programs::grants(&self.readers).await
    }

    async fn put_program_grant(&self, grant: &ProgramGrantRecord, env: &str) -> Result<(), StoreError> {
        programs::put_grant(self, grant, env).await
    }

    async fn remove_program_grant(&self, tenant: &TenantId, program: &str, agent: &str) -> Result<bool, StoreError> {
        programs::remove_grant(&self.writer, tenant, program, agent).await
    }

    async fn program_credentials(&self) -> Result<Vec<ProgramCredentialRecord>, StoreError> {
        programs::credentials(&self.readers).await
    }

    async fn put_program_credential(
        &self,
        credential: &ProgramCredentialRecord,
        secret: &str,
    ) -> Result<(), StoreError> {
        programs::put_credential(self, credential, secret).await
    }

    async fn remove_program_credentials(
        &self,
        tenant: &TenantId,
        program: &str,
        holder: &ProgramHolder,
    ) -> Result<bool, StoreError> {
        programs::remove_credentials(&self.writer, tenant, program, holder).await
    }

    async fn reveal_programs(&self, tenant: &TenantId) -> Result<ProgramSecrets, StoreError> {
        programs::reveal(self, tenant).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.readers).await.map(drop).map_err(failed)
    }
}

async fn remove_plugin(
    connection: &mut SqliteConnection,
    tenant: Option<&TenantId>,
    name: &str,
) -> Result<bool, sqlx::Error> {
    let mut transaction = connection.begin_with(WRITE).await?;
    let removed = sqlx::query("DELETE FROM plugins WHERE tenant = $1 AND name = $2")
        .bind(column(tenant))
        .bind(name)
        .execute(&mut *transaction)
        .await?;
    // A built-in plugin is granted by every tenant for itself.
    let grants = match tenant {
        Some(tenant) => {
            sqlx::query("DELETE FROM grants WHERE plugin = $1 AND tenant = $2").bind(name).bind(tenant.as_str())
        }
        None => sqlx::query("DELETE FROM grants WHERE plugin = $1").bind(name),
    };
    grants.execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(removed.rows_affected() > 0)
}

async fn put_kept(connection: &mut SqliteConnection, kept: &KeptRecord) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with(WRITE).await?;
    sqlx::query("DELETE FROM kept WHERE expires_ms <= $1").bind(now_ms()).execute(&mut *transaction).await?;
    sqlx::query("INSERT INTO kept (reference, tenant, agent, user_name, tool, content_type, lines, body, expires_ms, size) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
            .bind(&kept.reference)
            .bind(kept.tenant.as_str())
            .bind(&kept.agent)
            .bind(&kept.user)
            .bind(&kept.tool)
            .bind(&kept.content_type)
            .bind(i64::try_from(kept.lines).unwrap_or(i64::MAX))
            .bind(&kept.bytes)
            .bind(kept.expires_ms)
            .bind(i64::try_from(kept.bytes.len()).unwrap_or(i64::MAX))
            .execute(&mut *transaction)
            .await?;
    make_room(&mut transaction, &kept.tenant, MAX_KEPT_BYTES, KEPT_BYTES_LEFT).await?;
    transaction.commit().await
}
