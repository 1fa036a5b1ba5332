//! The commands, and what answers them.

use crate::protocols::sql::Ref;

/// What the answer to a command looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    None,
    /// `OK`, `EOF` or `ERR`.
    Plain,
    /// `OK`, `ERR`, a request for a file, or result sets.
    Results,
    /// The number of the statement, then its parameters and columns.
    Prepare,
    /// Rows or column definitions up to `EOF` or `OK`.
    Rows,
    /// One packet of text.
    Text,
    /// An exchange up to `OK` or `ERR`.
    Login,
    /// A stream without an end.
    Stream,
}

/// A command that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub kind: Kind,
    /// The number of the packet seen last that belongs to it.
    pub sequence: u8,
    /// `STMT_PREPARE`: what is prepared.
    pub statement: Option<Ref>,
}

pub(super) const QUIT: u8 = 0x01;
pub(super) const INIT_DB: u8 = 0x02;
pub(super) const QUERY: u8 = 0x03;
pub(super) const FIELD_LIST: u8 = 0x04;
pub(super) const CREATE_DB: u8 = 0x05;
pub(super) const DROP_DB: u8 = 0x06;
pub(super) const CHANGE_USER: u8 = 0x11;
pub(super) const STMT_PREPARE: u8 = 0x16;
pub(super) const STMT_EXECUTE: u8 = 0x17;
pub(super) const STMT_SEND_LONG_DATA: u8 = 0x18;
pub(super) const STMT_CLOSE: u8 = 0x19;
pub(super) const STMT_RESET: u8 = 0x1a;
pub(super) const STMT_FETCH: u8 = 0x1c;
pub(super) const RESET_CONNECTION: u8 = 0x1f;
pub(super) const STMT_BULK_EXECUTE: u8 = 0xfa;

/// The name of a command without `COM_`, and what answers it.
pub(super) const fn find(command: u8) -> Option<(&'static str, Kind)> {
    let found = match command {
        QUIT => ("QUIT", Kind::None),
        INIT_DB => ("INIT_DB", Kind::Plain),
        QUERY => ("QUERY", Kind::Results),
        FIELD_LIST => ("FIELD_LIST", Kind::Rows),
        CREATE_DB => ("CREATE_DB", Kind::Plain),
        DROP_DB => ("DROP_DB", Kind::Plain),
        0x07 => ("REFRESH", Kind::Plain),
        0x08 => ("SHUTDOWN", Kind::Plain),
        0x09 => ("STATISTICS", Kind::Text),
        0x0a => ("PROCESS_INFO", Kind::Results),
        0x0c => ("PROCESS_KILL", Kind::Plain),
        0x0d => ("DEBUG", Kind::Plain),
        0x0e => ("PING", Kind::Plain),
        CHANGE_USER => ("CHANGE_USER", Kind::Login),
        0x12 => ("BINLOG_DUMP", Kind::Stream),
        0x13 => ("TABLE_DUMP", Kind::Stream),
        0x15 => ("REGISTER_REPLICA", Kind::Plain),
        STMT_PREPARE => ("PREPARE", Kind::Prepare),
        STMT_EXECUTE => ("EXECUTE", Kind::Results),
        STMT_SEND_LONG_DATA => ("STMT_SEND_LONG_DATA", Kind::None),
        STMT_CLOSE => ("STMT_CLOSE", Kind::None),
        STMT_RESET => ("STMT_RESET", Kind::Plain),
        0x1b => ("SET_OPTION", Kind::Plain),
        STMT_FETCH => ("STMT_FETCH", Kind::Rows),
        0x1e => ("BINLOG_DUMP_GTID", Kind::Stream),
        RESET_CONNECTION => ("RESET_CONNECTION", Kind::Plain),
        0x20 => ("CLONE", Kind::Plain),
        STMT_BULK_EXECUTE => ("EXECUTE", Kind::Results),
        _ => return None,
    };
    Some(found)
}
