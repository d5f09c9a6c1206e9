//! Other names of the built-in tools.

/// Names that agents know from elsewhere, and the tool that answers to them. No plugin may take either side.
const ALIASES: [(&str, &str); 4] =
    [("apply-patch", "apply_patch"), ("bash", "exec"), ("edit_file", "edit"), ("sessions_spawn", "spawn")];

/// The tool that a name stands for: itself, unless it is an alias.
#[must_use]
pub fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, tool)| tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_stands_for_its_tool_and_every_other_name_for_itself() {
        assert_eq!(canonical("bash"), "exec");
        assert_eq!(canonical("apply-patch"), "apply_patch");
        assert_eq!(canonical("edit_file"), "edit");
        assert_eq!(canonical("sessions_spawn"), "spawn");
        assert_eq!(canonical("exec"), "exec");
        assert_eq!(canonical("Bash"), "Bash");
    }
}
