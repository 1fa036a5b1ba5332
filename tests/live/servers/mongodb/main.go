// Command mongodb is both peers of the live test.
//
//	mongodb serve ADDRESS FOLDER
//	mongodb talk URI
//
// The client talks to a server in every way that the test compares, and prints a line per command as the driver itself
// counts them: its name, and "ok", the code or name of the error, or "one_way" where the driver waits for no answer.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "serve":
		return serve(context.Background(), args[1], args[2])
	case len(args) == 2 && args[0] == "talk":
	default:
		return errors.New("mongodb serve ADDRESS FOLDER, or mongodb talk URI")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	seen := &commands{out: bufio.NewWriter(os.Stdout)}
	for _, part := range []func(context.Context, *mongo.Client) error{talk, silent} {
		client, err := mongo.Connect(ctx, options.Client().ApplyURI(args[1]).SetMonitor(seen.monitor()).
			SetMaxPoolSize(4).SetRetryReads(false).SetRetryWrites(false).SetHeartbeatInterval(time.Minute))
		if err != nil {
			return err
		}
		if err := part(ctx, client); err != nil {
			return err
		}
		if err := client.Disconnect(ctx); err != nil {
			return err
		}
	}
	return seen.out.Flush()
}

// The commands that the driver reports.
type commands struct {
	lock sync.Mutex
	out  *bufio.Writer
}

func (c *commands) did(name, end string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	fmt.Fprintln(c.out, name, end)
}

func (c *commands) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			// An answer to a write can be well and yet list writes that failed. Of an unacknowledged write the driver
			// makes up an answer of one element.
			end := "ok"
			if written, err := e.Reply.LookupErr("writeErrors"); err == nil {
				if first, err := written.Array().IndexErr(0); err == nil {
					end = fmt.Sprint(first.Value().Document().Lookup("code").AsInt64())
				}
			}
			if elements, err := e.Reply.Elements(); err == nil && len(elements) == 1 && e.CommandName == "insert" {
				end = "one_way"
			}
			c.did(e.CommandName, end)
		},
		Failed: func(_ context.Context, e *event.CommandFailedEvent) {
			c.did(e.CommandName, codeOf(e.Failure))
		},
	}
}

// codeOf takes the code out of the text of an error: the driver reports no more than "(Name) text" there.
func codeOf(text string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "("), ")")
	return name
}

func talk(ctx context.Context, client *mongo.Client) error {
	db := client.Database("shop")
	items := db.Collection("items")
	if err := client.Ping(ctx, nil); err != nil {
		return err
	}

	var many []any
	for i := range 1_000 {
		many = append(many, bson.D{{Key: "_id", Value: i}, {Key: "kind", Value: i % 7}, {Key: "name", Value: strings.Repeat("x", 100)}})
	}
	if _, err := items.InsertMany(ctx, many); err != nil {
		return err
	}
	for i := range 50 {
		if _, err := items.InsertOne(ctx, bson.D{{Key: "_id", Value: 10_000 + i}}); err != nil {
			return err
		}
	}
	// A document of 2 MB: several segments at any MTU.
	if _, err := db.Collection("large").InsertOne(ctx, bson.D{{Key: "blob", Value: make([]byte, 2_000_000)}}); err != nil {
		return err
	}
	if _, err := items.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); !mongo.IsDuplicateKeyError(err) {
		return fmt.Errorf("a second document with the same id: %v", err)
	}

	// All documents over a cursor, and one that is left before its end.
	cursor, err := items.Find(ctx, bson.D{}, options.Find().SetBatchSize(100))
	if err != nil {
		return err
	}
	var all []bson.Raw
	if err := cursor.All(ctx, &all); err != nil {
		return err
	}
	if len(all) != 1_050 {
		return fmt.Errorf("%d documents are found", len(all))
	}
	if cursor, err = items.Find(ctx, bson.D{}, options.Find().SetBatchSize(10)); err != nil {
		return err
	}
	cursor.Next(ctx)
	if err := cursor.Close(ctx); err != nil {
		return err
	}
	if err := db.Collection("large").FindOne(ctx, bson.D{}).Err(); err != nil {
		return err
	}
	if cursor, err = items.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "kind", Value: 3}}}},
		{{Key: "$count", Value: "n"}},
	}); err != nil {
		return err
	}
	if err := cursor.All(ctx, &all); err != nil {
		return err
	}
	if _, err := items.UpdateMany(ctx, bson.D{{Key: "kind", Value: 2}}, bson.D{{Key: "$set", Value: bson.D{{Key: "seen", Value: true}}}}); err != nil {
		return err
	}
	if _, err := items.DeleteMany(ctx, bson.D{{Key: "kind", Value: 4}}); err != nil {
		return err
	}
	if _, err := items.Distinct(ctx, "kind", bson.D{}); err != nil {
		return err
	}
	if _, err := items.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "kind", Value: 1}}}); err != nil {
		return err
	}

	// What the server refuses.
	for _, command := range []bson.D{
		{{Key: "nosuchcommand", Value: 1}},
		{{Key: "find", Value: "items"}, {Key: "filter", Value: bson.D{{Key: "kind", Value: bson.D{{Key: "$nosuch", Value: 1}}}}}},
		{{Key: "drop", Value: ""}},
	} {
		var refused mongo.CommandError
		if err := db.RunCommand(ctx, command).Err(); !errors.As(err, &refused) {
			return fmt.Errorf("%v is not refused: %v", command, err)
		}
	}

	// Several at a time, over the connections of the pool.
	var group sync.WaitGroup
	failed := make(chan error, 8)
	for i := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := range 25 {
				if err := items.FindOne(ctx, bson.D{{Key: "_id", Value: 10_000 + (i*25+j)%50}}).Err(); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failed)
	if err := <-failed; err != nil {
		return err
	}

	return db.Drop(ctx)
}

// silent writes what nobody waits for, over a connection of its own: FerretDB answers nevertheless, and the driver would
// take that for the answer to what comes next.
func silent(ctx context.Context, client *mongo.Client) error {
	silent := client.Database("silent").Collection("silent", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
	for range 5 {
		if _, err := silent.InsertOne(ctx, bson.D{}); !errors.Is(err, mongo.ErrUnacknowledgedWrite) {
			return err
		}
	}
	time.Sleep(500 * time.Millisecond)
	return nil
}
