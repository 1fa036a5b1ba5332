// Command grpc is both peers of the live tests: a server, and a client that prints what it did.
//
//	grpc serve ADDRESS
//	grpc talk ADDRESS                       calls of every kind, over two connections
//	grpc hold ADDRESS                       calls before and after a line on standard input, over one connection
//	grpc load ADDRESS CONNECTIONS CALLS BYTES
//
// The client prints a line per call: method, code, messages sent, messages received. The code of a call that the client
// itself gave up is "unanswered": nothing on the wire has a code for it.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strconv"
)

func main() {
	log.SetFlags(0)
	out := bufio.NewWriter(os.Stdout)
	if err := run(out, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func run(out *bufio.Writer, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "serve":
		return serve(args[1])
	case len(args) == 2 && args[0] == "talk":
		return talk(args[1], out)
	case len(args) == 2 && args[0] == "hold":
		return hold(args[1], out)
	case len(args) == 5 && args[0] == "load":
		var numbers [3]int
		for i, text := range args[2:] {
			number, err := strconv.Atoi(text)
			if err != nil {
				return err
			}
			numbers[i] = number
		}
		return load(args[1], out, numbers[0], numbers[1], numbers[2])
	}
	return fmt.Errorf("grpc serve|talk|hold ADDRESS, or grpc load ADDRESS CONNECTIONS CALLS BYTES")
}
