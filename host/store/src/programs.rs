//! Programs that run with credentials: what is set about them in the open, and their variables and credentials sealed.

use crate::SqliteStore;
use crate::open::WRITE;
use caisson_call::TenantId;
use caisson_registry::{
    ProgramCredentialRecord, ProgramGrantRecord, ProgramHolder, ProgramRecord, ProgramSecrets, SealedOf, StoreError,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row, SqlitePool};
use zeroize::Zeroizing;

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError(error.to_string())
}

/// What a sealed text is bound to: a row that was moved, or whose settings were changed, does not open. It begins with a zero byte, which no
/// secret's place does, since each begins with a tenant.
fn place(tenant: &TenantId, of: &SealedOf, key_id: &str, settings: &str) -> String {
    let parts: Vec<&str> = match of {
        SealedOf::Program(id) => vec!["program", id],
        SealedOf::Grant(program, agent) => vec!["grant", program, agent],
        SealedOf::Credential(program, holder, slot) => {
            let (kind, name) = holder.parts();
            vec!["credential", program, kind, name, slot]
        }
    };
    // With its length before each, since a name can hold any byte.
    let all = [tenant.as_str(), key_id, settings].into_iter().chain(parts);
    all.map(|part| format!("\u{0}{}\u{0}{part}", part.len())).collect()
}

/// Identifier of the key, and the sealed text.
fn seal(
    store: &SqliteStore,
    tenant: &TenantId,
    of: &SealedOf,
    settings: &str,
    text: &str,
) -> Result<(String, String), StoreError> {
    let key_id = store.key.id();
    let sealed = store.key.seal(&place(tenant, of, &key_id, settings), text);
    sealed.map(|sealed| (key_id, sealed)).ok_or_else(|| failed("a secret cannot be sealed"))
}

fn text(row: &SqliteRow, column: usize) -> Result<String, StoreError> {
    row.try_get(column).map_err(failed)
}

fn tenant_of(row: &SqliteRow) -> Result<TenantId, StoreError> {
    TenantId::new(&text(row, 0)?).map_err(failed)
}

/// Reads columns of its kind and name.
fn holder(row: &SqliteRow, first: usize) -> Result<ProgramHolder, StoreError> {
    let (kind, name) = (text(row, first)?, text(row, first + 1)?);
    ProgramHolder::from_parts(&kind, &name)
        .ok_or_else(|| failed(format!("a credential has the unknown holder `{kind}`")))
}

