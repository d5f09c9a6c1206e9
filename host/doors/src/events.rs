//! A call as a stream of events.

use crate::api::{ProgressBody, answer_to_json};
use crate::{Doors, progress};
use axum::response::sse::{Event, KeepAlive, Sse};
use caisson_call::{Call, CallId, Progress};
use caisson_registry::Answer;
use futures::Stream;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use tokio::sync::mpsc;

/// Runs a call inside its own answer: the stream is the only owner of the call's future, so that a client that goes away
/// drops it.
pub(crate) fn stream(doors: Doors, mut call: Call) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sink, progress) = progress::queue();
    call.progress = Some(sink);
    let id = call.id.clone();
    let keep_alive = KeepAlive::new().interval(doors.config.keep_alive);
    let gateway = doors.gateway.clone();
    let call: Pin<Box<dyn Future<Output = Answer> + Send>> = Box::pin(async move { gateway.call(call).await });
    let running = Running { state: State::Calls(call), progress, id };
    Sse::new(futures::stream::unfold(running, next)).keep_alive(keep_alive)
}

struct Running {
    state: State,
    progress: mpsc::Receiver<Progress>,
    id: CallId,
}

enum State {
    /// The call is under way.
    Calls(Pin<Box<dyn Future<Output = Answer> + Send>>),
    /// It has ended; the last steps of progress are told first.
    Ended(Box<Answer>),
    /// All is told.
    Told,
}

async fn next(mut running: Running) -> Option<(Result<Event, Infallible>, Running)> {
    if let State::Calls(call) = &mut running.state {
        tokio::select! {
            biased;
            Some(step) = running.progress.recv() => return Some((Ok(progress_event(&running.id, step)), running)),
            answer = call => running.state = State::Ended(Box::new(answer)),
        }
    }
    if let Ok(step) = running.progress.try_recv() {
        return Some((Ok(progress_event(&running.id, step)), running));
    }
    match std::mem::replace(&mut running.state, State::Told) {
        State::Ended(answer) => Some((Ok(result_event(&answer)), running)),
        State::Calls(_) | State::Told => None,
    }
}

fn progress_event(id: &CallId, step: Progress) -> Event {
    let body = ProgressBody { call_id: &id.0, done: step.done, total: step.total, message: step.message };
    Event::default().event("progress").data(serde_json::to_string(&body).unwrap_or_default())
}

fn result_event(answer: &Answer) -> Event {
    let (name, body) = match answer_to_json(answer) {
        Ok(body) => ("result", body),
        Err(problem) => ("problem", serde_json::to_vec(&problem).unwrap_or_default()),
    };
    // JSON is UTF-8 and has no line breaks of its own.
    Event::default().event(name).data(String::from_utf8(body).unwrap_or_default())
}
