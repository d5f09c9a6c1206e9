//! The `#[tool]` attribute of `caisson-sdk`; use it through that crate.

use proc_macro::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, LitBool, LitInt, LitStr, Meta, Result, Token, Type};

/// Makes a tool of a function that takes nothing or one struct with `Deserialize` and `JsonSchema`. The doc comment is the
/// description that the model reads; the options are listed in the documentation of `caisson-sdk`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = syn::parse_macro_input!(item as ItemFn);
    let mut read = Options::default();
    let parser = syn::meta::parser(|meta| read.read(&meta));
    syn::parse_macro_input!(options with parser);
    expand(&read, &function)
        .unwrap_or_else(|error| {
            // The function stays, so that the error is the only one that the author sees.
            let told = error.to_compile_error();
            quote!(#told #function)
        })
        .into()
}

#[derive(Default)]
struct Options {
    read_only: bool,
    name: Option<LitStr>,
    title: Option<LitStr>,
    groups: Vec<LitStr>,
    deferred: bool,
    idempotent: bool,
    cache_seconds: Option<LitInt>,
    max_result_chars: Option<LitInt>,
    returns: Option<Type>,
}

impl Options {
    fn read(&mut self, meta: &syn::meta::ParseNestedMeta<'_>) -> Result<()> {
        let Some(option) = meta.path.get_ident().map(ToString::to_string) else {
            return Err(meta.error("expected the name of an option"));
        };
        match option.as_str() {
            "effect" => {
                let effect: LitStr = meta.value()?.parse()?;
                self.read_only = match effect.value().as_str() {
                    "read-only" => true,
                    "mutating" => false,
                    other => {
                        let message = format!("`{other}` is no effect: use \"read-only\" or \"mutating\"");
                        return Err(Error::new(effect.span(), message));
                    }
                };
            }
            "name" => self.name = Some(meta.value()?.parse()?),
            "title" => self.title = Some(meta.value()?.parse()?),
            "groups" => {
                let list;
                syn::parenthesized!(list in meta.input);
                self.groups = list.parse_terminated(|item| item.parse(), Token![,])?.into_iter().collect();
            }
            "deferred" => self.deferred = flag(meta)?,
            "idempotent" => self.idempotent = flag(meta)?,
            "cache_seconds" => self.cache_seconds = Some(meta.value()?.parse()?),
            "max_result_chars" => self.max_result_chars = Some(meta.value()?.parse()?),
            "returns" => self.returns = Some(meta.value()?.parse()?),
            other => {
                return Err(meta.error(format!(
                    "`{other}` is no option of #[tool]: there are effect, name, title, groups, deferred, idempotent, cache_seconds, \
                     max_result_chars and returns"
                )));
            }
        }
        Ok(())
    }
}

/// `idempotent` alone, or `idempotent = true`.
fn flag(meta: &syn::meta::ParseNestedMeta<'_>) -> Result<bool> {
    if meta.input.peek(Token![=]) { Ok(meta.value()?.parse::<LitBool>()?.value) } else { Ok(true) }
}

fn expand(options: &Options, function: &ItemFn) -> Result<proc_macro2::TokenStream> {
    let signature = &function.sig;
    if let Some(keyword) = &signature.asyncness {
        return Err(Error::new(
            keyword.span,
            "a tool is a plain function: the host runs each call in an instance of its own, remove `async`",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new(signature.generics.span(), "a tool cannot be generic: name the argument struct"));
    }
    let arguments = argument(function)?;
    let ident = &signature.ident;
    let visibility = &function.vis;
    let name = tool_name(options, function)?;
    let description = description(&function.attrs);
    if description.is_empty() {
        return Err(Error::new(
            ident.span(),
            "write a doc comment (`///`) above this function: it is what the model reads to choose the tool",
        ));
    }
    let title = optional(options.title.as_ref().map(|title| quote!(#title.into())));
    let cache_seconds = optional(options.cache_seconds.as_ref().map(|seconds| quote!(#seconds)));
    let max_result_chars = optional(options.max_result_chars.as_ref().map(|chars| quote!(#chars)));
    let groups = &options.groups;
    let (read_only, deferred, idempotent) = (options.read_only, options.deferred, options.idempotent);
    let returns =
        optional(options.returns.as_ref().map(|returns| quote!(::caisson_sdk::__private::schema_of::<#returns>())));
    let (parameters, call) = match &arguments {
        Some(kind) => (
            quote!(::caisson_sdk::__private::schema_of::<#kind>()),
            quote!(::caisson_sdk::__private::finish(#ident(::caisson_sdk::__private::parse::<#kind>(arguments)?))),
        ),
        None => (
            quote!(::caisson_sdk::__private::no_arguments()),
            quote!({ let _ = arguments; ::caisson_sdk::__private::finish(#ident()) }),
        ),
    };
    // A struct with braces lives among the types only, so it can bear the function's name: `plugin!` and `use` find both by one path.
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_docs, clippy::allow_attributes_without_reason)]
        #visibility struct #ident {}

        impl ::caisson_sdk::__private::Tool for #ident {
            fn name() -> &'static str { #name }
            fn describe() -> ::caisson_sdk::__private::Description {
                ::caisson_sdk::__private::Description {
                    name: #name.into(),
                    title: #title,
                    description: #description.into(),
                    parameters: #parameters,
                    returns: #returns,
                    read_only: #read_only,
                    deferred: #deferred,
                    idempotent: #idempotent,
                    cache_seconds: #cache_seconds,
                    groups: ::std::vec![#(#groups.into()),*],
                    max_result_chars: #max_result_chars,
                }
            }
            fn call(arguments: &str) -> ::core::result::Result<::caisson_sdk::Output, ::caisson_sdk::ToolError> { #call }
        }
    })
}

fn optional(value: Option<proc_macro2::TokenStream>) -> proc_macro2::TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}

/// The type of the one argument, if there is one.
fn argument(function: &ItemFn) -> Result<Option<Type>> {
    let mut inputs = function.sig.inputs.iter();
    let first = match inputs.next() {
        None => return Ok(None),
        Some(FnArg::Receiver(receiver)) => {
            return Err(Error::new(receiver.span(), "a tool is a free function: remove `self`"));
        }
        Some(FnArg::Typed(typed)) => (*typed.ty).clone(),
    };
    match inputs.next() {
        None => Ok(Some(first)),
        Some(second) => Err(Error::new(
            second.span(),
            "a tool takes one struct: put its arguments into a struct with #[derive(serde::Deserialize, schemars::JsonSchema)]",
        )),
    }
}

fn tool_name(options: &Options, function: &ItemFn) -> Result<String> {
    let (name, span) = options.name.as_ref().map_or_else(
        || (function.sig.ident.to_string().trim_start_matches("r#").to_owned(), function.sig.ident.span()),
        |name| (name.value(), name.span()),
    );
    let letters = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if letters && name.len() <= 64 {
        return Ok(name);
    }
    let message =
        format!("`{name}` is no tool name: use at most 64 lower case letters, digits and `_`, starting with a letter");
    Err(Error::new(span, message))
}

/// The doc comment as one text: lines joined, one leading space of each removed.
fn description(attributes: &[Attribute]) -> String {
    let lines =
        attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(|attribute| match &attribute
            .meta
        {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        });
    let lines: Vec<String> = lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}
