// An emitter of dropsonde v1 made of the dropsonde client library, as the gorouter and old components use it.
//
// It sends numbered envelopes of the wanted types in turn, at full speed or at a rate. Each has the tags "emitter" (the
// type's name behind the value of -emitter) and "seq" (1, 2, 3 ... within the type), which pass through the conversion to
// v2, so that a receiver can tell what is missing, repeated or out of order. At the end it prints what it sent as JSON.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cloudfoundry/dropsonde/emitter"
	"github.com/cloudfoundry/sonde-go/events"
	"google.golang.org/protobuf/proto"
)

func main() {
	to := flag.String("to", "127.0.0.1:3457", "host:port of the agent")
	count := flag.Int("count", 100_000, "envelopes in all")
	rate := flag.Int("rate", 0, "envelopes per second; 0 is as fast as it goes")
	types := flag.String("types", "value,counter,container,log,http,error", "what to send in turn")
	origin := flag.String("origin", "emitter", "the envelopes' origin")
	name := flag.String("emitter", "v1", "first part of the tag emitter")
	bytes := flag.Int("log-bytes", 200, "bytes of a log message")
	flag.Parse()

	udp, err := emitter.NewUdpEmitter(*to)
	check(err)
	events := emitter.NewEventEmitter(udp, *origin)
	kinds := strings.Split(*types, ",")
	sent := map[string]int{}
	failed := 0
	line := make([]byte, *bytes)
	for i := range line {
		line[i] = 'a' + byte(i%26)
	}
	started := time.Now()
	for i := 0; i < *count; i++ {
		if *rate > 0 {
			// In steps of a millisecond: a sleep is not finer.
			for due := int(time.Since(started).Seconds() * float64(*rate)); i >= due; due = int(time.Since(started).Seconds() * float64(*rate)) {
				time.Sleep(time.Millisecond)
			}
		}
		kind := kinds[i%len(kinds)]
		sent[kind]++
		e := envelope(kind, sent[kind], line)
		e.Origin = origin
		e.Tags = map[string]string{"emitter": *name + "-" + kind, "seq": strconv.Itoa(sent[kind])}
		if err := events.EmitEnvelope(e); err != nil {
			failed++
		}
	}
	elapsed := time.Since(started)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"sent": sent, "total": *count, "failed": failed, "seconds": elapsed.Seconds(),
		"per_second": int(float64(*count) / elapsed.Seconds()),
	}))
}

func envelope(kind string, n int, line []byte) *events.Envelope {
	now := time.Now().UnixNano()
	e := &events.Envelope{
		Timestamp: proto.Int64(now), Deployment: proto.String("cf"), Job: proto.String("router"),
		Index: proto.String("0"), Ip: proto.String("10.0.0.1"),
	}
	switch kind {
	case "value":
		e.EventType = events.Envelope_ValueMetric.Enum()
		e.ValueMetric = &events.ValueMetric{Name: proto.String("latency"), Value: proto.Float64(float64(n) / 8), Unit: proto.String("ms")}
	case "counter":
		e.EventType = events.Envelope_CounterEvent.Enum()
		e.CounterEvent = &events.CounterEvent{Name: proto.String("requests"), Delta: proto.Uint64(1), Total: proto.Uint64(uint64(n))}
	case "container":
		e.EventType = events.Envelope_ContainerMetric.Enum()
		e.ContainerMetric = &events.ContainerMetric{
			ApplicationId: proto.String("app-guid"), InstanceIndex: proto.Int32(3), CpuPercentage: proto.Float64(12.5),
			MemoryBytes: proto.Uint64(1 << 20), DiskBytes: proto.Uint64(1 << 21),
		}
	case "log":
		e.EventType = events.Envelope_LogMessage.Enum()
		e.LogMessage = &events.LogMessage{
			Message: line, MessageType: events.LogMessage_OUT.Enum(), Timestamp: proto.Int64(now),
			AppId: proto.String("app-guid"), SourceType: proto.String("APP/PROC/WEB"), SourceInstance: proto.String("0"),
		}
	case "http":
		e.EventType = events.Envelope_HttpStartStop.Enum()
		e.HttpStartStop = &events.HttpStartStop{
			StartTimestamp: proto.Int64(now - 1_000_000), StopTimestamp: proto.Int64(now),
			RequestId: &events.UUID{Low: proto.Uint64(uint64(n)), High: proto.Uint64(7)},
			PeerType:  events.PeerType_Server.Enum(), Method: events.Method_GET.Enum(),
			Uri: proto.String("http://app.example.com/path?query=1"), RemoteAddress: proto.String("10.1.2.3:45678"),
			UserAgent: proto.String("Mozilla/5.0 (X11; Linux x86_64)"), StatusCode: proto.Int32(200), ContentLength: proto.Int64(512),
			ApplicationId: &events.UUID{Low: proto.Uint64(1), High: proto.Uint64(2)}, InstanceIndex: proto.Int32(1),
			InstanceId: proto.String("instance-guid"), Forwarded: []string{"10.9.8.7"},
		}
	case "error":
		e.EventType = events.Envelope_Error.Enum()
		e.Error = &events.Error{Source: proto.String("source"), Code: proto.Int32(7), Message: proto.String("failed")}
	default:
		check(fmt.Errorf("no type %q", kind))
	}
	return e
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
