//! Environment variables that make programs run or load code, by how.

use super::seen::{Piece, Value, Why, Word};

/// What a program makes of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Whatever it is, it is code, names code, or names settings that may.
    Always,
    /// It is the command that shows or edits text, or asks for a password.
    Shows,
    /// It is the command that is run in place of a tool.
    Tool,
    /// It is options, of which some run code.
    Options,
    /// It is where programs look for their settings.
    Home,
    /// It is where programs are looked for.
    Path,
}

/// How a variable makes programs run code; none where it does not.
pub(crate) fn effect(name: &str) -> Option<Effect> {
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    Some(match name {
        "PATH" => Effect::Path,
        "HOME" => Effect::Home,
        _ if starts(ALWAYS_BY_START) || ALWAYS.contains(&name) => Effect::Always,
        _ if SHOWS.iter().any(|end| name.ends_with(end)) => Effect::Shows,
        _ if TOOLS.contains(&name) || is_tool_for_target(name) => Effect::Tool,
        _ if OPTIONS.contains(&name) || name.ends_with("RUSTFLAGS") => Effect::Options,
        _ => return None,
    })
}

/// Whether some program runs the value as a command, which is then read like one. A shell gets its code from whoever starts it.
pub(crate) fn is_command(name: &str) -> bool {
    !name.ends_with("SHELL") && is_run(name)
}

fn is_run(name: &str) -> bool {
    COMMANDS.contains(&name)
        || name.starts_with("GIT_CONFIG_VALUE_")
        || matches!(effect(name), Some(Effect::Shows | Effect::Tool))
}

/// `CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER`, `CC_aarch64_unknown_linux_gnu`.
fn is_tool_for_target(name: &str) -> bool {
    (name.starts_with("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER")))
        || ["CC_", "CXX_", "AR_", "HOST_CC", "HOST_CXX", "TARGET_CC", "TARGET_CXX"]
            .iter()
            .any(|start| name.starts_with(start))
}

/// Whether a value in place of a tool is a program of the system and nothing more: compilers with options, caches before them;
/// a shell only where one is meant, and without options.
pub(crate) fn is_plain_tool(variable: &str, value: &Word) -> bool {
    let Some(text) = value.known() else { return is_prefixed_tool(value) };
    let Some(first) = text.split_whitespace().next() else { return true };
    let of_system =
        !first.contains('/') || ["/usr/", "/bin/", "/sbin/", "/opt/"].iter().any(|folder| first.starts_with(folder));
    let name = first.rsplit('/').next().unwrap_or_default();
    of_system
        && !text.contains(['$', '`', ';', '|', '&', '<', '>', '\n'])
        && !text.contains("..")
        && (!matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "env" | "eval" | "busybox")
            || (variable.ends_with("SHELL") && first == text))
        && !["-wrapper", "-fplugin", "-specs", "-B"].iter().any(|option| text.contains(option))
}

