module wirelake/loggregator/reference

go 1.25.0

require (
	code.cloudfoundry.org/go-loggregator/v10 v10.3.1
	github.com/cloudfoundry/sonde-go v0.0.0-20251217143644-d1670a435f2a
	go.opentelemetry.io/proto/otlp v1.7.0
	google.golang.org/protobuf v1.36.11
)

require (
	golang.org/x/net v0.51.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
	golang.org/x/text v0.34.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260226221140-a57be14db171 // indirect
	google.golang.org/grpc v1.79.1 // indirect
)
