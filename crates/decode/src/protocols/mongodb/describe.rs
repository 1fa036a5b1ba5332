//! The fields of rows.

use super::head::Head;
use super::walk::{Facts, Numbers};
use super::wire::Opcode;
use crate::{Message, Name, Notice, Role};

/// Adds what a message said; `pushed` is the command of a reply that nobody asked for again.
pub(super) fn describe<'o>(
    mut message: Message<'o>,
    role: Role,
    head: &Head<'_>,
    facts: &Facts<'_>,
    pushed: Option<&[u8]>,
) -> Message<'o> {
    let reply = role == Role::Response || head.opcode == Opcode::Reply;
    if reply {
        return compression(message, head);
    }
    if let Some(name) = pushed {
        return compression(message.text(Name::Operation, name), head);
    }
    let mut db = facts.db;
    let mut target = facts.target;
    match (facts.command.filter(|_| head.label.is_none()), head.label) {
        (Some(command), _) => message = message.text(Name::Operation, command),
        (None, Some(label)) => message = message.label(Name::Operation, label),
        (None, None) => message = message.notice(Notice::Unknown),
    }
    if let Some(namespace) = head.namespace {
        let dot = memchr::memchr(b'.', namespace).unwrap_or(namespace.len());
        db = namespace.get(..dot);
        if head.label.is_some() {
            target = namespace.get(dot.saturating_add(1)..);
        }
    }
    if let Some(target) = target.filter(|target| !target.is_empty()) {
        message = message.text(Name::Resource, target);
        if facts.command.is_none_or(names_collection) || head.label.is_some() {
            message = message.text(Name::Attribute("db.collection.name"), target);
        }
    }
    if let Some(db) = db.filter(|db| !db.is_empty()) {
        message = message.text(Name::Attribute("db.namespace"), db);
    }
    if let Some(cursor) = facts.numbers.cursor {
        message = message.int(Name::Attribute("db.mongodb.cursor_id"), cursor);
    }
    if let Some(count) = facts.numbers.batch {
        message = message.int(Name::Attribute("db.operation.batch.size"), i64::from(count));
    }
    if facts.numbers.cut {
        message = message.notice(Notice::FieldsCut);
    }
    if head.unknown && head.compressor.is_some() {
        message = message.notice(Notice::Unknown);
    }
    compression(message, head)
}

/// Why a command failed.
pub(super) fn failure<'o>(mut message: Message<'o>, facts: &Facts<'_>, numbers: &Numbers) -> Message<'o> {
    if let Some(code) = numbers.code {
        let mut room = [0; 20];
        message = message.text(Name::StatusCode, digits(code, &mut room));
    }
    if let Some(text) = facts.message {
        message = message.text(Name::Error, text);
    }
    if let Some(name) = facts.code_name {
        message = message.text(Name::Attribute("error.type"), name);
    }
    if let Some(count) = numbers.write_errors {
        message = message.int(Name::Attribute("db.mongodb.write_errors"), i64::from(count));
    }
    message
}

/// Says how a message was compressed.
fn compression<'o>(message: Message<'o>, head: &Head<'_>) -> Message<'o> {
    let Some(name) = head.compressor else { return message };
    message
        .label(Name::Attribute("db.mongodb.compressor"), name)
        .label(Name::Attribute("db.mongodb.opcode"), head.opcode.as_str())
}

/// Whether the value of a command's first element is a collection.
fn names_collection(command: &[u8]) -> bool {
    !matches!(
        command,
        b"createUser"
            | b"updateUser"
            | b"dropUser"
            | b"grantRolesToUser"
            | b"revokeRolesFromUser"
            | b"usersInfo"
            | b"createRole"
            | b"updateRole"
            | b"dropRole"
            | b"rolesInfo"
            | b"grantPrivilegesToRole"
            | b"revokePrivilegesFromRole"
            | b"grantRolesToRole"
            | b"revokeRolesFromRole"
            | b"getLog"
            | b"getParameter"
            | b"setFeatureCompatibilityVersion"
            | b"configureFailPoint"
            | b"renameCollection"
            | b"enableSharding"
            | b"addShard"
            | b"removeShard"
            | b"movePrimary"
    )
}

/// A number as text.
fn digits(number: i64, room: &mut [u8; 20]) -> &[u8] {
    let mut rest = number.unsigned_abs();
    let mut at = room.len();
    for slot in room.iter_mut().rev() {
        *slot = b'0'.wrapping_add(u8::try_from(rest % 10).unwrap_or_default());
        at = at.saturating_sub(1);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0
        && let Some(slot) = at.checked_sub(1).and_then(|sign| room.get_mut(sign))
    {
        *slot = b'-';
        at = at.saturating_sub(1);
    }
    room.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn numbers_as_text() {
        let mut room = [0; 20];
        assert_eq!(digits(0, &mut room), b"0");
        assert_eq!(digits(i64::MIN, &mut room), b"-9223372036854775808");
    }
}
