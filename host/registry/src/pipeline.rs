//! The way of one call. Each step is one file of `steps/`; each takes what the one before it made, and alone can make what it hands on,
//! so a step that is left out does not compile.

use crate::gateway::{Answer, Inner};
use crate::steps::{
    admission, arguments, audit, cache, capabilities, find, hooks, keep_back, offered, rate, run, scrub, who,
};
use caisson_call::{Call, Refused};
use caisson_scrub::CleanResult;
use std::sync::Arc;
use std::time::Duration;

/// Runs a call through every step, in this order. Dropping the future drops the instance; the audit record is written all the same.
pub(crate) async fn call(inner: &Arc<Inner>, call: Call) -> Answer {
    let mut record = audit::open(inner, &call);
    let key = rate::key(&call);
    let mut cpu = Duration::ZERO;
    let mut counted = false;
    let body = steps(inner, call, &key, &mut counted, &mut cpu, &mut record).await;
    if let Err(refused) = &body {
        audit::refused(inner, &key, counted, refused);
    }
    hooks::after(record.close(body, cpu))
}

async fn steps(
    inner: &Arc<Inner>,
    call: Call,
    key: &str,
    counted: &mut bool,
    cpu: &mut Duration,
    record: &mut audit::Record,
) -> Result<CleanResult, Refused> {
    let roster = inner.roster(&call.principal.tenant);
    rate::not_refused_out(inner, key)?;
    let workspace = who::who(inner, &call)?;
    let found = find::find(inner, &roster, call)?;
    record.found(&found);
    let offered = offered::offered(inner, &roster, found)?;
    let checked = arguments::arguments(offered)?;
    rate::rate(inner, key)?;
    *counted = true;
    let checked = hooks::before(checked)?;
    let permitted = capabilities::capabilities(checked)?;
    let (hit, keep) = cache::look_up(inner, &permitted);
    if let Some(result) = hit {
        return Ok(result);
    }
    let mut ready = admission::admission(inner, permitted).await?;
    let (ran, secrets) = run::run(inner, &mut ready, workspace).await?;
    *cpu = ran.cpu;
    record.ran(inner, &ran, &secrets);
    let clean = scrub::scrub(inner, ready.found(), ran, &secrets)?;
    let clean = keep_back::keep_back(inner, ready.found(), clean).await;
    inner.results.keep(keep, &clean);
    Ok(clean)
}
