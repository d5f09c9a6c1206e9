use std::io;

use caisson_confine::PlanError;

/// Why nothing of a program ran. Nothing else is tried in its place: a command that is meant for a container never runs on the
/// host.
#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    /// The plan cannot be carried out anywhere.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan asks for what a container does not give.
    #[error("a container gives no {what}; {how}")]
    NotInContainers {
        /// What.
        what: &'static str,
        /// What to do instead.
        how: &'static str,
    },
    /// No engine answers.
    #[error(
        "no Docker engine answers at `{socket}` ({why}); start it, let the gateway's user into the group that owns the socket, or name another socket"
    )]
    NoEngine {
        /// Where it was looked for.
        socket: String,
        /// What the system or the engine said.
        why: String,
    },
    /// The image is not on the engine's machine.
    #[error(
        "the image `{image}` is not on this machine; run `docker pull {image}`, or let the gateway fetch images (`--docker-pull-missing`)"
    )]
    NoImage {
        /// Its name.
        image: String,
    },
    /// The image was to be fetched and could not be.
    #[error("the image `{image}` could not be fetched ({why}); run `docker pull {image}` and see what it says")]
    Pull {
        /// Its name.
        image: String,
        /// What the engine said.
        why: String,
    },
    /// The engine refused to make or start a container.
    #[error("the engine could not {what}: {why}; see its log")]
    Engine {
        /// What was asked of it.
        what: &'static str,
        /// What it said.
        why: String,
    },
    /// Something runs in every container that there may be.
    #[error(
        "all `{most}` containers that there may be are in use; try again when a command has ended, or raise `most`"
    )]
    Full {
        /// How many there may be.
        most: usize,
    },
    /// The workspace cannot be given to a container.
    #[error("the workspace cannot be given to a container: {why}; {how}")]
    Workspace {
        /// What is wrong.
        why: String,
        /// What to do.
        how: &'static str,
    },
    /// The container ended or said nothing before the program ran.
    #[error("the container of image `{image}` did not come up: {why}")]
    Container {
        /// The image it was made of.
        image: String,
        /// What is known.
        why: String,
    },
    /// The program could not be executed.
    #[error("`{program}` cannot be executed in the container: {error}")]
    Program {
        /// The program, as the plan names it.
        program: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// The directory could not be entered.
    #[error("the directory `{directory}` of the workspace cannot be entered: {error}")]
    Directory {
        /// The directory, as the plan names it.
        directory: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// Something of ours failed: a pipe, a socket, a file.
    #[error("could not {what}: {error}")]
    Host {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
}

/// Makes what the system said an error about what was tried.
pub fn failed(what: &'static str) -> impl FnOnce(io::Error) -> BoxError {
    move |error| BoxError::Host { what, error }
}
