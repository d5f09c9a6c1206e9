use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use caisson_confine::{Access, Ends, Network, Plan, Program, Running, Streams, packets};
use tokio::sync::{Mutex as AsyncMutex, OnceCell, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use crate::body::Shape;
use crate::config::{Config, Key, Sandbox};
use crate::engine::Engine;
use crate::error::{BoxError, failed};
use crate::kept::{self, Kept};
use crate::running::{self, Control};
use crate::wire::{self, Report, Step};

/// Runs programs in containers: one for a gateway. Belongs to the runtime in which it is first used.
#[derive(Debug, Clone)]
pub struct Containers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: Config,
    engine: OnceCell<Engine>,
    /// A permit for each container that there may still be.
    room: Arc<Semaphore>,
    /// A container for each place, or room for one.
    places: Mutex<HashMap<Place, Slot>>,
}

/// Held while a container is made in it, so that two who need the same one make it once.
type Slot = Arc<AsyncMutex<Option<Arc<Kept>>>>;

/// What one container serves: for whom, which directory, and what may be done with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    key: Key,
    workspace: (u64, u64),
    writable: bool,
}

impl Containers {
    /// Nothing is asked or started yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let room = Arc::new(Semaphore::new(config.most));
        Self(Arc::new(Inner { config, engine: OnceCell::new(), room, places: Mutex::default() }))
    }

    /// Finds the engine, and removes the containers that a gateway of this name has left. What was never done is done before the
    /// first program.
    ///
    /// # Errors
    /// [`BoxError::NoEngine`] where none answers; asked again the next time.
    pub async fn open(&self) -> Result<(), BoxError> {
        self.0.engine().await.map(drop)
    }

    /// Starts a program in the container that is kept for `key`, this workspace and this sandbox, which is made where there is none.
    /// Memory, processes and temporary files are bounded for all programs in it together. Returns once the program runs.
    ///
    /// # Errors
    /// [`BoxError`]; nothing of the program has run then, and nothing else is tried in its place.
    pub async fn spawn(
        &self,
        key: &Key,
        sandbox: &Sandbox,
        plan: Plan,
        workspace: BorrowedFd<'_>,
    ) -> Result<Running, BoxError> {
        check(&plan)?;
        let file = wire::write_plan(&plan).map_err(failed("write the plan"))?;
        let shape = Shape {
            image: sandbox.image().to_owned(),
            millicpus: sandbox.millicpus(),
            limits: plan.limits,
            access: plan.workspace,
        };
        // A container can end between being found and being asked; the one that is made then is new.
        let mut last = None;
        for _ in 0..2 {
            let container = self.0.container(key, shape.clone(), workspace).await?;
            let (streams, child) = Streams::open(plan.stdin).map_err(failed("make a pipe"))?;
            let (control, theirs) = packets::pair().map_err(failed("make a socket"))?;
            match wire::order(&container.socket, &theirs, &file, &child).await {
                Ok(()) => {
                    // What is open here too would never end for those who read it.
                    drop((theirs, child));
                    return started(container, control, streams, &plan).await;
                }
                Err(error) => last = Some(error),
            }
        }
        let why = last.map(|error| error.to_string()).unwrap_or_default();
        Err(BoxError::Container { image: shape.image, why })
    }

    /// Ends all containers and all that runs in them, and waits until they are removed.
    pub async fn close(&self) {
        let places = std::mem::take(&mut *self.0.places.lock().unwrap_or_else(PoisonError::into_inner));
        for slot in places.into_values() {
            if let Some(kept) = slot.lock().await.take() {
                kept.destroy();
            }
        }
        if let Some(engine) = self.0.engine.get()
            && let Err(error) = remove_all(engine, &self.0.config.instance).await
        {
            tracing::warn!(%error, "containers could not be removed; they are, at the next start");
        }
    }
}

impl Inner {
    async fn engine(&self) -> Result<&Engine, BoxError> {
        let open = async || {
            let engine = Engine::connect(&self.config).await?;
            remove_all(&engine, &self.config.instance).await?;
            kept::prepare(&self.config.folder).map_err(failed("make a folder for containers"))?;
            Ok(engine)
        };
        self.engine.get_or_try_init(open).await
    }

