//! The engine's API, as far as it is used.

use std::collections::HashMap;

use bollard::errors::Error;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{
    CreateContainerOptions, CreateImageOptionsBuilder, ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
    StartContainerOptions,
};
use bollard::{API_DEFAULT_VERSION, Docker};
use futures::TryStreamExt;

use crate::body::LABEL;
use crate::config::{Config, Pull};
use crate::error::BoxError;

/// Seconds that the engine may take to answer. Making a container takes well below one, unless the machine is very busy.
const ANSWER: u64 = 60;

/// A connection to the engine, in the version that both speak.
#[derive(Debug, Clone)]
pub struct Engine {
    api: Docker,
    socket: String,
}

/// What is known of an image.
pub struct Image {
    /// Its digest.
    pub id: String,
    /// Where it declares volumes.
    pub volumes: Vec<String>,
}

impl Engine {
    pub async fn connect(config: &Config) -> Result<Self, BoxError> {
        let socket = config.socket.display().to_string();
        let no_engine = |error: Error| BoxError::NoEngine { socket: socket.clone(), why: error.to_string() };
        let api = Docker::connect_with_unix(&socket, ANSWER, API_DEFAULT_VERSION).map_err(&no_engine)?;
        let api = api.negotiate_version().await.map_err(no_engine)?;
        Ok(Self { api, socket })
    }

    pub async fn image(&self, name: &str, pull: Pull) -> Result<Image, BoxError> {
        let found = match self.api.inspect_image(name).await {
            Err(Error::DockerResponseServerError { status_code: 404, .. }) => {
                if pull == Pull::Never {
                    return Err(BoxError::NoImage { image: name.into() });
                }
                self.pull(name).await?;
                self.api.inspect_image(name).await
            }
            answer => answer,
        };
        let found = found.map_err(self.failed("inspect the image"))?;
        let volumes = found.config.and_then(|config| config.volumes).unwrap_or_default();
        Ok(Image { id: found.id.unwrap_or_else(|| name.into()), volumes })
    }

    async fn pull(&self, name: &str) -> Result<(), BoxError> {
        // Without a tag the engine would fetch every one there is.
        let tagged = name.contains('@') || name.rsplit('/').next().is_some_and(|last| last.contains(':'));
        let name = if tagged { name.to_owned() } else { format!("{name}:latest") };
        let options = CreateImageOptionsBuilder::default().from_image(&name).build();
        let said = self.api.create_image(Some(options), None, None).try_for_each(|_progress| async { Ok(()) });
        said.await.map_err(|error| BoxError::Pull { image: name, why: error.to_string() })
    }

    pub async fn create(&self, body: ContainerCreateBody) -> Result<String, BoxError> {
        let created = self.api.create_container(None::<CreateContainerOptions>, body).await;
        Ok(created.map_err(self.failed("make a container"))?.id)
    }

    pub async fn start(&self, id: &str) -> Result<(), BoxError> {
        self.api.start_container(id, None::<StartContainerOptions>).await.map_err(self.failed("start a container"))
    }

    /// Kills and removes a container; one that is gone or going already is as good.
    pub async fn remove(&self, id: &str) -> Result<(), BoxError> {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        match self.api.remove_container(id, Some(options)).await {
            Ok(()) | Err(Error::DockerResponseServerError { status_code: 404 | 409, .. }) => Ok(()),
            Err(error) => Err(self.failed("remove a container")(error)),
        }
    }

    /// All containers with the gateway's label, whatever they do.
    pub async fn ours(&self, instance: &str) -> Result<Vec<String>, BoxError> {
        let filters = HashMap::from([("label".to_owned(), vec![format!("{LABEL}={instance}")])]);
        let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
        let found = self.api.list_containers(Some(options)).await.map_err(self.failed("list containers"))?;
        Ok(found.into_iter().filter_map(|container| container.id).collect())
    }

    fn failed(&self, what: &'static str) -> impl Fn(Error) -> BoxError {
        move |error| match error {
            Error::DockerResponseServerError { message, .. } => BoxError::Engine { what, why: message },
            Error::SocketNotFoundError(_) | Error::HyperLegacyError { .. } | Error::HyperResponseError { .. } => {
                BoxError::NoEngine { socket: self.socket.clone(), why: error.to_string() }
            }
            other => BoxError::Engine { what, why: other.to_string() },
        }
    }
}
