//! Interfaces that are linked but not served by this host: each answers first by the tool's effect, then by what was
//! granted, then that the host has no gate for it.

use crate::HostView;
use crate::bindings::caisson::host::failures::{Code, Failure};
use crate::bindings::caisson::host::{data, documents, pages, runtime, schedule, tools};
use crate::error::failure;
use caisson_call::Capability;
use caisson_contract::{Capabilities, Effect};
use wasmtime::component::Resource;

/// Whether a function changes the world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touch {
    Reads,
    Changes,
}

impl HostView<'_> {
    fn closed<T>(
        &self,
        capability: Capability,
        touch: Touch,
        declares: fn(&Capabilities) -> bool,
    ) -> wasmtime::Result<Result<T, Failure>> {
        let word = capability.as_str();
        if touch == Touch::Changes && self.ctx.layers.effect() == Effect::ReadOnly {
            return Ok(Err(self.refuse(
                capability,
                Code::Denied,
                &format!("{word}.effect-read-only"),
                &format!("{word} by a tool whose effect is read-only"),
                "effect `mutating` in the tool's description",
            )));
        }
        let all = self.ctx.layers.all(|layer| if declares(&layer.capabilities) { Ok(()) } else { Err(()) }, || ());
        if let Err((source, ())) = all {
            return Ok(Err(self.refuse(
                capability,
                Code::NotGranted,
                &format!("{word}.not-{}", source.verb()),
                &format!("use of {word}"),
                &format!("`{word}` under [capabilities], declared and granted"),
            )));
        }
        Ok(Err(failure(Code::Unavailable, format!("this host has no gate for `{word}` yet"))))
    }

    fn documents<T>(&self, touch: Touch) -> wasmtime::Result<Result<T, Failure>> {
        self.closed(Capability::Documents, touch, |c| !c.documents.is_empty())
    }

    fn schedule<T>(&self, touch: Touch) -> wasmtime::Result<Result<T, Failure>> {
        self.closed(Capability::Schedule, touch, |c| c.schedule)
    }

    fn runtime<T>(&self) -> wasmtime::Result<Result<T, Failure>> {
        self.closed(Capability::Runtime, Touch::Changes, |c| !c.runtime.is_empty())
    }
}

impl documents::Host for HostView<'_> {}

impl documents::HostCollection for HostView<'_> {
    fn open(
        &mut self,
        _: String,
        _: documents::Scope,
    ) -> wasmtime::Result<Result<Resource<documents::Collection>, Failure>> {
        self.documents(Touch::Reads)
    }
    fn get(
        &mut self,
        _: Resource<documents::Collection>,
        _: String,
    ) -> wasmtime::Result<Result<documents::Document, Failure>> {
        self.documents(Touch::Reads)
    }
    fn put(
        &mut self,
        _: Resource<documents::Collection>,
        _: String,
        _: String,
        _: documents::Precondition,
    ) -> wasmtime::Result<Result<String, Failure>> {
        self.documents(Touch::Changes)
    }
    fn remove(
        &mut self,
        _: Resource<documents::Collection>,
        _: String,
        _: documents::Precondition,
    ) -> wasmtime::Result<Result<(), Failure>> {
        self.documents(Touch::Changes)
    }
    fn find(
        &mut self,
        _: Resource<documents::Collection>,
        _: documents::Query,
    ) -> wasmtime::Result<Result<documents::Page, Failure>> {
        self.documents(Touch::Reads)
    }
    fn search(
        &mut self,
        _: Resource<documents::Collection>,
        _: String,
        _: documents::Ranking,
        _: Vec<documents::Filter>,
        _: u32,
    ) -> wasmtime::Result<Result<Vec<documents::Hit>, Failure>> {
        self.documents(Touch::Reads)
    }
    fn drop(&mut self, collection: Resource<documents::Collection>) -> wasmtime::Result<()> {
        self.table.delete(collection)?;
        Ok(())
    }
}

impl tools::Host for HostView<'_> {
    fn search(&mut self, _: String, _: u32) -> wasmtime::Result<Vec<tools::Description>> {
        Ok(Vec::new())
    }
    fn invoke(&mut self, _: String, _: String) -> wasmtime::Result<Result<tools::Output, Failure>> {
        self.closed(Capability::Tools, Touch::Changes, |c| !c.tools.is_empty())
    }
}

impl data::Host for HostView<'_> {
    fn select(&mut self, _: String, _: String, _: u32) -> wasmtime::Result<Result<String, Failure>> {
        self.closed(Capability::Data, Touch::Reads, |c| c.data)
    }
}

impl schedule::Host for HostView<'_> {
    fn create(
        &mut self,
        _: String,
        _: String,
        _: String,
        _: String,
    ) -> wasmtime::Result<Result<schedule::Entry, Failure>> {
        self.schedule(Touch::Changes)
    }
    fn listing(&mut self) -> wasmtime::Result<Result<Vec<schedule::Entry>, Failure>> {
        self.schedule(Touch::Reads)
    }
    fn set_enabled(&mut self, _: String, _: bool) -> wasmtime::Result<Result<schedule::Entry, Failure>> {
        self.schedule(Touch::Changes)
    }
    fn remove(&mut self, _: String) -> wasmtime::Result<Result<(), Failure>> {
        self.schedule(Touch::Changes)
    }
}

impl runtime::Host for HostView<'_> {
    fn request(&mut self, _: String, _: String) -> wasmtime::Result<Result<String, Failure>> {
        self.runtime()
    }
    fn answer(&mut self, _: String, _: u32) -> wasmtime::Result<Result<Option<String>, Failure>> {
        self.runtime()
    }
}

impl pages::Host for HostView<'_> {
    fn publish(&mut self, _: String, _: String, _: u32) -> wasmtime::Result<Result<String, Failure>> {
        self.closed(Capability::Pages, Touch::Changes, |c| c.pages)
    }
}
