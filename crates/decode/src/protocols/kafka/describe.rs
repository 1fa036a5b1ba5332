//! The fields of a request's row.

use super::api::Call;
use super::layout::Facts;
use super::topics::{TopicIds, id_text};
use crate::{Message, Name, Notice};

/// Key types of FindCoordinator.
const GROUP: u8 = 0;
const TRANSACTION: u8 = 1;

/// Adds what a request said.
pub(super) fn describe<'o>(
    mut message: Message<'o>,
    call: Call,
    client_id: Option<&[u8]>,
    facts: &Facts<'_>,
    ids: &TopicIds,
) -> Message<'o> {
    if let Some(name) = call.name() {
        message = message.label(Name::Operation, name);
    } else {
        message = message.int(Name::Attribute("messaging.kafka.api_key"), i64::from(call.key));
    }
    let group = facts.group.or_else(|| facts.key.filter(|_| facts.key_type == GROUP));
    let txn = facts.txn.or_else(|| facts.key.filter(|_| facts.key_type == TRANSACTION));
    let id = facts.topic_id.map(|id| (id, id_text(&id)));
    let named = id.as_ref().and_then(|(id, _)| ids.name(id));
    let unnamed = facts.topic.is_none() && named.is_none();
    let topic = facts.topic.or(named).or(id.as_ref().map(|(_, text)| text.as_slice()));
    let other = group.or(txn).or(facts.key).or(facts.thing).or(facts.mechanism);
    if let Some(resource) = topic.or(other) {
        message = message.text(Name::Resource, resource);
    }
    message = message.label(Name::Attribute("messaging.system"), "kafka");
    if let Some(topic) = topic {
        message = message.text(Name::Attribute("messaging.destination.name"), topic);
    }
    if id.is_some() && unnamed {
        message = message.notice(Notice::Unknown);
    }
    if facts.topics > 1 {
        message = message.int(Name::Attribute("messaging.kafka.topics"), i64::from(facts.topics));
    }
    if let Some(client_id) = client_id.filter(|id| !id.is_empty()) {
        message = message.text(Name::Attribute("messaging.client.id"), client_id);
    }
    if let Some(group) = group {
        message = message.text(Name::Attribute("messaging.consumer.group.name"), group);
    }
    if let Some(member) = facts.member {
        message = message.text(Name::Attribute("messaging.kafka.member_id"), member);
    }
    if let Some(txn) = txn {
        message = message.text(Name::Attribute("messaging.kafka.transactional_id"), txn);
    }
    if let Some(acks) = facts.acks {
        message = message.int(Name::Attribute("messaging.kafka.acks"), i64::from(acks));
    }
    if let Some(records) = facts.all_records() {
        message = message.int(Name::Attribute("messaging.batch.message_count"), i64::from(records));
    }
    message.int(Name::Attribute("messaging.kafka.api_version"), i64::from(call.version))
}
