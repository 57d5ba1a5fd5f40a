package natsserver

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	natsd "github.com/nats-io/nats-server/v2/server"

	"github.com/jobledger/jobledger/internal/dev/patience"
)

// Ready is what Serve prints as soon as its server accepts connections.
const Ready = "ready"

// Options returns the options of a server with its store in dir, which listens on a port of 127.0.0.1.
func Options(dir string, port int) *natsd.Options {
	return &natsd.Options{
		ServerName: "test", Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: dir, JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 64 << 20,
	}
}

// Cluster changes o to make the server a member of a cluster. Members replicate streams and sync each write to disk.
// peers are the ports of 127.0.0.1 on which the members talk to each other, with the server's own first.
func Cluster(o *natsd.Options, peers []string) error {
	own, err := strconv.Atoi(peers[0])
	if err != nil {
		return err
	}
	routes := "nats://127.0.0.1:" + strings.Join(peers, ",nats://127.0.0.1:")
	o.ServerName, o.SyncAlways = "server-"+peers[0], true
	o.Cluster = natsd.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: own}
	o.Routes = natsd.RoutesFromStr(routes)
	return nil
}

// Serve runs a server until standard input ends, so the server does not outlive the test that started it. With peers it
// is a member of a cluster.
func Serve(dir, port string, peers ...string) error {
	at, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	o := Options(dir, at)
	if len(peers) > 0 {
		if err := Cluster(o, peers); err != nil {
			return err
		}
	}
	run, err := natsd.NewServer(o)
	if err != nil {
		return err
	}
	run.Start()
	if !run.ReadyForConnections(patience.Time()) {
		return fmt.Errorf("the NATS server does not start at port %d", at)
	}
	fmt.Println(Ready)
	_, err = io.Copy(io.Discard, os.Stdin)
	run.Shutdown()
	run.WaitForShutdown()
	return err
}
