//! caisson-store
