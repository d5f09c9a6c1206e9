//! caisson-audit
