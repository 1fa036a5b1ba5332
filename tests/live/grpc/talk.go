package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A connection of its own, and where it prints what was done.
type client struct {
	pb.TestServiceClient
	conn *grpc.ClientConn
	out  *bufio.Writer
}

// Several calls end at once.
var printing sync.Mutex

func dial(address string, out *bufio.Writer) (*client, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largest), grpc.MaxCallSendMsgSize(largest)))
	if err != nil {
		return nil, err
	}
	return &client{TestServiceClient: pb.NewTestServiceClient(conn), conn: conn, out: out}, nil
}

// did prints a call that ended with err.
func (c *client) did(method string, err error, sent, received int) {
	code := fmt.Sprint(uint32(status.Code(err)))
	if status.Code(err) == codes.Canceled || status.Code(err) == codes.DeadlineExceeded {
		code = "unanswered"
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Fprintln(c.out, method, code, sent, received)
}

func (c *client) unary(ctx context.Context, in *pb.SimpleRequest, options ...grpc.CallOption) {
	_, err := c.UnaryCall(ctx, in, options...)
	received := 0
	if err == nil {
		received = 1
	}
	c.did("UnaryCall", err, 1, received)
}

func parts(count int, size int32) []*pb.ResponseParameters {
	all := make([]*pb.ResponseParameters, count)
	for i := range all {
		all[i] = &pb.ResponseParameters{Size: size}
	}
	return all
}

func failing(code codes.Code, text string) *pb.EchoStatus {
	return &pb.EchoStatus{Code: int32(code), Message: text}
}

// output asks for count messages, after which the server ends the stream well or with a status.
func (c *client) output(ctx context.Context, count int, size int32, end *pb.EchoStatus) {
	received := 0
	stream, err := c.StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{ResponseParameters: parts(count, size), ResponseStatus: end})
	for err == nil {
		if _, err = stream.Recv(); err == nil {
			received++
		}
	}
	if err == io.EOF {
		err = nil
	}
	c.did("StreamingOutputCall", err, 1, received)
}

func (c *client) input(ctx context.Context, count int, size int32) {
	received := 0
	stream, err := c.StreamingInputCall(ctx)
	for i := 0; err == nil && i < count; i++ {
		err = stream.Send(&pb.StreamingInputCallRequest{Payload: payload(size)})
	}
	if err == nil {
		if _, err = stream.CloseAndRecv(); err == nil {
			received = 1
		}
	}
	c.did("StreamingInputCall", err, count, received)
}

// duplex plays count rounds of one message there and two back.
func (c *client) duplex(ctx context.Context, count int, size int32) {
	received := 0
	stream, err := c.FullDuplexCall(ctx)
	for i := 0; err == nil && i < count; i++ {
		err = stream.Send(&pb.StreamingOutputCallRequest{ResponseParameters: parts(2, size), Payload: payload(size)})
		for j := 0; err == nil && j < 2; j++ {
			if _, err = stream.Recv(); err == nil {
				received++
			}
		}
	}
	if err == nil {
		if err = stream.CloseSend(); err == nil {
			if _, err = stream.Recv(); err == io.EOF {
				err = nil
			}
		}
	}
	c.did("FullDuplexCall", err, count, received)
}

func talk(address string, out *bufio.Writer) error {
	c, err := dial(address, out)
	if err != nil {
		return err
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"authorization", "Bearer not-to-be-shown")

	for range 20 {
		_, err := c.EmptyCall(ctx, &pb.Empty{})
		c.did("EmptyCall", err, 1, 1)
	}
	for range 20 {
		c.unary(ctx, &pb.SimpleRequest{ResponseSize: 100, Payload: payload(100)})
	}
	c.unary(ctx, &pb.SimpleRequest{ResponseSize: 4 << 20, Payload: payload(10)})
	c.unary(ctx, &pb.SimpleRequest{ResponseSize: 10, Payload: payload(2 << 20)})
	c.unary(ctx, &pb.SimpleRequest{ResponseSize: 10_000, Payload: payload(10_000)}, grpc.UseCompressor(gzip.Name))
	for code := codes.InvalidArgument; code <= codes.Unauthenticated; code++ {
		// These two stand for a call that the client gave up.
		if code == codes.Canceled || code == codes.DeadlineExceeded {
			continue
		}
		c.unary(ctx, &pb.SimpleRequest{ResponseStatus: failing(code, "no: 100 % \u00fc")})
	}
	_, err = c.UnimplementedCall(ctx, &pb.Empty{})
	c.did("UnimplementedCall", err, 1, 0)

	late, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "slow", "1"), slow/4)
	c.unary(late, &pb.SimpleRequest{})
	cancel()
	given, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "slow", "1"))
	time.AfterFunc(slow/4, cancel)
	c.unary(given, &pb.SimpleRequest{})

	c.output(ctx, 50, 1_000, nil)
	c.output(ctx, 5, 500_000, nil)
	c.output(ctx, 3, 10, failing(codes.ResourceExhausted, "enough"))
	c.output(ctx, 0, 0, nil)
	c.input(ctx, 30, 2_000)
	c.input(ctx, 4, 300_000)
	c.duplex(ctx, 10, 1_000)

	var all sync.WaitGroup
	other, err := dial(address, out)
	if err != nil {
		return err
	}
	for i := range 20 {
		all.Go(func() {
			on := c
			if i%2 == 1 {
				on = other
			}
			for range 10 {
				on.unary(ctx, &pb.SimpleRequest{ResponseSize: 20_000, Payload: payload(5_000)})
			}
			on.duplex(ctx, 5, 30_000)
			on.output(ctx, 20, 3_000, nil)
		})
	}
	all.Wait()
	if err := other.conn.Close(); err != nil {
		return err
	}
	return c.conn.Close()
}

// hold makes calls, says "ready", waits for a line, forgets what it counted and makes calls over the same connection.
func hold(address string, out *bufio.Writer) error {
	before := bufio.NewWriter(io.Discard)
	c, err := dial(address, before)
	if err != nil {
		return err
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "session", "long-lived")
	calls := func() {
		for range 10 {
			c.unary(ctx, &pb.SimpleRequest{ResponseSize: 100, Payload: payload(100)})
		}
		c.output(ctx, 5, 1_000, nil)
		c.unary(ctx, &pb.SimpleRequest{ResponseStatus: failing(codes.NotFound, "nothing here")})
	}
	calls()
	fmt.Fprintln(os.Stderr, "ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	c.out = out
	calls()
	// A method that this connection has not named before.
	_, err = c.EmptyCall(ctx, &pb.Empty{})
	c.did("EmptyCall", err, 1, 1)
	return c.conn.Close()
}

// load makes calls with messages of a size both ways, one at a time over each connection, and prints how many it made.
func load(address string, out *bufio.Writer, connections, calls, size int) error {
	var all sync.WaitGroup
	failed := make(chan error, connections)
	for i := range connections {
		c, err := dial(address, out)
		if err != nil {
			return err
		}
		in := &pb.SimpleRequest{ResponseSize: int32(size), Payload: payload(int32(size))}
		all.Go(func() {
			defer c.conn.Close()
			for j := i; j < calls; j += connections {
				if _, err := c.UnaryCall(context.Background(), in); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	var texts []string
	for err := range failed {
		texts = append(texts, err.Error())
	}
	if len(texts) > 0 {
		return fmt.Errorf("%s", strings.Join(texts, "; "))
	}
	fmt.Fprintf(out, "%d requests in all\n", calls)
	return nil
}
