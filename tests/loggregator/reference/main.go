// What the Go libraries make of dropsonde envelopes: the reference for crates/envelope.
//
//	go run . [-n COUNT] [-seed SEED] FILE
//	go run . -vectors FOLDER
//
// writes COUNT envelopes of version 1 to FILE (packed, where its name ends in .gz), as many event types, absent, repeated, unknown and
// damaged fields as chance gives, each with what protobuf-go and go-loggregator make of it. The format
// of FILE, all numbers 32 bits and little-endian: for each envelope a verdict (0 refused, 1 taken, 2
// taken with texts repaired, as proto.Marshal refuses them), then the length and the bytes of the
// envelope, of its version 2, of its entries of OTLP, and a count of envelopes of version 1 that this
// one becomes again, each as length and bytes. The second form writes the vectors that are named.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"log"
	"math"
	"math/rand"
	"os"
	"sort"
	"strings"

	"code.cloudfoundry.org/go-loggregator/v10/conversion"
	"code.cloudfoundry.org/go-loggregator/v10/rpc/loggregator_v2"
	"github.com/cloudfoundry/sonde-go/events"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func main() {
	count := flag.Int("n", 800, "number of envelopes")
	seed := flag.Int64("seed", 1, "seed of the generator")
	vectors := flag.Bool("vectors", false, "write one envelope of each event type to the folder FILE instead")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: reference [-n COUNT] [-seed SEED] FILE")
	}
	if *vectors {
		if err := writeVectors(flag.Arg(0)); err != nil {
			log.Fatal(err)
		}
		return
	}
	g := generator{rand.New(rand.NewSource(*seed))}
	var out []byte
	verdicts := [3]int{}
	for range *count {
		v1 := g.datagram()
		verdict, v2, otlp, back := reference(v1)
		verdicts[verdict]++
		out = binary.LittleEndian.AppendUint32(out, uint32(verdict))
		out = field(out, v1)
		if verdict == 0 {
			continue
		}
		out = field(out, v2)
		out = field(out, otlp)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(back)))
		for _, one := range back {
			out = field(out, one)
		}
	}
	if strings.HasSuffix(flag.Arg(0), ".gz") {
		var packed bytes.Buffer
		writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if _, err := writer.Write(out); err != nil {
			log.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			log.Fatal(err)
		}
		out = packed.Bytes()
	}
	if err := os.WriteFile(flag.Arg(0), out, 0o644); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d refused, %d taken, %d taken with texts repaired", verdicts[0], verdicts[1], verdicts[2])
}

func field(out, bytes []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(bytes))), bytes...)
}

// The way of a datagram through the udp-forwarder: unmarshaller, tagger, conversion.
func reference(v1 []byte) (int, []byte, []byte, [][]byte) {
	e := new(events.Envelope)
	if proto.Unmarshal(v1, e) != nil || !hasBody(e) {
		return 0, nil, nil, nil
	}
	if e.GetTags()["source_id"] == "" {
		if e.Tags == nil {
			e.Tags = map[string]string{}
		}
		e.Tags["source_id"] = e.GetOrigin()
	}
	for _, set := range []struct {
		field **string
		value string
	}{{&e.Deployment, "a deployment"}, {&e.Job, "a job"}, {&e.Index, "an index"}, {&e.Ip, "10.0.0.1"}} {
		if *set.field == nil {
			*set.field = proto.String(set.value)
		}
	}
	v2 := conversion.ToV2(e, true)
	verdict := 1
	marshal := proto.MarshalOptions{Deterministic: true}
	bytes, err := marshal.Marshal(v2)
	if err != nil {
		verdict = 2
		repair(v2)
		if bytes, err = marshal.Marshal(v2); err != nil {
			log.Fatal(err)
		}
	}
	otlp := entries(v2)
	again := conversion.ToV1(v2)
	sort.Slice(again, func(a, b int) bool {
		return again[a].GetValueMetric().GetName() < again[b].GetValueMetric().GetName()
	})
	var back [][]byte
	for _, one := range again {
		bytes, err := marshal.Marshal(one)
		if err != nil {
			// Bytes where an envelope lacks a required field, as marshalled partially.
			bytes, err = proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(one)
		}
		if err != nil {
			log.Fatal(err)
		}
		back = append(back, bytes)
	}
	return verdict, bytes, otlp, back
}

