//! Byte streams of files, charged as they flow. wasmtime-wasi's own streams hand each read to another thread; a regular
//! local file is read at once on this one, and there is nothing to wait for when a stream is dropped.

use crate::held::Held;
use async_trait::async_trait;
use bytes::Bytes;
use caisson_call::Budget;
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, ReadWriteFlags};
use std::fs::File;
use std::io::IoSlice;
use std::sync::Arc;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

/// Most bytes of one read: a guest names any number, the host allocates before it knows how much there is.
pub(crate) const READ_BYTES: usize = 1 << 20;

/// What `check-write` answers. Zeroes are allocated up to this, and standard libraries write less at once.
const WRITE_BYTES: usize = 64 << 10;

/// Reads up to this size are taken at their word; for larger ones the file is asked how much there is.
const SMALL_BYTES: usize = 16 << 10;

/// Reads at most `len` bytes.
pub(crate) fn read_at(file: &File, len: usize, offset: u64) -> Result<Vec<u8>, Errno> {
    let mut len = len.min(READ_BYTES);
    if len == 0 {
        return Ok(Vec::new());
    }
    if len > SMALL_BYTES {
        let size = u64::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or(0);
        let left = usize::try_from(size.saturating_sub(offset)).unwrap_or(READ_BYTES);
        len = len.min(left.max(SMALL_BYTES));
    }
    let mut buffer = Vec::with_capacity(len);
    loop {
        match rustix::io::pread(file, spare_capacity(&mut buffer), offset) {
            Err(Errno::INTR) => {}
            Err(other) => return Err(other),
            Ok(_) => break,
        }
    }
    // The allocator may have given more room than was asked for.
    buffer.truncate(len);
    Ok(buffer)
}

/// Reads a file from a position on.
pub(crate) struct FileReader {
    pub file: Arc<File>,
    pub position: u64,
    pub held: Held,
}

impl InputStream for FileReader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let bytes = read_at(&self.file, size, self.position).map_err(failed)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        let count = bytes.len() as u64;
        self.held.ledger().charge(Budget::FileBytes, count).map_err(|over| StreamError::Trap(over.into()))?;
        self.position = self.position.saturating_add(count);
        Ok(bytes.into())
    }
}

#[async_trait]
impl Pollable for FileReader {
    async fn ready(&mut self) {}
}

/// Where the next byte goes.
pub(crate) enum At {
    Position(u64),
    End,
}

/// Writes a file.
pub(crate) struct FileWriter {
    pub file: Arc<File>,
    pub at: At,
    pub held: Held,
}

impl FileWriter {
    fn write_some(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match &mut self.at {
            At::End => rustix::io::pwritev2(&self.file, &[IoSlice::new(bytes)], 0, ReadWriteFlags::APPEND),
            At::Position(position) => {
                let count = rustix::io::pwrite(&self.file, bytes, *position)?;
                *position = position.saturating_add(count as u64);
                Ok(count)
            }
        }
    }
}

#[async_trait]
impl OutputStream for FileWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let count = bytes.len() as u64;
        self.held.ledger().charge(Budget::FileBytes, count).map_err(|over| StreamError::Trap(over.into()))?;
        let mut rest: &[u8] = &bytes;
        while !rest.is_empty() {
            match self.write_some(rest) {
                Err(Errno::INTR) => {}
                Err(other) => return Err(failed(other)),
                // A file system that takes nothing and says nothing is full in all but name.
                Ok(0) => return Err(failed(Errno::NOSPC)),
                Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}

#[async_trait]
impl Pollable for FileWriter {
    async fn ready(&mut self) {}
}

/// The guest can ask for the error's code by `filesystem-error-code`, which finds an `Errno` in it.
fn failed(errno: Errno) -> StreamError {
    StreamError::LastOperationFailed(std::io::Error::from(errno).into())
}
