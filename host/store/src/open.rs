//! Opening the database.

use crate::key::{KeyError, MasterKey};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Executor, Row, SqlitePool};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every migration, in order. A released one never changes; the next is added below it.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_first.sql")];

/// How long a statement waits for another process that holds the database.
const BUSY: Duration = Duration::from_secs(5);

/// Connections: SQLite writes one at a time, readers go on beside it.
const CONNECTIONS: u32 = 4;

/// State in an embedded SQLite database and a folder of components.
pub struct SqliteStore {
    pub(crate) pool: SqlitePool,
    pub(crate) key: MasterKey,
    pub(crate) artefacts: PathBuf,
    /// Removes the folder of an in-memory store with it.
    _scratch: Option<tempfile::TempDir>,
}

/// Why a store cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Written by a newer program.
    #[error("the database `{}` is of version {has}, this program knows up to {knows}; run the newer program, or restore a backup from before it", path.display())]
    Newer {
        /// Where.
        path: PathBuf,
        /// Version of the database.
        has: i64,
        /// Version that this program knows.
        knows: i64,
    },
    /// SQLite says no.
    #[error("the database `{}` cannot be opened: {source}", path.display())]
    Database {
        /// Where.
        path: PathBuf,
        /// Why.
        source: sqlx::Error,
    },
    /// The folder cannot be used.
    #[error("the folder `{}` cannot be used: {source}", path.display())]
    Folder {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The key cannot be had.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl SqliteStore {
    /// Opens the database in a folder, making both where they are missing, and brings its tables up to date.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(dir: &Path, key: MasterKey) -> Result<Self, OpenError> {
        let folder = |source| OpenError::Folder { path: dir.to_owned(), source };
        let artefacts = dir.join("artefacts");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&artefacts).map_err(folder)?;
        let path = dir.join("caisson.db");
        let new = !path.exists();
        if new {
            // Made here, so that it is never readable by others, not even for a moment.
            let file = std::fs::File::options().write(true).create(true).truncate(false).open(&path).map_err(folder)?;
            file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(folder)?;
        }
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY)
            .foreign_keys(true);
        let pool = SqlitePoolOptions::new().max_connections(CONNECTIONS);
        let pool = pool.connect_with(options).await.map_err(|source| OpenError::Database { path: path.clone(), source })?;
        migrate(&pool, &path).await?;
        Ok(Self { pool, key, artefacts, _scratch: None })
    }

    /// A store that is gone with this value.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn in_memory() -> Result<Self, OpenError> {
        let path = PathBuf::from(":memory:");
        let scratch = tempfile::tempdir().map_err(|source| OpenError::Folder { path: path.clone(), source })?;
        // One connection: each would have a memory of its own.
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let options = SqliteConnectOptions::new().in_memory(true);
        let pool = pool.connect_with(options).await.map_err(|source| OpenError::Database { path: path.clone(), source })?;
        migrate(&pool, &path).await?;
        let artefacts = scratch.path().to_owned();
        Ok(Self { pool, key: MasterKey::random()?, artefacts, _scratch: Some(scratch) })
    }
}

/// Brings the tables up to date, each step in a transaction with the number that it reaches.
async fn migrate(pool: &SqlitePool, path: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Database { path: path.to_owned(), source };
    let knows = MIGRATIONS.len() as i64;
    let has: i64 = pool.fetch_one("PRAGMA user_version").await.and_then(|row| row.try_get(0)).map_err(failed)?;
    if has > knows {
        return Err(OpenError::Newer { path: path.to_owned(), has, knows });
    }
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(usize::try_from(has).unwrap_or(0)) {
        let mut transaction = pool.begin().await.map_err(failed)?;
        transaction.execute(*migration).await.map_err(failed)?;
        let version = sqlx::AssertSqlSafe(format!("PRAGMA user_version = {}", index + 1));
        transaction.execute(sqlx::raw_sql(version)).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
    }
    Ok(())
}
