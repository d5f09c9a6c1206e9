//! caisson-engine
