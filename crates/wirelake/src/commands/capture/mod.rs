//! Commands over live interfaces and capture files.

mod ifaces;
mod line;
mod options;
mod packets;
mod read;
mod show;
mod stat;
mod text;
mod watch;

pub use ifaces::run as ifaces;
pub use options::rules_of;
pub use packets::run as packets;
pub use read::run as read;
pub use watch::run as watch;
