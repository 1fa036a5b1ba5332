module wirelake/tests/loggregator/emitter

go 1.25.0

require (
	github.com/cloudfoundry/dropsonde v1.1.0
	github.com/cloudfoundry/sonde-go v0.0.0-20251217143644-d1670a435f2a
	google.golang.org/protobuf v1.36.11
)
