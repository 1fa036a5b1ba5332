// Command sql is a client that has been connected, with its statements prepared, for a while:
//
//	sql postgresql|mysql DSN
//
// It prepares three statements and executes two, says "ready" on standard error, and waits for a line. Then it executes
// them again over the same connection and prints a line per round: what it asked for, and how it ended.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// The statements, with the forms of a parameter of both databases.
var texts = map[string][3]string{
	"postgresql": {"select * from held where id < $1", "insert into held values ($1)", "select 1 / $1::int"},
	"mysql":      {"select * from held where id < ?", "insert into held values (?)", "insert into held select id from held where id > ?"},
}

// Rounds: the second is executed, then the first, then the third, which fails.
const times = 20

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("sql postgresql|mysql DSN")
	}
	out := bufio.NewWriter(os.Stdout)
	if err := run(context.Background(), os.Args[1], os.Args[2], out); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kind, dsn string, out *bufio.Writer) error {
	driver := kind
	if kind == "postgresql" {
		driver = "pgx"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	// One connection, so that the statements are prepared once.
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	for _, text := range []string{"drop table if exists held", "create table held (id int primary key)"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	var statements [3]*sql.Stmt
	for i, text := range texts[kind] {
		if statements[i], err = conn.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	if _, err := statements[1].ExecContext(ctx, 1); err != nil {
		return err
	}
	if err := read(ctx, statements[0], 50); err != nil {
		return err
	}

	fmt.Fprintln(os.Stderr, "ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for i := range times {
		if _, err := statements[1].ExecContext(ctx, 100+i); err != nil {
			return err
		}
		fmt.Fprintln(out, "prepared ok")
		if err := read(ctx, statements[0], 50); err != nil {
			return err
		}
		fmt.Fprintln(out, "prepared ok")
		_, err := statements[2].ExecContext(ctx, 0)
		var postgres *pgconn.PgError
		var maria *mysql.MySQLError
		switch {
		case errors.As(err, &postgres):
			fmt.Fprintln(out, "prepared", postgres.Code)
		case errors.As(err, &maria):
			fmt.Fprintf(out, "prepared %s\n", maria.SQLState)
		default:
			return fmt.Errorf("what must fail ends with: %v", err)
		}
	}
	// A statement that was not prepared before, and plain text.
	late, err := conn.PrepareContext(ctx, "select count(*) from held")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "PREPARE ok")
	if err := read(ctx, late); err != nil {
		return err
	}
	fmt.Fprintln(out, "SELECT ok")
	if _, err := conn.ExecContext(ctx, "delete from held"); err != nil {
		return err
	}
	fmt.Fprintln(out, "DELETE ok")
	return conn.Close()
}

func read(ctx context.Context, statement *sql.Stmt, values ...any) error {
	rows, err := statement.QueryContext(ctx, values...)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}
