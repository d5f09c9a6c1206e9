//! Bodies on their way: counted, timed, and, where a secret was put in, unpacked and masked.

use crate::decode::{Coding, Decoder, STEP};
use crate::error::{exchanging, spend};
use crate::redact::{Needles, Redactor};
use bytes::Bytes;
use caisson_call::{Budget, Ledger};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};
use wasmtime_wasi_http::{Error, WasiBody};

/// Bytes that a header takes: name, value and what stands around them.
pub(crate) fn size_of(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}

/// Host memory that a request holds until its response is read or dropped.
pub(crate) struct Held {
    ledger: Arc<Ledger>,
    bytes: u64,
}

impl Held {
    /// Takes it from the call's budget.
    pub(crate) fn take(ledger: &Arc<Ledger>, bytes: u64) -> Result<Self, Error> {
        ledger.charge(Budget::HostMemory, bytes).map_err(|_| Error::ConnectionLimitReached)?;
        Ok(Self { ledger: Arc::clone(ledger), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.ledger.release(Budget::HostMemory, self.bytes);
    }
}

/// A guest's body, counted as it leaves.
pub(crate) struct RequestBody {
    pub(crate) inner: WasiBody,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) forbidden: fn(&http::HeaderName) -> bool,
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Some(frame) = ready!(Pin::new(&mut self.inner).poll_frame(cx)?) else { return Poll::Ready(None) };
        let frame = match frame.into_trailers() {
            Ok(mut trailers) => {
                remove(&mut trailers, self.forbidden);
                spend(&self.ledger, size_of(&trailers), Error::HttpRequestBodySize)?;
                Frame::trailers(trailers)
            }
            Err(data) => {
                spend(&self.ledger, data.data_ref().map_or(0, Bytes::len), Error::HttpRequestBodySize)?;
                data
            }
        };
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Removes every header that a filter names.
pub(crate) fn remove(headers: &mut HeaderMap, forbidden: fn(&http::HeaderName) -> bool) {
    let names: Vec<_> = headers.keys().filter(|name| forbidden(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

/// Masks what was put in, in every header; a header whose name holds it is dropped.
pub(crate) fn mask_headers(headers: &mut HeaderMap, needles: &Needles) {
    let names: Vec<_> = headers.keys().filter(|name| needles.found_in(name.as_str().as_bytes())).cloned().collect();
    for name in names {
        headers.remove(name);
    }
    for value in headers.values_mut() {
        if needles.found_in(value.as_bytes()) {
            let mut bytes = value.as_bytes().to_vec();
            needles.mask(&mut bytes);
            *value = http::HeaderValue::from_bytes(&bytes).unwrap_or(http::HeaderValue::from_static("*"));
        }
    }
}

/// How long and how much a response may be.
pub(crate) struct Bounds {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) max: u64,
    pub(crate) between: Duration,
    pub(crate) deadline: Instant,
}

/// A server's body on its way to the guest.
pub(crate) struct ResponseBody {
    incoming: Incoming,
    bounds: Bounds,
    /// Bytes that the guest was given, or that were unpacked for it.
    total: u64,
    timer: Pin<Box<Sleep>>,
    cleaner: Option<Cleaner>,
    /// Input not yet unpacked.
    input: Bytes,
    trailers: Option<HeaderMap>,
    ended: bool,
    _held: Held,
}

/// Unpacks and masks.
struct Cleaner {
    needles: Arc<Needles>,
    redactor: Redactor,
    decoder: Option<Decoder>,
    /// Looks into a body that is gzip without saying so: the guest could unpack it itself.
    watch: Option<(Decoder, Redactor)>,
    begun: bool,
}

impl Cleaner {
    fn push(&mut self, input: &[u8]) -> Result<Vec<u8>, Error> {
        if !std::mem::replace(&mut self.begun, true) && self.decoder.is_none() && input.starts_with(&[0x1f, 0x8b]) {
            self.watch = Some((Decoder::new(Coding::Gzip), Redactor::new(Arc::clone(&self.needles))));
        }
        self.look(input)?;
        match &mut self.decoder {
            None => Ok(self.redactor.push(input)),
            Some(decoder) => {
                let unpacked = decoder.push(input).map_err(|_| Error::HttpResponseContentCoding(None))?;
                Ok(self.redactor.push(&unpacked))
            }
        }
    }

    fn look(&mut self, input: &[u8]) -> Result<(), Error> {
        let Some((decoder, redactor)) = &mut self.watch else { return Ok(()) };
        match decoder.push(input) {
            Ok(unpacked) => {
                redactor.push(&unpacked);
                if redactor.found() { Err(Error::HttpResponseContentCoding(None)) } else { Ok(()) }
            }
            Err(_) => {
                // Not gzip after all.
                self.watch = None;
                Ok(())
            }
        }
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        let rest = match &mut self.decoder {
            None => Vec::new(),
            Some(decoder) => decoder.finish().map_err(|_| Error::HttpResponseIncomplete)?,
        };
        let mut out = self.redactor.push(&rest);
        out.extend(self.redactor.finish());
        Ok(out)
    }
}

impl ResponseBody {
    pub(crate) fn new(incoming: Incoming, bounds: Bounds, held: Held) -> Self {
        let timer = Box::pin(sleep_until(bounds.deadline.min(Instant::now() + bounds.between)));
        Self {
            incoming,
            bounds,
            total: 0,
            timer,
            cleaner: None,
            input: Bytes::new(),
            trailers: None,
            ended: false,
            _held: held,
        }
    }

    /// Masks what was put into the request, after taking `coding` off.
    pub(crate) fn cleaned(mut self, needles: Arc<Needles>, coding: Coding) -> Self {
        let decoder = (coding != Coding::Identity).then(|| Decoder::new(coding));
        let redactor = Redactor::new(Arc::clone(&needles));
        self.cleaner = Some(Cleaner { needles, redactor, decoder, watch: None, begun: false });
        self
    }

    fn receive(&mut self, frame: Frame<Bytes>) -> Result<(), Error> {
        self.timer.as_mut().reset(self.bounds.deadline.min(Instant::now() + self.bounds.between));
        match frame.into_data() {
            Ok(data) => {
                spend(&self.bounds.ledger, data.len(), Error::HttpResponseBodySize)?;
                self.input = data;
            }
            Err(frame) => {
                if let Ok(mut trailers) = frame.into_trailers() {
                    spend(&self.bounds.ledger, size_of(&trailers), Error::HttpResponseBodySize)?;
                    if let Some(cleaner) = &self.cleaner {
                        mask_headers(&mut trailers, &cleaner.needles);
                    }
                    self.trailers = Some(trailers);
                }
                self.ended = true;
            }
        }
        Ok(())
    }

    /// One piece of what was received, ready for the guest; empty where more is needed first.
    fn piece(&mut self) -> Result<Bytes, Error> {
        let Some(cleaner) = &mut self.cleaner else {
            let whole = std::mem::take(&mut self.input);
            return self.count(whole);
        };
        let step = self.input.split_to(STEP.min(self.input.len()));
        let unpacks = cleaner.decoder.is_some();
        let out = Bytes::from(cleaner.push(&step)?);
        if unpacks {
            // Unpacked bytes are work and memory like received ones.
            spend(&self.bounds.ledger, out.len(), Error::HttpResponseBodySize)?;
        }
        self.count(out)
    }

    fn count(&mut self, piece: Bytes) -> Result<Bytes, Error> {
        self.total = self.total.saturating_add(piece.len() as u64);
        if self.total > self.bounds.max { Err(Error::HttpResponseBodySize(Some(self.bounds.max))) } else { Ok(piece) }
    }

    fn last(&mut self) -> Result<Option<Frame<Bytes>>, Error> {
        if let Some(mut cleaner) = self.cleaner.take() {
            let rest = Bytes::from(cleaner.finish()?);
            if !rest.is_empty() {
                return self.count(rest).map(|rest| Some(Frame::data(rest)));
            }
        }
        Ok(self.trailers.take().map(Frame::trailers))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            while !self.input.is_empty() {
                let piece = self.piece()?;
                if !piece.is_empty() {
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
            }
            if self.ended {
                return Poll::Ready(self.last().transpose());
            }
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => self.receive(frame)?,
                Poll::Ready(Some(Err(error))) => {
                    self.ended = true;
                    self.cleaner = None;
                    return Poll::Ready(Some(Err(exchanging(&error, &self.bounds.ledger))));
                }
                Poll::Ready(None) => self.ended = true,
                Poll::Pending => {
                    ready!(self.timer.as_mut().poll(cx));
                    self.ended = true;
                    self.cleaner = None;
                    return Poll::Ready(Some(Err(Error::ConnectionReadTimeout)));
                }
            }
        }
    }
}