/// `${CROSS}gcc`: a variable of whoever started the shell, then the rest of a name.
pub(crate) fn is_prefixed_tool(value: &Word) -> bool {
    let Value::Partial(pieces) = &value.value else { return false };
    matches!(pieces.as_slice(), [Piece::Unknown { why: Why::Variable(_), .. }, Piece::Text(rest)]
        if !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')))
}

/// Beginnings of names whose every value is code, or names code.
const ALWAYS_BY_START: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_KEY_", "ANSIBLE_", "LUA_INIT"];

/// Names whose every value is code, names code, or names settings that hold it.
#[rustfmt::skip]
const ALWAYS: &[&str] = &[
    // Shells.
    "BASH_ENV", "PROMPT_COMMAND", "PS0", "PS4", "SHELLOPTS", "BASHOPTS", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "ZDOTDIR",
    "INPUTRC", "FPATH", "FZF_DEFAULT_COMMAND", "FZF_CTRL_T_COMMAND", "FZF_DEFAULT_OPTS", "FZF_DEFAULT_OPTS_FILE",
    "SKIM_DEFAULT_COMMAND", "SCREENRC", "SYSSCREENRC",
    // git, ssh and what else reaches out.
    "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
    "GIT_PROXY_COMMAND", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_SHELL_PATH", "SSH_ASKPASS",
    "SUDO_ASKPASS", "SSH_SK_PROVIDER", "SSH_SK_HELPER", "SSH_PKCS11_HELPER", "RSYNC_RSH", "RSYNC_CONNECT_PROG", "CVS_RSH",
    "SVN_SSH", "BZR_SSH", "TAR_RSH", "TAR_OPTIONS", "TAPE", "ZIPOPT", "CURL_HOME", "WGETRC", "SYSTEM_WGETRC", "DOCKER_HOST",
    "DOCKER_CONFIG", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "HELM_PLUGINS", "TF_CLI_CONFIG_FILE", "GNUPGHOME",
    "RIPGREP_CONFIG_PATH", "BAT_CONFIG_PATH", "ACKRC", "HGRCPATH",
    // Pagers and editors.
    "LESSOPEN", "LESSCLOSE", "LESSKEY", "LESSKEYIN", "LESSKEYIN_SYSTEM", "LESSKEYIN_CONTENT", "VIMINIT", "EXINIT", "MYVIMRC",
    "GVIMINIT", "VIMRUNTIME", "EMACSLOADPATH", "MANOPT", "MAILCAPS", "MUTTRC",
    // Interpreters.
    "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONUSERBASE", "PYTHONEXECUTABLE",
    "PYTHONPYCACHEPREFIX", "PYTHONPLATLIBDIR", "PERL5LIB", "PERL5OPT", "PERLLIB", "PERL5DB", "PERL5SHELL", "RUBYOPT",
    "RUBYLIB", "JRUBY_OPTS", "PHPRC", "PHP_INI_SCAN_DIR", "NODE_REPL_EXTERNAL_MODULE", "npm_config_script_shell",
    "NPM_CONFIG_SCRIPT_SHELL", "npm_config_node_options", "NPM_CONFIG_NODE_OPTIONS", "npm_config_userconfig",
    "NPM_CONFIG_USERCONFIG", "npm_config_globalconfig", "NPM_CONFIG_GLOBALCONFIG", "YARN_YARN_PATH", "YARN_RC_FILENAME",
    "JULIA_LOAD_PATH", "JULIA_DEPOT_PATH", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON", "R_ENVIRON_USER", "R_LIBS",
    "OCTAVE_SITE_INITFILE", "OCTAVE_VERSION_INITFILE", "TCLLIBPATH", "GUILE_LOAD_PATH", "LUA_CPATH", "ERL_LIBS", "ERL_FLAGS",
    "ERL_AFLAGS", "ERL_ZFLAGS", "ELIXIR_ERL_OPTIONS", "DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "CORECLR_PROFILER",
    "CORECLR_PROFILER_PATH", "COR_PROFILER", "COR_PROFILER_PATH", "MONO_ENV_OPTIONS", "AWKLIBPATH",
    // Databases.
    "PSQLRC", "MYSQL_HOME", "MYSQL_GROUP_SUFFIX", "ODBCINI", "ODBCSYSINI", "ODBCINSTINI", "PGSYSCONFDIR",
    // Libraries that load plug-ins, and settings that name them.
    "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "MALLOC_TRACE", "HOSTALIASES", "LOCALDOMAIN", "RESOLV_HOST_CONF", "OPENSSL_CONF",
    "OPENSSL_ENGINES", "OPENSSL_MODULES", "SSLKEYLOGFILE", "KRB5_CONFIG", "SASL_PATH", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",
    "XDG_DATA_DIRS", "TERMINFO", "GTK_MODULES", "GTK_PATH", "GTK_EXE_PREFIX", "GIO_EXTRA_MODULES", "GIO_MODULE_DIR",
    "GDK_PIXBUF_MODULE_FILE", "GDK_PIXBUF_MODULEDIR", "GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0", "GST_REGISTRY",
    "QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH", "VK_ICD_FILENAMES",
    "VK_DRIVER_FILES", "OCL_ICD_VENDORS", "LIBGL_DRIVERS_PATH", "ALSA_CONFIG_PATH", "ALSA_PLUGIN_DIR", "LADSPA_PATH",
    "MAGICK_CONFIGURE_PATH", "MAGICK_CODER_MODULE_PATH", "GS_LIB", "GS_OPTIONS", "TEXMFCNF", "NIX_PATH",
    // Builds.
    "MAKEFILES", "GCC_EXEC_PREFIX", "COMPILER_PATH", "CMAKE_TOOLCHAIN_FILE", "GOCACHEPROG", "GOAUTH", "GOENV", "GOROOT",
    "GOTOOLDIR", "GRADLE_USER_HOME",
];

/// Endings of names whose value is the command that shows or edits text, or asks for a password.
const SHOWS: &[&str] = &["PAGER", "EDITOR", "VISUAL", "BROWSER", "ASKPASS", "FCEDIT", "LESSEDIT", "TEXEDIT"];

/// Names whose value is run in place of a tool.
#[rustfmt::skip]
const TOOLS: &[&str] = &[
    "RUSTC", "RUSTDOC", "RUSTFMT", "RUSTC_LINKER", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTUP_TOOLCHAIN", "CARGO",
    "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTDOC", "CARGO_BUILD_RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER", "CC",
    "CXX", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "OBJCOPY", "FC", "F77", "HOSTCC", "HOSTCXX", "GCCGO",
    "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_MAKE_PROGRAM",
    "CCACHE_PREFIX", "CCACHE_PREFIX_CPP", "CCACHE_COMPILER", "MAKE", "MAKESHELL", "SHELL", "PKG_CONFIG", "PYTHON", "NODE",
    "CLOUDSDK_PYTHON", "KUBECTL_EXTERNAL_DIFF", "TERRAGRUNT_TFPATH", "ASAN_SYMBOLIZER_PATH", "LLVM_SYMBOLIZER_PATH", "TROFF",
];

/// Names whose value is options of a program.
#[rustfmt::skip]
const OPTIONS: &[&str] = &[
    "NODE_OPTIONS", "BUN_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "JAVA_OPTS",
    "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS", "ANT_OPTS", "LEIN_JVM_OPTS", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS",
    "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTDOCFLAGS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CGO_CFLAGS", "CGO_CXXFLAGS",
    "CGO_LDFLAGS", "GOFLAGS", "LESS", "PYTHONWARNINGS", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "ENV",
];

/// Names, beside those above, whose value is a command.
const COMMANDS: &[&str] = &[
    "PROMPT_COMMAND",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_PROXY_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "RSYNC_RSH",
    "RSYNC_CONNECT_PROG",
    "CVS_RSH",
    "TAR_RSH",
    "FZF_DEFAULT_COMMAND",
    "FZF_CTRL_T_COMMAND",
];
