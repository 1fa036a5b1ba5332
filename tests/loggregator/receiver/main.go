// A receiver of loggregator v2 made of go-loggregator's generated server and grpc-go: what an agent listens with.
//
// It wants a client certificate, counts envelopes by source, and checks order and repetitions. An envelope's source is its
// tag "emitter" or else its source_id; its number is the tag "seq" or else its timestamp, counted from 1 in each source.
// An HTTP port on loopback tells what came and takes commands:
//
//	GET  /counts                          what came so far, as JSON
//	POST /mode?take | stall | slow=MS     read, do not read, sleep after each batch
//	POST /mode?refuse=CODE                end streams with this status
//	POST /die                             exit at once, in the middle of whatever there is
//	POST /drain                           stop gracefully: GOAWAY, then wait for streams to end
//
// With -state FILE each batch is noted in the file before the next one is read, and the file is read at the start, so that
// a receiver that was killed goes on counting where it ended.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"code.cloudfoundry.org/go-loggregator/v10/rpc/loggregator_v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

type source struct {
	Envelopes  uint64 `json:"envelopes"`
	Distinct   uint64 `json:"distinct"`
	Repeated   uint64 `json:"repeated"`
	OutOfOrder uint64 `json:"out_of_order"`
	Last       int64  `json:"last"`
	seen       map[int64]struct{}
}

type counts struct {
	mu      sync.Mutex
	sources map[string]*source
	state   *bufio.Writer
}

func (c *counts) add(name string, number int64, note bool) {
	s := c.sources[name]
	if s == nil {
		s = &source{seen: map[int64]struct{}{}}
		c.sources[name] = s
	}
	s.Envelopes++
	if _, again := s.seen[number]; again {
		s.Repeated++
	} else {
		s.seen[number] = struct{}{}
		s.Distinct++
		if number < s.Last {
			s.OutOfOrder++
		}
		s.Last = max(s.Last, number)
	}
	if note && c.state != nil {
		fmt.Fprintf(c.state, "%s %d\n", name, number)
	}
}

func (c *counts) batch(envelopes []*loggregator_v2.Envelope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range envelopes {
		name, number := e.GetTags()["emitter"], e.GetTimestamp()
		if name == "" {
			name = e.GetSourceId()
		}
		if seq, err := strconv.ParseInt(e.GetTags()["seq"], 10, 64); err == nil {
			number = seq
		}
		c.add(name, number, true)
	}
	if c.state != nil {
		c.state.Flush()
	}
}

func (c *counts) load(path string) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	check(err)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, number, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseInt(number, 10, 64)
		check(err)
		c.add(name, n, false)
	}
	c.state = bufio.NewWriterSize(file, 1<<20)
}

func (c *counts) json() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := source{}
	for _, s := range c.sources {
		total.Envelopes += s.Envelopes
		total.Distinct += s.Distinct
		total.Repeated += s.Repeated
		total.OutOfOrder += s.OutOfOrder
	}
	text, err := json.MarshalIndent(map[string]any{"total": total, "sources": c.sources, "streams": streams.Load()}, "", "  ")
	check(err)
	return append(text, '\n')
}

type mode struct {
	name  string
	value int
}

var (
	current atomic.Pointer[mode]
	streams atomic.Int64
)

type receiver struct {
	loggregator_v2.UnimplementedIngressServer
	counts *counts
}

// hold waits while nothing is to be read, and says with what the stream ends, if it does.
func hold(ctx context.Context) error {
	for {
		switch m := current.Load(); m.name {
		case "refuse":
			return status.Error(codes.Code(m.value), "told to refuse")
		case "stall":
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		default:
			return nil
		}
	}
}

func slow() {
	if m := current.Load(); m.name == "slow" {
		time.Sleep(time.Duration(m.value) * time.Millisecond)
	}
}

func (r *receiver) BatchSender(stream loggregator_v2.Ingress_BatchSenderServer) error {
	streams.Add(1)
	for {
		if err := hold(stream.Context()); err != nil {
			return err
		}
		batch, err := stream.Recv()
		if err != nil {
			return r.ended(err)
		}
		r.counts.batch(batch.GetBatch())
		slow()
	}
}

func (r *receiver) Sender(stream loggregator_v2.Ingress_SenderServer) error {
	streams.Add(1)
	for {
		if err := hold(stream.Context()); err != nil {
			return err
		}
		envelope, err := stream.Recv()
		if err != nil {
			return r.ended(err)
		}
		r.counts.batch([]*loggregator_v2.Envelope{envelope})
	}
}

func (r *receiver) Send(_ context.Context, batch *loggregator_v2.EnvelopeBatch) (*loggregator_v2.SendResponse, error) {
	r.counts.batch(batch.GetBatch())
	return &loggregator_v2.SendResponse{}, nil
}

// An agent returns the error of its last read.
func (r *receiver) ended(err error) error {
	log.Printf("stream ended: %v", err)
	return err
}

func main() {
	listen := flag.String("listen", "127.0.0.1:3458", "where to receive")
	control := flag.String("control", "127.0.0.1:3459", "where to be asked and told")
	ca := flag.String("ca", "", "authority of the clients, PEM")
	cert := flag.String("cert", "", "own certificate, PEM; read again for every connection")
	key := flag.String("key", "", "its key, PEM")
	state := flag.String("state", "", "file that keeps what came over a kill")
	pings := flag.Duration("pings", 10*time.Second, "clients must not ping more often; loggregator's agents say 10 s, grpc-go 5 min")
	start := flag.String("mode", "take", "as in POST /mode")
	flag.Parse()
	setMode(*start)

	c := &counts{sources: map[string]*source{}}
	if *state != "" {
		c.load(*state)
	}
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(*ca)
	check(err)
	roots.AppendCertsFromPEM(pem)
	config := &tls.Config{
		ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs:  roots,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(*cert, *key)
			return &pair, err
		},
	}
	server := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(config)),
		grpc.MaxRecvMsgSize(10<<20),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: *pings, PermitWithoutStream: true}),
	)
	loggregator_v2.RegisterIngressServer(server, &receiver{counts: c})

	http.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) { w.Write(c.json()) })
	http.HandleFunc("POST /mode", func(w http.ResponseWriter, r *http.Request) { setMode(r.URL.RawQuery) })
	http.HandleFunc("POST /die", func(http.ResponseWriter, *http.Request) { os.Exit(9) })
	http.HandleFunc("POST /drain", func(http.ResponseWriter, *http.Request) {
		server.GracefulStop()
		go os.Exit(0)
	})
	go func() { check(http.ListenAndServe(*control, nil)) }()

	listener, err := net.Listen("tcp", *listen)
	check(err)
	check(server.Serve(listener))
	select {}
}

func setMode(text string) {
	name, value, _ := strings.Cut(text, "=")
	number, _ := strconv.Atoi(value)
	current.Store(&mode{name, number})
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
