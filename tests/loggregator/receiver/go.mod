module wirelake/tests/loggregator/receiver

go 1.25.0

require (
	code.cloudfoundry.org/go-loggregator/v10 v10.3.1
	google.golang.org/grpc v1.82.1
)

require (
	code.cloudfoundry.org/go-diodes v0.0.0-20260209061029-a81ffbc46978 // indirect
	code.cloudfoundry.org/tlsconfig v0.46.0 // indirect
	golang.org/x/net v0.53.0 // indirect
	golang.org/x/sys v0.43.0 // indirect
	golang.org/x/text v0.36.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260414002931-afd174a4e478 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