func hasBody(e *events.Envelope) bool {
	switch e.GetEventType() {
	case events.Envelope_HttpStartStop:
		return e.HttpStartStop != nil
	case events.Envelope_LogMessage:
		return e.LogMessage != nil
	case events.Envelope_ValueMetric:
		return e.ValueMetric != nil
	case events.Envelope_CounterEvent:
		return e.CounterEvent != nil
	case events.Envelope_Error:
		return e.Error != nil
	case events.Envelope_ContainerMetric:
		return e.ContainerMetric != nil
	}
	return false
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func repair(e *loggregator_v2.Envelope) {
	e.SourceId, e.InstanceId = valid(e.SourceId), valid(e.InstanceId)
	tags := map[string]string{}
	for k, v := range e.Tags {
		tags[valid(k)] = valid(v)
	}
	e.Tags = tags
	if c := e.GetCounter(); c != nil {
		c.Name = valid(c.Name)
	}
	if g := e.GetGauge(); g != nil {
		metrics := map[string]*loggregator_v2.GaugeValue{}
		for k, v := range g.Metrics {
			v.Unit = valid(v.Unit)
			metrics[valid(k)] = v
		}
		g.Metrics = metrics
	}
}

type generator struct{ *rand.Rand }

func (g generator) chance(percent int) bool { return g.Intn(100) < percent }

type kind int

const (
	text kind = iota
	payload
	number
	double
	enum
	message
)

type spec struct {
	number   protowire.Number
	kind     kind
	optional bool
	enums    []uint64
	fields   []spec
}

var uuid = []spec{{number: 1, kind: number}, {number: 2, kind: number}}

var bodies = map[protowire.Number][]spec{
	7: {{number: 1, kind: number}, {number: 2, kind: number}, {number: 3, kind: message, fields: uuid},
		{number: 4, kind: enum, enums: []uint64{1, 2, 1, 2, 3, 0}},
		{number: 5, kind: enum, enums: []uint64{1, 2, 26, 44, 45, 99, math.MaxUint64}},
		{number: 6}, {number: 7}, {number: 8}, {number: 9, kind: number}, {number: 10, kind: number},
		{number: 12, kind: message, fields: uuid, optional: true}, {number: 13, kind: number, optional: true},
		{number: 14, optional: true}, {number: 15, optional: true}, {number: 15, optional: true}},
	8: {{number: 1, kind: payload}, {number: 2, kind: enum, enums: []uint64{1, 2, 1, 2, 7}},
		{number: 3, kind: number}, {number: 4, optional: true}, {number: 5, optional: true}, {number: 6, optional: true}},
	9:  {{number: 1}, {number: 2, kind: double}, {number: 3}},
	10: {{number: 1}, {number: 2, kind: number}, {number: 3, kind: number, optional: true}},
	11: {{number: 1}, {number: 2, kind: number}, {number: 3, kind: payload}},
	12: {{number: 1}, {number: 2, kind: number}, {number: 3, kind: double}, {number: 4, kind: number}, {number: 5, kind: number},
		{number: 6, kind: number, optional: true}, {number: 7, kind: number, optional: true}},
}

// One datagram; one in ten has a byte changed or its end cut off.
func (g generator) datagram() []byte {
	body := protowire.Number(7 + g.Intn(6))
	fields := []spec{{number: 1}, {number: 2, kind: enum, enums: []uint64{uint64(body) - 3}},
		{number: 6, kind: number, optional: true}, {number: body, kind: message, fields: bodies[body]},
		{number: 13, optional: true}, {number: 14, optional: true}, {number: 15, optional: true}, {number: 16, optional: true}}
	if g.chance(5) {
		fields[1].enums = []uint64{0, 1, 3, 4, 9, 10, 99, 1<<32 + 5}
	}
	if g.chance(5) {
		other := protowire.Number(7 + g.Intn(6))
		fields = append(fields, spec{number: other, kind: message, fields: bodies[other], optional: true})
	}
	bytes := g.tags(g.message(fields, g.chance(25)))
	if g.chance(10) && len(bytes) > 0 {
		bytes[g.Intn(len(bytes))] = byte(g.Intn(256))
	}
	if g.chance(3) {
		bytes = bytes[:g.Intn(len(bytes)+1)]
	}
	return bytes
}

// A message: where it is odd, fields are missing, repeated, out of order, of another wire type or unknown.
func (g generator) message(fields []spec, odd bool) []byte {
	var parts [][]byte
	for _, f := range fields {
		if f.optional && g.chance(40) || odd && g.chance(2) {
			continue
		}
		parts = append(parts, g.field(f, odd))
		if odd && g.chance(10) {
			parts = append(parts, g.field(f, odd))
		}
		if odd && g.chance(3) {
			parts = append(parts, g.unknown(f.number))
		}
		if odd && g.chance(3) {
			parts = append(parts, g.unknown(protowire.Number(18+g.Intn(3000))))
		}
	}
	if odd && g.chance(40) {
		g.Shuffle(len(parts), func(a, b int) { parts[a], parts[b] = parts[b], parts[a] })
	}
	var bytes []byte
	for _, part := range parts {
		bytes = append(bytes, part...)
	}
	return bytes
}

func (g generator) field(f spec, odd bool) []byte {
	switch f.kind {
	case number:
		return protowire.AppendVarint(protowire.AppendTag(nil, f.number, protowire.VarintType), g.value())
	case enum:
		return protowire.AppendVarint(protowire.AppendTag(nil, f.number, protowire.VarintType), f.enums[g.Intn(len(f.enums))])
	case double:
		values := []float64{0, math.Copysign(0, -1), 1, -2.5, 1e300, math.Inf(1), 12.75}
		return protowire.AppendFixed64(protowire.AppendTag(nil, f.number, protowire.Fixed64Type), math.Float64bits(values[g.Intn(len(values))]))
	case message:
		return protowire.AppendBytes(protowire.AppendTag(nil, f.number, protowire.BytesType), g.message(f.fields, odd))
	case payload:
		bytes := make([]byte, g.Intn(200))
		g.Read(bytes)
		return protowire.AppendBytes(protowire.AppendTag(nil, f.number, protowire.BytesType), bytes)
	}
	return protowire.AppendString(protowire.AppendTag(nil, f.number, protowire.BytesType), g.text())
}

// A field of any wire type: unknown where its number is, or where its wire type is another one.
func (g generator) unknown(n protowire.Number) []byte {
	switch g.Intn(6) {
	case 0:
		return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), g.value())
	case 1:
		return protowire.AppendFixed32(protowire.AppendTag(nil, n, protowire.Fixed32Type), g.Uint32())
	case 2:
		return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), g.Uint64())
	case 3:
		return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), g.text())
	case 4:
		inner := g.unknown(protowire.Number(1 + g.Intn(20)))
		return protowire.AppendTag(append(protowire.AppendTag(nil, n, protowire.StartGroupType), inner...), n, protowire.EndGroupType)
	}
	return []byte{byte(n)<<3 | 7} // no such wire type
}

