//! The APIs: names, newest versions known, and since which version they are flexible.

/// Never flexible.
const NEVER: u8 = u8::MAX;

/// The largest API key that a later release may plausibly use.
const MAX_KEY: i16 = 255;

/// How many versions newer than the newest known one a peer may plausibly speak.
const NEWER: i16 = 8;

/// ApiVersions, whose response header is never flexible, so that any client can read it.
pub(super) const API_VERSIONS: i16 = 18;
/// Produce, which nobody answers when it asks for no acknowledgement.
pub(super) const PRODUCE: i16 = 0;
/// SaslHandshake, after whose version 0 tokens follow without any header.
pub(super) const SASL_HANDSHAKE: i16 = 17;
/// ControlledShutdown, whose version 0 has no client id.
const CONTROLLED_SHUTDOWN: i16 = 7;

/// One API.
#[derive(Debug, Clone, Copy)]
struct Api {
    name: &'static str,
    newest: i16,
    flexible: u8,
}

const fn api(name: &'static str, newest: i16, flexible: u8) -> Api {
    Api { name, newest, flexible }
}

/// What a request header says of its API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) key: i16,
    pub(super) version: i16,
}

impl Call {
    fn api(self) -> Option<&'static Api> {
        APIS.get(usize::try_from(self.key).ok()?)
    }

    /// The name; `None` for an API of a later release.
    pub(super) fn name(self) -> Option<&'static str> {
        self.api().map(|api| api.name)
    }

    /// Whether the layout of the message is known.
    pub(super) fn is_known(self) -> bool {
        self.version >= 0 && self.api().is_some_and(|api| self.version <= api.newest)
    }

    /// Whether a broker or client of any release could have sent it.
    pub(super) fn is_plausible(self) -> bool {
        let newest = self.api().map_or(0, |api| api.newest);
        (0..=MAX_KEY).contains(&self.key) && (0..=newest.saturating_add(NEWER)).contains(&self.version)
    }

    /// Whether lengths are compact and structures end with tagged fields (KIP-482).
    pub(super) fn is_flexible(self) -> bool {
        self.api().is_some_and(|api| self.version >= i16::from(api.flexible))
    }

    /// Whether the response header has tagged fields.
    pub(super) fn has_flexible_answer(self) -> bool {
        self.key != API_VERSIONS && self.is_flexible()
    }

    /// Whether the request header has a client id.
    pub(super) const fn has_client_id(self) -> bool {
        self.key != CONTROLLED_SHUTDOWN || self.version > 0
    }
}

