//! Questions to a person, and what was approved for good.

use crate::open::WRITE;
use caisson_call::TenantId;
use caisson_registry::{
    ApprovalDecision, ApprovalRecord, ApprovalState, ApprovalStatus, AskTerms, Asked, RememberedRecord, StoreError,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row, SqlitePool};

const PENDING: &str = "pending";
const APPROVED: &str = "approved";
const DENIED: &str = "denied";

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError(error.to_string())
}

pub(crate) async fn ask(
    connection: &mut SqliteConnection,
    approval: &ApprovalRecord,
    record: &str,
    terms: &AskTerms,
) -> Result<Asked, sqlx::Error> {
    let mut transaction = connection.begin_with(WRITE).await?;
    let asked = asked(&mut transaction, approval, record, terms).await?;
    transaction.commit().await?;
    Ok(asked)
}

async fn asked(
    connection: &mut SqliteConnection,
    approval: &ApprovalRecord,
    record: &str,
    terms: &AskTerms,
) -> Result<Asked, sqlx::Error> {
    sqlx::query("DELETE FROM approvals WHERE expires_ms < $1")
        .bind(terms.forget_before_ms)
        .execute(&mut *connection)
        .await?;
    let taken = sqlx::query("UPDATE approvals SET state = 'used' WHERE id = (SELECT id FROM approvals WHERE fingerprint = $1 AND state = 'approved' AND expires_ms > $2 ORDER BY id LIMIT 1) RETURNING id")
        .bind(&approval.fingerprint)
        .bind(terms.now_ms)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = taken {
        return Ok(Asked::Taken { id: row.try_get(0)? });
    }
    let denied = sqlx::query("SELECT id FROM approvals WHERE fingerprint = $1 AND state = 'denied' AND decided_ms > $2 ORDER BY decided_ms DESC LIMIT 1")
        .bind(&approval.fingerprint)
        .bind(terms.denied_since_ms)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = denied {
        return Ok(Asked::Denied { id: row.try_get(0)? });
    }
    let waits = sqlx::query("SELECT id, expires_ms FROM approvals WHERE fingerprint = $1 AND state = 'pending' AND expires_ms > $2 ORDER BY id LIMIT 1")
        .bind(&approval.fingerprint)
        .bind(terms.now_ms)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = waits {
        return Ok(Asked::Pending { id: row.try_get(0)?, expires_ms: row.try_get(1)? });
    }
    let waiting = sqlx::query("SELECT count(*), coalesce(sum(CASE WHEN token_id = $3 THEN 1 ELSE 0 END), 0) FROM approvals WHERE tenant = $1 AND state = 'pending' AND expires_ms > $2")
        .bind(approval.asker.tenant.as_str())
        .bind(terms.now_ms)
        .bind(&approval.asker.token_id)
        .fetch_one(&mut *connection)
        .await?;
    if waiting.try_get::<i64, _>(0)? >= terms.most_of_tenant || waiting.try_get::<i64, _>(1)? >= terms.most_of_token {
        return Ok(Asked::Full);
    }
    sqlx::query("INSERT INTO approvals (id, tenant, token_id, fingerprint, state, expires_ms, record) VALUES ($1, $2, $3, $4, 'pending', $5, $6)")
        .bind(&approval.id)
        .bind(approval.asker.tenant.as_str())
        .bind(&approval.asker.token_id)
        .bind(&approval.fingerprint)
        .bind(terms.expires_ms)
        .bind(record)
        .execute(connection)
        .await?;
    Ok(Asked::Pending { id: approval.id.clone(), expires_ms: terms.expires_ms })
}

/// What a row says now.
fn state(kept: &str, expires_ms: i64, now_ms: i64) -> Result<ApprovalState, StoreError> {
    match kept {
        PENDING | APPROVED if expires_ms <= now_ms => Ok(ApprovalState::Expired),
        PENDING => Ok(ApprovalState::Pending),
        APPROVED => Ok(ApprovalState::Approved),
        DENIED => Ok(ApprovalState::Denied),
        "used" => Ok(ApprovalState::Used),
        other => Err(failed(format!("an approval is in the unknown state `{other}`"))),
    }
}

