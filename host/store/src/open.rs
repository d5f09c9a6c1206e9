//! Opening the database.

use crate::key::{KeyError, MasterKey};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Executor, Row, Sqlite, SqlitePool};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Every migration, in order. A released one never changes; the next is added below it.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_first.sql"),
    include_str!("../migrations/0002_kept_sizes_and_audit_head.sql"),
    include_str!("../migrations/0003_approvals.sql"),
    include_str!("../migrations/0004_programs.sql"),
];

/// How long a statement waits for another process that holds the database.
const BUSY: Duration = Duration::from_secs(5);

/// Pause before opening again a database that another process is just making: SQLite itself does not wait for a change of journal mode.
const AGAIN: Duration = Duration::from_millis(20);

/// Pages that each connection keeps, as `-KiB`: the operating system caches the file anyway, and an idle gateway is to stay small.
const CACHE: &str = "-512";

/// Connections that read beside the writer.
const READERS: u32 = 3;

/// Starts a transaction that will write: it takes its turn at once, so that it never has to be given up halfway.
pub(crate) const WRITE: &str = "BEGIN IMMEDIATE";

/// Where among the keyed seals the master key's own mark is.
const KEY_MARK: &str = "master-key";

/// State in an embedded SQLite database and a folder of components.
pub struct SqliteStore {
    /// One connection, since SQLite writes one at a time: writers queue here in order, not in SQLite's busy loop.
    pub(crate) writer: SqlitePool,
    pub(crate) readers: SqlitePool,
    pub(crate) key: MasterKey,
    pub(crate) artefacts: PathBuf,
    /// Removes the folder of an in-memory store with it.
    _scratch: Option<tempfile::TempDir>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("artefacts", &self.artefacts).finish_non_exhaustive()
    }
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
    /// Something else, or damaged.
    #[error("`{}` is not a database, or is damaged; restore it from a backup, or move it away to start with an empty one", .0.display())]
    NotADatabase(PathBuf),
    /// Another process holds it.
    #[error("the database `{}` is locked by another program; stop that one, then start again", .0.display())]
    Locked(PathBuf),
    /// SQLite says no.
    #[error("the database `{}` cannot be opened: {source}", path.display())]
    Database {
        /// Where.
        path: PathBuf,
        /// Why.
        source: sqlx::Error,
    },
    /// A file or folder cannot be used.
    #[error("`{}` cannot be used: {source}", path.display())]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The key cannot be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The key is another one than the database was made with.
    #[error("the master key is not the one that `{}` was made with, so its secrets and tokens could not be read; bring back the key that belongs to it", .0.display())]
    OtherKey(PathBuf),
}

impl OpenError {
    fn of(path: &Path, source: sqlx::Error) -> Self {
        let path = path.to_owned();
        // Primary result codes of SQLite: 5 busy, 11 corrupt, 26 not a database.
        match primary_code(&source) {
            Some(5) => Self::Locked(path),
            Some(11 | 26) => Self::NotADatabase(path),
            _ => Self::Database { path, source },
        }
    }
}

fn primary_code(error: &sqlx::Error) -> Option<i32> {
    Some(error.as_database_error()?.code()?.parse::<i32>().ok()? & 0xff)
}

impl SqliteStore {
    /// Opens the database in a folder, making both where they are missing, and brings its tables up to date.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(dir: &Path, key: MasterKey) -> Result<Self, OpenError> {
        let path = dir.join("caisson.db");
        let artefacts = dir.join("artefacts");
        let unusable = |path: &Path| {
            let path = path.to_owned();
            move |source| OpenError::File { path, source }
        };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&artefacts).map_err(unusable(&artefacts))?;
        // Made here and not by SQLite, so that it is never readable by others; its log takes over the mode.
        let mut file = std::fs::File::options();
        let file = file.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        judge(&path, file.map_err(unusable(&path))?)?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            // In WAL mode anything less loses acknowledged writes when the power fails.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY)
            .foreign_keys(true)
            .pragma("cache_size", CACHE);
        let writer = connect(&options).await.map_err(|source| OpenError::of(&path, source))?;
        migrate(&writer, &path).await?;
        if !is_its_key(&writer, &key).await.map_err(|source| OpenError::of(&path, source))? {
            return Err(OpenError::OtherKey(path));
        }
        // Opened when first needed: the start of the gateway does not wait for them.
        let readers = pool_options().max_connections(READERS).connect_lazy_with(options);
        Ok(Self { writer, readers, key, artefacts, _scratch: None })
    }

    /// Gives the writing connection back. One whose change failed is closed instead: after a full disk nobody knows for sure whether its
    /// transaction is still open, and every change after it would fail.
    pub(crate) fn settled<T>(
        &self,
        mut connection: PoolConnection<Sqlite>,
        changed: Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        // A database in memory is gone with its connection, and knows no full disk.
        if changed.is_err() && self._scratch.is_none() {
            connection.close_on_drop();
        }
        changed
    }

    /// Writes the log back into the database and closes it; what is asked of the store afterwards fails. A store that is only dropped does so
    /// in the background, and one that is killed when it is next opened.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// A store that is gone with this value.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn in_memory() -> Result<Self, OpenError> {
        let path = PathBuf::from(":memory:");
        let scratch = tempfile::tempdir().map_err(|source| OpenError::File { path: std::env::temp_dir(), source })?;
        let options = SqliteConnectOptions::new().in_memory(true);
        let writer = connect(&options).await.map_err(|source| OpenError::of(&path, source))?;
        migrate(&writer, &path).await?;
        let artefacts = scratch.path().to_owned();
        // The same one connection reads: another would have a memory of its own.
        Ok(Self { readers: writer.clone(), writer, key: MasterKey::random()?, artefacts, _scratch: Some(scratch) })
    }
}