func (g generator) value() uint64 {
	values := []uint64{0, 1, 127, 128, 200, 65535, math.MaxInt32, math.MaxUint32, 1700000000123456789,
		math.MaxInt64, 1 << 63, math.MaxUint64, 1 << 53, 1<<53 + 1}
	if g.chance(30) {
		return g.Uint64() >> g.Intn(64)
	}
	return values[g.Intn(len(values))]
}

func (g generator) text() string {
	texts := []string{"", "gorouter", "10.0.16.4", "a text", "Grüße", "日本", "0", "1", "12", "-7",
		"572d882b-9824-42f1-7038-cef2b6a7a7e2", "a\nb", "572d882b982442f17038cef2b6a7a7e2", "7038cef2b6a7a7e2",
		"http://shop.example.com:80/cart%20x?y=1#z", "1:2", "mailto:a", "http://a b/c", "Client", "Server", strings.Repeat("long ", 30)}
	if g.chance(2) {
		return []string{"\xff", "a\xe2\x82b", "\xc3\xc3ü\xed\xa0\x80", "end\xf0\x9f"}[g.Intn(4)]
	}
	return texts[g.Intn(len(texts))]
}

var keys = []string{"source_id", "instance_id", "process_instance_id", "routing_instance_id", "origin",
	"deployment", "job", "index", "ip", "__v1_type", "source_type", "source", "code", "uri", "method", "forwarded",
	"status_code", "component", "space_id", "trace_id", "span_id", "custom", "", "schlüssel", "k\xff"}

func (g generator) tags(bytes []byte) []byte {
	n := g.Intn(8)
	if g.chance(2) {
		n = 30 + g.Intn(20)
	}
	for range n {
		var entry []byte
		if !g.chance(2) {
			key := keys[g.Intn(len(keys)-1)]
			if g.chance(2) {
				key = keys[g.Intn(len(keys))]
			}
			entry = protowire.AppendString(protowire.AppendTag(entry, 1, protowire.BytesType), key)
		}
		if !g.chance(2) {
			entry = protowire.AppendString(protowire.AppendTag(entry, 2, protowire.BytesType), g.text())
		}
		if g.chance(1) {
			entry = append(entry, g.unknown(protowire.Number(1+g.Intn(4)))...)
		}
		bytes = protowire.AppendBytes(protowire.AppendTag(bytes, 17, protowire.BytesType), entry)
	}
	return bytes
}