    /// The container that is kept, or a new one.
    async fn container(
        self: &Arc<Self>,
        key: &Key,
        shape: Shape,
        workspace: BorrowedFd<'_>,
    ) -> Result<Arc<Kept>, BoxError> {
        let directory = rustix::fs::fstat(workspace).map_err(|error| failed("look at the workspace")(error.into()))?;
        let place = Place {
            key: key.clone(),
            workspace: (directory.st_dev, directory.st_ino),
            writable: shape.access == Access::ReadWrite,
        };
        let slot =
            Arc::clone(self.places.lock().unwrap_or_else(PoisonError::into_inner).entry(place.clone()).or_default());
        let mut held = Arc::clone(&slot).lock_owned().await;
        if let Some(kept) = held.as_ref().filter(|kept| kept.shape == shape && kept.is_alive()) {
            return Ok(Arc::clone(kept));
        }
        // What still runs in the old one holds it until it ends.
        *held = None;
        let workspace = workspace.try_clone_to_owned().map_err(failed("keep the workspace open"))?;
        let inner = Arc::clone(self);
        // Apart, so that a caller who goes away leaves no container half made.
        let made = tokio::spawn(async move {
            let engine = inner.engine().await?.clone();
            let kept = Arc::new(Kept::start((engine, inner.room()?), &inner.config, shape, workspace).await?);
            keep(&inner, place, slot, held, &kept);
            Ok(kept)
        });
        made.await.map_err(|error| failed("make a container")(error.into()))?
    }

    /// Room for one more container, if need be that of the one that has been idle longest.
    fn room(&self) -> Result<OwnedSemaphorePermit, BoxError> {
        loop {
            if let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() {
                return Ok(permit);
            }
            let oldest = self.idle().into_iter().min_by_key(|(used, _)| *used);
            let (_, mut held) = oldest.ok_or(BoxError::Full { most: self.config.most })?;
            *held = None;
        }
    }

    /// The places whose containers nothing runs in, each with when it was last of use.
    fn idle(&self) -> Vec<(Instant, OwnedMutexGuard<Option<Arc<Kept>>>)> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let held = places.values().filter_map(|slot| Arc::clone(slot).try_lock_owned().ok());
        let idle = held.filter_map(|held| {
            let used = held.as_ref().filter(|kept| Arc::strong_count(kept) == 1)?.used();
            Some((used, held))
        });
        idle.collect()
    }

    /// Waits until nothing has used the container for so long, and lets it go.
    async fn reap(self: Arc<Self>, place: Place, slot: Slot, kept: Weak<Kept>) {
        while let Some(used) = kept.upgrade().map(|kept| kept.used()) {
            tokio::time::sleep_until(used + self.config.idle).await;
            let mut held = slot.lock().await;
            let Some(current) = held.as_ref().filter(|held| std::ptr::eq(Arc::as_ptr(held), kept.as_ptr())) else {
                return;
            };
            // What runs holds it too.
            if Arc::strong_count(current) > 1 {
                current.touch();
            } else if current.used() == used {
                *held = None;
                self.places.lock().unwrap_or_else(PoisonError::into_inner).remove(&place);
                return;
            }
        }
    }
}

fn keep(inner: &Arc<Inner>, place: Place, slot: Slot, mut held: OwnedMutexGuard<Option<Arc<Kept>>>, kept: &Arc<Kept>) {
    *held = Some(Arc::clone(kept));
    tokio::spawn(Arc::clone(inner).reap(place, slot, Arc::downgrade(kept)));
}

async fn remove_all(engine: &Engine, instance: &str) -> Result<(), BoxError> {
    for id in engine.ours(instance).await? {
        engine.remove(&id).await?;
    }
    Ok(())
}

/// A plan that a container can carry out.
fn check(plan: &Plan) -> Result<(), BoxError> {
    plan.check()?;
    if plan.network != Network::None {
        let how = "run the command on the host, confined, where it has the proxy";
        return Err(BoxError::NotInContainers { what: "network", how });
    }
    if !plan.system.is_empty() {
        let how = "put what commands need into the image";
        return Err(BoxError::NotInContainers { what: "paths of the host", how });
    }
    Ok(())
}

async fn started(container: Arc<Kept>, control: OwnedFd, streams: Streams, plan: &Plan) -> Result<Running, BoxError> {
    let control = Control::new(control).map_err(failed("watch a socket"))?;
    let ((tell_first, first), (tell_ending, ended)) = (oneshot::channel(), oneshot::channel());
    // From here on, whoever drops this future kills what was started.
    let ends: Arc<dyn Ends> = Arc::<Control>::clone(&control);
    let running = Running::new(ends, streams, ended);
    tokio::spawn(running::watch(container, control, tell_first, tell_ending));
    match first.await {
        Ok(Report::Failed(step, errno)) => Err(explain(plan, step, io::Error::from_raw_os_error(errno))),
        // Without a word it may have run and killed who would have told; then this is how it ended.
        Ok(Report::Started | Report::Ended { .. } | Report::Gone) | Err(_) => Ok(running),
    }
}

fn explain(plan: &Plan, step: Step, error: io::Error) -> BoxError {
    match (step, &plan.program) {
        (Step::Program, Program::Command { program, .. }) => BoxError::Program { program: program.clone(), error },
        (Step::Program, Program::Shell(_)) => BoxError::Program { program: "/bin/sh".into(), error },
        (Step::Directory, _) => BoxError::Directory { directory: plan.directory.display().to_string(), error },
        (Step::Order, _) => BoxError::Host { what: "start the program in its container", error },
    }
}
