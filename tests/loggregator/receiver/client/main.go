// A sender of loggregator v2 made of go-loggregator's IngressClient, as applications use it: logs, counters, gauges,
// timers and events in turn, numbered from 1 by the tag "seq" under the tag "emitter".
package main

import (
	"flag"
	"fmt"
	"log"
	"strconv"
	"time"

	"code.cloudfoundry.org/go-loggregator/v10"
)

func main() {
	to := flag.String("to", "127.0.0.1:3458", "host:port of the server")
	ca := flag.String("ca", "", "authority of the server, PEM; its certificate must be for metron")
	cert := flag.String("cert", "", "own certificate, PEM")
	key := flag.String("key", "", "its key, PEM")
	count := flag.Int("count", 10_000, "envelopes")
	emitter := flag.String("emitter", "client", "value of the tag emitter")
	flag.Parse()

	config, err := loggregator.NewIngressTLSConfig(*ca, *cert, *key)
	if err != nil {
		log.Fatal(err)
	}
	client, err := loggregator.NewIngressClient(config, loggregator.WithAddr(*to))
	if err != nil {
		log.Fatal(err)
	}
	for i := 1; i <= *count; i++ {
		tags := map[string]string{"emitter": *emitter, "seq": strconv.Itoa(i)}
		switch i % 5 {
		case 0:
			client.EmitLog("a line", loggregator.WithAppInfo("app", "OUT", "0"), loggregator.WithEnvelopeTags(tags))
		case 1:
			client.EmitCounter("counter", loggregator.WithEnvelopeTags(tags))
		case 2:
			client.EmitGauge(loggregator.WithGaugeValue("gauge", float64(i), "unit"), loggregator.WithEnvelopeTags(tags))
		case 3:
			client.EmitTimer("timer", time.Now(), time.Now(), loggregator.WithEnvelopeTags(tags))
		case 4:
			client.EmitLog("another", loggregator.WithStdout(), loggregator.WithEnvelopeTags(tags))
		}
	}
	if err := client.CloseSend(); err != nil {
		log.Print(err)
	}
	fmt.Println(*count)
}
