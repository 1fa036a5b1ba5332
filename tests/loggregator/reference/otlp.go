package main

import (
	"encoding/hex"
	"log"
	"math"
	"net/url"
	"slices"

	"code.cloudfoundry.org/go-loggregator/v10/rpc/loggregator_v2"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const observed = 1700000000000000001

// The entries of an envelope in OTLP, as fields of their scope.
func entries(e *loggregator_v2.Envelope) []byte {
	var scope proto.Message
	now := uint64(e.GetTimestamp())
	switch m := e.GetMessage().(type) {
	case *loggregator_v2.Envelope_Counter:
		scope = &metrics.ScopeMetrics{Metrics: []*metrics.Metric{{Name: m.Counter.GetName(), Data: &metrics.Metric_Sum{Sum: &metrics.Sum{
			AggregationTemporality: metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true,
			DataPoints: []*metrics.NumberDataPoint{{TimeUnixNano: now, Attributes: attributes(e),
				Value: &metrics.NumberDataPoint_AsInt{AsInt: int64(m.Counter.GetTotal() & math.MaxInt64)}}}}}}}}
	case *loggregator_v2.Envelope_Gauge:
		all := &metrics.ScopeMetrics{}
		for _, name := range keysOf(m.Gauge.GetMetrics()) {
			value := m.Gauge.GetMetrics()[name]
			all.Metrics = append(all.Metrics, &metrics.Metric{Name: name, Unit: value.GetUnit(), Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{
				DataPoints: []*metrics.NumberDataPoint{{TimeUnixNano: now, Attributes: attributes(e),
					Value: &metrics.NumberDataPoint_AsDouble{AsDouble: value.GetValue()}}}}}})
		}
		scope = all
	case *loggregator_v2.Envelope_Log:
		severity := logs.SeverityNumber_SEVERITY_NUMBER_INFO
		if m.Log.GetType() == loggregator_v2.Log_ERR {
			severity = logs.SeverityNumber_SEVERITY_NUMBER_ERROR
		}
		scope = &logs.ScopeLogs{LogRecords: []*logs.LogRecord{{TimeUnixNano: now, ObservedTimeUnixNano: observed, Attributes: attributes(e),
			SeverityNumber: severity, SeverityText: severity.String(), Body: anyText(valid(string(m.Log.GetPayload())))}}}
	case *loggregator_v2.Envelope_Timer:
		traceID, err := hex.DecodeString(e.GetTags()["trace_id"])
		if err != nil || len(traceID) != 16 {
			return nil
		}
		spanID, err := hex.DecodeString(e.GetTags()["span_id"])
		if err != nil || len(spanID) != 8 || e.GetTags()["peer_type"] == "Client" {
			return nil
		}
		name := m.Timer.GetName()
		if uri, ok := e.GetTags()["uri"]; ok {
			if parsed, err := url.Parse(uri); err == nil {
				name = parsed.Path
			}
		}
		kind := trace.Span_SPAN_KIND_INTERNAL
		if e.GetTags()["peer_type"] == "Server" {
			kind = trace.Span_SPAN_KIND_SERVER
		}
		scope = &trace.ScopeSpans{Spans: []*trace.Span{{TraceId: traceID, SpanId: spanID, Name: valid(name), Kind: kind,
			StartTimeUnixNano: uint64(m.Timer.GetStart()), EndTimeUnixNano: uint64(m.Timer.GetStop()), Attributes: attributes(e), Status: &trace.Status{}}}}
	}
	bytes, err := proto.Marshal(scope)
	if err != nil {
		log.Fatal(err)
	}
	return bytes
}

func anyText(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}

func attributes(e *loggregator_v2.Envelope) []*common.KeyValue {
	all := []*common.KeyValue{{Key: "instance_id", Value: anyText(e.GetInstanceId())}, {Key: "source_id", Value: anyText(e.GetSourceId())}}
	for _, key := range keysOf(e.GetTags()) {
		if !slices.Contains([]string{"instance_id", "source_id", "__v1_type", "span_id", "trace_id"}, key) {
			all = append(all, &common.KeyValue{Key: key, Value: anyText(e.GetTags()[key])})
		}
	}
	return all
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
