//! The audit chain as a table.

use crate::SqliteStore;
use crate::open::WRITE;
use async_trait::async_trait;
use caisson_audit::{AuditSink, Broken, Head, Record, SinkError, Verifier};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, QueryBuilder, Row, Sqlite, SqliteConnection};

/// Records in one statement: it costs a way to SQLite's thread and back, which is more than a row does.
const ROWS: usize = 64;

/// Records that a check holds at once.
const PAGE: i64 = 1_000;

/// The only node of an embedded database.
const NODE: &str = "local";

fn failed(error: impl std::fmt::Display) -> SinkError {
    SinkError(error.to_string())
}

fn record(row: &SqliteRow) -> Result<Record, sqlx::Error> {
    let number: i64 = row.try_get(0)?;
    Ok(Record {
        number: u64::try_from(number).unwrap_or(0),
        event: row.try_get(1)?,
        digest: row.try_get(2)?,
        checkpoint: row.try_get(3)?,
    })
}

impl SqliteStore {
    /// Key of the audit's checkpoints.
    #[must_use]
    pub fn audit_key(&self) -> [u8; 32] {
        self.key.derive("caisson audit checkpoints")
    }

    /// Checks the whole chain, a page at a time; how many records it has, or where it breaks. What is recorded meanwhile is not looked at.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn verify_audit(&self) -> Result<Result<u64, Broken>, SinkError> {
        // One snapshot: the head is that of the records.
        let mut snapshot = self.readers.begin().await.map_err(failed)?;
        let head = sqlx::query("SELECT number, seal FROM audit_head WHERE node = $1").bind(NODE);
        let head = head.fetch_optional(&mut *snapshot).await.map_err(failed)?;
        let head = head
            .map(|row| Ok(Head { number: row.try_get::<i64, _>(0)?.try_into().unwrap_or(0), seal: row.try_get(1)? }));
        let head = head.transpose().map_err(|e: sqlx::Error| failed(e))?;
        let mut verifier = Verifier::new(self.audit_key());
        let mut last = i64::MIN;
        loop {
            let page = sqlx::query(
                "SELECT number, event, digest, checkpoint FROM audit WHERE number > $1 ORDER BY number LIMIT $2",
            );
            let rows = page.bind(last).bind(PAGE).fetch_all(&mut *snapshot).await.map_err(failed)?;
            let Some(newest) = rows.last() else { return Ok(verifier.end(head.as_ref())) };
            last = newest.try_get(0).map_err(failed)?;
            for row in &rows {
                if let Err(broken) = verifier.next(&record(row).map_err(failed)?) {
                    return Ok(Err(broken));
                }
            }
        }
    }
}

#[async_trait]
impl AuditSink for SqliteStore {
    async fn newest(&self) -> Result<Option<(u64, String)>, SinkError> {
        let row = sqlx::query("SELECT number, digest FROM audit ORDER BY number DESC LIMIT 1");
        let row = row.fetch_optional(&self.writer).await.map_err(failed)?;
        row.map(|row| {
            let number: i64 = row.try_get(0)?;
            Ok((u64::try_from(number).unwrap_or(0), row.try_get(1)?))
        })
        .transpose()
        .map_err(|e: sqlx::Error| failed(e))
    }

    async fn append(&self, records: &[Record], head: &Head) -> Result<(), SinkError> {
        let mut connection = self.writer.acquire().await.map_err(failed)?;
        let written = write(&mut connection, records, head).await;
        self.settled(connection, written).map_err(failed)
    }
}

async fn write(connection: &mut SqliteConnection, records: &[Record], head: &Head) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with(WRITE).await?;
    for rows in records.chunks(ROWS) {
        let mut insert = QueryBuilder::<Sqlite>::new("INSERT INTO audit (number, event, digest, checkpoint) ");
        insert.push_values(rows, |mut row, record| {
            row.push_bind(i64::try_from(record.number).unwrap_or(i64::MAX));
            row.push_bind(&record.event).push_bind(&record.digest).push_bind(&record.checkpoint);
        });
        // A statement for each length would fill the cache of prepared ones.
        let insert = insert.build().persistent(rows.len() == ROWS);
        insert.execute(&mut *transaction).await?;
    }
    sqlx::query("INSERT INTO audit_head (node, number, seal) VALUES ($1, $2, $3) ON CONFLICT (node) DO UPDATE SET number = excluded.number, seal = excluded.seal")
            .bind(NODE)
            .bind(i64::try_from(head.number).unwrap_or(i64::MAX))
            .bind(&head.seal)
            .execute(&mut *transaction)
            .await?;
    transaction.commit().await
}