pub(crate) async fn all(readers: &SqlitePool) -> Result<Vec<ProgramRecord>, StoreError> {
    let rows = sqlx::query("SELECT tenant, id, name, settings FROM programs ORDER BY tenant, name");
    let rows = rows.fetch_all(readers).await.map_err(failed)?;
    let read = |row: &SqliteRow| {
        Ok(ProgramRecord { tenant: tenant_of(row)?, id: text(row, 1)?, name: text(row, 2)?, settings: text(row, 3)? })
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn put(store: &SqliteStore, program: &ProgramRecord, env: &str) -> Result<(), StoreError> {
    let ProgramRecord { tenant, id, name, settings } = program;
    let (key_id, sealed) = seal(store, tenant, &SealedOf::Program(id.clone()), settings, env)?;
    sqlx::query("INSERT INTO programs (tenant, id, name, settings, key_id, sealed) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, id) DO UPDATE SET name = excluded.name, settings = excluded.settings, key_id = excluded.key_id, sealed = excluded.sealed")
        .bind(tenant.as_str())
        .bind(id)
        .bind(name)
        .bind(settings)
        .bind(key_id)
        .bind(sealed)
        .execute(&store.writer)
        .await
        .map_err(failed)?;
    Ok(())
}

pub(crate) async fn remove(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    id: &str,
) -> Result<bool, sqlx::Error> {
    let mut transaction = connection.begin_with(WRITE).await?;
    for sql in [
        "DELETE FROM program_credentials WHERE tenant = $1 AND program = $2",
        "DELETE FROM program_grants WHERE tenant = $1 AND program = $2",
    ] {
        sqlx::query(sql).bind(tenant.as_str()).bind(id).execute(&mut *transaction).await?;
    }
    let removed = sqlx::query("DELETE FROM programs WHERE tenant = $1 AND id = $2").bind(tenant.as_str()).bind(id);
    let removed = removed.execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(removed.rows_affected() > 0)
}

pub(crate) async fn grants(readers: &SqlitePool) -> Result<Vec<ProgramGrantRecord>, StoreError> {
    let rows =
        sqlx::query("SELECT tenant, program, agent, settings FROM program_grants ORDER BY tenant, program, agent");
    let rows = rows.fetch_all(readers).await.map_err(failed)?;
    let read = |row: &SqliteRow| {
        Ok(ProgramGrantRecord {
            tenant: tenant_of(row)?,
            program: text(row, 1)?,
            agent: text(row, 2)?,
            settings: text(row, 3)?,
        })
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn put_grant(store: &SqliteStore, grant: &ProgramGrantRecord, env: &str) -> Result<(), StoreError> {
    let ProgramGrantRecord { tenant, program, agent, settings } = grant;
    let (key_id, sealed) = seal(store, tenant, &SealedOf::Grant(program.clone(), agent.clone()), settings, env)?;
    sqlx::query("INSERT INTO program_grants (tenant, program, agent, settings, key_id, sealed) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, program, agent) DO UPDATE SET settings = excluded.settings, key_id = excluded.key_id, sealed = excluded.sealed")
        .bind(tenant.as_str())
        .bind(program)
        .bind(agent)
        .bind(settings)
        .bind(key_id)
        .bind(sealed)
        .execute(&store.writer)
        .await
        .map_err(failed)?;
    Ok(())
}

pub(crate) async fn remove_grant(
    writer: &SqlitePool,
    tenant: &TenantId,
    program: &str,
    agent: &str,
) -> Result<bool, StoreError> {
    let removed = sqlx::query("DELETE FROM program_grants WHERE tenant = $1 AND program = $2 AND agent = $3")
        .bind(tenant.as_str())
        .bind(program)
        .bind(agent);
    Ok(removed.execute(writer).await.map_err(failed)?.rows_affected() > 0)
}

pub(crate) async fn credentials(readers: &SqlitePool) -> Result<Vec<ProgramCredentialRecord>, StoreError> {
    let rows = sqlx::query(
        "SELECT tenant, program, holder_kind, holder, slot FROM program_credentials ORDER BY tenant, program, holder_kind, holder, slot",
    );
    let rows = rows.fetch_all(readers).await.map_err(failed)?;
    let read = |row: &SqliteRow| {
        Ok(ProgramCredentialRecord {
            tenant: tenant_of(row)?,
            program: text(row, 1)?,
            holder: holder(row, 2)?,
            slot: text(row, 4)?,
        })
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn put_credential(
    store: &SqliteStore,
    credential: &ProgramCredentialRecord,
    secret: &str,
) -> Result<(), StoreError> {
    let ProgramCredentialRecord { tenant, program, holder, slot } = credential;
    let of = SealedOf::Credential(program.clone(), holder.clone(), slot.clone());
    let (key_id, sealed) = seal(store, tenant, &of, "", secret)?;
    let (kind, name) = holder.parts();
    sqlx::query("INSERT INTO program_credentials (tenant, program, holder_kind, holder, slot, key_id, sealed) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, program, holder_kind, holder, slot) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed")
        .bind(tenant.as_str())
        .bind(program)
        .bind(kind)
        .bind(name)
        .bind(slot)
        .bind(key_id)
        .bind(sealed)
        .execute(&store.writer)
        .await
        .map_err(failed)?;
    Ok(())
}

pub(crate) async fn remove_credentials(
    writer: &SqlitePool,
    tenant: &TenantId,
    program: &str,
    holder: &ProgramHolder,
) -> Result<bool, StoreError> {
    let (kind, name) = holder.parts();
    let removed = sqlx::query(
        "DELETE FROM program_credentials WHERE tenant = $1 AND program = $2 AND holder_kind = $3 AND holder = $4",
    );
    let removed = removed.bind(tenant.as_str()).bind(program).bind(kind).bind(name);
    Ok(removed.execute(writer).await.map_err(failed)?.rows_affected() > 0)
}

pub(crate) async fn reveal(store: &SqliteStore, tenant: &TenantId) -> Result<ProgramSecrets, StoreError> {
    // One statement, so that a change between two is not seen by half.
    let rows = sqlx::query(
        "SELECT 'program', id, '', '', '', settings, key_id, sealed FROM programs WHERE tenant = $1 UNION ALL SELECT 'grant', program, agent, '', '', settings, key_id, sealed FROM program_grants WHERE tenant = $1 UNION ALL SELECT 'credential', program, holder_kind, holder, slot, '', key_id, sealed FROM program_credentials WHERE tenant = $1",
    );
    let rows = rows.bind(tenant.as_str()).fetch_all(&store.readers).await.map_err(failed)?;
    let opened = |row: &SqliteRow| {
        let of = match text(row, 0)?.as_str() {
            "program" => SealedOf::Program(text(row, 1)?),
            "grant" => SealedOf::Grant(text(row, 1)?, text(row, 2)?),
            _ => SealedOf::Credential(text(row, 1)?, holder(row, 2)?, text(row, 4)?),
        };
        let place = place(tenant, &of, &text(row, 6)?, &text(row, 5)?);
        let opened: Option<Zeroizing<String>> = store.key.open(&place, &text(row, 7)?);
        Ok((of, opened))
    };
    rows.iter().map(opened).collect()
}
