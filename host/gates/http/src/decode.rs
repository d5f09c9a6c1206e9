//! Takes compression off, a little at a time, so that a bomb is noticed before it is unpacked.

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::{self, Write};

/// Input given to the decompressor at once. Deflate makes at most about a thousand bytes of one, so this is at most half a
/// mebibyte of output.
pub(crate) const STEP: usize = 512;

/// What a response says it is encoded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
}

impl Coding {
    /// Reads `Content-Encoding`; `None` for anything but one coding that can be taken off.
    pub(crate) fn of(headers: &http::HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(http::header::CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Some(Self::Identity) };
        if values.next().is_some() {
            return None;
        }
        match value.to_str().ok()?.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Identity),
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            _ => None,
        }
    }
}

/// A decompressor.
pub(crate) enum Decoder {
    /// Made with the first byte, since servers mean two things by `deflate`.
    Start(Coding),
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
    Raw(DeflateDecoder<Vec<u8>>),
}

impl Decoder {
    pub(crate) fn new(coding: Coding) -> Self {
        Self::Start(coding)
    }

    /// Takes at most [`STEP`] bytes of input, gives what they hold.
    pub(crate) fn push(&mut self, input: &[u8]) -> io::Result<Vec<u8>> {
        let Some(first) = input.first() else { return Ok(Vec::new()) };
        if let Self::Start(coding) = self {
            *self = match coding {
                Coding::Deflate if first & 0x0f == 8 => Self::Zlib(ZlibDecoder::new(Vec::new())),
                Coding::Deflate => Self::Raw(DeflateDecoder::new(Vec::new())),
                Coding::Gzip | Coding::Identity => Self::Gzip(MultiGzDecoder::new(Vec::new())),
            };
        }
        match self {
            Self::Start(_) => {}
            Self::Gzip(decoder) => decoder.write_all(input).and_then(|()| decoder.flush())?,
            Self::Zlib(decoder) => decoder.write_all(input).and_then(|()| decoder.flush())?,
            Self::Raw(decoder) => decoder.write_all(input).and_then(|()| decoder.flush())?,
        }
        Ok(self.take())
    }

    /// Gives the rest; an error where the input ended too early. No input at all is an empty body.
    pub(crate) fn finish(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Start(_) => {}
            Self::Gzip(decoder) => decoder.try_finish()?,
            Self::Zlib(decoder) => decoder.try_finish()?,
            Self::Raw(decoder) => decoder.try_finish()?,
        }
        Ok(self.take())
    }

    fn take(&mut self) -> Vec<u8> {
        match self {
            Self::Start(_) => Vec::new(),
            Self::Gzip(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zlib(decoder) => std::mem::take(decoder.get_mut()),
            Self::Raw(decoder) => std::mem::take(decoder.get_mut()),
        }
    }
}
