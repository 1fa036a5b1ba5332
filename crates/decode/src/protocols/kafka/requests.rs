//! The fields of requests up to the last one that a row needs, by API key and version.
//!
//! Facts of the message schemas, <https://kafka.apache.org/protocol.html>; each line names its field.

use super::layout::Kind::*;
use super::layout::Role::*;
use super::layout::{Field, LAST, f};

/// The layouts by API key.
#[rustfmt::skip]
pub(super) const LAYOUTS: [&[Field]; 93] = [
    // 0 Produce
    &[
        f(3, LAST, Txn, Text), // transactional_id
        f(0, LAST, Acks, Fixed(2)), // acks
        f(0, LAST, Skip, Fixed(4)), // timeout_ms
        f(0, LAST, Skip, Structs(&[ // topic_data
            f(0, 12, Topic, Text), // name
            f(13, LAST, TopicId, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partition_data
                f(0, LAST, Skip, Fixed(4)), // index
                f(0, LAST, Records, Bytes), // records
            ])),
        ])),
    ],
    // 1 Fetch
    &[
        f(0, 14, Skip, Fixed(4)), // replica_id
        f(0, LAST, Skip, Fixed(4)), // max_wait_ms
        f(0, LAST, Skip, Fixed(4)), // min_bytes
        f(3, LAST, Skip, Fixed(4)), // max_bytes
        f(4, LAST, Skip, Fixed(1)), // isolation_level
        f(7, LAST, Skip, Fixed(4)), // session_id
        f(7, LAST, Skip, Fixed(4)), // session_epoch
        f(0, LAST, Skip, First(&[ // topics
            f(0, 12, Topic, Text), // topic
            f(13, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 2 ListOffsets
    &[
        f(0, LAST, Skip, Fixed(4)), // replica_id
        f(2, LAST, Skip, Fixed(1)), // isolation_level
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    // 3 Metadata
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(10, LAST, TopicId, Fixed(16)), // topic_id
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    // 4 LeaderAndIsr
    &[
        f(0, LAST, Skip, Fixed(4)), // controller_id
        f(7, LAST, Skip, Fixed(1)), // is_kraft_controller
        f(0, LAST, Skip, Fixed(4)), // controller_epoch
        f(0, 1, Skip, Structs(&[ // ungrouped_partition_states
            f(0, 1, Skip, Text), // topic_name
            f(0, 1, Skip, Fixed(4)), // partition_index
            f(0, 1, Skip, Fixed(4)), // controller_epoch
            f(0, 1, Skip, Fixed(4)), // leader
            f(0, 1, Skip, Fixed(4)), // leader_epoch
            f(0, 1, Skip, Fixeds(4)), // isr
            f(0, 1, Skip, Fixed(4)), // partition_epoch
            f(0, 1, Skip, Fixeds(4)), // replicas
            f(1, 1, Skip, Fixed(1)), // is_new
        ])),
        f(2, LAST, Skip, Fixed(8)), // broker_epoch
        f(5, LAST, Skip, Fixed(1)), // type
        f(2, LAST, Skip, First(&[ // topic_states
            f(2, LAST, Topic, Text), // topic_name
            f(5, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 5 StopReplica
    &[
        f(0, LAST, Skip, Fixed(4)), // controller_id
        f(4, LAST, Skip, Fixed(1)), // is_kraft_controller
        f(0, LAST, Skip, Fixed(4)), // controller_epoch
        f(1, LAST, Skip, Fixed(8)), // broker_epoch
        f(0, 2, Skip, Fixed(1)), // delete_partitions
        f(0, 0, Skip, Structs(&[ // ungrouped_partitions
            f(0, 0, Skip, Text), // topic_name
            f(0, 0, Skip, Fixed(4)), // partition_index
        ])),
        f(1, 2, Skip, Structs(&[ // topics
            f(1, 2, Topic, Text), // name
            f(1, 2, Skip, Fixeds(4)), // partition_indexes
        ])),
        f(3, LAST, Skip, First(&[ // topic_states
            f(3, LAST, Topic, Text), // topic_name
        ])),
    ],
    // 6 UpdateMetadata
    &[
        f(0, LAST, Skip, Fixed(4)), // controller_id
        f(8, LAST, Skip, Fixed(1)), // is_kraft_controller
        f(0, LAST, Skip, Fixed(4)), // controller_epoch
        f(0, 4, Skip, Structs(&[ // ungrouped_partition_states
            f(0, 4, Skip, Text), // topic_name
            f(0, 4, Skip, Fixed(4)), // partition_index
            f(0, 4, Skip, Fixed(4)), // controller_epoch
            f(0, 4, Skip, Fixed(4)), // leader
            f(0, 4, Skip, Fixed(4)), // leader_epoch
            f(0, 4, Skip, Fixeds(4)), // isr
            f(0, 4, Skip, Fixed(4)), // zk_version
            f(0, 4, Skip, Fixeds(4)), // replicas
            f(4, 4, Skip, Fixeds(4)), // offline_replicas
        ])),
        f(5, LAST, Skip, Fixed(8)), // broker_epoch
        f(5, LAST, Skip, First(&[ // topic_states
            f(5, LAST, Topic, Text), // topic_name
            f(7, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    &[], // 7 ControlledShutdown
    // 8 OffsetCommit
    &[
        f(0, LAST, Group, Text), // group_id
        f(1, LAST, Skip, Fixed(4)), // generation_id_or_member_epoch
        f(1, LAST, Member, Text), // member_id
        f(2, 4, Skip, Fixed(8)), // retention_time_ms
        f(7, LAST, Skip, Text), // group_instance_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, 9, Topic, Text), // name
            f(10, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 9 OffsetFetch
    &[
        f(0, 7, Group, Text), // group_id
        f(0, 7, Skip, Structs(&[ // topics
            f(0, 7, Topic, Text), // name
            f(0, 7, Skip, Fixeds(4)), // partition_indexes
        ])),
        f(8, LAST, Skip, First(&[ // groups
            f(8, LAST, Group, Text), // group_id
            f(9, LAST, Member, Text), // member_id
            f(9, LAST, Skip, Fixed(4)), // member_epoch
            f(8, LAST, Skip, First(&[ // topics
                f(8, 9, Topic, Text), // name
                f(10, LAST, TopicId, Fixed(16)), // topic_id
            ])),
        ])),
    ],
    // 10 FindCoordinator
    &[
        f(0, 3, Key, Text), // key
        f(1, LAST, KeyType, Fixed(1)), // key_type
        f(4, LAST, Key, Texts), // coordinator_keys
    ],
    // 11 JoinGroup
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, Fixed(4)), // session_timeout_ms
        f(1, LAST, Skip, Fixed(4)), // rebalance_timeout_ms
        f(0, LAST, Member, Text), // member_id
    ],
    // 12 Heartbeat
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, Fixed(4)), // generation_id
        f(0, LAST, Member, Text), // member_id
    ],
    // 13 LeaveGroup
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, 2, Member, Text), // member_id
        f(3, LAST, Skip, First(&[ // members
            f(3, LAST, Member, Text), // member_id
        ])),
    ],
    // 14 SyncGroup
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, Fixed(4)), // generation_id
        f(0, LAST, Member, Text), // member_id
    ],
    // 15 DescribeGroups
    &[
        f(0, LAST, Group, Texts), // groups
    ],
    &[], // 16 ListGroups
    // 17 SaslHandshake
    &[
        f(0, LAST, Mechanism, Text), // mechanism
    ],
    &[], // 18 ApiVersions
    // 19 CreateTopics
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    // 20 DeleteTopics
    &[
        f(0, 5, Topic, Texts), // topic_names
        f(6, LAST, Skip, First(&[ // topics
            f(6, LAST, Topic, Text), // name
            f(6, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 21 DeleteRecords
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    // 22 InitProducerId
    &[
        f(0, LAST, Txn, Text), // transactional_id
    ],
    // 23 OffsetForLeaderEpoch
    &[
        f(3, LAST, Skip, Fixed(4)), // replica_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic
        ])),
    ],
    // 24 AddPartitionsToTxn
    &[
        f(0, 3, Txn, Text), // v3_and_below_transactional_id
        f(0, 3, Skip, Fixed(8)), // v3_and_below_producer_id
        f(0, 3, Skip, Fixed(2)), // v3_and_below_producer_epoch
        f(0, 3, Skip, Structs(&[ // v3_and_below_topics
            f(0, 3, Topic, Text), // name
            f(0, 3, Skip, Fixeds(4)), // partitions
        ])),
        f(4, LAST, Skip, First(&[ // transactions
            f(4, LAST, Txn, Text), // transactional_id
            f(4, LAST, Skip, Fixed(8)), // producer_id
            f(4, LAST, Skip, Fixed(2)), // producer_epoch
            f(4, LAST, Skip, Fixed(1)), // verify_only
            f(4, LAST, Skip, First(&[ // topics
                f(4, LAST, Topic, Text), // name
            ])),
        ])),
    ],
    // 25 AddOffsetsToTxn
    &[
        f(0, LAST, Txn, Text), // transactional_id
        f(0, LAST, Skip, Fixed(8)), // producer_id
        f(0, LAST, Skip, Fixed(2)), // producer_epoch
        f(0, LAST, Group, Text), // group_id
    ],
    // 26 EndTxn
    &[
        f(0, LAST, Txn, Text), // transactional_id
    ],
    // 27 WriteTxnMarkers
    &[
        f(0, LAST, Skip, First(&[ // markers
            f(0, LAST, Skip, Fixed(8)), // producer_id
            f(0, LAST, Skip, Fixed(2)), // producer_epoch
            f(0, LAST, Skip, Fixed(1)), // transaction_result
            f(0, LAST, Skip, First(&[ // topics
                f(0, LAST, Topic, Text), // name
            ])),
        ])),
    ],
    // 28 TxnOffsetCommit
    &[
        f(0, LAST, Txn, Text), // transactional_id
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, Fixed(8)), // producer_id
        f(0, LAST, Skip, Fixed(2)), // producer_epoch
        f(3, LAST, Skip, Fixed(4)), // generation_id
        f(3, LAST, Member, Text), // member_id
        f(3, LAST, Skip, Text), // group_instance_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    &[], // 29 DescribeAcls
    // 30 CreateAcls
    &[
        f(0, LAST, Skip, First(&[ // creations
            f(0, LAST, Skip, Fixed(1)), // resource_type
            f(0, LAST, Thing, Text), // resource_name
        ])),
    ],
    &[], // 31 DeleteAcls
    // 32 DescribeConfigs
    &[
        f(0, LAST, Skip, First(&[ // resources
            f(0, LAST, Skip, Fixed(1)), // resource_type
            f(0, LAST, Thing, Text), // resource_name
        ])),
    ],
    // 33 AlterConfigs
    &[
        f(0, LAST, Skip, First(&[ // resources
            f(0, LAST, Skip, Fixed(1)), // resource_type
            f(0, LAST, Thing, Text), // resource_name
        ])),
    ],
    // 34 AlterReplicaLogDirs
    &[
        f(0, LAST, Skip, First(&[ // dirs
            f(0, LAST, Skip, Text), // path
            f(0, LAST, Skip, First(&[ // topics
                f(0, LAST, Topic, Text), // name
            ])),
        ])),
    ],
    // 35 DescribeLogDirs
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic
        ])),
    ],
    &[], // 36 SaslAuthenticate
    // 37 CreatePartitions
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    &[], // 38 CreateDelegationToken
    &[], // 39 RenewDelegationToken
    &[], // 40 ExpireDelegationToken
    &[], // 41 DescribeDelegationToken
    // 42 DeleteGroups
    &[
        f(0, LAST, Group, Texts), // groups_names
    ],
    // 43 ElectLeaders
    &[
        f(1, LAST, Skip, Fixed(1)), // election_type
        f(0, LAST, Skip, First(&[ // topic_partitions
            f(0, LAST, Topic, Text), // topic
        ])),
    ],
    // 44 IncrementalAlterConfigs
    &[
        f(0, LAST, Skip, First(&[ // resources
            f(0, LAST, Skip, Fixed(1)), // resource_type
            f(0, LAST, Thing, Text), // resource_name
        ])),
    ],
    // 45 AlterPartitionReassignments
    &[
        f(0, LAST, Skip, Fixed(4)), // timeout_ms
        f(1, LAST, Skip, Fixed(1)), // allow_replication_factor_change
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    // 46 ListPartitionReassignments
    &[
        f(0, LAST, Skip, Fixed(4)), // timeout_ms
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    // 47 OffsetDelete
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    &[], // 48 DescribeClientQuotas
    &[], // 49 AlterClientQuotas
    &[], // 50 DescribeUserScramCredentials
    &[], // 51 AlterUserScramCredentials
    // 52 Vote
    &[
        f(0, LAST, Skip, Text), // cluster_id
        f(1, LAST, Skip, Fixed(4)), // voter_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic_name
        ])),
    ],
    // 53 BeginQuorumEpoch
    &[
        f(0, LAST, Skip, Text), // cluster_id
        f(1, LAST, Skip, Fixed(4)), // voter_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic_name
        ])),
    ],
    // 54 EndQuorumEpoch
    &[
        f(0, LAST, Skip, Text), // cluster_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic_name
        ])),
    ],
    // 55 DescribeQuorum
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic_name
        ])),
    ],
    // 56 AlterPartition
    &[
        f(0, LAST, Skip, Fixed(4)), // broker_id
        f(0, LAST, Skip, Fixed(8)), // broker_epoch
        f(0, LAST, Skip, First(&[ // topics
            f(0, 1, Topic, Text), // topic_name
            f(2, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    &[], // 57 UpdateFeatures
    &[], // 58 Envelope
    // 59 FetchSnapshot
    &[
        f(0, LAST, Skip, Fixed(4)), // replica_id
        f(0, LAST, Skip, Fixed(4)), // max_bytes
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    &[], // 60 DescribeCluster
    // 61 DescribeProducers
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    &[], // 62 BrokerRegistration
    &[], // 63 BrokerHeartbeat
    &[], // 64 UnregisterBroker
    // 65 DescribeTransactions
    &[
        f(0, LAST, Txn, Texts), // transactional_ids
    ],
    &[], // 66 ListTransactions
    &[], // 67 AllocateProducerIds
    // 68 ConsumerGroupHeartbeat
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Member, Text), // member_id
        f(0, LAST, Skip, Fixed(4)), // member_epoch
        f(0, LAST, Skip, Text), // instance_id
        f(0, LAST, Skip, Text), // rack_id
        f(0, LAST, Skip, Fixed(4)), // rebalance_timeout_ms
        f(0, LAST, Skip, Texts), // subscribed_topic_names
        f(1, LAST, Skip, Text), // subscribed_topic_regex
        f(0, LAST, Skip, Text), // server_assignor
        f(0, LAST, Skip, First(&[ // topic_partitions
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 69 ConsumerGroupDescribe
    &[
        f(0, LAST, Group, Texts), // group_ids
    ],
    &[], // 70 ControllerRegistration
    &[], // 71 GetTelemetrySubscriptions
    &[], // 72 PushTelemetry
    // 73 AssignReplicasToDirs
    &[
        f(0, LAST, Skip, Fixed(4)), // broker_id
        f(0, LAST, Skip, Fixed(8)), // broker_epoch
        f(0, LAST, Skip, First(&[ // directories
            f(0, LAST, Skip, Fixed(16)), // id
            f(0, LAST, Skip, First(&[ // topics
                f(0, LAST, TopicId, Fixed(16)), // topic_id
            ])),
        ])),
    ],
    &[], // 74 ListConfigResources
    // 75 DescribeTopicPartitions
    &[
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // name
        ])),
    ],
    // 76 ShareGroupHeartbeat
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Member, Text), // member_id
    ],
    // 77 ShareGroupDescribe
    &[
        f(0, LAST, Group, Texts), // group_ids
    ],
    // 78 ShareFetch
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Member, Text), // member_id
        f(0, LAST, Skip, Fixed(4)), // share_session_epoch
        f(0, LAST, Skip, Fixed(4)), // max_wait_ms
        f(0, LAST, Skip, Fixed(4)), // min_bytes
        f(0, LAST, Skip, Fixed(4)), // max_bytes
        f(1, LAST, Skip, Fixed(4)), // max_records
        f(1, LAST, Skip, Fixed(4)), // batch_size
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 79 ShareAcknowledge
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Member, Text), // member_id
        f(0, LAST, Skip, Fixed(4)), // share_session_epoch
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    &[], // 80 AddRaftVoter
    &[], // 81 RemoveRaftVoter
    &[], // 82 UpdateRaftVoter
    // 83 InitializeShareGroupState
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 84 ReadShareGroupState
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 85 WriteShareGroupState
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 86 DeleteShareGroupState
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 87 ReadShareGroupStateSummary
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, TopicId, Fixed(16)), // topic_id
        ])),
    ],
    // 88 StreamsGroupHeartbeat
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Member, Text), // member_id
        f(0, LAST, Skip, Fixed(4)), // member_epoch
        f(0, LAST, Skip, Fixed(4)), // endpoint_information_epoch
        f(0, LAST, Skip, Text), // instance_id
        f(0, LAST, Skip, Text), // rack_id
        f(0, LAST, Skip, Fixed(4)), // rebalance_timeout_ms
        f(0, LAST, Skip, First(&[ // topology
            f(0, LAST, Skip, Fixed(4)), // epoch
            f(0, LAST, Skip, First(&[ // subtopologies
                f(0, LAST, Skip, Text), // subtopology_id
                f(0, LAST, Skip, Texts), // source_topics
                f(0, LAST, Skip, Texts), // source_topic_regex
                f(0, LAST, Skip, Structs(&[ // state_changelog_topics
                    f(0, LAST, Topic, Text), // name
                    f(0, LAST, Skip, Fixed(4)), // partitions
                    f(0, LAST, Skip, Fixed(2)), // replication_factor
                    f(0, LAST, Skip, Structs(&[ // topic_configs
                        f(0, LAST, Skip, Text), // key
                        f(0, LAST, Skip, Text), // value
                    ])),
                ])),
                f(0, LAST, Skip, Texts), // repartition_sink_topics
                f(0, LAST, Skip, First(&[ // repartition_source_topics
                    f(0, LAST, Topic, Text), // name
                ])),
            ])),
        ])),
    ],
    // 89 StreamsGroupDescribe
    &[
        f(0, LAST, Group, Texts), // group_ids
    ],
    // 90 DescribeShareGroupOffsets
    &[
        f(0, LAST, Skip, First(&[ // groups
            f(0, LAST, Group, Text), // group_id
            f(0, LAST, Skip, First(&[ // topics
                f(0, LAST, Topic, Text), // topic_name
            ])),
        ])),
    ],
    // 91 AlterShareGroupOffsets
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic_name
        ])),
    ],
    // 92 DeleteShareGroupOffsets
    &[
        f(0, LAST, Group, Text), // group_id
        f(0, LAST, Skip, First(&[ // topics
            f(0, LAST, Topic, Text), // topic_name
        ])),
    ],
];