/// Whether a database was made with this key; one that was made with none yet takes it.
async fn is_its_key(writer: &SqlitePool, key: &MasterKey) -> Result<bool, sqlx::Error> {
    let mark = key.id();
    let kept = async || {
        let kept = sqlx::query("SELECT seal FROM audit_head WHERE node = $1").bind(KEY_MARK);
        kept.fetch_optional(writer).await?.map(|row| row.try_get::<String, _>(0)).transpose()
    };
    if let Some(kept) = kept().await? {
        return Ok(kept == mark);
    }
    // Another program may do so at the same time; the first one's key is the database's.
    let keep =
        sqlx::query("INSERT INTO audit_head (node, number, seal) VALUES ($1, 0, $2) ON CONFLICT (node) DO NOTHING");
    keep.bind(KEY_MARK).bind(&mark).execute(writer).await?;
    Ok(kept().await? == Some(mark))
}

/// A local file needs neither a ping before each use nor a fresh connection now and then.
fn pool_options() -> SqlitePoolOptions {
    SqlitePoolOptions::new().test_before_acquire(false).idle_timeout(None).max_lifetime(None)
}

async fn connect(options: &SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let until = Instant::now() + BUSY;
    loop {
        match pool_options().max_connections(1).connect_with(options.clone()).await {
            Err(error) if primary_code(&error) == Some(5) && Instant::now() < until => tokio::time::sleep(AGAIN).await,
            result => return result,
        }
    }
}

/// Judges a file by its header before SQLite sees it, since opening a database can change it.
fn judge(path: &Path, file: std::fs::File) -> Result<(), OpenError> {
    let mut header = Vec::new();
    file.take(100).read_to_end(&mut header).map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    if header.is_empty() {
        return Ok(());
    }
    // https://www.sqlite.org/fileformat.html: the magic text, and `user_version` at byte 60.
    let version = header.get(60..64).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes);
    match version {
        Some(version) if header.starts_with(b"SQLite format 3\0") => known(path, version.into()),
        _ => Err(OpenError::NotADatabase(path.to_owned())),
    }
}

fn known(path: &Path, has: i64) -> Result<(), OpenError> {
    let knows = MIGRATIONS.len() as i64;
    if has > knows { Err(OpenError::Newer { path: path.to_owned(), has, knows }) } else { Ok(()) }
}

async fn version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    connection.fetch_one("PRAGMA user_version").await.and_then(|row| row.try_get(0))
}

/// Brings the tables up to date, all steps or none.
async fn migrate(writer: &SqlitePool, path: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::of(path, source);
    let has = version(&mut *writer.acquire().await.map_err(failed)?).await.map_err(failed)?;
    known(path, has)?;
    if has == MIGRATIONS.len() as i64 {
        return Ok(());
    }
    let mut transaction = writer.begin_with(WRITE).await.map_err(failed)?;
    // Asked again, since another process may have done it while this one waited.
    let has = version(&mut transaction).await.map_err(failed)?;
    known(path, has)?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(has).unwrap_or(0)) {
        transaction.execute(*migration).await.map_err(failed)?;
    }
    let reached = AssertSqlSafe(format!("PRAGMA user_version = {}", MIGRATIONS.len()));
    transaction.execute(sqlx::raw_sql(reached)).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    // Out of the log into the file's header, where the next program looks before it opens anything.
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.map_err(failed)?;
    Ok(())
}
