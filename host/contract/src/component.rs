//! What the bytes of a component say before anything is compiled.

use std::fmt;
use wasmparser::{Encoding, Parser, Payload, Validator, WasmFeatures};

/// Name of the custom section that carries the manifest.
pub const MANIFEST_SECTION: &str = "caisson:manifest";

/// Components nested deeper than this are refused: composers nest two or three levels, and every level costs whoever reads them.
const MAX_NESTING: usize = 32;

/// Why the bytes are no component that can be installed. The text says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectionError {
    /// Not WebAssembly at all.
    #[error(
        "this is not a WebAssembly file: it does not begin with `\\0asm`; upload the `.wasm` that `caisson build` makes"
    )]
    NotWasm,
    /// A core module.
    #[error(
        "this is a core module, not a component; make one of it with `wasm-tools component new`, or build for `wasm32-wasip2` with `caisson build`"
    )]
    CoreModule,
    /// Ends too early, or is malformed.
    #[error("the component is truncated or malformed at byte {offset}: {message}")]
    Malformed {
        /// Bytes from the start.
        offset: usize,
        /// What the reader says, made of fixed texts and names from the component.
        message: String,
    },
    /// Larger than allowed.
    #[error("the component has {bytes} bytes; at most {limit} are taken")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Components within components, too deep.
    #[error("components are nested more than {MAX_NESTING} deep; compose fewer of them")]
    TooDeep,
    /// No manifest.
    #[error("the component has no `{MANIFEST_SECTION}` section; `caisson build` puts `caisson.toml` into it")]
    Missing,
    /// A manifest, but only within an inner component or module.
    #[error(
        "the `{MANIFEST_SECTION}` section lies in an inner component or module; it must stand in the outermost one, so build the composed component with `caisson build`"
    )]
    Nested,
    /// More than one manifest.
    #[error(
        "the component has {0} `{MANIFEST_SECTION}` sections; exactly one is taken, so that nobody is shown another than counts"
    )]
    Several(usize),
    /// The manifest is not text.
    #[error("the `{MANIFEST_SECTION}` section is not UTF-8 text")]
    NotUtf8,
    /// The manifest is too large.
    #[error("the manifest has {0} bytes; at most 65536 are read")]
    ManifestTooLarge(usize),
    /// It needs a proposal that this host does not serve.
    #[error(
        "the component needs {what}, which this host does not serve; build it for WASI 0.2 with synchronous exports"
    )]
    Unsupported {
        /// The proposal.
        what: &'static str,
    },
}

/// What a component is, read without compiling it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentInfo {
    /// Names of the imports of the outermost component, such as `wasi:http/types@0.2.12`, in their order.
    pub imports: Vec<String>,
    /// Names of its exports.
    pub exports: Vec<String>,
    /// Core modules in it, at any depth.
    pub core_modules: usize,
    /// Components within it, at any depth.
    pub components: usize,
    /// Core instances that it makes, at any depth.
    pub core_instances: usize,
    /// Linear memories that its modules define.
    pub memories: usize,
    /// Bytes that these memories have at the start, together.
    pub memory_bytes: u64,
    /// Tables that its modules define.
    pub tables: usize,
    /// Functions that its modules define.
    pub functions: usize,
}

/// The text of the one manifest section.
///
/// # Errors
/// [`SectionError`]; hostile bytes are malformed and nothing worse. The component is not validated otherwise.
pub fn read_manifest_section(component: &[u8]) -> Result<String, SectionError> {
    let mut outer: Vec<&[u8]> = Vec::new();
    let mut inner = false;
    walk(component, |depth, payload| {
        if let Payload::CustomSection(section) = payload
            && section.name() == MANIFEST_SECTION
        {
            if depth == 0 {
                outer.push(section.data());
            } else {
                inner = true;
            }
        }
        Ok(())
    })?;
    match outer.as_slice() {
        [] if inner => Err(SectionError::Nested),
        [] => Err(SectionError::Missing),
        [one] if one.len() > crate::MAX_MANIFEST_BYTES => Err(SectionError::ManifestTooLarge(one.len())),
        [one] => std::str::from_utf8(one).map(str::to_owned).map_err(|_| SectionError::NotUtf8),
        several => Err(SectionError::Several(several.len())),
    }
}

/// Puts a manifest into a component that has none, as its last section.
///
/// # Errors
/// Where the bytes are no component, or have a manifest already.
pub fn add_manifest_section(component: &[u8], manifest: &str) -> Result<Vec<u8>, SectionError> {
    match read_manifest_section(component) {
        Err(SectionError::Missing | SectionError::Nested) => {}
        Ok(_) => return Err(SectionError::Several(2)),
        Err(other) => return Err(other),
    }
    let mut body = Vec::new();
    leb128(&mut body, MANIFEST_SECTION.len());
    body.extend_from_slice(MANIFEST_SECTION.as_bytes());
    body.extend_from_slice(manifest.as_bytes());
    let mut out = component.to_vec();
    out.push(0);
    leb128(&mut out, body.len());
    out.extend_from_slice(&body);
    Ok(out)
}