/// By key. From the protocol definition of releases 3.9 and 4.1, <https://kafka.apache.org/protocol.html>.
#[rustfmt::skip]
static APIS: [Api; 93] = [
    api("Produce", 13, 9),
    api("Fetch", 18, 12),
    api("ListOffsets", 10, 6),
    api("Metadata", 13, 9),
    api("LeaderAndIsr", 7, 4),
    api("StopReplica", 4, 2),
    api("UpdateMetadata", 8, 6),
    api("ControlledShutdown", 3, 3),
    api("OffsetCommit", 10, 8),
    api("OffsetFetch", 10, 6),
    api("FindCoordinator", 6, 3),
    api("JoinGroup", 9, 6),
    api("Heartbeat", 4, 4),
    api("LeaveGroup", 5, 4),
    api("SyncGroup", 5, 4),
    api("DescribeGroups", 6, 5),
    api("ListGroups", 5, 3),
    api("SaslHandshake", 1, NEVER),
    api("ApiVersions", 4, 3),
    api("CreateTopics", 7, 5),
    api("DeleteTopics", 6, 4),
    api("DeleteRecords", 2, 2),
    api("InitProducerId", 6, 2),
    api("OffsetForLeaderEpoch", 4, 4),
    api("AddPartitionsToTxn", 5, 3),
    api("AddOffsetsToTxn", 4, 3),
    api("EndTxn", 5, 3),
    api("WriteTxnMarkers", 1, 1),
    api("TxnOffsetCommit", 5, 3),
    api("DescribeAcls", 3, 2),
    api("CreateAcls", 3, 2),
    api("DeleteAcls", 3, 2),
    api("DescribeConfigs", 4, 4),
    api("AlterConfigs", 2, 2),
    api("AlterReplicaLogDirs", 2, 2),
    api("DescribeLogDirs", 4, 2),
    api("SaslAuthenticate", 2, 2),
    api("CreatePartitions", 3, 2),
    api("CreateDelegationToken", 3, 2),
    api("RenewDelegationToken", 2, 2),
    api("ExpireDelegationToken", 2, 2),
    api("DescribeDelegationToken", 3, 2),
    api("DeleteGroups", 2, 2),
    api("ElectLeaders", 2, 2),
    api("IncrementalAlterConfigs", 1, 1),
    api("AlterPartitionReassignments", 1, 0),
    api("ListPartitionReassignments", 0, 0),
    api("OffsetDelete", 0, NEVER),
    api("DescribeClientQuotas", 1, 1),
    api("AlterClientQuotas", 1, 1),
    api("DescribeUserScramCredentials", 0, 0),
    api("AlterUserScramCredentials", 0, 0),
    api("Vote", 2, 0),
    api("BeginQuorumEpoch", 1, 1),
    api("EndQuorumEpoch", 1, 1),
    api("DescribeQuorum", 2, 0),
    api("AlterPartition", 3, 0),
    api("UpdateFeatures", 2, 0),
    api("Envelope", 0, 0),
    api("FetchSnapshot", 1, 0),
    api("DescribeCluster", 2, 0),
    api("DescribeProducers", 0, 0),
    api("BrokerRegistration", 4, 0),
    api("BrokerHeartbeat", 1, 0),
    api("UnregisterBroker", 0, 0),
    api("DescribeTransactions", 0, 0),
    api("ListTransactions", 2, 0),
    api("AllocateProducerIds", 0, 0),
    api("ConsumerGroupHeartbeat", 1, 0),
    api("ConsumerGroupDescribe", 1, 0),
    api("ControllerRegistration", 0, 0),
    api("GetTelemetrySubscriptions", 0, 0),
    api("PushTelemetry", 0, 0),
    api("AssignReplicasToDirs", 0, 0),
    api("ListConfigResources", 1, 0),
    api("DescribeTopicPartitions", 0, 0),
    api("ShareGroupHeartbeat", 1, 0),
    api("ShareGroupDescribe", 1, 0),
    api("ShareFetch", 1, 0),
    api("ShareAcknowledge", 1, 0),
    api("AddRaftVoter", 0, 0),
    api("RemoveRaftVoter", 0, 0),
    api("UpdateRaftVoter", 0, 0),
    api("InitializeShareGroupState", 0, 0),
    api("ReadShareGroupState", 0, 0),
    api("WriteShareGroupState", 0, 0),
    api("DeleteShareGroupState", 0, 0),
    api("ReadShareGroupStateSummary", 0, 0),
    api("StreamsGroupHeartbeat", 0, 0),
    api("StreamsGroupDescribe", 0, 0),
    api("DescribeShareGroupOffsets", 0, 0),
    api("AlterShareGroupOffsets", 0, 0),
    api("DeleteShareGroupOffsets", 0, 0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_decide_the_header() {
        let call = |key, version| Call { key, version };
        assert_eq!(call(0, 9).name(), Some("Produce"));
        assert!(!call(0, 8).is_flexible() && call(0, 9).is_flexible());
        assert!(call(18, 3).is_flexible() && !call(18, 3).has_flexible_answer());
        assert!(!call(17, 1).is_flexible());
        assert!(!call(7, 0).has_client_id() && call(7, 1).has_client_id());
        assert!(call(1, 20).is_plausible() && !call(1, 20).is_known());
        assert!(!call(300, 0).is_plausible() && !call(-1, 0).is_plausible());
    }
}
