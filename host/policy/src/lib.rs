//! caisson-policy