/// Reads and validates a component of at most `max_bytes`, with the features that the engine has and no others. This takes time
/// in proportion to the code, some ms a MB, so it is no work for an event loop.
///
/// # Errors
/// [`SectionError`].
pub fn inspect_component(component: &[u8], max_bytes: usize) -> Result<ComponentInfo, SectionError> {
    if component.len() > max_bytes {
        return Err(SectionError::TooLarge { bytes: component.len(), limit: max_bytes });
    }
    // The walk bounds nesting, which the validator does not.
    let info = read_info(component)?;
    validate(component)?;
    Ok(info)
}

/// What wasmtime 48 has on by default, less the component model's async: WASI 0.3 is refused until its files, sockets and http
/// have gates of their own.
fn features() -> WasmFeatures {
    (WasmFeatures::WASM3 | WasmFeatures::COMPONENT_MODEL).difference(ASYNC)
}

const ASYNC: WasmFeatures = WasmFeatures::CM_ASYNC
    .union(WasmFeatures::CM_ASYNC_STACKFUL)
    .union(WasmFeatures::CM_MORE_ASYNC_BUILTINS)
    .union(WasmFeatures::CM_THREADING)
    .union(WasmFeatures::CM_ERROR_CONTEXT);

fn validate(component: &[u8]) -> Result<(), SectionError> {
    let Err(error) = Validator::new_with_features(features()).validate_all(component) else { return Ok(()) };
    // Asking again with more tells a component of another kind from a broken one, without reading the validator's prose.
    let valid_with =
        |more: WasmFeatures| Validator::new_with_features(features() | more).validate_all(component).is_ok();
    if valid_with(ASYNC) {
        return Err(SectionError::Unsupported { what: "the component model's async (WASI 0.3)" });
    }
    if valid_with(WasmFeatures::all()) {
        return Err(SectionError::Unsupported { what: "a WebAssembly proposal that is not finished" });
    }
    Err(malformed(&error))
}

/// What a component says of itself, not validated: enough to compare versions first, so that a component for a later WASI is
/// told which version it wants rather than which proposal it uses.
///
/// # Errors
/// [`SectionError`], where it cannot even be read.
pub fn read_info(component: &[u8]) -> Result<ComponentInfo, SectionError> {
    let mut info = ComponentInfo::default();
    walk(component, |depth, payload| {
        match payload {
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section.clone() {
                    info.imports.push(import.map_err(|e| malformed(&e))?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section.clone() {
                    info.exports.push(export.map_err(|e| malformed(&e))?.name.name.to_owned());
                }
            }
            Payload::ModuleSection { .. } => info.core_modules += 1,
            Payload::ComponentSection { .. } => info.components += 1,
            Payload::InstanceSection(section) => info.core_instances += section.count() as usize,
            Payload::TableSection(section) => info.tables += section.count() as usize,
            Payload::FunctionSection(section) => info.functions += section.count() as usize,
            Payload::MemorySection(section) => {
                for memory in section.clone() {
                    let memory = memory.map_err(|e| malformed(&e))?;
                    let page = 1_u64.checked_shl(memory.page_size_log2.unwrap_or(16)).unwrap_or(u64::MAX);
                    info.memories += 1;
                    info.memory_bytes = info.memory_bytes.saturating_add(memory.initial.saturating_mul(page));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(info)
}

/// Shows every payload with its depth; the outermost component's are at depth 0. Nothing is kept but the parser's stack, which
/// the depth bounds.
fn walk<'a>(
    bytes: &'a [u8],
    mut visit: impl FnMut(usize, &Payload<'a>) -> Result<(), SectionError>,
) -> Result<(), SectionError> {
    if !bytes.starts_with(b"\0asm") {
        return Err(SectionError::NotWasm);
    }
    let mut depth = 0;
    let mut first = true;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| malformed(&error))?;
        if let Payload::Version { encoding: Encoding::Module, .. } = payload
            && first
        {
            return Err(SectionError::CoreModule);
        }
        first = false;
        match &payload {
            Payload::End(_) => {
                depth = usize::saturating_sub(depth, 1);
                continue;
            }
            _ => visit(depth, &payload)?,
        }
        if let Payload::ModuleSection { .. } | Payload::ComponentSection { .. } = payload {
            depth += 1;
            if depth > MAX_NESTING {
                return Err(SectionError::TooDeep);
            }
        }
    }
    Ok(())
}

fn malformed(error: &wasmparser::BinaryReaderError) -> SectionError {
    // The message may quote names from the component, so it is shortened and escaped like all text from outside.
    SectionError::Malformed { offset: error.offset(), message: crate::value::shown(error.message()) }
}

fn leb128(out: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or_default();
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

impl fmt::Display for ComponentInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} core modules, {} functions, {} memories with {} bytes at the start",
            self.core_modules, self.functions, self.memories, self.memory_bytes
        )
    }
}
