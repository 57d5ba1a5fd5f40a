package replicating

import (
	"context"
	"errors"
	"fmt"
	"slices"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/store/natslog/stream"
)

// Examined is what a controller with the same Config would find on the NATS servers.
type Examined struct {
	Servers string   // addresses of the NATS servers, without secrets
	Missing bool     // there is no stream yet; the first controller creates it
	Wrong   []string // why a controller would refuse the stream; one sentence each
	Unseen  string   // why it is not known whether the servers sync their disks; empty if it is known
	Holders []string // names of the servers that store the stream
	Bytes   int64    // size of the stream
	Named   string   // NAME/INCARNATION of the stream; the incarnation is its ID
}

// Examine returns what a controller with this Config would find on the NATS servers. It changes nothing. It returns an
// error if the servers do not answer. It needs Dial and Stream of c; Dir may be empty.
func Examine(ctx context.Context, c Config) (e Examined, err error) {
	e.Servers = c.Dial.Servers()
	conn, err := c.Dial.Connect(append(stream.Options(), natsgo.RetryOnFailedConnect(false))...)
	if err != nil {
		return e, err
	}
	defer conn.Close()
	js, err := c.Dial.JetStream(conn)
	if err != nil {
		return e, err
	}
	now, err := stream.Ask(ctx, js, c.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		e.Missing = true
		e.Wrong, err = unmade(conn, &c), nil
		now.Holders = nil
	} else if err == nil {
		e.Holders, e.Bytes = now.Holders, now.Bytes
		e.Wrong = stream.Wrong(c.Stream, now.Config, now.Server, c.Unsafe)
		f := c.found(now.Config)
		e.Named = f.Of()
		e.Wrong = append(e.Wrong, notOurs(&c, &f)...)
	}
	if err != nil || len(c.Monitor) == 0 {
		return e, err
	}
	monitors, err := newMonitors(c.Monitor, c.Dial.CA)
	if err != nil {
		return e, err
	}
	lazy, unseen := monitors.unsynced(ctx, e.Holders)
	e.Wrong = append(e.Wrong, lazy...)
	if unseen != nil {
		e.Unseen = unseen.Error()
	}
	return e, nil
}

// unmade returns the reasons why a controller could not create the stream with safe settings; it is called if there is
// no stream.
func unmade(conn *natsgo.Conn, c *Config) (wrong []string) {
	if server := conn.ConnectedServerVersion(); stream.Older(server) {
		wrong = append(wrong, fmt.Sprintf("the server is nats-server %s, want %s or newer", server, stream.LeastServer))
	}
	if conn.ConnectedClusterName() == "" && !c.Unsafe {
		wrong = append(wrong, fmt.Sprintf("the server is in no cluster: %d servers are to hold the stream", stream.LeastReplicas))
	}
	return wrong
}

// notOurs returns the reasons why the stream does not belong to the log in the directory.
func notOurs(c *Config, f *File) []string {
	if f.Log == "" || f.Incarnation == "" {
		return []string{"it does not say in its metadata which log it is of: jobledger has not made it"}
	}
	if c.Dir == "" || c.NewStream {
		return nil
	}
	before, err := ReadFile(c.Dir)
	switch {
	case err != nil:
		return []string{err.Error()}
	case before != nil && before.Log == f.Log && before.Stream == f.Stream && f.after == before.Incarnation:
		return nil // the stream replaced the one that the file REPLICA names
	case before != nil && !slices.Equal([]string{before.Log, before.Of()}, []string{f.Log, f.Of()}):
		return []string{fmt.Sprintf("it is incarnation %s of log %s, and %s in %s names incarnation %s of log %s",
			f.Incarnation, f.Log, FileName, c.Dir, before.Incarnation, before.Log)}
	}
	return nil
}
