package main

import (
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/cloudfoundry/sonde-go/events"
	"google.golang.org/protobuf/proto"
)

// One envelope of each event type as components of Cloud Foundry send them, and a log line of the
// largest size that passes: NAME.v1.bin, and what it becomes in NAME.v2.bin.
func writeVectors(dir string) error {
	router := map[string]string{
		"component": "route-emitter", "instance_id": "2", "process_id": "0967492b-e013-4c4c-8607-e423b5e67ca4",
		"source_id": "0967492b-e013-4c4c-8607-e423b5e67ca4", "space_name": "prod", "organization_name": "shop",
		"process_instance_id": "d5334cfb-a204-47c2-7b9f-8d42",
	}
	vectors := map[string]*events.Envelope{
		"http_start_stop": {
			Origin: proto.String("gorouter"), EventType: events.Envelope_HttpStartStop.Enum(),
			Timestamp: proto.Int64(1745398018763910970), Tags: router,
			HttpStartStop: &events.HttpStartStop{
				StartTimestamp: proto.Int64(1745398018756613328), StopTimestamp: proto.Int64(1745398018763910970),
				RequestId: &events.UUID{Low: proto.Uint64(0xf14224989b882d57), High: proto.Uint64(0xe2a7a7b6f2ce3870)},
				PeerType:  events.PeerType_Server.Enum(), Method: events.Method_GET.Enum(),
				Uri: proto.String("http://shop.example.com/cart"), RemoteAddress: proto.String("10.0.16.4:44156"),
				UserAgent: proto.String("Mozilla/5.0 (X11; Linux x86_64)"), StatusCode: proto.Int32(200),
				ContentLength: proto.Int64(1273),
				ApplicationId: &events.UUID{Low: proto.Uint64(0x4c4c13e02b496709), High: proto.Uint64(0xa47ce6b523e40786)},
				InstanceId:    proto.String("d5334cfb-a204-47c2-7b9f-8d42"), Forwarded: []string{"203.0.113.7", "10.0.0.9"},
			},
		},
		"log_message": {
			Origin: proto.String("rep"), EventType: events.Envelope_LogMessage.Enum(), Timestamp: proto.Int64(1745398018763910970),
			Deployment: proto.String("cf"), Job: proto.String("diego-cell"), Index: proto.String("09b2820c-76fc-4e22-be43-ceeb8b54b477"),
			Ip: proto.String("10.0.16.20"), LogMessage: logLine(1024),
		},
		"log_60k": {
			Origin: proto.String("rep"), EventType: events.Envelope_LogMessage.Enum(), Timestamp: proto.Int64(1745398018763910970),
			LogMessage: logLine(60_000),
		},
		"value_metric": {
			Origin: proto.String("gorouter"), EventType: events.Envelope_ValueMetric.Enum(), Timestamp: proto.Int64(1745398018763910970),
			Tags:        map[string]string{"source_id": "gorouter", "instance_id": "09b2820c-76fc-4e22-be43-ceeb8b54b477"},
			ValueMetric: &events.ValueMetric{Name: proto.String("latency"), Value: proto.Float64(7.297642), Unit: proto.String("ms")},
		},
		"counter_event": {
			Origin: proto.String("gorouter"), EventType: events.Envelope_CounterEvent.Enum(), Timestamp: proto.Int64(1745398018763910970),
			Tags:         map[string]string{"source_id": "gorouter", "instance_id": "09b2820c-76fc-4e22-be43-ceeb8b54b477"},
			CounterEvent: &events.CounterEvent{Name: proto.String("total_requests"), Delta: proto.Uint64(1)},
		},
		"error": {
			Origin: proto.String("a component"), EventType: events.Envelope_Error.Enum(), Timestamp: proto.Int64(1745398018763910970),
			Error: &events.Error{Source: proto.String("auth"), Code: proto.Int32(-7), Message: proto.String("no such key")},
		},
		"container_metric": {
			Origin: proto.String("rep"), EventType: events.Envelope_ContainerMetric.Enum(), Timestamp: proto.Int64(1745398018763910970),
			ContainerMetric: &events.ContainerMetric{ApplicationId: proto.String("0967492b-e013-4c4c-8607-e423b5e67ca4"),
				InstanceIndex: proto.Int32(3), CpuPercentage: proto.Float64(12.5), MemoryBytes: proto.Uint64(73_400_320),
				DiskBytes: proto.Uint64(135_266_304), MemoryBytesQuota: proto.Uint64(268_435_456), DiskBytesQuota: proto.Uint64(1_073_741_824)},
		},
	}
	for name, envelope := range vectors {
		v1, err := proto.MarshalOptions{Deterministic: true}.Marshal(envelope)
		if err != nil {
			return err
		}
		verdict, v2, _, _ := reference(v1)
		if verdict != 1 {
			log.Fatalf("%s is refused", name)
		}
		for suffix, bytes := range map[string][]byte{".v1.bin": v1, ".v2.bin": v2} {
			if err := os.WriteFile(filepath.Join(dir, name+suffix), bytes, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func logLine(size int) *events.LogMessage {
	line := strings.Repeat("GET /cart HTTP/1.1 200 1273 shop.example.com ", size/45+1)[:size]
	return &events.LogMessage{Message: []byte(line), MessageType: events.LogMessage_OUT.Enum(),
		Timestamp: proto.Int64(1745398018763910000), AppId: proto.String("0967492b-e013-4c4c-8607-e423b5e67ca4"),
		SourceType: proto.String("APP/PROC/WEB"), SourceInstance: proto.String("2")}
}
