package main

import (
	"context"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// serve is FerretDB with its data in SQLite files of a folder.
func serve(ctx context.Context, address, folder string) error {
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: address},
		Handler:   "sqlite",
		SQLiteURL: "file:" + folder + "/",
	})
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
