//! The audit chain as a table.

use crate::SqliteStore;
use async_trait::async_trait;
use caisson_audit::{AuditSink, Record, SinkError};
use sqlx::Row;

fn failed(error: impl std::fmt::Display) -> SinkError {
    SinkError(error.to_string())
}

impl SqliteStore {
    /// Key of the audit's checkpoints.
    #[must_use]
    pub fn audit_key(&self) -> [u8; 32] {
        self.key.derive("caisson audit checkpoints")
    }

    /// The whole chain, for [`caisson_audit::verify`].
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn audit_records(&self) -> Result<Vec<Record>, SinkError> {
        let rows = sqlx::query("SELECT number, event, digest, checkpoint FROM audit ORDER BY number");
        let rows = rows.fetch_all(&self.pool).await.map_err(failed)?;
        rows.iter()
            .map(|row| {
                let number: i64 = row.try_get(0)?;
                Ok(Record {
                    number: u64::try_from(number).unwrap_or(0),
                    event: row.try_get(1)?,
                    digest: row.try_get(2)?,
                    checkpoint: row.try_get(3)?,
                })
            })
            .collect::<Result<_, sqlx::Error>>()
            .map_err(failed)
    }
}

#[async_trait]
impl AuditSink for SqliteStore {
    async fn newest(&self) -> Result<Option<(u64, String)>, SinkError> {
        let row = sqlx::query("SELECT number, digest FROM audit ORDER BY number DESC LIMIT 1");
        let row = row.fetch_optional(&self.pool).await.map_err(failed)?;
        row.map(|row| {
            let number: i64 = row.try_get(0)?;
            Ok((u64::try_from(number).unwrap_or(0), row.try_get(1)?))
        })
        .transpose()
        .map_err(|e: sqlx::Error| failed(e))
    }

    async fn append(&self, records: &[Record]) -> Result<(), SinkError> {
        let mut transaction = self.pool.begin().await.map_err(failed)?;
        for record in records {
            sqlx::query("INSERT INTO audit (number, event, digest, checkpoint) VALUES ($1, $2, $3, $4)")
                .bind(i64::try_from(record.number).map_err(failed)?)
                .bind(&record.event)
                .bind(&record.digest)
                .bind(&record.checkpoint)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)
    }
}
