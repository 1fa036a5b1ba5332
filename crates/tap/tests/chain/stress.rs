//! Many flows.