pub(crate) async fn take(
    readers: &SqlitePool,
    writer: &SqlitePool,
    id: &str,
    now_ms: i64,
) -> Result<ApprovalState, StoreError> {
    let row = sqlx::query("SELECT state, expires_ms FROM approvals WHERE id = $1").bind(id);
    let row = row.fetch_optional(readers).await.map_err(failed)?;
    let Some(row) = row else { return Ok(ApprovalState::Expired) };
    let kept: String = row.try_get(0).map_err(failed)?;
    match state(&kept, row.try_get(1).map_err(failed)?, now_ms)? {
        ApprovalState::Approved => {
            let taken = sqlx::query(
                "UPDATE approvals SET state = 'used' WHERE id = $1 AND state = 'approved' AND expires_ms > $2",
            );
            let taken = taken.bind(id).bind(now_ms).execute(writer).await.map_err(failed)?;
            // Where another call was quicker, it is used up.
            Ok(if taken.rows_affected() == 1 { ApprovalState::Approved } else { ApprovalState::Used })
        }
        other => Ok(other),
    }
}

/// Reads columns `record, state, expires_ms, decided_by`.
fn status(row: &SqliteRow, now_ms: i64) -> Result<ApprovalStatus, StoreError> {
    let (record, kept): (String, String) = (row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?);
    let expires_ms: i64 = row.try_get(2).map_err(failed)?;
    Ok(ApprovalStatus {
        record: serde_json::from_str(&record).map_err(failed)?,
        state: state(&kept, expires_ms, now_ms)?,
        expires_ms,
        decided_by: row.try_get(3).map_err(failed)?,
    })
}

pub(crate) async fn one(
    readers: &SqlitePool,
    tenant: &TenantId,
    id: &str,
    now_ms: i64,
) -> Result<Option<ApprovalStatus>, StoreError> {
    let row = sqlx::query("SELECT record, state, expires_ms, decided_by FROM approvals WHERE tenant = $1 AND id = $2");
    let row = row.bind(tenant.as_str()).bind(id).fetch_optional(readers).await.map_err(failed)?;
    row.as_ref().map(|row| status(row, now_ms)).transpose()
}

pub(crate) async fn all(
    readers: &SqlitePool,
    tenant: &TenantId,
    now_ms: i64,
) -> Result<Vec<ApprovalStatus>, StoreError> {
    let rows = sqlx::query("SELECT record, state, expires_ms, decided_by FROM approvals WHERE tenant = $1 ORDER BY id");
    let rows = rows.bind(tenant.as_str()).fetch_all(readers).await.map_err(failed)?;
    rows.iter().map(|row| status(row, now_ms)).collect()
}

pub(crate) async fn decide(
    connection: &mut SqliteConnection,
    decision: &ApprovalDecision,
    remembered: &[String],
) -> Result<bool, sqlx::Error> {
    let mut transaction = connection.begin_with(WRITE).await?;
    let decided = sqlx::query("UPDATE approvals SET state = $1, expires_ms = $2, decided_ms = $3, decided_by = $4 WHERE id = $5 AND state = 'pending' AND expires_ms > $3")
        .bind(if decision.approved { APPROVED } else { DENIED })
        .bind(decision.expires_ms)
        .bind(decision.now_ms)
        .bind(&decision.by)
        .bind(&decision.id)
        .execute(&mut *transaction)
        .await?;
    if decided.rows_affected() == 0 {
        return Ok(false);
    }
    for (one, record) in decision.remembered.iter().zip(remembered) {
        sqlx::query("INSERT INTO remembered (id, tenant, approval, record) VALUES ($1, $2, $3, $4)")
            .bind(&one.id)
            .bind(one.tenant.as_str())
            .bind(&one.approval)
            .bind(record)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(true)
}

pub(crate) async fn remembered(readers: &SqlitePool, tenant: &TenantId) -> Result<Vec<RememberedRecord>, StoreError> {
    let rows = sqlx::query("SELECT record FROM remembered WHERE tenant = $1 ORDER BY id").bind(tenant.as_str());
    let rows = rows.fetch_all(readers).await.map_err(failed)?;
    let read = |row: &SqliteRow| serde_json::from_str(&row.try_get::<String, _>(0).map_err(failed)?).map_err(failed);
    rows.iter().map(read).collect()
}

pub(crate) async fn forget(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    id: &str,
) -> Result<bool, sqlx::Error> {
    let mut transaction = connection.begin_with(WRITE).await?;
    let removed = sqlx::query("DELETE FROM remembered WHERE tenant = $1 AND id = $2 RETURNING approval");
    let removed = removed.bind(tenant.as_str()).bind(id).fetch_optional(&mut *transaction).await?;
    let Some(row) = removed else { return Ok(false) };
    sqlx::query("UPDATE approvals SET state = 'used' WHERE tenant = $1 AND id = $2 AND state = 'approved'")
        .bind(tenant.as_str())
        .bind(row.try_get::<String, _>(0)?)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(true)
}
