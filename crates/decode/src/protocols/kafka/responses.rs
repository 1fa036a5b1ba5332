//! The fields of responses up to the last one that a row needs, by API key and version.
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
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, 12, Skip, Text), // name
            f(13, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partition_responses
                f(0, LAST, Skip, Fixed(4)), // index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(8)), // base_offset
                f(2, LAST, Skip, Fixed(8)), // log_append_time_ms
                f(5, LAST, Skip, Fixed(8)), // log_start_offset
                f(8, LAST, Skip, Structs(&[ // record_errors
                    f(8, LAST, Skip, Fixed(4)), // batch_index
                    f(8, LAST, Skip, Text), // batch_index_error_message
                ])),
                f(8, LAST, Why, Text), // error_message
            ])),
        ])),
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
    ],
    // 1 Fetch
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(7, LAST, Error, Fixed(2)), // error_code
        f(7, LAST, Skip, Fixed(4)), // session_id
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, 12, Skip, Text), // topic
            f(13, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(8)), // high_watermark
                f(4, LAST, Skip, Fixed(8)), // last_stable_offset
                f(5, LAST, Skip, Fixed(8)), // log_start_offset
                f(4, LAST, Skip, Structs(&[ // aborted_transactions
                    f(4, LAST, Skip, Fixed(8)), // producer_id
                    f(4, LAST, Skip, Fixed(8)), // first_offset
                ])),
                f(11, LAST, Skip, Fixed(4)), // preferred_read_replica
                f(0, LAST, Skip, Bytes), // records
            ])),
        ])),
    ],
    // 2 ListOffsets
    &[
        f(2, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, 0, Skip, Fixeds(8)), // old_style_offsets
                f(1, LAST, Skip, Fixed(8)), // timestamp
                f(1, LAST, Skip, Fixed(8)), // offset
                f(4, LAST, Skip, Fixed(4)), // leader_epoch
            ])),
        ])),
    ],
    // 3 Metadata
    &[
        f(3, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // brokers
            f(0, LAST, Skip, Fixed(4)), // node_id
            f(0, LAST, Skip, Text), // host
            f(0, LAST, Skip, Fixed(4)), // port
            f(1, LAST, Skip, Text), // rack
        ])),
        f(2, LAST, Skip, Text), // cluster_id
        f(1, LAST, Skip, Fixed(4)), // controller_id
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Topic, Text), // name
            f(10, LAST, TopicId, Fixed(16)), // topic_id
            f(1, LAST, Skip, Fixed(1)), // is_internal
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Skip, Fixed(4)), // leader_id
                f(7, LAST, Skip, Fixed(4)), // leader_epoch
                f(0, LAST, Skip, Fixeds(4)), // replica_nodes
                f(0, LAST, Skip, Fixeds(4)), // isr_nodes
                f(5, LAST, Skip, Fixeds(4)), // offline_replicas
            ])),
            f(8, LAST, Skip, Fixed(4)), // topic_authorized_operations
        ])),
        f(8, 10, Skip, Fixed(4)), // cluster_authorized_operations
        f(13, LAST, Error, Fixed(2)), // error_code
    ],
    // 4 LeaderAndIsr
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, 4, Skip, Structs(&[ // partition_errors
            f(0, 4, Skip, Text), // topic_name
            f(0, 4, Skip, Fixed(4)), // partition_index
            f(0, 4, Error, Fixed(2)), // error_code
        ])),
        f(5, LAST, Skip, Structs(&[ // topics
            f(5, LAST, Skip, Fixed(16)), // topic_id
            f(5, LAST, Skip, Structs(&[ // partition_errors
                f(5, LAST, Skip, Fixed(4)), // partition_index
                f(5, LAST, Error, Fixed(2)), // error_code
            ])),
        ])),
    ],
    // 5 StopReplica
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // partition_errors
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Fixed(4)), // partition_index
            f(0, LAST, Error, Fixed(2)), // error_code
        ])),
    ],
    // 6 UpdateMetadata
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 7 ControlledShutdown
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 8 OffsetCommit
    &[
        f(3, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, 9, Skip, Text), // name
            f(10, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
            ])),
        ])),
    ],
    // 9 OffsetFetch
    &[
        f(3, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, 7, Skip, Structs(&[ // topics
            f(0, 7, Skip, Text), // name
            f(0, 7, Skip, Structs(&[ // partitions
                f(0, 7, Skip, Fixed(4)), // partition_index
                f(0, 7, Skip, Fixed(8)), // committed_offset
                f(5, 7, Skip, Fixed(4)), // committed_leader_epoch
                f(0, 7, Skip, Text), // metadata
                f(0, 7, Error, Fixed(2)), // error_code
            ])),
        ])),
        f(2, 7, Error, Fixed(2)), // error_code
        f(8, LAST, Skip, Structs(&[ // groups
            f(8, LAST, Skip, Text), // group_id
            f(8, LAST, Skip, Structs(&[ // topics
                f(8, 9, Skip, Text), // name
                f(10, LAST, Skip, Fixed(16)), // topic_id
                f(8, LAST, Skip, Structs(&[ // partitions
                    f(8, LAST, Skip, Fixed(4)), // partition_index
                    f(8, LAST, Skip, Fixed(8)), // committed_offset
                    f(8, LAST, Skip, Fixed(4)), // committed_leader_epoch
                    f(8, LAST, Skip, Text), // metadata
                    f(8, LAST, Error, Fixed(2)), // error_code
                ])),
            ])),
            f(8, LAST, Error, Fixed(2)), // error_code
        ])),
    ],
    // 10 FindCoordinator
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, 3, Error, Fixed(2)), // error_code
        f(1, 3, Why, Text), // error_message
        f(0, 3, Skip, Fixed(4)), // node_id
        f(0, 3, Skip, Text), // host
        f(0, 3, Skip, Fixed(4)), // port
        f(4, LAST, Skip, Structs(&[ // coordinators
            f(4, LAST, Skip, Text), // key
            f(4, LAST, Skip, Fixed(4)), // node_id
            f(4, LAST, Skip, Text), // host
            f(4, LAST, Skip, Fixed(4)), // port
            f(4, LAST, Error, Fixed(2)), // error_code
            f(4, LAST, Why, Text), // error_message
        ])),
    ],
    // 11 JoinGroup
    &[
        f(2, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 12 Heartbeat
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 13 LeaveGroup
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(3, LAST, Skip, Structs(&[ // members
            f(3, LAST, Skip, Text), // member_id
            f(3, LAST, Skip, Text), // group_instance_id
            f(3, LAST, Error, Fixed(2)), // error_code
        ])),
    ],
    // 14 SyncGroup
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 15 DescribeGroups
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // groups
            f(0, LAST, Error, Fixed(2)), // error_code
            f(6, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Text), // group_id
            f(0, LAST, Skip, Text), // group_state
            f(0, LAST, Skip, Text), // protocol_type
            f(0, LAST, Skip, Text), // protocol_data
            f(0, LAST, Skip, Structs(&[ // members
                f(0, LAST, Skip, Text), // member_id
                f(4, LAST, Skip, Text), // group_instance_id
                f(0, LAST, Skip, Text), // client_id
                f(0, LAST, Skip, Text), // client_host
                f(0, LAST, Skip, Bytes), // member_metadata
                f(0, LAST, Skip, Bytes), // member_assignment
            ])),
            f(3, LAST, Skip, Fixed(4)), // authorized_operations
        ])),
    ],
    // 16 ListGroups
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 17 SaslHandshake
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 18 ApiVersions
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // api_keys
            f(0, LAST, Skip, Fixed(2)), // api_key
            f(0, LAST, Skip, Fixed(2)), // min_version
            f(0, LAST, Skip, Fixed(2)), // max_version
        ])),
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
    ],
    // 19 CreateTopics
    &[
        f(2, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Topic, Text), // name
            f(7, LAST, TopicId, Fixed(16)), // topic_id
            f(0, LAST, Error, Fixed(2)), // error_code
            f(1, LAST, Why, Text), // error_message
            f(5, LAST, Skip, Fixed(4)), // num_partitions
            f(5, LAST, Skip, Fixed(2)), // replication_factor
            f(5, LAST, Skip, Structs(&[ // configs
                f(5, LAST, Skip, Text), // name
                f(5, LAST, Skip, Text), // value
                f(5, LAST, Skip, Fixed(1)), // read_only
                f(5, LAST, Skip, Fixed(1)), // config_source
                f(5, LAST, Skip, Fixed(1)), // is_sensitive
            ])),
        ])),
    ],
    // 20 DeleteTopics
    &[
        f(1, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Skip, Text), // name
            f(6, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Error, Fixed(2)), // error_code
            f(5, LAST, Why, Text), // error_message
        ])),
    ],
    // 21 DeleteRecords
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Skip, Fixed(8)), // low_watermark
                f(0, LAST, Error, Fixed(2)), // error_code
            ])),
        ])),
    ],
    // 22 InitProducerId
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 23 OffsetForLeaderEpoch
    &[
        f(2, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // topic
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(4)), // partition
                f(1, LAST, Skip, Fixed(4)), // leader_epoch
                f(0, LAST, Skip, Fixed(8)), // end_offset
            ])),
        ])),
    ],
    // 24 AddPartitionsToTxn
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, 3, Skip, Structs(&[ // results_by_topic_v3_and_below
            f(0, 3, Skip, Text), // name
            f(0, 3, Skip, Structs(&[ // results_by_partition
                f(0, 3, Skip, Fixed(4)), // partition_index
                f(0, 3, Error, Fixed(2)), // partition_error_code
            ])),
        ])),
        f(4, LAST, Error, Fixed(2)), // error_code
        f(4, LAST, Skip, Structs(&[ // results_by_transaction
            f(4, LAST, Skip, Text), // transactional_id
            f(4, LAST, Skip, Structs(&[ // topic_results
                f(4, LAST, Skip, Text), // name
                f(4, LAST, Skip, Structs(&[ // results_by_partition
                    f(4, LAST, Skip, Fixed(4)), // partition_index
                    f(4, LAST, Error, Fixed(2)), // partition_error_code
                ])),
            ])),
        ])),
    ],
    // 25 AddOffsetsToTxn
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 26 EndTxn
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 27 WriteTxnMarkers
    &[
        f(0, LAST, Skip, Structs(&[ // markers
            f(0, LAST, Skip, Fixed(8)), // producer_id
            f(0, LAST, Skip, Structs(&[ // topics
                f(0, LAST, Skip, Text), // name
                f(0, LAST, Skip, Structs(&[ // partitions
                    f(0, LAST, Skip, Fixed(4)), // partition_index
                    f(0, LAST, Error, Fixed(2)), // error_code
                ])),
            ])),
        ])),
    ],
    // 28 TxnOffsetCommit
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
            ])),
        ])),
    ],
    // 29 DescribeAcls
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 30 CreateAcls
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
        ])),
    ],
    // 31 DeleteAcls
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // filter_results
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Structs(&[ // matching_acls
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
                f(0, LAST, Skip, Fixed(1)), // resource_type
                f(0, LAST, Skip, Text), // resource_name
                f(1, LAST, Skip, Fixed(1)), // pattern_type
                f(0, LAST, Skip, Text), // principal
                f(0, LAST, Skip, Text), // host
                f(0, LAST, Skip, Fixed(1)), // operation
                f(0, LAST, Skip, Fixed(1)), // permission_type
            ])),
        ])),
    ],
    // 32 DescribeConfigs
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Fixed(1)), // resource_type
            f(0, LAST, Skip, Text), // resource_name
            f(0, LAST, Skip, Structs(&[ // configs
                f(0, LAST, Skip, Text), // name
                f(0, LAST, Skip, Text), // value
                f(0, LAST, Skip, Fixed(1)), // read_only
                f(0, 0, Skip, Fixed(1)), // is_default
                f(1, LAST, Skip, Fixed(1)), // config_source
                f(0, LAST, Skip, Fixed(1)), // is_sensitive
                f(1, LAST, Skip, Structs(&[ // synonyms
                    f(1, LAST, Skip, Text), // name
                    f(1, LAST, Skip, Text), // value
                    f(1, LAST, Skip, Fixed(1)), // source
                ])),
                f(3, LAST, Skip, Fixed(1)), // config_type
                f(3, LAST, Skip, Text), // documentation
            ])),
        ])),
    ],
    // 33 AlterConfigs
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Fixed(1)), // resource_type
            f(0, LAST, Skip, Text), // resource_name
        ])),
    ],
    // 34 AlterReplicaLogDirs
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
            ])),
        ])),
    ],
    // 35 DescribeLogDirs
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(3, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Skip, Text), // log_dir
            f(0, LAST, Skip, Structs(&[ // topics
                f(0, LAST, Skip, Text), // name
                f(0, LAST, Skip, Structs(&[ // partitions
                    f(0, LAST, Skip, Fixed(4)), // partition_index
                    f(0, LAST, Skip, Fixed(8)), // partition_size
                    f(0, LAST, Skip, Fixed(8)), // offset_lag
                    f(0, LAST, Skip, Fixed(1)), // is_future_key
                ])),
            ])),
            f(4, LAST, Skip, Fixed(8)), // total_bytes
            f(4, LAST, Skip, Fixed(8)), // usable_bytes
        ])),
    ],
    // 36 SaslAuthenticate
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 37 CreatePartitions
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
        ])),
    ],
    // 38 CreateDelegationToken
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Text), // principal_type
        f(0, LAST, Skip, Text), // principal_name
        f(3, LAST, Skip, Text), // token_requester_principal_type
        f(3, LAST, Skip, Text), // token_requester_principal_name
        f(0, LAST, Skip, Fixed(8)), // issue_timestamp_ms
        f(0, LAST, Skip, Fixed(8)), // expiry_timestamp_ms
        f(0, LAST, Skip, Fixed(8)), // max_timestamp_ms
        f(0, LAST, Skip, Text), // token_id
        f(0, LAST, Skip, Bytes), // hmac
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
    ],
    // 39 RenewDelegationToken
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Fixed(8)), // expiry_timestamp_ms
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
    ],
    // 40 ExpireDelegationToken
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Fixed(8)), // expiry_timestamp_ms
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
    ],
    // 41 DescribeDelegationToken
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // tokens
            f(0, LAST, Skip, Text), // principal_type
            f(0, LAST, Skip, Text), // principal_name
            f(3, LAST, Skip, Text), // token_requester_principal_type
            f(3, LAST, Skip, Text), // token_requester_principal_name
            f(0, LAST, Skip, Fixed(8)), // issue_timestamp
            f(0, LAST, Skip, Fixed(8)), // expiry_timestamp
            f(0, LAST, Skip, Fixed(8)), // max_timestamp
            f(0, LAST, Skip, Text), // token_id
            f(0, LAST, Skip, Bytes), // hmac
            f(0, LAST, Skip, Structs(&[ // renewers
                f(0, LAST, Skip, Text), // principal_type
                f(0, LAST, Skip, Text), // principal_name
            ])),
        ])),
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
    ],
    // 42 DeleteGroups
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Text), // group_id
            f(0, LAST, Error, Fixed(2)), // error_code
        ])),
    ],
    // 43 ElectLeaders
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(1, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // replica_election_results
            f(0, LAST, Skip, Text), // topic
            f(0, LAST, Skip, Structs(&[ // partition_result
                f(0, LAST, Skip, Fixed(4)), // partition_id
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
            ])),
        ])),
    ],
    // 44 IncrementalAlterConfigs
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Fixed(1)), // resource_type
            f(0, LAST, Skip, Text), // resource_name
        ])),
    ],
    // 45 AlterPartitionReassignments
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(1, LAST, Skip, Fixed(1)), // allow_replication_factor_change
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
            ])),
        ])),
    ],
    // 46 ListPartitionReassignments
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 47 OffsetDelete
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
            ])),
        ])),
    ],
    // 48 DescribeClientQuotas
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 49 AlterClientQuotas
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // entries
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Structs(&[ // entity
                f(0, LAST, Skip, Text), // entity_type
                f(0, LAST, Skip, Text), // entity_name
            ])),
        ])),
    ],
    // 50 DescribeUserScramCredentials
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Text), // user
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Structs(&[ // credential_infos
                f(0, LAST, Skip, Fixed(1)), // mechanism
                f(0, LAST, Skip, Fixed(4)), // iterations
            ])),
        ])),
    ],
    // 51 AlterUserScramCredentials
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Text), // user
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
        ])),
    ],
    // 52 Vote
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(4)), // leader_id
                f(0, LAST, Skip, Fixed(4)), // leader_epoch
                f(0, LAST, Skip, Fixed(1)), // vote_granted
            ])),
        ])),
    ],
    // 53 BeginQuorumEpoch
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(4)), // leader_id
                f(0, LAST, Skip, Fixed(4)), // leader_epoch
            ])),
        ])),
    ],
    // 54 EndQuorumEpoch
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(4)), // leader_id
                f(0, LAST, Skip, Fixed(4)), // leader_epoch
            ])),
        ])),
    ],
    // 55 DescribeQuorum
    &[
        f(0, LAST, Error, Fixed(2)), // error_code
        f(2, LAST, Why, Text), // error_message
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(2, LAST, Why, Text), // error_message
                f(0, LAST, Skip, Fixed(4)), // leader_id
                f(0, LAST, Skip, Fixed(4)), // leader_epoch
                f(0, LAST, Skip, Fixed(8)), // high_watermark
                f(0, LAST, Skip, Structs(&[ // current_voters
                    f(0, LAST, Skip, Fixed(4)), // replica_id
                    f(2, LAST, Skip, Fixed(16)), // replica_directory_id
                    f(0, LAST, Skip, Fixed(8)), // log_end_offset
                    f(1, LAST, Skip, Fixed(8)), // last_fetch_timestamp
                    f(1, LAST, Skip, Fixed(8)), // last_caught_up_timestamp
                ])),
                f(0, LAST, Skip, Structs(&[ // observers
                    f(0, LAST, Skip, Fixed(4)), // replica_id
                    f(2, LAST, Skip, Fixed(16)), // replica_directory_id
                    f(0, LAST, Skip, Fixed(8)), // log_end_offset
                    f(1, LAST, Skip, Fixed(8)), // last_fetch_timestamp
                    f(1, LAST, Skip, Fixed(8)), // last_caught_up_timestamp
                ])),
            ])),
        ])),
    ],
    // 56 AlterPartition
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, 1, Skip, Text), // topic_name
            f(2, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(4)), // leader_id
                f(0, LAST, Skip, Fixed(4)), // leader_epoch
                f(0, LAST, Skip, Fixeds(4)), // isr
                f(1, LAST, Skip, Fixed(1)), // leader_recovery_state
                f(0, LAST, Skip, Fixed(4)), // partition_epoch
            ])),
        ])),
    ],
    // 57 UpdateFeatures
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
        f(0, 1, Skip, Structs(&[ // results
            f(0, 1, Skip, Text), // feature
            f(0, 1, Error, Fixed(2)), // error_code
            f(0, 1, Why, Text), // error_message
        ])),
    ],
    // 58 Envelope
    &[
        f(0, LAST, Skip, Bytes), // response_data
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 59 FetchSnapshot
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Struct(&[ // snapshot_id
                    f(0, LAST, Skip, Fixed(8)), // end_offset
                    f(0, LAST, Skip, Fixed(4)), // epoch
                ])),
                f(0, LAST, Skip, Fixed(8)), // size
                f(0, LAST, Skip, Fixed(8)), // position
                f(0, LAST, Skip, Bytes), // unaligned_records
            ])),
        ])),
    ],
    // 60 DescribeCluster
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 61 DescribeProducers
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Skip, Text), // name
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
                f(0, LAST, Skip, Structs(&[ // active_producers
                    f(0, LAST, Skip, Fixed(8)), // producer_id
                    f(0, LAST, Skip, Fixed(4)), // producer_epoch
                    f(0, LAST, Skip, Fixed(4)), // last_sequence
                    f(0, LAST, Skip, Fixed(8)), // last_timestamp
                    f(0, LAST, Skip, Fixed(4)), // coordinator_epoch
                    f(0, LAST, Skip, Fixed(8)), // current_txn_start_offset
                ])),
            ])),
        ])),
    ],
    // 62 BrokerRegistration
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 63 BrokerHeartbeat
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 64 UnregisterBroker
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 65 DescribeTransactions
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // transaction_states
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Skip, Text), // transactional_id
            f(0, LAST, Skip, Text), // transaction_state
            f(0, LAST, Skip, Fixed(4)), // transaction_timeout_ms
            f(0, LAST, Skip, Fixed(8)), // transaction_start_time_ms
            f(0, LAST, Skip, Fixed(8)), // producer_id
            f(0, LAST, Skip, Fixed(2)), // producer_epoch
            f(0, LAST, Skip, Structs(&[ // topics
                f(0, LAST, Skip, Text), // topic
                f(0, LAST, Skip, Fixeds(4)), // partitions
            ])),
        ])),
    ],
    // 66 ListTransactions
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 67 AllocateProducerIds
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 68 ConsumerGroupHeartbeat
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 69 ConsumerGroupDescribe
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // groups
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Text), // group_id
            f(0, LAST, Skip, Text), // group_state
            f(0, LAST, Skip, Fixed(4)), // group_epoch
            f(0, LAST, Skip, Fixed(4)), // assignment_epoch
            f(0, LAST, Skip, Text), // assignor_name
            f(0, LAST, Skip, Structs(&[ // members
                f(0, LAST, Skip, Text), // member_id
                f(0, LAST, Skip, Text), // instance_id
                f(0, LAST, Skip, Text), // rack_id
                f(0, LAST, Skip, Fixed(4)), // member_epoch
                f(0, LAST, Skip, Text), // client_id
                f(0, LAST, Skip, Text), // client_host
                f(0, LAST, Skip, Texts), // subscribed_topic_names
                f(0, LAST, Skip, Text), // subscribed_topic_regex
                f(0, LAST, Skip, Struct(&[ // assignment
                    f(0, LAST, Skip, Structs(&[ // topic_partitions
                        f(0, LAST, Skip, Fixed(16)), // topic_id
                        f(0, LAST, Skip, Text), // topic_name
                        f(0, LAST, Skip, Fixeds(4)), // partitions
                    ])),
                ])),
                f(0, LAST, Skip, Struct(&[ // target_assignment
                    f(0, LAST, Skip, Structs(&[ // topic_partitions
                        f(0, LAST, Skip, Fixed(16)), // topic_id
                        f(0, LAST, Skip, Text), // topic_name
                        f(0, LAST, Skip, Fixeds(4)), // partitions
                    ])),
                ])),
                f(1, LAST, Skip, Fixed(1)), // member_type
            ])),
            f(0, LAST, Skip, Fixed(4)), // authorized_operations
        ])),
    ],
    // 70 ControllerRegistration
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 71 GetTelemetrySubscriptions
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 72 PushTelemetry
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 73 AssignReplicasToDirs
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Skip, Structs(&[ // directories
            f(0, LAST, Skip, Fixed(16)), // id
            f(0, LAST, Skip, Structs(&[ // topics
                f(0, LAST, Skip, Fixed(16)), // topic_id
                f(0, LAST, Skip, Structs(&[ // partitions
                    f(0, LAST, Skip, Fixed(4)), // partition_index
                    f(0, LAST, Error, Fixed(2)), // error_code
                ])),
            ])),
        ])),
    ],
    // 74 ListConfigResources
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 75 DescribeTopicPartitions
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // topics
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Topic, Text), // name
            f(0, LAST, TopicId, Fixed(16)), // topic_id
            f(0, LAST, Skip, Fixed(1)), // is_internal
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Skip, Fixed(4)), // leader_id
                f(0, LAST, Skip, Fixed(4)), // leader_epoch
                f(0, LAST, Skip, Fixeds(4)), // replica_nodes
                f(0, LAST, Skip, Fixeds(4)), // isr_nodes
                f(0, LAST, Skip, Fixeds(4)), // eligible_leader_replicas
                f(0, LAST, Skip, Fixeds(4)), // last_known_elr
                f(0, LAST, Skip, Fixeds(4)), // offline_replicas
            ])),
            f(0, LAST, Skip, Fixed(4)), // topic_authorized_operations
        ])),
    ],
    // 76 ShareGroupHeartbeat
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 77 ShareGroupDescribe
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // groups
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
            f(0, LAST, Skip, Text), // group_id
            f(0, LAST, Skip, Text), // group_state
            f(0, LAST, Skip, Fixed(4)), // group_epoch
            f(0, LAST, Skip, Fixed(4)), // assignment_epoch
            f(0, LAST, Skip, Text), // assignor_name
            f(0, LAST, Skip, Structs(&[ // members
                f(0, LAST, Skip, Text), // member_id
                f(0, LAST, Skip, Text), // rack_id
                f(0, LAST, Skip, Fixed(4)), // member_epoch
                f(0, LAST, Skip, Text), // client_id
                f(0, LAST, Skip, Text), // client_host
                f(0, LAST, Skip, Texts), // subscribed_topic_names
                f(0, LAST, Skip, Struct(&[ // assignment
                    f(0, LAST, Skip, Structs(&[ // topic_partitions
                        f(0, LAST, Skip, Fixed(16)), // topic_id
                        f(0, LAST, Skip, Text), // topic_name
                        f(0, LAST, Skip, Fixeds(4)), // partitions
                    ])),
                ])),
            ])),
            f(0, LAST, Skip, Fixed(4)), // authorized_operations
        ])),
    ],
    // 78 ShareFetch
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
        f(1, LAST, Skip, Fixed(4)), // acquisition_lock_timeout_ms
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
                f(0, LAST, Skip, Fixed(2)), // acknowledge_error_code
                f(0, LAST, Skip, Text), // acknowledge_error_message
                f(0, LAST, Skip, Struct(&[ // current_leader
                    f(0, LAST, Skip, Fixed(4)), // leader_id
                    f(0, LAST, Skip, Fixed(4)), // leader_epoch
                ])),
                f(0, LAST, Skip, Bytes), // records
                f(0, LAST, Skip, Structs(&[ // acquired_records
                    f(0, LAST, Skip, Fixed(8)), // first_offset
                    f(0, LAST, Skip, Fixed(8)), // last_offset
                    f(0, LAST, Skip, Fixed(2)), // delivery_count
                ])),
            ])),
        ])),
    ],
    // 79 ShareAcknowledge
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
                f(0, LAST, Skip, Struct(&[ // current_leader
                    f(0, LAST, Skip, Fixed(4)), // leader_id
                    f(0, LAST, Skip, Fixed(4)), // leader_epoch
                ])),
            ])),
        ])),
    ],
    // 80 AddRaftVoter
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 81 RemoveRaftVoter
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 82 UpdateRaftVoter
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
    ],
    // 83 InitializeShareGroupState
    &[
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
            ])),
        ])),
    ],
    // 84 ReadShareGroupState
    &[
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
                f(0, LAST, Skip, Fixed(4)), // state_epoch
                f(0, LAST, Skip, Fixed(8)), // start_offset
                f(0, LAST, Skip, Structs(&[ // state_batches
                    f(0, LAST, Skip, Fixed(8)), // first_offset
                    f(0, LAST, Skip, Fixed(8)), // last_offset
                    f(0, LAST, Skip, Fixed(1)), // delivery_state
                    f(0, LAST, Skip, Fixed(2)), // delivery_count
                ])),
            ])),
        ])),
    ],
    // 85 WriteShareGroupState
    &[
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
            ])),
        ])),
    ],
    // 86 DeleteShareGroupState
    &[
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
            ])),
        ])),
    ],
    // 87 ReadShareGroupStateSummary
    &[
        f(0, LAST, Skip, Structs(&[ // results
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
                f(0, LAST, Skip, Fixed(4)), // state_epoch
                f(0, LAST, Skip, Fixed(4)), // leader_epoch
                f(0, LAST, Skip, Fixed(8)), // start_offset
            ])),
        ])),
    ],
    // 88 StreamsGroupHeartbeat
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
    ],
    // 89 StreamsGroupDescribe
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, First(&[ // groups
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
        ])),
    ],
    // 90 DescribeShareGroupOffsets
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Skip, Structs(&[ // groups
            f(0, LAST, Skip, Text), // group_id
            f(0, LAST, Skip, Structs(&[ // topics
                f(0, LAST, Skip, Text), // topic_name
                f(0, LAST, Skip, Fixed(16)), // topic_id
                f(0, LAST, Skip, Structs(&[ // partitions
                    f(0, LAST, Skip, Fixed(4)), // partition_index
                    f(0, LAST, Skip, Fixed(8)), // start_offset
                    f(0, LAST, Skip, Fixed(4)), // leader_epoch
                    f(0, LAST, Error, Fixed(2)), // error_code
                    f(0, LAST, Why, Text), // error_message
                ])),
            ])),
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
        ])),
    ],
    // 91 AlterShareGroupOffsets
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Skip, Structs(&[ // partitions
                f(0, LAST, Skip, Fixed(4)), // partition_index
                f(0, LAST, Error, Fixed(2)), // error_code
                f(0, LAST, Why, Text), // error_message
            ])),
        ])),
    ],
    // 92 DeleteShareGroupOffsets
    &[
        f(0, LAST, Throttle, Fixed(4)), // throttle_time_ms
        f(0, LAST, Error, Fixed(2)), // error_code
        f(0, LAST, Why, Text), // error_message
        f(0, LAST, Skip, Structs(&[ // responses
            f(0, LAST, Skip, Text), // topic_name
            f(0, LAST, Skip, Fixed(16)), // topic_id
            f(0, LAST, Error, Fixed(2)), // error_code
            f(0, LAST, Why, Text), // error_message
        ])),
    ],
];
