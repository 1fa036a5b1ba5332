package main

import (
	"context"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// The largest message of either side.
const largest = 16 << 20

// How long a call with metadata "slow" takes; its client has given up by then.
const slow = 400 * time.Millisecond

type server struct {
	pb.UnimplementedTestServiceServer
}

func serve(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(largest), grpc.MaxSendMsgSize(largest))
	pb.RegisterTestServiceServer(s, server{})
	return s.Serve(listener)
}

func payload(size int32) *pb.Payload {
	return &pb.Payload{Body: make([]byte, size)}
}

func (server) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) {
	return &pb.Empty{}, nil
}

func (server) UnaryCall(ctx context.Context, in *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("slow")) > 0 {
		time.Sleep(slow)
	}
	if echo := in.GetResponseStatus(); echo != nil {
		return nil, status.Error(codes.Code(echo.GetCode()), echo.GetMessage())
	}
	return &pb.SimpleResponse{Payload: payload(in.GetResponseSize())}, nil
}

func (server) StreamingOutputCall(in *pb.StreamingOutputCallRequest, stream pb.TestService_StreamingOutputCallServer) error {
	for _, part := range in.GetResponseParameters() {
		if err := stream.Send(&pb.StreamingOutputCallResponse{Payload: payload(part.GetSize())}); err != nil {
			return err
		}
	}
	if echo := in.GetResponseStatus(); echo != nil {
		return status.Error(codes.Code(echo.GetCode()), echo.GetMessage())
	}
	return nil
}

func (server) StreamingInputCall(stream pb.TestService_StreamingInputCallServer) error {
	var sum int32
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&pb.StreamingInputCallResponse{AggregatedPayloadSize: sum})
		}
		if err != nil {
			return err
		}
		sum += int32(len(in.GetPayload().GetBody()))
	}
}

func (server) FullDuplexCall(stream pb.TestService_FullDuplexCallServer) error {
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, part := range in.GetResponseParameters() {
			if err := stream.Send(&pb.StreamingOutputCallResponse{Payload: payload(part.GetSize())}); err != nil {
				return err
			}
		}
	}
}
